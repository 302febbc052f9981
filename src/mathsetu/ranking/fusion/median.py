"""Weighted medians of ranks, and the tie rule that both median methods share."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.ranking.fusion.pool import Pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.ranking.fusion.method import Rating

    Numbers = NDArray[np.float64]


def median_rating(pool: Pool, weights: Numbers, depth: int, seed: int) -> Rating:
    """Rate by inverse median rank, then by the runs that agree, then by a drawn rank.

    A run that did not find a candidate ranks it at ``depth``. The last tie rule draws, for each
    candidate, one of its ranks at random, with the weights of the runs as probabilities.
    """
    if depth < 1:
        raise InputError(f"depth {depth}: a ranking has at least one place")
    weights = weights / weights.sum()
    ranks = np.where(pool.found, np.minimum(pool.ranks, depth), depth).astype(np.float64)
    inverse = (depth - weighted_medians(ranks, weights)) / depth
    votes = np.where(pool.found, weights[:, None], 0.0)
    # Rounded, because sums of the same weights in another order must be equal.
    agreement = votes.sum(axis=0).round(12)
    return inverse, agreement, -_drawn_ranks(pool, votes, seed)


def weighted_medians(values: Numbers, weights: Numbers) -> Numbers:
    """The weighted median of each column; the mean of the two middle values if there are two.

    >>> values = np.array([[1.0, 5.0], [2.0, 7.0], [9.0, 6.0]])
    >>> weighted_medians(values, np.array([1.0, 1.0, 1.0])).tolist()
    [2.0, 6.0]
    >>> weighted_medians(values, np.array([2.0, 1.0, 1.0])).tolist()
    [1.5, 5.5]
    """
    ascending, cumulated = _sorted_columns(values, np.broadcast_to(weights[:, None], values.shape))
    half = cumulated[-1:] / 2
    noise = 1e-9 * half
    lower = np.argmax(cumulated >= half - noise, axis=0)
    upper = np.argmax(cumulated > half + noise, axis=0)
    columns = np.arange(values.shape[1])
    return np.asarray((ascending[lower, columns] + ascending[upper, columns]) / 2)


def _drawn_ranks(pool: Pool, votes: Numbers, seed: int) -> Numbers:
    """Draw one rank of each candidate; infinity if only runs of weight 0 found it."""
    ranks = np.where(votes > 0, pool.ranks, np.inf)
    ascending, cumulated = _sorted_columns(ranks, votes)
    drawn = np.argmax(cumulated > _draws(seed, pool) * cumulated[-1], axis=0)
    return np.asarray(ascending[drawn, np.arange(len(pool.ids))])


def _sorted_columns(values: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
    places = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, places, axis=0)
    return ascending, np.cumsum(np.take_along_axis(weights, places, axis=0), axis=0)


def _draws(seed: int, pool: Pool) -> Numbers:
    """Pseudo-random numbers in [0, 1), the same on every machine and in every version.

    A candidate of a part of a pool gets the same number as in the whole pool.
    """
    places = np.arange(len(pool.ids)) if pool.places is None else pool.places
    count = int(places.max(initial=-1)) + 1
    digest = hashlib.shake_128(f"{seed} {pool.topic}".encode()).digest(8 * count)
    numbers = (np.frombuffer(digest, dtype="<u8") >> 11).astype(np.float64) * 2.0**-53
    return np.asarray(numbers[places])
