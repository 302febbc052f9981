"""Measures how well a graph model finds the right answers of held-out pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mathsetu.encoders.graph.batch import GraphBatch, ReadyGraph
from mathsetu.training.graph.loss import GraphPair

Vectors = NDArray[np.float32]
# Returns the vectors of a batch: a network in numpy, or one in training.
Network = Callable[[GraphBatch], Vectors]

# Graphs per batch.
_BATCH = 32


@dataclass(frozen=True)
class AnswersFound:
    """The ranks of the right answers among the answers of all pairs.

    Attributes:
        reciprocal_rank: The mean reciprocal rank.
        at_10: The share of right answers in the first ten.
    """

    reciprocal_rank: float
    at_10: float


def found_answers(network: Network, pairs: Sequence[GraphPair]) -> AnswersFound:
    """Rank the answers of all pairs for each question by MaxSim."""
    questions = vectors_of(network, [pair.question for pair in pairs])
    scores = maxsim_scores(questions, vectors_of(network, [pair.answer for pair in pairs]))
    # Answers that tie with the right one are ranked before it, so ties do not help.
    ranks = (scores >= np.diagonal(scores)[:, None]).sum(axis=1)
    return AnswersFound(float(np.mean(1 / ranks)), float(np.mean(ranks <= 10)))


def maxsim_scores(queries: Sequence[Vectors], posts: Sequence[Vectors]) -> Vectors:
    """Return MaxSim of each query with each post, computed in memory.

    >>> unit = np.eye(2, dtype=np.float32)
    >>> maxsim_scores([unit], [unit, unit[:1]]).tolist()
    [[1.0, 0.5]]
    """
    # A text without vectors has similarity 0 to all.
    some = [vectors if len(vectors) else np.zeros_like(vectors, shape=(1, vectors.shape[1]))
            for vectors in (*queries, *posts)]  # fmt: skip
    told = np.concatenate(some[len(queries) :])
    starts = np.cumsum([0, *(len(vectors) for vectors in some[len(queries) : -1])])
    return np.stack(
        [
            np.maximum.reduceat(query @ told.T, starts, axis=1).mean(axis=0)
            for query in some[: len(queries)]
        ]
    )


def vectors_of(network: Network, graphs: Sequence[ReadyGraph]) -> list[Vectors]:
    """Return the vectors of each graph."""
    found: list[Vectors] = []
    for start in range(0, len(graphs), _BATCH):
        batch = GraphBatch.of(graphs[start : start + _BATCH])
        found += np.split(network(batch), np.cumsum(batch.counts)[:-1])
    return found
