"""Cuts a short piece out of a marked text without breaking a formula."""

from __future__ import annotations

import re

from mathsetu.markup.delimiters import find_formulas

_WORD = re.compile(r"\S+\s*")


def snippet(text: str, width: int = 200, around: int = 0) -> str:
    """About ``width`` characters of a marked text near the position ``around``.

    Words and formulas stay whole, so the result can be longer than ``width`` by one of them.

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
        # Grow towards the side that is nearer, as far as the width allows.
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


def _atoms(text: str) -> list[tuple[int, int]]:
    """Ranges that must not be cut: words with the space after them, and formulas."""
    atoms: list[tuple[int, int]] = []
    position = 0
    for found in [*find_formulas(text), None]:
        end = found.start if found else len(text)
        atoms.extend(match.span() for match in _WORD.finditer(text, position, end))
        if found:
            atoms.append((found.start, found.end))
            position = found.end
    return atoms
