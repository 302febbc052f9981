"""``mathsetu optimize``: merges the segments of a library."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import LIBRARY, json_option, print_json, say
from mathsetu.library import optimize_library
from mathsetu.printable import counted


@click.command("optimize")
@click.argument("library", type=LIBRARY)
@click.option("--processes", type=click.IntRange(1),
              help="Worker processes (default: one per core).")  # fmt: skip
@json_option
def command(library: Path | str, processes: int | None, as_json: bool) -> None:
    """Merge the small segments of LIBRARY and free the space of removed posts.

    Nothing is indexed again, and the library can be searched meanwhile.
    """
    count = optimize_library(library, processes=processes)
    if as_json:
        print_json({"segments": count})
    else:
        say(f"{library}: {counted(count, 'segment')}")
