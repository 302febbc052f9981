"""Shared code of `evaluate` and `compare`: options, input, warnings and output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from mathsetu.cli.output import print_table, say
from mathsetu.cli.targets import begins, check_target, is_figure
from mathsetu.collections.files import plain_name, writing, writing_bytes
from mathsetu.collections.formats import Holds, detect, detect_as
from mathsetu.collections.formula_sets import open_formulas
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tables import plain_header, read_table
from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, Measure, Results, evaluate, parse_measures
from mathsetu.evaluation.plots import (
    ENDINGS,
    Panel,
    curves_panel,
    draw,
    require_matplotlib,
    write_figure,
)
from mathsetu.evaluation.recall_precision import recall_precision
from mathsetu.evaluation.reports import is_report
from mathsetu.evaluation.tables import WRITERS, Table
from mathsetu.pool import all_cores, ordered_map
from mathsetu.records import Run

Curves = Mapping[str, Sequence[float]]
_SHOWN = 5
#: The kinds of figures.
PLOTS = ("all", "means", "topics", "recall")


class _File(click.Path):
    """The path of an existing file."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, exists=True, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path that an argument names."""
        _refuse_standard_input(value)
        return super().convert(value, param, ctx)


FILE = _File()

_OPTIONS = (
    click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE",
                 help="P@10, P'@10 (judged hits only), nDCG, MAP, MRR, R@100, bpref …, or a set: "
                 "arqmath, clmir, crossmath. Repeat for more."),
    click.option("--relevant-from", type=click.IntRange(1), metavar="GRADE",
                 help="Lowest relevant grade of binary measures [default: 2 if grades go up to 3, "
                      "else 1]."),
    click.option("--answerable", is_flag=True,
                 help="Leave out topics without a known relevant post."),
    click.option("--visual-ids", type=click.Path(path_type=Path, exists=True), metavar="FILE",
                 help="Formulas with visual ids, which the judgments name (ARQMath task 2): a "
                 "table, a folder of tables, or posts."),
    click.option("--by", metavar="ATTRIBUTE",
                 help="Show groups of topics: language, kind, or a column of --topics."),
    click.option("--topics", type=FILE, metavar="FILE",
                 help="File with the attribute of --by: topics, or a table with a header."),
    click.option("--write", "targets", type=click.Path(path_type=Path), multiple=True,
                 metavar="FILE",
                 help="Also write FILE: .md, .tex or .csv, or a figure as .svg, .pdf or .png."),
    click.option("--plot", type=click.Choice(PLOTS),
                 help="What a figure shows: means by group, topics, precision over recall. "
                      "[default: all]"),
    click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of the options of `evaluation_options`, one field per option."""

    measures: tuple[str, ...]
    relevant_from: int | None
    answerable: bool
    visual_ids: Path | None
    by: str | None
    topics: Path | None
    targets: tuple[Path, ...]
    plot: str | None
    seed: int

    def groups(self) -> dict[str, str] | None:
        """Return the group of each topic, as given by ``--by`` and ``--topics``."""
        if self.by is None and self.topics is None:
            return None
        if self.by is None or self.topics is None:
            raise click.UsageError("--by needs --topics, and --topics needs --by")
        return _groups(self.by, self.topics)

    def check_targets(self, *read: Path) -> None:
        """Refuse invalid targets before any work is done; ``read`` are further input files."""
        inputs = [*read, self.topics, self.visual_ids]
        for place, target in enumerate(self.targets):
            if target.suffix not in (*WRITERS, *ENDINGS):
                known = ", ".join((*WRITERS, *ENDINGS))
                raise InputError(f"{target}: unknown extension (known: {known})")
            draws = target.suffix in ENDINGS
            check_target(
                target,
                inputs,
                own=is_figure if draws else begins(is_report),
                about=f", and is not a {'figure' if draws else 'table'} of this command",
                outputs=self.targets[:place],
            )
        if self.draws:
            require_matplotlib()
        elif self.plot:
            raise click.UsageError("--plot needs the file of a figure: --write FILE.pdf")

    @property
    def draws(self) -> bool:
        """Whether a figure is to be written."""
        return any(target.suffix in ENDINGS for target in self.targets)

    def write(
        self, table: Table, main: Measure, means: Panel, topics: Sequence[Panel], curves: Curves
    ) -> None:
        """Write a table, or the figure of its main measure, into each file."""
        for target in self.targets:
            if target.suffix in ENDINGS:
                recall = curves_panel(curves, judged_only=main.judged_only)
                shown = {"means": [means], "topics": topics, "recall": [recall]}
                every = [means, *topics, recall]
                with writing_bytes(target) as file:
                    write_figure(draw(shown.get(self.plot or "all", every)), file, target.suffix)
                continue
            with writing(target) as file:
                file.write(WRITERS[target.suffix](table))


def evaluation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the evaluation options, which it receives as one argument ``choices``."""

    @wraps(function)
    def command(**arguments: Any) -> Any:
        own = {field.name: arguments.pop(field.name) for field in fields(Choices)}
        return function(choices=Choices(**own), **arguments)

    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def show_table(table: Table) -> None:
    """Print a table with its notes."""
    print_table(table.columns, table.rows)
    for note in table.notes:
        say(f"  {note}.")


