"""Words of a text with their places, and the terms the analyzer makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from mathsetu.languages.analyze import MARKS, UNSPACED, analyze
from mathsetu.languages.normalise import normalise
from mathsetu.markup import split

# A word and the apostrophes inside it; combining marks and half-spaces belong to it.
_WORD = re.compile(rf"[^\W_](?:[\w{MARKS}]|['’](?=\w))*")
# What may stand between the words of one term: zero-divisor, i.i.d., Stokes' theorem.
_JOINT = re.compile(r"['’]?[\s\-‐‑–]*|\.")
# What formulas and code begin with.
_MARKS = re.compile(r"[$\\`]")


class Token(NamedTuple):
    """One word: its place in the text and its terms.

    ``is_stop`` tells that the analyzer would drop it; it is then marked, so that it never meets a
    term that happens to look like it (Spanish "con", with, and the stem of "conos", cones).
    ``follows`` tells that only space or a hyphen parts it from the word before.
    """

    start: int
    end: int
    terms: tuple[str, ...]
    is_stop: bool
    follows: bool


def tokenize(text: str, language: str) -> list[Token]:
    """The words of a marked text; formulas and code are skipped.

    >>> [(token.start, token.terms) for token in tokenize("roots of $x^2$, primes", "en")]
    [(0, ('root',)), (6, ('~of',)), (16, ('prime',))]
    """
    if not _MARKS.search(text):
        return _words(text, 0, language)  # terms of the glossary come here by the thousand
    tokens: list[Token] = []
    offset = 0
    for span in split(text):
        if span.kind == "text":
            tokens += _words(span.raw, offset, language)
        offset += len(span.raw)
    return tokens


def _words(text: str, offset: int, language: str) -> list[Token]:
    tokens: list[Token] = []
    last = -1
    for word in _WORD.finditer(text):
        if UNSPACED.search(word[0]):
            tokens += _characters(word, offset, language, follows=word.start() == last)
            last = word.end()
            continue
        terms, is_stop = _terms(word[0], language)
        start, end = word.span()
        follows = last >= 0 and (
            (start == last + 1 and text[last] == " ")
            or _JOINT.fullmatch(text, last, start) is not None
        )
        tokens.append(Token(offset + start, offset + end, terms, is_stop, follows))
        last = end
    return tokens


def _characters(
    word: re.Match[str], offset: int, language: str, *, follows: bool
) -> Iterator[Token]:
    """A run of a script without spaces: every character may begin a term."""
    start = word.start() + offset
    place = 0
    for run in UNSPACED.finditer(word[0]):
        if run.start() > place:
            terms, is_stop = _terms(word[0][place : run.start()], language)
            yield Token(start + place, start + run.start(), terms, is_stop, follows or place > 0)
        for at in range(run.start(), run.end()):
            term = normalise(word[0][at])
            yield Token(start + at, start + at + 1, (term,), False, follows or at > 0)
        place = run.end()
    if place < len(word[0]):
        terms, is_stop = _terms(word[0][place:], language)
        yield Token(start + place, start + len(word[0]), terms, is_stop, True)


@lru_cache(maxsize=1 << 16)
def _terms(word: str, language: str) -> tuple[tuple[str, ...], bool]:
    if terms := analyze(word, language):
        return tuple(terms), False
    kept = analyze(word, language, stemmer="none", stop_words=False)
    return tuple(f"~{term}" for term in kept), True
