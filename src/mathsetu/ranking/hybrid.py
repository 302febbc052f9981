"""The hybrid score: a weighted sum of what the parts of a recipe say about each candidate.

The scores of different parts are brought onto one scale first, candidate by candidate. With two
parts it is λ·text + (1-λ)·math of the MIRaCLE paper. Ties go to the candidate that the leading part
(the first one) prefers, then to the earlier post.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def shares(
    scores: Mapping[str, Numbers], weights: Mapping[str, float], normalisation: str
) -> dict[str, Numbers]:
    """What each part adds to the hybrid score of each candidate.

    >>> scores = {"words": np.array([4.0, 2.0]), "formulas": np.array([0.0, 1.0])}
    >>> parts = shares(scores, {"words": 0.7, "formulas": 0.3}, "minmax")
    >>> {name: part.round(2).tolist() for name, part in parts.items()}
    {'words': [0.7, 0.35], 'formulas': [0.0, 0.3]}
    """
    scale = NORMALISATIONS[normalisation]
    return {name: weights[name] * scale(part) for name, part in scores.items()}


def order(parts: Mapping[str, Numbers], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the candidates from best to worst.

    >>> parts = {"words": np.array([0.5, 0.6]), "formulas": np.array([0.5, 0.4])}
    >>> order(parts, np.array([7, 9])).tolist()
    [1, 0]
    """
    total = sum(parts.values(), start=np.zeros(len(numbers)))
    leading = next(iter(parts.values()))
    # Rounding makes sums that are equal on paper equal here, so that the tie rule decides.
    return np.lexsort((numbers, -leading, -total.round(9)))


def adapted(weights: Mapping[str, float], silent: frozenset[str]) -> dict[str, float]:
    """Weights for one query: parts that have nothing to go on leave theirs to the others.

    A formula alone must not be ranked with 30% of the weight because a recipe expects words.

    >>> adapted({"words": 0.7, "formulas": 0.3}, frozenset({"words"}))
    {'words': 0.0, 'formulas': 1.0}
    """
    speaking = sum(weight for name, weight in weights.items() if name not in silent)
    if not speaking:
        return dict(weights)
    return {name: 0.0 if name in silent else weight / speaking for name, weight in weights.items()}
