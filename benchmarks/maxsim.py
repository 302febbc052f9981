"""Measures MaxSim on synthetic data of the size of the MathAMR+ thesis: `benchmarks.maxsim`.

There are 33,771 posts of 16 vectors with 32 dimensions, and queries of 8 vectors. Vectors are near
2,000 random directions; the last vector of each post and query is the sum of its others. In-process
search is compared with a Qdrant server in the same run, if there is one (the program ``qdrant`` on
the path, or named by MATHSETU_QDRANT), and each approximate strategy with the exact one. The server
is searched when its index is complete. Its processor time is not counted, only that of its client:
compare queries per second, on the same cores (``taskset -c 0,1 python -m benchmarks.maxsim``).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.graphs.virtual import FORMULA
from mathsetu.retrieval.base import Scored
from mathsetu.retrieval.graph_search import HNSW, VectorComparison
from mathsetu.retrieval.maxsim import STRATEGIES, MaxSim
from mathsetu.retrieval.multivectors import write_multivectors
from mathsetu.retrieval.text_table import write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.retrieval.qdrant import QdrantServer

    Vectors = NDArray[np.float32]

_CENTRES = 2000
_K = 100
_SPREAD = 0.12
# Seconds without activity after which the index of a server counts as complete.
_QUIET = 4


def synthetic(
    random: np.random.Generator, centres: Vectors, count: int, each: int
) -> list[Vectors]:
    """Make groups of vectors near random centres; the last of each group is the sum."""
    near = centres[random.integers(0, len(centres), (count, each - 1))]
    noise = random.standard_normal(near.shape, dtype=np.float32)
    vectors = near + _SPREAD * noise
    vectors = np.concatenate([vectors, vectors.sum(axis=1, keepdims=True)], axis=1)
    return list(vectors / np.linalg.norm(vectors, axis=2, keepdims=True))


def recall(wanted: Sequence[Scored], found: Sequence[Scored], k: int) -> float:
    """The share of the best k posts that was found."""
    shares = [
        len(set(one.numbers[:k].tolist()) & set(other.numbers[:k].tolist())) / k
        for one, other in zip(wanted, found, strict=True)
    ]
    return float(np.mean(shares))


def timed(
    engine: VectorComparison, queries: Sequence[Vectors], together: int
) -> tuple[list[Scored], str]:
    """Return the results of an engine with ``together`` queries at a time, and its speed."""
    engine.search(queries[:2], _K)
    wall, processor = time.perf_counter(), time.process_time()
    found: list[Scored] = []
    for start in range(0, len(queries), together):
        found += engine.search(queries[start : start + together], _K)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    speed = f"{len(queries) / wall:8.1f} {1000 * processor / len(queries):8.1f}"
    return found, speed


def embedded(posts: Sequence[Vectors], queries: Sequence[Vectors], folder: Path) -> list[Scored]:
    """Run every strategy in process; return the results of the exact one."""
    exact: list[Scored] = []
    for storage in ("float16", "int8"):
        place = folder / storage
        write_multivectors(place, posts, storage)
        size = sum(path.stat().st_size for path in place.iterdir()) / 1e6
        for strategy in STRATEGIES if storage == "float16" else ("exact",):
            for together in (1, len(queries)):
                found, speed = timed(MaxSim([place], strategy), queries, together)
                exact = exact or found
                show(f"in process, {storage}, {strategy}", together, speed, exact, found)
        print(f"  ({storage} index: {size:.1f} MB)")
    return exact


def show(
    name: str, together: int, speed: str, exact: Sequence[Scored], found: Sequence[Scored]
) -> None:
    shares = f"{recall(exact, found, 10):8.3f} {recall(exact, found, 100):8.3f}"
    print(f"{name:<36}{together:>5} {speed} {shares}", flush=True)


def server(
    posts: Sequence[Vectors], queries: Sequence[Vectors], folder: Path, exact: Sequence[Scored]
) -> None:
    """Run every strategy on a Qdrant server."""
    from mathsetu.retrieval.qdrant import (
        QdrantSearch,
        QdrantServer,
        collections_of,
        upload_segment,
    )
    from tests.retrieval.qdrant_server import LocalQdrant, qdrant_program

    if not qdrant_program():
        print("no Qdrant server on this machine: left out")
        return
    part = folder / "part"
    write_multivectors(part / "vectors", posts, "float16")
    # Without formulas, whose collection would only take time.
    np.save(part / "kinds.npy", np.full(sum(map(len, posts)), FORMULA + 1, dtype=np.int8))
    write_texts(part / "ids", [])
    write_texts(part / "latex", [])
    local = LocalQdrant(folder / "qdrant")
    local.start()
    try:
        connection = QdrantServer(local.url)
        started = time.perf_counter()
        upload_segment(connection, part, lambda number: {"id": str(number)}, lambda *_: None)
        seconds = time.perf_counter() - started
        print(f"  (upload: {len(posts) / seconds:,.0f} posts a second)", flush=True)
        seconds, indexed = wait_for_index(connection, collections_of(part / "vectors").posts)
        print(
            f"  ({seconds:.0f} s more for its index of {indexed:,} vectors)",
            flush=True,
        )
        for strategy in (*STRATEGIES, *HNSW):
            engine = QdrantSearch(connection, [part / "vectors"], strategy)
            found, speed = timed(engine, queries, 1)
            show(f"Qdrant server, {strategy}", 1, speed, exact, found)
        connection.close()
    finally:
        local.kill()


def wait_for_index(connection: QdrantServer, collection: str) -> tuple[float, int]:
    """Wait until a server has indexed an upload; return the seconds, and the indexed vectors."""
    started = time.perf_counter()
    quiet = 0
    # The status may be green between two steps of the work, so it must stay green.
    while quiet < _QUIET:
        with connection.connected() as client:
            found = client.get_collection(collection)
        quiet = quiet + 1 if found.status == connection.models.CollectionStatus.GREEN else 0
        time.sleep(1)
    return time.perf_counter() - started - _QUIET, int(found.indexed_vectors_count or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=33_771)
    parser.add_argument("--vectors", type=int, default=16)
    parser.add_argument("--dimensions", type=int, default=32)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--server-queries", type=int, default=100, help="0 to leave it out")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    centres = random.standard_normal((_CENTRES, options.dimensions), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    posts = synthetic(random, centres, options.posts, options.vectors)
    queries = synthetic(random, centres, options.queries, 8)
    print(f"{options.posts:,} posts x {options.vectors} x {options.dimensions}, "
          f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")  # fmt: skip
    print(f"{'':<36}{'at a':>5} {'queries':>8} {'CPU ms':>8} {'recall':>8} {'recall':>8}")
    print(f"{'':<36}{'time':>5} {'/second':>8} {'/query':>8} {'@10':>8} {'@100':>8}")
    with TemporaryDirectory() as folder:
        exact = embedded(posts, queries, Path(folder))
        if options.server_queries:
            some = options.server_queries
            server(posts, queries[:some], Path(folder), exact[:some])


if __name__ == "__main__":
    main()
