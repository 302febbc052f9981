"""Runs of ARQMath task 2 by visual ids: formulas that look the same are one candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mathsetu.evaluation.rankings import best_by_visual_id
from mathsetu.ranking.fusion.pool import natural_order
from mathsetu.records import Hit, Run


@dataclass(frozen=True, slots=True)
class VisualRuns:
    """Runs that name visual ids instead of formulas, each once for a topic.

    ``instances`` maps each visual id of a topic to a formula: that of the run that ranks it best.
    A formula without a known visual id is a candidate of its own.
    """

    runs: list[Run]
    instances: Mapping[str, Mapping[str, Hit]]

    @classmethod
    def of(cls, runs: Sequence[Run], visual_ids: Mapping[str, str]) -> VisualRuns:
        """Merge the hits of each run that look the same, and keep their formulas.

        Args:
            runs: Hits that are formulas.
            visual_ids: Formula id to visual id.

        >>> first = Run("first", {"B.1": (Hit("1", 3.0, "70"), Hit("2", 2.0, "71"))})
        >>> second = Run("second", {"B.1": (Hit("3", 9.0, "72"), Hit("4", 8.0, "73"))})
        >>> joined = VisualRuns.of([first, second], {"1": "x", "2": "x", "3": "y", "4": "x"})
        >>> [[hit.id for hit in run.rankings["B.1"]] for run in joined.runs]
        [['x'], ['y', 'x']]
        >>> [hit.id for hit in joined.named(joined.runs[1]).rankings["B.1"]]
        ['3', '1']
        """
        looks = {
            # Never the visual id of a judgment, because no id contains a space.
            hit.id: visual_ids.get(hit.id) or f"formula {hit.id}"
            for run in runs
            for ranking in run.rankings.values()
            for hit in ranking
        }
        joined: list[Run] = []
        ranked: dict[str, dict[str, list[tuple[int, Hit]]]] = {}
        for run in runs:
            rankings: dict[str, tuple[Hit, ...]] = {}
            for topic, hits in run.rankings.items():
                best = best_by_visual_id(hits, looks)
                rankings[topic] = tuple(Hit(look, hit.score) for look, hit in best.items())
                named = ranked.setdefault(topic, {})
                for rank, (look, hit) in enumerate(best.items()):
                    named.setdefault(look, []).append((rank, hit))
            joined.append(replace(run, rankings=rankings))

        def place(ranked_hit: tuple[int, Hit]) -> tuple[object, ...]:
            # Equal ranks go to the smaller id, so that the order of the runs changes nothing.
            rank, hit = ranked_hit
            return rank, natural_order(hit.id)

        instances = {
            topic: {look: min(hits, key=place)[1] for look, hits in named.items()}
            for topic, named in ranked.items()
        }
        return cls(joined, instances)

    def named(self, fused: Run) -> Run:
        """Replace the visual ids in a fusion of these runs by formulas."""
        rankings = {
            topic: tuple(replace(self.instances[topic][hit.id], score=hit.score) for hit in hits)
            for topic, hits in fused.rankings.items()
        }
        return replace(fused, rankings=rankings)
