"""The weighted sum of normalised scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mathsetu.ranking.fusion.method import rounded
from mathsetu.ranking.fusion.pool import Pool
from mathsetu.ranking.fusion.scaling import check_scaling, scaled
from mathsetu.ranking.fusion.weights import checked

if TYPE_CHECKING:
    from mathsetu.ranking.fusion.method import Rating


@dataclass(frozen=True, slots=True)
class Linear:
    """The sum of a candidate's normalised scores, each times the weight of its run.

    Ties go to the candidate with the better best rank.

    Source: Vogt and Cottrell, "Fusion via a linear combination of scores", Information
    Retrieval 1, 1999.

    >>> from mathsetu.ranking.fusion import fuse
    >>> from mathsetu.records import Hit, Run
    >>> words = Run("words", {"A.1": (Hit("7", 9.0), Hit("8", 5.0), Hit("9", 1.0))})
    >>> formulas = Run("formulas", {"A.1": (Hit("9", 0.7), Hit("8", 0.6), Hit("7", 0.2))})
    >>> fused = fuse([words, formulas], Linear(weights=(0.25, 0.75)))
    >>> [(hit.id, round(hit.score, 3)) for hit in fused.rankings["A.1"]]
    [('9', 0.75), ('8', 0.725), ('7', 0.25)]
    """

    weights: tuple[float, ...]
    normalisation: str = "spread"

    def __post_init__(self) -> None:
        check_scaling(self.normalisation)

    def rate(self, pool: Pool) -> Rating:
        """Rate the candidates of a topic."""
        weights = checked(self.weights, len(pool.ranks))
        return rounded(weights @ scaled(pool, self.normalisation)), -pool.best_ranks
