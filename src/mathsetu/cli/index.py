"""``mathsetu index``: builds a library from collections."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import click

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
from mathsetu.collections import sampler
from mathsetu.collections.formats import detect, find
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen import SeenIds
from mathsetu.errors import InputError
from mathsetu.library import build_library
from mathsetu.library.manifest import read_manifest
from mathsetu.recipes import load_recipe
from mathsetu.records import Post

SAMPLER = "sampler"


@click.command("index")
@click.argument("sources", nargs=-1, required=True)
@click.argument("library", type=LIBRARY)
@click.option("--recipe", default="default", show_default=True, help="A recipe, or a .toml file.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Replace a setting of the recipe: parts.text.model=FOLDER.")  # fmt: skip
@click.option("--from", "format_name", metavar="FORMAT", help="Format of the sources.")
@click.option("--lang", default="", help="Language of posts that do not say theirs.")
@click.option("--skip-bad", is_flag=True, help="Skip and count bad rows instead of stopping.")
@click.option("--processes", type=click.IntRange(1), help="As many as there are cores.")
@device_option
@json_option
def command(
    sources: tuple[str, ...],
    library: Path | str,
    recipe: str,
    settings: tuple[str, ...],
    format_name: str | None,
    lang: str,
    skip_bad: bool,
    processes: int | None,
    device: str,
    as_json: bool,
) -> None:
    r"""Build LIBRARY from SOURCES: files or folders in any format that holds posts.

    The word "sampler" names the built-in collection (a folder of that name is ./sampler). A
    library that is there is replaced when the new one is whole; an interrupted build of the same
    sources goes on where it stopped.

    \b
    Examples:
      mathsetu index sampler my-library
      mathsetu index Posts.xml math.library --recipe default
      mathsetu index notes/ course.jsonl my-library
    """
    started = time.perf_counter()
    bad = BadRows(skip=skip_bad, notes=[], ids=SeenIds())
    with progress_bar() as progress:
        build_library(
            library,
            read_sources(sources, format_name, lang, bad),
            load_recipe(recipe, settings),
            fingerprint=_fingerprint(sources, format_name, lang, skip_bad),
            processes=processes,
            device=device,
            progress=progress,
        )
    count = read_manifest(Path(library)).posts
    seconds = time.perf_counter() - started
    if as_json:
        print_json({"library": str(library), "posts": count, "skipped": bad.count,
                    "seconds": round(seconds, 2)})  # fmt: skip
        return
    report_rows(bad)
    say(f"{library}: {count:,} posts indexed with {recipe} in {seconds:.1f} s{skipped(bad)}")


def read_sources(
    sources: tuple[str, ...], format_name: str | None, lang: str, bad: BadRows
) -> Iterator[Post]:
    """The posts of several sources, one after the other."""
    for source in sources:
        if source == SAMPLER:
            posts: Iterator[Post] = sampler.posts(bad)
        else:
            form = find(format_name) if format_name else detect(source)
            if form.holds != "posts":
                raise InputError(f"{source}: holds {form.holds}, and an index needs posts")
            posts = form.read(source, bad)
        # The name of a file need not be text; that of a collection is.
        name = os.fsencode(Path(source).name).decode("utf-8", "replace")
        for post in posts:
            yield replace(
                post,
                language=post.language or lang,
                collection=post.collection or name,
            )


def _fingerprint(sources: tuple[str, ...], *choices: object) -> str:
    """Names the input of a build by what is cheap to ask: paths, sizes and times.

    Standard input has no name: what comes from there next time may be something else.
    """
    if "-" in sources:
        return ""
    digest = blake2b(repr(choices).encode(), digest_size=16)
    for source in sources:
        path = Path(source)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file():
                state = file.stat()
                digest.update(f"{file.resolve()} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
