"""``mathsetu fuse``: fuses several runs into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.output import json_option, print_json, say
from mathsetu.cli.run_files import (
    VISUAL_IDS,
    check_visual_ids,
    read_visual_ids,
    run_writer,
)
from mathsetu.cli.targets import can_be_read, check_target
from mathsetu.cli.verb import Verb, hint
from mathsetu.collections.files import writing as writing_file
from mathsetu.collections.formats import Holds
from mathsetu.errors import InputError
from mathsetu.evaluation import Measure
from mathsetu.printable import counted
from mathsetu.ranking import fusion
from mathsetu.ranking.fusion.pool import check_hits
from mathsetu.recipes.learned import learned_from, learned_text, read_learned
from mathsetu.records import Run

# Written out so that help and completion need not load numpy; a test compares them with the code.
_METHODS = ("rrf", "ibc", "wibc", "rbc", "combsum", "combmnz", "linear")


class Numbers(click.ParamType[tuple[float, ...]]):
    """Numbers separated by commas."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Return the numbers that an option gives."""
        try:
            return tuple(float(number) for number in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers such as 2,1,0.5", param, ctx)


@click.command("fuse", cls=Verb, former={"--depth": "--k"})
@click.argument("method", type=click.Choice(_METHODS))
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--rrf-k", type=float, metavar="NUMBER",
              help="rrf: its constant; larger values flatten the top ranks. "
                   "[default: 60]")  # fmt: skip
@click.option("--weights", type=Numbers(), metavar="W1,W2,…",
              help="linear, wibc: one weight per run.")  # fmt: skip
@click.option(
    "--normalisation",
    metavar="NAME",
    help="linear, combsum, combmnz: score normalisation (spread, minmax, rank, none). "
    "[default: spread]",
)
@click.option("--qrels", type=click.Path(path_type=Path), metavar="FILE",
              help="linear, wibc, rbc: judgments to learn from.")  # fmt: skip
@click.option(
    "-m",
    "--measure",
    default="nDCG'",
    show_default=True,
    metavar="MEASURE",
    help="What learned weights maximise: nDCG', nDCG'@10, MAP' … (prime: judged only).",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Folds of cross-validation over the judged topics.",
)
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the learned settings to FILE (TOML), by run name.")  # fmt: skip
@click.option("--learned", type=click.Path(path_type=Path), metavar="FILE",
              help="Use the learned settings in FILE; learn nothing.")  # fmt: skip
@click.option("--visual-ids", type=VISUAL_IDS, multiple=True,
              help="Formulas with visual ids (a table, a folder of tables, posts): those that look "
                   "the same are one candidate. Repeat for more.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True,
              help="Seed of the random draws of ibc and wibc, and of the folds.")  # fmt: skip
@click.option("-k", "--k", type=click.IntRange(1), default=1000, show_default=True,
              help="Hits per topic.")  # fmt: skip
@click.option("--name", default="", help="Name of the run [default: the method].")
@click.option("--to", "format_name", default="trec-run", show_default=True, metavar="FORMAT",
              help="Format of the run: trec-run, arqmath-answer-run …")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite TARGET and the file of --save.")
