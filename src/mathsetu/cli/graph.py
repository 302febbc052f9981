"""``mathsetu graph``: compares a query with a post, and gives a server the vectors."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import json_option, print_json, progress_bar, say
from mathsetu.evaluation.heatmap import heat_map
from mathsetu.library import Library
from mathsetu.library.graph import searched_here, upload_library


@click.group("graph")
def command() -> None:
    """Work with meaning graphs: compare a query with a post, upload to Qdrant."""


@command.command("compare")
@click.argument("library", type=click.Path(file_okay=False, path_type=Path))
@click.argument("query")
@click.argument("post")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw a heat map.")
@json_option
def compare(library: Path, query: str, post: str, svg: Path | None, as_json: bool) -> None:
    r"""Show which formulas and sentences of QUERY a POST of LIBRARY answers, and how well.

    \b
    Example:
      mathsetu graph compare math.library 'Is $x^2+1$ irreducible?' 4711 --svg map.svg
    """
    with Library(library, searched_here(library)) as opened:
        rows, columns, cosines = opened.heat_map(query, post)
    best = cosines.argmax(axis=1)
    if svg:
        svg.write_text(heat_map(rows, columns, cosines.tolist()), encoding="utf-8")
    if as_json:
        print_json({"query": rows, "post": columns, "cosines": cosines.tolist()})
        return
    for row, place in enumerate(best.tolist()):
        say(f"{cosines[row, place]:.2f}  {rows[row]} ~ {columns[place]}")
    say(f"MaxSim {cosines.max(axis=1).mean():.3f}")


@command.command("upload")
@click.argument("library", type=click.Path(file_okay=False, path_type=Path))
@click.argument("url")
@json_option
def upload(library: Path, url: str, as_json: bool) -> None:
    r"""Give the Qdrant server at URL the vectors of LIBRARY; what it has is not sent again.

    A key, where the server wants one, is read from QDRANT_API_KEY. It belongs to the address in
    QDRANT_URL and is sent to no other.

    \b
    Example:
      mathsetu graph upload math.library http://localhost:6333
    """
    with progress_bar() as progress:
        count = upload_library(library, url, progress)
    if as_json:
        print_json({"posts": count, "server": url})
    else:
        say(f"{url}: has all {count:,} posts of {library}")
