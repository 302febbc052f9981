"""Converts the hits of a run into the rankings that are measured, and notes irregularities.

Hits are ranked as in trec_eval, whatever their order in the file: by descending score, ties by
descending id. Scores are equal if they agree as 32-bit floats.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mathsetu.evaluation.judgments import Judgments
from mathsetu.evaluation.scoring import JudgedRanking
from mathsetu.records import Hit, Run

_SHOWN = 5
#: The warning for a run none of whose hits is judged.
NO_HIT_IS_JUDGED = (
    "no hit of the run is judged: check that run and judgments use the same ids "
    "(judgments of ARQMath task 2 use visual ids; give them with --visual-ids)"
)


@dataclass(frozen=True, slots=True)
class Irregularities:
    """Irregularities of a run that a reader of its figures should know.

    ``missing`` are judged topics without hits, ``unknown`` are topics without judgments,
    ``repeated`` are topics in which a hit occurs more than once. ``unmapped`` counts hits without a
    known visual id. ``no_hit_is_judged`` is true if no hit at all is judged.

    >>> print(*Irregularities(missing=("A.3",)).messages(), sep="; ")
    1 judged topic has no hits and counts as 0 (trec_eval -c does so too): A.3
    """

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    unmapped: int = 0
    no_hit_is_judged: bool = False

    def messages(self) -> Iterator[str]:
        """One line per kind of irregularity: what, how many, and how it was handled."""
        if self.missing:
            have, count = ("has", "counts") if len(self.missing) == 1 else ("have", "count")
            yield (
                f"{_number(self.missing, 'judged topic')} {have} no hits and {count} as 0 "
                f"(trec_eval -c does so too): {_listed(self.missing)}"
            )
        if self.unknown:
            have, are = ("has", "is") if len(self.unknown) == 1 else ("have", "are")
            yield (
                f"{_number(self.unknown, 'topic')} of the run {have} no judgments and {are} left "
                f"out: {_listed(self.unknown)}"
            )
        if self.repeated:
            yield (
                f"hits are repeated in {_number(self.repeated, 'topic')}; only the best rank "
                f"of each counts (trec_eval refuses such a run): {_listed(self.repeated)}"
            )
        if self.unmapped:
            yield f"hits without a known visual id are left out, as the lab does: {self.unmapped:,}"
        if self.no_hit_is_judged:
            yield NO_HIT_IS_JUDGED


def judged_rankings(
    run: Run, judgments: Judgments, visual_ids: Mapping[str, str] | None = None
) -> tuple[dict[str, JudgedRanking], Irregularities]:
    """Return the ranking of every judged topic, and the irregularities of the run.

    Args:
        run: The hits.
        judgments: The judgments.
        visual_ids: Formula id to visual id, if the judgments use visual ids (ARQMath task 2).
            Only the first formula of each visual id is kept, as in the lab.

    >>> from mathsetu.records import Judgment
    >>> judged = Judgments.of([Judgment("A.1", "7", 3)])
    >>> rankings, found = judged_rankings(Run("r", {"A.1": (Hit("9", 2), Hit("7", 1))}), judged)
    >>> rankings["A.1"].found
    [(2, 3)]
    """
    rankings: dict[str, JudgedRanking] = {}
    repeated: list[str] = []
    unmapped = 0
    for topic, grades in judgments.grades.items():
        hits: Iterable[Hit] = run.rankings.get(topic, ())
        if visual_ids is not None:
            unmapped += sum(hit.id not in visual_ids for hit in hits)
            best = best_by_visual_id(hits, visual_ids)
            hits = [Hit(visual_id, hit.score) for visual_id, hit in best.items()]
        every = in_order(hits)
        ids = list(dict.fromkeys(every))
        if len(ids) < len(every):
            repeated.append(topic)
        rankings[topic] = JudgedRanking.of(ids, grades)
    missing = tuple(topic for topic in rankings if not run.rankings.get(topic))
    known = rankings.keys() | judgments.left_out
    unknown = tuple(topic for topic in run.rankings if topic not in known)
    no_hit_is_judged = len(missing) < len(rankings) and not any(
        ranking.found for ranking in rankings.values()
    )
    return rankings, Irregularities(missing, unknown, tuple(repeated), unmapped, no_hit_is_judged)


def in_order(hits: Iterable[Hit]) -> list[str]:
    """The ids of hits in trec_eval's order.

    >>> in_order([Hit("a", 1.0), Hit("b", 2.0), Hit("c", 2.0)])
    ['c', 'b', 'a']
    """
    every = list(hits)
    # trec_eval stores scores as 32-bit floats, so that smaller differences are ties.
    scores = array("f", [hit.score for hit in every])
    ranked = sorted(zip(scores, [hit.id for hit in every], strict=True), reverse=True)
    return [hit_id for _, hit_id in ranked]


def best_by_visual_id(hits: Iterable[Hit], visual_ids: Mapping[str, str]) -> dict[str, Hit]:
    """The best hit of each visual id, best first; hits without a visual id are left out.

    Ties keep their order in the file, as in the lab.

    >>> hits = [Hit("1", 3.0), Hit("2", 2.0), Hit("3", 1.0)]
    >>> {look: hit.id for look, hit in best_by_visual_id(hits, {"1": "x", "2": "x"}).items()}
    {'x': '1'}
    """
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: -hit.score):
        if hit.id in visual_ids:
            best.setdefault(visual_ids[hit.id], hit)
    return best


def _number(items: tuple[str, ...], noun: str) -> str:
    return f"{len(items):,} {noun}{'' if len(items) == 1 else 's'}"


def _listed(items: tuple[str, ...]) -> str:
    return ", ".join(items[:_SHOWN]) + (" …" if len(items) > _SHOWN else "")
