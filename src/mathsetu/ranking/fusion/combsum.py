"""CombSUM: the sum of normalised scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mathsetu.ranking.fusion.method import rounded
from mathsetu.ranking.fusion.pool import Pool
from mathsetu.ranking.fusion.scaling import check_scaling, scaled

if TYPE_CHECKING:
    from mathsetu.ranking.fusion.method import Rating


@dataclass(frozen=True, slots=True)
class CombSUM:
    """The sum of a candidate's normalised scores; ties go to the better best rank.

    Source: Fox and Shaw, "Combination of multiple searches", TREC-2, 1994. With the
    normalisation ``none`` it is the plain sum of scores, such as that of TF-IDF and BM25+ in
    Geletka et al., "Diverse semantics representation is king", CLEF 2022, section 3.4.

    >>> from mathsetu.ranking.fusion import fuse
    >>> from mathsetu.records import Hit, Run
    >>> tfidf = Run("tfidf", {"A.1": (Hit("7", 9.0), Hit("8", 5.0))})
    >>> bm25 = Run("bm25", {"A.1": (Hit("8", 6.0), Hit("7", 1.0))})
    >>> [(h.id, h.score) for h in fuse([tfidf, bm25], CombSUM("none")).rankings["A.1"]]
    [('8', 11.0), ('7', 10.0)]
    """

    normalisation: str = "spread"

    def __post_init__(self) -> None:
        check_scaling(self.normalisation)

    def rate(self, pool: Pool) -> Rating:
        """Rate the candidates of a topic."""
        return rounded(scaled(pool, self.normalisation).sum(axis=0)), -pool.best_ranks
