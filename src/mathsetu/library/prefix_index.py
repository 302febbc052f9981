"""An index of short texts by word prefixes, for suggestions while typing.

The folded words (lower case, no accents) of all texts are concatenated to one byte string. The
offsets of word beginnings are sorted by the bytes that follow. This takes about the size of the
texts plus four bytes per word. A search is two binary searches.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.languages.analyze import tokenize
from mathsetu.languages.normalise import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPACE, _END = ord(" "), ord("\n")
# Offsets are sorted by this many bytes; longer prefixes are compared during the search.
_SORTED = 32
_FORMULA = re.compile(r"\$+[^$]*\$+")


def folded(text: str) -> str:
    """The words of a text without formulas, capitals and accents.

    >>> folded("Řešení $x^2$ -- Kvadratická  rovnice")
    'reseni kvadraticka rovnice'
    """
    return " ".join(fold(word) for word in tokenize(_FORMULA.sub(" ", text)))


class PrefixIndex:
    """Texts indexed by the beginnings of their words.

    >>> table = PrefixIndex(["Prime numbers", "Infinitely many primes", "Sums"])
    >>> table.find("prim", 5), table.find("many pr", 5), table.find("x", 5)
    ([0, 1], [1], [])
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Index texts, which are numbered in the given order."""
        self._bytes = b"".join(folded(text).encode() + b"\n" for text in texts)
        row = np.frombuffer(self._bytes + bytes(_SORTED), dtype=np.uint8)
        ends = np.flatnonzero(row[: len(self._bytes)] == _END)
        #: The offset of each text, and the end of the last one.
        self._texts = np.concatenate([np.zeros(1, np.int64), ends + 1]).astype(np.int32)
        is_letter = row > _SPACE
        begins = np.flatnonzero(is_letter[1:] & ~is_letter[:-1]) + 1
        if len(row) and is_letter[0]:
            begins = np.concatenate([np.zeros(1, np.int64), begins])
        windows = np.lib.stride_tricks.sliding_window_view(row, _SORTED)[begins]
        keys = np.ascontiguousarray(windows).view(f"S{_SORTED}")[:, 0] if len(begins) else begins
        self._begins: NDArray[np.int32] = begins[np.argsort(keys, kind="stable")].astype(np.int32)

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self._texts) - 1

    @property
    def size(self) -> int:
        """The size of the index in bytes."""
        return len(self._bytes) + self._texts.nbytes + self._begins.nbytes

    def find(self, beginning: str, limit: int) -> list[int]:
        """Texts with words that start with a prefix: first if the text does, then by length.

        Args:
            beginning: The prefix: folded words, the last of which may be unfinished.
            limit: The number of texts.
        """
        wanted = beginning.encode()
        if not wanted:
            return []
        key = wanted[:_SORTED]

        def at(place: int) -> bytes:
            begin = int(self._begins[place])
            return self._bytes[begin : begin + len(key)]

        every = range(len(self._begins))
        first, last = bisect_left(every, key, key=at), bisect_right(every, key, key=at)
        begins = self._begins[first:last]
        if len(wanted) > _SORTED:
            matching = [self._bytes.startswith(wanted, begin) for begin in begins.tolist()]
            begins = begins[matching]
        numbers = np.searchsorted(self._texts, begins, side="right") - 1
        inside = begins != self._texts[numbers]
        lengths = self._texts[numbers + 1] - self._texts[numbers]
        order = np.lexsort((numbers, lengths, inside))
        return list(dict.fromkeys(numbers[order[: 4 * limit]].tolist()))[:limit]

    def words(self) -> list[str]:
        """All words of all texts, with repetitions."""
        return self._bytes.decode().split()
