"""Spelling correction: known words that differ from a word in one or two letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.languages.normalise import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The shortest word that is corrected (shorter ones have too many neighbours), the length from which
# the last letter may be too much or missing (in shorter words, it is often an ending), and the
# length from which two wrong letters are allowed.
_SHORTEST, _MEDIUM, _LONG = 4, 7, 8
_BITS = 64
_ONES = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


class Spelling:
    """Known words with their frequencies.

    >>> spelling = Spelling({"integral": 5, "interval": 3, "prvočíslo": 1})
    >>> spelling.nearest("intergal"), spelling.nearest("prvocisla"), spelling.nearest("matrix")
    ('integral', 'prvočíslo', '')
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        self._words = list(words)
        self._counts = list(words.values())

    @cached_property
    def _folded(self) -> list[str]:
        return [fold(word) for word in self._words]

    @cached_property
    def _letters(self) -> NDArray[np.uint64]:
        """For each word a bit set of its letters."""
        return np.array([_letters(word) for word in self._folded], dtype=np.uint64)

    @cached_property
    def _lengths(self) -> NDArray[np.int16]:
        return np.array([len(word) for word in self._folded], dtype=np.int16)

    def nearest(self, word: str) -> str:
        """The nearest known word, the most frequent one if several are equally near; "" for none.

        >>> Spelling({"theory": 9, "theorem": 3}).nearest("theorm")
        'theorem'
        """
        wanted = fold(word)
        if len(wanted) < _SHORTEST or not self._words:
            return ""
        most = 2 if len(wanted) >= _LONG else 1
        # One edit changes at most two bits, so few words need the exact distance.
        differing = _ones(self._letters ^ np.uint64(_letters(wanted)))
        alike = (differing <= 2 * most) & (np.abs(self._lengths - len(wanted)) <= most)
        best = (most + 1, 0, 0, "")
        for place in np.flatnonzero(alike).tolist():
            near = self._folded[place]
            if _is_ending(wanted, near):
                continue
            distance = edits(wanted, near, most)
            if distance > min(best[0], most):
                continue
            # Swapped or missing letters are more frequent than wrong letters.
            wrong = (Counter(wanted) - Counter(near)).total()
            found = (distance, wrong, -self._counts[place], self._words[place])
            if found < best:
                best = found
        return best[3]


def _is_ending(one: str, other: str) -> bool:
    """Whether two words seem to be forms of one: they differ in letters at the end.

    >>> _is_ending("group", "groups"), _is_ending("prime", "primee")
    (True, False)
    """
    shorter, longer = sorted((one, other), key=len)
    more = longer.removeprefix(shorter)
    if more == longer or more == shorter[-1:]:
        return False
    return len(more) > 1 or len(shorter) < _MEDIUM


def _ones(numbers: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The number of set bits of each number."""
    ones: NDArray[np.uint8] = _ONES[numbers.view(np.uint8)].reshape(-1, 8).sum(1, dtype=np.uint8)
    return ones


def edits(one: str, other: str, most: int) -> int:
    """The edit distance: letters replaced, deleted, inserted, or swapped with the next.

    At most ``most`` + 1 edits are counted.

    >>> edits("intergal", "integral", 2), edits("sum", "series", 2)
    (1, 3)
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        older, before, row = before, row, [place]
        for column, theirs in enumerate(other, start=1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != theirs))
            is_swap = (
                older and column > 1 and one[place - 2] == theirs and letter == other[column - 2]
            )
            row.append(min(cost, older[column - 2] + 1) if is_swap else cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def _letters(word: str) -> int:
    letters = 0
    for letter in word:
        letters |= 1 << (ord(letter) % _BITS)
    return letters
