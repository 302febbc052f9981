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
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.deadline import check_time
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.formulas.features import features, query_features
from mathsetu.formulas.matching import Match, Prepared, match
from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.similarity import OPERATOR_FAMILIES, OPERATOR_WEIGHT, similarity
from mathsetu.markup import split
from mathsetu.records import Evidence, Post, Reason
from mathsetu.retrieval.base import Question, Scored, best, check_fields
from mathsetu.retrieval.mapped import Mapped, check_rising
from mathsetu.retrieval.postings import Postings, PostingsBuilder
from mathsetu.retrieval.texts import TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]


_WORTHWHILE = 4
_LAYOUT_WEIGHT = round(1 / OPERATOR_WEIGHT)


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


def feature_counts(latex: str, query: bool = False) -> Counter[str]:
    """The features of a formula and how much each counts, in whole numbers.

    Terms of the operator tree weigh half (`mathsetu.formulas.similarity`), so the others count
    double: only proportions matter, and small whole numbers make a small index.
    """
    parsed = parse_latex(latex)
    counts = Counter((query_features if query else features)(parsed.slt, parsed.opt))
    for term in counts:
        if term[0] not in OPERATOR_FAMILIES:
            counts[term] *= _LAYOUT_WEIGHT
    return counts


class FormulaBuilder:
    """Builds one segment."""

    def __init__(self, choices: FormulaSearch) -> None:
        self._choices = choices
        self._prepared: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._postings = PostingsBuilder()
        self._occurrences: list[int] = []
        self._starts = [0]

    def prepare(self, post: Post) -> list[tuple[str, Counter[str] | None]]:
        """The formulas of a post; features only with the first sight of each in this process."""
        prepared: list[tuple[str, Counter[str] | None]] = []
        for latex in post_formulas(post, self._choices.fields):
            seen = latex in self._prepared
            self._prepared.add(latex)
            prepared.append((latex, None if seen else feature_counts(latex)))
        return prepared

    def add(self, prepared: list[tuple[str, Counter[str] | None]]) -> None:
        """Take the next post."""
        for latex, counts in prepared:
            number = self._numbers.get(latex)
            if number is None:
                # Results come in the order of the posts, so a first sight comes with features.
                assert counts is not None
                number = self._numbers[latex] = len(self._numbers)
                self._postings.add(counts)
            self._occurrences.append(number)
        self._starts.append(len(self._occurrences))

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._postings.write(folder)
        write_texts(folder / "latex", self._numbers)
        np.save(folder / "occurrences.npy", np.array(self._occurrences, dtype=np.int32))
        np.save(folder / "post_starts.npy", np.array(self._starts, dtype=np.int64))


