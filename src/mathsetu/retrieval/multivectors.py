"""Several vectors for each post, mapped into memory, and their MaxSim with queries.

MaxSim is the sum, over the vectors of the query, of the best cosine among the vectors of a post.
Divided by the number of the query's vectors, it is 1 for a post that has them all.

Posts are stored in blocks. A block has the first vectors of all its posts, then all second ones and
so on; posts with more vectors come first. So the maximum over a post's vectors is a maximum of
whole slices, which needs no list of where each post begins and is limited only by memory bandwidth.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.encoders.graph.products import product
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.retrieval.mapped import Mapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

#: The storage types of vectors.
STORAGES = ("float16", "int8")

# Posts in a block: its products with a batch of queries fit into the cache of a core.
_BLOCK = 256
# Query vectors that are multiplied at once.
_BATCH = 128
_LARGEST_INT8 = 127


def _cores() -> int:
    """The cores that this process may use; more threads would only wait for each other."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_storage(storage: str) -> None:
    """Raise `InputError` for an unknown storage type."""
    if storage not in STORAGES:
        raise InputError(f"storage is {storage!r} (known: {', '.join(STORAGES)})")


def write_multivectors(folder: Path, posts: Iterable[Vectors], storage: str) -> None:
    """Write the vectors of each post, one row each, into a new folder.

    Args:
        folder: The new folder.
        posts: The vectors of each post; a post may have none.
        storage: ``float16``, or ``int8`` in half the space.
    """
    check_storage(storage)
    kept = list(posts)
    counts = np.array([len(vectors) for vectors in kept], dtype=np.int32)
    width = next((vectors.shape[1] for vectors in kept if len(vectors)), 0)
    rows = Layout(counts).rows
    flat = np.empty((len(rows), width), dtype=np.float32)
    if len(rows):
        flat[rows] = np.concatenate([vectors for vectors in kept if len(vectors)])
    scale = 1.0
    if storage == "int8":
        scale = float(np.abs(flat).max(initial=0.0)) / _LARGEST_INT8 or 1.0
        flat = np.round(flat / scale)
    folder.mkdir(parents=True)
    np.save(folder / "vectors.npy", flat.astype(storage), allow_pickle=False)
    np.save(folder / "counts.npy", counts, allow_pickle=False)
    np.save(folder / "scale.npy", np.array([scale], dtype=np.float32), allow_pickle=False)


class Layout:
    """Where the vectors of each post are, computed from the number of vectors of each.

    Attributes:
        starts: The number of each post's first vector, in the order of addition.
        rows: The row in the file of each vector, in the order of addition.

    >>> layout = Layout(np.array([1, 3]))
    >>> layout.rows.tolist()  # the second post has more vectors and leads
    [1, 0, 2, 3]
    """

    def __init__(self, counts: NDArray[np.int32]) -> None:
        self.counts = counts
        self.starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        block = np.arange(len(counts)) // _BLOCK
        self._order = np.lexsort((np.arange(len(counts)), -counts, block))
        place = np.empty(len(counts), dtype=np.int64)
        place[self._order] = np.arange(len(counts))
        post = np.repeat(np.arange(len(counts)), counts)
        position = np.arange(len(post)) - self.starts[post]
        by_row = np.lexsort((place[post], position, block[post]))
        self.rows = np.empty(len(post), dtype=np.int64)
        self.rows[by_row] = np.arange(len(post))

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], slice, NDArray[np.int64]]]:
        """Yield each block's posts, its rows, and how many posts have a first, second … vector."""
        for start in range(0, len(self.counts), _BLOCK):
            end = min(start + _BLOCK, len(self.counts))
            posts = self._order[start:end]
            counts = self.counts[posts]
            having = np.searchsorted(-counts, -np.arange(counts[0]), side="left")
            yield posts, slice(int(self.starts[start]), int(self.starts[end])), having