@json_option
def command(
    method: str,
    runs: tuple[Path, ...],
    target: Path,
    rrf_k: float | None,
    weights: tuple[float, ...] | None,
    normalisation: str | None,
    qrels: Path | None,
    measure: str,
    folds: int,
    save: Path | None,
    learned: Path | None,
    visual_ids: tuple[Path, ...],
    seed: int,
    k: int,
    name: str,
    format_name: str,
    overwrite: bool,
    as_json: bool,
) -> None:
    r"""Fuse RUNS into one run with METHOD and write it to TARGET.

    Learned methods are cross-validated: a judged topic is ranked with what was learned from other
    judged topics, an unjudged topic with what was learned from all of them.

    \b
    Examples:
      mathsetu fuse rrf words.run formulas.run rrf.run
      mathsetu fuse linear words.run formulas.run linear.run --weights 0.7,0.3
      mathsetu fuse rbc words.run formulas.run vectors.run rbc.run --qrels qrels.txt
      mathsetu fuse rbc w.run f.run v.run learned.run --qrels qrels.txt --save rbc.toml
      mathsetu fuse rbc w2.run f2.run v2.run learned2.run --learned rbc.toml
      mathsetu fuse rrf a.tsv b.tsv fused.tsv --to arqmath-formula-run --visual-ids formulas.tsv
    """
    source = click.get_current_context().get_parameter_source("k")
    if method == "rrf" and rrf_k is None and source is ParameterSource.COMMANDLINE:
        hint("--k is the number of hits per topic; the constant of rrf is --rrf-k")
    write = run_writer(format_name)
    given = {"k": rrf_k, "weights": weights, "normalisation": normalisation}
    settings = {setting: value for setting, value in given.items() if value is not None}
    if "seed" in fusion.settings_of(method):
        settings["seed"] = seed
    if save is not None and qrels is None:
        raise click.UsageError("--save needs --qrels: it saves what is learned from them")
    if learned is not None and (qrels is not None or weights is not None):
        raise click.UsageError("--learned cannot be used with --qrels or --weights")
    # If the target is forgotten, the last run would be overwritten. Fusing fusions is allowed too.
    check_target(
        target,
        [*runs, qrels, learned, *visual_ids],
        own=lambda _: False,
        about="; the result is written to the last file, so name a new one after the runs",
        overwrite=overwrite,
    )
    check_saved(save, [*runs, qrels, *visual_ids], outputs=[target], overwrite=overwrite)
    name = name or method
    report: dict[str, object] = {}
    if learned is not None:
        stored = read_learned(learned)
        if stored.method != method:
            raise InputError(f"{learned}: was learned for {stored.method}, not for {method}")
        given_runs, named = _candidates(runs, visual_ids)
        chosen = stored.fusion([run.name for run in given_runs])
        fused = fusion.fuse(given_runs, chosen, k, name)
    elif qrels is None:
        chosen = fusion.make_fusion(method, **settings)
        given_runs, named = _candidates(runs, visual_ids)
        fused = fusion.fuse(given_runs, chosen, k, name)
    else:
        wanted = Measure.parse(measure)
        learner = fusion.make_learner(method, wanted, **settings)
        given_runs, named = _candidates(runs, visual_ids)
        inputs = given_runs, _records(qrels, "judgments"), learner
        found = fusion.fuse_learned(
            *inputs, measure=wanted, folds=folds, seed=seed, depth=k, name=name
        )
        chosen, fused = found.method, found.run
        report = {"measure": measure, "held_out": found.held_out, "fitted": found.fitted,
                  "judged_topics": found.topics}  # fmt: skip
        if save is not None:
            save_learned(save, method, chosen, [run.name for run in given_runs], qrels.name)
    write(target, [named(fused)])
    topics, hits = len(fused.rankings), sum(map(len, fused.rankings.values()))
    if as_json:
        print_json({"method": method, "settings": chosen, **report,
                    "topics": topics, "hits": hits, "written": str(target)})  # fmt: skip
        return
    if report:
        say(f"learned: {chosen}", err=True)
        figures = "{measure} {held_out:.3f} held out, {fitted:.3f} where fitted"
        say(f"{figures} ({{judged_topics}} topics)".format(**report), err=True)
    say(f"{counted(topics, 'topic')}, {counted(hits, 'hit')} written to {target}", err=True)


def check_saved(
    save: Path | None,
    inputs: Iterable[Path | None],
    *,
    outputs: Iterable[Path] = (),
    overwrite: bool | None = None,
) -> None:
    """Refuse to overwrite a file that does not hold learned settings."""
    check_target(
        save,
        inputs,
        own=can_be_read(read_learned),
        about=", and does not hold learned settings",
        outputs=outputs,
        overwrite=overwrite,
    )


def save_learned(
    path: Path, method: str, chosen: fusion.Fusion, names: list[str], source: str
) -> None:
    """Write the settings learned for runs with these names, and the source of the judgments."""
    learned = learned_from(method, chosen, names)
    with writing_file(path) as file:
        file.write(learned_text(learned, f"Learned from {source} (mathsetu)."))


def _candidates(
    paths: Iterable[Path], tables: tuple[Path, ...]
) -> tuple[list[Run], Callable[[Run], Run]]:
    """Return the runs to fuse, and a function that restores the ids of the files in the fusion."""
    check_visual_ids(tables)
    runs = _runs(paths)
    if not tables:
        return runs, lambda fused: fused
    found = {hit.id for run in runs for hits in run.rankings.values() for hit in hits}
    visual_ids = read_visual_ids(tables, found)
    if unknown := len(found - visual_ids.keys()):
        say(
            f"warning: {counted(unknown, 'formula')} without a known visual id; matched by id",
            err=True,
        )
    joined = fusion.VisualRuns.of(runs, visual_ids)
    return joined.runs, joined.named


def _runs(paths: Iterable[Path]) -> list[Run]:
    runs: list[Run] = []
    asked: dict[str, Path] = {}
    for path in paths:
        own: list[Run] = _records(path, "runs")
        topics = {topic for run in own for topic in run.rankings}
        if asked and topics.isdisjoint(asked):
            raise InputError(
                f"{path}: has no topic in common with {next(iter(asked.values()))} "
                f"({min(topics, default='none')}, {min(asked)}); fuse runs of the same topics"
            )
        asked |= dict.fromkeys(topics, path)
        for run in own:
            for topic, hits in run.rankings.items():
                check_hits(hits, topic, str(path))
        runs += own
    if len(runs) < 2:
        raise InputError("give two or more runs, and then the file to write")
    return runs


def _records(path: Path, holds: Holds) -> list[Any]:
    records = list(read_records(path, holds))
    if not records:
        raise InputError(f"{path}: is empty (no {holds} in it)")
    return records
