"""Formula search by vectors: each formula is encoded in context, in the graph of its post.

With a server, Qdrant compares the vectors, in the collection of formulas that
``mathsetu graph upload`` writes. Without one, this process compares them, in large batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.graphs.virtual import FORMULA
from mathsetu.intake.marked_text import MarkedText
from mathsetu.intake.posts import spelling
from mathsetu.intake.question import Question
from mathsetu.markup import Span
from mathsetu.records import Formula, Query
from mathsetu.retrieval.base import Best, FormulaMatch, Scored, best, query_formula
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.retrieval.graph_search import GraphRetriever
    from mathsetu.retrieval.qdrant_formulas import QdrantFormulas

    Vectors = NDArray[np.float32]

# Vectors compared at once.
_BATCH_SIZE = 1 << 15
# Each occurrence of a formula has its own vector. If every formula is wanted once, this many times
# more occurrences are retrieved.
_OCCURRENCES_PER_FORMULA = 8


class GraphFormulas:
    """Finds formulas of a graph index."""

    def __init__(self, index: GraphRetriever) -> None:
        self._index = index

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas most similar to one without context, each once however often it occurs."""
        question = Question(Query("", "", formulas=(Formula(latex, latex),)))
        found: dict[str, FormulaMatch] = {}
        for match in self.formulas_for(question, _OCCURRENCES_PER_FORMULA * k):
            found.setdefault(spelling(match.latex), match)
        return list(found.values())[:k]

    def formulas_for(
        self, question: Question, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[FormulaMatch]:
        """The formulas most similar to the one that a question asks for, encoded in its context."""
        asked = query_formula(question)
        vector = self._vector(question, asked)
        if vector is None:
            return []
        found = self._nearest(vector, k, allowed)
        matches = []
        for number, score in zip(found.numbers.tolist(), found.scores.tolist(), strict=True):
            segment, own = self._numbering.locate(number)
            texts = self._index.segments[segment]
            matches.append(
                FormulaMatch(number, asked.latex, texts.latex[own], score, texts.ids[own])
            )
        return matches

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The number of the post that contains a formula of `formulas`."""
        segment, own = self._numbering.locate(formula)
        first = self._index.maxsim.numbering.firsts[segment]
        return first + self._owners(segment, np.array([own]))

    def _vector(self, question: Question, asked: Formula) -> Vectors | None:
        """The vector of a formula in the question's text; without context if it is not there."""
        place = place_in(question, asked)
        if self._index.has_imported(question):
            encoded = self._index.encode(question).encoded
            row = _row_of(question, asked, place, encoded.formulas)
            if row is not None:
                own: Vectors = encoded.vectors[row]
                return own
        if place is None:
            raw = f"${asked.latex}$"
            alone = MarkedText(raw, [Span("formula", raw, asked.latex)])
            encoded, place = self._index.encode_text(alone, question.language).encoded, 0
        else:
            encoded = self._index.encode_text(question.marked, question.language).encoded
        is_formula = place < len(encoded.kinds) and encoded.kinds[place] == FORMULA
        return encoded.vectors[place] if is_formula else None

    def _nearest(self, vector: Vectors, k: int, allowed: NDArray[np.bool_] | None) -> Scored:
        if self._index.server:
            return self._on_server.nearest(vector, k, allowed)
        nearly = Best(k)
        firsts = self._index.maxsim.numbering.firsts
        for segment, collection in enumerate(self._index.maxsim.collections):
            places = self._places[segment]
            for start in range(0, len(places), _BATCH_SIZE):
                rows = collection.vectors(places[start : start + _BATCH_SIZE])
                scores = np.einsum("id,d->i", rows, vector)
                if allowed is not None:
                    own = np.arange(start, start + len(rows))
                    scores[~allowed[firsts[segment] + self._owners(segment, own)]] = 0
                nearly.add(self._numbering.firsts[segment] + start, best(scores, k))
        return nearly.result

    def _owners(self, segment: int, formulas: NDArray[np.int64]) -> NDArray[np.int64]:
        """The posts of a segment that contain given formulas of it."""
        starts = self._index.maxsim.collections[segment].layout.starts
        return np.searchsorted(starts, self._places[segment][formulas], side="right") - 1

    @cached_property
    def _numbering(self) -> Numbering:
        return Numbering(map(len, self._places))

    @cached_property
    def _places(self) -> list[NDArray[np.int64]]:
        """For each segment, which of its vectors are those of formulas."""
        return [np.flatnonzero(segment.kinds == FORMULA) for segment in self._index.segments]

    @cached_property
    def _on_server(self) -> QdrantFormulas:
        from mathsetu.retrieval.qdrant import QdrantServer
        from mathsetu.retrieval.qdrant_formulas import QdrantFormulas

        return QdrantFormulas(
            QdrantServer(self._index.server),
            [folder / "vectors" for folder in self._index.folders],
            self._numbering,
            self._index.maxsim.numbering,
            self._index.settings.strategy,
        )


def _row_of(
    question: Question, asked: Formula, place: int | None, names: Sequence[str]
) -> int | None:
    """The row of a formula in an imported graph, which names formulas as `mask_sentences` does."""
    written = [span for span in question.marked.spans if span.kind == "formula"]
    own = [] if place is None else [written[place].id or str(place)]
    return next((names.index(name) for name in (*own, asked.id) if name in names), None)


def place_in(question: Question, asked: Formula) -> int | None:
    """The place, among the formulas of a question's text, of the one that it asks for.

    This is the formula at the offset that the topic gives, else the first that is written the same.

    >>> topic = Question(Query("B.1", "Is $x$ or $y$, not $x$?", title="About $x$"))
    >>> place_in(topic, Formula("q_4", "x", where="question", start=19))
    3
    >>> place_in(topic, Formula("q_4", "y")), place_in(topic, Formula("q_4", "z"))
    (2, None)
    """
    spans = question.marked.spans
    starts = accumulate((len(span.raw) for span in spans), initial=0)
    written = [
        (start, spelling(span.content))
        for start, span in zip(starts, spans, strict=False)
        if span.kind == "formula"
    ]
    before = len(question.query.title) + 1 if question.query.title else 0
    start = asked.start + (before if asked.where == "question" else 0)
    wanted = spelling(asked.latex)
    if asked.start >= 0 and (start, wanted) in written:
        return written.index((start, wanted))
    alike = [place for place, (_, latex) in enumerate(written) if latex == wanted]
    return alike[0] if alike else None
