"""Merges segments: their posts and the indexes of their parts, without removed posts.

Texts are not analysed again and passages are not encoded again. Files are written in pieces, so
that a merged segment may be much larger than memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.library import build
from mathsetu.library.manifest import BUILDING, Segment, segment_folder
from mathsetu.library.store import STORE, Row, Store, write_store
from mathsetu.plain_files import sync_folder, sync_tree
from mathsetu.pool import ordered_map
from mathsetu.recipes.parts import make_builder
from mathsetu.recipes.schema import Recipe
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.mapped import seal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

#: The most posts in a merged segment.
MERGED_POSTS = 5_000_000
# Worker processes at most: each keeps a piece of its file in memory.
_PROCESSES = 4
# With fewer posts, starting processes takes longer than the work.
_MANY = 20_000


def most_merged(recipe: Recipe) -> int:
    """The most posts that a merged segment of a recipe may have."""
    builders = (make_builder(settings, part) for part, settings in recipe.parts.items())
    on_disk = all(builder.merges_on_disk for builder in builders)
    return MERGED_POSTS if on_disk else build.SEGMENT_POSTS


def mergeable(segments: Sequence[Segment], most: int) -> Iterator[list[Segment]]:
    """Groups of adjacent segments that fit into one, and single segments with removed posts.

    Args:
        segments: The segments of a library.
        most: The most posts in a merged segment.

    >>> sizes = [Segment(str(n), n, {}) for n in (60_000, 30_000, 90_000, 5, 5)]
    >>> [[one.name for one in group] for group in mergeable(sizes, 100_000)]
    [['60000', '30000'], ['90000', '5', '5']]
    """
    group: list[Segment] = []
    for segment in (*segments, None):
        posts = sum(_present(one) for one in group)
        if group and (segment is None or posts + _present(segment) > most):
            if len(group) > 1 or group[0].removed:
                yield group
            group = []
        if segment is not None:
            group.append(segment)


def _present(segment: Segment) -> int:
    return segment.posts - len(segment.removed)


def merge_segments(
    library: Path, name: str, segments: Sequence[Segment], recipe: Recipe, processes: int
) -> int:
    """Write one segment with the remaining posts of others; returns the number of posts."""
    work = segment_folder(library, name + BUILDING)
    shutil.rmtree(work, ignore_errors=True)
    build.make_marked(work)
    folders = [segment_folder(library, segment.name) for segment in segments]
    kept = [
        np.setdiff1d(np.arange(segment.posts), np.array(segment.removed, dtype=np.int64))
        for segment in segments
    ]
    languages = [_languages(folder, numbers) for folder, numbers in zip(folders, kept, strict=True)]
    merge = partial(_merge_one, work, recipe, folders, kept, languages)
    # The store and the parts have separate files, so they can be written in parallel.
    everything = (STORE, *recipe.parts)
    processes = min(processes, _PROCESSES) if sum(map(len, kept)) >= _MANY else 1
    [count, *_] = ordered_map(merge, everything, processes)
    seal(work)
    sync_tree(work)
    work.rename(segment_folder(library, name))
    sync_folder(work.parent)
    return count


def _languages(folder: Path, numbers: Numbers) -> list[str]:
    with closing(Store(folder / STORE)) as store:
        headings = store.headings(numbers.tolist())
        return [headings[number].language for number in numbers.tolist()]


def _merge_one(
    work: Path,
    recipe: Recipe,
    folders: Sequence[Path],
    kept: Sequence[Numbers],
    languages: Sequence[list[str]],
    name: str,
) -> int:
    """Merge the stores or one part of segments; returns the number of remaining posts."""
    if name == STORE:
        return write_store(work / STORE, _rows(folders, kept))
    sources = list(map(WrittenSegment, (folder / name for folder in folders), kept, languages))
    make_builder(recipe.parts[name], f"parts.{name}").merge(sources, work / name)
    return sum(map(len, kept))


def _rows(folders: Sequence[Path], kept: Sequence[Numbers]) -> Iterator[Row]:
    for folder, numbers in zip(folders, kept, strict=True):
        with closing(Store(folder / STORE)) as store:
            yield from store.rows(numbers.tolist())
