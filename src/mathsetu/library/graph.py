"""The graph index of a library: compared with a query in detail, or given to a Qdrant server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathsetu.errors import InputError
from mathsetu.library.manifest import Manifest, check, read_manifest, segment_folder
from mathsetu.library.store import Store
from mathsetu.recipes.parts import make_retriever
from mathsetu.records import Query
from mathsetu.retrieval.graph import GraphRetriever
from mathsetu.retrieval.question import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def compare_with_post(
    folder: Path, query: str, post_id: str
) -> tuple[list[str], list[str], NDArray[np.float32]]:
    """The formulas and sentences of a query, those of a post, and the cosines between them."""
    manifest, part = _opened(folder)
    offset = 0
    for segment in manifest.segments:
        store = Store(segment_folder(folder, segment.name) / "posts.sqlite")
        number, count = store.number_of(post_id), store.count
        store.close()
        if number is not None and number not in segment.removed:
            folders = [segment_folder(folder, one.name) / part for one in manifest.segments]
            # The vectors are here: no server is needed, whatever the library names.
            settings = {**manifest.recipe["parts"][part], "server": "", "strategy": "exact"}
            retriever = make_retriever(settings, folders, f"parts.{part}")
            assert isinstance(retriever, GraphRetriever)
            return retriever.table(Question(Query("", query)), offset + number)
        offset += count
    raise InputError(f"{folder}: there is no post {post_id!r}")


def upload_library(folder: Path, url: str, progress: Callable[[str, int], None]) -> int:
    """Give a Qdrant server the vectors of a library; returns how many posts it has then."""
    from mathsetu.retrieval.qdrant import QdrantServer, upload_segment

    manifest, part = _opened(folder)
    server = QdrantServer(url)
    total = 0
    try:
        for segment in manifest.segments:
            place = segment_folder(folder, segment.name)
            store = Store(place / "posts.sqlite")
            try:
                total += upload_segment(server, place / part, partial(_payload, store), progress)
            finally:
                store.close()
    finally:
        server.close()
    return total


def _payload(store: Store, number: int) -> dict[str, Any]:
    """What a point tells of its post, so that others can filter by it."""
    post = store.by_number([number])[number]
    return {
        "id": post.id,
        "language": post.language,
        "tags": list(post.tags),
        "collection": post.collection,
    }


def _opened(folder: Path) -> tuple[Manifest, str]:
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
