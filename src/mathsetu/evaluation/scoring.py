"""Computes each measure on one ranking, with trec_eval's definitions.

Only judged hits affect a figure, so a ranking is stored as the ranks and grades of these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log2

from mathsetu.evaluation.measures import Measure


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """The judged part of a ranking: rank (from 1) and grade of each judged hit, in order.

    ``length`` counts all hits. ``pool`` has the grades of all posts judged for the topic, whether
    found or not.
    """

    found: Sequence[tuple[int, int]]
    length: int
    pool: Collection[int]

    @classmethod
    def of(cls, ids: Sequence[str], grades: Mapping[str, int]) -> JudgedRanking:
        """Build from the ids of the hits, best first, and the grades of the judged posts.

        >>> JudgedRanking.of(["9", "7"], {"7": 3}).found
        [(2, 3)]
        """
        # A negative grade marks a post of the pool that was not judged.
        found = [
            (rank, grade)
            for rank, hit_id in enumerate(ids, start=1)
            if (grade := grades.get(hit_id, -1)) >= 0
        ]
        return cls(found, len(ids), [*grades.values()])

    def without_unjudged(self) -> JudgedRanking:
        """The ranking that remains when unjudged hits are removed.

        >>> JudgedRanking([(2, 3), (7, 0)], length=9, pool=[3, 0, 1]).without_unjudged().found
        [(1, 3), (2, 0)]
        """
        closed_up = [(rank, grade) for rank, (_, grade) in enumerate(self.found, start=1)]
        return JudgedRanking(closed_up, len(closed_up), self.pool)


def score(measure: Measure, ranking: JudgedRanking, relevant_from: int = 1) -> float:
    """The value of a measure for one topic.

    >>> ranking = JudgedRanking([(1, 3), (3, 2)], length=5, pool=[3, 2, 1])
    >>> round(score(Measure("MAP"), ranking, relevant_from=2), 3)
    0.833
    >>> score(Measure("MAP", judged_only=True), ranking, relevant_from=2)
    1.0
    """
    if measure.judged_only:
        ranking = ranking.without_unjudged()
    return _FORMULAS[measure.name](
        ranking, measure.relevant_from or relevant_from, measure.cutoff or inf
    )


def _precision(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    # If there are fewer hits than the cut-off, the missing ones count as not relevant.
    return len(_relevant_ranks(ranking, threshold, cutoff)) / cutoff


def _recall(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    return _share(len(_relevant_ranks(ranking, threshold, cutoff)), _relevant(ranking, threshold))


def _average_precision(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    ranks = _relevant_ranks(ranking, threshold, cutoff)
    total = sum(number / rank for number, rank in enumerate(ranks, start=1))
    return _share(total, _relevant(ranking, threshold))


def _reciprocal_rank(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    ranks = _relevant_ranks(ranking, threshold, cutoff)
    return 1 / ranks[0] if ranks else 0.0


def _discounted_gain(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    return _normalised(ranking, cutoff, below=0)


def _discounted_gain_from_medium(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    return _normalised(ranking, cutoff, below=1)


def _binary_preference(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    relevant = _relevant(ranking, threshold)
    most = min(relevant, sum(0 <= grade < threshold for grade in ranking.pool))
    above, total = 0, 0.0
    for _, grade in ranking.found:
        if grade < threshold:
            above += 1
        else:
            total += 1 - _share(min(above, relevant), most)
    return _share(total, relevant)


def _judged_share(ranking: JudgedRanking, threshold: int, cutoff: float) -> float:
    seen = min(cutoff, ranking.length)
    return _share(sum(rank <= cutoff for rank, _ in ranking.found), seen)


_FORMULAS: dict[str, Callable[[JudgedRanking, int, float], float]] = {
    "P": _precision,
    "R": _recall,
    "MAP": _average_precision,
    "MRR": _reciprocal_rank,
    "nDCG": _discounted_gain,
    "nDCGmed": _discounted_gain_from_medium,
    "bpref": _binary_preference,
    "Judged": _judged_share,
}


def _relevant_ranks(ranking: JudgedRanking, threshold: int, cutoff: float) -> list[int]:
    return [rank for rank, grade in ranking.found if grade >= threshold and rank <= cutoff]


def _relevant(ranking: JudgedRanking, threshold: int) -> int:
    return sum(grade >= threshold for grade in ranking.pool)


def _normalised(ranking: JudgedRanking, cutoff: float, below: int) -> float:
    """DCG divided by the ideal DCG; the gain is the grade minus ``below``."""
    ideal = list(enumerate(sorted(ranking.pool, reverse=True), start=1))
    return _share(_gain(ranking.found, cutoff, below), _gain(ideal, cutoff, below))


def _gain(graded: Sequence[tuple[int, int]], cutoff: float, below: int) -> float:
    return sum(
        (grade - below) / log2(rank + 1)
        for rank, grade in graded
        if grade > below and rank <= cutoff
    )


def _share(part: float, whole: float) -> float:
    """The quotient, or 0 if the divisor is 0."""
    return part / whole if whole else 0.0
