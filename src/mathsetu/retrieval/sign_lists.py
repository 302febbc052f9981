"""Passages of a large segment in clustered lists: a search reads the nearest lists only.

K-means finds the centres of the lists; each passage belongs to the nearest one. The sign bits of
the vectors are stored once more, list by list, so that each list is contiguous in its file.
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

# With fewer passages, comparing all of them takes only a few milliseconds.
_SMALLEST = 1_000_000
# The average number of passages in a list, the most lists, and the training passages per list.
_LIST, _MAX_LISTS, _LEARNED_FROM = 4_096, 1_024, 64
_ROUNDS, _SEED = 8, 20260
# The share of the passages that a search compares.
_SHARE_COMPARED = 1 / 8
# Vectors compared with the centres at a time, and the number of threads.
_BATCH_SIZE, _THREADS = 1 << 13, 4


def write_sign_lists(folder: Path, vectors: NDArray[np.int8], signs: NDArray[np.uint64]) -> None:
    """Divide passages into lists and write these into a new folder, if there are many passages.

    The same vectors give the same bytes, because the first centres are drawn with a fixed seed.

    Args:
        folder: The new folder.
        vectors: The vectors of the passages.
        signs: Their sign bits.
    """
    count = len(vectors)
    if count < _SMALLEST:
        return
    lists = min(_MAX_LISTS, -(-count // _LIST))
    centres = _centres(vectors, lists)
    parts = (vectors[first : first + _BATCH_SIZE] for first in range(0, count, _BATCH_SIZE))
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
    """The centres of the lists, by spherical k-means on a sample of the passages."""
    count = min(len(vectors), lists * _LEARNED_FROM)
    sample = _directions(vectors[np.linspace(0, len(vectors) - 1, count).astype(np.int64)])
    chosen = np.random.default_rng(_SEED).permutation(count)[:lists]
    centres: Vectors = sample[chosen]
    for _ in range(_ROUNDS):
        belongs = np.concatenate(
            [
                _nearest(sample[first : first + _BATCH_SIZE], centres)
                for first in range(0, count, _BATCH_SIZE)
            ]
        )
        order = np.argsort(belongs, kind="stable")
        used, starts = np.unique(belongs[order], return_index=True)
        # A centre to which no passage is nearest stays where it is.
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
        passages: The number of passages.
        dimensions: The number of dimensions of their vectors.
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
        """The passages of the nearest lists that are nearest by sign bits, and their distances.

        Args:
            query: The query's vector.
            signs: Its sign bits.
            k: How many passages to return.
            below: Only passages at a smaller distance count.
        """
        # Not `@`: its threads keep spinning after a product, which costs more than they save.
        order = np.argsort(-np.einsum("ij,j->i", self._centres.whole, query), kind="stable")
        sizes = np.diff(self._ends)[order]
        wanted = max(k, round(len(self._rows) * _SHARE_COMPARED))
        visited = np.sort(order[: int(np.searchsorted(np.cumsum(sizes), wanted)) + 1])
        ranges = np.stack([self._ends[visited], self._ends[visited + 1]], axis=1)
        found, distances = kernels.nearest_signs(
            self._signs.with_rows(ranges), signs, k, ranges, below
        )
        rows = self._rows.at(found)[found].astype(np.int64)
        # Sorted, because the vectors are read in this order next.
        order = np.argsort(rows)
        return rows[order], distances[order]
