"""The interfaces of a part of a search system: how its index is built from posts, and queried.

Inside the engine, posts are numbered from 0 in the order in which they were added; the library
maps numbers to posts. A retriever's index may consist of several segments (the first build and
later additions), which it treats as one collection.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from mathsetu.errors import InputError
from mathsetu.formulas.matching import Match
from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_latex
from mathsetu.intake.posts import PostFacts
from mathsetu.intake.question import Question
from mathsetu.records import Formula, Post, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The type of a value that is read from a post.
Read = TypeVar("Read")
#: Fields of a post that retrievers read, with the weight of each.
Fields = dict[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """Post numbers with their scores, best first; ties go to the earlier post."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]


@dataclass(frozen=True)
class FormulaMatch:
    """One formula of the collection found for a query formula.

    ``id`` identifies one occurrence if the index distinguishes occurrences. Otherwise it is empty,
    and the match stands for all formulas with this LaTeX, and for those with the numbers ``alike``.
    """

    number: int
    asked: str
    latex: str
    score: float
    id: str = ""
    alike: tuple[int, ...] = ()

    @property
    def match(self) -> Match:
        """The structural match, computed on access."""
        return match_latex(self.asked, self.latex).match


def check_fields(fields: Iterable[str], known: Sequence[str]) -> None:
    """Raise `InputError` for a field that the part cannot read."""
    for name in fields:
        if name not in known:
            raise InputError(f"fields has {name!r} (known: {', '.join(known)})")


def check_weights(fields: Fields) -> None:
    """Raise `InputError` for a field weight that is not a positive number."""
    for name, weight in fields.items():
        if not 0 < weight < float("inf"):
            raise InputError(f"fields.{name} must be a positive number, not {weight:g}")


@dataclass(frozen=True, eq=False)
class WrittenSegment:
    """A segment on disk that is to be merged with others.

    Attributes:
        folder: Its folder.
        kept: The numbers of the posts to keep, in ascending order.
        languages: The languages of these posts.
    """

    folder: Path
    kept: NDArray[np.int64]
    languages: Sequence[str]


class Builder(Protocol):
    """Builds one segment of an index.

    `prepare` does the CPU-bound work and may run in any worker process. `add` takes its results in
    the order of the posts. Then the `reader` reads the items that posts share, and `write` writes
    the segment. `merge` combines existing segments instead.
    """

    @property
    def reader(self) -> DistinctReader | None:
        """Reads the items that posts share, such as formulas; None if the index has none."""
        ...

    @property
    def merges_on_disk(self) -> bool:
        """Whether merging needs only a few bytes of memory per post or formula.

        If not, segments are not merged into larger ones than a build writes.
        """
        ...

    def prepare(self, facts: PostFacts) -> Any:
        """Return what the index needs of a post; the result can be pickled."""
        ...

    def add(self, prepared: Any) -> None:
        """Add the next post, given the result of `prepare`."""
        ...

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        ...

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one in a new folder, without reading texts again."""
        ...


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of item that many posts share, so that each distinct item is read once.

    Readers with the same `Kind` object share the items.

    Attributes:
        name: The name of the items, in the plural.
        opened: Prepares an item for all of its readers; called once per item.
        batch: How many items are read together.
        order: The key by which items are sorted before, if that makes reading faster.
        alone: Whether a single process reads all items, because it has an accelerator.
    """

    name: str
    opened: Callable[[Any], Any]
    batch: int
    order: Callable[[Any], int] | None = None
    alone: bool = False


#: Formulas in LaTeX; each distinct one is parsed once.
FORMULAS = Kind("formulas", parse_latex, batch=64)


