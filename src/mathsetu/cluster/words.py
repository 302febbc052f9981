"""Search by words on a cluster: candidates from sparse vectors, scores as in a folder.

The cluster finds more candidates than needed by the dot product of sparse vectors. Their terms are
fetched, and they are scored by the same code and with the same statistics as in a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.cluster.payloads import damaged, unpack, unpack_frequencies
from mathsetu.cluster.points import sparse
from mathsetu.cluster.snapshot import Snapshot
from mathsetu.library.segmented_posts import Filter
from mathsetu.retrieval.base import Scored, among, best
from mathsetu.retrieval.lexical import LexicalRetriever
from mathsetu.retrieval.lexical_terms import LexicalSettings
from mathsetu.retrieval.postings import Postings, term_hashes
from mathsetu.retrieval.segments import Numbering
from mathsetu.retrieval.weighting import (
    NOTHING_TRANSLATED,
    Translated,
    Wanted,
    WeighedQuery,
    WeightedIndex,
    adjusted_document_frequencies,
    make_scheme,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Extra candidates that are scored exactly, because the order on the cluster is approximate.
_EXTRA_CANDIDATES = 100


class ClusterWords(LexicalRetriever):
    """Retrieves posts by the words of questions."""

    def __init__(
        self, snapshot: Snapshot, name: str, settings: LexicalSettings, where: Filter | None
    ) -> None:
        self.settings = settings
        self.index = _Index(snapshot, name, settings, where)
        self.posts = snapshot.state.posts
        self.languages = sorted(code for code in snapshot.state.languages if code)
        self._counts = snapshot.counts[name]

    def has(self, terms: Sequence[str]) -> bool:
        """Whether any post contains one of the terms."""
        return bool(self._counts.of(term_hashes(list(terms))).any())


class _Index(WeightedIndex):
    """The statistics of the collection, and access to its posts."""

    def __init__(
        self, snapshot: Snapshot, name: str, settings: LexicalSettings, where: Filter | None
    ) -> None:
        self.snapshot, self.name, self.where = snapshot, name, where
        self.scheme = make_scheme(settings.scheme)
        self.segments, self.numbering = [], Numbering([])
        self.collection = snapshot.collection(name)

    def weigh(self, query: Wanted, translated: Translated = NOTHING_TRANSLATED) -> WeighedQuery:
        """Weight a query by the statistics of the collection."""
        return _ClusterQuery(self, query, translated)

    def fields(self) -> list[str]:
        """The payload fields from which a post is scored."""
        return [f"{self.name}_{field}" for field in ("terms", "counts", "length")]


class _ClusterQuery(WeighedQuery):
    """The weighted terms of a query, and the posts that were fetched for it."""

    def __init__(self, index: _Index, wanted: Wanted, translated: Translated) -> None:
        self._remote, self._wanted = index, wanted
        self._scheme, self._collection = index.scheme, index.collection
        self._hashes = term_hashes(list(wanted))
        counts = index.snapshot.counts[index.name].of(self._hashes)
        self._counts = adjusted_document_frequencies(counts, wanted, translated)
        self._asked = [
            self._scheme.ask(strength, count, self._collection)
            for strength, count in zip(wanted.values(), self._counts.tolist(), strict=True)
        ]
        self._payloads: dict[int, dict[str, Any]] = {}

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts that contain any of the terms."""
        if not self._asked or not k:
            return best(np.zeros(0, dtype=np.float32), 0)
        weights = self._scheme.rarity(self._counts, self._collection) * np.array(self._asked)
        counting = (self._counts > 0) & (weights > 0)
        if not counting.any():
            return best(np.zeros(0, dtype=np.float32), 0)
        remote = self._remote
        snapshot, models = remote.snapshot, remote.snapshot.cluster.models
        dimensions, values = sparse(self._hashes[counting], weights[counting])
        found = snapshot.cluster.read(
            f"the part {remote.name}",
            "query_points",
            snapshot.names.posts,
            query=models.SparseVector(indices=dimensions, values=values),
            using=remote.name,
            query_filter=snapshot.visible(remote.where),
            limit=k + _EXTRA_CANDIDATES,
            with_payload=remote.fields(),
        )
        hits = {int(point.id): point.payload or {} for point in found.points if point.score > 0}
        self._payloads |= hits
        numbers = np.array(sorted(hits), dtype=np.int64)
        return among(numbers, self.scores(numbers), k)

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The exact scores of some posts."""
        if not len(numbers):
            return np.zeros(0, dtype=np.float32)
        distinct, back = np.unique(numbers, return_inverse=True)
        return self._query_in_memory(distinct.tolist()).scores(np.arange(len(distinct)))[back]

    def parts(self, document: int) -> list[float]:
        """The share of each term in the score of one post, without floors."""
        return self._query_in_memory([document]).parts(0)

    def _query_in_memory(self, numbers: list[int]) -> WeighedQuery:
        """The query over an in-memory index of the given posts."""
        remote = self._remote
        missing = [number for number in numbers if number not in self._payloads]
        self._payloads |= remote.snapshot.fetch(
            remote.snapshot.names.posts, missing, remote.fields(), f"the part {remote.name}"
        )
        terms, counts, lengths = zip(*(self._read(number) for number in numbers), strict=True)
        sizes = np.array([len(one) for one in terms])
        held = Postings.from_arrays(
            str(remote.snapshot.cluster.address),
            np.repeat(np.arange(len(numbers), dtype=np.int32), sizes),
            np.concatenate(terms),
            np.concatenate(counts),
            np.array(lengths, dtype=np.float32),
        )
        return _HeldQuery(held, self._scheme, self._wanted, self)

    def _read(self, number: int) -> tuple[NDArray[np.uint64], NDArray[np.float32], float]:
        payload = self._payloads.get(number)
        if payload is None:
            raise damaged()
        terms, counts, length = (payload.get(field) for field in self._remote.fields())
        hashes = unpack(terms, "uint64")
        if not isinstance(length, int | float):
            raise damaged()
        return hashes, unpack_frequencies(counts, len(hashes)), float(length)


class _HeldQuery(WeighedQuery):
    """The query over posts in memory, with the statistics of the whole collection."""

    def __init__(self, held: Postings, scheme: Any, wanted: Wanted, whole: _ClusterQuery) -> None:
        index = WeightedIndex([held], scheme)
        index.collection = whole._collection
        super().__init__(index, wanted)
        self._counts, self._asked = whole._counts, whole._asked
