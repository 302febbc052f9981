"""Makes tables and plots of the graph experiments, from the file of `graph_experiments`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from benchmarks.shared import LANGUAGES, YEARS
from mathsetu.evaluation.plots import Bar, Bars, draw, write_figure
from mathsetu.evaluation.significance import bonferroni, paired_t_test

Trials = Mapping[str, Any]
# The values of each topic, in the order in which `graph_experiments` writes them.
_MEASURES = ("nDCG@10", "MAP", "nDCG'", "MAP'", "P'@10", "bpref")
# The measures for answers with their questions, and those of the thesis.
_OURS, _THESIS = (0, 1), (2, 3, 4, 5)
# Key of the results for answers without their questions.
_ANSWERS = "answers"
_TITLES = {
    "formulas": "Formula representation",
    "structure": "Virtual node structure",
    "connectivity": "Virtual node connectivity",
    "initialisation": "Virtual node initialisation",
    "retrieval": "Retrieval strategy",
    "loss": "Auxiliary document loss",
    "beyond": "Beyond the thesis",
    "features": "Node features",
}


def write_report(results: Sequence[Path], folder: Path) -> None:
    """Write ``report.md`` with a table for each experiment, and ``report.svg``."""
    trials: dict[str, Any] = {}
    for path in results:
        trials.update(json.loads(path.read_text(encoding="utf-8")))
    found: dict[str, dict[str, list[Any]]] = {}
    for key, one in trials.items():
        experiment, variant, _ = key.split("/")
        found.setdefault(experiment, {}).setdefault(variant, []).append(one)
    # Trials are stored in the order in which they finished, so sort them by experiment.
    tables = {name: found[name] for name in _TITLES if name in found}
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(line for name, rows in tables.items() for line in _table(name, rows))
    (folder / "report.md").write_text(text, encoding="utf-8")
    panels = [_panel(name, rows) for name, rows in tables.items()]
    write_figure(draw(panels), folder / "report.svg")
    print(text)


def _table(name: str, rows: Mapping[str, list[Trials]]) -> list[str]:
    first = next(iter(rows.values()))
    searched = bool(first[0]["topics"])
    columns = [(year, place) for year in YEARS for place in _OURS if searched]
    heads = ["seeds", *(f"{_MEASURES[place]} {year}" for year, place in columns)]
    heads += ["MRR of held-out pairs", "s/epoch", "GPU GB", "parameters"]
    heads += ["index MB", "queries/s"] if searched else []
    lines = [f"### {_TITLES[name]}", "", "| | " + " | ".join(heads) + " |"]
    lines.append("|---" * (len(heads) + 1) + "|")
    tests = (len(rows) - 1) * len(columns)
    for variant, trials in rows.items():
        cells = [str(len(trials))]
        for year, place in columns:
            means = [_mean(one, year, place) for one in trials]
            mark = "" if trials is first else _mark(first, trials, year, place, tests)
            cells.append(f"{_with_deviation(means)}{mark}")
        cells.append(_with_deviation([one["reciprocal_rank"] for one in trials]))
        cells.append(f"{fmean(one['epoch_seconds'] for one in trials):.1f}")
        memory = fmean(one["memory_gb"] for one in trials)
        cells.append(f"{memory:.2f}" if memory else "–")
        cells.append(f"{trials[0]['parameters']:,}")
        if searched:
            cells.append(f"{trials[0]['index_mb']:.1f}")
            cells.append(f"{fmean(one['queries_a_second'] for one in trials):.0f}")
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    if tests:
        note = "\\* differs from the first row (paired t-test over topics, seeds averaged, p "
        lines += ["", f"{note}< 0.05 after Bonferroni's correction for {tests} tests)."]
    return [*lines, "", *_answers(rows), *_languages(rows)]


def _answers(rows: Mapping[str, list[Trials]]) -> list[str]:
    """The measures of the thesis for answers only: means over seeds, and the best seed."""
    first = [trial.get(_ANSWERS) for trial in next(iter(rows.values()))]
    if not all(first):
        return []
    columns = [(year, place) for year in YEARS for place in _THESIS]
    heads = ["seeds", *(f"{_MEASURES[place]} {year}" for year, place in columns)]
    lines = ["| answers alone | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    tests = (len(rows) - 1) * len(columns)
    baseline: list[Trials] = []
    for variant, trials in rows.items():
        alone: list[Trials] = [trial[_ANSWERS] for trial in trials]
        baseline = baseline or alone
        cells = [str(len(alone))]
        for year, place in columns:
            mark = "" if alone is baseline else _mark(baseline, alone, year, place, tests)
            cells.append(f"{_with_deviation([_mean(one, year, place) for one in alone])}{mark}")
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
        if len(alone) > 1:
            best = max(alone, key=lambda one: fmean(_mean(one, year, _THESIS[0]) for year in YEARS))
            cells = [f"{_mean(best, year, place):.3f}" for year, place in columns]
            lines.append(f"| {variant}, best seed | 1 | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _languages(rows: Mapping[str, list[Trials]]) -> list[str]:
    """The nDCG@10 of both years in the other languages."""
    asked = [name for name in LANGUAGES if name in next(iter(rows.values()))[0]]
    if not asked:
        return []
    lines = ["| nDCG@10, 2020 and 2021 | " + " | ".join(asked) + " |"]
    lines.append("|---" * (len(asked) + 1) + "|")
    for variant, trials in rows.items():
        cells = [
            " ".join(f"{fmean(_mean(one[name], year, 0) for one in trials):.3f}" for year in YEARS)
            for name in asked
        ]
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _mean(trial: Trials, year: int, place: int) -> float:
    return fmean(_values(trial, year, place).values())


def _values(trial: Trials, year: int, place: int) -> dict[str, float]:
    return {
        topic: values[place]
        for topic, values in trial["topics"].items()
        if topic.startswith(str(year))
    }


def _mark(
    first: Sequence[Trials], others: Sequence[Trials], year: int, place: int, tests: int
) -> str:
    ours, theirs = ([_values(trial, year, place) for trial in trials] for trials in (others, first))
    differences = [
        fmean(one[topic] for one in ours) - fmean(one[topic] for one in theirs) for topic in ours[0]
    ]
    return "*" if bonferroni(paired_t_test(differences), tests) < 0.05 else ""


def _with_deviation(values: Sequence[float]) -> str:
    spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
    return f"{fmean(values):.3f}{spread}"


def _panel(name: str, rows: Mapping[str, list[Trials]]) -> Bars:
    if not next(iter(rows.values()))[0]["topics"]:
        alone = [
            (variant, [Bar("", fmean(one["reciprocal_rank"] for one in trials))])
            for variant, trials in rows.items()
        ]
        return Bars(f"{_TITLES[name]}: MRR of held-out pairs", alone)
    clusters = [
        (
            variant,
            [Bar(str(year), fmean(_mean(one, year, 0) for one in trials)) for year in YEARS],
        )
        for variant, trials in rows.items()
    ]
    return Bars(f"{_TITLES[name]}: nDCG@10", clusters)
