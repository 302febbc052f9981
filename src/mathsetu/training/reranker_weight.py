"""Chooses the weight of a reranker in a recipe, on judged topics.

A model that was trained on a forum knows something that the parts do not, and is sometimes badly
wrong. So its weight is measured: each topic is answered and read once, then all weights are tried.
What a chosen weight brings is told on topics that it was not chosen on.
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
class Weighed:
    """What a reranker counts best.

    Attributes:
        weight: Its weight; 0 where the hits are better without it.
        gains: The mean nDCG@10 of all topics for each weight.
        without: The mean nDCG@10 without the reranker.
        aside: The same with weights that were each chosen on other topics.
        topics: How many topics were judged.
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
) -> Weighed:
    """Choose the weight of a reranker on judged topics.

    Args:
        library: What it reranks; its recipe has no reranker yet.
        queries: The topics.
        judgments: Of posts, for topics.
        settings: The reranker; its weight does not matter.
        model: A model already loaded, instead of the one that the settings name.
        note: Told how many topics are done.
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
        rows[query.id] = (hits, list(reader.read(asked, texts)) if texts else [])
        note(len(rows))
    if not rows:
        raise InputError("no topic has a judgment, so nothing can be measured")
    gains = {weight: _gains(rows, known, settings, weight) for weight in WEIGHTS}
    means = {weight: _mean(own, rows) for weight, own in gains.items()}
    return Weighed(
        _best(gains, list(rows)), means, means[0.0], _aside(gains, list(rows)), len(rows)
    )


def _gains(
    rows: Mapping[str, tuple[tuple[Hit, ...], list[float]]],
    judgments: Judgments,
    settings: Rerank,
    weight: float,
) -> dict[str, float]:
    """NDCG@10 of each topic."""
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
    """The weight that is best for some topics; of equal ones the smallest."""
    return max(gains, key=lambda weight: (round(_mean(gains[weight], topics), 9), -weight))


def _aside(gains: Mapping[float, Mapping[str, float]], topics: Sequence[str]) -> float:
    """The mean over all topics, the weight for each chosen on those of other folds."""
    total = 0.0
    for fold in range(_FOLDS):
        own = topics[fold::_FOLDS]
        others = [topic for topic in topics if topic not in own]
        weight = _best(gains, others) if others else 0.0
        total += sum(gains[weight][topic] for topic in own)
    return total / len(topics)
