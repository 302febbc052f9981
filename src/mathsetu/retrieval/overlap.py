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
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.formulas import parse_latex
from mathsetu.markup import split
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import Question, Scored, best
from mathsetu.retrieval.postings import Postings, PostingsBuilder

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


def bag_of(formulas: Iterable[str], of: str) -> Bag:
    """The symbols of formulas in LaTeX, taken together.

    >>> bag_of(["x+x", "x^2"], "tokens")
    {'V!x': 1, '+': 1, 'N!2': 1}
    >>> bag_of(["x+x"], "nodes")
    {'U!plus': 1, 'V!x': 2}
    """
    bag: Counter[str] = Counter()
    for latex in formulas:
        parsed = parse_latex(latex)
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
        return bag_of(formulas, self._choices.of)

    def add(self, prepared: Bag) -> None:
        """Take the next post."""
        self._postings.add(prepared)

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._postings.write(folder)


class OverlapRetriever:
    """Answers queries by the symbols of their formulas."""

    def __init__(self, folders: Sequence[Path], choices: Overlap) -> None:
        self._choices = choices
        self._segments = [Postings(folder) for folder in folders]
        self.posts = sum(map(len, self._segments))

    def retrieve(
        self, questions: Sequence[Question], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        """The best posts of each question."""
        return [best(self._scores(question), k, allowed) for question in questions]

    def score(self, question: Question, numbers: NDArray[np.int64]) -> Numbers:
        """The overlaps of given posts."""
        return self._scores(question)[numbers]

    def explain(self, question: Question, number: int) -> Reason:
        """The symbols that the formulas of the post share with those of the question."""
        bag = bag_of(question.formulas, self._choices.of)
        score = float(self.score(question, np.array([number]))[0])
        place = number
        for segment in self._segments:
            if place < len(segment):
                shared = [
                    label.rpartition("!")[2] or label
                    for label, (documents, _) in zip(bag, segment.postings(list(bag)), strict=True)
                    if place in documents
                ]
                return Reason("symbols", score, " ".join(shared[:_SHOWN]))
            place -= len(segment)
        raise IndexError(number)

    def _scores(self, question: Question) -> Numbers:
        """The overlap of every post: sizes of intersections from the postings of each symbol."""
        bag = bag_of(question.formulas, self._choices.of)
        asked = sum(bag.values())
        scores = []
        for segment in self._segments:
            shared = np.zeros(len(segment), dtype=np.float32)
            for count, (documents, counts) in zip(
                bag.values(), segment.postings(list(bag)), strict=True
            ):
                shared[documents] += np.minimum(counts, count)
            scores.append(shared / np.maximum(asked + segment.lengths - shared, 1))
        return np.concatenate(scores)
