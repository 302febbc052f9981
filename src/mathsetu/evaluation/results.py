"""The results of one run: by topic, by group of topics, and on average."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from mathsetu.evaluation.judgments import Judgments
from mathsetu.evaluation.measures import Measure
from mathsetu.evaluation.rankings import Irregularities, judged_rankings
from mathsetu.evaluation.scoring import score
from mathsetu.evaluation.significance import Interval, bootstrap_intervals
from mathsetu.records import Run

#: The name of the group of topics that have no group.
NO_GROUP = "(none)"


@dataclass(frozen=True, slots=True)
class Results:
    """The value of each measure for each topic of a run.

    ``relevant_from`` is the lowest relevant grade used for binary measures.
    """

    run: str
    relevant_from: int
    values: Mapping[Measure, Mapping[str, float]]
    irregularities: Irregularities = field(default_factory=Irregularities)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order asked for."""
        return tuple(self.values)

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged topics, in the order of the judgments."""
        return tuple(next(iter(self.values.values()), ()))

    def of(self, measure: Measure, topics: Iterable[str] | None = None) -> list[float]:
        """The values of a measure for some topics, or for all."""
        values = self.values[measure]
        return [values[topic] for topic in topics] if topics is not None else [*values.values()]

    def mean(self, measure: Measure, topics: Collection[str] | None = None) -> float:
        """The mean of a measure over some topics, or over all."""
        return fmean(self.of(measure, topics))

    def intervals(
        self,
        measures: Sequence[Measure] | None = None,
        topics: Iterable[str] | None = None,
        *,
        seed: int = 0,
    ) -> list[Interval]:
        """The bootstrap interval of each mean, independent of the order of the judgments.

        Args:
            measures: The measures (default: all).
            topics: The topics (default: all).
            seed: Seed of the bootstrap.
        """
        ordered = sorted(self.topics if topics is None else topics)
        chosen = self.measures if measures is None else measures
        return bootstrap_intervals([self.of(measure, ordered) for measure in chosen], seed=seed)


def evaluate(
    run: Run,
    judgments: Judgments,
    measures: Sequence[Measure],
    *,
    relevant_from: int | None = None,
    visual_ids: Mapping[str, str] | None = None,
) -> Results:
    """Measure a run on every judged topic; a topic without hits scores 0.

    Args:
        run: The hits.
        judgments: The judgments.
        measures: The measures to compute.
        relevant_from: The lowest relevant grade (default: derived from the judgments).
        visual_ids: Formula id to visual id, if the judgments use visual ids (ARQMath task 2).

    >>> from mathsetu.records import Hit, Judgment
    >>> judgments = Judgments.of([Judgment("A.1", "7", 3), Judgment("A.2", "8", 1)])
    >>> run = Run("bm25", {"A.1": (Hit("9", 2.0), Hit("7", 1.0))})
    >>> results = evaluate(run, judgments, [Measure("MRR")])
    >>> results.mean(Measure("MRR")), results.irregularities.missing
    (0.25, ('A.2',))
    """
    threshold = judgments.relevant_from if relevant_from is None else relevant_from
    rankings, irregularities = judged_rankings(run, judgments, visual_ids)
    values = {
        measure: {topic: score(measure, rankings[topic], threshold) for topic in rankings}
        for measure in measures
    }
    return Results(run.name, threshold, values, irregularities)


def grouped(topics: Iterable[str], groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Group topics; groups are sorted by name, topics without a group come last.

    >>> grouped(["A.1", "A.2", "A.3"], {"A.1": "hi", "A.2": "en"})
    {'en': ['A.2'], 'hi': ['A.1'], '(none)': ['A.3']}
    """
    found: dict[str, list[str]] = {}
    for topic in topics:
        found.setdefault(groups.get(topic) or NO_GROUP, []).append(topic)
    return {name: found[name] for name in sorted(found, key=lambda name: (name == NO_GROUP, name))}
