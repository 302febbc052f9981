"""Cuts a snippet out of a marked text without breaking a formula."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from mathsetu.markup.convert import spans_of
from mathsetu.markup.delimiters import find_formulas

_WORD = re.compile(r"\S+\s*")
# Size of the cache of snippets, because good posts are found repeatedly.
_CACHE_SIZE = 4_000
# The most positions of one word that are compared.
_MAX_POSITIONS = 500

#: The beginning and end of a match in a text, and what matched.
_Place = tuple[int, int, str]


def snippet(text: str, width: int = 200, start: int = 0, end: int = 0) -> str:
    """Return about ``width`` characters of a marked text that contain the range ``start:end``.

    Words and formulas are not cut, so the result can be longer than ``width`` by one of them. Of a
    range longer than ``width`` the beginning is returned.

    >>> snippet("We know that $a^2 + b^2 = c^2$ holds in every right triangle.", 30, start=20)
    '… that $a^2 + b^2 = c^2$ holds …'
    """
    atoms = _atoms(text)
    if not atoms:
        return ""
    first = last = max((n for n, (begun, _) in enumerate(atoms) if begun <= start), default=0)
    length = atoms[first][1] - atoms[first][0]
    while last + 1 < len(atoms) and atoms[last + 1][0] < end:
        more = atoms[last + 1][1] - atoms[last + 1][0]
        if length + more > width:
            break
        last, length = last + 1, length + more
    middle = first + last
    while True:
        # Extend the shorter side first, as far as the width allows.
        left = atoms[first][0] - atoms[first - 1][0] if first else None
        right = atoms[last + 1][1] - atoms[last + 1][0] if last + 1 < len(atoms) else None
        if right is not None and length + right <= width and first + last <= middle:
            last, length = last + 1, length + right
        elif left is not None and length + left <= width:
            first, length = first - 1, length + left
        elif right is not None and length + right <= width:
            last, length = last + 1, length + right
        else:
            break
    cut = text[atoms[first][0] : atoms[last][1]].strip()
    before = "… " if first else ""
    after = " …" if last + 1 < len(atoms) else ""
    return before + cut + after


def matched_snippet(
    texts: Sequence[str],
    formulas: Iterable[str],
    words: Mapping[str, Iterable[str]],
    width: int = 240,
) -> str:
    """Return the snippet with the most matches: formulas first, then words; else a beginning.

    Args:
        texts: Marked texts, from which one snippet is taken.
        formulas: The matched formulas, in LaTeX.
        words: The matched words: each word of the query with its forms in the texts.
        width: The approximate length of the snippet.

    >>> matched_snippet(["It is two.", "What is $1+1$?"], ["1+1"], {"two": ["two"]})
    'What is $1+1$?'
    >>> found = {"prime": ["prime"], "sum": ["sums"]}
    >>> matched_snippet(["A prime is odd. Some sums of prime numbers are prime."], [], found, 20)
    '… Some sums of prime …'
    """
    wanted = set(formulas)
    patterns = {word: _pattern(forms) for word, forms in words.items()}
    best, text, start, end = (0, 0), next(filter(None, texts), ""), 0, 0
    for one in texts:
        places = [place for place in _formula_places(one) if place[2] in wanted]
        found = [*places, *_word_places(one, patterns)]
        value, *place = _densest(found, width, {latex for *_, latex in places})
        if value > best:
            best, text, (start, end) = value, one, place
    return _cut(text, width, start, end)


def _pattern(forms: Iterable[str]) -> re.Pattern[str]:
    # A form is found within a word only if it occurs nowhere else: where no spaces separate words.
    either = "|".join(map(re.escape, sorted(filter(None, forms), key=len, reverse=True)))
    return re.compile(either or r"(?!)", re.IGNORECASE)


def _word_places(text: str, patterns: Mapping[str, re.Pattern[str]]) -> Iterator[_Place]:
    """Yield the positions of words."""
    for word, pattern in patterns.items():
        places = [match.span() for match in islice(pattern.finditer(text), _MAX_POSITIONS)]
        whole = [(start, end) for start, end in places if not text[start - 1 : start].isalnum()]
        for start, end in whole or places:
            yield start, end, word


def _densest(
    found: Iterable[_Place], width: int, formulas: Collection[str]
) -> tuple[tuple[int, int], int, int]:
    """The range of at most ``width`` characters with the most distinct matches, and their numbers.

    Formulas are counted before words. Of equal ranges the first is taken.
    """
    places = sorted(found)
    best, start, end = (0, 0), 0, 0
    inside: Counter[str] = Counter()
    first = 0
    for _, last_end, name in places:
        inside[name] += 1
        while last_end - places[first][0] > width and places[first][1] != last_end:
            dropped = places[first][2]
            inside[dropped] -= 1
            if not inside[dropped]:
                del inside[dropped]
            first += 1
        count = sum(one in formulas for one in inside)
        value = (count, len(inside) - count)
        if value > best:
            best, start, end = value, places[first][0], last_end
    return best, start, end


def _formula_places(text: str) -> Iterator[_Place]:
    """Yield the positions of formulas."""
    start = 0
    for span in spans_of(text):
        if span.kind == "formula":
            yield start, start + len(span.raw), span.content
        start += len(span.raw)


@lru_cache(maxsize=_CACHE_SIZE)
def _cut(text: str, width: int, start: int, end: int) -> str:
    return snippet(text, width, start, end)


def _atoms(text: str) -> list[tuple[int, int]]:
    """Return the ranges that must not be cut: words with the space after them, and formulas."""
    atoms: list[tuple[int, int]] = []
    position = 0
    for found in [*find_formulas(text), None]:
        end = found.start if found else len(text)
        atoms.extend(match.span() for match in _WORD.finditer(text, position, end))
        if found:
            atoms.append((found.start, found.end))
            position = found.end
    return atoms
