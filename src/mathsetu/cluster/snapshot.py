"""A snapshot of a library on a cluster: one version, with the statistics that a search needs.

A process keeps only the state and the tables in memory; any number of processes may search.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from mathsetu.cluster.client import Cluster
from mathsetu.cluster.layout import COLLECTION, LANGUAGE, TAGS, Names, visible_at
from mathsetu.cluster.state import State, read_state
from mathsetu.cluster.tables import Counts, read_tables
from mathsetu.errors import InputError, Unavailable
from mathsetu.library.segmented_posts import FACETS, Filter
from mathsetu.retrieval.formula_index import rarity_of
from mathsetu.retrieval.weighting import Statistics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Seconds between checks for a new version.
_REFRESH = 1.0
# The payload field of each field of a filter.
_KEYS = dict(zip(FACETS, (LANGUAGE, TAGS, COLLECTION), strict=True))
# Points per request.
_BATCH_SIZE = 1_000


class Snapshot:
    """One version of a library.

    Attributes:
        cluster: The cluster.
        names: The collections.
        state: The state of the library.
        counts: For each part the document counts of its terms.
    """

    def __init__(self, cluster: Cluster, state: State, former: Snapshot | None = None) -> None:
        """Read the tables that a former snapshot has not read."""
        self.cluster, self.state = cluster, state
        self.names = Names(cluster.address.name, state.build)
        is_same = former is not None and former.state.build == state.build
        self.counts: dict[str, Counts] = {}
        for name, part in state.parts.items():
            known = former.counts[name].tables if former is not None and is_same else {}
            self.counts[name] = read_tables(cluster, self.names.meta, part.tables, known)

    def collection(self, part: str) -> Statistics:
        """The number of documents of a part, and their average length."""
        known = self.state.parts[part]
        return Statistics(
            known.documents, known.length / known.documents if known.documents else 1.0
        )

    def rarity(self, part: str, terms: NDArray[np.uint64]) -> NDArray[np.float32]:
        """The rarity (IDF) weights of features of formulas."""
        return rarity_of(self.counts[part].of(terms), self.state.parts[part].documents)

    def visible(self, where: Filter | None = None, *conditions: Any) -> Any:
        """The filter for points that are visible in this version and allowed.

        Args:
            where: A filter of the posts.
            conditions: Further conditions that points must meet.
        """
        models = self.cluster.models
        must = list(conditions)
        must_not = list(visible_at(models, self.state.version))
        for field, values, is_wanted in where.conditions if where is not None else ():
            match = models.MatchAny(any=list(values))
            condition = models.FieldCondition(key=_KEYS[field], match=match)
            (must if is_wanted else must_not).append(condition)
        return models.Filter(must=must, must_not=must_not)

    def fetch(
        self, collection: str, numbers: Sequence[int], fields: Sequence[str], what: str
    ) -> dict[int, dict[str, Any]]:
        """Fetch fields of points by number; missing points are left out."""
        found: dict[int, dict[str, Any]] = {}
        for start in range(0, len(numbers), _BATCH_SIZE):
            batch = list(numbers[start : start + _BATCH_SIZE])
            points = self.cluster.read(
                what,
                "retrieve",
                collection,
                batch,
                with_payload=list(fields),
                with_vectors=False,
            )
            found.update((int(point.id), point.payload or {}) for point in points)
        return found


class Newest:
    """The newest snapshot, refreshed periodically.

    If the cluster does not answer the check, the last snapshot stays in use; a search with it
    reports what it cannot reach.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = Lock()
        state = read_state(cluster, cluster.address.name)
        if state is None:
            raise InputError(
                f"{cluster.address}: there is no such library on the cluster (publish one with "
                "'mathsetu publish')"
            )
        self._snapshot = Snapshot(cluster, state)
        self._looked = time.monotonic()

    def get(self) -> Snapshot:
        """The newest snapshot, at most one second old."""
        # While another thread checks, this one uses the last snapshot.
        if time.monotonic() - self._looked > _REFRESH and self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._snapshot

    def renew(self) -> bool:
        """Check for a newer snapshot now; returns whether there is one."""
        with self._lock:
            before = self._snapshot
            self._look()
            return self._snapshot is not before

    def _look(self) -> None:
        try:
            state = read_state(self._cluster, self._cluster.address.name)
            if state is not None and (state.build, state.version) != (
                self._snapshot.state.build,
                self._snapshot.state.version,
            ):
                self._snapshot = Snapshot(self._cluster, state, self._snapshot)
        except Unavailable:
            pass
        self._looked = time.monotonic()
