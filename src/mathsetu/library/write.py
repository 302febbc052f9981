"""Builds and changes libraries; every change takes effect atomically."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

from mathsetu import __version__
from mathsetu.encoders.accelerator import PROCESSOR, check_device
from mathsetu.errors import InputError
from mathsetu.intake.posts import PostFacts
from mathsetu.library import build
from mathsetu.library.build import (
    Progress,
    affected_answers,
    build_segments,
    quiet,
)
from mathsetu.library.build_report import NO_REPORT, BuildReport, LeftOutCount
from mathsetu.library.lock import writing_alone
from mathsetu.library.manifest import (
    BUILDING,
    Manifest,
    Segment,
    check,
    check_models,
    check_place,
    describe,
    former_segments,
    has_manifest,
    is_ours,
    is_segment_name,
    read_manifest,
    segment_folder,
    segment_folders,
    write_manifest,
)
from mathsetu.library.merge import merge_segments, mergeable, most_merged
from mathsetu.library.segmented_posts import SegmentedPosts
from mathsetu.library.store import STORE, Store
from mathsetu.places import is_address
from mathsetu.plain_files import is_plain_folder, sync_folder
from mathsetu.pool import all_cores
from mathsetu.recipes import load_recipe
from mathsetu.recipes.parts import check_parts, models_of
from mathsetu.recipes.schema import Recipe, parse_table
from mathsetu.records import Post, check_ids, checked_posts

# With more segments than this, an addition merges small ones.
_MAX_SEGMENTS = 10


def build_library(
    folder: str | Path,
    posts: Iterable[Post],
    recipe: str | Recipe = "default",
    *,
    collection: str = "",
    fingerprint: str = "",
    processes: int | None = None,
    device: str = PROCESSOR,
    progress: Progress = quiet,
    report: BuildReport = NO_REPORT,
) -> None:
    """Build a library; an existing one is replaced when the new one is complete.

    Args:
        folder: The folder of the library.
        posts: The posts to index.
        recipe: The name of a recipe, or a recipe.
        collection: The collection of posts that do not name theirs.
        fingerprint: Identifies the input, so that an interrupted build of it can be resumed.
        processes: How many worker processes; one per core unless given.
        device: The device that encodes passages: ``cpu``, or an accelerator supported by torch,
            such as ``cuda``, whose vectors are equal to within quantisation.
        progress: Called as the work goes on.
        report: Is told which posts the recipe leaves out, and which formulas are faulty.
    """
    _check_folder(folder, "is published from a folder: build there, then 'mathsetu publish'")
    library = Path(folder)
    chosen = load_recipe(recipe) if isinstance(recipe, str) else recipe
    check_parts(chosen)
    check_device(device)
    check_place(library)
    with writing_alone(library):
        former = former_segments(library)
        name = _next_name(library, former)
        built = build_segments(
            library,
            name,
            checked_posts(posts),
            chosen,
            collection=collection,
            fingerprint=fingerprint,
            questions=lambda post_id: None,
            processes=processes or all_cores(),
            device=device,
            progress=progress,
            report=report,
        )
        segments = [_segment(library, own, count) for own, count in built.items()]
        _commit(library, _plain(asdict(chosen)), segments, models_of(chosen))
        _clean(library, former)
    if len(segments) > 1:
        progress("merging", 0)
        optimize_library(library, processes=processes)


def add_posts(
    folder: str | Path,
    posts: Iterable[Post],
    *,
    collection: str = "",
    processes: int | None = None,
    device: str = PROCESSOR,
    progress: Progress = quiet,
    report: BuildReport = NO_REPORT,
) -> int:
    """Add posts as a new segment, without a rebuild; returns how many were added.

    Only the new posts are indexed, and the existing answers to them, because an answer is indexed
    with its question. A post replaces the post with the same id. A search reads every segment;
    when there are many, small ones are merged. ``device`` and ``report`` are used as in
    `build_library`.

    ``folder`` may be the address of a library on a cluster, where searches see the new posts
    within a second or two.
    """
    check_device(device)
    posts = checked_posts(posts)
    if is_address(folder):
        from mathsetu.cluster.change import add_to_cluster
        from mathsetu.cluster.client import connected

        with connected(str(folder)) as cluster:
            return add_to_cluster(
                cluster,
                posts,
                collection=collection,
                processes=processes or all_cores(),
                device=device,
                progress=progress,
                report=report,
            )
    left_out = LeftOutCount(report)
    with _changing(folder) as change:
        new: set[str] = set()
        posts = chain(_noted(posts, new), change.answers_to(new))
        change.add(posts, collection, processes or all_cores(), device, progress, left_out)
        change.commit()
        if len(change.manifest.segments) > _MAX_SEGMENTS and change.merge(
            build.SEGMENT_POSTS, processes or all_cores()
        ):
            change.commit()
        return len(new) - left_out.posts


def optimize_library(folder: str | Path, *, processes: int | None = None) -> int:
    """Merge segments and drop removed posts; returns the number of segments left.

    No post is analysed or encoded again. Afterwards a search reads fewer segments, the statistics
    count only the remaining posts, and the space of removed posts is free.

    Args:
        folder: The folder of the library.
        processes: The most worker processes; one per core unless given.
    """
    _check_folder(folder, "merges segments by itself")
    with _changing(folder) as change:
        if change.merge(most_merged(change.recipe), processes or all_cores()):
            change.commit()
        return len(change.manifest.segments)


def remove_posts(folder: str | Path, ids: Iterable[str]) -> int:
    """Remove posts; returns how many were removed.

    Searches no longer find them. Answers to a removed question are indexed again without it. Until
    the library is optimized or rebuilt, the words of removed posts still count in the statistics,
    and their space is not freed.

    On a cluster (``folder`` is then an address) they stop counting at once.
    """
    check_ids(ids)
    if is_address(folder):
        from mathsetu.cluster.change import remove_from_cluster
        from mathsetu.cluster.client import connected

        with connected(str(folder)) as cluster:
            return remove_from_cluster(cluster, ids)
    with _changing(folder) as change:
        gone = change.remove(set(ids))
        if gone:
            answers = list(change.answers_to(gone))
            if not change.manifest.posts:
                raise InputError(
                    f"{folder}: this would remove all of its posts; remove the folder instead"
                )
            if answers:
                change.add(answers, "", 1, PROCESSOR, quiet)
            change.commit()
        return len(gone)


def _check_folder(place: str | Path, else_what: str) -> None:
    if is_address(place):
        raise InputError(f"{place}: a library on a cluster {else_what}")


@contextmanager
def _changing(folder: str | Path) -> Iterator[_Change]:
    library = Path(folder)
    read_manifest(library)  # raises before anything is written if there is no library
    check_place(library)
    with writing_alone(library):
        old = read_manifest(library)
        check(library, old)
        check_models(library, old, models_of(parse_table(old.recipe, str(library))))
        name = _next_name(library, former_segments(library))
        folders = [segment_folder(library, segment.name) for segment in old.segments]
        with closing(SegmentedPosts(folders, old.segments)) as stored_posts:
            yield _Change(library, old, stored_posts, name)


class _Change:
    """A change of a library; it takes effect with `commit`.

    Attributes:
        manifest: The manifest after the change.
    """

    def __init__(
        self, library: Path, old: Manifest, stored_posts: SegmentedPosts, name: str
    ) -> None:
        self.manifest = old
        self._library, self._stored_posts, self._next = library, stored_posts, int(name)
        self._gone: set[str] = set()
        self._merged: set[str] = set()

    @property
    def recipe(self) -> Recipe:
        """The recipe of the library."""
        return parse_table(self.manifest.recipe, str(self._library))

    def remove(self, ids: set[str]) -> set[str]:
        """Remove posts; returns the ids that existed."""
        places = self._stored_posts.places(ids)
        for segment, numbers in places.items():
            self.manifest = self.manifest.without(segment, frozenset(numbers.values()))
        found = {post_id for numbers in places.values() for post_id in numbers}
        self._gone |= found
        return found

    def add(
        self,
        posts: Iterable[Post],
        collection: str,
        processes: int,
        device: str,
        progress: Progress,
        report: BuildReport = NO_REPORT,
    ) -> None:
        """Index posts as new segments; older posts with the same ids are removed."""
        built = build_segments(
            self._library,
            self._name(),
            posts,
            self.recipe,
            collection=collection,
            fingerprint="",
            questions=self._question,
            processes=processes,
            device=device,
            progress=progress,
            report=report,
        )
        self._next += len(built)
        for name, count in built.items():
            with closing(Store(segment_folder(self._library, name) / STORE)) as store:
                self.remove(set(store.ids(range(count)).values()))
        new = (_segment(self._library, name, count) for name, count in built.items())
        self.manifest = replace(self.manifest, segments=(*self.manifest.segments, *new))

    def answers_to(self, ids: set[str]) -> Iterator[Post]:
        """The answers that must be indexed again when their questions change.

        ``ids`` may grow until the first answer is requested.
        """
        yield from affected_answers(ids, self._gone, self._stored_posts.answers_to)

    def merge(self, most: int, processes: int) -> bool:
        """Merge segments up to a size and drop removed posts; returns whether any were merged."""
        recipe = self.recipe
        segments = list(self.manifest.segments)
        for group in list(mergeable(segments, most)):
            name = self._name()
            self._next += 1
            count = merge_segments(self._library, name, group, recipe, processes)
            place = segments.index(group[0])
            segments[place : place + len(group)] = [_segment(self._library, name, count)]
            self._merged |= {segment.name for segment in group}
        self.manifest = replace(self.manifest, segments=tuple(segments))
        return bool(self._merged)

    def commit(self) -> None:
        """Make the change take effect."""
        models = self.manifest.models
        _commit(self._library, self.manifest.recipe, list(self.manifest.segments), models)
        if self._merged:
            _clean(self._library, self._merged)

    def _name(self) -> str:
        return f"{self._next:06d}"

    def _question(self, post_id: str) -> PostFacts | None:
        return None if post_id in self._gone else self._stored_posts.find(post_id)


def _noted(posts: Iterable[Post], ids: set[str]) -> Iterator[Post]:
    """Pass posts through and record their ids."""
    for post in posts:
        ids.add(post.id)
        yield post


def _segment(library: Path, name: str, count: int) -> Segment:
    """The manifest entry of a new segment."""
    return Segment(name, count, describe(segment_folder(library, name)))


def _commit(
    library: Path, recipe: dict[str, Any], segments: list[Segment], models: dict[str, str]
) -> None:
    """Write a manifest of these segments, after their folders are on the disk."""
    languages: Counter[str] = Counter()
    for segment in segments:
        with closing(Store(segment_folder(library, segment.name) / STORE)) as store:
            languages.update(store.languages(frozenset(segment.removed)))
    sync_folder(library)
    counts = dict(sorted(languages.items()))
    write_manifest(library, Manifest(recipe, tuple(segments), counts, __version__, models))


def _plain(value: Any) -> Any:
    """The table of a recipe as in JSON and TOML: with lists instead of tuples."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _next_name(library: Path, named: set[str]) -> str:
    """The name of the next segment; leftovers of interrupted builds are removed.

    The unfinished build with that name is kept, because it may be resumed.
    """
    folders = segment_folders(library)
    is_known = bool(named) or not has_manifest(library)
    # If the manifest cannot be read, a finished segment may be in use.
    leftovers = [
        folder
        for folder in folders
        if is_ours(folder)
        and folder.name not in named
        and (is_known or folder.name.endswith(BUILDING))
    ]
    others = {folder.name for folder in folders if folder not in leftovers}
    taken = named | {name.removesuffix(BUILDING) for name in others}
    numbers = (int(name) for name in taken if is_segment_name(name))
    chosen = f"{max(numbers, default=0) + 1:06d}"
    for folder in leftovers:
        if folder.name != chosen + BUILDING:
            shutil.rmtree(folder, ignore_errors=True)
    return chosen


def _clean(library: Path, former: set[str]) -> None:
    """Remove the segments that the manifest no longer names; other folders stay."""
    named = {segment.name for segment in read_manifest(library).segments}
    for folder in segment_folders(library):
        is_former = folder.name in former and is_plain_folder(folder)
        if folder.name not in named and (is_former or is_ours(folder)):
            shutil.rmtree(folder, ignore_errors=True)
