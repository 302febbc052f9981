"""The interface of fusion methods, and how any method fuses runs into one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mathsetu.errors import InputError
from mathsetu.ranking.fusion.pool import Pool, pool_runs
from mathsetu.records import Hit, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    #: For each candidate its score, then values that break ties; higher is better.
    Rating = tuple[Numbers, ...]

# How many hits of a topic are kept: the depth of TREC and ARQMath runs.
DEPTH = 1000
# The significant digits of the largest score; further digits are rounding errors.
_DIGITS = 12
# The difference, as a share of the largest score, between hits that a tie rule separates. It
# survives single precision, in which trec_eval stores scores.
_STEP = 2.0**-22


class Fusion(Protocol):
    """A fusion method; its settings are its fields."""

    def rate(self, pool: Pool) -> Rating:
        """Rate the candidates of a topic."""


def fuse(runs: Sequence[Run], method: Fusion, depth: int = DEPTH, name: str = "fusion") -> Run:
    """Fuse runs with a method.

    Ties that the method leaves go to the smaller id. Topics come in the order of their names.

    >>> from mathsetu.ranking.fusion import RRF
    >>> words = Run("words", {"A.1": (Hit("7", 2.0), Hit("10", 1.0))})
    >>> formulas = Run("formulas", {"A.1": (Hit("10", 0.5), Hit("9", 0.4))})
    >>> [hit.id for hit in fuse([words, formulas], RRF()).rankings["A.1"]]
    ['10', '7', '9']
    """
    return Run(name, {pool.topic: ranked(pool, method, depth) for pool in pool_runs(runs)})


def ranked(pool: Pool, method: Fusion, depth: int = DEPTH) -> tuple[Hit, ...]:
    """The hits of one topic, best first.

    The scores are those of the method. Only if a tie rule decided between equal scores, the later
    hit gets a slightly lower score, so that tools that sort by score keep the order.
    """
    if depth < 1:
        raise InputError(f"depth {depth}: at least one hit per topic must be kept")
    rating = method.rate(pool)
    places = order(rating)[:depth]
    scores = rating[0][places].tolist()
    ties = np.reshape(rating[1:], (len(rating) - 1, len(pool.ids)))
    equal, undecided = _repeats(rating[0][None, places]), _repeats(ties[:, places])
    step = (float(np.abs(rating[0]).max(initial=0.0)) or 1.0) * _STEP
    for place in range(1, len(scores)):
        before = scores[place - 1]
        if equal[place] and undecided[place]:
            scores[place] = before
        elif scores[place] >= before:
            scores[place] = before - step
    return tuple(
        Hit(pool.ids[place], score, pool.post_ids[place])
        for place, score in zip(places.tolist(), scores, strict=True)
    )


def order(rating: Rating) -> NDArray[np.int64]:
    """The places of the candidates from best to worst.

    >>> order((np.array([0.3, 0.3, 0.5]), np.array([1.0, 2.0, 0.0]))).tolist()
    [2, 1, 0]
    """
    # lexsort sorts by its last key first; what is equal in all keys stays in the order of the ids.
    return np.lexsort(tuple(-numbers for numbers in reversed(rating)))


def rounded(scores: Numbers) -> Numbers:
    """Remove rounding errors from scores, so that mathematically equal sums become equal.

    >>> rounded(np.array([0.1 + 0.2, 0.3])).tolist()
    [0.3, 0.3]
    """
    largest = float(np.abs(scores).max(initial=0.0))
    if not largest:
        return scores
    return np.round(scores, min(_DIGITS - math.ceil(math.log10(largest)), 300))


def _repeats(rows: Numbers) -> list[bool]:
    """Whether each column equals the one before it."""
    return [False, *np.all(rows[:, 1:] == rows[:, :-1], axis=0).tolist()]
