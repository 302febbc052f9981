"""Entry point of translation: translates whole posts without losing a formula.

A post is masked, split into sentences, translated sentence by sentence (each distinct sentence
once, and only if it is not cached), unmasked and joined.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from mathsetu.errors import MathSetuError
from mathsetu.languages.mask import Masked, mask, unmask
from mathsetu.languages.sentences import LONGEST, sentences
from mathsetu.languages.table import language
from mathsetu.languages.translate.backend import Backend, Translation
from mathsetu.languages.translate.cache import Cache, Direction, model_stamp
from mathsetu.markup import split
from mathsetu.printable import counted

Progress = Callable[[int, int], None]

_NAME = re.compile(r"QZ(\d+)")
_LETTER = re.compile(r"[^\W\d_]")
_MARKUP = re.compile(r"[\\`{}~]")


class Translator:
    """Translates posts with one backend.

    >>> from mathsetu.languages.translate import open_translator
    >>> with_glossary = open_translator("glossary")
    >>> [done] = with_glossary.translate(["the integral of $x^2$"], "en", "es")
    >>> done.backend, "integral" in done.text, "$x^2$" in done.text
    ('glossary', True, True)
    """

    def __init__(self, backend: Backend, cache: Cache | None = None) -> None:
        self.backend = backend
        self.cache = cache

    def translate(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        *,
        progress: Progress | None = None,
    ) -> list[Translation]:
        """Translate texts with formulas from one language into another.

        Args:
            texts: Marked texts, of any length.
            source: Their language: a code of the table or of the model.
            target: The target language.
            progress: Called after each chunk with the number of finished and of all sentences.

        Returns:
            One translation for each text, in the same order.
        """
        if language(source) == language(target):
            return [Translation(text, "", "") for text in texts]
        model = self.backend.model_for(source, target)
        posts = [_pieces(text) for text in texts]
        uses = Counter(piece.sentence for post in posts for piece in post if piece.sentence)
        results, seconds = self._results(list(uses), model, source, target, progress)
        done: list[Translation] = []
        for text, post in zip(texts, posts, strict=True):
            translated, lost = _assembled(text, post, results)
            spent = sum(seconds.get(piece.sentence, 0) / uses[piece.sentence]
                        for piece in post if piece.sentence)  # fmt: skip
            done.append(Translation(translated, self.backend.name, model, spent, lost))
        return done

    def remembers(self, texts: Sequence[str], source: str, target: str) -> bool:
        """Whether all sentences of texts are cached, so that no model is needed."""
        wanted = {piece.sentence for text in texts for piece in _pieces(text) if piece.sentence}
        if self.cache is None:
            return not wanted
        direction = self._direction(self.backend.model_for(source, target), source, target)
        return len(self.cache.recall(direction, list(wanted))) == len(wanted)

    def _direction(self, model: str, source: str, target: str) -> Direction:
        return Direction(self.backend.name, model_stamp(model), source, target)

    def _results(
        self, wanted: list[str], model: str, source: str, target: str, progress: Progress | None
    ) -> tuple[dict[str, str], dict[str, float]]:
        """Return the translation of each sentence, and the time of those not cached."""
        direction = self._direction(model, source, target)
        results = self.cache.recall(direction, wanted) if self.cache is not None else {}
        seconds: dict[str, float] = {}
        missing = [sentence for sentence in wanted if sentence not in results]
        for start in range(0, len(missing), self.backend.chunk):
            chunk = missing[start : start + self.backend.chunk]
            begun = perf_counter()
            translated = self.backend.translate(chunk, source, target)
            spent = perf_counter() - begun
            if len(translated) != len(chunk):
                raise MathSetuError(
                    f"{self.backend.name} gave {counted(len(translated), 'translation')} "
                    f"for {counted(len(chunk), 'sentence')}"
                )
            fresh = dict(zip(chunk, translated, strict=True))
            letters = sum(map(len, chunk))
            seconds |= {sentence: spent * len(sentence) / letters for sentence in chunk}
            if self.cache is not None:
                self.cache.remember(direction, fresh)
            results |= fresh
            if progress is not None:
                progress(len(results), len(wanted))
        return results, seconds


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence of a post, with the white space around it.

    ``sentence`` is the input of the backend; "" if there is nothing to translate.
    """

    before: str
    masked: Masked
    after: str
    sentence: str


def _pieces(text: str) -> list[_Piece]:
    whole = mask(text)
    return [_piece(sentence, whole) for sentence in sentences(whole.text)]


def _piece(sentence: str, whole: Masked) -> _Piece:
    """Number the masks of a sentence from one, so that the cache is independent of the post.

    In addition, a lost formula is then appended to its own sentence.
    """
    hidden: list[str] = []

    def renumber(name: re.Match[str]) -> str:
        hidden.append(whole.hidden[int(name[1]) - 1])
        return f"QZ{len(hidden)}"

    core = _NAME.sub(renumber, sentence.strip())
    before, after = _around(sentence)
    worth_it = len(core) <= LONGEST and _LETTER.search(_NAME.sub("", core))
    return _Piece(before, Masked(core, tuple(hidden)), after, _clean(core) if worth_it else "")


def _around(sentence: str) -> tuple[str, str]:
    inner = len(sentence.lstrip())
    before = sentence[: len(sentence) - inner]
    return before, sentence[len(before) + len(sentence.strip()) :]


def _clean(sentence: str) -> str:
    """Return one line without line breaks, NUL and lone surrogates, for every backend."""
    line = " ".join(sentence.replace("\0", " ").split())
    return line.encode("utf-8", "replace").decode()


def _assembled(
    text: str, post: list[_Piece], results: dict[str, str]
) -> tuple[str, tuple[str, ...]]:
    translated, lost = _joined(post, results, guarded=False)
    if _formulas(translated) != _formulas(text):
        # The backend added a dollar, a backtick or a backslash, which changed the formulas.
        translated, lost = _joined(post, results, guarded=True)
    return translated, lost


def _joined(
    post: list[_Piece], results: dict[str, str], *, guarded: bool
) -> tuple[str, tuple[str, ...]]:
    parts: list[str] = []
    lost: list[str] = []
    for piece in post:
        masked = piece.masked
        # An unchanged sentence is kept as written, including line breaks.
        translated = results.get(piece.sentence, piece.sentence)
        if translated == piece.sentence:
            translated = masked.text
        elif guarded:
            translated = _MARKUP.sub("", translated).replace("$", r"\$")
            masked = Masked(masked.text, tuple(f" {formula} " for formula in masked.hidden))
        back = unmask(translated, masked)
        parts.append(piece.before + back.text + piece.after)
        lost += [formula.strip() for formula in back.lost] if guarded else back.lost
    return "".join(parts), tuple(lost)


def _formulas(text: str) -> Counter[str]:
    return Counter(span.raw for span in split(text) if span.kind == "formula")
