"""CombMNZ: the sum of normalised scores, times the number of runs that agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mathsetu.errors import InputError
from mathsetu.ranking.fusion.method import rounded
from mathsetu.ranking.fusion.pool import Pool
from mathsetu.ranking.fusion.scaling import check_scaling, scaled

if TYPE_CHECKING:
    from mathsetu.ranking.fusion.method import Rating


@dataclass(frozen=True, slots=True)
class CombMNZ:
    """The sum of a candidate's normalised scores, times the number of runs that found it.

    Ties go to the candidate with the better best rank. Negative scores are refused, as agreement
    would lower them: all normalisations but ``none`` remove them.

    Source: Fox and Shaw, "Combination of multiple searches", TREC-2, 1994.

    >>> from mathsetu.ranking.fusion import fuse
    >>> from mathsetu.records import Hit, Run
    >>> words = Run("words", {"A.1": (Hit("7", 9.0), Hit("8", 8.0), Hit("9", 1.0))})
    >>> formulas = Run("formulas", {"A.1": (Hit("6", 5.0), Hit("8", 4.0), Hit("5", 3.0))})
    >>> fused = fuse([words, formulas], CombMNZ())
    >>> [(hit.id, round(hit.score, 3)) for hit in fused.rankings["A.1"]][:3]
    [('8', 2.75), ('6', 1.0), ('7', 1.0)]
    """

    normalisation: str = "spread"

    def __post_init__(self) -> None:
        check_scaling(self.normalisation)

    def rate(self, pool: Pool) -> Rating:
        """Rate the candidates of a topic."""
        total = scaled(pool, self.normalisation).sum(axis=0)
        if total.min(initial=0.0) < 0:
            raise InputError(f"{pool.topic}: CombMNZ takes no negative scores; normalise them")
        return rounded(total * pool.found.sum(axis=0)), -pool.best_ranks
