"""Converts a segment in a folder to the points of a cluster.

Sparse vectors only retrieve candidates; scores are computed from the payloads. So a dimension is
half of a term's hash: two terms that collide (about one in four hundred of ten million terms) may
add a wrong candidate, but never change a score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mathsetu.cluster.layout import (
    BIRTH,
    COLLECTION,
    COUNTED,
    FORMULA,
    ID,
    KEY,
    KIND,
    LANGUAGE,
    LEXICAL,
    MEANING,
    PARENT,
    POST,
    SEGMENT,
    TAGS,
    THREAD,
    passage_point,
    post_point,
)
from mathsetu.cluster.payloads import pack, pack_frequencies
from mathsetu.cluster.state import PartState
from mathsetu.cluster.tables import Table
from mathsetu.library.store import STORE, Row, Store
from mathsetu.recipes.parts import settings_of
from mathsetu.recipes.schema import Recipe
from mathsetu.retrieval.formula_index import FormulaSegment, rarity_of
from mathsetu.retrieval.meaning import MeaningSegment
from mathsetu.retrieval.postings import Postings, term_hash
from mathsetu.retrieval.weighting import Scheme, Statistics, make_scheme

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A point: its number, its vectors by name, and its payload.
Point = tuple[int, dict[str, Any], dict[str, Any]]
#: A sparse vector: its dimensions and its values.
Sparse = tuple[list[int], list[float]]

_HALF = np.uint64(0xFFFFFFFF)


def sparse(terms: NDArray[np.uint64], values: NDArray[Any]) -> Sparse:
    """Weighted terms as a sparse vector; the values of terms that share a dimension are summed.

    >>> sparse(np.array([5, 1, 2**32 + 1], dtype=np.uint64), np.array([0.5, 1, 2]))
    ([1, 5], [3.0, 0.5])
    """
    dimensions, back = np.unique(terms & _HALF, return_inverse=True)
    added = np.bincount(back, values, len(dimensions))
    return dimensions.tolist(), added.tolist()


class Weights(Protocol):
    """The statistics of a collection that weight its terms."""

    def collection(self, part: str) -> Statistics:
        """The number of documents of a part, and their average length."""
        ...

    def rarity(self, part: str, terms: NDArray[np.uint64]) -> NDArray[np.float32]:
        """The rarity (IDF) weights of features of formulas."""
        ...


class FolderWeights:
    """The statistics of segments that were built together."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def collection(self, part: str) -> Statistics:
        """The number of documents of a part, and their average length."""
        lengths = [Postings(folder / part).lengths for folder in self._folders]
        documents = sum(len(one) for one in lengths)
        length = sum(float(one.sum()) for one in lengths)
        return Statistics(documents, length / documents if documents else 1.0)

    def rarity(self, part: str, terms: NDArray[np.uint64]) -> NDArray[np.float32]:
        """The rarity (IDF) weights of features of formulas."""
        postings = [Postings(folder / part) for folder in self._folders]
        containing = sum(one.counts_of(terms) for one in postings)
        return rarity_of(np.asarray(containing), sum(map(len, postings)))


