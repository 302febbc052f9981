"""Sends the points of a segment, so that a repeated command resumes where the last one stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from mathsetu.cluster.client import Cluster
from mathsetu.cluster.layout import SEGMENT, Names
from mathsetu.cluster.points import Point, SegmentPoints
from mathsetu.cluster.state import PartState, SegmentMark
from mathsetu.cluster.tables import Table, TableName, write_table
from mathsetu.errors import InputError
from mathsetu.pool import ordered_map

#: Called with the name of the current step and the number of items done.
Progress = Callable[[str, int], None]

# Points per request.
_BATCH = 128
# The least points per worker process, for which starting one pays off.
_PER_PROCESS = 2_000
# Table numbers per segment: first those of its parts, then those of removals.
_NUMBERS_PER_SEGMENT, _FIRST_OF_REMOVALS = 256, 128


def send_segment(
    cluster: Cluster,
    names: Names,
    points: SegmentPoints,
    progress: Progress,
    processes: int = 1,
) -> SegmentMark:
    """Send all points and tables of a segment; existing points are not sent again.

    Args:
        cluster: The cluster to send to.
        names: The collections.
        points: The points of the segment.
        progress: Called as the work goes on.
        processes: The number of worker processes that make and send points.
    """
    if processes > 1:
        points.prepare()
    send = _Sender(cluster, points.segment, progress, processes)
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
    """Write a table of a segment; ``taken`` for a table with negative counts (removals)."""
    number = segment * _NUMBERS_PER_SEGMENT + slot + (_FIRST_OF_REMOVALS if taken else 0)
    return write_table(cluster, names.meta, number, table)


def count_in(cluster: Cluster, collection: str, segment: int) -> int:
    """The number of points of a segment in a collection."""
    models = cluster.models
    own = models.Filter(
        must=[models.FieldCondition(key=SEGMENT, match=models.MatchValue(value=segment))]
    )
    found = cluster.read("a count of points", "count", collection, count_filter=own, exact=True)
    return int(found.count)


class _Sender:
    """Sends the points of one segment."""

    def __init__(
        self, cluster: Cluster, segment: int, progress: Progress, processes: int = 1
    ) -> None:
        self._cluster, self._segment, self._progress = cluster, segment, progress
        self._processes = processes

    def __call__(
        self,
        collection: str,
        numbers: Sequence[int],
        make: Callable[[Sequence[int]], Iterator[Point]],
        what: str,
    ) -> None:
        """Send the points with these numbers, and check that all have arrived."""
        known = count_in(self._cluster, collection, self._segment) > 0
        batches = [numbers[start : start + _BATCH] for start in range(0, len(numbers), _BATCH)]
        processes = min(self._processes, len(numbers) // _PER_PROCESS)
        work = _Batch(self._cluster, collection, make, what, is_checked=known)
        total = 0
        with closing(ordered_map(work, batches, processes)) as sent:
            for place, count in enumerate(sent, start=1):
                total += count
                self._progress(what, min(place * _BATCH, len(numbers)))
        arrived = count_in(self._cluster, collection, self._segment)
        if arrived != total:
            raise InputError(
                f"{self._cluster.address}: has {arrived:,} of {total:,} points ({what}) of a "
                "segment; run the command again"
            )


class _Batch:
    """Makes and sends a batch of points, in any process.

    Args:
        cluster: The cluster to send to; each worker process opens its own connections.
        collection: The collection.
        make: Makes the points with given numbers.
        what: The kind of points, for messages.
        is_checked: Whether to check which points exist, because some may be there already.
    """

    def __init__(
        self,
        cluster: Cluster,
        collection: str,
        make: Callable[[Sequence[int]], Iterator[Point]],
        what: str,
        *,
        is_checked: bool,
    ) -> None:
        self._cluster, self._owner = cluster, os.getpid()
        self._collection, self._make, self._what = collection, make, what
        self._is_checked = is_checked

    def __call__(self, numbers: Sequence[int]) -> int:
        """Send the points with these numbers; returns the number of points."""
        if self._owner != os.getpid():
            self._cluster, self._owner = Cluster(self._cluster.address), os.getpid()
        points = list(self._make(numbers))
        there = self._known([number for number, _, _ in points]) if self._is_checked else set()
        models = self._cluster.models
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
            self._cluster.write(self._what, "upsert", self._collection, missing, wait=True)
        return len(points)

    def _known(self, numbers: Sequence[int]) -> set[int]:
        """The given numbers whose points exist on the cluster."""
        found = self._cluster.read(
            self._what,
            "retrieve",
            self._collection,
            numbers,
            with_payload=False,
            with_vectors=False,
        )
        return {int(point.id) for point in found}


def _vector(models: Any, vector: Any) -> Any:
    if isinstance(vector, tuple):
        return models.SparseVector(indices=vector[0], values=vector[1])
    return vector
