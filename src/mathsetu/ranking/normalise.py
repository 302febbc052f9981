"""Brings the scores of different parts onto one scale, candidate by candidate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def minmax(scores: Numbers) -> Numbers:
    """The best becomes 1, what was not found stays 0, the others keep their proportions.

    Scores are measured from zero (not found) unless some are negative, so that a candidate
    which one part found last is still better off than one it did not find.

    >>> minmax(np.array([0.0, 2.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    lowest = min(0.0, float(scores.min(initial=0.0)))
    spread = float(scores.max(initial=0.0)) - lowest
    return (scores - lowest) / spread if spread else np.zeros_like(scores)


def ranks(scores: Numbers) -> Numbers:
    """The best becomes 1, the next less by an equal step; ties share, zero stays zero.

    >>> ranks(np.array([0.1, 9.0, 0.0, 0.1])).tolist()
    [0.5, 1.0, 0.0, 0.5]
    """
    distinct, places = np.unique(scores, return_inverse=True)
    found = np.count_nonzero(distinct > 0)
    below = len(distinct) - found
    return np.asarray(np.maximum(places - below + 1, 0) / max(found, 1))


def unchanged(scores: Numbers) -> Numbers:
    """Scores that share a scale already, such as cosines and overlaps."""
    return scores


#: The normalisations that a recipe can name.
NORMALISATIONS: dict[str, Callable[[Numbers], Numbers]] = {
    "minmax": minmax,
    "rank": ranks,
    "none": unchanged,
}
