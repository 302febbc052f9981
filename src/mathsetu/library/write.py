"""Builds libraries and changes them; every change takes effect in one step or not at all."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mathsetu import __version__
from mathsetu.errors import InputError
from mathsetu.library.build import Progress, build_segment
from mathsetu.library.lock import writing_alone
from mathsetu.library.manifest import (
    Manifest,
    Segment,
    describe,
    has_manifest,
    is_foreign,
    read_manifest,
    segment_folder,
    write_manifest,
)
from mathsetu.library.pool import all_cores
from mathsetu.library.store import Store, beside
from mathsetu.recipes import load_recipe
from mathsetu.recipes.parts import check_parts
from mathsetu.recipes.schema import Recipe, parse_table
from mathsetu.records import Post


def _quiet(what: str, number: int) -> None:
    """Nobody is watching."""


def build_library(
    folder: str | Path,
    posts: Iterable[Post],
    recipe: str | Recipe = "default",
    *,
    collection: str = "",
    fingerprint: str = "",
    processes: int | None = None,
    progress: Progress = _quiet,
) -> None:
    """Build a library, or replace the one that is there when the new one is whole.

    Args:
        folder: Where the library is to be.
        posts: What is to be found in it.
        recipe: The name of a recipe, or a recipe.
        collection: A name to filter by, for posts that do not name their collection.
        fingerprint: Names the input, so that an interrupted build of the same goes on.
        processes: How many to work with; as many as there are cores unless given.
        progress: Called as the work goes on.
    """
    library = Path(folder)
    chosen = load_recipe(recipe) if isinstance(recipe, str) else recipe
    check_parts(chosen)
    if library.exists() and not library.is_dir():
        raise InputError(f"{library}: is a file; choose a folder")
    if is_foreign(library):
        raise InputError(f"{library}: is not a library and not empty; choose another folder")
    with writing_alone(library):
        old = _to_be_replaced(library)
        name = _next_name(library, old)
        if old or not has_manifest(library):
            _clean(library, old, keep=f"{name}.building")
        count = build_segment(
            library,
            name,
            posts,
            chosen,
            collection=collection,
            fingerprint=fingerprint,
            processes=processes or all_cores(),
            progress=progress,
        )
        table = _plain(asdict(chosen))
        write_manifest(library, _manifest(library, table, [_segment(library, name, count)]))
        _clean(library, read_manifest(library))


def add_posts(
    folder: str | Path,
    posts: Iterable[Post],
    *,
    collection: str = "",
    processes: int | None = None,
    progress: Progress = _quiet,
) -> int:
    """Add posts as a new segment; the old ones are not read again. Returns how many were added.

    The cost is that of indexing the new posts alone. A search looks into every segment, so
    after many small additions a fresh build makes searching faster again. A post whose id is
    in the library replaces the old one.
    """
    library = Path(folder)
    read_manifest(library)  # before anything is written where no library is
    with writing_alone(library):
        old = read_manifest(library)
        recipe = parse_table(old.recipe, str(library))
        name = _next_name(library, old)
        _clean(library, old)
        count = build_segment(
            library,
            name,
            _with_questions(library, old, posts),
            recipe,
            collection=collection,
            fingerprint="",
            processes=processes or all_cores(),
            progress=progress,
        )
        store = Store(segment_folder(library, name) / "posts.sqlite")
        ids = set(store.ids(range(store.count)).values())
        store.close()
        kept = _without(library, old, ids)
        segments = [*kept.segments, _segment(library, name, count)]
        write_manifest(library, _manifest(library, old.recipe, segments))
        return count


def _with_questions(library: Path, manifest: Manifest, posts: Iterable[Post]) -> Iterator[Post]:
    """New answers beside the questions that the library has already."""
    folders = [segment_folder(library, segment.name) for segment in manifest.segments]
    stores = [Store(folder / "posts.sqlite") for folder in folders]
    try:
        for post in posts:
            found = None
            if post.parent_id and not post.question:
                found = next(filter(None, (store.find(post.parent_id) for store in stores)), None)
            yield beside(post, found) if found else post
    finally:
        for store in stores:
            store.close()


def remove_posts(folder: str | Path, ids: Iterable[str]) -> int:
    """Take posts out, at once and without rebuilding; returns how many were there.

    They are no longer found; their words still count in the statistics, and their space is
    freed, with the next build.
    """
    library = Path(folder)
    read_manifest(library)  # before anything is written where no library is
    with writing_alone(library):
        old = read_manifest(library)
        new = _without(library, old, set(ids))
        if new.posts == old.posts:
            return 0
        if not new.posts:
            raise InputError(f"{library}: these are all its posts; remove the folder instead")
        write_manifest(library, _manifest(library, old.recipe, list(new.segments)))
        return old.posts - new.posts


def _without(library: Path, manifest: Manifest, ids: set[str]) -> Manifest:
    for segment in manifest.segments:
        store = Store(segment_folder(library, segment.name) / "posts.sqlite")
        numbers = {store.number_of(post_id) for post_id in ids} - {None, *segment.removed}
        store.close()
        if numbers:
            manifest = manifest.without(
                segment.name, frozenset(n for n in numbers if n is not None)
            )
    return manifest


def _segment(library: Path, name: str, count: int) -> Segment:
    """A new segment as the manifest names it, safe on the disk before it does."""
    folder = segment_folder(library, name)
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    return Segment(name, count, describe(folder))


def _manifest(library: Path, recipe: dict[str, Any], segments: list[Segment]) -> Manifest:
    languages: Counter[str] = Counter()
    for segment in segments:
        store = Store(segment_folder(library, segment.name) / "posts.sqlite")
        languages.update(store.languages(frozenset(segment.removed)))
        store.close()
    return Manifest(recipe, tuple(segments), dict(sorted(languages.items())), __version__)


def _plain(value: Any) -> Any:
    """A recipe's table as JSON and TOML know it: lists instead of tuples."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _to_be_replaced(library: Path) -> Manifest | None:
    """The manifest that is there, where this version can read it."""
    try:
        return read_manifest(library)
    except InputError:
        return None


def _next_name(library: Path, manifest: Manifest | None) -> str:
    """A name that no segment has that may be in use."""
    used = [segment.name for segment in manifest.segments] if manifest else []
    if not manifest and has_manifest(library):
        used = [path.name for path in library.glob("segments/*") if path.name.isdecimal()]
    return f"{max(map(int, used), default=0) + 1:06d}"


def _clean(library: Path, manifest: Manifest | None, keep: str = "") -> None:
    """Remove segments that no manifest names: leftovers of builds that ended early."""
    named = {segment.name for segment in manifest.segments} if manifest else set()
    folder = library / "segments"
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in named and path.name != keep:
            shutil.rmtree(path, ignore_errors=True)
    for part in library.glob(".manifest.json.*.part"):
        part.unlink(missing_ok=True)
