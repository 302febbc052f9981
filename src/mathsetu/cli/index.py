"""``mathsetu index``: builds a library from collections."""

from __future__ import annotations

import time
from hashlib import blake2b
from pathlib import Path

import click

from mathsetu.cli.intake import (
    explain_no_posts,
    field_option,
    files_of,
    form_option,
    policy,
    read_sources,
    report_of,
    say_report,
)
from mathsetu.cli.output import (
    LANGUAGE,
    device_option,
    json_option,
    print_json,
    progress_bar,
    say,
    skipped,
)
from mathsetu.cli.verb import target_first
from mathsetu.collections.rows import REFUSE
from mathsetu.collections.trees import FolderTree
from mathsetu.errors import InputError
from mathsetu.library import build_library
from mathsetu.library.build import is_begun
from mathsetu.library.manifest import has_manifest, read_manifest
from mathsetu.places import is_library
from mathsetu.printable import counted
from mathsetu.recipes import load_recipe


@click.command("index")
@click.argument("library")
@click.argument("sources", nargs=-1, required=True)
@click.option("--recipe", default="default", show_default=True, help="A recipe, or a .toml file.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Replace a setting of the recipe: parts.text.model=FOLDER.")  # fmt: skip
@click.option("--from", "format_name", metavar="FORMAT", help="Format of the sources.")
@click.option("--lang", type=LANGUAGE, default="", help="Language of posts that do not state one.")
@field_option
@form_option
@click.option("--skip-bad", is_flag=True, help="Skip and count bad rows instead of stopping.")
@click.option("--processes", type=click.IntRange(1),
              help="Worker processes (default: one per core).")  # fmt: skip
@device_option
@json_option
def command(
    library: str,
    sources: tuple[str, ...],
    recipe: str,
    settings: tuple[str, ...],
    format_name: str | None,
    lang: str,
    fields: dict[str, str],
    form: str | None,
    skip_bad: bool,
    processes: int | None,
    device: str,
    as_json: bool,
) -> None:
    r"""Build LIBRARY from SOURCES: files, folders and archives that contain posts.

    LaTeX, Markdown, HTML, notebooks, Word, PDF, tables, dumps: see docs/files.md.

    The word "sampler" names the built-in collection (a folder of that name is ./sampler). An
    existing library is replaced when the new one is complete; an interrupted build of the same
    sources resumes where it stopped.

    \b
    Examples:
      mathsetu index my-library sampler
      mathsetu index math.library Posts.xml --recipe default
      mathsetu index my-library notes/ course.jsonl
      mathsetu index my-library 2101.00001.tar.gz paper.docx
      mathsetu index my-library answers.csv --field body=Content --field title=Subject
    """
    library, sources = target_first(library, sources, is_library, "mathsetu index LIBRARY SOURCES")
    started = time.perf_counter()
    before = _library_before(Path(library))
    bad = policy(skip_bad, fields, form)
    fingerprint = _fingerprint(sources, format_name, lang, skip_bad, sorted(fields.items()), form)
    try:
        with explain_no_posts(bad), progress_bar(files_of(sources)) as progress:
            build_library(
                library,
                read_sources(sources, format_name, lang, bad),
                load_recipe(recipe, settings),
                fingerprint=fingerprint,
                processes=processes,
                device=device,
                progress=progress,
                report=bad,
            )
    except KeyboardInterrupt:
        if is_begun(Path(library), fingerprint):
            raise click.Abort("the same command resumes the build") from None
        raise
    manifest = read_manifest(Path(library))
    seconds = time.perf_counter() - started
    # Posts read by an interrupted build are not read again, and so not counted.
    is_resumed = bad.tally is not None and not bad.tally.posts
    if as_json:
        about = {
            "library": library,
            "posts": manifest.posts,
            "seconds": round(seconds, 2),
            "resumed": is_resumed,
        }
        print_json(about | report_of(bad, manifest.languages))
        return
    done = f"{counted(manifest.posts, 'post')} indexed with {recipe} in {seconds:.1f} s"
    say(f"{library}: {done}{skipped(bad)}")
    if is_resumed:
        say("  resumed: an earlier build read the posts; their files and formulas are not counted")
    say_report(bad, manifest.languages)
    if before:
        say(f"the library that was there before {before}", err=True)


def _library_before(library: Path) -> str:
    """The message about a library that is replaced; empty if there is none."""
    if not has_manifest(library):
        return ""
    try:
        had = counted(read_manifest(library).posts, "post")
    except InputError:
        return "could not be read, and was replaced"
    return f"({had}) was replaced; to add posts to a library: mathsetu add {library} SOURCES"


def _fingerprint(sources: tuple[str, ...], *choices: object) -> str:
    """Identify the input of a build by properties that are cheap to read: paths, sizes and times.

    Standard input gives no fingerprint, because its content may differ the next time.
    """
    if "-" in sources:
        return ""
    digest = blake2b(repr(choices).encode(), digest_size=16)
    for source in sources:
        path = Path(source)
        tree = FolderTree(path)
        inside = (tree.path(entry.name) for entry in tree.entries(REFUSE))
        # Count only files that are read: the library to be built may lie in a source folder.
        for file in inside if path.is_dir() else [path]:
            if file.is_file():
                state = file.stat()
                digest.update(f"{file.resolve()} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
