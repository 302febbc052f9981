"""The interface of a part of a search system: built from posts, and queried.

Inside the engine posts are numbered from 0 in the order in which they were added; the library
knows which number is which post. A retriever's index may consist of several segments (the first
build and later additions), which it sees as one collection.
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

#: What is read of a post.
Read = TypeVar("Read")
#: Fields of a post that retrievers read, with the weight of each.
Fields = dict[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """Numbers of posts with their scores, best first; ties go to the earlier post."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]


@dataclass(frozen=True)
class FormulaMatch:
    """One formula of the collection found for a query formula.

    ``id`` is that of one occurrence, where the index tells occurrences apart; else it is empty,
    and the match stands for all formulas that are written so.
    """

    number: int
    asked: str
    latex: str
    score: float
    id: str = ""

    @property
    def match(self) -> Match:
        """How it matches; worked out when it is asked for."""
        return match_latex(self.asked, self.latex).match


def check_fields(fields: Iterable[str], known: Sequence[str]) -> None:
    """Refuse fields that a part cannot read."""
    for name in fields:
        if name not in known:
            raise InputError(f"fields has {name!r} (known: {', '.join(known)})")


def check_weights(fields: Fields) -> None:
    """Refuse weights of fields that are no positive numbers."""
    for name, weight in fields.items():
        if not 0 < weight < float("inf"):
            raise InputError(f"fields.{name} must be a positive number, not {weight:g}")


@dataclass(frozen=True, eq=False)
class WrittenSegment:
    """A written segment that is merged with others.

    Attributes:
        folder: Where it is.
        kept: Which of its posts are taken over, by their numbers, in order.
        languages: Their languages.
    """

    folder: Path
    kept: NDArray[np.int64]
    languages: Sequence[str]


class Builder(Protocol):
    """Builds one segment of an index.

    `prepare` does the work that needs a processor, in whichever process; `add` takes its
    results in the order of the posts; then its `reader` reads what posts have in common; `write`
    ends the work. Segments are merged by `merge` instead.
    """

    @property
    def reader(self) -> DistinctReader | None:
        """Reads what posts have in common, where the index has to do with such things."""
        ...

    @property
    def merges_on_disk(self) -> bool:
        """Whether memory grows by no more than a few bytes a post or formula with what is merged.

        Segments are not merged into larger ones than a build writes where it does.
        """
        ...

    def prepare(self, facts: PostFacts) -> Any:
        """What the index needs of a post, ready to be sent between processes."""
        ...

    def add(self, prepared: Any) -> None:
        """Take the next post."""
        ...

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        ...

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Write the posts of other segments as one into a new folder; no text is read again."""
        ...


@dataclass(frozen=True, eq=False)
class Kind:
    """Things that many posts have in common, so that each distinct one is read once.

    Readers that have the same object as their kind share the things.

    Attributes:
        name: What they are called, in the plural.
        opened: What all who read such a thing need of it; worked out once for all of them.
        batch: How many are read together.
        order: What they are sorted by before, where that makes reading quicker.
        alone: Whether one process reads them all, because it has an accelerator for it.
    """

    name: str
    opened: Callable[[Any], Any]
    batch: int
    order: Callable[[Any], int] | None = None
    alone: bool = False


#: Formulas in LaTeX, which are parsed.
FORMULAS = Kind("formulas", parse_latex, batch=64)


class DistinctReader(Protocol):
    """Reads things of one kind, each distinct one once, after all posts were added."""

    @property
    def kind(self) -> Kind:
        """What is read. Things of the same kind are shared with other readers."""
        ...

    @property
    def read(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Gives what the index needs of opened things; called in whichever process."""
        ...

    @property
    def wanted(self) -> Collection[Any]:
        """The things to be read; they can be hashed."""
        ...

    def take(self, thing: Any, read: Any) -> None:
        """Take what was read of one thing; they come in any order."""
        ...