@dataclass(frozen=True, slots=True)
class EvaluationSetup:
    """How runs are measured: judgments (from the file ``qrels``), measures and threshold."""

    qrels: Path
    judgments: Judgments
    measures: tuple[Measure, ...]
    relevant_from: int
    visual_ids: Mapping[str, str] | None = None
    curves: bool = False

    @classmethod
    def read(cls, qrels: Path, choices: Choices) -> EvaluationSetup:
        """Read the judgments and the other inputs of the evaluation."""
        threshold = choices.relevant_from
        try:
            judgments = Judgments.of(read_records(qrels, "judgments"))
            if threshold is None:
                threshold = judgments.relevant_from
            else:
                judgments.answerable(threshold)  # refuses a grade that no post has
            if choices.answerable:
                judgments = judgments.answerable(threshold)
        except InputError as error:
            prefix = "" if str(error).startswith(str(qrels)) else f"{qrels}: "
            raise InputError(f"{prefix}{error}") from error
        mapping, visual_ids = None, choices.visual_ids
        if visual_ids is not None:
            formulas = open_formulas(visual_ids)
            mapping = {f.id: f.visual_id for f in formulas if f.visual_id}
            if not mapping:
                raise InputError(f"{visual_ids}: no formula in it has a visual id")
        measures = parse_measures(choices.measures)
        return cls(qrels, judgments, measures, threshold, mapping, choices.draws)

    def measure(self, path: Path) -> MeasuredRun:
        """Measure the runs of a file, and collect warnings about them."""
        form = detect_as(path, "runs")
        results: list[Results] = []
        warnings: list[str] = []
        notes: list[str] = []
        curves: list[list[float]] = []
        for run in form.read(path, BadRows(notes=notes)):
            self._check_topics(run, path)
            found = evaluate(
                run,
                self.judgments,
                self.measures,
                relevant_from=self.relevant_from,
                visual_ids=self.visual_ids,
            )
            warnings += (f"{path}: {message}" for message in found.irregularities.messages())
            results.append(replace(found, run=found.run or plain_name(path)))
            if self.curves:
                curve = recall_precision(
                    run,
                    self.judgments,
                    relevant_from=self.relevant_from,
                    visual_ids=self.visual_ids,
                    judged_only=self.measures[0].judged_only,
                )
                curves.append(curve)
        return MeasuredRun(path, results, [*warnings, *_about_rows(path, notes)], curves)

    def _check_topics(self, run: Run, path: Path) -> None:
        """Refuse a run whose topics are all unjudged: its figures would all be 0."""
        judged = {**self.judgments.grades, **dict.fromkeys(self.judgments.left_out)}
        if run.rankings and not run.rankings.keys() & judged.keys():
            first, other = next(iter(run.rankings)), next(iter(judged))
            raise InputError(
                f"{path}: none of its topics ({first} …) is judged in {self.qrels} ({other} …); "
                "give the judgments of the same topics"
            )

    def measure_all(self, paths: Sequence[Path]) -> list[MeasuredRun]:
        """Measure several files in parallel, since reading them takes longest."""
        return list(ordered_map(self.measure, paths, min(len(paths), all_cores())))


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The results of the runs of a file, and warnings for readers of these figures.

    ``curves`` has the precision of each run over recall, if a figure is to be written.
    """

    path: Path
    results: list[Results]
    warnings: list[str]
    curves: list[list[float]]

    def warn(self) -> None:
        """Print the warnings to standard error."""
        for warning in self.warnings:
            say(f"warning: {warning}", err=True)


def _groups(by: str, topics: Path) -> dict[str, str]:
    try:
        form = detect(topics)
    except InputError:
        form = None
    if form is None or form.holds != "queries":
        return _column(topics, by)
    if by not in ("language", "kind"):
        raise InputError(f"{topics}: topics are grouped by language or kind, not by {by!r}")
    return {query.id: getattr(query, by) for query in form.read(topics, BadRows())}


def _about_rows(path: Path, notes: Sequence[str]) -> Iterator[str]:
    """Yield warnings about rankings with irregular rows, and how these were handled."""
    for note in notes[:_SHOWN]:
        yield f"{path}: {note}"
    if len(notes) > _SHOWN:
        more = f"{len(notes) - _SHOWN:,} more topics have this problem"
        yield f"{path}: {more} (mathsetu validate lists rows)"
    if notes:
        yield f"{path}: hits were ranked by score, ties by descending id, as in trec_eval"


def _column(path: Path, name: str) -> dict[str, str]:
    """Read a column of a table with a header, by the topics in the first column."""
    delimiter = "," if plain_name(path).endswith(".csv") else "\t"
    rows = read_table(path, delimiter=delimiter)
    _, header = next(rows, (1, []))
    places = {plain_header(column): place for place, column in enumerate(header)}
    place = places.get(plain_header(name))
    if not place:
        found = ", ".join(header[1:]) or "nothing"
        raise InputError(f"{path}: no column {name!r} beside the topics (the header has: {found})")
    return {row[0]: row[place] for _, row in rows if len(row) > place}


def read_records(path: Path, holds: Holds) -> Iterator[Any]:
    """Read the records of a file, which must hold this kind of record (judgments, queries)."""
    _refuse_standard_input(path)
    return detect_as(path, holds).read(path, BadRows())


def _refuse_standard_input(path: str | Path) -> None:
    """Refuse standard input: it can be read only once, and format detection reads it first."""
    if str(path) == "-":
        raise InputError("standard input is not read here; save it in a file and name that")
