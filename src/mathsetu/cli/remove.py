"""``mathsetu remove``: removes posts from a library."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import LIBRARY, json_option, print_json, say
from mathsetu.library import Library, remove_posts
from mathsetu.printable import counted


@click.command("remove")
@click.argument("library", type=LIBRARY)
@click.argument("ids", nargs=-1, required=True)
@json_option
def command(library: Path | str, ids: tuple[str, ...], as_json: bool) -> None:
    """Remove the posts with these IDS from LIBRARY, without rebuilding it.

    A file (notes/series.md, notes/sheet.csv) stands for all of its sections or rows, and an
    archive (notes/old.zip) for the files in it. Unknown ids are reported, and the exit code is
    then 1.
    """
    with Library(library) as opened:
        named = opened.posts_named(ids)
        unknown = [one for one in dict.fromkeys(ids) if one not in named]
        known = set().union(*named.values())
        like = {} if as_json else {one: opened.ids_like(one, but=known) for one in unknown}
    count = remove_posts(library, known) if known else 0
    if as_json:
        print_json({"removed": count, "unknown": unknown})
    else:
        say(f"{library}: {counted(count, 'post')} removed")
        for one in unknown:
            near = f" (did you mean: {', '.join(like[one])})" if like[one] else ""
            say(f"there is no post with the id {one!r}{near}", err=True)
    if unknown:
        raise click.exceptions.Exit(1)
