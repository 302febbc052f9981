"""Search by formulas on a cluster: candidates from sparse vectors, scores as in a folder.

For each formula of a question, the cluster finds the formulas that share the most features with it.
They are fetched with the numbers of their posts and form a small index in memory. The code for
libraries in folders searches this index, with the statistics of the whole collection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.cluster.layout import COUNTED, KEY, first_in_segment
from mathsetu.cluster.payloads import damaged, unpack, unpack_frequencies
from mathsetu.cluster.points import sparse
from mathsetu.cluster.snapshot import Snapshot
from mathsetu.deadline import check_time
from mathsetu.formulas.parse import parse_once
from mathsetu.intake.question import Question
from mathsetu.library.segmented_posts import Filter
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import FormulaMatch, Scored, best, query_formula
from mathsetu.retrieval.formula import FormulaReply, FormulaRetriever
from mathsetu.retrieval.formula_index import FormulaSegment, FormulaSettings, feature_counts
from mathsetu.retrieval.postings import Postings, term_hashes
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

# Formulas fetched for one formula of a question.
_FORMULAS_FETCHED = 2_000
# Extra candidate posts: some may be removed, and others may have further formulas.
_EXTRA_CANDIDATES = 200
# Top posts whose other formulas are fetched, too: some more than the index examines.
_POSTS_COMPLETED = 300
# Top posts whose formulas are all fetched when a reason is requested.
_SHOWN = 50
# Posts per filter request, or formulas per request for those with the same LaTeX.
_FILTERED = 2_000
_PAGE = 5_000
_FIELDS = ("latex", "features", "counts", "posts")


@dataclass(frozen=True)
class _Formula:
    """A distinct formula of a segment."""

    latex: str
    features: Hashes
    counts: NDArray[np.float32]
    posts: NDArray[np.int64]


class ClusterFormulas:
    """Retrieves posts by the formulas of questions, and formulas themselves."""

    heat_mapper = None

    def __init__(
        self, snapshot: Snapshot, name: str, settings: FormulaSettings, where: Filter | None
    ) -> None:
        self.snapshot, self.name, self.settings, self.where = snapshot, name, settings, where
        self.posts = snapshot.state.posts
        self.formula_finder = self

    def ask(self, questions: Sequence[Question]) -> list[ClusterFormulaReply]:
        """The replies to several questions."""
        return [ClusterFormulaReply(self, question) for question in questions]

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas of the collection most similar to a formula (ARQMath task 2)."""
        [found], _ = self.search([(latex, max(_FORMULAS_FETCHED, k))])
        index = _Index(self, found, {})
        return [
            FormulaMatch(index.numbers[match.number], match.asked, match.latex, match.score)
            for match in index.formulas(latex, k)
        ]

    def formulas_for(
        self, question: Question, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[FormulaMatch]:
        """The formulas most similar to the formula of a question."""
        return self.formulas(query_formula(question).latex, k)

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The numbers of the posts with a formula found by `formulas`, in order."""
        snapshot, models = self.snapshot, self.snapshot.cluster.models
        collection, what = snapshot.names.part(self.name), f"the part {self.name}"
        known = snapshot.fetch(collection, [formula], (KEY,), what)
        if formula not in known:
            return np.zeros(0, dtype=np.int64)
        same = models.MatchValue(value=known[formula].get(KEY))
        alike = snapshot.visible(None, models.FieldCondition(key=KEY, match=same))
        points, _ = snapshot.cluster.read(
            what,
            "scroll",
            collection,
            scroll_filter=alike,
            limit=_FILTERED,
            with_payload=list(_FIELDS),
        )
        lists = (_read(int(point.id), point.payload).posts for point in points)
        return np.array(_distinct(lists), dtype=np.int64)

    def search(self, asked: Sequence[tuple[str, int]]) -> tuple[list[dict[int, _Formula]], bool]:
        """The formulas that share the most features with each query, and whether these are all.

        Args:
            asked: Formulas in LaTeX, and the number wanted for each.
        """
        snapshot, models = self.snapshot, self.snapshot.cluster.models
        has_duplicate_formulas = snapshot.state.parts[self.name].has_duplicate_formulas
        # Of points with the same LaTeX, search for one only; `_points_with_keys` finds the others.
        counting = models.Range(lte=snapshot.state.version)
        first = (
            [models.FieldCondition(key=COUNTED, range=counting)] if has_duplicate_formulas else []
        )
        fields = [*_FIELDS, KEY] if has_duplicate_formulas else list(_FIELDS)
        requests = []
        for latex, limit in asked:
            counts = feature_counts(parse_once(latex), query=True)
            hashes = term_hashes(list(counts))
            weights = snapshot.rarity(self.name, hashes) * np.array(list(counts.values()))
            dimensions, values = sparse(hashes, np.sqrt(weights))
            requests.append(
                models.QueryRequest(
                    query=models.SparseVector(indices=dimensions, values=values),
                    using=self.name,
                    filter=snapshot.visible(None, *first),
                    limit=limit,
                    with_payload=fields,
                )
            )
        answers = snapshot.cluster.read(
            f"the part {self.name}",
            "query_batch_points",
            snapshot.names.part(self.name),
            requests,
        )
        found = [
            {int(point.id): _read(int(point.id), point.payload) for point in answer.points}
            for answer in answers
        ]
        is_all = all(len(one) < limit for one, (_, limit) in zip(found, asked, strict=True))
        if has_duplicate_formulas:
            keys = [
                {point.payload.get(KEY): int(point.id) for point in one.points} for one in answers
            ]
            alike = self._points_with_keys({key for own in keys for key in own})
            for one, own in zip(found, keys, strict=True):
                for key in own.keys() & alike.keys():
                    twin = one[own[key]]
                    one |= {
                        number: replace(twin, posts=posts)
                        for number, posts in alike[key].items()
                        if number not in one
                    }
        return found, is_all

    def _points_with_keys(self, keys: Collection[int]) -> dict[int, dict[int, NDArray[np.int64]]]:
        """The posts of all formulas with the given keys, by key and point number."""
        snapshot, models = self.snapshot, self.snapshot.cluster.models
        found: defaultdict[int, dict[int, NDArray[np.int64]]] = defaultdict(dict)
        ordered = sorted(keys)
        for start in range(0, len(ordered), _FILTERED):
            own = models.MatchAny(any=ordered[start : start + _FILTERED])
            alike = snapshot.visible(None, models.FieldCondition(key=KEY, match=own))
            offset: Any = None
            while True:
                check_time()
                points, offset = snapshot.cluster.read(
                    f"the part {self.name}",
                    "scroll",
                    snapshot.names.part(self.name),
                    scroll_filter=alike,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=[KEY, "posts"],
                )
                for point in points:
                    posts = unpack(point.payload.get("posts"), "uint32").astype(np.int64)
                    number = int(point.id)
                    found[point.payload[KEY]][number] = first_in_segment(number) + posts
                if offset is None:
                    break
        return found

    def fetch(self, numbers: Sequence[int]) -> dict[int, _Formula]:
        """Fetch formulas by their numbers."""
        names = self.snapshot.names
        found = self.snapshot.fetch(
            names.part(self.name), numbers, _FIELDS, f"the part {self.name}"
        )
        return {number: _read(number, payload) for number, payload in found.items()}

    def formulas_of_posts(
        self, posts: Sequence[int], where: Filter | None, *, visible: bool
    ) -> dict[int, NDArray[np.int64]]:
        """The formulas of the given posts; with ``visible`` only of posts that may be found."""
        snapshot, models = self.snapshot, self.snapshot.cluster.models
        field = f"{self.name}_formulas"
        found: dict[int, NDArray[np.int64]] = {}
        for start in range(0, len(posts), _FILTERED):
            batch = list(posts[start : start + _FILTERED])
            own = models.HasIdCondition(has_id=batch)
            allowed = snapshot.visible(where, own) if visible else models.Filter(must=[own])
            points, _ = snapshot.cluster.read(
                f"the part {self.name}",
                "scroll",
                snapshot.names.posts,
                scroll_filter=allowed,
                limit=len(batch),
                with_payload=[field],
            )
            for point in points:
                numbers = unpack((point.payload or {}).get(field), "uint32").astype(np.int64)
                found[int(point.id)] = first_in_segment(int(point.id)) + numbers
        return found


class ClusterFormulaReply:
    """Scores posts by their formulas for one question."""

    def __init__(self, finder: ClusterFormulas, question: Question) -> None:
        self._finder, self._question = finder, question
        self._formulas: dict[int, _Formula] = {}
        self._posts: dict[int, NDArray[np.int64]] = {}
        # Posts whose formulas were all fetched, not only those found.
        self._whole: set[int] = set()
        # The best posts, whose reasons will be requested.
        self._shown: list[int] = []
        self._is_complete = False
        self._has_searched = False
        self._inner: FormulaReply | None = None

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts, by the formulas most similar to those of the question."""
        self._search()
        if not self._formulas:
            return best(np.zeros(0, dtype=np.float32), 0)
        candidates = self._candidates(k + _EXTRA_CANDIDATES)
        self._load(candidates, list(candidates)[:_POSTS_COMPLETED])
        numbers = self._numbers
        found = self._reply.best(k)
        self._shown = numbers[found.numbers[:_SHOWN]].tolist()
        return Scored(numbers[found.numbers], found.scores)

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of given posts."""
        self._search()
        partial = [number for number in numbers.tolist() if number not in self._whole]
        if partial:
            missing = [number for number in partial if number not in self._posts]
            self._load(self._finder.formulas_of_posts(missing, None, visible=False), partial)
        if not self._formulas:
            return np.zeros(len(numbers), dtype=np.float32)
        return self._reply.scores(np.searchsorted(self._numbers, numbers))

    def reason(self, number: int, post: Post) -> Reason:
        """The best matching formulas of a post, with their substitutions."""
        self.scores(np.array([number]))
        if not self._formulas:
            return Reason("formulas", 0.0)
        # Even a formula without common features may be the one that is shown.
        own = _distinct(self._posts[post] for post in {number, *self._shown})
        missing = [one for one in own if one not in self._formulas]
        if missing:
            self._formulas |= self._finder.fetch(missing)
            self._inner = None
        return self._reply.reason(int(np.searchsorted(self._numbers, number)), post)

    def _search(self) -> None:
        """Fetch the formulas similar to those of the question."""
        if self._has_searched:
            return
        self._has_searched = True
        empty = FormulaReply(_Index(self._finder, {}, {}), self._question)
        asked = [(one.latex, one.kept) for one, _ in empty._searched_formulas]
        if asked:
            found, self._is_complete = self._finder.search(asked)
            for one in found:
                self._formulas |= one

    def _candidates(self, wanted: int) -> dict[int, NDArray[np.int64]]:
        """Visible posts with the best formulas; each with all its formulas."""
        numbers = np.array(sorted(self._formulas), dtype=np.int64)
        sizes = [len(self._formulas[number].posts) for number in numbers.tolist()]
        posts = np.concatenate([self._formulas[number].posts for number in numbers.tolist()])
        order = np.argsort(posts, kind="stable")
        listed = np.repeat(numbers, sizes)[order]
        distinct, starts = np.unique(posts[order], return_index=True)
        held = dict(zip(distinct.tolist(), np.split(listed, starts[1:]), strict=True))
        look = FormulaReply(_Index(self._finder, self._formulas, held), self._question)
        chosen: dict[int, NDArray[np.int64]] = {}
        done = 0
        # Formulas also list removed posts, so the first round may not give enough.
        for most in (wanted, len(distinct)):
            ranked = distinct[look.best(most).numbers]
            for start in range(done, len(ranked), _FILTERED):
                check_time()
                batch = ranked[start : start + _FILTERED].tolist()
                allowed = self._finder.formulas_of_posts(batch, self._finder.where, visible=True)
                chosen |= {number: allowed[number] for number in batch if number in allowed}
                if len(chosen) >= wanted:
                    return dict(list(chosen.items())[:wanted])
            done = len(ranked)
        return chosen

    def _load(self, posts: Mapping[int, NDArray[np.int64]], whole: Sequence[int]) -> None:
        """Add posts to the index in memory.

        Args:
            posts: The formulas of each post.
            whole: Posts whose formulas are all fetched, not only those found.
        """
        self._posts |= posts
        self._whole.update(whole)
        if not self._is_complete and self._formulas:
            own = _distinct(self._posts[number] for number in whole if number in self._posts)
            missing = [number for number in own if number not in self._formulas]
            self._formulas |= self._finder.fetch(missing)
        self._inner = None

    @property
    def _numbers(self) -> NDArray[np.int64]:
        return np.array(sorted(self._posts), dtype=np.int64)

    @property
    def _reply(self) -> FormulaReply:
        if self._inner is None:
            index = _Index(self._finder, self._formulas, self._posts)
            self._inner = FormulaReply(index, self._question)
        return self._inner


class _Index(FormulaRetriever):
    """An index of fetched formulas and posts, with the statistics of the whole collection.

    Formulas of any segments with the same LaTeX are merged.

    Attributes:
        numbers: The point numbers of the formulas; the first one of merged formulas.
    """

    def __init__(
        self,
        finder: ClusterFormulas,
        formulas: Mapping[int, _Formula],
        posts: Mapping[int, NDArray[np.int64]],
    ) -> None:
        self._finder, self.settings = finder, finder.settings
        everything = sorted(formulas)
        first: dict[str, int] = {}
        for number in everything:
            first.setdefault(formulas[number].latex, number)
        self.numbers = list(first.values())
        places = {latex: place for place, latex in enumerate(first)}
        ordered = [formulas[number] for number in self.numbers]
        none = np.zeros(0, dtype=np.uint64)
        features = np.concatenate([none, *(one.features for one in ordered)])
        counts = np.concatenate([none.astype(np.float32), *(one.counts for one in ordered)])
        owners = np.repeat(np.arange(len(ordered)), [len(one.features) for one in ordered])
        weights = finder.snapshot.rarity(finder.name, features) * counts
        masses = np.bincount(owners, weights, len(ordered)).astype(np.float32)
        postings = Postings.from_arrays(
            str(finder.snapshot.cluster.address),
            owners.astype(np.int32),
            features,
            counts,
            masses,
        )
        own = np.array([places[formulas[number].latex] for number in everything], dtype=np.int32)
        occurrences, starts = _occurrences(np.array(everything, dtype=np.int64), own, posts)
        segment = FormulaSegment.from_arrays(
            postings, [one.latex for one in ordered], masses, occurrences, starts
        )
        self.segments = [segment]
        self.numbering, self.distinct = Numbering([len(posts)]), Numbering([len(ordered)])
        self.posts = len(posts)

    def rarity(self, hashes: Hashes, ranges: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        """The weight of each feature in the whole collection."""
        return self._finder.snapshot.rarity(self._finder.name, hashes)


def _occurrences(
    formulas: NDArray[np.int64], places: NDArray[np.int32], posts: Mapping[int, NDArray[np.int64]]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The places of the formulas of all posts, concatenated, and the offset of each post.

    Args:
        formulas: The numbers of the known formulas, in ascending order.
        places: The place of each formula in the index.
        posts: The numbers of the formulas of each post.
    """
    owners = np.repeat(np.arange(len(posts)), [len(posts[number]) for number in sorted(posts)])
    none = np.zeros(0, dtype=np.int64)
    held = np.concatenate([none, *(posts[number] for number in sorted(posts))])
    rows = np.searchsorted(formulas, held)
    known = np.append(formulas, -1)[rows] == held
    starts = np.searchsorted(owners[known], np.arange(len(posts) + 1))
    return places[rows[known]], starts.astype(np.int64)


def _distinct(lists: Iterable[NDArray[np.int64]]) -> list[int]:
    found: list[int] = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *lists])).tolist()
    return found


def _read(number: int, payload: Mapping[str, Any] | None) -> _Formula:
    if payload is None or not isinstance(payload.get("latex"), str):
        raise damaged()
    features = unpack(payload.get("features"), "uint64")
    posts = unpack(payload.get("posts"), "uint32").astype(np.int64)
    counts = unpack_frequencies(payload.get("counts"), len(features))
    return _Formula(payload["latex"], features, counts, first_in_segment(number) + posts)