class MultiVectors:
    """The vectors of posts, in a folder that `write_multivectors` has written.

    >>> from tempfile import mkdtemp
    >>> folder, unit = Path(mkdtemp()) / "vectors", np.eye(4, dtype=np.float32)
    >>> write_multivectors(folder, [unit[:2], unit[2:3]], "float16")
    >>> MultiVectors(folder).scores([unit[:2], unit[1:3]]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    def __init__(self, folder: Path, threads: int = 0) -> None:
        self._mapped = Mapped(folder / "vectors.npy", *STORAGES, dimensions=2)
        most = len(self._mapped) + 1
        self.counts: NDArray[np.int32] = Mapped(folder / "counts.npy", "int32", below=most).whole
        scale = Mapped(folder / "scale.npy", "float32").whole
        self._threads = threads or _cores()
        if len(scale) != 1 or len(self._mapped) != int(self.counts.sum(dtype=np.int64)):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")
        self._scale = float(scale[0])

    def __len__(self) -> int:
        """How many posts there are."""
        return len(self.counts)

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the vectors."""
        return self._mapped.shape[1]

    @property
    def total(self) -> int:
        """How many vectors there are."""
        return len(self._mapped)

    @cached_property
    def _stored(self) -> NDArray[Any]:
        return self._mapped.whole

    @cached_property
    def layout(self) -> Layout:
        """Where the vectors of each post are."""
        return Layout(self.counts)

    @cached_property
    def documents(self) -> Vectors:
        """The document vector of each post, its last one; zeros for a post without vectors."""
        found = np.zeros((len(self), self.dimensions), dtype=np.float32)
        some = np.flatnonzero(self.counts)
        found[some] = self._rows(self.layout.rows[self.layout.starts[some + 1] - 1])
        return found

    def vectors(self, numbers: NDArray[np.int64]) -> Vectors:
        """Vectors by their numbers, in the order of addition."""
        return self._rows(self.layout.rows[numbers])

    def of_post(self, number: int) -> Vectors:
        """The vectors of one post, in the order of addition."""
        return self.vectors(np.arange(*self.layout.starts[number : number + 2]))

    def scores(self, queries: Sequence[Vectors]) -> Vectors:
        """MaxSim of each query with every post, divided by the number of the query's vectors."""
        found = np.zeros((len(queries), len(self)), dtype=np.float32)
        batch: list[int] = []
        size = 0
        for number, query in enumerate(queries):
            if batch and size + len(query) > _BATCH:
                found[batch] = self._batch([queries[place] for place in batch])
                batch, size = [], 0
            if len(query):
                batch.append(number)
                size += len(query)
        if batch:
            found[batch] = self._batch([queries[place] for place in batch])
        return found

    def scores_of(
        self, query: Vectors, posts: NDArray[np.int64], *, steady: bool = True
    ) -> Vectors:
        """MaxSim with given posts.

        Args:
            query: The vectors of the query.
            posts: The posts by number.
            steady: Whether a score must be bit-identical whichever other posts are scored with it;
                it is faster without.
        """
        found = np.zeros(len(posts), dtype=np.float32)
        counts = self.counts[posts]
        some = np.flatnonzero(counts)
        if len(some) and len(query):
            ends = np.cumsum(counts[some], dtype=np.int64)
            first = self.layout.starts[posts[some]] - (ends - counts[some])
            numbers = np.arange(ends[-1]) + np.repeat(first, counts[some])
            rows = self.vectors(numbers)
            # A matrix product's summation order depends on its shape; einsum sums each row alone.
            cosines = np.einsum("id,jd->ij", rows, query) if steady else rows @ query.T
            best = np.maximum.reduceat(cosines, ends - counts[some], axis=0)
            found[some] = best.sum(axis=1) / len(query)
        return found

    def _batch(self, queries: Sequence[Vectors]) -> Vectors:
        together = np.ascontiguousarray(np.concatenate(queries).T, dtype=np.float32)
        found = np.zeros((len(self), len(queries)), dtype=np.float32)
        starts = np.cumsum([0, *(len(query) for query in queries[:-1])])
        lengths = np.array([len(query) for query in queries], dtype=np.float32)
        together *= np.float32(self._scale)

        def work(block: tuple[NDArray[np.int64], slice, NDArray[np.int64]]) -> None:
            posts, rows, having = block
            if not len(having):
                return
            made = product(self._stored[rows].astype(np.float32), together)
            best = made[: having[0]]
            end = int(having[0])
            for count in having[1:].tolist():
                np.maximum(best[:count], made[end : end + count], out=best[:count])
                end += count
            found[posts[: having[0]]] = np.add.reduceat(best, starts, axis=1) / lengths

        blocks = self.layout.blocks()
        if self._threads == 1:
            for block in blocks:
                work(block)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                for _ in pool.map(work, blocks):
                    pass
        return found.T

    def _rows(self, rows: NDArray[np.int64]) -> Vectors:
        found: NDArray[Any] = self._stored[rows].astype(np.float32)
        return found * np.float32(self._scale)
