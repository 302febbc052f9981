"""Builds segments: posts into a store, then each part of the recipe over it, on all cores."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.languages.analyze import tokenize, words
from mathsetu.library.manifest import segment_folder
from mathsetu.library.store import Store, write_store
from mathsetu.recipes.parts import make_builder
from mathsetu.recipes.schema import Recipe, Selection
from mathsetu.records import Post
from mathsetu.retrieval.base import Builder

#: Called with what is being done and how many posts are through.
Progress = Callable[[str, int], None]

_CHUNK = 64
_STATE = "state.json"


@contextmanager
def writing_alone(library: Path) -> Iterator[None]:
    """One writer at a time; the lock goes with the process, however it ends."""
    library.mkdir(parents=True, exist_ok=True)
    with (library / ".lock").open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system
            pass
        except OSError:
            raise InputError(
                f"{library}: another process is building it; wait until it is done"
            ) from None
        yield


def build_segment(
    library: Path,
    name: str,
    posts: Iterable[Post],
    recipe: Recipe,
    *,
    collection: str,
    fingerprint: str,
    processes: int,
    progress: Progress,
) -> int:
    """Write a whole segment and return how many posts it has.

    The work goes on in a folder ``NAME.building``. When it was begun before on the same input
    (the same fingerprint), what is finished there is kept.
    """
    work = segment_folder(library, f"{name}.building")
    begun = {"fingerprint": fingerprint, "name": name}
    if not fingerprint or _state(work) != begun:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        (work / _STATE).write_text(json.dumps(begun), encoding="utf-8")
    store = work / "posts.sqlite"
    if not store.is_file():
        part = work / "posts.part"
        part.unlink(missing_ok=True)
        selected = _selected(posts, recipe.posts)
        count = write_store(part, _counted(selected, "reading", progress), collection)
        if not count:
            raise InputError("there are no posts to index")
        part.replace(store)
    opened = Store(store)
    try:
        for part_name, settings in recipe.parts.items():
            if not (work / part_name).is_dir():
                builder = make_builder(settings, f"parts.{part_name}")
                _build_part(work / part_name, builder, opened, processes, part_name, progress)
        count = opened.count
    finally:
        opened.close()
    (work / _STATE).unlink()
    target = segment_folder(library, name)
    shutil.rmtree(target, ignore_errors=True)
    work.rename(target)
    return count


def _state(work: Path) -> Any:
    try:
        return json.loads((work / _STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _build_part(
    folder: Path,
    builder: Builder,
    store: Store,
    processes: int,
    name: str,
    progress: Progress,
) -> None:
    for prepared in _counted(_prepared(builder, store.posts(), processes), name, progress):
        builder.add(prepared)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    builder.write(part)
    part.rename(folder)


def _prepared(builder: Builder, posts: Iterator[Post], processes: int) -> Iterator[Any]:
    """Prepare posts in their order, in this process or in several."""
    if processes < 2:
        yield from map(builder.prepare, posts)
        return
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(builder,)) as pool:
        waiting = []
        try:
            while chunk := list(islice(posts, _CHUNK)):
                waiting.append(pool.submit(_prepare_chunk, chunk))
                # A few chunks a process are under way, so that memory stays small.
                if len(waiting) > 4 * processes:
                    yield from waiting.pop(0).result()
            for result in waiting:
                yield from result.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_builder: Builder


def _begin(builder: Builder) -> None:
    global _builder
    _builder = builder


def _prepare_chunk(posts: list[Post]) -> list[Any]:
    return [_builder.prepare(post) for post in posts]


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


def all_cores() -> int:
    """How many processes to build with unless told otherwise."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
