"""Cuts a snippet out of a marked text without breaking a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from mathsetu.markup.convert import spans_of
from mathsetu.markup.delimiters import find_formulas

_WORD = re.compile(r"\S+\s*")
# Size of the cache of snippets, because good posts are found repeatedly.
_REMEMBERED = 4_000


def snippet(text: str, width: int = 200, around: int = 0) -> str:
    """Return about ``width`` characters of a marked text near the position ``around``.

    Words and formulas are not cut, so the result can be longer than ``width`` by one of them.

    >>> snippet("We know that $a^2 + b^2 = c^2$ holds in every right triangle.", 30, around=20)
    '… that $a^2 + b^2 = c^2$ holds …'
    """
    atoms = _atoms(text)
    if not atoms:
        return ""
    centre = max((n for n, (start, _) in enumerate(atoms) if start <= around), default=0)
    first = last = centre
    length = atoms[centre][1] - atoms[centre][0]
    while True:
        # Extend the shorter side first, as far as the width allows.
        left = atoms[first][0] - atoms[first - 1][0] if first else None
        right = atoms[last + 1][1] - atoms[last + 1][0] if last + 1 < len(atoms) else None
        if right is not None and length + right <= width and (last - centre <= centre - first):
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
    texts: Sequence[str], formulas: Iterable[str], words: Iterable[str], width: int = 240
) -> str:
    """Return a snippet around a matched formula, else around a matched word, else a beginning.

    The snippet comes from the first text that contains the formula or the word.

    >>> matched_snippet(["It is two.", "What is $1+1$?"], ["1+1"], ["two"])
    'What is $1+1$?'
    >>> matched_snippet(["It is two.", "What is $1+1$?"], [], ["what"])
    'It is two.'
    """
    wanted = set(formulas)
    for text in texts:
        places = [place for latex, place in _formula_places(text) if latex in wanted]
        if places:
            return _cut(text, width, places[0])
    for word in filter(None, words):
        for text in texts:
            if (place := text.find(word)) >= 0:
                return _cut(text, width, place)
    return _cut(next(filter(None, texts), ""), width, 0)


def _formula_places(text: str) -> Iterator[tuple[str, int]]:
    """Yield the formulas of a text with their positions."""
    start = 0
    for span in spans_of(text):
        if span.kind == "formula":
            yield span.content, start
        start += len(span.raw)


@lru_cache(maxsize=_REMEMBERED)
def _cut(text: str, width: int, around: int) -> str:
    return snippet(text, width, around)


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
