"""The tables of frequencies: how many documents have each term, counted by us.

The weights of terms depend on the whole collection. A server that counts them counts each shard
by itself, and deleted points with them; so the counts are ours. A table is written once and never
changed: each segment brings one, and what is removed brings one with negative counts. The counts
of the collection are the sums over the tables that its state names, so that a new state brings
new counts in the same step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.cluster.client import Cluster
from mathsetu.cluster.packing import damaged, pack, unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Terms in one point, about a megabyte.
_CHUNK = 1 << 16
# Tables lie beside the state; their points are numbered from here on.
_FIRST = 1 << 62
_CHUNK_BITS = 16


@dataclass(frozen=True)
class TableName:
    """Where a table is: its number, and in how many pieces it was written."""

    number: int
    chunks: int


@dataclass(frozen=True)
class Table:
    """Terms, as rising hashes, and how many documents have each.

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
        """The table of documents whose terms stand one after the other."""
        distinct, counts = np.unique(terms, return_counts=True)
        return cls(distinct.astype(np.uint64), sign * counts.astype(np.int64))

    def of(self, terms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """How many documents have each of some terms."""
        if not len(self.terms):
            return np.zeros(len(terms), dtype=np.int64)
        places = np.searchsorted(self.terms, terms)
        found = np.take(self.terms, places, mode="clip") == terms
        return np.where(found, np.take(self.counts, places, mode="clip"), 0)

    def plus(self, other: Table) -> Table:
        """Both together, without terms that no document has any more."""
        terms, back = np.unique(np.concatenate([self.terms, other.terms]), return_inverse=True)
        counts = np.zeros(len(terms), dtype=np.int64)
        np.add.at(counts, back, np.concatenate([self.counts, other.counts]))
        return Table(terms[counts != 0], counts[counts != 0])


EMPTY = Table(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))


class Counts:
    """The tables of one part, seen as one."""

    def __init__(self, tables: dict[int, Table]) -> None:
        self.tables = tables

    def of(self, terms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """How many documents of the collection have each of some terms."""
        none = np.zeros(len(terms), dtype=np.int64)
        return sum((table.of(terms) for table in self.tables.values()), none)

    def together(self) -> Table:
        """All tables as one."""
        return reduce(Table.plus, self.tables.values(), EMPTY)

    def __len__(self) -> int:
        return sum(len(table.terms) for table in self.tables.values())


def write_table(cluster: Cluster, meta: str, number: int, table: Table) -> TableName:
    """Write a table; the same one may be written again."""
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
    """Read those tables that are not known yet.

    Args:
        cluster: Where they are.
        meta: The collection that they are in.
        names: Which ones.
        known: Those that were read before, by their numbers.
    """
    return Counts(
        {name.number: known.get(name.number) or _read_table(cluster, meta, name) for name in names}
    )


def drop_tables(cluster: Cluster, meta: str, names: Sequence[TableName]) -> None:
    """Remove tables that no state names any more."""
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