class Documents:
    """A forward index made from an inverted index: the terms of each document."""

    def __init__(self, postings: Postings) -> None:
        documents = postings.documents
        order = np.argsort(documents, kind="stable")
        self._terms = np.repeat(postings.terms, np.diff(postings.starts))[order]
        self._frequencies = postings.frequencies[order]
        self._ends = np.searchsorted(documents[order], np.arange(len(postings) + 1))

    def __getitem__(self, number: int) -> tuple[NDArray[np.uint64], NDArray[Any]]:
        start, end = self._ends[number : number + 2]
        return self._terms[start:end], self._frequencies[start:end]

    def terms_of(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The terms of some documents, concatenated."""
        pieces = [self[number][0] for number in numbers.tolist()]
        return np.concatenate([np.zeros(0, dtype=np.uint64), *pieces])


class _Words:
    """The word vectors of the posts of a segment."""

    def __init__(self, name: str, folder: Path, scheme: Scheme, collection: Statistics) -> None:
        self.name, self._scheme = name, scheme
        self._postings = Postings(folder)
        # Vectors use this average length; scores use the current one.
        self._collection = collection

    @cached_property
    def _documents(self) -> Documents:
        return Documents(self._postings)

    def prepare(self) -> None:
        """Make the forward index."""
        _ = self._documents

    def of_post(self, number: int) -> tuple[Sparse, dict[str, Any]]:
        """The vector of a post, and the payload from which its score is computed."""
        terms, frequencies = self._documents[number]
        length = self._postings.lengths[number : number + 1]
        own = frequencies.astype(np.float32)
        weights = self._scheme.impact(own, np.repeat(length, len(own)), self._collection)
        payload = {
            f"{self.name}_terms": pack(terms),
            f"{self.name}_counts": pack_frequencies(frequencies),
            f"{self.name}_length": float(length[0]),
        }
        return sparse(terms, weights), payload

    def counted(self, kept: NDArray[np.int64]) -> tuple[PartState, Table]:
        """The statistics of the given posts."""
        postings = self._postings
        if len(kept) == len(postings):
            table = Table(postings.terms, np.diff(postings.starts))
            return PartState(len(kept), float(postings.lengths.sum())), table
        length = float(postings.lengths[kept].sum())
        return PartState(len(kept), length), Table.counted(self._documents.terms_of(kept))


class _Formulas:
    """The distinct formulas of a segment."""

    def __init__(self, name: str, folder: Path, statistics: Weights) -> None:
        self.name = name
        self._segment = FormulaSegment(folder)
        self._statistics = statistics

    @cached_property
    def _documents(self) -> Documents:
        return Documents(self._segment.postings)

    @cached_property
    def _rarity(self) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        terms = self._segment.postings.terms
        return terms, self._statistics.rarity(self.name, terms)

    def prepare(self) -> None:
        """Make the forward index, and compute the weights of features."""
        _ = self._documents, self._rarity

    def of_post(self, number: int) -> dict[str, Any]:
        """The payload with the formulas of a post."""
        numbers = self._segment.formulas_of(number)
        return {f"{self.name}_formulas": pack(numbers.astype(np.uint32))}

    def formulas_of_posts(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the distinct formulas of the given posts."""
        return np.unique(self._segment.occurrences(kept)).astype(np.int64)

    def key(self, number: int) -> int:
        """A hash of the LaTeX of a formula."""
        return term_hash(self._segment.latex[number]) >> 1

    def point(self, number: int, is_kept: NDArray[np.bool_]) -> tuple[Sparse, dict[str, Any]]:
        """The vector of a formula, and the payload from which its score is computed."""
        terms, counts = self._documents[number]
        every, rarity = self._rarity
        weights = rarity[np.searchsorted(every, terms)] * counts.astype(np.float32)
        mass = max(float(weights.sum()), 1e-9)
        posts = self._segment.posts_with(number)
        payload = {
            KEY: self.key(number),
            "latex": self._segment.latex[number],
            "features": pack(terms),
            "counts": pack_frequencies(counts),
            "posts": pack(posts[is_kept[posts]].astype(np.uint32)),
        }
        return sparse(terms, np.sqrt(weights / mass)), payload

    def counted(self, own: NDArray[np.int64]) -> tuple[PartState, Table]:
        """The statistics of the given formulas."""
        postings = self._segment.postings
        if len(own) == len(postings):
            return PartState(len(own)), Table(postings.terms, np.diff(postings.starts))
        return PartState(len(own)), Table.counted(self._documents.terms_of(own))


class _Meaning:
    """The passages of a segment's posts."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._segment = MeaningSegment(folder)

    @property
    def dimensions(self) -> int:
        return self._segment.vectors.shape[1]

    def of_post(self, number: int) -> dict[str, Any]:
        """The payload with the passages of a post, from which its score is computed."""
        rows, counts = self._segment.passages(np.array([number]))
        return {
            f"{self.name}_vectors": pack(self._segment.vectors.at(rows)[rows]),
            f"{self.name}_scales": pack(self._segment.scales[rows]),
            f"{self.name}_passages": counts.tolist(),
        }

    def passages(self, number: int) -> NDArray[np.float32]:
        """The vectors of a post's passages."""
        rows, _ = self._segment.passages(np.array([number]))
        numbers = self._segment.vectors.at(rows)[rows].astype(np.float32)
        vectors: NDArray[np.float32] = numbers * self._segment.scales[rows][:, None]
        return vectors


class SegmentPoints:
    """The points of one segment.

    Args:
        folder: The folder of the segment.
        recipe: The recipe with the parts.
        weights: The statistics that weight the vectors of candidates.
        removed: The numbers of removed posts.
        segment: The number of the segment on the cluster.
        birth: The version of the library in which the segment appears.
    """

    def __init__(
        self,
        folder: Path,
        recipe: Recipe,
        weights: Weights,
        removed: Sequence[int],
        segment: int,
        birth: int,
    ) -> None:
        self._folder = folder
        # The arguments with which another process opens the segment.
        self._opened_by = (folder, recipe, weights, removed, segment, birth)
        self.segment, self._birth = segment, birth
        self._words: list[_Words] = []
        self._formulas: list[_Formulas] = []
        self._meaning: list[_Meaning] = []
        self._known: dict[str, set[int]] = {name: set() for name in recipe.parts}
        for name, settings in recipe.parts.items():
            if settings["kind"] == LEXICAL:
                scheme = make_scheme(settings_of(settings, f"parts.{name}").scheme)
                self._words.append(_Words(name, folder / name, scheme, weights.collection(name)))
            elif settings["kind"] == FORMULA:
                self._formulas.append(_Formulas(name, folder / name, weights))
            elif settings["kind"] == MEANING:
                self._meaning.append(_Meaning(name, folder / name))
        with closing(Store(folder / STORE)) as store:
            count = store.count
        self._is_kept = np.ones(count, dtype=bool)
        self._is_kept[np.array(removed, dtype=np.int64)] = False
        #: The numbers of the posts that are not removed.
        self.kept = np.flatnonzero(self._is_kept)

    def __reduce__(self) -> tuple[Any, ...]:
        return SegmentPoints, self._opened_by, {"_known": self._known}

    @property
    def dimensions(self) -> dict[str, int]:
        """The number of dimensions of each part with dense vectors."""
        return {part.name: part.dimensions for part in self._meaning}

    @property
    def formula_parts(self) -> list[str]:
        """The parts with a point for each formula."""
        return [part.name for part in self._formulas]

    @property
    def meaning_parts(self) -> list[str]:
        """The parts with a point for each passage."""
        return [part.name for part in self._meaning]

    def counted(self) -> dict[str, tuple[PartState, Table]]:
        """The statistics that the segment adds to each part."""
        found = {part.name: part.counted(self.kept) for part in self._words}
        for formulas in self._formulas:
            own = formulas.formulas_of_posts(self.kept)
            known = np.array(sorted(self._known[formulas.name]), dtype=np.int64)
            found[formulas.name] = formulas.counted(np.setdiff1d(own, known))
        return found

    def keys(self, name: str) -> dict[int, int]:
        """The keys (hashes of the LaTeX) of a part's formulas, by their numbers in the segment."""
        part = self._formula_part(name)
        return {number: part.key(number) for number in part.formulas_of_posts(self.kept).tolist()}

    def without(self, name: str, numbers: Sequence[int]) -> Table:
        """The table that subtracts the given formulas of a part from the statistics."""
        _, table = self._formula_part(name).counted(np.array(numbers, dtype=np.int64))
        return Table(table.terms, -table.counts)

    def mark_counted(self, name: str, numbers: Iterable[int]) -> None:
        """Exclude formulas from the statistics, because they are already counted."""
        self._known[name] = set(numbers)

    def languages(self) -> dict[str, int]:
        """The number of posts in each language."""
        with closing(Store(self._folder / STORE)) as store:
            removed = np.setdiff1d(np.arange(store.count), self.kept)
            return dict(sorted(Counter(store.languages(frozenset(removed.tolist()))).items()))

    def ids(self) -> list[str]:
        """The ids of the posts."""
        with closing(Store(self._folder / STORE)) as store:
            return list(store.ids(self.kept.tolist()).values())

    def post_numbers(self) -> list[int]:
        """The point numbers of the posts."""
        return [post_point(self.segment, number) for number in self.kept.tolist()]

    def prepare(self) -> None:
        """Load the data for points once, for all processes that are forked later."""
        for words in self._words:
            words.prepare()
        for formulas in self._formulas:
            formulas.prepare()

    def posts(self, points: Sequence[int]) -> Iterator[Point]:
        """The points of posts, given by point number."""
        first = post_point(self.segment, 0)
        numbers = [point - first for point in points]
        with closing(Store(self._folder / STORE)) as store:
            rows = list(store.rows(numbers))
        for point, number, row in zip(points, numbers, rows, strict=True):
            payload = self._facts(row)
            payload |= {ID: row.id, PARENT: row.parent_id, "record": row.record, "spans": row.spans}
            if row.kind:
                payload[KIND] = row.kind
            if row.threads == (row.thread_id,):
                payload[THREAD] = row.thread_id
            elif row.threads:
                payload[THREAD] = list(dict.fromkeys((row.thread_id, *row.threads)))
            vectors: dict[str, Any] = {}
            for part in self._words:
                vector, own = part.of_post(number)
                payload |= own
                if vector[0]:
                    vectors[part.name] = vector
            for formulas in self._formulas:
                payload |= formulas.of_post(number)
            for meaning in self._meaning:
                payload |= meaning.of_post(number)
            yield point, vectors, payload

    def formulas(self, name: str) -> tuple[list[int], Callable[[Sequence[int]], Iterator[Point]]]:
        """The point numbers of a part's formulas, and a function that makes their points."""
        first = post_point(self.segment, 0)
        numbers = self._formula_part(name).formulas_of_posts(self.kept)
        return (first + numbers).tolist(), partial(self._formula_points, name)

    def _formula_part(self, name: str) -> _Formulas:
        return next(part for part in self._formulas if part.name == name)

    def _formula_points(self, name: str, points: Sequence[int]) -> Iterator[Point]:
        first, part = post_point(self.segment, 0), self._formula_part(name)
        for point in points:
            vector, own = part.point(point - first, self._is_kept)
            vectors = {name: vector} if vector[0] else {}
            own |= {BIRTH: self._birth, SEGMENT: self.segment}
            if point - first not in self._known[name]:
                own[COUNTED] = self._birth
            yield point, vectors, own

    def passages(self, name: str) -> tuple[list[int], Callable[[Sequence[int]], Iterator[Point]]]:
        """The point numbers of posts, and a function that makes the points of their passages."""
        return self.post_numbers(), partial(self._passage_points, name)

    def _passage_points(self, name: str, posts: Sequence[int]) -> Iterator[Point]:
        [part] = [one for one in self._meaning if one.name == name]
        first = post_point(self.segment, 0)
        with closing(Store(self._folder / STORE)) as store:
            rows = list(store.rows([post - first for post in posts]))
        for post, row in zip(posts, rows, strict=True):
            payload = {**self._facts(row), POST: post}
            for place, vector in enumerate(part.passages(post - first)):
                yield passage_point(post, place), {name: vector.tolist()}, payload

    def _facts(self, row: Row) -> dict[str, Any]:
        return {
            LANGUAGE: row.language,
            TAGS: sorted(set(row.tags)),
            COLLECTION: row.collection,
            BIRTH: self._birth,
            SEGMENT: self.segment,
        }
