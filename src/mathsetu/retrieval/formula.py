"""Search by formulas: an inverted index over structural features, then matching of the best.

A query formula is compared with all formulas by shared features, where rare features weigh more.
The best few candidates are matched structurally, which also gives the matched parts and the
substitution. For each query formula, a post gets the score of its best formula; large query
formulas weigh more than small ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.deadline import check_time
from mathsetu.formulas.exact import most_exact
from mathsetu.formulas.labels import is_wildcard
from mathsetu.formulas.matching import Match, PreparedFormula, match
from mathsetu.formulas.pairs import MatchedPair, match_latex
from mathsetu.formulas.parse import Parsed, parse_once
from mathsetu.formulas.part_latex import part_text
from mathsetu.formulas.similarity import (
    MIN_BONUS_NODES,
    is_distinctive,
    pattern_similarity,
    similarity,
)
from mathsetu.intake.question import Question
from mathsetu.markup import formula_in_markdown
from mathsetu.records import Evidence, Post, Reason
from mathsetu.retrieval import kernels
from mathsetu.retrieval.base import (
    Best,
    FormulaMatch,
    KnownScores,
    Scored,
    among,
    best,
    query_formula,
)
from mathsetu.retrieval.formula_index import (
    FormulaSegment,
    FormulaSettings,
    feature_counts,
    masses_of,
    rarity_of,
)
from mathsetu.retrieval.postings import reading, term_hashes
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]


_WORTHWHILE = 4
# A pattern is matched with this many times more candidates: features do not cover its wildcards.
_PATTERN_FACTOR = 8
# Candidates that are matched with a small query formula that names a function, which takes little
# time: by its features $\tan x$ is nearer to $x$ alone than to a formula with $\tan\alpha$. The
# similarity of a candidate without the function is multiplied by the second number.
_MATCHED_SMALL, _WITHOUT_FUNCTION = 200, 0.25
# A formula of at least this many nodes is rarely part of another by chance, whatever its letters.
_LARGE_FORMULA = 8
# Candidates for one query formula; it finds only posts that contain one of them.
_CANDIDATES = 2_000
# Up to this many formulas, masses are recomputed when a library of several segments is opened.
_FEW_FORMULAS = 300_000
# Several formulas of a query share twice as many candidates, but each has at least this many.
_MIN_CANDIDATES = 1_000
# The similarity assumed for formulas that are not candidates, as a share of the lowest candidate's;
# and the number of posts that are then scored exactly.
_UNSEEN_SHARE, _RESCORED = 0.5, 100
# The most nodes of a query formula that are matched, summed over all of its candidates.
_MAX_NODES = 60_000
# Renamed letters and wildcards in a reason.
_MAX_SYMBOLS = 4


class FormulaRetriever:
    """Answers questions by their formulas, and finds formulas themselves."""

    heat_mapper = None

    def __init__(self, folders: Sequence[Path], settings: FormulaSettings) -> None:
        self.settings = settings
        self.segments = [FormulaSegment(folder) for folder in folders]
        self.numbering = Numbering(segment.posts for segment in self.segments)
        self.posts = len(self.numbering)
        #: The distinct formulas of each segment; a formula of two segments is counted twice.
        self.distinct = Numbering(map(len, self.segments))
        self.formula_finder = self

    def ask(self, questions: Sequence[Question]) -> list[FormulaReply]:
        """Answer several questions."""
        return [FormulaReply(self, question) for question in questions]

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas of the collection most similar to one formula (ARQMath task 2)."""
        matched = self.settings.matched
        asked = _QueryFormula(self, parse_once(latex), matched, max(matched, k))
        ranked = asked.best(k)
        return [
            FormulaMatch(number, latex, self.latex(number), min(score, 1.0))  # rounding
            for number, score in zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)
        ]

    def formulas_for(
        self, question: Question, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[FormulaMatch]:
        """The formulas most similar to the one that a question asks for, whatever its context.

        Formulas with the same LaTeX are one result, so ``allowed`` is ignored here; the caller
        filters their posts.
        """
        return self.formulas(query_formula(question).latex, k)

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The numbers of the posts that contain a formula of `formulas`, in ascending order."""
        number, own = self.distinct.locate(formula)
        return self.numbering.firsts[number] + self.segments[number].posts_with(own)

    def latex(self, formula: int) -> str:
        """The LaTeX of a distinct formula."""
        segment, own = self.distinct.locate(formula)
        return self.segments[segment].latex[own]

    def rarity(self, hashes: NDArray[np.uint64], ranges: Sequence[NDArray[np.int64]]) -> Numbers:
        """The weights of features: the fewer formulas have a feature, the larger its weight.

        Args:
            hashes: The hashes of the features.
            ranges: The ranges of their postings in each segment.
        """
        containing = sum((np.diff(one)[:, 0] for one in ranges), np.zeros(len(hashes), np.int64))
        return rarity_of(containing, len(self.distinct))

    @cached_property
    def masses(self) -> list[Numbers]:
        """For each segment, the total feature weight (mass) of each distinct formula."""
        # The stored masses are exact for segments that were built together. Later additions change
        # the rarity of features a little, so masses are recomputed where that is cheap.
        if len(self.segments) == 1 or len(self.distinct) > _FEW_FORMULAS:
            return [segment.masses for segment in self.segments]
        return list(masses_of([segment.postings for segment in self.segments]))

    @cached_property
    def mass_bounds(self) -> list[Numbers]:
        """For each segment, the smallest and the largest mass in each block of formulas."""
        return [kernels.mass_bounds(masses) for masses in self.masses]


class FormulaReply:
    """Scores posts for one question by their formulas."""

    def __init__(self, index: FormulaRetriever, question: Question) -> None:
        self._index, self._question = index, question
        # The exact scores of the posts that `best` has scored.
        self._known = KnownScores(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts, by their formulas most similar to those of the question."""
        if not self._searched_formulas:
            return best(np.zeros(0, dtype=np.float32), 0)
        weights = [weight for _, weight in self._searched_formulas]
        nearly = Best(max(k, _RESCORED))
        for number, segment in enumerate(self._index.segments):
            check_time()
            first = self._index.numbering.firsts[number]
            found = [asked.candidates_above_unseen(number) for asked, _ in self._searched_formulas]
            may = None if allowed is None else allowed[first : first + segment.posts]
            nearly.add(first, segment.best_posts(found, weights, nearly.wanted, may, nearly.floor))
        unseen = sum(asked.unseen * weight for asked, weight in self._searched_formulas)
        numbers, scores = nearly.result.numbers, nearly.result.scores + np.float32(unseen)
        likely = np.sort(numbers[:_RESCORED])
        self._known = KnownScores(likely, self._compute(likely))
        scores[:_RESCORED] = self.scores(numbers[:_RESCORED])
        order = np.argsort(numbers)
        return among(numbers[order], scores[order], k)

    def scores(self, numbers: NDArray[np.int64]) -> Numbers:
        """The scores of given posts: the mean over the query's formulas, weighted by their size."""
        return self._known.complete(numbers, self._compute)

    def _compute(self, numbers: NDArray[np.int64]) -> Numbers:
        scores = np.zeros(len(numbers), dtype=np.float32)
        for segment, places, own in self._index.numbering.by_segment(numbers):
            scores[places] = self._scores_in(segment, own)
        return scores

    def _scores_in(self, number: int, posts: NDArray[np.int64]) -> Numbers:
        """The scores of posts of a segment."""
        segment = self._index.segments[number]
        formulas, counts = segment.occurrences(posts).astype(np.int64), segment.counts(posts)
        total = np.zeros(len(posts), dtype=np.float32)
        for asked, weight in self._searched_formulas:
            check_time()
            total += _best_of_each(asked.likeness(number, formulas, counts), counts) * weight
        return total

    def reason(self, number: int, post: Post) -> Reason:
        """The best matching formulas of a post, with their substitutions.

        A formula that contains a query formula as written is preferred to others; the score is
        that of the most similar formula (see `scores`).
        """
        details: list[str] = []
        evidence: list[Evidence] = []
        score = 0.0
        place, own = self._index.numbering.locate(number)
        segment = self._index.segments[place]
        formulas = segment.formulas_of(own)
        if not len(formulas):
            return Reason("formulas", score)
        for asked, weight in self._searched_formulas:
            likeness = asked.likeness(place, formulas, np.array([len(formulas)]))
            chosen = int(likeness.argmax())
            score += weight * float(likeness[chosen])
            # Prefer a formula that contains the whole query formula, whatever else it contains:
            # among small formulas, one that shares only most of it may have a higher score.
            _, latex = most_exact(asked.latex, (segment.latex[int(one)] for one in formulas))
            latex = latex or segment.latex[int(formulas[chosen])]
            pair = match_latex(asked.latex, latex)
            if pair.match.coverage > 0:
                details.append(_in_words(pair))
                evidence.append(Evidence("formula", asked.latex, latex))
        return Reason("formulas", score, "; ".join(details[:3]), tuple(evidence))

    def holds_all(self, number: int) -> bool:
        """Whether a post contains every larger formula of the question whole, perhaps renamed.

        Small formulas are ignored, because many unrelated posts contain them.
        """
        place, own = self._index.numbering.locate(number)
        formulas = self._index.segments[place].formulas_of(own)
        larger = [asked for asked, _ in self._searched_formulas if asked.is_larger]
        return bool(larger) and all(asked.is_held(place, formulas) for asked in larger)

    @cached_property
    def _searched_formulas(self) -> list[tuple[_QueryFormula, float]]:
        """The query formulas that are searched for, with their weights.

        Only the largest are searched for; the fewer they are, the more matches each gets.
        """
        settings = self._index.settings
        parsed = list(self._question.parsed.values())
        asked = [_QueryFormula(self._index, one) for one in parsed]
        asked = sorted(asked, key=lambda one: -one.mass)[: settings.query_formulas]
        share = settings.matched // max(len(asked), 1)
        weights = [one.mass**settings.size_power for one in asked]
        whole = sum(weights) or 1.0
        for one in asked:
            # Match none where there would be too few matches to change the order.
            one.matched = share if share >= _WORTHWHILE else 0
            one.kept = min(_CANDIDATES, max(_MIN_CANDIDATES, 2 * _CANDIDATES // len(asked)))
        return [(one, weight / whole) for one, weight in zip(asked, weights, strict=True)]


def _best_of_each(values: Numbers, counts: NDArray[np.int64]) -> Numbers:
    """The largest value of each post, for values grouped by post; 0 for a post without any."""
    best_ones = np.zeros(len(counts), dtype=np.float32)
    filled = counts > 0
    if filled.any():
        starts = (np.cumsum(counts) - counts)[filled]
        best_ones[filled] = np.maximum.reduceat(values, starts)
    return best_ones


class _QueryFormula:
    """One formula that is searched for.

    Attributes:
        mass: The total weight of its features.
        matched: How many candidates it is matched with structurally.
        kept: How many candidates it has at most.
    """

    def __init__(
        self, index: FormulaRetriever, parsed: Parsed, matched: int = 0, kept: int = 0
    ) -> None:
        self._index, self._parsed, self.matched = index, parsed, matched
        self.kept = max(_CANDIDATES, kept)
        self.latex = parsed.latex
        asked = feature_counts(parsed, query=True)
        hashes, counts = term_hashes(list(asked)), np.array(list(asked.values()), dtype=np.float32)
        ranges = [segment.postings.ranges(hashes) for segment in index.segments]
        rarity = index.rarity(hashes, ranges)
        self.mass = float(np.dot(rarity, counts))
        # Rare features first: most formulas can be skipped before common features are read.
        order = np.argsort(-rarity, kind="stable")
        self._counts, self._rarity = counts[order], rarity[order]
        self._ranges = [one[order] for one in ranges]

    @cached_property
    def is_larger(self) -> bool:
        """Whether it is too large to be part of many formulas by chance."""
        return sum(1 for _ in self._parsed.opt.walk()) >= _LARGE_FORMULA

    def is_held(self, segment: int, formulas: NDArray[np.int64]) -> bool:
        """Whether the most similar formula of a post contains the whole of it in one piece."""
        if not len(formulas):
            return False
        likeness = self.likeness(segment, formulas, np.array([len(formulas)]))
        nearest = self._index.segments[segment].latex[int(formulas[int(likeness.argmax())])]
        found = _matched(self.latex, nearest)
        return found.coverage == 1 and found.in_one_piece

    def best(self, k: int) -> Scored:
        """The formulas of the collection most similar to it, with similarities from 0 to 1."""
        return among(self._similarities.numbers, self._similarities.scores, k)

    @cached_property
    def found(self) -> list[Scored]:
        """The candidates of each segment, in the order of their numbers."""
        firsts = self._index.distinct.firsts
        ends = np.searchsorted(self._similarities.numbers, [*firsts, len(self._index.distinct)])
        return [
            Scored(
                self._similarities.numbers[start:end] - first, self._similarities.scores[start:end]
            )
            for first, start, end in zip(firsts, ends[:-1], ends[1:], strict=True)
        ]

    @cached_property
    def unseen(self) -> float:
        """The similarity assumed for formulas that are not candidates."""
        if len(self._similarities.scores) < self.kept:
            return 0.0  # no other formula shares a feature with it
        return _UNSEEN_SHARE * float(self._similarities.scores.min())

    def candidates_above_unseen(self, segment: int) -> Scored:
        """The candidates of a segment, scored by how far they exceed `unseen`."""
        found = self.found[segment]
        return Scored(found.numbers, found.scores - np.float32(self.unseen))

    def likeness(
        self, segment: int, formulas: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Numbers:
        """The similarities of posts' formulas; 0 for one that cannot be the best of its post.

        Args:
            segment: The segment of the posts.
            formulas: Their formulas, grouped by post.
            counts: How many formulas each post has.
        """
        found = self.found[segment]
        places = np.searchsorted(found.numbers, formulas)
        known = np.append(found.numbers, -1)[places] == formulas
        likeness = np.where(known, np.append(found.scores, 0)[places], 0).astype(np.float32)
        if len(self._similarities.numbers) == self.kept:
            # A post without any candidate may still contain a formula that is somewhat similar.
            missing = np.repeat(_best_of_each(likeness, counts) == 0, counts)
            if missing.any():
                likeness[missing] = self._overlaps(segment, formulas[missing])
        return likeness

    def _overlaps(self, segment: int, formulas: NDArray[np.int64]) -> Numbers:
        """The similarities of formulas that are not candidates."""
        wanted, back = np.unique(formulas, return_inverse=True)
        postings, ranges = self._index.segments[segment].postings, self._ranges[segment]
        with reading(postings.folder):
            overlaps = kernels.overlaps_of(
                postings.documents_in(ranges),
                postings.frequencies_in(ranges),
                ranges,
                self._counts,
                self._rarity,
                self._index.masses[segment],
                self.mass,
                wanted,
            )
        return np.asarray(overlaps * np.float32(self._matched_similarities[1]))[back]

    @cached_property
    def _similarities(self) -> Scored:
        """The candidates with their similarities, in the order of their numbers."""
        joined, scale = self._matched_similarities
        scores = self._candidates.scores * np.float32(scale)
        for number, score in joined.items():
            scores[np.searchsorted(self._candidates.numbers, number)] = score
        return Scored(self._candidates.numbers, scores)

    @cached_property
    def _candidates(self) -> Scored:
        """The candidates with their overlap of features, in the order of their numbers."""
        nearly = Best(self.kept)
        index = self._index
        for segment, masses, bounds, ranges, first in zip(
            index.segments,
            index.masses,
            index.mass_bounds,
            self._ranges,
            index.distinct.firsts,
            strict=True,
        ):
            postings = segment.postings
            with reading(postings.folder):
                numbers, scores = kernels.best_by_overlap(
                    postings.documents_in(ranges),
                    postings.frequencies_in(ranges),
                    ranges,
                    self._counts,
                    self._rarity,
                    masses,
                    self.mass,
                    self.kept,
                    bounds,
                    floor=nearly.floor,
                )
            nearly.add(first, Scored(numbers, scores))
        chosen = nearly.result
        order = np.argsort(chosen.numbers)
        return Scored(chosen.numbers[order], chosen.scores[order])

    @cached_property
    def _matched_similarities(self) -> tuple[dict[int, float], float]:
        """The similarities of the candidates that are matched, and the scale factor of the others.

        The others follow in their own order, below the lowest of the matched candidates.
        """
        # The time of a match grows with the query formula, so a huge one is matched with fewer.
        labels = [node.label for node in self._parsed.opt.walk()]
        is_pattern = any(map(is_wildcard, labels))
        matched = min(
            self.matched * (_PATTERN_FACTOR if is_pattern else 1), _MAX_NODES // len(labels)
        )
        is_function = len(labels) < MIN_BONUS_NODES and is_distinctive(labels)
        if matched and is_function:
            matched = max(matched, _MATCHED_SMALL)
        if not matched:
            return {}, 1.0
        chosen = among(self._candidates.numbers, self._candidates.scores, matched)
        if not len(chosen.numbers):
            return {}, 1.0
        join = pattern_similarity if is_pattern else similarity
        joined = {}
        for number, overlap in zip(chosen.numbers.tolist(), chosen.scores.tolist(), strict=True):
            found = _matched(self.latex, self._index.latex(number))
            joined[number] = join(overlap, found)
            if is_function and not is_distinctive([node.label for node in found.query_nodes]):
                joined[number] *= _WITHOUT_FUNCTION
        least = max(float(chosen.scores.min()), 1e-9)
        return joined, float(np.float32(min(joined.values()))) / least


@lru_cache(maxsize=4096)
def _prepared(latex: str) -> PreparedFormula:
    """Prepare a formula of the collection for matching; good ones are found repeatedly."""
    return PreparedFormula(parse_once(latex).opt)


@lru_cache(maxsize=4096)
def _matched(asked: str, latex: str) -> Match:
    """Match a formula of the collection; a search that is narrowed repeats the same matches."""
    return match(_prepared(asked), _prepared(latex))


def _in_words(pair: MatchedPair) -> str:
    asked, found = pair.query.latex, pair.candidate.latex
    renamed = [f"{ours} → {theirs}" for ours, theirs in pair.substitution.items()
               if ours != theirs]  # fmt: skip
    renamed += [
        f"{wildcard} = {part_text(part, found)}" for wildcard, part in pair.match.bindings.items()
    ]
    rest = ["…"] if len(renamed) > _MAX_SYMBOLS else []
    under = f" ({', '.join([*renamed[:_MAX_SYMBOLS], *rest])})" if renamed else ""
    return f"{formula_in_markdown(asked)} ~ {formula_in_markdown(found)}{under}"
