"""Passages of a large segment in clustered lists: a search reads the nearest lists only.

K-means finds the centres of the lists; each passage belongs to the nearest one. The signs of the
vectors are written once more, list by list, so that a list is read from one place.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import DamagedLibrary
from mathsetu.pool import ordered_threads
from mathsetu.retrieval import kernels
from mathsetu.retrieval.mapped import Mapped, check_rising

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Rows = NDArray[np.int64]

# With fewer passages, looking at all of them takes a few milliseconds.
_SMALLEST = 1_000_000
# Passages of a list on average, the most lists, and for each the passages it is learned from.
_LIST, _MOST_LISTS, _LEARNED_FROM = 4_096, 1_024, 64
_ROUNDS, _SEED = 8, 20260
# The share of the passages that a search looks at.
_VISITED = 1 / 8
# Vectors that are compared with the centres at a time, and by how many threads.
_TOGETHER, _THREADS = 1 << 13, 4


def write_sign_lists(folder: Path, vectors: NDArray[np.int8], signs: NDArray[np.uint64]) -> None:
    """Divide passages into lists and write these into a new folder, if there are many passages.

    The same vectors give the same bytes, since the first centres are drawn with a fixed seed.

    Args:
        folder: Where they go.
        vectors: Those of the passages.
        signs: Their signs.
    """
    count = len(vectors)
    if count < _SMALLEST:
        return
    lists = min(_MOST_LISTS, -(-count // _LIST))
    centres = _centres(vectors, lists)
    parts = (vectors[first : first + _TOGETHER] for first in range(0, count, _TOGETHER))
    belongs = np.concatenate(
        list(ordered_threads(lambda part: _nearest(_directions(part), centres), parts, _THREADS))
    )
    rows = np.argsort(belongs, kind="stable").astype(np.int32)
    ends = np.concatenate(([0], np.cumsum(np.bincount(belongs, minlength=lists))))
    folder.mkdir()
    for name, values in (
        ("centres", centres),
        ("rows", rows),
        ("ends", ends.astype(np.int64)),
        ("signs", signs[rows]),
    ):
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


def _centres(vectors: NDArray[np.int8], lists: int) -> Vectors:
    """The directions around which passages gather, learned from some of them."""
    count = min(len(vectors), lists * _LEARNED_FROM)
    sample = _directions(vectors[np.linspace(0, len(vectors) - 1, count).astype(np.int64)])
    chosen = np.random.default_rng(_SEED).permutation(count)[:lists]
    centres: Vectors = sample[chosen]
    for _ in range(_ROUNDS):
        belongs = np.concatenate(
            [
                _nearest(sample[first : first + _TOGETHER], centres)
                for first in range(0, count, _TOGETHER)
            ]
        )
        order = np.argsort(belongs, kind="stable")
        used, starts = np.unique(belongs[order], return_index=True)
        # A centre that nothing is nearest to stays where it is.
        centres[used] = _unit(np.add.reduceat(sample[order], starts, axis=0))
    return centres


def _directions(vectors: NDArray[np.int8]) -> Vectors:
    return _unit(vectors.astype(np.float32))


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1e-9)[:, None], dtype=np.float32)


def _nearest(directions: Vectors, centres: Vectors) -> NDArray[np.int64]:
    nearest: NDArray[np.int64] = np.argmax(directions @ centres.T, axis=1)
    return nearest


class SignLists:
    """The lists of one segment, opened for searching.

    Args:
        folder: Where `write_sign_lists` wrote them.
        passages: How many there are.
        dimensions: Those of their vectors.
    """

    def __init__(self, folder: Path, passages: int, dimensions: int) -> None:
        self._ends_file = folder / "ends.npy"
        self._centres = Mapped(folder / "centres.npy", "float32", dimensions=2)
        self._rows = Mapped(folder / "rows.npy", "int32", below=passages)
        self._signs = Mapped(folder / "signs.npy", "uint64", dimensions=2)
        self._mapped_ends = Mapped(self._ends_file, "int64")
        if (
            not len(self._rows) == len(self._signs) == passages
            or self._centres.shape[1] != dimensions
            or self._signs.shape[1] != -(-dimensions // 64)
            or len(self._mapped_ends) != len(self._centres) + 1
        ):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")

    @cached_property
    def _ends(self) -> Rows:
        ends: Rows = self._mapped_ends.whole
        check_rising(self._ends_file, ends, len(self._rows))
        return ends

    def near(
        self, query: Vectors, signs: NDArray[np.uint64], k: int, below: int
    ) -> tuple[Rows, NDArray[np.int32]]:
        """The passages of the nearest lists that are nearest by signs, and how far they are.

        Args:
            query: The query's vector.
            signs: The signs of its numbers.
            k: How many are wanted.
            below: Only passages nearer than this count.
        """
        # Not `@`: its threads go on spinning after a product, and cost more than they save.
        order = np.argsort(-np.einsum("ij,j->i", self._centres.whole, query), kind="stable")
        sizes = np.diff(self._ends)[order]
        wanted = max(k, round(len(self._rows) * _VISITED))
        visited = np.sort(order[: int(np.searchsorted(np.cumsum(sizes), wanted)) + 1])
        ranges = np.stack([self._ends[visited], self._ends[visited + 1]], axis=1)
        found, distances = kernels.nearest_signs(
            self._signs.with_rows(ranges), signs, k, ranges, below
        )
        rows = self._rows.at(found)[found].astype(np.int64)
        # In the order in which the vectors are read next.
        order = np.argsort(rows)
        return rows[order], distances[order]
