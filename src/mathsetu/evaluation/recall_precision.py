"""Interpolated precision at eleven levels of recall, as trec_eval computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathsetu.evaluation.judgments import Judgments
from mathsetu.evaluation.rankings import judged_rankings
from mathsetu.evaluation.scoring import JudgedRanking
from mathsetu.records import Run

#: The levels of recall.
LEVELS = tuple(level / 10 for level in range(11))


def recall_precision(
    run: Run,
    judgments: Judgments,
    topics: Sequence[str] | None = None,
    *,
    relevant_from: int | None = None,
    visual_ids: Mapping[str, str] | None = None,
    judged_only: bool = False,
) -> list[float]:
    """Mean over topics of the highest precision at or above each level of recall.

    Topics without a known relevant post count as 0, as in all binary measures here.

    Args:
        run: The hits.
        judgments: The judgments.
        topics: The topics to average over (default: all judged topics).
        relevant_from: The lowest relevant grade (default: derived from the judgments).
        visual_ids: Formula id to visual id, if the judgments use visual ids (ARQMath task 2).
        judged_only: Remove unjudged hits first, as prime measures do.

    >>> from mathsetu.records import Hit, Judgment
    >>> judged = Judgments.of([Judgment("1", "a", 1), Judgment("1", "c", 1)])
    >>> run = Run("r", {"1": (Hit("a", 3.0), Hit("b", 2.0), Hit("c", 1.0))})
    >>> [round(value, 2) for value in recall_precision(run, judged)][4:7]
    [1.0, 1.0, 0.67]
    """
    threshold = judgments.relevant_from if relevant_from is None else relevant_from
    rankings, _ = judged_rankings(run, judgments, visual_ids)
    chosen = list(rankings) if topics is None else list(topics)
    ranked = (rankings[topic] for topic in chosen)
    counted = (one.without_unjudged() if judged_only else one for one in ranked)
    curves = [_curve(one, threshold) for one in counted]
    return [sum(column) / len(curves) for column in zip(*curves, strict=True)]


def _curve(ranking: JudgedRanking, relevant_from: int) -> list[float]:
    relevant = sum(grade >= relevant_from for grade in ranking.pool)
    ranks = [rank for rank, grade in ranking.found if grade >= relevant_from]
    best = 0.0
    # From the end: the highest precision at this number of relevant hits or more.
    beyond = [0.0] * (len(ranks) + 1)
    for number in range(len(ranks), 0, -1):
        best = max(best, number / ranks[number - 1])
        beyond[number] = best
    beyond[0] = best
    curve = []
    for tenth in range(len(LEVELS)):
        needed = -(-tenth * relevant // 10)  # rounded up, in integers
        curve.append(beyond[needed] if relevant and needed <= len(ranks) else 0.0)
    return curve
