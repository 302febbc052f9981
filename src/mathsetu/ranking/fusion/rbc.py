"""RBC: fusion by a regression that predicts the gain of a candidate from its ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.printable import counted
from mathsetu.ranking.fusion.learning import JudgedPool
from mathsetu.ranking.fusion.method import DEPTH, rounded
from mathsetu.ranking.fusion.pool import Pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.ranking.fusion.method import Rating

    Numbers = NDArray[np.float64]

_FEATURES = 3
# The ridge penalty. Ranks of several runs are correlated; without a penalty, or with negative
# coefficients, the regression would set one run's rank against another's.
_PENALTY = 0.01
_SWEEPS = 1000


@dataclass(frozen=True, slots=True)
class RBC:
    """The gain that a linear regression on a candidate's ranks predicts.

    For each run there are three coefficients: for having found the candidate, for its inverse
    rank, and for one minus its scaled logarithmic rank. None is negative, so that a better rank
    never predicts a lower gain. Ties go to the better best rank. `fit_rbc` learns one.

    Source: Geletka et al., "Diverse semantics representation is king: MIRMU and MSM at ARQMath
    2022", CLEF 2022, section 3.6.3, which leaves the kind of regression open.

    >>> from mathsetu.ranking.fusion import fuse
    >>> from mathsetu.records import Hit, Run
    >>> words = Run("words", {"A.1": (Hit("7", 9.0), Hit("8", 5.0))})
    >>> formulas = Run("formulas", {"A.1": (Hit("8", 0.7), Hit("9", 0.6))})
    >>> method = RBC(coefficients=((0.1, 0.2, 0.3), (0.2, 0.4, 0.5)), intercept=0.5)
    >>> [hit.id for hit in fuse([words, formulas], method).rankings["A.1"]]
    ['8', '9', '7']
    """

    coefficients: tuple[tuple[float, ...], ...]
    intercept: float = 0.0
    depth: int = DEPTH

    def __post_init__(self) -> None:
        for row in self.coefficients:
            if len(row) != _FEATURES or not all(map(math.isfinite, row)):
                raise InputError(f"coefficients: each run has {_FEATURES} numbers, not {row}")
        if not math.isfinite(self.intercept) or self.depth < 1:
            raise InputError("intercept must be a number, and depth at least 1")

    def rate(self, pool: Pool) -> Rating:
        """Rate the candidates of a topic."""
        if len(self.coefficients) != len(pool.ranks):
            raise InputError(
                f"this RBC was fitted to {counted(len(self.coefficients), 'run')}, "
                f"not to {len(pool.ranks)}"
            )
        gains = np.ravel(self.coefficients) @ _features(pool, self.depth) + self.intercept
        return rounded(gains), -pool.best_ranks


def fit_rbc(judged: Sequence[JudgedPool], depth: int = DEPTH) -> RBC:
    """Fit an RBC to the judged candidates of some topics; unjudged ones are left out.

    It is a ridge regression without negative coefficients, solved by coordinate descent.

    >>> from mathsetu.ranking.fusion.learning import judge_pools
    >>> from mathsetu.ranking.fusion.pool import pool_runs
    >>> from mathsetu.records import Hit, Judgment, Run
    >>> run = Run("words", {"A.1": (Hit("7", 9.0), Hit("8", 5.0))})
    >>> judgments = [Judgment("A.1", "7", 3), Judgment("A.1", "8", 1)]
    >>> method = fit_rbc(judge_pools(pool_runs([run]), judgments))
    >>> method.intercept < 2 < 3 * sum(method.coefficients[0])
    True
    """
    known = [~np.isnan(topic.grades) for topic in judged]
    if not any(mask.any() for mask in known):
        raise InputError("RBC cannot be fitted: no candidate of the runs is judged")
    features = np.concatenate(
        [_features(t.pool, depth)[:, mask] for t, mask in zip(judged, known, strict=True)], axis=1
    )
    gains = np.concatenate([t.grades[mask] for t, mask in zip(judged, known, strict=True)])
    means = features.mean(axis=1, keepdims=True)
    centred = features - means
    products = centred @ centred.T / len(gains) + _PENALTY * np.eye(len(features))
    slopes = _descend(products, centred @ (gains - gains.mean()) / len(gains))
    intercept = float(gains.mean() - slopes @ means[:, 0])
    by_run = slopes.reshape(-1, _FEATURES).round(6).tolist()
    return RBC(tuple(map(tuple, by_run)), round(intercept, 6), depth)


def _features(pool: Pool, depth: int) -> Numbers:
    """The features of each candidate as columns; three rows for each run."""
    ranks = np.clip(pool.ranks, 1, depth)
    inverse = (depth - ranks) / depth
    logarithm = 1 - np.log(ranks) / math.log(depth + 1)
    stacked = np.stack((np.ones_like(inverse), inverse, logarithm), axis=1)
    shape = len(pool.ranks) * _FEATURES, len(pool.ids)
    return np.asarray((stacked * pool.found[:, None]).reshape(shape))


def _descend(products: Numbers, targets: Numbers) -> Numbers:
    """The non-negative coefficients with the least error, by coordinate descent."""
    slopes = np.zeros(len(targets))
    for _ in range(_SWEEPS):
        before = slopes.copy()
        for place in range(len(slopes)):
            missing = targets[place] - products[place] @ slopes
            slopes[place] = max(0.0, slopes[place] + missing / products[place, place])
        if np.abs(slopes - before).max() < 1e-9:
            break
    return slopes
