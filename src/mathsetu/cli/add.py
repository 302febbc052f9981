"""``mathsetu add``: more posts into a library, without building it anew."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.index import read_sources
from mathsetu.cli.output import (
    device_option,
    json_option,
    print_json,
    progress_bar,
    report_rows,
    say,
    skipped,
)
from mathsetu.cli.places import LIBRARY
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen import SeenIds
from mathsetu.library import add_posts


@click.command("add")
@click.argument("library", type=LIBRARY)
@click.argument("sources", nargs=-1, required=True)
@click.option("--from", "format_name", metavar="FORMAT", help="Format of the sources.")
@click.option("--lang", default="", help="Language of posts that do not say theirs.")
@click.option("--skip-bad", is_flag=True, help="Skip and count bad rows instead of stopping.")
@device_option
@json_option
def command(
    library: Path | str,
    sources: tuple[str, ...],
    format_name: str | None,
    lang: str,
    skip_bad: bool,
    device: str,
    as_json: bool,
) -> None:
    """Add the posts of SOURCES to LIBRARY; a post with a known id replaces the old one.

    Only the new posts are indexed. After many additions, build the library anew to make it
    compact again.
    """
    bad = BadRows(skip=skip_bad, notes=[], ids=SeenIds())
    with progress_bar() as progress:
        count = add_posts(
            library,
            read_sources(sources, format_name, lang, bad),
            device=device,
            progress=progress,
        )
    if as_json:
        print_json({"added": count, "skipped": bad.count})
        return
    report_rows(bad)
    say(f"{library}: {count:,} posts added{skipped(bad)}")
