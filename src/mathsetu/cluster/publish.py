"""Publishes a library that was built in a folder on a cluster.

A library goes there segment by segment, into collections that nobody searches yet. When all are
there, the library's name is pointed at them in one step. A command that was killed goes on where it
stopped when it is run again, and ends with the same collections.
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

#: Seconds for which what was replaced stays, for searches that still read it.
GRACE = 600.0
# The version of a build that is being dropped.
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
        cluster: Where to; the address names the library there.
        folder: The library.
        spread: How new collections are spread over the nodes.
        progress: Called as the work goes on.
        grace: Seconds for which former collections stay.
        processes: How many send points.
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
    """Publish one segment of a library, unless that is done.

    Args:
        cluster: Where to.
        names: The collections.
        folder: The library.
        manifest: Its manifest.
        place: Which of its segments.
        segment: The segment's number on the cluster.
        spread: How new collections are spread over the nodes.
        progress: Called as the work goes on.
        processes: How many send points.
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
    """Let the library's name mean a build all of whose segments are published.

    Args:
        cluster: Where it is.
        names: The build.
        recipe: The table of its recipe.
        segments: The numbers of its segments.
        grace: Seconds for which former collections stay.
        mend: Called with the statistics of all segments together; gives those of the library.
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
        # It was searched before, and is again.
        state = replace(state, builds=replaced, token=new_token())
        write_state(cluster, names.meta, state, expected=state.version)
    point_at(cluster, names)
    return sweep_builds(cluster, names, state, grace)


def summed(marks: Sequence[SegmentMark]) -> dict[str, Any]:
    """What segments have together, as a state tells it."""
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
    """Remove the collections of builds that were replaced long enough ago."""
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
            # From here on nobody must take what is left for a whole build.
            dropped = replace(gone, version=_DROPPED, token=new_token())
            write_state(cluster, meta, dropped, expected=gone.version)
        drop(cluster, collections)
    kept = tuple(entry for entry in state.builds if entry[0] not in old)
    fresh = replace(state, builds=kept, token=new_token())
    write_state(cluster, names.meta, fresh, expected=state.version)
    return fresh


def point_at(cluster: Cluster, names: Names) -> None:
    """Let the library's name mean a build, in one step."""
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
    """Names what a library holds."""
    content = [[one.name, one.files, one.removed] for one in manifest.segments]
    written = json.dumps([manifest.recipe, content], sort_keys=True).encode()
    return blake2b(written, digest_size=6).hexdigest()


def _free_build(cluster: Cluster, digest: str) -> str:
    """The build of some content: begun before, or published and unchanged, or a new one."""
    number = 0
    while True:
        build = f"{digest}x{number}"
        state = read_state(cluster, Names(cluster.address.name, build).meta)
        if state is None or state.version == 1:
            return build
        # Posts were added to it or removed since, so it is another library now.
        number += 1
