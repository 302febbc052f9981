"""``mathsetu run``: searches for all topics of a file, and writes a run of posts or formulas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.output import LANGUAGE, LIBRARY, json_option, print_json, say, track
from mathsetu.cli.run_files import (
    VISUAL_IDS,
    check_visual_ids,
    holds_runs,
    read_visual_ids,
    run_writer,
)
from mathsetu.cli.targets import check_target
from mathsetu.collections import clmir
from mathsetu.collections.formats import FORMATS, detect
from mathsetu.collections.formats import find as find_format
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments
from mathsetu.library import Library
from mathsetu.library.formula_instances import distinct_instances
from mathsetu.library.reproduction import check_models
from mathsetu.printable import counted
from mathsetu.recipes.learned import read_learned
from mathsetu.records import Hit, Query, Run

# The format of formula runs, and the maximum number of formulas per topic in the lab.
_OF_FORMULAS, _MAX_FORMULAS = "arqmath-formula-run", 1000


@click.command("run")
@click.argument("library", type=LIBRARY)
@click.argument("topics", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--to", "format_name", default="trec-run", show_default=True, metavar="FORMAT",
              help="Format of the run: trec-run, clmir-submission …")  # fmt: skip
@click.option("--find", type=click.Choice(["posts", "formulas"]),
              help="What to rank [default: formulas if FORMAT is that of ARQMath task 2, else "
                   "posts].")  # fmt: skip
@click.option("-k", "--k", type=click.IntRange(1, 10_000),
              help="Hits per topic [default: that of the recipe; 1,000 formulas].")  # fmt: skip
@click.option("--visual-ids", type=VISUAL_IDS, multiple=True,
              help="Formulas with visual ids (a table, a folder of tables): only the first of "
                   "those that look the same is kept. Repeat for more.")  # fmt: skip
@click.option("--every", is_flag=True, help="Keep all formulas that look the same.")
@click.option("--from", "topics_format", metavar="FORMAT",
              help="Format of the topics: crossmath-topics, jsonl-queries … [default: "
                   "detected].")  # fmt: skip
@click.option("--lang", type=LANGUAGE, default="", help="Language of topics that do not state one.")
@click.option("--name", default="", help="Name of the run [default: the recipe].")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Replace a setting of the library's recipe: rerank.model=FOLDER.")  # fmt: skip
@click.option("--pool", type=click.Path(path_type=Path), metavar="QRELS",
              help="Rank only the posts that QRELS judges for a topic.")  # fmt: skip
@click.option("--learned", type=click.Path(path_type=Path), metavar="FILE",
              help="Use the fusion settings written by 'reproduce --save FILE'.")  # fmt: skip
@click.option(
    "--run",
    "number",
    type=click.IntRange(1, 3),
    help="clmir-submission: the number of the run; other runs in TARGET are kept.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite TARGET even if it is not a run.")
@json_option
def command(
    library: Path | str,
    topics: Path,
    target: Path,
    format_name: str,
    find: str | None,
    k: int | None,
    visual_ids: tuple[Path, ...],
    every: bool,
    topics_format: str | None,
    lang: str,
    name: str,
    settings: tuple[str, ...],
    pool: Path | None,
    learned: Path | None,
    number: int | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    r"""Search LIBRARY for all TOPICS and write the run to TARGET.

    \b
    Examples:
      mathsetu run my-library topics.xml run.trec
      mathsetu run hindi.library queries.csv submission.csv --to clmir-submission --lang en
      mathsetu run formula.library topics-task2.xml run.tsv --to arqmath-formula-run
      mathsetu run other.library queries.csv submission.csv --to clmir-submission --run 2
      mathsetu run my-library topics.tsv pool.run --pool qrels.txt
    """
    write = run_writer(format_name)
    of_formulas = (find or ("formulas" if format_name == _OF_FORMULAS else "posts")) == "formulas"
    if format_name == _OF_FORMULAS and not of_formulas:
        raise click.UsageError(f"{_OF_FORMULAS} is a format for formulas, not for posts")
    if not of_formulas and (visual_ids or every):
        raise click.UsageError("--visual-ids and --every are for runs of formulas")
    if visual_ids and every:
        raise click.UsageError("--visual-ids cannot be used with --every, which keeps all formulas")
    if number is not None and format_name != "clmir-submission":
        raise click.UsageError("--run needs --to clmir-submission")
    check_target(
        target,
        [library, topics, pool, learned, *visual_ids],
        own=holds_runs,
        about=", and is not a run",
        overwrite=overwrite,
    )
    if number is not None:
        clmir.read_other_runs(target, number)  # refuses before any work is done
    reading = find_format(topics_format) if topics_format else detect(topics)
    if reading.holds != "queries":
        known = ", ".join(form.name for form in FORMATS.values() if form.holds == "queries")
        problem = f"{topics}: holds {reading.holds}, and a run needs queries"
        raise InputError(f"{problem} (if they are topics, name their format with --from: {known})")
    opened = Library(library, settings)
    if learned is not None:
        opened = opened.with_recipe(read_learned(learned).applied(opened.recipe))
    asked = [
        replace(query, language=query.language or lang) for query in reading.read(topics, BadRows())
    ]
    if not of_formulas:
        check_models(opened.recipe, asked)
    queries = track(asked, "topics")
    unranked = 0
    if of_formulas:
        rankings = _formulas(opened, queries, k or _MAX_FORMULAS, visual_ids, every)
    else:
        pools = Judgments.of(read_records(pool, "judgments")).grades if pool else None
        rankings = {}
        for query in queries:
            rankings.update(opened.run([query], k, pools=pools).rankings)
        if pools is not None and rankings and not rankings.keys() & pools.keys():
            raise InputError(f"{pool}: judges none of the topics in {topics}")
        unranked = _unranked(opened, rankings, pools or {})
    if not rankings:
        raise InputError(f"{topics}: is empty (no queries in it)")
    run = Run(name or opened.recipe.name, rankings)
    if number is not None:
        clmir.add_run(target, run, number)
    else:
        write(target, [run])
    hits = sum(len(ranking) for ranking in rankings.values())
    if as_json:
        print_json({"topics": len(rankings), "hits": hits, "written": str(target)})
    else:
        say(
            f"{counted(len(rankings), 'topic')}, {counted(hits, 'hit')} written to {target}",
            err=True,
        )
        if unranked:
            problem = f"{counted(unranked, 'post')} of the pool not found by the recipe"
            say(f"{problem}; the run does not contain them", err=True)


def _unranked(
    library: Library, rankings: Mapping[str, Sequence[Hit]], pools: Mapping[str, Collection[str]]
) -> int:
    """The number of pooled posts that are in the library but were not found."""
    asked = {topic: set(pools[topic]) for topic in rankings.keys() & pools.keys()}
    here = library.present(set().union(*asked.values()))
    return sum(
        len(posts & here - {hit.id for hit in rankings[topic]}) for topic, posts in asked.items()
    )


def _formulas(
    library: Library, queries: Iterable[Query], k: int, tables: tuple[Path, ...], every: bool
) -> dict[str, tuple[Hit, ...]]:
    """Rank formulas for each topic; of those that look the same, only the first is kept."""
    check_visual_ids(tables)  # before any work is done
    # Visual ids of a table may merge more formulas than the collection does.
    wanted = 2 * k if tables else k
    found = {query.id: library.formula_instances(query, wanted, every=every) for query in queries}
    if tables:
        visual_ids = read_visual_ids(
            tables, {one.formula.id for ones in found.values() for one in ones}
        )
        found = {name: distinct_instances(ones, k, visual_ids) for name, ones in found.items()}
    return {name: tuple(one.hit for one in ones) for name, ones in found.items()}
