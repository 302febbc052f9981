"""Centroids: a few vectors that stand for many, so that MaxSim can be guessed without products.

Each vector of a collection is known by its nearest centroid. A query is compared with the
centroids alone, and what it makes of a post's centroids says which posts deserve an exact look.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.retrieval.multivectors import MultiVectors
from mathsetu.retrieval.postings import open_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

#: How many there are, where there are so many vectors.
CENTROIDS = 1024
# Vectors that the centroids are fitted to, and how often they move.
_SAMPLE = 64 * CENTROIDS
_ROUNDS = 8
# Vectors whose nearest centroids are looked for at once.
_CHUNK = 4096


def fitted(vectors: Vectors, count: int, seed: int = 1) -> Vectors:
    """Centroids of unit length by spherical k-means.

    >>> fitted(np.repeat(np.eye(2, dtype=np.float32), 5, axis=0), 2).sum(axis=0).tolist()
    [1.0, 1.0]
    """
    random = np.random.default_rng(seed)
    different = np.unique(vectors, axis=0)
    count = min(count, len(different))
    centroids = different[random.choice(len(different), count, replace=False)]
    for _ in range(_ROUNDS):
        nearest = assigned(vectors, centroids)
        sums = np.zeros_like(centroids)
        np.add.at(sums, nearest, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # A centroid that nothing is near to stays where it is.
        centroids = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centroids)
    return centroids.astype(np.float32)


def assigned(vectors: Vectors, centroids: Vectors) -> NDArray[np.uint16]:
    """The number of the nearest centroid of each vector."""
    found = np.empty(len(vectors), dtype=np.uint16)
    for start in range(0, len(vectors), _CHUNK):
        part = vectors[start : start + _CHUNK]
        found[start : start + _CHUNK] = np.argmax(part @ centroids.T, axis=1)
    return found


def write_centroids(folder: Path, collection: MultiVectors, seed: int = 1) -> None:
    """Fit centroids to the vectors of a collection and write them beside these."""
    numbers = np.arange(collection.total)
    random = np.random.default_rng(seed)
    sample = random.choice(numbers, min(_SAMPLE, len(numbers)), replace=False)
    centroids = fitted(collection.vectors(np.sort(sample)), CENTROIDS, seed)
    codes = np.empty(collection.total, dtype=np.uint16)
    for start in range(0, len(numbers), _SAMPLE):
        part = numbers[start : start + _SAMPLE]
        # Codes stand as vectors do in the file, so that blocks of them are slices.
        codes[collection.layout.rows[part]] = assigned(collection.vectors(part), centroids)
    np.save(folder / "centroids.npy", centroids, allow_pickle=False)
    np.save(folder / "codes.npy", codes, allow_pickle=False)


class CentroidScores:
    """Guesses MaxSim from centroids that `write_centroids` has written."""

    def __init__(self, folder: Path, collection: MultiVectors) -> None:
        self._collection = collection
        self._centroids: Vectors = open_array(folder / "centroids.npy")
        self._codes: NDArray[np.uint16] = open_array(folder / "codes.npy")

    def scores(self, queries: Sequence[Vectors]) -> Vectors:
        """What MaxSim would be, were every vector its centroid."""

        def prepare(together: Vectors) -> Callable[[slice], Vectors]:
            table = self._centroids @ together
            return lambda rows: np.take(table, self._codes[rows], axis=0)

        return self._collection.interactions(queries, prepare)
