"""Merges segments: their posts and what their parts have worked out, without removed posts.

Texts are not read again and nothing is encoded again. Files are written a part at a time, so that a
merged segment may be many times as large as memory would hold.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from mathsetu.library import build
from mathsetu.library.manifest import BUILDING, Segment, segment_folder
from mathsetu.library.store import STORE, Row, Store, write_store
from mathsetu.plain_files import sync_folder, sync_tree
from mathsetu.recipes.parts import make_builder
from mathsetu.recipes.schema import Recipe
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.mapped import seal

#: Posts in a segment that others are merged into.
MERGED_POSTS = 5_000_000


def most_merged(recipe: Recipe) -> int:
    """How many posts a merged segment of a recipe may have."""
    builders = (make_builder(settings, part) for part, settings in recipe.parts.items())
    on_disk = all(builder.merges_on_disk for builder in builders)
    return MERGED_POSTS if on_disk else build.SEGMENT_POSTS


def mergeable(segments: Sequence[Segment], most: int) -> Iterator[list[Segment]]:
    """Neighbours that fit into one segment, and segments that removed posts have left holes in.

    Args:
        segments: Those of a library.
        most: Posts in a merged segment.

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


def merge_segments(library: Path, name: str, segments: Sequence[Segment], recipe: Recipe) -> int:
    """Write a segment with the posts of others that are not removed; gives how many there are."""
    work = segment_folder(library, name + BUILDING)
    shutil.rmtree(work, ignore_errors=True)
    build.make_marked(work)
    folders = [segment_folder(library, segment.name) for segment in segments]
    kept = [
        np.setdiff1d(np.arange(segment.posts), np.array(segment.removed, dtype=np.int64))
        for segment in segments
    ]
    with ExitStack() as opened:
        stores = [opened.enter_context(closing(Store(folder / STORE))) for folder in folders]
        languages: list[list[str]] = [[] for _ in stores]

        def rows() -> Iterator[Row]:
            for store, numbers, own in zip(stores, kept, languages, strict=True):
                for row in store.rows(numbers.tolist()):
                    own.append(row.language)
                    yield row

        count = write_store(work / STORE, rows())
    for part, settings in recipe.parts.items():
        sources = [
            WrittenSegment(folder / part, numbers, own)
            for folder, numbers, own in zip(folders, kept, languages, strict=True)
        ]
        make_builder(settings, f"parts.{part}").merge(sources, work / part)
    seal(work)
    sync_tree(work)
    work.rename(segment_folder(library, name))
    sync_folder(work.parent)
    return count
