"""Inverted files of vectors (IVF) on FAISS: only the lists nearest to a query are looked into.

K-means divides the vectors into ``nlist`` lists; a search visits the ``nprobe`` lists whose centres
are nearest. The fixed kind takes both numbers as they are given. The adaptive kind lets them grow
with the collection:

- ``nlist`` is four times the square root of the number of vectors, which balances the work of
  choosing lists against that of reading them;
- ``nprobe`` is an eighth of the lists, or as many as hold six times the posts that are wanted,
  whichever is more. A small collection is thus searched exactly, at no loss.

In both kinds a list has ten vectors on average at least: on a small collection ``nlist`` shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        """Into how many lists vectors are divided."""
        asked = self.nlist or round(4 * sqrt(count))
        return max(1, min(asked, count // _SMALLEST_LIST))

    def probes(self, lists: int, count: int, wanted: int) -> int:
        """How many lists a search for a number of posts visits."""
        asked = self.nprobe or max(ceil(lists / 8), ceil(6 * wanted * lists / max(count, 1)))
        return min(asked, lists)


def _faiss() -> Any:
    # Imported here, since a search without IVF should not wait for any of this.
    from mathsetu.models import require

    return require("faiss", "an IVF index", "neural")


def write_ivf(path: Path, vectors: NDArray[np.float32], division: Division) -> None:
    """Divide vectors into lists and write them; rows of zeros are left out.

    The same vectors give the same bytes, since the first centres are drawn with a fixed seed.
    """
    faiss = _faiss()
    numbers = np.flatnonzero(vectors.any(axis=1)).astype(np.int64)
    chosen = np.ascontiguousarray(vectors[numbers])
    dimensions = vectors.shape[1]
    lists = division.lists(len(numbers))
    # FAISS holds no reference to the quantizer, so it must live as long as the index.
    quantizer = faiss.IndexFlatIP(dimensions)
    index = faiss.IndexIVFFlat(quantizer, dimensions, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = _SEED
    index.cp.spherical = True
    index.cp.min_points_per_centroid = 1  # we have seen to it; FAISS would print a warning
    if len(numbers):
        index.train(chosen)
        index.add_with_ids(chosen, numbers)
    faiss.write_index(index, str(path))


class Ivf:
    """The lists of one segment, opened for searching; FAISS maps the file into memory."""

    def __init__(self, path: Path, division: Division) -> None:
        self._faiss = _faiss()
        self._division = division
        try:
            self._index = self._faiss.read_index(str(path), self._faiss.IO_FLAG_MMAP)
        except RuntimeError as error:
            reason = str(error).strip().rpartition("\n")[2]
            raise InputError(f"{path}: is damaged ({reason}); build the library again") from None
        self._lists = int(self._index.nlist)
        self._count = int(self._index.ntotal)

    def visited(self, k: int) -> int:
        """About how many vectors a search for ``k`` posts looks at."""
        return ceil(self._count * self._probes(k) / self._lists)

    def candidates(
        self, queries: NDArray[np.float32], k: int, allowed: NDArray[np.bool_] | None
    ) -> list[NDArray[np.int64]]:
        """The numbers of the best ``k`` vectors for each row of queries, in no order."""
        if not self._count:
            return [np.zeros(0, dtype=np.int64) for _ in queries]
        settings = {"nprobe": self._probes(k)}
        if allowed is not None:
            settings["sel"] = self._faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        parameters = self._faiss.SearchParametersIVF(**settings)
        _, found = self._index.search(queries, min(k, self._count), params=parameters)
        return [row[row >= 0] for row in found]

    def _probes(self, k: int) -> int:
        return self._division.probes(self._lists, self._count, k)
