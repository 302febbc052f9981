"""The state of a library on a cluster: one point; replacing it changes the library.

It contains the version of the library, the tables of term counts, and the other data that a search
needs. A change first writes its points and tables with the number of the next version, so that no
search sees them. Then it replaces the state, if that has not changed since the change began.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from secrets import token_hex
from typing import Any

from mathsetu.cluster.client import Cluster, MissingCollection
from mathsetu.cluster.payloads import damaged
from mathsetu.cluster.tables import TableName
from mathsetu.errors import InputError
from mathsetu.recipes.schema import parse_table

#: Increases when libraries published by older versions can no longer be read.
FORMAT = 4
_STATE, _LOCK = 1, 2
# Point numbers of the marks of published segments start here.
_SEGMENTS = 1 << 40
# Seconds until the lock of a writer expires, and after which the writer renews it.
_LEASE, _RENEWED = 60.0, 20.0


@dataclass(frozen=True)
class PartState:
    """The data of one part that a search needs.

    Attributes:
        documents: The number of documents: posts for words, distinct formulas for formulas.
        length: The sum of the lengths of the documents.
        tables: The tables with the document counts of terms.
        dimensions: The number of dimensions of dense vectors; 0 if there are none.
        has_duplicate_formulas: Whether a formula may have several points, in different segments,
            of which one counts in the statistics.
    """

    documents: int = 0
    length: float = 0.0
    tables: tuple[TableName, ...] = ()
    dimensions: int = 0
    has_duplicate_formulas: bool = False


@dataclass(frozen=True)
class State:
    """The state of one version of a library.

    Attributes:
        build: The build, which names the collections.
        version: The number of the version; it increases with each change.
        recipe: The table of the recipe.
        posts: How many posts can be found.
        languages: The number of posts in each language.
        segments: The number of the next segment.
        parts: The data of each part.
        written: The version of MathSetu that published the library.
        former: Versions that removed points, which are not deleted yet, and the time.
        builds: Replaced builds with collections that are not deleted yet, and the time.
        old_tables: Replaced tables that are not deleted yet, and the time.
        token: Identifies this write of the state.
    """

    build: str
    version: int
    recipe: dict[str, Any]
    posts: int
    languages: dict[str, int]
    segments: int
    parts: dict[str, PartState]
    written: str
    former: tuple[tuple[int, float], ...] = ()
    builds: tuple[tuple[str, float], ...] = ()
    old_tables: tuple[tuple[TableName, float], ...] = ()
    token: str = field(default="", compare=False)


@dataclass(frozen=True)
class SegmentMark:
    """The counts and statistics of a segment that is completely published."""

    segment: int
    posts: int
    languages: dict[str, int]
    parts: dict[str, PartState]


def read_state(cluster: Cluster, meta: str) -> State | None:
    """Read the state in a collection or alias; None if there is none yet.

    Any replica may answer: one that missed an acknowledged write receives no requests until it has
    caught up.

    Args:
        cluster: The cluster.
        meta: The name of the collection or of the library (an alias).
    """
    payload = _payload(cluster, meta, _STATE)
    return None if payload is None else _as_state(_content(payload), cluster)


def write_state(cluster: Cluster, meta: str, state: State, expected: int) -> None:
    """Replace the state if its version is the expected one (0 if there is no state yet).

    Writes are ordered by one replica that the others follow, so that only one of two writers wins.
    """
    models = cluster.models
    # As text, because the order of a recipe's parts matters and nodes do not keep key order.
    content = json.dumps({"mathsetu": "cluster", "format": FORMAT, **asdict(state)})
    payload = {"version": state.version, "content": content}
    same = models.Filter(
        must=[models.FieldCondition(key="version", match=models.MatchValue(value=expected))]
    )
    point = models.PointStruct(id=_STATE, vector={}, payload=payload)
    cluster.write(
        "the library's state",
        "upsert",
        meta,
        [point],
        update_filter=same,
        ordering=models.WriteOrdering.MEDIUM,
    )
    now = read_state(cluster, meta)
    if now is None or now.token != state.token:
        raise InputError(
            f"{cluster.address}: was changed by another writer in the meantime; try again"
        )


def write_mark(cluster: Cluster, meta: str, mark: SegmentMark) -> None:
    """Mark a segment as published."""
    models = cluster.models
    payload = {"content": json.dumps(asdict(mark))}
    point = models.PointStruct(id=_SEGMENTS | mark.segment, vector={}, payload=payload)
    cluster.write("a segment's mark", "upsert", meta, [point])


def read_mark(cluster: Cluster, meta: str, segment: int) -> SegmentMark | None:
    """The mark of a segment; None if it is not published yet."""
    payload = _payload(cluster, meta, _SEGMENTS | segment)
    if payload is None:
        return None
    content = _content(payload)
    try:
        return SegmentMark(
            int(content["segment"]),
            int(content["posts"]),
            _counts(content["languages"]),
            _parts(content["parts"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged() from error


def new_token() -> str:
    """A random identifier."""
    return token_hex(8)


class Lease:
    """The lock of a writer; it expires if the writer dies."""

    def __init__(self, cluster: Cluster, meta: str) -> None:
        self._cluster, self._meta = cluster, meta
        self._owner = new_token()
        self._renewed = 0.0

    def renew(self) -> None:
        """Extend the lock if necessary; called regularly during the work."""
        if time.monotonic() - self._renewed > _RENEWED and not self._set(_LEASE, self._owner):
            raise InputError(
                f"{self._cluster.address}: the lock expired and another writer took it; try again"
            )

    def take(self) -> bool:
        """Take the lock if it is free; returns whether it was."""
        return self._set(_LEASE, "")

    def release(self) -> None:
        """Release the lock."""
        self._set(0.0, self._owner)

    def _set(self, seconds: float, holder: str) -> bool:
        """Set the lock for some seconds if it belongs to ``holder`` or, without one, is free."""
        models = self._cluster.models
        now = time.time()
        payload = {"owner": self._owner, "until": now + seconds}
        if holder:
            free = models.FieldCondition(key="owner", match=models.MatchValue(value=holder))
        else:
            free = models.FieldCondition(key="until", range=models.Range(lt=now))
        point = models.PointStruct(id=_LOCK, vector={}, payload=payload)
        self._cluster.write(
            "the lock",
            "upsert",
            self._meta,
            [point],
            update_filter=models.Filter(must=[free]),
            ordering=models.WriteOrdering.MEDIUM,
        )
        found = _payload(self._cluster, self._meta, _LOCK)
        self._renewed = time.monotonic()
        return found is not None and found.get("owner") == self._owner


@contextmanager
def writing_alone(cluster: Cluster, meta: str) -> Iterator[Lease]:
    """Hold the write lock of a library; the lock of a dead writer expires after a minute."""
    lease = Lease(cluster, meta)
    if not lease.take():
        raise InputError(
            f"{cluster.address}: is locked by another writer; wait until it has finished "
            "(the lock of a crashed process expires after a minute)"
        )
    try:
        yield lease
    finally:
        lease.release()


def _payload(cluster: Cluster, meta: str, point: int) -> Mapping[str, Any] | None:
    try:
        found = cluster.read("the library's state", "retrieve", meta, [point])
    except MissingCollection:
        return None
    return found[0].payload if found else None


def _content(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        content = json.loads(payload["content"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise damaged() from error
    if not isinstance(content, dict):
        raise damaged()
    return content


def _as_state(payload: Mapping[str, Any], cluster: Cluster) -> State:
    try:
        if payload["mathsetu"] != "cluster":
            raise KeyError("mathsetu")
        if payload["format"] != FORMAT:
            raise InputError(
                f"{cluster.address}: was published in format {payload['format']!r}, this version "
                f"of MathSetu reads format {FORMAT}; publish the library again"
            )
        recipe = dict(payload["recipe"])
        parse_table(recipe, str(cluster.address))
        return State(
            str(payload["build"]),
            int(payload["version"]),
            recipe,
            int(payload["posts"]),
            _counts(payload["languages"]),
            int(payload["segments"]),
            _parts(payload["parts"]),
            str(payload["written"]),
            tuple((int(version), float(when)) for version, when in payload["former"]),
            tuple((str(build), float(when)) for build, when in payload["builds"]),
            tuple((_table(table), float(when)) for table, when in payload["old_tables"]),
            str(payload["token"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged() from error


def _counts(table: Mapping[str, Any]) -> dict[str, int]:
    return {str(code): int(count) for code, count in table.items()}


def _parts(table: Mapping[str, Any]) -> dict[str, PartState]:
    return {
        str(name): PartState(
            int(part["documents"]),
            float(part["length"]),
            tuple(map(_table, part["tables"])),
            int(part["dimensions"]),
            bool(part["has_duplicate_formulas"]),
        )
        for name, part in table.items()
    }


def _table(entry: Mapping[str, Any]) -> TableName:
    return TableName(int(entry["number"]), int(entry["chunks"]))
