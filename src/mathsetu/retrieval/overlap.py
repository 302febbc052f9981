"""Search by the symbols of formulas: the two mathematical parts of the MIRaCLE paper.

All formulas of a post form one bag of symbols, and so do those of the query. ``tokens`` compares
the sets of operators, variables and symbols of their layout; ``nodes`` compares the nodes of their
operator trees, repeated ones counted. Both give the Jaccard similarity: the size of the
intersection divided by that of the union.

With ``numeric``, numbers are compared by value. The values of sub-formulas that can be evaluated
(`formulas/numeric.py`) are additional symbols: $(x+1)^2$ and $x^2+2x+1$ then share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mathsetu.errors import InputError
from mathsetu.formulas.numeric import (
    VALUE,
    labels_with_values,
    normalise_number_label,
    value_labels,
)
from mathsetu.formulas.tree import Tree
from mathsetu.intake.posts import PostFacts
from mathsetu.intake.question import Question
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import FORMULAS, Scored, WrittenSegment, best, one_by_one
from mathsetu.retrieval.postings import Postings, PostingsBuilder, merge_posts
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

#: Labels with how often each occurs.
Bag = dict[str, float]

#: How much of a formula is compared by its value.
NUMERIC = ("none", "numbers", "values")

# The most symbols that an explanation names.
_MAX_SYMBOLS = 12


@dataclass(frozen=True)
class OverlapSettings:
    """The settings of an overlap index.

    Attributes:
        of: ``tokens`` (sets of the symbols of layout trees) or ``nodes`` (of operator trees,
            repeated ones counted).
        numeric: ``none`` compares symbols as they are written; ``numbers`` compares numbers by
            value (0.5 is one half); ``values`` also adds the values of sub-formulas at sample
            points.
        fields: The fields of a post whose formulas count.
    """

    of: str = "tokens"
    numeric: str = "none"
    fields: tuple[str, ...] = ("title", "question", "body")

    def __post_init__(self) -> None:
        for name, known in (("of", ("tokens", "nodes")), ("numeric", NUMERIC)):
            if getattr(self, name) not in known:
                settings = ", ".join(map(repr, known))
                raise InputError(f"{name} is {getattr(self, name)!r} (known: {settings})")
        for field in self.fields:
            if field not in ("title", "body", "question"):
                raise InputError(f"fields: {field!r} is not title, body or question")


class Trees(Protocol):
    """A formula with both of its trees."""

    @property
    def slt(self) -> Tree:
        """Its layout."""
        ...

    @property
    def opt(self) -> Tree:
        """Its operators."""
        ...


def labels_of(parsed: Trees, of: str, numeric: str = "none") -> Bag:
    """The symbols of one formula.

    >>> from mathsetu.formulas import parse_latex
    >>> labels_of(parse_latex("x+x"), "nodes")
    {'U!plus': 1, 'V!x': 2}
    >>> labels_of(parse_latex("x+1/2"), "nodes", "numbers")
    {'U!plus': 1, 'V!x': 1, 'N!0.5': 1}
    """
    if numeric == "none":
        tree = parsed.slt if of == "tokens" else parsed.opt
        return dict(Counter(node.label for node in tree.walk()))
    if of == "tokens":
        labels = [normalise_number_label(node.label) for node in parsed.slt.walk()]
    else:
        labels = labels_with_values(parsed.opt)
    return dict(Counter(labels + value_labels(parsed.opt) if numeric == "values" else labels))


def together(bags: Iterable[Bag], of: str) -> Bag:
    """The symbols of several formulas, taken together.

    >>> together([{"V!x": 2, "+": 1}, {"V!x": 1, "N!2": 1}], "tokens")
    {'V!x': 1, '+': 1, 'N!2': 1}
    """
    bag: Counter[str] = Counter()
    for one in bags:
        bag.update(one)
    return dict.fromkeys(bag, 1) if of == "tokens" else dict(bag)


class OverlapBuilder:
    """Builds one segment."""

    kind = FORMULAS

    merges_on_disk = True

    def __init__(self, settings: OverlapSettings) -> None:
        self._settings = settings
        self._posts: list[list[str]] = []
        self._postings = PostingsBuilder()
        #: The symbols of each distinct formula, once it has been read.
        self.wanted: dict[str, Bag] = {}
        self.read = one_by_one(partial(labels_of, of=settings.of, numeric=settings.numeric))
        self.reader = self

    def prepare(self, facts: PostFacts) -> list[str]:
        """The formulas of a post."""
        return facts.formulas(self._settings.fields)

    def add(self, prepared: list[str]) -> None:
        """Add the next post."""
        self._posts.append(prepared)
        self.wanted |= {latex: {} for latex in prepared}

    def take(self, latex: str, read: Bag) -> None:
        """Store the symbols of a formula."""
        self.wanted[latex] = read

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        for formulas in self._posts:
            bags = (self.wanted[latex] for latex in formulas)
            self._postings.add(together(bags, self._settings.of))
        self._postings.write(folder)

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one."""
        merge_posts(sources, folder)


class OverlapRetriever:
    """Answers questions by the symbols of their formulas."""

    formula_finder = None
    heat_mapper = None

    def __init__(self, folders: Sequence[Path], settings: OverlapSettings) -> None:
        self.settings = settings
        self.segments = [Postings(folder) for folder in folders]
        self.numbering = Numbering(map(len, self.segments))
        self.posts = len(self.numbering)

    def ask(self, questions: Sequence[Question]) -> list[OverlapReply]:
        """Answer several questions."""
        return [OverlapReply(self, question) for question in questions]


class OverlapReply:
    """Scores posts for one question by the symbols of their formulas."""

    def __init__(self, index: OverlapRetriever, question: Question) -> None:
        self._index = index
        of, numeric = index.settings.of, index.settings.numeric
        read = (labels_of(one, of, numeric) for one in question.parsed.values())
        self._bag = together(read, of)

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The posts whose formulas overlap most."""
        return best(self._overlaps, k, allowed)

    def scores(self, numbers: NDArray[np.int64]) -> Numbers:
        """The overlaps of given posts."""
        return self._overlaps[numbers]

    def reason(self, number: int, post: Post) -> Reason:
        """The symbols that the formulas of the post share with those of the question."""
        segment, place = self._index.numbering.locate(number)
        found = self._index.segments[segment].postings(list(self._bag))
        shared = [
            label.rpartition("!")[2] or label
            for label, (documents, _) in zip(self._bag, found, strict=True)
            if place in documents and not label.startswith(VALUE)
        ]
        return Reason("symbols", float(self._overlaps[number]), " ".join(shared[:_MAX_SYMBOLS]))

    @cached_property
    def _overlaps(self) -> Numbers:
        """The overlap of every post; intersections are computed from each symbol's postings."""
        bag = self._bag
        asked = sum(bag.values())
        scores = [np.zeros(0, dtype=np.float32)]
        for segment in self._index.segments:
            shared = np.zeros(len(segment), dtype=np.float32)
            for count, (documents, counts) in zip(
                bag.values(), segment.postings(list(bag)), strict=True
            ):
                shared[documents] += np.minimum(counts, count)
            scores.append(shared / np.maximum(asked + segment.lengths - shared, 1))
        return np.concatenate(scores)
