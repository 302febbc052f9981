"""``mathsetu search``: asks a library."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import json_option, print_json, visible
from mathsetu.errors import InputError
from mathsetu.languages.analyze import analyze
from mathsetu.library import Filter, Library
from mathsetu.markup import plain, snippet
from mathsetu.records import Hit, Post, Query
from mathsetu.retrieval.base import Question


@click.command("search")
@click.argument("library", type=click.Path(file_okay=False, path_type=Path))
@click.argument("query")
@click.option("--k", type=click.IntRange(1, 10_000), default=5, show_default=True)
@click.option("--lang", default="", help="Language of the query; detected unless given.")
@click.option("--in", "in_language", default="", metavar="LANG", help="Only posts in a language.")
@click.option("--tag", "tags", multiple=True, help="Only posts with this tag (repeatable).")
@click.option("--collection", default="", help="Only posts of this collection.")
@click.option("--explain", is_flag=True, help="Show the reasons for each hit.")
@json_option
def command(
    library: Path,
    query: str,
    k: int,
    lang: str,
    in_language: str,
    tags: tuple[str, ...],
    collection: str,
    explain: bool,
    as_json: bool,
) -> None:
    r"""Search LIBRARY for QUERY: words in any language, formulas between dollars.

    In a formula, ?x stands for any sub-expression.

    \b
    Examples:
      mathsetu search my-library 'समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान' --in en
      mathsetu search my-library '$a^2+b^2=c^2$' --explain
    """
    opened = Library(library)
    where = Filter(in_language, tags, collection)
    hits = opened.search(query, k, language=lang, where=where, explain=explain or as_json)
    if not hits:
        _check_asks(Question(Query("", query, language=lang)))
    posts = {hit.id: opened.post(hit.id) for hit in hits}
    if as_json:
        print_json([{"hit": hit, "post": posts[hit.id]} for hit in hits])
    elif not hits:
        click.echo("nothing found")
    else:
        for rank, hit in enumerate(hits, start=1):
            _print_hit(rank, hit, posts[hit.id], explain)
    if not hits:
        raise click.exceptions.Exit(1)


def _check_asks(question: Question) -> None:
    """Tell a query in vain from one that asks for nothing."""
    if not any(question.formulas) and not analyze(question.words, question.language):
        raise InputError("the query asks for nothing: no formula, and no word but very common ones")


def _print_hit(rank: int, hit: Hit, post: Post, explain: bool) -> None:
    language = f"[{post.language}] " if post.language else ""
    title = post.title or snippet(post.body, 60)
    heading = click.style(visible(plain(title)), bold=True)
    click.echo(f"{rank}. {heading}  {language}{hit.score:.3f}  {post.url or post.id}")
    if post.title:
        text = " ".join(plain(snippet(post.body, 160)).split())
        click.echo(f"   {visible(text)}")
    if explain:
        for reason in hit.reasons:
            click.echo(f"   {reason.part} {reason.score:.2f}: {visible(reason.detail)}")
