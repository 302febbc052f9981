"""Inverted files of vectors (IVF): only the lists nearest to a query are searched.

K-means divides the vectors into ``nlist`` lists; a search visits the ``nprobe`` lists whose centres
are nearest. The fixed kind uses both numbers as given. In the adaptive kind they grow with the
collection:

- ``nlist`` is four times the square root of the number of vectors, which balances the work of
  choosing lists against that of reading them;
- ``nprobe`` is an eighth of the lists, or as many as hold six times the requested posts,
  whichever is more. A small collection is thus searched exactly.

In both kinds a list has at least ten vectors on average, so a small collection has fewer lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval.mapped import Mapped, check_rising

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_SEED = 20250
_SMALLEST_LIST = 10


@dataclass(frozen=True)
class Division:
    """How a collection is divided into lists, and how many of them a search visits.

    ``nlist`` and ``nprobe`` of 0 mean that they grow with the collection.

    >>> fixed, adaptive = Division(100, 10), Division(0, 0)
    >>> [fixed.lists(count) for count in (5, 300, 40_000)]
    [1, 30, 100]
    >>> [adaptive.lists(count) for count in (300, 40_000, 1_000_000)]
    [30, 800, 4000]
    >>> [adaptive.probes(adaptive.lists(n), n, wanted=500) for n in (300, 40_000, 1_000_000)]
    [30, 100, 500]
    """

    nlist: int
    nprobe: int

    def lists(self, count: int) -> int:
        """The number of lists for a number of vectors."""
        asked = self.nlist or round(4 * sqrt(count))
        return max(1, min(asked, count // _SMALLEST_LIST))

    def probes(self, lists: int, count: int, wanted: int) -> int:
        """The number of lists that a search for a number of posts visits."""
        asked = self.nprobe or max(ceil(lists / 8), ceil(6 * wanted * lists / max(count, 1)))
        return min(asked, lists)


_FAISS = ("faiss", "an IVF index", "neural")


def check_faiss() -> None:
    """Raise an error if FAISS is missing, before any vector is made."""
    from mathsetu.models import check_installed

    check_installed(*_FAISS)


def _faiss() -> Any:
    # Imported here, because a search without IVF does not need it.
    from mathsetu.models import require

    return require(*_FAISS)


def write_ivf(folder: Path, vectors: Vectors, division: Division) -> None:
    """Divide vectors into lists and write them into a new folder; rows of zeros are left out.

    FAISS finds the centres. The lists are written as plain arrays, because FAISS reads its own
    format without checks, which is unsafe for files from other people.

    The same vectors give the same bytes, because the first centres are drawn with a fixed seed.
    """
    faiss = _faiss()
    numbers = np.flatnonzero(vectors.any(axis=1)).astype(np.int32)
    chosen = np.ascontiguousarray(vectors[numbers])
    lists = division.lists(len(numbers))
    centres = np.zeros((lists, vectors.shape[1]), dtype=np.float32)
    belongs = np.zeros(len(numbers), dtype=np.int64)
    if len(numbers):
        means = faiss.Kmeans(
            vectors.shape[1], lists, seed=_SEED, spherical=True, min_points_per_centroid=1
        )
        means.train(chosen)
        centres = np.asarray(means.centroids, dtype=np.float32)
        belongs = means.index.search(chosen, 1)[1][:, 0]
    order = np.argsort(belongs, kind="stable")
    sizes = np.bincount(belongs, minlength=lists)
    folder.mkdir(parents=True)
    np.save(folder / "centres.npy", centres, allow_pickle=False)
    np.save(folder / "posts.npy", numbers[order], allow_pickle=False)
    ends = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    np.save(folder / "ends.npy", ends, allow_pickle=False)


class Ivf:
    """The lists of one segment, opened for searching.

    Args:
        folder: Where `write_ivf` wrote them.
        shape: The number of vectors, and the number of their dimensions.
        division: How many lists a search visits.
    """

    def __init__(self, folder: Path, shape: tuple[int, ...], division: Division) -> None:
        self._division = division
        self._ends_file = folder / "ends.npy"
        self._centres = Mapped(folder / "centres.npy", "float32", dimensions=2)
        self._posts = Mapped(folder / "posts.npy", "int32", below=shape[0])
        self._mapped_ends = Mapped(self._ends_file, "int64")
        self._lists, self._count = len(self._centres), len(self._posts)
        if self._centres.shape[1] != shape[1] or len(self._mapped_ends) != self._lists + 1:
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        ends: NDArray[np.int64] = self._mapped_ends.whole
        check_rising(self._ends_file, ends, self._count)
        return ends

    def visited(self, k: int) -> int:
        """The approximate number of vectors that a search for ``k`` posts compares."""
        return ceil(self._count * self._probes(k) / max(self._lists, 1))

    def candidates(
        self, queries: Vectors, vectors: Vectors, k: int, allowed: NDArray[np.bool_] | None
    ) -> list[NDArray[np.int64]]:
        """The numbers of the best ``k`` vectors for each row of queries, unsorted."""
        found = []
        for query, near in zip(queries, queries @ self._centres.whole.T, strict=True):
            lists = np.argsort(-near, kind="stable")[: self._probes(k)]
            parts = [self._posts[self._ends[one] : self._ends[one + 1]] for one in lists.tolist()]
            numbers = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
            if allowed is not None:
                numbers = numbers[allowed[numbers]]
            cosines = vectors[numbers] @ query
            if len(numbers) > k:
                numbers = numbers[np.argpartition(-cosines, k - 1)[:k]]
            found.append(numbers.astype(np.int64))
        return found

    def _probes(self, k: int) -> int:
        return self._division.probes(self._lists, self._count, k)
