"""Significance: paired t-test, Bonferroni correction, bootstrap intervals, wins and losses."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

#: Smaller differences are rounding errors and count as ties.
_SAME = 1e-9
# Maximum number of resampled values held in memory at a time; with more topics, more batches.
_CELLS = 2_000_000


class Interval(NamedTuple):
    """A confidence interval of a mean over topics."""

    low: float
    high: float


class WinsTiesLosses(NamedTuple):
    """The number of topics on which one run is above, equal to and below another."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def paired_t_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of Student's paired t-test.

    With fewer than two topics, or without any difference, p is 1.

    >>> round(paired_t_test([0.1, 0.3, -0.1, 0.2, 0.2]), 4)
    0.1079
    """
    count = len(differences)
    if count < 2 or all(abs(difference) < _SAME for difference in differences):
        return 1.0
    spread = stdev(differences)
    statistic = inf if spread == 0 else fmean(differences) / (spread / sqrt(count))
    return student_tail(abs(statistic), count - 1)


def bonferroni(p: float, comparisons: int) -> float:
    """A p-value corrected for several comparisons.

    >>> bonferroni(0.02, 3), bonferroni(0.5, 3)
    (0.06, 1.0)
    """
    return min(1.0, p * comparisons)


def wins_ties_losses(differences: Sequence[float]) -> WinsTiesLosses:
    """Count wins, ties and losses.

    >>> print(wins_ties_losses([0.2, 0.0, -0.1, 0.3]))
    2/1/1
    """
    wins = sum(difference > _SAME for difference in differences)
    losses = sum(difference < -_SAME for difference in differences)
    return WinsTiesLosses(wins, len(differences) - wins - losses, losses)


def bootstrap_intervals(
    columns: Sequence[Sequence[float]],
    *,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
) -> list[Interval]:
    """Percentile bootstrap intervals of the means of columns that have the same topics.

    The same topics are drawn for all columns, so that intervals can be compared.

    >>> interval = bootstrap_intervals([[0.0, 0.2, 0.4, 0.6]], seed=1)[0]
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.1, 0.5)
    """
    if not columns:
        return []
    values = np.array(columns, dtype=np.float64).T
    topics = len(values)
    generator = np.random.default_rng(seed)
    chances = np.full(topics, 1 / topics)
    means = []
    left = resamples
    while left:
        turn = min(left, max(1, _CELLS // topics))
        means.append(generator.multinomial(topics, chances, size=turn) @ values / topics)
        left -= turn
    outside = 50 * (1 - level)
    low, high = np.percentile(np.concatenate(means), [outside, 100 - outside], axis=0)
    return [Interval(*map(float, pair)) for pair in zip(low, high, strict=True)]


def student_tail(statistic: float, freedom: int) -> float:
    """The two-sided p-value: the probability that |t| is at least the statistic.

    >>> round(student_tail(2.228139, 10), 6)
    0.05
    """
    if statistic == inf:
        return 0.0
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + statistic * statistic))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, computed by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    # The fraction converges fast for small x; large x use the symmetry of the function.
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    tiny = 1e-300
    numerator, denominator = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    fraction = denominator
    for step in range(1, 500):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            denominator = 1 / (1 + term * denominator or tiny)
            numerator = 1 + term / numerator or tiny
            change = numerator * denominator
            fraction *= change
        if abs(change - 1) < 1e-15:
            break
    return front * fraction
