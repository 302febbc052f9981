"""Search by formulas: an inverted index over structural features, then matching of the best.

Formulas that are written alike are stored once. A query formula is scored against all of them by
shared features, rare ones counting more; the best few are matched structurally, which also tells
what matched under which substitution. A post gets, for each formula of the query, the score of
its best formula; large query formulas count more than small ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.deadline import check_time
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.formulas.features import features, query_features
from mathsetu.formulas.matching import Match, Prepared, match
from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import Parsed, parse_once
from mathsetu.formulas.similarity import OPERATOR_FAMILIES, OPERATOR_WEIGHT, similarity
from mathsetu.intake.posts import PostFacts
from mathsetu.intake.question import Question
from mathsetu.records import Evidence, Reason
from mathsetu.retrieval.base import Scored, best, check_fields
from mathsetu.retrieval.mapped import Mapped, check_rising
from mathsetu.retrieval.postings import Postings, PostingsBuilder
from mathsetu.retrieval.segments import Numbering
from mathsetu.retrieval.texts import TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]


_WORTHWHILE = 4
_LAYOUT_WEIGHT = round(1 / OPERATOR_WEIGHT)
# Nodes of a query formula that are compared with others, over all formulas that it is matched with.
_MOST_NODES = 60_000


@dataclass(frozen=True)
class FormulaSearch:
    """The choices of a formula index.

    Attributes:
        fields: The fields of a post whose formulas count.
        matched: How many formulas are matched structurally for a query; several formulas of
            one query share them.
        asked: At most this many formulas of a query are searched for, the largest first.
    """

    fields: tuple[str, ...] = ("title", "body", "question")
    matched: int = 20
    asked: int = 6

    def __post_init__(self) -> None:
        check_fields(self.fields, ("title", "body", "question"))
        if self.matched < 0 or self.asked < 1:
            raise InputError("matched must be at least 0, and asked at least 1")


def feature_counts(parsed: Parsed, query: bool = False) -> Counter[str]:
    """The features of a formula and how much each counts, in whole numbers.

    Terms of the operator tree weigh half (`mathsetu.formulas.similarity`), so the others count
    double: only proportions matter, and small whole numbers make a small index.
    """
    counts = Counter((query_features if query else features)(parsed.slt, parsed.opt))
    for term in counts:
        if term[0] not in OPERATOR_FAMILIES:
            counts[term] *= _LAYOUT_WEIGHT
    return counts


class FormulaBuilder:
    """Builds one segment."""

    read = staticmethod(feature_counts)

    def __init__(self, choices: FormulaSearch) -> None:
        self._choices = choices
        #: Each distinct formula, and its place among them.
        self.wanted: dict[str, int] = {}
        # The places of formulas in the order in which they were read.
        self._order: list[int] = []
        self._postings = PostingsBuilder()
        self._occurrences: list[int] = []
        self._starts = [0]
        self.formula_reader = self

    def prepare(self, facts: PostFacts) -> list[str]:
        """The formulas of a post."""
        return facts.formulas(self._choices.fields)

    def add(self, prepared: list[str]) -> None:
        """Take the next post."""
        wanted = self.wanted
        self._occurrences += [wanted.setdefault(latex, len(wanted)) for latex in prepared]
        self._starts.append(len(self._occurrences))

    def take(self, latex: str, read: Counter[str]) -> None:
        """Take the next formula."""
        self._order.append(self.wanted[latex])
        self._postings.add(read)

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._postings.write(folder)
        distinct = list(self.wanted)
        write_texts(folder / "latex", [distinct[place] for place in self._order])
        numbers = np.argsort(np.array(self._order, dtype=np.int64)).astype(np.int32)
        np.save(folder / "occurrences.npy", numbers[self._occurrences])
        np.save(folder / "post_starts.npy", np.array(self._starts, dtype=np.int64))


class _Segment:
    """One segment, mapped into memory."""

    def __init__(self, folder: Path) -> None:
        self.postings = Postings(folder)
        self.latex = TextTable(folder / "latex")
        self._occurrences = Mapped(
            folder / "occurrences.npy", "int32", below=max(len(self.postings), 1)
        )
        self._starts_file = folder / "post_starts.npy"
        self._post_starts = Mapped(self._starts_file, "int64")
        if not len(self.latex) == len(self.postings) or not len(self._post_starts):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")

    @property
    def posts(self) -> int:
        return len(self._post_starts) - 1

    @cached_property
    def occurrences(self) -> NDArray[np.int32]:
        """The formulas of all posts, by number, one post after the other."""
        return self._occurrences.whole

    @cached_property
    def post_starts(self) -> NDArray[np.int64]:
        """Where the formulas of each post begin; one more at the end."""
        starts: NDArray[np.int64] = self._post_starts.whole
        check_rising(self._starts_file, starts, len(self._occurrences))
        return starts

    def best_of_posts(self, scores: Numbers) -> Numbers:
        """The best score among the formulas of each post; 0 where it has none."""
        result = np.zeros(self.posts, dtype=np.float32)
        filled = np.flatnonzero(np.diff(self.post_starts))
        if len(filled):
            result[filled] = np.maximum.reduceat(
                scores[self.occurrences], self.post_starts[:-1][filled]
            )
        return result


@dataclass(frozen=True)
class FormulaMatch:
    """One formula of the collection found for a query formula."""

    number: int
    asked: str
    latex: str
    score: float

    @property
    def match(self) -> Match:
        """How it matches; worked out when it is asked for."""
        return match_latex(self.asked, self.latex).match


class FormulaRetriever:
    """Answers questions by their formulas, and finds formulas themselves."""

    heat_mapper = None

    def __init__(self, folders: Sequence[Path], choices: FormulaSearch) -> None:
        self.choices = choices
        self.segments = [_Segment(folder) for folder in folders]
        self.numbering = Numbering(segment.posts for segment in self.segments)
        self.posts = len(self.numbering)
        #: The distinct formulas of each segment; one that stands in two segments is there twice.
        self.distinct = Numbering(len(segment.postings) for segment in self.segments)
        self.formula_finder = self

    def ask(self, questions: Sequence[Question]) -> list[FormulaReply]:
        """Ask several questions."""
        return [FormulaReply(self, question) for question in questions]

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas of the collection that are most like one formula (ARQMath task 2)."""
        ranked = best(_AskedFormula(self, parse_once(latex)).scores(self.choices.matched), k)
        return [
            FormulaMatch(number, latex, self.latex(number), score)
            for number, score in zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)
        ]

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The numbers of the posts that hold a formula of `formulas`, in order."""
        number, own = self.distinct.locate(formula)
        segment = self.segments[number]
        places = np.flatnonzero(segment.occurrences == own)
        posts = np.searchsorted(segment.post_starts, places, side="right") - 1
        return self.numbering.firsts[number] + np.unique(posts)

    def latex(self, formula: int) -> str:
        """A distinct formula as it is written."""
        segment, own = self.distinct.locate(formula)
        return self.segments[segment].latex[own]

    def rarity(self, terms: Sequence[str]) -> Numbers:
        """The weight of each feature: the fewer formulas have it, the heavier."""
        containing = sum(segment.postings.document_counts(terms) for segment in self.segments)
        return _rarity(np.asarray(containing), len(self.distinct))

    @cached_property
    def masses(self) -> Numbers:
        """The weight of all features of each distinct formula."""
        masses: list[NDArray[Any]] = [np.zeros(0)]
        for segment in self.segments:
            postings = segment.postings
            containing = sum(other.postings.counts_of(postings.terms) for other in self.segments)
            rarity = np.repeat(
                _rarity(np.asarray(containing), len(self.distinct)), np.diff(postings.starts)
            )
            masses.append(
                np.bincount(postings.documents, rarity * postings.frequencies, len(postings))
            )
        return np.concatenate(masses).astype(np.float32)


class FormulaReply:
    """What the formulas of posts say to one question."""

    def __init__(self, index: FormulaRetriever, question: Question) -> None:
        self._index, self._question = index, question

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts."""
        return best(self._post_scores, k, allowed)

    def scores(self, numbers: NDArray[np.int64]) -> Numbers:
        """The scores of given posts."""
        return self._post_scores[numbers]

    def reason(self, number: int) -> Reason:
        """The best matching formulas of a post, with their substitutions."""
        details: list[str] = []
        evidence: list[Evidence] = []
        score = 0.0
        for asked, weight, scores in self._found:
            found = self._best_in_post(scores, number)
            if found is not None:
                latex, likeness = found
                score += weight * likeness
                match = match_latex(asked.latex, latex).match
                if match.coverage > 0:
                    details.append(_in_words(asked.latex, latex, match))
                    evidence.append(Evidence("formula", asked.latex, latex))
        return Reason("formulas", score, "; ".join(details[:3]), tuple(evidence))

    def _best_in_post(self, scores: Numbers, number: int) -> tuple[str, float] | None:
        """The formula of a post that is most like a query formula, and how like it is."""
        place, own = self._index.numbering.locate(number)
        segment = self._index.segments[place]
        start, end = segment.post_starts[own], segment.post_starts[own + 1]
        candidates = np.unique(segment.occurrences[start:end])
        if not len(candidates):
            return None
        likeness = scores[self._index.distinct.firsts[place] + candidates]
        chosen = int(likeness.argmax())
        return segment.latex[int(candidates[chosen])], float(likeness[chosen])

    @cached_property
    def _found(self) -> list[tuple[_AskedFormula, float, Numbers]]:
        """The formulas searched for, what each counts, and its likeness to all of the collection.

        The largest ones are searched for, and those that are few get more matches each.
        """
        choices = self._index.choices
        asked = [_AskedFormula(self._index, parsed) for parsed in self._question.parsed.values()]
        asked = sorted(asked, key=lambda one: -one.mass)[: choices.asked]
        share = choices.matched // max(len(asked), 1)
        # Between counting all formulas alike and counting only the largest.
        weights = [one.mass**0.5 for one in asked]
        whole = sum(weights) or 1.0
        found = []
        for one, weight in zip(asked, weights, strict=True):
            check_time()
            # Too few matches to change an order are none.
            scores = one.scores(share if share >= _WORTHWHILE else 0)
            found.append((one, weight / whole, scores))
        return found

    @cached_property
    def _post_scores(self) -> Numbers:
        """For each post the mean over the query's formulas, weighted by their size."""
        total = np.zeros(self._index.posts, dtype=np.float32)
        for _, weight, scores in self._found:
            check_time()
            parts = [
                segment.best_of_posts(scores[first : first + len(segment.postings)])
                for segment, first in zip(
                    self._index.segments, self._index.distinct.firsts, strict=True
                )
            ]
            total += np.concatenate(parts) * np.float32(weight)
        return total


