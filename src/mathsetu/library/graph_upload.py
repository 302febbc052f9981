"""The graph index of a library: uploaded to a Qdrant server, or searched without one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.library.manifest import Manifest, check, read_manifest, segment_folder
from mathsetu.library.store import STORE, Store


def searched_here(folder: Path) -> tuple[str, ...]:
    """Settings with which a library is searched without the server that it may name."""
    _, part = graph_part(folder)
    return f"parts.{part}.server=''", f"parts.{part}.strategy='exact'"


def upload_library(folder: Path, url: str, progress: Callable[[str, int], None]) -> int:
    """Give a Qdrant server the vectors of a library; returns how many posts it has then."""
    from mathsetu.retrieval.qdrant import QdrantServer, upload_segment

    manifest, part = graph_part(folder)
    server = QdrantServer(url)
    total = 0
    try:
        for segment in manifest.segments:
            place = segment_folder(folder, segment.name)
            store = Store(place / STORE)
            try:
                total += upload_segment(server, place / part, partial(_payload, store), progress)
            finally:
                store.close()
    finally:
        server.close()
    return total


def _payload(store: Store, number: int) -> dict[str, Any]:
    """What a point tells of its post, so that others can filter by it."""
    post = store.by_number([number])[number].post
    return {
        "id": post.id,
        "language": post.language,
        "tags": list(post.tags),
        "collection": post.collection,
    }


def graph_part(folder: Path) -> tuple[Manifest, str]:
    """A library's manifest, and the name of its graph index."""
    manifest = read_manifest(folder)
    check(folder, manifest)
    for name, settings in manifest.recipe["parts"].items():
        if settings["kind"] == "graph":
            return manifest, name
    raise InputError(
        f"{folder}: the recipe {manifest.recipe['name']} has no graph index; "
        "build the library with one that has (mathamr-plus)"
    )
