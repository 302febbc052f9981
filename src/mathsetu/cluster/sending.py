"""Sends the points of a segment, so that a repeated command goes on where the last one stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from mathsetu.cluster.client import Cluster
from mathsetu.cluster.layout import SEGMENT, Names
from mathsetu.cluster.points import Point, SegmentPoints
from mathsetu.cluster.state import PartState, SegmentMark
from mathsetu.cluster.tables import Table, TableName, write_table
from mathsetu.errors import InputError

#: Called with what is being done and how far it is.
Progress = Callable[[str, int], None]

# Points that are sent, and acknowledged, at once.
_BATCH = 128
# Slots of a segment's tables: those of its parts, then those of what it takes away.
_SLOTS, _TAKEN = 256, 128


def send_segment(
    cluster: Cluster, names: Names, points: SegmentPoints, progress: Progress
) -> SegmentMark:
    """Send all points of a segment and its tables; what the cluster has is not sent again."""
    send = _Sender(cluster, points.segment, progress)
    send(names.posts, points.post_numbers(), points.posts, "posts")
    for name in points.formula_parts:
        numbers, make = points.formulas(name)
        send(names.part(name), numbers, make, f"{name} (formulas)")
    for name in points.meaning_parts:
        numbers, make = points.passages(name)
        send(names.part(name), numbers, make, f"{name} (posts in passages)")
    counted = points.counted()
    parts = {
        name: replace(
            state, tables=(write_part_table(cluster, names, points.segment, slot, table),)
        )
        for slot, (name, (state, table)) in enumerate(counted.items())
    }
    parts |= {name: PartState(dimensions=own) for name, own in points.dimensions.items()}
    return SegmentMark(points.segment, len(points.kept), points.languages(), parts)


def write_part_table(
    cluster: Cluster, names: Names, segment: int, slot: int, table: Table, *, taken: bool = False
) -> TableName:
    """Write a table that belongs to a segment; ``taken`` for one of what it takes away."""
    number = segment * _SLOTS + slot + (_TAKEN if taken else 0)
    return write_table(cluster, names.meta, number, table)


def count_in(cluster: Cluster, collection: str, segment: int) -> int:
    """How many points of a segment a collection has."""
    models = cluster.models
    own = models.Filter(
        must=[models.FieldCondition(key=SEGMENT, match=models.MatchValue(value=segment))]
    )
    found = cluster.read("a count of points", "count", collection, count_filter=own, exact=True)
    return int(found.count)


class _Sender:
    """Sends points of one segment."""

    def __init__(self, cluster: Cluster, segment: int, progress: Progress) -> None:
        self._cluster, self._segment, self._progress = cluster, segment, progress

    def __call__(
        self,
        collection: str,
        numbers: Sequence[int],
        make: Callable[[Sequence[int]], Iterator[Point]],
        what: str,
    ) -> None:
        """Send the points of some numbers, and see that all have arrived."""
        total = 0
        for start in range(0, len(numbers), _BATCH):
            points = list(make(numbers[start : start + _BATCH]))
            total += len(points)
            self._send(collection, points, what)
            self._progress(what, min(start + _BATCH, len(numbers)))
        arrived = count_in(self._cluster, collection, self._segment)
        if arrived != total:
            raise InputError(
                f"{self._cluster.address}: has {arrived:,} of {total:,} points ({what}) of a "
                "segment; give the command again"
            )

    def _send(self, collection: str, points: Sequence[Point], what: str) -> None:
        models = self._cluster.models
        ids = [number for number, _, _ in points]
        found = self._cluster.read(
            what,
            "retrieve",
            collection,
            ids,
            with_payload=False,
            with_vectors=False,
        )
        there = {point.id for point in found}
        missing = [
            models.PointStruct(
                id=number,
                vector={name: _vector(models, vector) for name, vector in vectors.items()},
                payload=payload,
            )
            for number, vectors, payload in points
            if number not in there
        ]
        if missing:
            self._cluster.write(what, "upsert", collection, missing, wait=True)


def _vector(models: Any, vector: Any) -> Any:
    if isinstance(vector, tuple):
        return models.SparseVector(indices=vector[0], values=vector[1])
    return vector
