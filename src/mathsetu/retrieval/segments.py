"""Numbering across the segments of an index.

An item (a post, a formula) has a number in its segment, and one in the whole index: its number in
the segment plus that of the segment's first item.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Numbering:
    """The numbers of the items of several segments.

    >>> numbering = Numbering([3, 0, 2])
    >>> len(numbering), numbering.locate(3), numbering.firsts
    (5, (2, 0), (0, 3, 3))
    """

    def __init__(self, sizes: Iterable[int]) -> None:
        """Number the items of segments of the given sizes."""
        ends = tuple(accumulate(sizes, initial=0))
        #: The number of each segment's first item.
        self.firsts: tuple[int, ...] = ends[:-1]
        self._bounds = ends
        self._ends = np.array(ends, dtype=np.int64)

    def __len__(self) -> int:
        """How many items there are."""
        return self._bounds[-1]

    def locate(self, number: int) -> tuple[int, int]:
        """The segment of an item, and its number there."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        segment = bisect_right(self._bounds, number) - 1
        return segment, number - self._bounds[segment]

    def by_segment(
        self, numbers: NDArray[np.int64]
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each segment that has some of the numbers, their places here, and those in it.

        >>> [(s, at.tolist(), own.tolist()) for s, at, own in
        ...  Numbering([2, 2]).by_segment(np.array([3, 0, 2]))]
        [(0, [1], [0]), (1, [0, 2], [1, 0])]
        """
        if len(self.firsts) == 1:
            if len(numbers):
                yield 0, np.arange(len(numbers)), numbers
            return
        segments = np.searchsorted(self._ends, numbers, side="right") - 1
        for segment in np.unique(segments).tolist():
            places = np.flatnonzero(segments == segment)
            yield segment, places, numbers[places] - self._ends[segment]
