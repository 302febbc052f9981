"""``mathsetu run``: a whole file of topics to a run file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.output import LIBRARY, json_option, print_json, say, track
from mathsetu.collections import clmir
from mathsetu.collections.formats import FORMATS, detect, find
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments
from mathsetu.languages.table import language
from mathsetu.library import Library
from mathsetu.recipes.learned import read_learned
from mathsetu.records import Hit, Run


@click.command("run")
@click.argument("library", type=LIBRARY)
@click.argument("topics", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--to", "format_name", default="trec-run", show_default=True, metavar="FORMAT",
              help="Format of the run: trec-run, clmir-submission …")  # fmt: skip
@click.option(
    "--k", type=click.IntRange(1, 10_000), help="Hits a topic; the recipe says otherwise."
)
@click.option("--lang", default="", help="Language of topics that do not say theirs.")
@click.option("--name", default="", help="Name of the run; the recipe's unless given.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Replace a setting of the library's recipe: rerank.model=FOLDER.")  # fmt: skip
@click.option("--pool", type=click.Path(path_type=Path), metavar="QRELS",
              help="Rank only the posts that QRELS judges for a topic.")  # fmt: skip
@click.option("--learned", type=click.Path(path_type=Path), metavar="FILE",
              help="Fuse as 'reproduce --save FILE' has learned.")  # fmt: skip
@click.option(
    "--run",
    "number",
    type=click.IntRange(1, 3),
    help="clmir-submission: the number of the run; other runs in TARGET are kept.",
)
@json_option
def command(
    library: Path | str,
    topics: Path,
    target: Path,
    format_name: str,
    k: int | None,
    lang: str,
    name: str,
    settings: tuple[str, ...],
    pool: Path | None,
    learned: Path | None,
    number: int | None,
    as_json: bool,
) -> None:
    r"""Answer all TOPICS from LIBRARY and write the run to TARGET.

    \b
    Examples:
      mathsetu run my-library topics.xml run.trec
      mathsetu run hindi.library queries.csv submission.csv --to clmir-submission --lang en
      mathsetu run other.library queries.csv submission.csv --to clmir-submission --run 2
      mathsetu run my-library topics.tsv pool.run --pool qrels.txt
    """
    writing = find(format_name)
    if writing.holds != "runs" or writing.write is None:
        known = ", ".join(f.name for f in FORMATS.values() if f.holds == "runs" and f.write)
        raise InputError(f"{format_name} is no format for runs (known: {known})")
    if number is not None and writing.name != "clmir-submission":
        raise click.UsageError("--run is for --to clmir-submission")
    if number is not None:
        clmir.read_beside(target, number)  # refuses before any work is done
    reading = detect(topics)
    if reading.holds != "queries":
        raise InputError(f"{topics}: holds {reading.holds}, and a run needs queries")
    stated = language(lang).code if lang else ""
    opened = Library(library, settings)
    if learned is not None:
        opened = opened.with_recipe(read_learned(learned).applied(opened.recipe))
    pools = Judgments.of(read_records(pool, "judgments")).grades if pool else None
    rankings: dict[str, tuple[Hit, ...]] = {}
    for query in track(reading.read(topics, BadRows()), "topics"):
        asked = replace(query, language=query.language or stated)
        rankings.update(opened.run([asked], k, pools=pools).rankings)
    if not rankings:
        raise InputError(f"{topics}: is empty (no queries in it)")
    run = Run(name or opened.recipe.name, rankings)
    if number is not None:
        clmir.put_run(target, run, number)
    else:
        writing.write(target, [run])
    hits = sum(len(ranking) for ranking in rankings.values())
    if as_json:
        print_json({"topics": len(rankings), "hits": hits, "written": str(target)})
    else:
        say(f"{len(rankings):,} topics, {hits:,} hits written to {target}", err=True)
