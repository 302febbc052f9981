"""Builds segments: posts into a store, then each part of the recipe over it, on all cores."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mathsetu import __version__
from mathsetu.errors import InputError
from mathsetu.languages.analyze import tokenize, words
from mathsetu.library.manifest import BUILDING, MARK, segment_folder
from mathsetu.library.store import Questions, Store, write_store
from mathsetu.plain_files import is_plain_file, open_plain, sync_folder, sync_tree
from mathsetu.pool import ordered_map
from mathsetu.recipes.parts import make_builder
from mathsetu.recipes.schema import Recipe, Selection
from mathsetu.records import Post
from mathsetu.retrieval.base import Builder
from mathsetu.retrieval.mapped import seal

#: Called with what is being done and how many posts are through.
Progress = Callable[[str, int], None]

_STATE = "state.json"
# Posts that are sent to a process at once.
_CHUNK = 64


def build_segment(
    library: Path,
    name: str,
    posts: Iterable[Post],
    recipe: Recipe,
    *,
    collection: str,
    fingerprint: str,
    questions: Questions,
    processes: int,
    progress: Progress,
) -> int:
    """Write a whole segment and return how many posts it has.

    Answers are indexed with their questions, which ``questions`` finds when they are in other
    segments.

    The work goes on in a folder ``NAME.building``. When it was begun before on the same input
    (the same fingerprint), what is finished there is kept.
    """
    work = segment_folder(library, name + BUILDING)
    begun = {
        "fingerprint": fingerprint,
        "recipe": asdict(recipe),
        "collection": collection,
        "version": __version__,
    }
    state = json.dumps(begun)
    if not fingerprint or _state(work) != state:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        (work / MARK).write_text('{"mathsetu": "segment"}\n', encoding="utf-8")
        sync_tree(work)
        (work / _STATE).write_text(state, encoding="utf-8")
        sync_tree(work)
    store = work / "posts.sqlite"
    if not is_plain_file(store):
        part = work / "posts.part"
        part.unlink(missing_ok=True)
        selected = _selected(posts, recipe.posts)
        count = write_store(part, _counted(selected, "reading", progress), collection)
        if not count:
            raise InputError("there are no posts to index")
        sync_tree(work)
        part.replace(store)
    opened = Store(store)
    try:
        for part_name, settings in recipe.parts.items():
            if not (work / part_name).is_dir():
                builder = make_builder(settings, f"parts.{part_name}")
                posts_of = opened.posts(questions)
                _build_part(work / part_name, builder, posts_of, processes, part_name, progress)
        count = opened.count
    finally:
        opened.close()
    (work / _STATE).unlink()
    seal(work)
    sync_tree(work)
    work.rename(segment_folder(library, name))
    sync_folder(work.parent)
    return count


def _state(work: Path) -> str:
    try:
        with open_plain(work / _STATE) as file:
            return file.read().decode()
    except (OSError, ValueError):
        return ""


def _build_part(
    folder: Path,
    builder: Builder,
    posts: Iterator[Post],
    processes: int,
    name: str,
    progress: Progress,
) -> None:
    with closing(ordered_map(builder.prepare, posts, processes, _CHUNK)) as results:
        for prepared in _counted(results, name, progress):
            builder.add(prepared)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    builder.write(part)
    # A part that is there counts as finished, so it must be whole on the disk before.
    sync_tree(part)
    part.rename(folder)
    sync_folder(folder.parent)


def _selected(posts: Iterable[Post], selection: Selection) -> Iterator[Post]:
    for post in posts:
        if selection.kinds and post.kind not in selection.kinds:
            continue
        if selection.minimum_words or selection.need_words:
            count = len(tokenize(words(f"{post.title} {post.body}")))
            if count < max(selection.minimum_words, int(selection.need_words)):
                continue
        yield post


def _counted(items: Iterable[Any], what: str, progress: Progress) -> Iterator[Any]:
    for number, item in enumerate(items, start=1):
        yield item
        progress(what, number)
