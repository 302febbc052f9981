"""Weights of runs that maximise a measure on training topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mathsetu.errors import InputError
from mathsetu.evaluation import Measure
from mathsetu.ranking.fusion.learning import GOAL, JudgedPool, mean_value
from mathsetu.ranking.fusion.linear import Linear
from mathsetu.ranking.fusion.wibc import WIBC

# A change that gains less is ignored, because it would overfit.
_GAIN = 1e-3
_SWEEPS = 10


@dataclass(frozen=True, slots=True)
class WeightSearch:
    """Learns the weights of a weighted method by coordinate search on the simplex.

    The search starts with equal weights. It tries ``steps`` + 1 weights from 0 to 1 for one run
    after the other, while the other runs share the rest in their proportions, and keeps the best,
    until nothing improves. This hill climbing is simple and deterministic, and keeps equal weights
    unless the judgments favour others.

    >>> from mathsetu.ranking.fusion.learning import judge_pools
    >>> from mathsetu.ranking.fusion.pool import pool_runs
    >>> from mathsetu.records import Hit, Judgment, Run
    >>> good = Run("good", {"A.1": (Hit("8", 2.0), Hit("7", 1.0))})
    >>> poor = Run("poor", {"A.1": (Hit("7", 2.0), Hit("8", 1.0))})
    >>> judgments = [Judgment("A.1", "7", 0), Judgment("A.1", "8", 3)]
    >>> judged = judge_pools(pool_runs([poor, good]), judgments)
    >>> WeightSearch(Linear(weights=()))(judged).weights
    (0.0, 1.0)
    """

    method: Linear | WIBC
    measure: Measure = GOAL
    steps: int = 10

    def __call__(self, judged: Sequence[JudgedPool]) -> Linear | WIBC:
        """Return the method with the best weights for the judged topics."""
        if not judged:
            raise InputError("weights cannot be learned: no topic of the runs is judged")
        if self.measure.judged_only and isinstance(self.method, WIBC):
            # Medians of ranks do not depend on other candidates, most of which are unjudged.
            judged = [topic.without_unjudged() for topic in judged]
        weights = _shares(np.ones(len(judged[0].pool.ranks)))
        best = self._value(weights, judged)
        for _ in range(_SWEEPS):
            before = best
            for run in range(len(weights)):
                for candidate in self._neighbours(weights, run):
                    value = self._value(candidate, judged)
                    if value > best + _GAIN:
                        best, weights = value, candidate
            if best == before:
                break
        return replace(self.method, weights=weights)

    def _value(self, weights: tuple[float, ...], judged: Sequence[JudgedPool]) -> float:
        return mean_value(judged, replace(self.method, weights=weights), self.measure)

    def _neighbours(self, weights: tuple[float, ...], run: int) -> list[tuple[float, ...]]:
        others = np.array(weights)
        others[run] = 0.0
        if not others.any():
            others = np.ones(len(weights))
            others[run] = 0.0
        if not others.any():
            return []  # a single run has nothing to share with
        others /= others.sum()
        alone = np.eye(len(weights))[run]
        shares = np.linspace(0.0, 1.0, self.steps + 1)
        return [_shares(share * alone + (1 - share) * others) for share in shares]


def _shares(weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, ...]:
    """Scale weights to a sum of one, rounded for printing."""
    return tuple((weights / weights.sum()).round(4).tolist())