class _AskedFormula:
    """One formula that is searched for."""

    def __init__(self, index: FormulaRetriever, parsed: Parsed) -> None:
        self._index, self._parsed = index, parsed
        self.latex = parsed.latex
        self._counts = feature_counts(parsed, query=True)
        self._rarity = index.rarity(list(self._counts))
        #: The weight of all its features.
        self.mass = float(np.dot(self._rarity, list(self._counts.values())))

    def scores(self, matched: int) -> Numbers:
        """Its likeness to every formula of the collection, from 0 to 1.

        Args:
            matched: How many of them are matched structurally.
        """
        shared = np.concatenate([self._shared(segment) for segment in self._index.segments])
        scores = 2 * shared / np.maximum(self._index.masses + np.float32(self.mass), 1e-9)
        return self._with_structure(scores.astype(np.float32), matched)

    def _shared(self, segment: _Segment) -> Numbers:
        shared = np.zeros(len(segment.postings), dtype=np.float32)
        found = segment.postings.postings(list(self._counts))
        for (numbers, frequencies), count, weight in zip(
            found, self._counts.values(), self._rarity.tolist(), strict=True
        ):
            shared[numbers] += np.float32(weight) * np.minimum(frequencies, count)
        return shared

    def _with_structure(self, overlaps: Numbers, matched: int) -> Numbers:
        """Match the best few structurally and join both scores."""
        # Matching takes time in proportion to the formula's size: of a huge one, fewer are matched.
        matched = min(matched, _MOST_NODES // sum(1 for _ in self._parsed.opt.walk()))
        chosen = best(overlaps, matched) if matched else None
        if chosen is None or not len(chosen.numbers):
            return overlaps
        query = Prepared(self._parsed.opt)
        joined = np.array(
            [
                similarity(overlap, match(query, _prepared(self._index.latex(number))))
                for number, overlap in zip(
                    chosen.numbers.tolist(), chosen.scores.tolist(), strict=True
                )
            ],
            dtype=np.float32,
        )
        # The rest follows in its own order, below the least of those that were matched.
        scores = overlaps * (joined.min() / max(float(chosen.scores.min()), 1e-9))
        scores[chosen.numbers] = joined
        return np.asarray(scores, dtype=np.float32)


def _rarity(containing: NDArray[np.int64], total: int) -> Numbers:
    return np.asarray(np.log1p((total - containing + 0.5) / (containing + 0.5)), dtype=np.float32)


@lru_cache(maxsize=4096)
def _prepared(latex: str) -> Prepared:
    """A formula of the collection ready to be matched; good ones are found again and again."""
    return Prepared(parse_once(latex).opt)


def _in_words(asked: str, found: str, match: Match) -> str:
    renamed = [f"{ours} → {theirs}" for ours, theirs in match.substitution.items()
               if ours != theirs]  # fmt: skip
    under = f" ({', '.join(renamed[:4])})" if renamed else ""
    return f"${asked}$ ~ ${found}${under}"
