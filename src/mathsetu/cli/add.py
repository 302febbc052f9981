"""``mathsetu add``: adds posts to a library without a rebuild."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import click

from mathsetu.answers.describe import older_posts_notes
from mathsetu.cli.intake import (
    explain_no_posts,
    field_option,
    files_of,
    form_option,
    policy,
    read_sources,
    report_of,
    say_lines,
    say_report,
)
from mathsetu.cli.output import (
    LANGUAGE,
    LIBRARY,
    check_library_first,
    device_option,
    json_option,
    print_json,
    progress_bar,
    say,
    skipped,
)
from mathsetu.collections.folder import has_file, prefix_of
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError
from mathsetu.library import Library, add_posts, remove_posts
from mathsetu.library.manifest import read_manifest
from mathsetu.printable import counted
from mathsetu.records import archives_of, is_section_or_row


@click.command("add")
@click.argument("library", type=LIBRARY)
@click.argument("sources", nargs=-1, required=True)
@click.option("--from", "format_name", metavar="FORMAT", help="Format of the sources.")
@click.option("--lang", type=LANGUAGE, default="", help="Language of posts that do not state one.")
@field_option
@form_option
@click.option("--skip-bad", is_flag=True, help="Skip and count bad rows instead of stopping.")
@click.option(
    "--prune",
    is_flag=True,
    help="Also remove posts that are no longer in the files of SOURCES, and deleted files of "
    "folders given by a relative path (not . or one with ..).",
)
@click.option(
    "--prune-collection",
    "collection",
    metavar="NAME",
    help="Also remove the posts of this collection that are not in SOURCES, such as an export of "
    "all posts of a site.",
)
@device_option
@json_option
def command(
    library: Path | str,
    sources: tuple[str, ...],
    format_name: str | None,
    lang: str,
    fields: dict[str, str],
    form: str | None,
    skip_bad: bool,
    prune: bool,
    collection: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Add the posts of SOURCES to LIBRARY; a post replaces the post with the same id.

    It stays in the collection of the old post, unless it states another. Nothing else is
    removed: if a file is added again with fewer posts, or is no longer in its folder, its old
    posts stay in LIBRARY, and the report counts them. With --prune they are removed. Posts of JSON
    Lines and Parquet files do not name their file: --prune-collection removes those that are no
    longer there. Neither can be combined with --skip-bad.

    Only the new posts are indexed. After many additions small segments are merged; to merge them
    at any time, run mathsetu optimize.
    """
    check_library_first(library, sources)
    if collection == "":
        raise click.UsageError("--prune-collection needs the name of a collection")
    if prune or collection is not None:
        _check_prune(library, "--prune" if prune else "--prune-collection", skip_bad)
    bad = policy(skip_bad, fields, form)
    before = _languages(library)
    with (
        explain_no_posts(bad),
        progress_bar(files_of(sources)) as progress,
        Library(library) as opened,
    ):
        if collection is not None and not opened.has_collection(collection):
            raise InputError(f"--prune-collection {collection}: the library has no such collection")
        count = add_posts(
            library,
            read_sources(sources, format_name, lang, bad, opened),
            device=device,
            progress=progress,
            report=bad,
        )
        opened.refresh()
        tally = bad.tally or Tally()
        pruned = _prune(library, opened, files_of(sources), bad) if prune else 0
        if collection is not None:
            pruned += _prune_collection(library, opened, collection, bad)
        older = opened.older_posts(tally)
        gone, unread = _missing_files(opened, files_of(sources), tally)
    unpruned = _unpruned_folders(files_of(sources)) if prune else []
    unpruned_posts = tally.posts_without_file if prune and collection is None else 0
    after = _languages(library)
    replaced = count - pruned - (sum(after.values()) - sum(before.values()))
    new = bad.tally.new_collections if bad.tally is not None else []
    if as_json:
        done = {"added": count, "replaced": replaced, "pruned": pruned, "new_collections": new}
        done |= {"older_posts": older, "gone_files": gone, "unread_files": unread}
        done |= {"unpruned_folders": unpruned, "unpruned_posts": unpruned_posts}
        print_json(done | report_of(bad, after))
        return
    instead = f", {replaced} of them replaced older ones" if replaced else ""
    is_pruning = prune or collection is not None
    removed = f", {counted(pruned, 'old post')} removed" if is_pruning else ""
    say(f"{library}: {counted(count, 'post')} added{instead}{removed}{skipped(bad)}")
    for name in new:
        say(f"  new collection: {name}")
    _say_older_posts(library, sources, older)
    _say_gone_files(library, gone)
    _say_unread_files(unread)
    for folder in unpruned:
        say(
            f"  deleted files of {folder} are not removed, because the ids of its posts do not "
            f"begin with its name; name them: mathsetu remove {shlex.quote(str(library))} FILE"
        )
    if unpruned_posts:
        say(
            f"  {counted(unpruned_posts, 'post')} did not name a file, as in JSON Lines; posts "
            "that are no longer there are removed with --prune-collection NAME"
        )
    say_report(bad, after, languages_of="the library")


