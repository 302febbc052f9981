"""The candidates of several runs for one topic: the input of every fusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.records import Hit, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# Sums of a few scores must stay finite.
_LARGEST_SCORE = 1e100


@dataclass(frozen=True, eq=False)
class Pool:
    """The candidates of a topic, with a row of ranks and a row of scores for each run.

    Ranks count from 1; rank 0 and score 0 mean that the run did not find the candidate.
    Candidates are in the order of their ids (see `natural_order`), which decides the last ties.
    In a part of a pool, ``places`` are the places of its candidates in the whole pool.
    """

    topic: str
    ids: tuple[str, ...]
    post_ids: tuple[str, ...]
    ranks: NDArray[np.int64]
    scores: Numbers
    places: NDArray[np.int64] | None = None

    def part(self, places: NDArray[np.int64]) -> Pool:
        """Some candidates, with the ranks and scores that they have in the whole pool."""
        return Pool(
            self.topic,
            tuple(self.ids[place] for place in places),
            tuple(self.post_ids[place] for place in places),
            self.ranks[:, places],
            self.scores[:, places],
            places,
        )

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Which run found which candidate."""
        return np.asarray(self.ranks > 0)

    @cached_property
    def best_ranks(self) -> Numbers:
        """The best rank of each candidate in any run."""
        return np.asarray(np.where(self.found, self.ranks, np.inf).min(axis=0))


def pool_runs(runs: Sequence[Run]) -> list[Pool]:
    """Make a pool for each topic of any run.

    Topics come in the order of their names, so that the order of the runs changes nothing.

    >>> from mathsetu.records import Hit
    >>> words = Run("words", {"A.1": (Hit("7", 2.0), Hit("10", 1.0))})
    >>> formulas = Run("formulas", {"A.1": (Hit("9", 0.5), Hit("7", 0.4))})
    >>> [pool] = pool_runs([words, formulas])
    >>> pool.ids, pool.ranks.tolist()
    (('7', '9', '10'), [[1, 0, 2], [2, 1, 0]])
    """
    if not runs:
        raise InputError("there is nothing to fuse: give at least one run")
    topics = sorted({topic for run in runs for topic in run.rankings})
    return [_pool(topic, runs) for topic in topics]


def check_hits(ranking: Sequence[Hit], topic: str, where: str) -> None:
    """Raise `InputError` if a ranking has a hit twice, and so with two ranks."""
    if len({hit.id for hit in ranking}) < len(ranking):
        [(repeated, times)] = Counter(hit.id for hit in ranking).most_common(1)
        raise InputError(
            f"{where}: {repeated} occurs {times} times for {topic}; keep one ('mathsetu validate' "
            "names the lines)"
        )


def natural_order(candidate_id: str) -> tuple[bool, int, str, str]:
    """The sort key of ids: integers by their value, then all others by their characters.

    >>> sorted(["b", "10", "9", "a"], key=natural_order)
    ['9', '10', 'a', 'b']
    """
    if candidate_id.isascii() and candidate_id.isdigit():
        # Longer is larger: numbers of any length are compared without being converted.
        digits = candidate_id.lstrip("0")
        return False, len(digits), digits, candidate_id
    return True, 0, "", candidate_id


def _pool(topic: str, runs: Sequence[Run]) -> Pool:
    rankings = [run.rankings.get(topic, ()) for run in runs]
    post_ids = {hit.id: hit.post_id for ranking in reversed(rankings) for hit in ranking}
    ids = tuple(sorted(post_ids, key=natural_order))
    places = {candidate_id: place for place, candidate_id in enumerate(ids)}
    ranks = np.zeros((len(runs), len(ids)), dtype=np.int64)
    scores = np.zeros((len(runs), len(ids)))
    for row, (run, ranking) in enumerate(zip(runs, rankings, strict=True)):
        columns = [places[hit.id] for hit in ranking]
        check_hits(ranking, topic, f"run {run.name or row + 1}")
        ranks[row, columns] = np.arange(1, len(columns) + 1)
        scores[row, columns] = [hit.score for hit in ranking]
        if not np.all(np.abs(scores[row]) < _LARGEST_SCORE):
            raise InputError(
                f"run {run.name or row + 1}: {topic} has a score that is too large or not a number"
            )
    return Pool(topic, ids, tuple(post_ids[name] for name in ids), ranks, scores)
