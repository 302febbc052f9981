"""Normalisation of the scores of a run's ranking, to a scale shared with other runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.ranking.fusion.pool import Pool
from mathsetu.ranking.hybrid import minmax, ranks, unchanged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def spread(scores: Numbers) -> Numbers:
    """Scale scores from 0 (the worst found) to 1 (the best), whatever a run's level and range.

    Source: Lee, "Analyses of multiple evidence combination", SIGIR 1997.

    >>> spread(np.array([0.7, 0.9, 0.8])).round(2).tolist()
    [0.0, 1.0, 0.5]
    """
    lowest = scores.min(initial=np.inf)
    width = scores.max(initial=-np.inf) - lowest
    return (scores - lowest) / width if width > 0 else np.ones_like(scores)


def places(scores: Numbers) -> Numbers:
    """Turn scores of any sign into ranks, in equal steps from 1 downwards; ties share a rank.

    >>> places(np.array([-3.0, 0.5, -1.0])).round(2).tolist()
    [0.33, 1.0, 0.67]
    """
    return ranks(1.0 + np.unique(scores, return_inverse=True)[1].astype(np.float64))


#: The normalisations of fusion; those that recipes also have are named as there.
SCALINGS: dict[str, Callable[[Numbers], Numbers]] = {
    "spread": spread,
    "minmax": minmax,
    "rank": places,
    "none": unchanged,
}


def check_scaling(name: str) -> None:
    """Raise `InputError` for an unknown normalisation."""
    if name not in SCALINGS:
        raise InputError(f"unknown normalisation {name!r} (known: {', '.join(SCALINGS)})")


def scaled(pool: Pool, name: str) -> Numbers:
    """The normalised scores of a pool; those not found get 0, or the run's lowest if negative.

    >>> from mathsetu.ranking.fusion.pool import pool_runs
    >>> from mathsetu.records import Hit, Run
    >>> words = Run("words", {"A.1": (Hit("7", 4.0), Hit("8", 2.0))})
    >>> formulas = Run("formulas", {"A.1": (Hit("8", 9.0),)})
    >>> scaled(pool_runs([words, formulas])[0], "minmax").tolist()
    [[1.0, 0.5], [0.0, 1.0]]
    """
    result = np.zeros_like(pool.scores)
    for row, scores, found in zip(result, pool.scores, pool.found, strict=True):
        row[found] = SCALINGS[name](scores[found])
        row[~found] = row[found].min(initial=0.0)
    return result