class DistinctReader(Protocol):
    """Reads items of one kind, each distinct item once, after all posts were added."""

    @property
    def kind(self) -> Kind:
        """The kind of the items, which are shared with other readers of the same kind."""
        ...

    @property
    def read(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Maps prepared items to what the index needs of them; runs in any worker process."""
        ...

    @property
    def wanted(self) -> Collection[Any]:
        """The items to read, which must be hashable."""
        ...

    def take(self, thing: Any, read: Any) -> None:
        """Store the result for one item; results arrive in any order."""
        ...


def one_by_one(read: Callable[[Any], Any]) -> Callable[[Sequence[Any]], list[Any]]:
    """Turn a function of one item into a function of several; the result can be pickled.

    >>> one_by_one(str.upper)(["a", "b"])
    ['A', 'B']
    """
    return partial(_each, read)


def _each(read: Callable[[Any], Any], things: Sequence[Any]) -> list[Any]:
    return [read(thing) for thing in things]


class Reply(Protocol):
    """The results of one part for one question; it caches what was computed for the question."""

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best ``k`` posts, among those allowed."""
        ...

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of given posts, whether or not `best` returned them."""
        ...

    def reason(self, number: int, post: Post) -> Reason:
        """Explain why a post matches; name only what occurs in the post.

        Args:
            number: The number of the post.
            post: The post; an answer includes the text of its question.
        """
        ...


@runtime_checkable
class ComparableReply(Protocol):
    """A reply that can also compare posts with each other."""

    def means(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """One unit vector for each post; the dot products of these vectors are cosines."""
        ...


class Retriever(Protocol):
    """Answers questions from the segments of an index."""

    @property
    def posts(self) -> int:
        """The number of posts in the index."""
        ...

    @property
    def formula_finder(self) -> FormulaFinder | None:
        """Finds formulas instead of posts; None if the index cannot."""
        ...

    @property
    def heat_mapper(self) -> HeatMapper | None:
        """Compares a question with one post in detail; None if the index cannot."""
        ...

    def ask(self, questions: Sequence[Question]) -> Sequence[Reply]:
        """Answer several questions at once, which may be faster than one by one."""
        ...


class FormulaFinder(Protocol):
    """Finds formulas of the collection (ARQMath task 2)."""

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas most similar to one formula."""
        ...

    def formulas_for(
        self, question: Question, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[FormulaMatch]:
        """The formulas most similar to the one that a question asks for.

        An index that encodes formulas in context also reads the text around the formula, and
        returns formulas of allowed posts only. Any other index does the same as `formulas`.
        """
        ...

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The numbers of the posts that contain a formula that was found, in ascending order."""
        ...


def query_formula(question: Question) -> Formula:
    """Return the formula to search for: the one that the question names, or its only one.

    >>> from mathsetu.records import Query
    >>> query_formula(Question(Query("B.1", "Why is $x^2$ even?"))).latex
    'x^2'
    """
    named = question.query.formulas
    if named:
        return named[0]
    if len(question.formulas) != 1:
        name = f"query {question.query.id}" if question.query.id else "the query"
        raise InputError(
            f"{name} has {len(question.formulas)} formulas; to search for formulas, give a query "
            "with exactly one formula, or a topic of ARQMath task 2"
        )
    return Formula(question.formulas[0], question.formulas[0])


class HeatMapper(Protocol):
    """Compares the parts of a question with those of a post."""

    def table(
        self, question: Question, number: int
    ) -> tuple[list[str], list[str], NDArray[np.float32]]:
        """The parts of a question, those of a post, and their cosines."""
        ...


def best(scores: NDArray[np.float32], k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
    """The ``k`` highest scores above zero; the same scores always give the same order.

    >>> best(np.array([0.0, 2.0, 3.0, 2.0], dtype=np.float32), 2).numbers.tolist()
    [2, 1]
    """
    wanted = scores > 0
    if allowed is not None:
        wanted &= allowed
    numbers = np.flatnonzero(wanted)
    found = scores[numbers]
    if len(numbers) > k:
        # Keep all ties with the k-th score, so that the result is deterministic.
        threshold = np.partition(found, len(found) - k)[len(found) - k]
        keep = found >= threshold
        numbers, found = numbers[keep], found[keep]
    order = np.argsort(-found, kind="stable")[:k]
    return Scored(numbers[order], found[order])


def among(numbers: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Scored:
    """Return the ``k`` best of given posts, whose numbers must be in ascending order.

    >>> among(np.array([3, 8]), np.array([1.0, 2.0], dtype=np.float32), 1).numbers.tolist()
    [8]
    """
    found = best(scores, k)
    return Scored(numbers[found.numbers], found.scores)


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct numbers in order; for thousands, 7 times as fast as `numpy.unique`.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    rising = np.sort(numbers)
    return np.asarray(rising[np.append(True, rising[1:] != rising[:-1])[: len(rising)]])


class KnownScores:
    """The exact scores already computed for some posts, so that they are not computed again.

    >>> known = KnownScores(np.array([3, 8]), np.array([1.0, 2.0], dtype=np.float32))
    >>> known.complete(np.array([8, 5]), lambda others: others.astype(np.float32)).tolist()
    [2.0, 5.0]
    """

    def __init__(self, numbers: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Store the scores of posts, whose numbers must be in ascending order."""
        self._numbers, self._scores = np.append(numbers, -1), np.append(scores, np.float32(0))

    def complete(
        self,
        numbers: NDArray[np.int64],
        compute: Callable[[NDArray[np.int64]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """Return the scores of posts; ``compute`` computes those that are not known."""
        places = np.searchsorted(self._numbers[:-1], numbers)
        scores = self._scores[places]
        others = np.flatnonzero(self._numbers[places] != numbers)
        if len(others):
            scores[others] = compute(numbers[others])
        return scores


class BoundedCache(Generic[Read]):
    """A bounded cache of values read from posts, several at a time; the oldest are dropped."""

    def __init__(self, reading: Callable[[list[int]], dict[int, Read]], most: int) -> None:
        self._reading = reading
        self._most = most
        self._known: dict[int, Read] = {}
        self._lock = Lock()

    def read(self, numbers: Iterable[int]) -> dict[int, Read]:
        """Return the values of posts, by their numbers."""
        wanted = list(numbers)
        with self._lock:
            found = {number: self._known[number] for number in wanted if number in self._known}
        missing = [number for number in wanted if number not in found]
        if missing:
            read = self._reading(missing)
            found |= read
            with self._lock:
                self._known |= read
                # A dictionary keeps insertion order, so the first entries are the oldest.
                for number in list(islice(self._known, max(0, len(self._known) - self._most))):
                    del self._known[number]
        return found

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._known.clear()


class Best:
    """The best results of a collection whose segments are searched one after the other.

    >>> nearly = Best(2)
    >>> nearly.add(0, Scored(np.array([4, 1]), np.array([3.0, 2.0], dtype=np.float32)))
    >>> nearly.floor
    2.0
    >>> nearly.add(10, Scored(np.array([0]), np.array([2.5], dtype=np.float32)))
    >>> nearly.result.numbers.tolist()
    [4, 10]
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        #: The best results so far.
        self.result = Scored(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    @property
    def floor(self) -> float:
        """Only scores above this can still be among the best; ties go to the earlier number."""
        scores = self.result.scores
        return float(scores[-1]) if 0 < len(scores) == self.wanted else 0.0

    def add(self, first: int, found: Scored) -> None:
        """Add the best of the next segment, best first; ``first`` is the segment's first number."""
        if not len(self.result.numbers):
            self.result = Scored(first + found.numbers[: self.wanted], found.scores[: self.wanted])
        elif len(found.numbers):
            numbers = np.concatenate([self.result.numbers, first + found.numbers])
            scores = np.concatenate([self.result.scores, found.scores])
            order = np.argsort(-scores, kind="stable")[: self.wanted]
            self.result = Scored(numbers[order], scores[order])
