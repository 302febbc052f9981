"""Search by meaning on a cluster: the nearest passages, then whole posts as in a folder.

The cluster finds four times as many passages as needed by binary vectors (signs), and rescores them
by the full vectors. All passages of the nearest posts are fetched, and compared by the code for
libraries in folders.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.cluster.layout import passage_point
from mathsetu.cluster.payloads import damaged, unpack
from mathsetu.cluster.posts import ClusterPosts
from mathsetu.cluster.snapshot import Snapshot
from mathsetu.intake.question import Question
from mathsetu.library.segmented_posts import Filter
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import Scored, best
from mathsetu.retrieval.meaning import (
    KINDS,
    MeaningReply,
    MeaningRetriever,
    MeaningSegment,
    MeaningSettings,
    texts_of,
)
from mathsetu.retrieval.passages import Quotations
from mathsetu.retrieval.query_vectors import query_vector
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    # The number of a post, the kind of the text, and the number of the passage.
    Passage = tuple[int, int, int]

# Extra posts that are compared completely: the nearest passage alone is misleading.
_EXTRA_CANDIDATES = 300
# Passages retrieved per post wanted: near posts often have several near passages.
_PASSAGES = 4
# Passages rescored by full vectors per passage wanted.
_OVERSAMPLING = 4.0
_MIN_BREADTH = 256
# Passages whose sentence vectors are cached.
_CACHE_SIZE = 2_000


class SentenceCache:
    """A cache of the sentence vectors of passages, for all threads and versions of a library.

    Posts never change: the replacement of a post has another number.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Passage, Quotations] = OrderedDict()
        self._lock = Lock()

    def get(self, passage: Passage, make: Callable[[], Quotations]) -> Quotations:
        """The sentences of a passage, computed if they are not cached."""
        with self._lock:
            if passage in self._known:
                self._known.move_to_end(passage)
                return self._known[passage]
        made = make()
        with self._lock:
            self._known[passage] = made
            while len(self._known) > _CACHE_SIZE:
                self._known.popitem(last=False)
        return made


