"""Compares several runs on the same topics, with significance tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from mathsetu.errors import InputError
from mathsetu.evaluation.measures import Measure
from mathsetu.evaluation.results import Results
from mathsetu.evaluation.significance import (
    Interval,
    WinsTiesLosses,
    bonferroni,
    bootstrap_intervals,
    paired_t_test,
    wins_ties_losses,
)

#: The letters that name runs in a table; q is missing because it has no superscript character.
LETTERS = "abcdefghijklmnoprstuvwxyz"


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of two runs in one measure, with its significance.

    ``run`` and ``other`` are positions in the list of results; ``mean`` is positive if ``run`` is
    better. ``p`` is corrected for the number of comparisons, ``uncorrected`` is not.
    """

    run: int
    other: int
    measure: Measure
    mean: float
    interval: Interval
    uncorrected: float
    p: float
    record: WinsTiesLosses


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs compared on the same topics, sorted by name; the first run is the baseline."""

    results: tuple[Results, ...]
    topics: tuple[str, ...]
    differences: tuple[Difference, ...]
    comparisons: int
    alpha: float

    def below(self, run: int, measure: Measure) -> str:
        """The letters of the runs that are significantly below this one."""
        return "".join(sorted(self._below(run, measure)))

    def _below(self, run: int, measure: Measure) -> Iterator[str]:
        for difference in self.differences:
            if difference.measure != measure or difference.p >= self.alpha:
                continue
            if difference.run == run and difference.mean > 0:
                yield LETTERS[difference.other]
            elif difference.other == run and difference.mean < 0:
                yield LETTERS[difference.run]

    def difference_from_baseline(self, run: int, measure: Measure) -> Difference | None:
        """The difference of a run from the first run; None for the first run itself."""
        for difference in self.differences:
            if (difference.run, difference.other, difference.measure) == (run, 0, measure):
                return difference
        return None


def compare(
    results: Sequence[Results],
    topics: Sequence[str] | None = None,
    *,
    all_pairs: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
) -> Comparison:
    """Compare all runs with the first, or every run with every other.

    The paired t-test is two-sided; its p-values are multiplied by the number of comparisons made
    for a measure (Bonferroni).

    Args:
        results: The results of the runs, with the same measures on the same topics.
        topics: The topics to compare on (default: all).
        all_pairs: Whether to compare every pair of runs.
        alpha: A difference is significant when its corrected p-value is below this.
        seed: Seed of the bootstrap.

    >>> measure = Measure("MRR")
    >>> weak = Results("weak", 1, {measure: {"1": 0.1, "2": 0.2, "3": 0.1}})
    >>> strong = Results("strong", 1, {measure: {"1": 0.6, "2": 0.8, "3": 0.6}})
    >>> comparison = compare([weak, strong])
    >>> comparison.below(1, measure), str(comparison.differences[0].record)
    ('a', '3/0/0')
    """
    _check(results)
    # Sorted by name, so that the order of the judgments does not change the bootstrap samples.
    chosen = tuple(sorted(results[0].topics if topics is None else topics))
    pairs = [(late, early) for early, late in combinations(range(len(results)), 2)]
    if not all_pairs:
        pairs = [(run, other) for run, other in pairs if other == 0]
    cases = [
        (run, other, measure, _differences(results[run], results[other], measure, chosen))
        for measure in results[0].measures
        for run, other in pairs
    ]
    intervals = bootstrap_intervals([values for *_, values in cases], seed=seed)
    differences = []
    for (run, other, measure, values), interval in zip(cases, intervals, strict=True):
        p = paired_t_test(values)
        corrected = bonferroni(p, len(pairs))
        mean = fmean(values)
        differences.append(
            Difference(run, other, measure, mean, interval, p, corrected, wins_ties_losses(values))
        )
    return Comparison(tuple(results), chosen, tuple(differences), len(pairs), alpha)


def _differences(
    run: Results, other: Results, measure: Measure, topics: Sequence[str]
) -> list[float]:
    pairs = zip(run.of(measure, topics), other.of(measure, topics), strict=True)
    return [mine - theirs for mine, theirs in pairs]


def _check(results: Sequence[Results]) -> None:
    if not 2 <= len(results) <= len(LETTERS):
        raise InputError(f"2 to {len(LETTERS)} runs can be compared, not {len(results)}")
    first = results[0]
    for other in results[1:]:
        if (other.measures, set(other.topics)) != (first.measures, set(first.topics)):
            raise InputError(
                f"{other.run} and {first.run} were measured differently: "
                "compare runs on the same topics with the same measures"
            )
