"""``mathsetu plan``: divides collections into shards, for many machines to build."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.intake import (
    field_option,
    files_of,
    form_option,
    policy,
    read_sources,
    report_of,
    say_report,
)
from mathsetu.cli.output import LANGUAGE, json_option, print_json, progress_bar, say, skipped
from mathsetu.cli.verb import target_first
from mathsetu.cluster.plan import is_plan, make_plan
from mathsetu.printable import counted
from mathsetu.recipes import load_recipe


@click.command("plan")
@click.argument("plan")
@click.argument("sources", nargs=-1, required=True)
@click.option("--shards", type=click.IntRange(1), default=16, show_default=True,
              help="Number of shards; a machine builds one or several.")  # fmt: skip
@click.option("--recipe", default="default", show_default=True, help="A recipe, or a .toml file.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Replace a setting of the recipe.")  # fmt: skip
@click.option("--from", "format_name", metavar="FORMAT", help="Format of the sources.")
@click.option("--lang", type=LANGUAGE, default="", help="Language of posts that do not state one.")
@field_option
@form_option
@click.option("--skip-bad", is_flag=True, help="Skip and count bad rows instead of stopping.")
@json_option
def command(
    plan: str,
    sources: tuple[str, ...],
    shards: int,
    recipe: str,
    settings: tuple[str, ...],
    format_name: str | None,
    lang: str,
    fields: dict[str, str],
    form: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    r"""Divide SOURCES into shards below the folder PLAN.

    All machines must have access to the folder. Questions and their answers stay together.

    \b
    Example:
      mathsetu plan /shared/plan Posts.xml --shards 24
      seq 0 23 | parallel mathsetu publish /shared/plan qdrant://db:6333/math --shard {}
      mathsetu publish /shared/plan qdrant://db:6333/math
    """
    plan, sources = target_first(plan, sources, is_plan, "mathsetu plan PLAN SOURCES")
    bad = policy(skip_bad, fields, form)
    posts = read_sources(sources, format_name, lang, bad)
    with progress_bar(files_of(sources)) as progress:
        made = make_plan(Path(plan), posts, load_recipe(recipe, settings), shards, progress)
    if as_json:
        print_json({"plan": plan, "shards": list(made.shards)} | report_of(bad, {}))
        return
    total = sum(made.shards)
    shards_made = counted(len(made.shards), "shard")
    say(f"{plan}: {counted(total, 'post')} in {shards_made}{skipped(bad)}")
    say_report(bad, {})
