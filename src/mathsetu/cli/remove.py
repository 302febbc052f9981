"""``mathsetu remove``: posts out of a library."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import LIBRARY, json_option, print_json, say
from mathsetu.library import remove_posts


@click.command("remove")
@click.argument("library", type=LIBRARY)
@click.argument("ids", nargs=-1, required=True)
@json_option
def command(library: Path | str, ids: tuple[str, ...], as_json: bool) -> None:
    """Remove the posts with these IDS from LIBRARY, at once and without rebuilding it."""
    count = remove_posts(library, ids)
    if as_json:
        print_json({"removed": count})
    else:
        say(f"{library}: {count:,} posts removed")
    if not count:
        raise click.exceptions.Exit(1)
