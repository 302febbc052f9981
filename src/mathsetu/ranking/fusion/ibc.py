"""IBC: fusion by median rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.ranking.fusion.median import median_rating
from mathsetu.ranking.fusion.method import DEPTH
from mathsetu.ranking.fusion.pool import Pool

if TYPE_CHECKING:
    from mathsetu.ranking.fusion.method import Rating


@dataclass(frozen=True, slots=True)
class IBC:
    """The median inverse rank, (depth - M) / depth, M being the median of a candidate's ranks.

    Ties go to the candidate that more runs found, then to the better of two ranks, each drawn at
    random from a candidate's ranks. The draw depends only on ``seed``, topic and candidates.

    Source: Novotný, Sojka, Štefánik and Lupták, "Three is better than one: ensembling math
    information retrieval systems", CLEF 2020; Geletka et al., "Diverse semantics representation
    is king", CLEF 2022, section 3.6.1. A candidate that a run lacks has rank ``depth`` in it, 1000
    in the source.

    >>> from mathsetu.ranking.fusion import fuse
    >>> from mathsetu.records import Hit, Run
    >>> orders = ["abc", "bac", "cba"]
    >>> runs = [Run(o, {"A.1": tuple(Hit(c, -n) for n, c in enumerate(o))}) for o in orders]
    >>> [(hit.id, round(hit.score, 3)) for hit in fuse(runs, IBC(depth=10)).rankings["A.1"]]
    [('b', 0.8), ('a', 0.8), ('c', 0.7)]
    """

    depth: int = DEPTH
    seed: int = 0

    def rate(self, pool: Pool) -> Rating:
        """Rate the candidates of a topic."""
        return median_rating(pool, np.ones(len(pool.ranks)), self.depth, self.seed)