def one_by_one(read: Callable[[Any], Any]) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that reads one thing, as one that reads several; it can be pickled.

    >>> one_by_one(str.upper)(["a", "b"])
    ['A', 'B']
    """
    return partial(_each, read)


def _each(read: Callable[[Any], Any], things: Sequence[Any]) -> list[Any]:
    return [read(thing) for thing in things]


class Reply(Protocol):
    """What one part says to one question; it holds whatever was worked out for that question."""

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best ``k`` posts, among those allowed."""
        ...

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of given posts, found or not."""
        ...

    def reason(self, number: int, post: Post) -> Reason:
        """Why a post matches; only what is in the post is named.

        Args:
            number: Its number.
            post: The post, an answer with what its question says.
        """
        ...


@runtime_checkable
class Comparing(Protocol):
    """A reply that can also tell how near posts are to each other."""

    def means(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """What each of some posts is about: vectors of length one, whose products are cosines."""
        ...


class Retriever(Protocol):
    """Answers questions from the segments of an index."""

    @property
    def posts(self) -> int:
        """How many posts the index was built of."""
        ...

    @property
    def formula_finder(self) -> FormulaFinder | None:
        """Finds formulas instead of posts, where the index can."""
        ...

    @property
    def heat_mapper(self) -> HeatMapper | None:
        """Compares a question with one post in detail, where the index can."""
        ...

    def ask(self, questions: Sequence[Question]) -> Sequence[Reply]:
        """Ask several questions at once, which may be quicker than one by one."""
        ...


class FormulaFinder(Protocol):
    """Finds formulas of the collection (ARQMath task 2)."""

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas that are most like one formula."""
        ...

    def formulas_for(
        self, question: Question, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[FormulaMatch]:
        """The formulas that are most like the one that a question asks for.

        An index that knows formulas in their contexts reads the question around it, too, and finds
        those of allowed posts; for any other it is the same as `formulas`.
        """
        ...

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The numbers of the posts that hold a formula that was found, in order."""
        ...


def asked_formula(question: Question) -> Formula:
    """The formula that a question asks for: the one that it names, or its only one.

    >>> from mathsetu.records import Query
    >>> asked_formula(Question(Query("B.1", "Why is $x^2$ even?"))).latex
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
        # Everything that ties with the k-th stays, so that the order does not depend on chance.
        threshold = np.partition(found, len(found) - k)[len(found) - k]
        keep = found >= threshold
        numbers, found = numbers[keep], found[keep]
    order = np.argsort(-found, kind="stable")[:k]
    return Scored(numbers[order], found[order])


def among(numbers: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Scored:
    """The ``k`` best of some posts, whose numbers must rise.

    >>> among(np.array([3, 8]), np.array([1.0, 2.0], dtype=np.float32), 1).numbers.tolist()
    [8]
    """
    found = best(scores, k)
    return Scored(numbers[found.numbers], found.scores)


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each of some numbers once, in order: for thousands seven times as fast as `numpy.unique`.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    rising = np.sort(numbers)
    return np.asarray(rising[np.append(True, rising[1:] != rising[:-1])[: len(rising)]])


class KnownScores:
    """The exact scores of posts for which they were worked out: nobody works them out again.

    >>> known = KnownScores(np.array([3, 8]), np.array([1.0, 2.0], dtype=np.float32))
    >>> known.complete(np.array([8, 5]), lambda others: others.astype(np.float32)).tolist()
    [2.0, 5.0]
    """

    def __init__(self, numbers: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Remember the scores of posts, whose numbers must rise."""
        self._numbers, self._scores = np.append(numbers, -1), np.append(scores, np.float32(0))

    def complete(
        self,
        numbers: NDArray[np.int64],
        work_out: Callable[[NDArray[np.int64]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """The scores of posts: those that are known, and for the others what is worked out."""
        places = np.searchsorted(self._numbers[:-1], numbers)
        scores = self._scores[places]
        others = np.flatnonzero(self._numbers[places] != numbers)
        if len(others):
            scores[others] = work_out(numbers[others])
        return scores


class Recent(Generic[Read]):
    """What is read of posts, several at a time; the last that was read is not read again."""

    def __init__(self, reading: Callable[[list[int]], dict[int, Read]], most: int) -> None:
        self._reading = reading
        self._most = most
        self._known: dict[int, Read] = {}
        self._lock = Lock()

    def read(self, numbers: Iterable[int]) -> dict[int, Read]:
        """What is read of posts, by their numbers."""
        wanted = list(numbers)
        with self._lock:
            found = {number: self._known[number] for number in wanted if number in self._known}
        missing = [number for number in wanted if number not in found]
        if missing:
            read = self._reading(missing)
            found |= read
            with self._lock:
                self._known |= read
                # A dictionary keeps its order, so that the first ones were read first.
                for number in list(islice(self._known, max(0, len(self._known) - self._most))):
                    del self._known[number]
        return found

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._known.clear()


class Best:
    """The best of a collection whose segments are looked at one after the other.

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
        #: What was found so far.
        self.result = Scored(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    @property
    def floor(self) -> float:
        """What is not above this is not among the best: of equal ones the first count."""
        scores = self.result.scores
        return float(scores[-1]) if 0 < len(scores) == self.wanted else 0.0

    def add(self, first: int, found: Scored) -> None:
        """Take the best of the next segment, best first, whose first number is given."""
        if not len(self.result.numbers):
            self.result = Scored(first + found.numbers[: self.wanted], found.scores[: self.wanted])
        elif len(found.numbers):
            numbers = np.concatenate([self.result.numbers, first + found.numbers])
            scores = np.concatenate([self.result.scores, found.scores])
            order = np.argsort(-scores, kind="stable")[: self.wanted]
            self.result = Scored(numbers[order], scores[order])