def _check_prune(library: Path | str, option: str, skip_bad: bool) -> None:
    if skip_bad:
        raise click.UsageError(
            f"{option} and --skip-bad cannot be combined: posts of skipped rows would be removed"
        )
    if not isinstance(library, Path):
        raise click.UsageError(f"{option} needs a library in a folder, not on a cluster")


def _prune(library: Path | str, opened: Library, sources: Sequence[Path], bad: BadRows) -> int:
    """Remove the old posts of files that were added again, and of files that no longer exist."""
    tally, read = bad.tally or Tally(), bad.ids or SeenIds()
    gone, _ = _missing_files(opened, sources, tally)
    named = opened.posts_named([*opened.older_posts(tally), *gone])
    old = {
        one
        for name, ids in named.items()
        for one in ids
        # A post from elsewhere may only link to the file.
        if (name in gone or one not in read) and is_section_or_row(one, name)
    }
    count = remove_posts(library, old) if old else 0
    opened.refresh()
    return count


def _prune_collection(library: Path | str, opened: Library, name: str, bad: BadRows) -> int:
    """Remove the posts of a collection that were not read."""
    read = bad.ids or SeenIds()
    ids = opened.ids_in_collection(name)
    old = {one for one in ids if one not in read}
    if len(old) == len(ids):
        raise InputError(
            f"--prune-collection {name}: no post of SOURCES is in this collection, so nothing was "
            "removed from it; the posts were added"
        )
    count = remove_posts(library, old) if old else 0
    opened.refresh()
    return count


def _missing_files(
    library: Library, sources: Sequence[Path], tally: Tally
) -> tuple[dict[str, int], dict[str, int]]:
    """The files of the library that no longer exist in their folders, and those that were not read.

    Each comes with the number of its posts. Only ids that begin with the name of a folder show
    that a file was in it. An archive is reported instead of the files in it.
    """
    read = set(tally.posts_of_files)
    read.update(archive for name in tally.posts_of_files for archive in archives_of(name))
    gone: set[str] = set()
    unread: set[str] = set()
    for folder in sources:
        if folder.is_dir() and (prefix := prefix_of(folder)):
            for one in library.files_below(prefix):
                if one not in read:
                    (unread if has_file(folder, one) else gone).add(one)
    return _with_sizes(library, gone), _with_sizes(library, unread)


def _with_sizes(library: Library, files: AbstractSet[str]) -> dict[str, int]:
    whole = [one for one in files if files.isdisjoint(archives_of(one))]
    return library.sizes_of_documents(sorted(whole))


def _say_gone_files(library: Path | str, gone: Mapping[str, int]) -> None:
    lines = [
        f"still in the library: {counted(count, 'post')} of {name}, which no longer exists"
        for name, count in gone.items()
    ]
    say_lines(lines, "files")
    if lines:
        remove = shlex.join(["mathsetu", "remove", str(library), next(iter(gone))])
        rest = " …" if len(lines) > 1 else ""
        say(f"  to remove them, add the folder with --prune, or name the files: {remove}{rest}")


def _say_unread_files(unread: Mapping[str, int]) -> None:
    lines = [
        f"still in the library: {counted(count, 'post')} of {name}, from which nothing was read"
        for name, count in unread.items()
    ]
    say_lines(lines, "files")


def _unpruned_folders(sources: Sequence[Path]) -> list[str]:
    """The folders that are not searched for deleted files."""
    return [str(one) for one in sources if one.is_dir() and not prefix_of(one)]


def _say_older_posts(
    library: Path | str, sources: tuple[str, ...], older: Mapping[str, int]
) -> None:
    say_lines(older_posts_notes(older), "files")
    if older:
        remove = shlex.join(["mathsetu", "remove", str(library), next(iter(older))])
        # A removed file that is added on its own goes into the collection of its own folder.
        add = shlex.join(["mathsetu", "add", str(library), *sources])
        again = f"add it again ({add}; tables need the same --field as before)"
        say(f"  to remove them, use --prune, or remove the file ({remove}), then {again}")


def _languages(library: Path | str) -> Mapping[str, int]:
    """The number of posts of each language in a library."""
    if isinstance(library, Path):
        return read_manifest(library).languages
    from mathsetu.cluster.facts import languages_of

    return languages_of(library)
