"""Formats results as the tables of `mathsetu evaluate` and `mathsetu compare`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mathsetu.errors import InputError
from mathsetu.evaluation.comparison import LETTERS, Comparison
from mathsetu.evaluation.measures import KINDS, Measure, gain_notes
from mathsetu.evaluation.results import Results
from mathsetu.evaluation.tables import Cell, Number, Table
from mathsetu.printable import counted

#: The columns of a bootstrap interval.
INTERVAL = ("95% from", "to")


def results_table(
    results: Results,
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    seed: int = 0,
    answerable: bool = False,
) -> Table:
    """One row per measure: its mean, the bootstrap interval, and the mean of each group.

    ``answerable``, here and below, means that topics were selected by the lowest relevant grade.

    >>> results = Results("bm25", 2, {Measure("MRR"): {"A.1": 1.0, "A.2": 0.5, "A.3": 0.5}})
    >>> results_table(results, {"hi": ["A.1"], "en": ["A.2", "A.3"]}).columns
    ('bm25', 'all (3)', '95% from', 'to', 'hi (1)', 'en (2)')
    """
    groups = groups or {}
    measures = results.measures
    intervals = results.intervals(seed=seed)
    rows: list[list[Cell]] = []
    for measure, interval in zip(measures, intervals, strict=True):
        means = [results.mean(measure, topics) for topics in groups.values()]
        figures = (results.mean(measure), *interval, *means)
        rows.append([str(measure), *map(Number, figures)])
    columns = (
        results.run,
        f"all ({len(results.topics)})",
        *INTERVAL,
        *(f"{name} ({len(topics)})" for name, topics in groups.items()),
    )
    notes = [*_measure_notes(results, answerable), f"Intervals: bootstrap over topics, seed {seed}"]
    return Table(columns, rows, notes)


def topics_table(
    results: Results,
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    answerable: bool = False,
) -> Table:
    """One row per topic and one column per measure; the last row has the means.

    >>> results = Results("bm25", 2, {Measure("MRR"): {"A.1": 1.0, "A.2": 0.5}})
    >>> topics_table(results).rows[-1]
    ['mean', Number(value=0.75, marks='', kind='figure')]
    """
    group_of = {topic: name for name, topics in (groups or {}).items() for topic in topics}
    rows: list[list[Cell]] = [
        [
            topic,
            *([group_of[topic]] if group_of else []),
            *(Number(results.values[measure][topic]) for measure in results.measures),
        ]
        for topic in results.topics
    ]
    means = [Number(results.mean(measure)) for measure in results.measures]
    rows.append(["mean", *([""] if group_of else []), *means])
    columns = ("topic", *(["group"] if group_of else []), *map(str, results.measures))
    return Table(columns, rows, [*_measure_notes(results, answerable), f"Run: {results.run}"])


def comparison_table(
    comparisons: Mapping[str, Comparison], *, seed: int = 0, answerable: bool = False
) -> Table:
    """One row per run: means with significance marks, and the difference from the first run.

    The difference, its interval, p-value and wins are for the first measure. ``comparisons`` maps
    a group of topics to its comparison; if there are several, each group has its own rows.
    """
    first = next(iter(comparisons.values()))
    measures = first.results[0].measures
    main = measures[0]
    several = len(comparisons) > 1
    rows: list[list[Cell]] = []
    for group, comparison in comparisons.items():
        for place, results in enumerate(comparison.results):
            name = f"{LETTERS[place]} {results.run}"
            row: list[Cell] = [f"{group} ({len(comparison.topics)})"] if several else []
            row.append(name)
            for measure in measures:
                marks = comparison.below(place, measure) if measure.name != "Judged" else ""
                row.append(Number(results.mean(measure, comparison.topics), marks))
            rows.append([*row, *_from_baseline(comparison, place, main)])
    columns = (
        *(["group"] if several else []),
        "run",
        *map(str, measures),
        f"Δ {main}",
        *INTERVAL,
        "p",
        "w/t/l",
    )
    return Table(columns, rows, _comparison_notes(first, main, seed, answerable))


def is_report(text: str) -> bool:
    r"""Whether a text begins like a table of this module, in any of the output formats.

    >>> is_report("| bm25 | all (3) | 95% from | to |"), is_report("topic,group,MAP\nA.1,en,0.5")
    (True, True)
    >>> is_report("topic,grade\nA.1,2"), is_report("# Notes on MAP")
    (False, False)
    """
    first = text.partition("\n")[0].strip()
    if first == r"% \usepackage{booktabs}":
        return True
    cells = [cell.strip(" '\"") for cell in re.split(r"[|,]", first.strip("|"))]
    if INTERVAL[0] in cells:
        return True
    try:
        return cells[0] == "topic" and bool(Measure.parse(cells[-1]))
    except InputError:
        return False


def _from_baseline(comparison: Comparison, place: int, measure: Measure) -> list[Cell]:
    difference = comparison.difference_from_baseline(place, measure)
    if difference is None:
        return ["", "", "", "", ""]
    return [
        Number(difference.mean, kind="difference"),
        *(Number(bound, kind="difference") for bound in difference.interval),
        Number(difference.p, kind="p"),
        str(difference.record),
    ]


def _measure_notes(results: Results, answerable: bool) -> list[str]:
    note = counted(len(results.topics), "topic")
    if answerable or any(KINDS[measure.name].binary for measure in results.measures):
        note += f"; relevant: grade {results.relevant_from} or more"
    return [note, *gain_notes(results.measures)]


def _comparison_notes(
    comparison: Comparison, main: Measure, seed: int, answerable: bool
) -> list[str]:
    count = comparison.comparisons
    times = "1 comparison" if count == 1 else f"{count} comparisons"
    return [
        *_measure_notes(comparison.results[0], answerable),
        "A raised letter: significantly above that run (two-sided paired t-test, "
        f"p < {comparison.alpha:g} after Bonferroni for {times})",
        f"Δ, its interval (bootstrap, seed {seed}), corrected p and win/tie/loss (w/t/l): "
        f"{main} against run {LETTERS[0]}",
    ]
