"""``mathsetu reproduce``: a paper's system on a collection, our figures beside the paper's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.output import json_option, print_json, print_table, progress_bar, say
from mathsetu.collections.formats import open_posts
from mathsetu.errors import InputError
from mathsetu.languages.table import language
from mathsetu.library import Library, build_library
from mathsetu.library.reproduction import Figure, check_models, reproduce, same_recipe
from mathsetu.recipes import load_recipe, recipe_names


@click.command("reproduce")
@click.argument("name")
@click.argument("posts", type=click.Path(path_type=Path))
@click.argument("topics", type=click.Path(path_type=Path))
@click.argument("qrels", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Replace a setting of the recipe: rerank.model=FOLDER.")  # fmt: skip
@click.option("--library", type=click.Path(file_okay=False, path_type=Path),
              help="Keep the library here, and use it again next time.")  # fmt: skip
@click.option("--lang", default="", help="Language of topics that do not say theirs.")
@json_option
def command(
    name: str,
    posts: Path,
    topics: Path,
    qrels: tuple[Path, ...],
    settings: tuple[str, ...],
    library: Path | None,
    lang: str,
    as_json: bool,
) -> None:
    r"""Run the recipe NAME on POSTS, TOPICS and their judgments QRELS.

    Prints our figures beside those of the paper that the recipe comes from, and says what
    differs in data, models and settings.

    \b
    Examples:
      mathsetu reproduce msm-bm25 Posts.xml topics.xml qrels.txt
      mathsetu reproduce mirmu Posts.xml topics.xml qrels.txt --set rerank.model=./my-reranker
    """
    if name not in recipe_names():
        raise InputError(f"unknown recipe {name!r} (known: {', '.join(recipe_names())})")
    recipe = load_recipe(name, settings)
    check_models(recipe)
    stated = language(lang).code if lang else ""
    queries = [replace(q, language=q.language or stated) for q in read_records(topics, "queries")]
    judgments = [judgment for path in qrels for judgment in read_records(path, "judgments")]
    with TemporaryDirectory() as place, progress_bar() as progress:
        folder = library or Path(place) / "library"
        if not same_recipe(folder, recipe):
            build_library(folder, open_posts(posts), recipe, progress=progress)
        with Library(folder) as opened:
            done = reproduce(opened, load_recipe(name), queries, judgments)
    if as_json:
        print_json(done)
        return
    print_table(
        ("edition", "language", "topics", "measure", "ours", "paper", "the paper's figure is in"),
        [_row(figure) for figure in done.figures],
    )
    if done.learned:
        say(f"learned: {done.learned}")
    if done.differences:
        say("what differs:")
    for difference in done.differences:
        say(f"  {difference}")


def _row(figure: Figure) -> tuple[object, ...]:
    paper = "" if figure.paper is None else f"{figure.paper:.3f}"
    ours = f"{figure.ours:.3f}"
    return (figure.edition, figure.language, figure.topics, figure.measure, ours, paper,
            figure.source)  # fmt: skip
