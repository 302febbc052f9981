"""Rule-based translation with Apertium, if it is installed.

Apertium is a program with a package for each pair of languages
(``apt-get install apertium apertium-eng-spa``). It needs no GPU and no large model.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from functools import cached_property

from mathsetu.errors import InputError, MathSetuError
from mathsetu.languages.table import language

# Languages whose name in Apertium is not their code of two or three letters. Variants come first:
# they exist only as targets.
_NAMES = {"hr": ("hbs_HR", "hbs", "sh"), "fa": ("fas", "pes"), "ne": ("nep", "npi")}
# Apertium keeps blank lines and does not move words across them.
_APART = "\n\n"


class ApertiumBackend:
    """Translates with the installed language pairs.

    >>> ApertiumBackend("no-such-program").model_for("en", "es")
    Traceback (most recent call last):
    mathsetu.errors.InputError: apertium is not installed: apt-get install apertium \
and a pair such as apertium-eng-spa
    """

    name = "apertium"
    chunk = 1000

    def __init__(self, program: str = "apertium", timeout: float = 300) -> None:
        self._program = program
        self._timeout = timeout

    def check(self, setting: str = "") -> None:
        """Check that the program is installed; `model_for` reports a missing pair."""
        self._path()

    def model_for(self, source: str, target: str) -> str:
        """Return the installed pair for a direction."""
        for first in _names(source):
            for second in _names(target):
                if f"{first}-{second}" in self._pairs:
                    return f"{first}-{second}"
        wanted = f"{_names(source)[-1]}-{_names(target)[-1]}"
        raise InputError(
            f"apertium has no pair from {source} to {target}: install a package such as "
            f"apertium-{wanted} (installed: {', '.join(sorted(self._pairs)) or 'none'})"
        )

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """Translate all sentences in one run of the program."""
        if not sentences:
            return []
        output = self._run("-u", self.model_for(source, target), given=_APART.join(sentences))
        translated = output.split(_APART) if len(sentences) > 1 else [output]
        if len(translated) == len(sentences):
            return [_tidy(*pair) for pair in zip(sentences, translated, strict=True)]
        # A translation added or lost a blank line: find it, rather than misalign all sentences.
        half = len(sentences) // 2
        return [
            *self.translate(sentences[:half], source, target),
            *self.translate(sentences[half:], source, target),
        ]

    @cached_property
    def _pairs(self) -> frozenset[str]:
        return frozenset(self._run("-l").split())

    def _path(self) -> str:
        path = shutil.which(self._program)
        if path is None:
            raise InputError(
                "apertium is not installed: apt-get install apertium "
                "and a pair such as apertium-eng-spa"
            )
        return path

    def _run(self, *arguments: str, given: str = "") -> str:
        path = self._path()
        try:
            ended = subprocess.run(  # noqa: S603  (no shell; the pair is one that apertium listed)
                [path, *arguments],
                input=given.encode(),
                capture_output=True,
                timeout=self._timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise MathSetuError(
                f"apertium {' '.join(arguments)} was stopped after {self._timeout:g} seconds"
            ) from None
        if ended.returncode != 0:
            problem = " ".join(ended.stderr.decode(errors="replace").split())[:200]
            raise MathSetuError(f"apertium {' '.join(arguments)} failed: {problem}")
        return ended.stdout.decode(errors="replace")


def _tidy(sentence: str, translated: str) -> str:
    """Return one line without the marks of Apertium on words that it could not inflect."""
    for mark in "#@":
        if mark not in sentence:
            translated = translated.replace(mark, "")
    return " ".join(translated.split())


def _names(asked: str) -> tuple[str, ...]:
    """Return the possible names of a language in Apertium, the best first."""
    row = language(asked)
    usual = _NAMES.get(row.code, (row.nllb.partition("_")[0],))
    return tuple(name for name in (*usual, row.code, asked) if name)
