"""WIBC: fusion by weighted median rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mathsetu.ranking.fusion.median import median_rating
from mathsetu.ranking.fusion.method import DEPTH
from mathsetu.ranking.fusion.pool import Pool
from mathsetu.ranking.fusion.weights import checked

if TYPE_CHECKING:
    from mathsetu.ranking.fusion.method import Rating


@dataclass(frozen=True, slots=True)
class WIBC:
    """IBC with a weight for each run: weighted medians, and weighted draws between ties.

    Source: Geletka et al., "Diverse semantics representation is king: MIRMU and MSM at ARQMath
    2022", CLEF 2022, section 3.6.4.

    >>> from mathsetu.ranking.fusion import fuse
    >>> from mathsetu.records import Hit, Run
    >>> orders = ["abc", "bac", "cba"]
    >>> runs = [Run(o, {"A.1": tuple(Hit(c, -n) for n, c in enumerate(o))}) for o in orders]
    >>> [hit.id for hit in fuse(runs, WIBC(weights=(1, 1, 3))).rankings["A.1"]]
    ['c', 'b', 'a']
    """

    weights: tuple[float, ...]
    depth: int = DEPTH
    seed: int = 0

    def rate(self, pool: Pool) -> Rating:
        """Rate the candidates of a topic."""
        weights = checked(self.weights, len(pool.ranks))
        return median_rating(pool, weights, self.depth, self.seed)
