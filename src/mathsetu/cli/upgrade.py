"""``mathsetu upgrade``: converts a library of an older version."""

from __future__ import annotations

import time
from pathlib import Path

import click

from mathsetu.cli.output import (
    LIBRARY,
    device_option,
    json_option,
    print_json,
    progress_bar,
    say,
)
from mathsetu.library.manifest import FORMAT
from mathsetu.library.upgrade import upgrade_library


@click.command("upgrade")
@click.argument("library", type=LIBRARY)
@click.option("--recipe", default="", help="Build it with another recipe, or a .toml file.")
@click.option("--processes", type=click.IntRange(1),
              help="Worker processes (default: one per core).")  # fmt: skip
@device_option
@json_option
def command(
    library: Path | str, recipe: str, processes: int | None, device: str, as_json: bool
) -> None:
    r"""Convert LIBRARY to the current format, from the posts that it contains.

    Use this when a library was written by an older version of MathSetu, or when its vectors were
    made by another model. The posts are indexed again; the old library stays in use until the new
    one is complete, so there must be room on the disk for both. An interrupted upgrade continues
    where it stopped.

    \b
    Examples:
      mathsetu upgrade my-library
      mathsetu upgrade my-library --recipe formula
    """
    started = time.perf_counter()
    with progress_bar() as progress:
        done = upgrade_library(
            library, recipe=recipe, processes=processes, device=device, progress=progress
        )
    seconds = time.perf_counter() - started
    if as_json:
        print_json(
            {
                "library": str(library),
                "changed": done.changed,
                "format": FORMAT,
                "former_format": done.former,
                "posts": done.posts,
                "recipe": done.recipe,
                "note": done.note,
                "seconds": round(seconds, 2),
            }
        )
        return
    if not done.changed:
        say(f"{library}: is up to date (format {FORMAT}, {done.posts:,} posts)")
        return
    if done.note:
        say(f"{library}: {done.note}")
    say(
        f"{library}: {done.posts:,} posts converted from format {done.former} to {FORMAT} in "
        f"{seconds:.1f} s"
    )
