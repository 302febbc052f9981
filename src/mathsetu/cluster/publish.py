"""Publishes a library from a folder to a cluster.

The segments are sent one by one to new collections, which are not searched yet. When all segments
are complete, the library's name becomes an alias of the new collections in one step. A command that
was killed resumes where it stopped when it is run again, and produces the same collections.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathsetu import __version__
from mathsetu.cluster.client import Cluster
from mathsetu.cluster.layout import (
    Names,
    Spread,
    builds,
    check_recipe,
    check_segment,
    create,
    drop,
)
from mathsetu.cluster.points import FolderWeights, SegmentPoints
from mathsetu.cluster.sending import Progress, send_segment
from mathsetu.cluster.state import (
    PartState,
    SegmentMark,
    State,
    new_token,
    read_mark,
    read_state,
    write_mark,
    write_state,
)
from mathsetu.errors import InputError
from mathsetu.library.manifest import Manifest, check, read_manifest, segment_folder
from mathsetu.recipes.schema import parse_table

#: Seconds for which replaced data is kept for running searches.
GRACE = 600.0
# The version that marks a build that is being removed.
_DROPPED = -1


def publish_library(
    cluster: Cluster,
    folder: Path,
    spread: Spread,
    progress: Progress,
    grace: float = GRACE,
    processes: int = 1,
) -> State:
    """Publish a library; returns its state on the cluster.

    Args:
        cluster: The cluster to publish to; its address has the name of the library there.
        folder: The folder of the library.
        spread: How new collections are distributed over the nodes.
        progress: Called as the work goes on.
        grace: Seconds for which replaced collections are kept.
        processes: The number of worker processes that send points.
    """
    manifest = read_manifest(folder)
    check(folder, manifest)
    build = _free_build(cluster, _digest(manifest))
    names = Names(cluster.address.name, build)
    for number in range(len(manifest.segments)):
        send_part(cluster, names, folder, manifest, number, number, spread, progress, processes)
    return finish(cluster, names, manifest.recipe, range(len(manifest.segments)), grace)


def send_part(
    cluster: Cluster,
    names: Names,
    folder: Path,
    manifest: Manifest,
    place: int,
    segment: int,
    spread: Spread,
    progress: Progress,
    processes: int = 1,
) -> SegmentMark:
    """Publish one segment of a library, unless it is already published.

    Args:
        cluster: The cluster to publish to.
        names: The collections.
        folder: The folder of the library.
        manifest: The manifest of the library.
        place: The index of the segment in the manifest.
        segment: The number of the segment on the cluster.
        spread: How new collections are distributed over the nodes.
        progress: Called as the work goes on.
        processes: The number of worker processes that send points.
    """
    done = read_mark(cluster, names.meta, segment)
    if done is not None:
        progress("posts", done.posts)
        return done
    recipe = parse_table(manifest.recipe, str(folder))
    check_recipe(recipe)
    folders = [segment_folder(folder, one.name) for one in manifest.segments]
    points = SegmentPoints(
        folders[place],
        recipe,
        FolderWeights(folders),
        manifest.segments[place].removed,
        check_segment(segment),
        birth=1,
    )
    create(cluster, names, recipe, spread, points.dimensions)
    mark = send_segment(cluster, names, points, progress, processes)
    write_mark(cluster, names.meta, mark)
    return mark


def finish(
    cluster: Cluster,
    names: Names,
    recipe: dict[str, Any],
    segments: Sequence[int],
    grace: float = GRACE,
    mend: Callable[[dict[str, PartState]], dict[str, PartState]] = dict,
) -> State:
    """Write the state of a complete build, and make the library's name an alias of it.

    Args:
        cluster: The cluster.
        names: The collections of the build.
        recipe: The table of the recipe.
        segments: The numbers of the segments, which must all be published.
        grace: Seconds for which replaced collections are kept.
        mend: Corrects the summed statistics of all segments.
    """
    state = read_state(cluster, names.meta)
    former = read_state(cluster, names.library)
    replaced: tuple[tuple[str, float], ...] = ()
    if former is not None and former.build != names.build:
        every = (*former.builds, (former.build, time.time()))
        replaced = tuple(entry for entry in every if entry[0] != names.build)
    if state is None:
        marks = {number: read_mark(cluster, names.meta, number) for number in segments}
        missing = [str(number) for number, mark in marks.items() if mark is None]
        if missing:
            raise InputError(
                f"{cluster.address}: segments {', '.join(missing[:20])} are not published yet"
            )
        together = summed([mark for mark in marks.values() if mark])
        state = State(
            names.build,
            1,
            recipe,
            **{**together, "parts": mend(together["parts"])},
            segments=max(segments) + 1,
            written=__version__,
            builds=replaced,
            token=new_token(),
        )
        write_state(cluster, names.meta, state, expected=0)
    elif replaced:
        # A former build of the library becomes current again.
        state = replace(state, builds=replaced, token=new_token())
        write_state(cluster, names.meta, state, expected=state.version)
    set_alias(cluster, names)
    return sweep_builds(cluster, names, state, grace)


def summed(marks: Sequence[SegmentMark]) -> dict[str, Any]:
    """The summed counts and statistics of segments, as arguments of `State`."""
    languages: Counter[str] = Counter()
    for mark in marks:
        languages.update(mark.languages)
    parts = {
        name: PartState(
            sum(mark.parts[name].documents for mark in marks),
            sum(mark.parts[name].length for mark in marks),
            tuple(table for mark in marks for table in mark.parts[name].tables),
            max(mark.parts[name].dimensions for mark in marks),
        )
        for name in marks[0].parts
    }
    posts = sum(mark.posts for mark in marks)
    return {"posts": posts, "languages": dict(sorted(languages.items())), "parts": parts}


def sweep_builds(cluster: Cluster, names: Names, state: State, grace: float) -> State:
    """Remove the collections of builds that were replaced at least ``grace`` seconds ago."""
    now = time.time()
    old = {build for build, when in state.builds if now - when >= grace}
    if not old:
        return state
    found = builds(cluster, names.library)
    for build in old:
        collections = found.get(build, [])
        meta = Names(names.library, build).meta
        gone = read_state(cluster, meta) if meta in collections else None
        if gone is not None:
            # The remaining collections must not be mistaken for a complete build.
            dropped = replace(gone, version=_DROPPED, token=new_token())
            write_state(cluster, meta, dropped, expected=gone.version)
        drop(cluster, collections)
    kept = tuple(entry for entry in state.builds if entry[0] not in old)
    fresh = replace(state, builds=kept, token=new_token())
    write_state(cluster, names.meta, fresh, expected=state.version)
    return fresh


def set_alias(cluster: Cluster, names: Names) -> None:
    """Make the library's name an alias of a build, in one step."""
    models = cluster.models
    listed = cluster.read("the aliases", "get_aliases").aliases
    present = {alias.alias_name: alias.collection_name for alias in listed}
    if present.get(names.library) == names.meta:
        return
    operations = []
    if names.library in present:
        gone = models.DeleteAlias(alias_name=names.library)
        operations.append(models.DeleteAliasOperation(delete_alias=gone))
    new = models.CreateAlias(collection_name=names.meta, alias_name=names.library)
    operations.append(models.CreateAliasOperation(create_alias=new))
    cluster.write("the library's name", "update_collection_aliases", operations)


def _digest(manifest: Manifest) -> str:
    """A digest that identifies the content of a library."""
    content = [[one.name, one.files, one.removed] for one in manifest.segments]
    written = json.dumps([manifest.recipe, content], sort_keys=True).encode()
    return blake2b(written, digest_size=6).hexdigest()


def _free_build(cluster: Cluster, digest: str) -> str:
    """The build for a content: one that was begun, one published and unchanged, or a new one."""
    number = 0
    while True:
        build = f"{digest}x{number}"
        state = read_state(cluster, Names(cluster.address.name, build).meta)
        if state is None or state.version == 1:
            return build
        # The build was changed after it was published, so its content is different now.
        number += 1
