"""The tables of document counts: how many documents contain each term.

The weights of terms depend on the whole collection. Qdrant counts terms per shard and includes
deleted points; so MathSetu stores its own counts. A table is written once and never changed: each
segment adds a table, and each removal adds one with negative counts. The counts of the collection
are the sums over the tables that the state names, so that a new state changes them in the same
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.cluster.client import Cluster
from mathsetu.cluster.payloads import damaged, pack, unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Terms per point, about a megabyte.
_CHUNK = 1 << 16
# Tables are in the collection of the state; their point numbers start here.
_FIRST = 1 << 62
_CHUNK_BITS = 16


@dataclass(frozen=True)
class TableName:
    """The number of a table, and the number of points that it consists of."""

    number: int
    chunks: int


@dataclass(frozen=True)
class Table:
    """Term hashes in ascending order, with the number of documents that contain each.

    >>> one = Table(np.array([3, 5], dtype=np.uint64), np.array([2, 1]))
    >>> other = Table(np.array([5, 9], dtype=np.uint64), np.array([-1, 4]))
    >>> both = one.plus(other)
    >>> both.terms.tolist(), both.counts.tolist()
    ([3, 9], [2, 4])
    >>> both.of(np.array([9, 4], dtype=np.uint64)).tolist()
    [4, 0]
    """

    terms: NDArray[np.uint64]
    counts: NDArray[np.int64]

    @classmethod
    def counted(cls, terms: NDArray[np.uint64], sign: int = 1) -> Table:
        """Count concatenated terms of documents; ``sign`` -1 negates the counts."""
        distinct, counts = np.unique(terms, return_counts=True)
        return cls(distinct.astype(np.uint64), sign * counts.astype(np.int64))

    def of(self, terms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of documents with each of the given terms."""
        if not len(self.terms):
            return np.zeros(len(terms), dtype=np.int64)
        places = np.searchsorted(self.terms, terms)
        found = np.take(self.terms, places, mode="clip") == terms
        return np.where(found, np.take(self.counts, places, mode="clip"), 0)

    def plus(self, other: Table) -> Table:
        """The sum of two tables, without terms whose count is 0."""
        terms, back = np.unique(np.concatenate([self.terms, other.terms]), return_inverse=True)
        counts = np.zeros(len(terms), dtype=np.int64)
        np.add.at(counts, back, np.concatenate([self.counts, other.counts]))
        return Table(terms[counts != 0], counts[counts != 0])


EMPTY = Table(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))


class Counts:
    """The tables of one part, read as their sum."""

    def __init__(self, tables: dict[int, Table]) -> None:
        self.tables = tables

    def of(self, terms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of documents of the collection with each of the given terms."""
        none = np.zeros(len(terms), dtype=np.int64)
        return sum((table.of(terms) for table in self.tables.values()), none)

    def together(self) -> Table:
        """The sum of all tables as one table."""
        return reduce(Table.plus, self.tables.values(), EMPTY)

    def __len__(self) -> int:
        return sum(len(table.terms) for table in self.tables.values())


def write_table(cluster: Cluster, meta: str, number: int, table: Table) -> TableName:
    """Write a table; this may be repeated."""
    models = cluster.models
    starts = range(0, len(table.terms), _CHUNK)
    for chunk, start in enumerate(starts):
        payload = {
            "terms": pack(table.terms[start : start + _CHUNK]),
            "counts": pack(table.counts[start : start + _CHUNK].astype(np.int32)),
        }
        point = models.PointStruct(id=_point(number, chunk), vector={}, payload=payload)
        cluster.write("the tables", "upsert", meta, [point])
    return TableName(number, len(starts))


def read_tables(
    cluster: Cluster, meta: str, names: Sequence[TableName], known: dict[int, Table]
) -> Counts:
    """Read the tables that are not known yet.

    Args:
        cluster: The cluster.
        meta: The collection with the tables.
        names: The tables to read.
        known: Tables that were read before, by their numbers.
    """
    return Counts(
        {name.number: known.get(name.number) or _read_table(cluster, meta, name) for name in names}
    )


def drop_tables(cluster: Cluster, meta: str, names: Sequence[TableName]) -> None:
    """Remove tables that the state no longer names."""
    points = [_point(name.number, chunk) for name in names for chunk in range(name.chunks)]
    if points:
        cluster.write("old tables", "delete", meta, points)


def _read_table(cluster: Cluster, meta: str, name: TableName) -> Table:
    terms, counts = [EMPTY.terms], [EMPTY.counts]
    for chunk in range(name.chunks):
        point = _point(name.number, chunk)
        found = cluster.read("the tables", "retrieve", meta, [point])
        if len(found) != 1:
            raise damaged()
        terms.append(unpack(found[0].payload.get("terms"), "uint64"))
        counts.append(unpack(found[0].payload.get("counts"), "int32").astype(np.int64))
    table = Table(np.concatenate(terms), np.concatenate(counts))
    if len(table.terms) != len(table.counts) or (table.terms[1:] <= table.terms[:-1]).any():
        raise damaged()
    return table


def _point(number: int, chunk: int) -> int:
    return _FIRST | number << _CHUNK_BITS | chunk
