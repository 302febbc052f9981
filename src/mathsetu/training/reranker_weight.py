"""Chooses the weight of a reranker in a recipe, on judged topics.

A model trained on a forum adds information that the parts of the recipe do not have, but is
sometimes badly wrong. So its weight is tuned: each topic is searched and reranked once, then all
weights are tried. The gain of the chosen weight is reported by cross-validation over topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, evaluate, parse_measures
from mathsetu.intake.question import topic_question
from mathsetu.library import Library
from mathsetu.ranking.rerank import CROSS_ENCODERS, Rerank
from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.ranking.rerank.tiers import in_tiers
from mathsetu.records import Hit, Judgment, Query, Run

#: The weights that are tried; 0 leaves the reranker out.
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_FOLDS = 5
_MEASURE = "nDCG@10"


@dataclass(frozen=True)
class WeightChoice:
    """The best weight of a reranker and its gains.

    Attributes:
        weight: The best weight; 0 if the hits are better without the reranker.
        gains: The mean nDCG@10 over all topics for each weight.
        without: The mean nDCG@10 without the reranker.
        aside: The cross-validated mean nDCG@10: each topic with a weight chosen on other topics.
        topics: The number of judged topics.
    """

    weight: float
    gains: Mapping[float, float]
    without: float
    aside: float
    topics: int


def choose_weight(
    library: Library,
    queries: Iterable[Query],
    judgments: Iterable[Judgment],
    settings: Rerank,
    model: Any = None,
    note: Callable[[int], None] = lambda done: None,
) -> WeightChoice:
    """Choose the weight of a reranker on judged topics.

    Args:
        library: The library to search; a reranker in its recipe is ignored.
        queries: The topics.
        judgments: The judgments of posts for topics.
        settings: The reranker; its weight is ignored.
        model: A loaded model to use instead of the one in the settings.
        note: Called with the number of topics done.
    """
    recipe = replace(library.recipe, rerank=None)
    plain = library.with_recipe(recipe)
    known = Judgments.of(judgments)
    reader = model or CROSS_ENCODERS[settings.kind](
        settings.model, settings.max_tokens, settings.batch
    )
    rows: dict[str, tuple[tuple[Hit, ...], list[float]]] = {}
    for query in queries:
        if query.id not in known.grades:
            continue
        hits = plain.run([query], settings.depth).rankings[query.id]
        texts = [candidate_text(plain.post(hit.id), settings.fields, settings.text) for hit in hits]
        asked = question_text(topic_question(query).marked_query, settings.text)
        rows[query.id] = (hits, list(reader.score(asked, texts)) if texts else [])
        note(len(rows))
    if not rows:
        raise InputError("no topic has a judgment, so nothing can be measured")
    gains = {weight: _gains(rows, known, settings, weight) for weight in WEIGHTS}
    means = {weight: _mean(own, rows) for weight, own in gains.items()}
    return WeightChoice(
        _best(gains, list(rows)),
        means,
        means[0.0],
        _cross_validated_mean(gains, list(rows)),
        len(rows),
    )


def _gains(
    rows: Mapping[str, tuple[tuple[Hit, ...], list[float]]],
    judgments: Judgments,
    settings: Rerank,
    weight: float,
) -> dict[str, float]:
    """Return nDCG@10 of each topic."""
    rankings = {}
    for topic, (hits, read) in rows.items():
        order: Sequence[int] = range(len(hits))
        if weight and read:
            old = [hit.score for hit in hits]
            order = in_tiers(read, old, settings.tiers, weight).order
        rankings[topic] = tuple(Hit(hits[old].id, -float(new)) for new, old in enumerate(order))
    [measure] = parse_measures([_MEASURE])[:1]
    judged = Judgments({topic: judgments.grades[topic] for topic in rows})
    results = evaluate(Run("weighed", rankings), judged, [measure])
    return dict(zip(rows, results.of(measure, rows), strict=True))


def _mean(gains: Mapping[str, float], topics: Iterable[str]) -> float:
    own = [gains[topic] for topic in topics]
    return sum(own) / len(own)


def _best(gains: Mapping[float, Mapping[str, float]], topics: Sequence[str]) -> float:
    """Return the best weight for some topics; of equal ones the smallest."""
    return max(gains, key=lambda weight: (round(_mean(gains[weight], topics), 9), -weight))


def _cross_validated_mean(
    gains: Mapping[float, Mapping[str, float]], topics: Sequence[str]
) -> float:
    """Return the cross-validated mean: the weight of each fold is chosen on the other folds."""
    total = 0.0
    for fold in range(_FOLDS):
        own = topics[fold::_FOLDS]
        others = [topic for topic in topics if topic not in own]
        weight = _best(gains, others) if others else 0.0
        total += sum(gains[weight][topic] for topic in own)
    return total / len(topics)
