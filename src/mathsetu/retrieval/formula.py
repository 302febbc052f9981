"""Search by formulas: an inverted index over structural features, then matching of the best.

A query formula is scored against all of them by
shared features, rare ones counting more; the best few are matched structurally, which also tells
what matched under which substitution. A post gets, for each formula of the query, the score of
its best formula; large query formulas count more than small ones.
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
    LEAST_WHOLE,
    is_telling,
    pattern_similarity,
    similarity,
)
from mathsetu.intake.question import Question
from mathsetu.records import Evidence, Post, Reason
from mathsetu.retrieval import kernels
from mathsetu.retrieval.base import (
    Best,
    FormulaMatch,
    KnownScores,
    Scored,
    among,
    asked_formula,
    best,
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
# So many times as many are matched with a pattern: features do not tell what its wildcards hold.
_PATTERN = 8
# So many are matched with a function of little else, which takes little time: by its features
# $\tan x$ is nearer to $x$ alone than to a formula with $\tan\alpha$. One without the function is
# worth so much of what it would be.
_MATCHED_SMALL, _WITHOUT_FUNCTION = 200, 0.25
# A formula of so many nodes is hardly part of another by chance, whatever its letters are.
_LARGER = 8
# Formulas of the collection that are looked at for one formula of a query: the posts that hold them
# can be found by it.
_KEPT = 2_000
# Up to so many formulas are weighed again when a library of several segments is opened.
_FEW = 300_000
# Several formulas of a query share twice as many, but each has this many.
_LEAST_KEPT = 1_000
# A formula that is not among the best is reckoned with as this share of the least of them, until it
# is looked at; it is looked at in so many posts.
_UNSEEN, _RESCORED = 0.5, 100
# Nodes of a query formula that are compared with others, over all formulas that it is matched with.
_MOST_NODES = 60_000


class FormulaRetriever:
    """Answers questions by their formulas, and finds formulas themselves."""

    heat_mapper = None

    def __init__(self, folders: Sequence[Path], settings: FormulaSettings) -> None:
        self.settings = settings
        self.segments = [FormulaSegment(folder) for folder in folders]
        self.numbering = Numbering(segment.posts for segment in self.segments)
        self.posts = len(self.numbering)
        #: The distinct formulas of each segment; one that stands in two segments is there twice.
        self.distinct = Numbering(map(len, self.segments))
        self.formula_finder = self

    def ask(self, questions: Sequence[Question]) -> list[FormulaReply]:
        """Ask several questions."""
        return [FormulaReply(self, question) for question in questions]

    def formulas(self, latex: str, k: int) -> list[FormulaMatch]:
        """The formulas of the collection that are most like one formula (ARQMath task 2)."""
        matched = self.settings.matched
        asked = _AskedFormula(self, parse_once(latex), matched, max(matched, k))
        ranked = asked.best(k)
        return [
            FormulaMatch(number, latex, self.latex(number), min(score, 1.0))  # rounding
            for number, score in zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)
        ]

    def formulas_for(
        self, question: Question, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[FormulaMatch]:
        """The formulas most like the one that a question asks for; the words around it count not.

        Formulas that are written alike are one here, so ``allowed`` is for who looks up their
        posts.
        """
        return self.formulas(asked_formula(question).latex, k)

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The numbers of the posts that hold a formula of `formulas`, in order."""
        number, own = self.distinct.locate(formula)
        return self.numbering.firsts[number] + self.segments[number].posts_with(own)

    def latex(self, formula: int) -> str:
        """A distinct formula as it is written."""
        segment, own = self.distinct.locate(formula)
        return self.segments[segment].latex[own]

    def rarity(self, hashes: NDArray[np.uint64], ranges: Sequence[NDArray[np.int64]]) -> Numbers:
        """What features count: the fewer formulas have one, the more.

        Args:
            hashes: The features.
            ranges: Their lists in each segment.
        """
        containing = sum((np.diff(one)[:, 0] for one in ranges), np.zeros(len(hashes), np.int64))
        return rarity_of(containing, len(self.distinct))

    @cached_property
    def masses(self) -> list[Numbers]:
        """For each segment the weight of all features of each distinct formula."""
        # What was stored is exact for segments that were built together; what was added later
        # changes the rarity of features a little, which is worth a look where it costs nothing.
        if len(self.segments) == 1 or len(self.distinct) > _FEW:
            return [segment.masses for segment in self.segments]
        return list(masses_of([segment.postings for segment in self.segments]))

    @cached_property
    def mass_bounds(self) -> list[Numbers]:
        """For each segment how light and how heavy the formulas are that are read together."""
        return [kernels.mass_bounds(masses) for masses in self.masses]


