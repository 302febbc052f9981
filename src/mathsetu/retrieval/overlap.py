"""Search by which symbols formulas have: the two mathematical parts of the MIRaCLE paper.

All formulas of a post count as one bag, and so do those of the query. ``tokens`` compares the sets
of operators, variables and symbols of their layout; ``nodes`` compares the nodes of their operator
trees, repeated ones counted. Both give the Jaccard similarity: what is shared, divided by what
there is in either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.formulas.parse import Parsed, parse_latex
from mathsetu.markup import split
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import Scored, best
from mathsetu.retrieval.postings import Postings, PostingsBuilder
from mathsetu.retrieval.question import Question
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

#: Labels with how often each occurs.
Bag = dict[str, float]

# Symbols that an explanation names.
_SHOWN = 12


@dataclass(frozen=True)
class Overlap:
    """The choices of an overlap index.

    Attributes:
        of: ``tokens`` (sets of the symbols of layout trees) or ``nodes`` (of operator trees,
            repeated ones counted).
        fields: The fields of a post whose formulas count.
    """

    of: str = "tokens"
    fields: tuple[str, ...] = ("title", "question", "body")

    def __post_init__(self) -> None:
        if self.of not in ("tokens", "nodes"):
            raise InputError(f"of is {self.of!r} (known: 'tokens', 'nodes')")
        for field in self.fields:
            if field not in ("title", "body", "question"):
                raise InputError(f"fields: {field!r} is not title, body or question")


def bag_of(formulas: Iterable[Parsed], of: str) -> Bag:
    """The symbols of formulas, taken together.

    >>> bag_of(map(parse_latex, ["x+x", "x^2"]), "tokens")
    {'V!x': 1, '+': 1, 'N!2': 1}
    >>> bag_of([parse_latex("x+x")], "nodes")
    {'U!plus': 1, 'V!x': 2}
    """
    bag: Counter[str] = Counter()
    for parsed in formulas:
        tree = parsed.slt if of == "tokens" else parsed.opt
        bag.update(node.label for node in tree.walk())
    return dict.fromkeys(bag, 1) if of == "tokens" else dict(bag)


class OverlapBuilder:
    """Builds one segment."""

    def __init__(self, choices: Overlap) -> None:
        self._choices = choices
        self._postings = PostingsBuilder()

    def prepare(self, post: Post) -> Bag:
        """The symbols of a post's formulas."""
        texts = (getattr(post, field) for field in self._choices.fields)
        spans = (span for text in texts for span in split(text))
        formulas = (span.content for span in spans if span.kind == "formula")
        return bag_of(map(parse_latex, formulas), self._choices.of)

    def add(self, prepared: Bag) -> None:
        """Take the next post."""
        self._postings.add(prepared)

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._postings.write(folder)


class OverlapRetriever:
    """Answers questions by the symbols of their formulas."""

    formula_finder = None
    heat_mapper = None

    def __init__(self, folders: Sequence[Path], choices: Overlap) -> None:
        self.choices = choices
        self.segments = [Postings(folder) for folder in folders]
        self.numbering = Numbering(map(len, self.segments))
        self.posts = len(self.numbering)

    def ask(self, questions: Sequence[Question]) -> list[OverlapReply]:
        """Ask several questions."""
        return [OverlapReply(self, question) for question in questions]


class OverlapReply:
    """What the symbols of posts say to one question."""

    def __init__(self, index: OverlapRetriever, question: Question) -> None:
        self._index = index
        self._bag = bag_of(question.parsed.values(), index.choices.of)

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The posts whose formulas overlap most."""
        return best(self._overlaps, k, allowed)

    def scores(self, numbers: NDArray[np.int64]) -> Numbers:
        """The overlaps of given posts."""
        return self._overlaps[numbers]

    def reason(self, number: int) -> Reason:
        """The symbols that the formulas of the post share with those of the question."""
        segment, place = self._index.numbering.locate(number)
        found = self._index.segments[segment].postings(list(self._bag))
        shared = [
            label.rpartition("!")[2] or label
            for label, (documents, _) in zip(self._bag, found, strict=True)
            if place in documents
        ]
        return Reason("symbols", float(self._overlaps[number]), " ".join(shared[:_SHOWN]))

    @cached_property
    def _overlaps(self) -> Numbers:
        """The overlap of every post: sizes of intersections from the postings of each symbol."""
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
