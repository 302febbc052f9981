"""Search by MaxSim in process: exact, or with a fast first stage.

``exact`` compares every vector. ``document`` finds candidates by the document vector, the last one
of each post, and scores these exactly; it finds no others, however many are requested. ``single``
compares only the document vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.retrieval.base import Scored, best
from mathsetu.retrieval.multivectors import MultiVectors
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

#: The search strategies.
STRATEGIES = ("exact", "document", "single")

# Queries whose scores with all posts are in memory at once.
_BATCH = 64


def check_strategy(strategy: str, depth: int) -> None:
    """Raise `InputError` for an unknown strategy or an invalid depth."""
    if strategy not in STRATEGIES:
        raise InputError(f"strategy is {strategy!r} (known: {', '.join(STRATEGIES)})")
    if depth < 1:
        raise InputError(f"depth is {depth}; it must be at least 1")


class MaxSim:
    """Finds the posts of some segments that are most similar to a query.

    >>> from tempfile import mkdtemp
    >>> from mathsetu.retrieval.multivectors import write_multivectors
    >>> folder, unit = Path(mkdtemp()) / "segment", np.eye(4, dtype=np.float32)
    >>> write_multivectors(folder, [unit[:2], unit[1:4]], "float16")
    >>> [found] = MaxSim([folder]).search([unit[1:3]], 2)
    >>> found.numbers.tolist(), found.scores.tolist()
    ([1, 0], [1.0, 0.5])
    """

    def __init__(self, folders: Sequence[Path], strategy: str = "exact", depth: int = 1000) -> None:
        check_strategy(strategy, depth)
        self._segments = [_Segment(folder, strategy) for folder in folders]
        self.numbering = Numbering(len(segment.vectors) for segment in self._segments)
        self._strategy, self._depth = strategy, depth

    def __len__(self) -> int:
        """How many posts there are."""
        return len(self.numbering)

    @property
    def collections(self) -> list[MultiVectors]:
        """The vectors of each segment."""
        return [segment.vectors for segment in self._segments]

    def search(
        self, queries: Sequence[Vectors], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        """The best posts of each query, among those allowed; scores are exact cosines or MaxSims.

        Args:
            queries: The vectors of each query, the document vector last.
            k: How many posts.
            allowed: Which posts may be found.
        """
        self._check(queries)
        found: list[Scored] = []
        for start in range(0, len(queries), _BATCH):
            batch = queries[start : start + _BATCH]
            first = np.concatenate([segment.first(batch) for segment in self._segments], axis=1)
            depth = self._depth if self._strategy == "document" else k
            for query, scores in zip(batch, first, strict=True):
                numbers = np.sort(best(scores, depth, allowed).numbers)
                if len(numbers) > k:
                    quick = self._scores_of(query, numbers, steady=False)
                    numbers = np.sort(numbers[best(quick, k).numbers])
                chosen = best(self.scores_of(query, numbers), k)
                found.append(Scored(numbers[chosen.numbers], chosen.scores))
        return found

    def scores_of(self, query: Vectors, numbers: NDArray[np.int64]) -> Vectors:
        """The scores of given posts, bit-identical to those of a search."""
        self._check([query])
        return self._scores_of(query, numbers, steady=True)

    def _scores_of(self, query: Vectors, numbers: NDArray[np.int64], steady: bool) -> Vectors:
        scores = np.zeros(len(numbers), dtype=np.float32)
        for segment, places, own in self.numbering.by_segment(numbers):
            scores[places] = self._segments[segment].scores_of(query, own, steady)
        return scores

    def _check(self, queries: Sequence[Vectors]) -> None:
        for query in queries:
            for segment in self._segments:
                stored = segment.vectors.dimensions
                if segment.vectors.total and query.shape[1] != stored:
                    raise InputError(
                        f"the query's vectors have {query.shape[1]} dimensions, those of the "
                        f"library {stored}; search with the model it was built with"
                    )


class _Segment:
    """One segment, with its first stage."""

    def __init__(self, folder: Path, strategy: str) -> None:
        self.vectors = MultiVectors(folder)
        self._strategy = strategy

    def first(self, queries: Sequence[Vectors]) -> Vectors:
        """Scores of all posts, by which candidates are chosen."""
        if self._strategy == "exact":
            return self.vectors.scores(queries)
        last = [query[-1] if len(query) else np.zeros(query.shape[1]) for query in queries]
        return np.asarray(last, dtype=np.float32) @ self.vectors.documents.T

    def scores_of(self, query: Vectors, numbers: NDArray[np.int64], steady: bool) -> Vectors:
        if self._strategy != "single":
            return self.vectors.scores_of(query, numbers, steady=steady)
        if not len(query):
            return np.zeros(len(numbers), dtype=np.float32)
        cosines: Vectors = np.einsum("id,d->i", self.vectors.documents[numbers], query[-1])
        return cosines
