"""Tokens for the glossary: the words of a text with their positions and terms.

Vietnamese separates syllables by spaces and distinguishes words by tone marks, which the analyzer
removes. Here, syllables keep their tone marks, unless the whole text was typed without them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from mathsetu.languages.analyze import MARKS, UNSPACED, analyze
from mathsetu.languages.normalise import normalise
from mathsetu.languages.table import language as row_of
from mathsetu.markup import split

# A word and the apostrophes inside it; combining marks and half-spaces belong to it.
_WORD = re.compile(rf"[^\W_](?:[\w{MARKS}]|['’](?=\w))*")
# Separators between the words of one term: zero-divisor, i.i.d., Stokes' theorem, or a line break,
# but not a blank line or the dash of a list item.
_JOINT = re.compile(r"['’]?[^\S\n]*+[\-‐‑–]*+[^\S\n]*+\n?[^\S\n]*+|\.")
# The first characters of formulas and code.
_MARKS = re.compile(r"[$\\`]")
#: Maximum number of syllables of a word.
LONGEST_WORD: Final = 4


class Token(NamedTuple):
    """One word: its position in the text and its terms.

    ``is_stop`` marks stop words. Their terms get the prefix ``~``, so that they do not match a term
    with the same spelling (Spanish "con", with, and the stem of "conos", cones). ``follows`` is
    true if only a separator such as a space or a hyphen lies between it and the previous word.
    """

    start: int
    end: int
    terms: tuple[str, ...]
    is_stop: bool
    follows: bool


def tokenize(text: str, language: str) -> list[Token]:
    """Return the words of a marked text; formulas and code are skipped.

    >>> [(token.start, token.terms) for token in tokenize("roots of $x^2$, primes", "en")]
    [(0, ('root',)), (6, ('~of',)), (16, ('prime',))]
    """
    toned = has_tones(text, language)
    if not _MARKS.search(text):
        return _words(text, 0, language, toned)  # fast path for the thousands of glossary terms
    tokens: list[Token] = []
    offset = 0
    for span in split(text):
        if span.kind == "text":
            tokens += _words(span.raw, offset, language, toned)
        offset += len(span.raw)
    return tokens


def has_tones(text: str, language: str) -> bool:
    """Whether words of a text are distinguished by its tone marks.

    >>> has_tones("con chó", "vi"), has_tones("con cho", "vi"), has_tones("año", "es")
    (True, False, False)
    """
    return row_of(language).spaces_syllables and not text.isascii()


def joined_syllables(syllables: Sequence[str], words: Container[str]) -> list[str]:
    """Join syllables to words, longest match first.

    >>> joined_syllables(["trường", "học", "mới"], {"trường học"})
    ['trường học', 'mới']
    """
    joined: list[str] = []
    place = 0
    while place < len(syllables):
        for count in range(min(LONGEST_WORD, len(syllables) - place), 0, -1):
            word = " ".join(syllables[place : place + count])
            if count == 1 or word in words:
                joined.append(word)
                place += count
                break
    return joined


def _words(text: str, offset: int, language: str, toned: bool) -> list[Token]:
    tokens: list[Token] = []
    last = -1
    for word in _WORD.finditer(text):
        if UNSPACED.search(word[0]):
            tokens += _characters(word, offset, language, follows=word.start() == last)
            last = word.end()
            continue
        terms, is_stop = _terms(word[0], language, toned)
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
    """Yield the characters of a run without spaces: every character may begin a term."""
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
def _terms(word: str, language: str, toned: bool = False) -> tuple[tuple[str, ...], bool]:
    if toned:
        syllable = normalise(word)
        is_stop = syllable in row_of(language).stop_words
        return (f"~{syllable}" if is_stop else syllable,), is_stop
    if terms := analyze(word, language):
        return tuple(terms), False
    kept = analyze(word, language, stemmer="none", stop_words=False)
    return tuple(f"~{term}" for term in kept), True
