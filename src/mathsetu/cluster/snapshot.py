"""A library on a cluster as one search sees it: one version of it, with its statistics.

A process holds the state and the tables and nothing else; any number of processes may search.
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

# Seconds after which a process looks whether the library was changed.
_REFRESH = 1.0
# Where points keep what filters ask for.
_KEYS = dict(zip(FACETS, (LANGUAGE, TAGS, COLLECTION), strict=True))
# Points that are fetched at once.
_FETCHED = 1_000


class Snapshot:
    """One version of a library.

    Attributes:
        cluster: Where it is.
        names: Its collections.
        state: What is known of it as a whole.
        counts: How many documents of each part have a term.
    """

    def __init__(self, cluster: Cluster, state: State, former: Snapshot | None = None) -> None:
        """Read the tables that a former snapshot does not know."""
        self.cluster, self.state = cluster, state
        self.names = Names(cluster.address.name, state.build)
        is_same = former is not None and former.state.build == state.build
        self.counts: dict[str, Counts] = {}
        for name, part in state.parts.items():
            known = former.counts[name].tables if former is not None and is_same else {}
            self.counts[name] = read_tables(cluster, self.names.meta, part.tables, known)

    def collection(self, part: str) -> Statistics:
        """How many documents a part has, and how long they are."""
        known = self.state.parts[part]
        return Statistics(
            known.documents, known.length / known.documents if known.documents else 1.0
        )

    def rarity(self, part: str, terms: NDArray[np.uint64]) -> NDArray[np.float32]:
        """What features of formulas count."""
        return rarity_of(self.counts[part].of(terms), self.state.parts[part].documents)

    def visible(self, where: Filter | None = None, *conditions: Any) -> Any:
        """What points must be to be found in this version, by those that filter, too.

        Args:
            where: Which posts may be found.
            conditions: What else must hold.
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
        """Some fields of points by their numbers; points that are not there are left out."""
        found: dict[int, dict[str, Any]] = {}
        for start in range(0, len(numbers), _FETCHED):
            batch = list(numbers[start : start + _FETCHED])
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
    """The newest snapshot, looked for now and then.

    When the cluster does not say whether there is a newer one, the last one goes on: a search by
    it tells what it cannot reach.
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
        """The newest snapshot, at most a second old."""
        # Whoever finds somebody looking goes on with the last one.
        if time.monotonic() - self._looked > _REFRESH and self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._snapshot

    def renew(self) -> bool:
        """Look for a newer snapshot now; whether there is one."""
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
