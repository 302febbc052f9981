"""Learned fusion: fitted on judged topics, never used on a topic that it was fitted on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.evaluation import Measure
from mathsetu.evaluation.rankings import NO_HIT_IS_JUDGED
from mathsetu.evaluation.scoring import JudgedRanking, score
from mathsetu.ranking.fusion.method import DEPTH, Fusion, order, ranked
from mathsetu.ranking.fusion.pool import Pool, pool_runs
from mathsetu.records import Hit, Judgment, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


#: The measure that is maximised by default: nDCG', by which ARQMath ranks teams.
GOAL = Measure("nDCG", judged_only=True)
# The lowest grade that is relevant for binary measures, as in ARQMath.
_RELEVANT_FROM = 2


@dataclass(frozen=True, eq=False, slots=True)
class JudgedPool:
    """A topic to learn from: its pool and its judgments.

    ``grades`` holds the grade of each candidate (nan: not judged), ``all_grades`` every grade of
    the topic, found or not, the highest first.
    """

    pool: Pool
    grades: Numbers
    all_grades: tuple[int, ...]

    def without_unjudged(self) -> JudgedPool:
        """The judged candidates only, which suffice for a prime measure of a fusion of ranks."""
        places = np.flatnonzero(~np.isnan(self.grades))
        return JudgedPool(self.pool.part(places), self.grades[places], self.all_grades)

    def value(self, method: Fusion, measure: Measure, depth: int | None = None) -> float:
        """The value of a measure for this topic, when a method ranks it, up to a depth."""
        grades = self.grades[order(method.rate(self.pool))][:depth]
        places = np.flatnonzero(~np.isnan(grades))
        found = zip((places + 1).tolist(), grades[places].astype(int).tolist(), strict=True)
        ranking = JudgedRanking(list(found), len(grades), self.all_grades)
        return score(measure, ranking, _RELEVANT_FROM)


#: Fits a method to judged topics.
Learner = Callable[[Sequence[JudgedPool]], Fusion]


@dataclass(frozen=True, slots=True)
class Learned:
    """The result of learning.

    ``method`` was fitted on all judged topics, on which it reaches ``fitted``. ``held_out`` is
    the cross-validated value: each topic is ranked by a method that was fitted on others. ``run``
    holds the judged topics ranked in that way, and all other topics ranked by ``method``. Both
    values are those of rankings as deep as the run.
    """

    run: Run
    method: Fusion
    fitted: float
    held_out: float
    topics: int


def fuse_learned(
    runs: Sequence[Run],
    judgments: Iterable[Judgment],
    learner: Learner,
    *,
    measure: Measure,
    folds: int = 5,
    seed: int = 0,
    depth: int = DEPTH,
    name: str = "fusion",
) -> Learned:
    """Fuse runs with a method that is learned from judgments, cross-validated over topics.

    >>> from mathsetu.ranking.fusion import Linear, WeightSearch
    >>> topics = [f"A.{number}" for number in range(9)]
    >>> good = Run("good", {topic: (Hit("7", 2.0), Hit("8", 1.0)) for topic in topics})
    >>> poor = Run("poor", {topic: (Hit("8", 2.0), Hit("7", 1.0)) for topic in topics})
    >>> judgments = [Judgment(topic, "7", 3) for topic in topics[:6]]
    >>> measure = Measure("MAP")
    >>> search = WeightSearch(Linear(weights=()), measure)
    >>> learned = fuse_learned([poor, good], judgments, search, measure=measure)
    >>> learned.held_out, learned.run.rankings["A.8"][0].id
    (1.0, '7')
    """
    pools = pool_runs(runs)
    judged = judge_pools(pools, judgments)
    if not 2 <= folds <= len(judged):
        raise InputError(
            f"{len(judged)} judged topics cannot be divided into {folds} folds; use at least 2 "
            "folds, and no more folds than judged topics"
        )
    if all(np.isnan(topic.grades).all() for topic in judged):
        raise InputError(NO_HIT_IS_JUDGED)
    method = learner(judged)
    rankings: dict[str, tuple[Hit, ...]] = {}
    values: dict[str, float] = {}
    for fold in _folds(judged, folds, seed):
        others = [topic for topic in judged if topic not in fold]
        fitted = learner(others)
        for topic in fold:
            rankings[topic.pool.topic] = ranked(topic.pool, fitted, depth)
            values[topic.pool.topic] = topic.value(fitted, measure, depth)
    for pool in pools:
        if pool.topic not in rankings:
            rankings[pool.topic] = ranked(pool, method, depth)
    return Learned(
        run=Run(name, {pool.topic: rankings[pool.topic] for pool in pools}),
        method=method,
        fitted=mean_value(judged, method, measure, depth),
        held_out=float(np.mean([values[topic] for topic in sorted(values)])),
        topics=len(judged),
    )


def judge_pools(pools: Iterable[Pool], judgments: Iterable[Judgment]) -> list[JudgedPool]:
    """The pools whose topics were judged, with their judgments.

    >>> pools = pool_runs([Run("words", {"A.1": (Hit("7", 2.0), Hit("8", 1.0)), "A.2": ()})])
    >>> [judged] = judge_pools(pools, [Judgment("A.1", "8", 3)])
    >>> judged.grades.tolist()
    [nan, 3.0]
    """
    grades: dict[str, dict[str, int]] = {}
    for judgment in judgments:
        grades.setdefault(judgment.query_id, {})[judgment.id] = judgment.grade
    return [_judged(pool, grades[pool.topic]) for pool in pools if pool.topic in grades]


def mean_value(
    judged: Sequence[JudgedPool], method: Fusion, measure: Measure, depth: int | None = None
) -> float:
    """The mean value of a measure over topics, when a method ranks them, up to a depth."""
    return float(np.mean([topic.value(method, measure, depth) for topic in judged]))


def _judged(pool: Pool, grades: Mapping[str, int]) -> JudgedPool:
    found = np.array([grades.get(candidate_id, np.nan) for candidate_id in pool.ids])
    return JudgedPool(pool, found, tuple(sorted(grades.values(), reverse=True)))


def _folds(judged: Sequence[JudgedPool], count: int, seed: int) -> list[list[JudgedPool]]:
    """Divide topics into folds, in an order that depends only on the seed and their names."""

    def shuffled(topic: JudgedPool) -> bytes:
        return hashlib.sha256(f"{seed} {topic.pool.topic}".encode()).digest()

    dealt = sorted(judged, key=shuffled)
    return [dealt[start::count] for start in range(count)]
