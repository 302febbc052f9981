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
    """The settings that search a library's graph index exactly, without a server."""
    _, part = graph_part(folder)
    return f"parts.{part}.server=''", f"parts.{part}.strategy='exact'"


def upload_library(folder: Path, url: str, progress: Callable[[str, int], None]) -> int:
    """Upload the vectors of a library to a Qdrant server; returns the number of posts."""
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
    """The payload of a post's point, by which other programs can filter."""
    post = store.by_number([number])[number].post
    return {
        "id": post.id,
        "language": post.language,
        "tags": list(post.tags),
        "collection": post.collection,
    }


def graph_part(folder: Path) -> tuple[Manifest, str]:
    """The manifest of a library, and the name of its graph part."""
    manifest = read_manifest(folder)
    check(folder, manifest)
    for name, settings in manifest.recipe["parts"].items():
        if settings["kind"] == "graph":
            return manifest, name
    raise InputError(
        f"{folder}: the recipe {manifest.recipe['name']} has no graph index; "
        "build the library with one that has (mathamr-plus)"
    )
