"""Reads the raw material: parallel text, questions with answers, and dictionaries.

A data folder has ``parallel.en-XX.tsv.xz`` (English, translation, source), for some languages also
``parallel-more.en-XX.tsv.xz`` in the same format, ``qa.jsonl.xz`` (``q``, ``a``, ``src``, ``lang``,
``kind``), and ``dict/NAME-en-XX.tsv.xz`` (English, translation).
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mathsetu.errors import InputError, RowError

#: Languages with parallel text; Nepali has only the glossary, the templates, and Hindi text
#: converted to near-Nepali.
PARALLEL = ("hi", "es", "cs", "hr", "fa")
LANGUAGES = (*PARALLEL, "ne")
#: Sources that are kept for validation and never trained on.
VALIDATION = frozenset({"ntrex", "flores"})
#: Sources with mathematical texts.
MATHEMATICS = frozenset(
    "ncert 3b1b geogebra_ui geogebra_manual mathigon mathigon_gloss openstax openstax_gloss "
    "hi_qbanks_math".split()
)
#: Most pairs from sources with few useful texts, such as interface texts and scripture.
_CAPS = {"debian_mo": 90_000, "bible": 40_000, "libreoffice": 40_000, "hi_qbanks": 60_000}
_PLACEHOLDERS = re.compile(r"%\d*\$?[sdiulxo]|\{\d*\}|&[a-z]+;|<[^>]+>|https?:|--\w")
_LONGEST = 1200
# One character of Chinese, Japanese or Korean counts as three of other scripts.
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class Translation:
    """An English text and its translation."""

    english: str
    other: str
    language: str
    source: str

    @property
    def mathematical(self) -> bool:
        """Whether the pair comes from a mathematical source."""
        return self.source in MATHEMATICS


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answer, a statement with its proof, or a title with its text."""

    question: str
    answer: str
    language: str
    source: str


def translations(folder: Path, language: str) -> Iterator[Translation]:
    """Yield the usable pairs of a language, in file order."""
    left = dict(_CAPS)
    seen: set[int] = set()
    for path, number, line in _rows(folder, language):
        try:
            english, other, source = line.split("\t")
        except ValueError:
            raise RowError(path, number, "needs English, translation and source") from None
        if source in VALIDATION or not _usable(english, other, source):
            continue
        key = hash((english.casefold(), other.casefold()))
        if key in seen or left.get(source, 1) == 0:
            continue
        seen.add(key)
        if source in left:
            left[source] -= 1
        yield Translation(english, other, language, source)


def _rows(folder: Path, language: str) -> Iterator[tuple[Path, int, str]]:
    """Yield the lines of a language's file, then those of its additional file if there is one."""
    more = folder / f"parallel-more.en-{language}.tsv.xz"
    for path in (folder / f"parallel.en-{language}.tsv.xz", more):
        if path != more or path.exists():
            for number, line in enumerate(_lines(path), 1):
                yield path, number, line


def answered(folder: Path) -> Iterator[Answered]:
    """Yield the question-answer pairs, truncated to a length that a model reads."""
    path = folder / "qa.jsonl.xz"
    for number, line in enumerate(_lines(path), 1):
        try:
            row = json.loads(line)
            question, answer = row["q"].strip()[:_LONGEST], row["a"].strip()[:_LONGEST]
            made = Answered(question, answer, row["lang"], row["src"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RowError(path, number, 'needs "q", "a", "src" and "lang"') from None
        if len(question) >= 10 and answer:
            yield made


def dictionary(folder: Path, language: str) -> Iterator[tuple[str, str]]:
    """Yield English words with a translation, from all word lists of a language."""
    for path in sorted((folder / "dict").glob(f"*-en-{language}.tsv.xz")):
        for line in _lines(path):
            english, _, other = line.partition("\t")
            if other:
                yield english.strip(), other.split("\t")[0].strip()


def _usable(english: str, other: str, source: str) -> bool:
    length = len(other) + 2 * len(_DENSE.findall(other))
    if not english.strip() or not 0.3 < length / len(english) < 3.0:
        return False
    if source in ("debian_mo", "libreoffice", "mediawiki", "ddtp"):
        letters = sum(map(str.isalpha, english))
        few = len(english.split()) < 3 or letters < 0.7 * len(english)
        return not few and not _PLACEHOLDERS.search(english)
    return len(english) <= _LONGEST and english != other


def _lines(path: Path) -> Iterator[str]:
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")
    except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
