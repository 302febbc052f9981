"""``mathsetu compare``: compares runs, with significance tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import click

from mathsetu.cli.evaluation import (
    FILE,
    Choices,
    EvaluationSetup,
    MeasuredRun,
    evaluation_options,
    show_table,
)
from mathsetu.cli.output import json_option, print_json
from mathsetu.evaluation import Comparison, Results, compare, grouped
from mathsetu.evaluation.plots import difference_panels, means_panel
from mathsetu.evaluation.reports import comparison_table


@click.command("compare")
@click.argument("qrels", type=FILE)
@click.argument("runs", type=FILE, nargs=-1, required=True)
@evaluation_options
@click.option("--all-pairs", is_flag=True,
              help="Test all pairs of runs, not only each against the first. Raised letters mark "
                   "significant differences; --json has all differences and p-values.")  # fmt: skip
@click.option("--alpha", default=0.05, show_default=True, type=click.FloatRange(0, 1),
              help="A difference is significant when its corrected p is below this.")  # fmt: skip
@json_option
def command(
    qrels: Path,
    runs: tuple[Path, ...],
    choices: Choices,
    all_pairs: bool,
    alpha: float,
    as_json: bool,
) -> None:
    r"""Compare RUNS on the judgments QRELS; the first run is the baseline.

    Differences, p-values and wins are shown against the first run, for the first measure; --json
    has them for all measures.

    \b
    Examples:
      mathsetu compare qrels.txt bm25.run dense.run fused.run -m "nDCG'" -m "MAP'"
      mathsetu compare qrels.txt a.run b.run --by language --topics topics.jsonl --write plot.pdf
    """
    choices.check_targets(qrels, *runs)
    groups, seed = choices.groups(), choices.seed
    yardstick = EvaluationSetup.read(qrels, choices)
    measured = yardstick.measure_all(runs)
    for one in measured:
        one.warn()
    every = _named_apart(measured)
    members = grouped(yardstick.judgments.grades, groups) if groups is not None else {}
    comparisons = {
        name: compare(every, ids, all_pairs=all_pairs, alpha=alpha, seed=seed)
        for name, ids in {"all": None, **members}.items()
    }
    table = comparison_table(comparisons, seed=seed, answerable=choices.answerable)
    if choices.targets:
        main = every[0].measures[0]
        curves = [curve for one in measured for curve in one.curves]
        choices.write(
            table,
            main,
            means_panel(comparisons, main, seed=seed),
            difference_panels(comparisons["all"], main),
            {one.run: curve for one, curve in zip(every, curves, strict=choices.draws)},
        )
    if as_json:
        groups_found = {name: _plain(comparison) for name, comparison in comparisons.items()}
        warnings = [warning for one in measured for warning in one.warnings]
        print_json({"warnings": warnings, "groups": groups_found})
        return
    show_table(table)


def _named_apart(measured: list[MeasuredRun]) -> list[Results]:
    """Make the names of runs unique by adding the file name where names are repeated."""
    found = [(one.path, results) for one in measured for results in one.results]
    counts = Counter(results.run for _, results in found)
    return [
        replace(results, run=f"{path.name}:{results.run}") if counts[results.run] > 1 else results
        for path, results in found
    ]


def _plain(comparison: Comparison) -> dict[str, object]:
    names = [results.run for results in comparison.results]
    return {
        "topics": len(comparison.topics),
        "comparisons": comparison.comparisons,
        "runs": [
            {
                "run": results.run,
                "relevant_from": results.relevant_from,
                "means": {str(m): results.mean(m, comparison.topics) for m in results.measures},
            }
            for results in comparison.results
        ],
        "differences": [
            {
                "run": names[difference.run],
                "other": names[difference.other],
                "measure": str(difference.measure),
                "mean": difference.mean,
                "interval": list(difference.interval),
                "p": difference.uncorrected,
                "corrected_p": difference.p,
                "wins": difference.record.wins,
                "ties": difference.record.ties,
                "losses": difference.record.losses,
            }
            for difference in comparison.differences
        ],
    }
