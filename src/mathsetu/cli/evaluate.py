"""``mathsetu evaluate``: measures a run against judgments."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.evaluation import FILE, Choices, EvaluationSetup, evaluation_options, show_table
from mathsetu.cli.output import json_option, print_json
from mathsetu.errors import InputError
from mathsetu.evaluation import Results, grouped
from mathsetu.evaluation.plots import results_panels
from mathsetu.evaluation.reports import results_table, topics_table


@click.command("evaluate")
@click.argument("qrels", type=FILE)
@click.argument("run", type=FILE)
@evaluation_options
@click.option("--per-topic", is_flag=True, help="Show every topic.")
@json_option
def command(
    qrels: Path,
    run: Path,
    choices: Choices,
    per_topic: bool,
    as_json: bool,
) -> None:
    r"""Measure RUN against the judgments QRELS.

    The share of judged hits (Judged@k) is always shown. Warnings about the run go to standard
    error.

    \b
    Examples:
      mathsetu evaluate qrels.txt run.trec
      mathsetu evaluate qrels.txt run.trec -m arqmath -m "nDCG'@10" --write table.tex
      mathsetu evaluate qrels.txt run.trec --by language --topics topics.jsonl --write plot.pdf
    """
    choices.check_targets(qrels, run)
    groups = choices.groups()
    yardstick = EvaluationSetup.read(qrels, choices)
    measured = yardstick.measure(run)
    measured.warn()
    if len(measured.results) != 1 and choices.targets:
        number = len(measured.results)
        raise InputError(f"{run}: holds {number} runs; only one can be written to a file")
    for results in measured.results:
        members = grouped(results.topics, groups) if groups is not None else None
        if per_topic:
            table = topics_table(results, members, answerable=choices.answerable)
        else:
            table = results_table(
                results, members, seed=choices.seed, answerable=choices.answerable
            )
        if choices.targets:
            main = results.measures[0]
            means, *topics = results_panels(results, main, members, seed=choices.seed)
            curves = dict(zip([results.run], measured.curves, strict=choices.draws))
            choices.write(table, main, means, topics, curves)
        if not as_json:
            show_table(table)
    if as_json:
        every = [_plain(results, groups, choices.seed) for results in measured.results]
        print_json({"warnings": measured.warnings, "runs": every})


def _plain(results: Results, groups: dict[str, str] | None, seed: int) -> dict[str, object]:
    members = grouped(results.topics, groups) if groups is not None else {}
    intervals = results.intervals(seed=seed)
    return {
        "run": results.run,
        "relevant_from": results.relevant_from,
        "measures": {
            str(measure): {
                "mean": results.mean(measure),
                "interval": list(interval),
                "groups": {name: results.mean(measure, ids) for name, ids in members.items()},
                "topics": dict(results.values[measure]),
            }
            for measure, interval in zip(results.measures, intervals, strict=True)
        },
    }
