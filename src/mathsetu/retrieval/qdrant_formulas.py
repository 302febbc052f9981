"""Formulas found on a Qdrant server, in the collections that ``mathsetu graph upload`` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import InputError
from mathsetu.retrieval.base import Scored
from mathsetu.retrieval.qdrant import BREADTH, QdrantServer, collections_of
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class QdrantFormulas:
    """Finds the formulas of some segments whose vectors are most similar to a given one.

    Args:
        server: The server that has them.
        folders: The vectors of each segment.
        formulas: How the formulas of the segments are numbered.
        posts: How their posts are numbered.
        strategy: Those that end in ``hnsw`` use Qdrant's index; all others compare every vector.
    """

    def __init__(
        self,
        server: QdrantServer,
        folders: Sequence[Path],
        formulas: Numbering,
        posts: Numbering,
        strategy: str = "exact",
    ) -> None:
        self._server, self._formulas, self._posts = server, formulas, posts
        self._exact = not strategy.endswith("hnsw")
        self._names = [collections_of(folder).formulas for folder in folders]
        ends = (*formulas.firsts[1:], len(formulas))
        for name, first, end in zip(self._names, formulas.firsts, ends, strict=True):
            with server.connected() as client:
                known = client.collection_exists(name)
                there = client.count(name, exact=True).count if known else 0
            if there < end - first:
                raise InputError(
                    f"{server.url}: has {there:,} of the library's {end - first:,} formulas; "
                    "upload the others with 'mathsetu graph upload'"
                )

    def nearest(self, vector: Vectors, k: int, allowed: NDArray[np.bool_] | None) -> Scored:
        """The best formulas above zero, by their numbers; ties go to the earlier one."""
        models = self._server.models
        found: list[tuple[float, int]] = []
        ends = (*self._posts.firsts[1:], len(self._posts))
        for segment, name in enumerate(self._names):
            here = None
            if allowed is not None:
                here = allowed[self._posts.firsts[segment] : ends[segment]]
                if not here.any():
                    continue
            with self._server.connected() as client:
                answer = client.query_points(
                    name,
                    query=vector.tolist(),
                    limit=k,
                    with_payload=False,
                    query_filter=self._filter(here),
                    search_params=models.SearchParams(exact=self._exact, hnsw_ef=BREADTH),
                )
            first = self._formulas.firsts[segment]
            found += ((point.score, first + point.id) for point in answer.points)
        ordered = sorted((hit for hit in found if hit[0] > 0), key=lambda hit: (-hit[0], hit[1]))
        numbers = np.array([number for _, number in ordered[:k]], dtype=np.int64)
        return Scored(numbers, np.array([score for score, _ in ordered[:k]], dtype=np.float32))

    def _filter(self, allowed: NDArray[np.bool_] | None) -> Any:
        """A filter by the posts that may be found or those that may not, whichever are fewer."""
        if allowed is None or allowed.all():
            return None
        models = self._server.models
        few = np.flatnonzero(allowed if allowed.mean() <= 0.5 else ~allowed).tolist()
        named = models.FieldCondition(key="number", match=models.MatchAny(any=few))
        if allowed.mean() <= 0.5:
            return models.Filter(must=[named])
        return models.Filter(must_not=[named])