class ClusterMeaning:
    """Retrieves posts by the meaning of questions."""

    formula_finder = None
    heat_mapper = None

    def __init__(
        self,
        snapshot: Snapshot,
        name: str,
        settings: MeaningSettings,
        where: Filter | None,
        stored_posts: ClusterPosts,
        remembered: SentenceCache,
    ) -> None:
        self.snapshot, self.name, self.settings, self.where = snapshot, name, settings, where
        self.posts = snapshot.state.posts
        self._stored_posts = stored_posts
        self.remembered = remembered
        self._empty = _Retriever(self, [], _segment(self, []))

    def ask(self, questions: Sequence[Question]) -> list[ClusterMeaningReply]:
        """The replies to several questions."""
        return [ClusterMeaningReply(self, question) for question in questions]

    def vector(self, question: Question) -> Vectors:
        """The vector of a question."""
        settings = self.settings
        return query_vector(self._empty.encoder, question, settings.tokens, settings.query_title)

    def nearest(self, vector: Vectors, posts: int) -> list[int]:
        """The posts whose passages are nearest to a vector, nearest first."""
        snapshot, models = self.snapshot, self.snapshot.cluster.models
        limit = posts * _PASSAGES
        quantised = models.QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING)
        found = snapshot.cluster.read(
            f"the part {self.name}",
            "query_points",
            snapshot.names.part(self.name),
            query=vector.tolist(),
            using=self.name,
            query_filter=snapshot.visible(self.where),
            search_params=models.SearchParams(
                hnsw_ef=max(limit, _MIN_BREADTH), quantization=quantised
            ),
            limit=limit,
            with_payload=False,
        )
        # The high bits of a passage's number are the number of its post.
        owners = dict.fromkeys(int(point.id) // passage_point(1, 0) for point in found.points)
        return list(owners)[:posts]

    def fetch(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Fetch the vectors of the posts' passages."""
        fields = [f"{self.name}_{field}" for field in ("vectors", "scales", "passages")]
        names = self.snapshot.names
        return self.snapshot.fetch(names.posts, numbers, fields, f"the part {self.name}")

    def texts(self, number: int) -> tuple[str, str]:
        """The question text and the answer text of a post (`texts_of`)."""
        return texts_of(self._stored_posts.posts([number])[number])


class ClusterMeaningReply:
    """Scores posts by their meaning for one question."""

    def __init__(self, finder: ClusterMeaning, question: Question) -> None:
        self._finder, self._question = finder, question
        self._payloads: dict[int, dict[str, Any]] = {}
        self._inner: MeaningReply | None = None

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts; none if the vector of the question is zero."""
        if not self._vector.any():
            return best(np.zeros(0, dtype=np.float32), 0)
        self._load(self._finder.nearest(self._vector, k + _EXTRA_CANDIDATES))
        found = self._reply.best(k)
        return Scored(self._numbers[found.numbers], found.scores)

    def scores(self, numbers: NDArray[np.int64]) -> Vectors:
        """The scores of given posts."""
        self._load(numbers.tolist())
        return self._reply.scores(np.searchsorted(self._numbers, numbers))

    def reason(self, number: int, post: Post) -> Reason:
        """The cosine, and the nearest sentence of the nearest passage or the start of the text."""
        self._load([number])
        return self._reply.reason(int(np.searchsorted(self._numbers, number)), post)

    def means(self, numbers: NDArray[np.int64]) -> Vectors:
        """The mean vectors of the passages of given posts."""
        self._load(numbers.tolist())
        return self._reply.means(np.searchsorted(self._numbers, numbers))

    def _load(self, numbers: Sequence[int]) -> None:
        missing = [number for number in numbers if number not in self._payloads]
        if missing:
            self._payloads |= self._finder.fetch(missing)
            self._inner = None
            if not all(number in self._payloads for number in missing):
                raise damaged()

    @cached_property
    def _vector(self) -> Vectors:
        return self._finder.vector(self._question)

    @property
    def _numbers(self) -> NDArray[np.int64]:
        return np.array(sorted(self._payloads), dtype=np.int64)

    @property
    def _reply(self) -> MeaningReply:
        if self._inner is None:
            numbers = sorted(self._payloads)
            payloads = [self._payloads[number] for number in numbers]
            segment = _segment(self._finder, payloads)
            retriever = _Retriever(self._finder, numbers, segment)
            self._inner = _HeldReply(retriever, self._question, self._vector)
        return self._inner


class _Retriever(MeaningRetriever):
    """An index of fetched posts."""

    def __init__(
        self, finder: ClusterMeaning, numbers: Sequence[int], segment: MeaningSegment
    ) -> None:
        self._finder, self._numbers = finder, numbers
        self.settings = finder.settings
        self.segments = [segment]
        self.numbering = Numbering([len(numbers)])
        self.posts = len(numbers)
        segment.texts = _Texts(finder, numbers)
        self.quotations = self._remembered  # type: ignore[assignment]

    def _remembered(self, segment: int, number: int, passage: int, language: str) -> Quotations:
        key = (self._numbers[number // 2], number % 2, passage)
        read = partial(self._quotations, segment, number, passage, language)
        return self._finder.remembered.get(key, read)


class _HeldReply(MeaningReply):
    """A reply to a question that is already encoded."""

    def __init__(self, retriever: MeaningRetriever, question: Question, vector: Vectors) -> None:
        super().__init__(retriever, question)
        self._asked = vector

    @cached_property
    def _vector(self) -> Vectors:
        return self._asked


class _Texts:
    """The texts of posts, two per post, fetched when a reason needs them."""

    def __init__(self, finder: ClusterMeaning, numbers: Sequence[int]) -> None:
        self._finder, self._numbers = finder, numbers

    def __len__(self) -> int:
        return 2 * len(self._numbers)

    def __getitem__(self, number: int) -> str:
        return self._finder.texts(self._numbers[number // 2])[number % 2]


def _segment(finder: ClusterMeaning, payloads: Sequence[dict[str, Any]]) -> MeaningSegment:
    name = finder.name
    dimensions = finder.snapshot.state.parts[name].dimensions
    vectors = [np.zeros(0, dtype=np.int8)]
    scales = [np.zeros(0, dtype=np.float32)]
    counts = [0]
    for payload in payloads:
        vectors.append(unpack(payload.get(f"{name}_vectors"), "int8"))
        scales.append(unpack(payload.get(f"{name}_scales"), "float32"))
        kinds = payload.get(f"{name}_passages")
        if not isinstance(kinds, list) or len(kinds) != KINDS or sum(kinds) != len(scales[-1]):
            raise damaged()
        counts += kinds
    rows = np.concatenate(vectors)
    if len(rows) != sum(counts) * dimensions or min(counts) < 0:
        raise damaged()
    return MeaningSegment.from_arrays(
        str(finder.snapshot.cluster.address),
        rows.reshape(-1, dimensions),
        np.concatenate(scales),
        np.cumsum(counts, dtype=np.int64),
        [],
    )
