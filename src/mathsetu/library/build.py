"""Builds segments: facts of posts into a store, then all parts of the recipe over it at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from mathsetu import __version__
from mathsetu.errors import InputError
from mathsetu.formulas.parse import Parsed, parse_latex
from mathsetu.intake.posts import PostFacts, read_post
from mathsetu.languages.analyze import tokenize
from mathsetu.library.manifest import BUILDING, MARK, segment_folder
from mathsetu.library.store import Questions, Row, Store, Stored, to_row, write_store
from mathsetu.plain_files import is_plain_file, open_plain, sync_folder, sync_tree
from mathsetu.pool import ordered_map
from mathsetu.recipes.parts import make_builder
from mathsetu.recipes.schema import Recipe, Selection
from mathsetu.records import Post
from mathsetu.retrieval.base import Builder
from mathsetu.retrieval.mapped import seal

#: Called with what is being done and how many posts are through.
Progress = Callable[[str, int], None]


def quiet(what: str, number: int) -> None:
    """Nobody is watching."""


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
        unfinished = work / "posts.part"
        unfinished.unlink(missing_ok=True)
        read = partial(_row, selection=recipe.posts, collection=collection)
        with closing(ordered_map(read, posts, processes, _CHUNK)) as rows:
            counted = _counted(rows, "reading", progress)
            count = write_store(unfinished, (row for row in counted if row), questions)
        if not count:
            raise InputError("there are no posts to index")
        sync_tree(work)
        unfinished.replace(store)
    with closing(Store(store)) as opened:
        missing = [part for part in recipe.parts if not (work / part).is_dir()]
        builders = [make_builder(recipe.parts[part], f"parts.{part}") for part in missing]
        index_posts(builders, opened.all(questions), processes, progress)
        for part, builder in zip(missing, builders, strict=True):
            _write_part(work / part, builder)
        count = opened.count
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


def index_posts(
    builders: Sequence[Builder],
    posts: Iterable[Stored],
    processes: int = 1,
    progress: Progress = quiet,
) -> None:
    """Give builders all posts, then all distinct formulas of these, each read once."""
    prepare = partial(_prepared, [builder.prepare for builder in builders])
    with closing(ordered_map(prepare, posts, processes, _CHUNK)) as results:
        for prepared in _counted(results, "indexing", progress):
            for builder, one in zip(builders, prepared, strict=True):
                builder.add(one)
    readers = [one.formula_reader for one in builders if one.formula_reader is not None]
    formulas = dict.fromkeys(latex for reader in readers for latex in reader.wanted)
    read = partial(_read_formula, [reader.read for reader in readers])
    with closing(ordered_map(read, formulas, processes, _CHUNK)) as results:
        counted = _counted(results, "formulas", progress)
        for latex, read_by_each in zip(formulas, counted, strict=True):
            for reader, one in zip(readers, read_by_each, strict=True):
                if latex in reader.wanted:
                    reader.take(latex, one)


def _write_part(folder: Path, builder: Builder) -> None:
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    builder.write(part)
    # A part that is there counts as finished, so it must be whole on the disk before.
    sync_tree(part)
    part.rename(folder)
    sync_folder(folder.parent)


def _row(post: Post, selection: Selection, collection: str) -> Row | None:
    """A post as it is stored; None for one that the recipe leaves out."""
    if selection.kinds and post.kind not in selection.kinds:
        return None
    facts = read_post(post)
    if selection.minimum_words or selection.need_words:
        count = len(tokenize(f"{facts.texts['title'].words} {facts.texts['body'].words}"))
        if count < max(selection.minimum_words, int(selection.need_words)):
            return None
    return to_row(facts, collection)


def _prepared(prepare: Sequence[Callable[[PostFacts], Any]], post: Stored) -> list[Any]:
    facts = post.facts()
    return [one(facts) for one in prepare]


def _read_formula(readers: Sequence[Callable[[Parsed], Any]], latex: str) -> list[Any]:
    parsed = parse_latex(latex)
    return [read(parsed) for read in readers]


def _counted(items: Iterable[Any], what: str, progress: Progress) -> Iterator[Any]:
    for number, item in enumerate(items, start=1):
        yield item
        progress(what, number)