class FormulaReply:
    """What the formulas of posts say to one question."""

    def __init__(self, index: FormulaRetriever, question: Question) -> None:
        self._index, self._question = index, question
        # The scores of the posts that were looked at.
        self._known = KnownScores(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts, by the formulas that are most like those of the question."""
        if not self._asked:
            return best(np.zeros(0, dtype=np.float32), 0)
        weights = [weight for _, weight in self._asked]
        nearly = Best(max(k, _RESCORED))
        for number, segment in enumerate(self._index.segments):
            check_time()
            first = self._index.numbering.firsts[number]
            found = [asked.found_above_unseen(number) for asked, _ in self._asked]
            may = None if allowed is None else allowed[first : first + segment.posts]
            nearly.add(first, segment.best_posts(found, weights, nearly.wanted, may, nearly.floor))
        unseen = sum(asked.unseen * weight for asked, weight in self._asked)
        numbers, scores = nearly.result.numbers, nearly.result.scores + np.float32(unseen)
        likely = np.sort(numbers[:_RESCORED])
        self._known = KnownScores(likely, self._worked_out(likely))
        scores[:_RESCORED] = self.scores(numbers[:_RESCORED])
        order = np.argsort(numbers)
        return among(numbers[order], scores[order], k)

    def scores(self, numbers: NDArray[np.int64]) -> Numbers:
        """The scores of given posts: the mean over the query's formulas, weighted by their size."""
        return self._known.complete(numbers, self._worked_out)

    def _worked_out(self, numbers: NDArray[np.int64]) -> Numbers:
        scores = np.zeros(len(numbers), dtype=np.float32)
        for segment, places, own in self._index.numbering.shared_out(numbers):
            scores[places] = self._scores_in(segment, own)
        return scores

    def _scores_in(self, number: int, posts: NDArray[np.int64]) -> Numbers:
        """The scores of posts of a segment."""
        segment = self._index.segments[number]
        formulas, counts = segment.occurrences(posts).astype(np.int64), segment.counts(posts)
        total = np.zeros(len(posts), dtype=np.float32)
        for asked, weight in self._asked:
            check_time()
            total += _best_of_each(asked.likeness(number, formulas, counts), counts) * weight
        return total

    def reason(self, number: int, post: Post) -> Reason:
        """The best matching formulas of a post, with their substitutions.

        A formula that holds one of the query as it is written is named before others; the score is
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
        for asked, weight in self._asked:
            likeness = asked.likeness(place, formulas, np.array([len(formulas)]))
            chosen = int(likeness.argmax())
            score += weight * float(likeness[chosen])
            # One that holds the whole of it is what was looked for, whatever else it holds: among
            # small formulas another that shares most of it may have the higher score.
            _, latex = most_exact(asked.latex, (segment.latex[int(one)] for one in formulas))
            latex = latex or segment.latex[int(formulas[chosen])]
            pair = match_latex(asked.latex, latex)
            if pair.match.coverage > 0:
                details.append(_in_words(pair))
                evidence.append(Evidence("formula", asked.latex, latex))
        return Reason("formulas", score, "; ".join(details[:3]), tuple(evidence))

    def holds_all(self, number: int) -> bool:
        """Whether a post holds every larger formula of the question whole, perhaps renamed.

        A small one is held by many posts that have nothing else to do with the question.
        """
        place, own = self._index.numbering.locate(number)
        formulas = self._index.segments[place].formulas_of(own)
        larger = [asked for asked, _ in self._asked if asked.is_larger]
        return bool(larger) and all(asked.is_held(place, formulas) for asked in larger)

    @cached_property
    def _asked(self) -> list[tuple[_AskedFormula, float]]:
        """The formulas searched for, and what each counts.

        The largest ones are searched for, and those that are few get more matches each.
        """
        settings = self._index.settings
        parsed = list(self._question.parsed.values())
        asked = [_AskedFormula(self._index, one) for one in parsed]
        asked = sorted(asked, key=lambda one: -one.mass)[: settings.query_formulas]
        share = settings.matched // max(len(asked), 1)
        weights = [one.mass**settings.size_power for one in asked]
        whole = sum(weights) or 1.0
        for one in asked:
            # Too few matches to change an order are none.
            one.matched = share if share >= _WORTHWHILE else 0
            one.kept = min(_KEPT, max(_LEAST_KEPT, 2 * _KEPT // len(asked)))
        return [(one, weight / whole) for one, weight in zip(asked, weights, strict=True)]


def _best_of_each(values: Numbers, counts: NDArray[np.int64]) -> Numbers:
    """The largest of the values of each post, which stand one post after the other; 0 of none."""
    best_ones = np.zeros(len(counts), dtype=np.float32)
    filled = counts > 0
    if filled.any():
        starts = (np.cumsum(counts) - counts)[filled]
        best_ones[filled] = np.maximum.reduceat(values, starts)
    return best_ones


class _AskedFormula:
    """One formula that is searched for.

    Attributes:
        mass: The weight of all its features.
        matched: How many formulas of the collection it is matched with structurally.
        kept: How many are looked at.
    """

    def __init__(
        self, index: FormulaRetriever, parsed: Parsed, matched: int = 0, kept: int = 0
    ) -> None:
        self._index, self._parsed, self.matched = index, parsed, matched
        self.kept = max(_KEPT, kept)
        self.latex = parsed.latex
        asked = feature_counts(parsed, query=True)
        hashes, counts = term_hashes(list(asked)), np.array(list(asked.values()), dtype=np.float32)
        ranges = [segment.postings.ranges(hashes) for segment in index.segments]
        rarity = index.rarity(hashes, ranges)
        self.mass = float(np.dot(rarity, counts))
        # Rare features first: most formulas can be left aside before the common ones are read.
        order = np.argsort(-rarity, kind="stable")
        self._counts, self._rarity = counts[order], rarity[order]
        self._ranges = [one[order] for one in ranges]

    @cached_property
    def is_larger(self) -> bool:
        """Whether few formulas hold it by chance."""
        return sum(1 for _ in self._parsed.opt.walk()) >= _LARGER

    def is_held(self, segment: int, formulas: NDArray[np.int64]) -> bool:
        """Whether the most similar one of a post's formulas holds the whole of it in one piece."""
        if not len(formulas):
            return False
        likeness = self.likeness(segment, formulas, np.array([len(formulas)]))
        nearest = self._index.segments[segment].latex[int(formulas[int(likeness.argmax())])]
        found = _matched(self.latex, nearest)
        return found.coverage == 1 and found.in_one_piece

    def best(self, k: int) -> Scored:
        """The formulas of the collection that are most like it, with similarity from 0 to 1."""
        return among(self._likely.numbers, self._likely.scores, k)

    @cached_property
    def found(self) -> list[Scored]:
        """For each segment its formulas that are most like it, in the order of their numbers."""
        firsts = self._index.distinct.firsts
        ends = np.searchsorted(self._likely.numbers, [*firsts, len(self._index.distinct)])
        return [
            Scored(self._likely.numbers[start:end] - first, self._likely.scores[start:end])
            for first, start, end in zip(firsts, ends[:-1], ends[1:], strict=True)
        ]

    @cached_property
    def unseen(self) -> float:
        """How like it formulas may be that are not among the best."""
        if len(self._likely.scores) < self.kept:
            return 0.0  # all others have nothing in common with it
        return _UNSEEN * float(self._likely.scores.min())

    def found_above_unseen(self, segment: int) -> Scored:
        """What was found in a segment, and by how much it is more like it than what was not."""
        found = self.found[segment]
        return Scored(found.numbers, found.scores - np.float32(self.unseen))

    def likeness(
        self, segment: int, formulas: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Numbers:
        """How like it the formulas of some posts are, as far as that changes the best of a post.

        Args:
            segment: The segment of the posts.
            formulas: Their formulas, one post after the other.
            counts: How many formulas each post has.
        """
        found = self.found[segment]
        places = np.searchsorted(found.numbers, formulas)
        known = np.append(found.numbers, -1)[places] == formulas
        likeness = np.where(known, np.append(found.scores, 0)[places], 0).astype(np.float32)
        if len(self._likely.numbers) == self.kept:
            # A post without any formula among the best may still have one that is a little like it.
            missing = np.repeat(_best_of_each(likeness, counts) == 0, counts)
            if missing.any():
                likeness[missing] = self._overlaps(segment, formulas[missing])
        return likeness

    def _overlaps(self, segment: int, formulas: NDArray[np.int64]) -> Numbers:
        """The similarity of formulas that are not among the best."""
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
        return np.asarray(overlaps * np.float32(self._structure[1]))[back]

    @cached_property
    def _likely(self) -> Scored:
        """The best formulas with their similarity, in the order of their numbers."""
        joined, scale = self._structure
        scores = self._looked_at.scores * np.float32(scale)
        for number, score in joined.items():
            scores[np.searchsorted(self._looked_at.numbers, number)] = score
        return Scored(self._looked_at.numbers, scores)

    @cached_property
    def _looked_at(self) -> Scored:
        """The formulas that share most with it, and how much, in the order of their numbers."""
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
    def _structure(self) -> tuple[dict[int, float], float]:
        """The similarity of the best few, matched structurally, and what all others are scaled by.

        The rest follows in its own order, below the least of those that were matched.
        """
        # Matching takes time in proportion to the formula's size: of a huge one, fewer are matched.
        labels = [node.label for node in self._parsed.opt.walk()]
        is_pattern = any(map(is_wildcard, labels))
        matched = min(self.matched * (_PATTERN if is_pattern else 1), _MOST_NODES // len(labels))
        is_function = len(labels) < LEAST_WHOLE and is_telling(labels)
        if matched and is_function:
            matched = max(matched, _MATCHED_SMALL)
        if not matched:
            return {}, 1.0
        chosen = among(self._looked_at.numbers, self._looked_at.scores, matched)
        if not len(chosen.numbers):
            return {}, 1.0
        join = pattern_similarity if is_pattern else similarity
        joined = {}
        for number, overlap in zip(chosen.numbers.tolist(), chosen.scores.tolist(), strict=True):
            found = _matched(self.latex, self._index.latex(number))
            joined[number] = join(overlap, found)
            if is_function and not is_telling([node.label for node in found.query_nodes]):
                joined[number] *= _WITHOUT_FUNCTION
        least = max(float(chosen.scores.min()), 1e-9)
        return joined, float(np.float32(min(joined.values()))) / least


@lru_cache(maxsize=4096)
def _prepared(latex: str) -> PreparedFormula:
    """A formula of the collection ready to be matched; good ones are found again and again."""
    return PreparedFormula(parse_once(latex).opt)


@lru_cache(maxsize=4096)
def _matched(asked: str, latex: str) -> Match:
    """How a formula of the collection matches; who narrows a search asks the same again."""
    return match(_prepared(asked), _prepared(latex))


def _in_words(pair: MatchedPair) -> str:
    asked, found = pair.query.latex, pair.candidate.latex
    renamed = [f"{ours} → {theirs}" for ours, theirs in pair.substitution.items()
               if ours != theirs]  # fmt: skip
    renamed += [
        f"{wildcard} = {part_text(part, found)}" for wildcard, part in pair.match.bindings.items()
    ]
    under = f" ({', '.join(renamed[:4])})" if renamed else ""
    return f"${asked}$ ~ ${found}${under}"