def post_formulas(post: Post, names: Sequence[str]) -> list[str]:
    """The formulas in the given fields of a post, in order.

    >>> post_formulas(Post(id="1", title="On $x$", body="and $y$, $x$"), ("title", "body"))
    ['x', 'y', 'x']
    """
    spans = (span for name in names for span in split(getattr(post, name)))
    return [span.content for span in spans if span.kind == "formula"]


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
    """Answers queries by their formulas."""

    def __init__(self, folders: Sequence[Path], choices: FormulaSearch) -> None:
        self._choices = choices
        self._segments = [_Segment(folder) for folder in folders]
        self._total = sum(len(segment.postings) for segment in self._segments)
        self.posts = sum(segment.posts for segment in self._segments)
        self._scores_of = lru_cache(maxsize=256)(self._score_formulas)
        self._mass = lru_cache(maxsize=4096)(self._weigh)

    def retrieve(
        self, questions: Sequence[Question], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        """The best posts of each question."""
        return [best(self._post_scores(question), k, allowed) for question in questions]

    def score(self, question: Question, numbers: NDArray[np.int64]) -> Numbers:
        """The scores of given posts."""
        return self._post_scores(question)[numbers]

    def explain(self, question: Question, number: int) -> Reason:
        """The best matching formulas of a post, with their substitutions."""
        details: list[str] = []
        evidence: list[Evidence] = []
        score = 0.0
        for latex, weight, matched in self._shares(question):
            found = self._match_in_post(latex, number, matched)
            if found is not None:
                score += weight * found.score
                if found.match.coverage > 0:
                    details.append(_in_words(latex, found))
                    evidence.append(Evidence("formula", latex, found.latex))
        return Reason("formulas", score, "; ".join(details[:3]), tuple(evidence))

    def _match_in_post(self, latex: str, number: int, matched: int) -> FormulaMatch | None:
        """The formula of a post that is most like a query formula, and how it matches."""
        segment, place = self._locate(number)
        start, end = segment.post_starts[place], segment.post_starts[place + 1]
        candidates = np.unique(segment.occurrences[start:end])
        if not len(candidates):
            return None
        offset = sum(
            len(other.postings) for other in self._segments[: self._segments.index(segment)]
        )
        scores = self._scores_of(latex, matched)[offset + candidates]
        chosen = int(candidates[int(scores.argmax())])
        written = segment.latex[chosen]
        return FormulaMatch(offset + chosen, latex, written, float(scores.max()))

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas of the collection that are most like one formula (ARQMath task 2)."""
        scores = self._scores_of(latex, self._choices.matched)
        ranked = best(scores, k)
        return [
            FormulaMatch(number, latex, self._latex(number), score)
            for number, score in zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)
        ]

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The numbers of the posts that hold a formula of `formulas`, in order."""
        first = 0
        for segment in self._segments:
            if formula < len(segment.postings):
                places = np.flatnonzero(segment.occurrences == formula)
                posts = np.searchsorted(segment.post_starts, places, side="right") - 1
                return first + np.unique(posts)
            formula -= len(segment.postings)
            first += segment.posts
        raise IndexError(formula)

    def _asked(self, question: Question) -> list[str]:
        """The formulas searched for: the largest ones."""
        by_size = sorted(question.formulas, key=lambda latex: -self._mass(latex))
        return by_size[: self._choices.asked]

    def _post_scores(self, question: Question) -> Numbers:
        """For each post the mean over the query's formulas, weighted by their size."""
        total = np.zeros(self.posts, dtype=np.float32)
        for latex, weight, matched in self._shares(question):
            check_time()
            scores = self._scores_of(latex, matched)
            parts, offset = [], 0
            for segment in self._segments:
                size = len(segment.postings)
                parts.append(segment.best_of_posts(scores[offset : offset + size]))
                offset += size
            total += np.concatenate(parts) * np.float32(weight)
        return total

    def _shares(self, question: Question) -> list[tuple[str, float, int]]:
        """The formulas of a question, what each counts, and how many matches it gets."""
        asked = self._asked(question)
        # Between counting all formulas alike and counting only the largest.
        weights = [self._mass(latex) ** 0.5 for latex in asked]
        whole = sum(weights)
        return [
            (latex, weight / whole if whole else 0.0, self._share(asked))
            for latex, weight in zip(asked, weights, strict=True)
        ]

    def _share(self, asked: list[str]) -> int:
        """How many matches each formula of a query gets; too few to change an order are none."""
        share = self._choices.matched // max(len(asked), 1)
        return share if share >= _WORTHWHILE else 0

    def _weigh(self, latex: str) -> float:
        """The weight of all features of a formula."""
        counts = _features(latex)
        return float(np.dot(self._rarity(counts), list(counts.values())))

    def _rarity(self, counts: Counter[str]) -> Numbers:
        """The weight of each feature: the fewer formulas have it, the heavier."""
        terms = list(counts)
        containing = sum(segment.postings.document_counts(terms) for segment in self._segments)
        return _rarity(np.asarray(containing), self._total)

    def _score_formulas(self, latex: str, matched: int) -> Numbers:
        """The likeness of a formula to every formula of the collection, from 0 to 1."""
        counts = _features(latex)
        rarity = self._rarity(counts)
        mass = float(np.dot(rarity, list(counts.values())))
        shared = np.concatenate(
            [self._shared(segment, counts, rarity) for segment in self._segments]
        )
        scores = 2 * shared / np.maximum(self._masses + np.float32(mass), 1e-9)
        return self._with_structure(latex, scores.astype(np.float32), matched)

    def _shared(self, segment: _Segment, counts: Counter[str], rarity: Numbers) -> Numbers:
        shared = np.zeros(len(segment.postings), dtype=np.float32)
        found = segment.postings.postings(list(counts))
        for (numbers, frequencies), count, weight in zip(
            found, counts.values(), rarity.tolist(), strict=True
        ):
            shared[numbers] += np.float32(weight) * np.minimum(frequencies, count)
        return shared

    def _with_structure(self, latex: str, overlaps: Numbers, matched: int) -> Numbers:
        """Match the best few structurally and join both scores."""
        chosen = best(overlaps, matched) if matched else None
        if chosen is None or not len(chosen.numbers):
            return overlaps
        query = Prepared(parse_latex(latex).opt)
        joined = np.array(
            [
                similarity(overlap, match(query, _tree(self._latex(number))))
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

    @cached_property
    def _masses(self) -> Numbers:
        """The weight of all features of each formula."""
        masses = []
        for segment in self._segments:
            postings = segment.postings
            containing = sum(other.postings.counts_of(postings.terms) for other in self._segments)
            rarity = np.repeat(
                _rarity(np.asarray(containing), self._total), np.diff(postings.starts)
            )
            masses.append(
                np.bincount(postings.documents, rarity * postings.frequencies, len(postings))
            )
        return np.concatenate(masses).astype(np.float32)

    def _latex(self, number: int) -> str:
        for segment in self._segments:
            if number < len(segment.postings):
                return segment.latex[number]
            number -= len(segment.postings)
        raise IndexError(number)

    def _locate(self, number: int) -> tuple[_Segment, int]:
        for segment in self._segments:
            if number < segment.posts:
                return segment, number
            number -= segment.posts
        raise IndexError(number)


def _rarity(containing: NDArray[np.int64], total: int) -> Numbers:
    return np.asarray(np.log1p((total - containing + 0.5) / (containing + 0.5)), dtype=np.float32)


@lru_cache(maxsize=1024)
def _features(latex: str) -> Counter[str]:
    return feature_counts(latex, query=True)


@lru_cache(maxsize=4096)
def _tree(latex: str) -> Prepared:
    return Prepared(parse_latex(latex).opt)


def _in_words(latex: str, found: FormulaMatch) -> str:
    renamed = [f"{ours} → {theirs}" for ours, theirs in found.match.substitution.items()
               if ours != theirs]  # fmt: skip
    under = f" ({', '.join(renamed[:4])})" if renamed else ""
    return f"${latex}$ ~ ${found.latex}${under}"
