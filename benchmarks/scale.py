"""Measures search in a library of any size: time by part and query, memory, filters, recall.

    python -m benchmarks.scale LIBRARY [--queries 100] [--exhaustive 0]

Short queries are the titles of the English topics, long ones are title and text. Posts of a
collection made by `benchmarks.collection` have the tags ``rare`` (ten posts) and ``common`` (four
posts of ten). Times are processor times of one process in milliseconds, median and 95th percentile,
without explanations; each query runs once before, because blocks of files are verified when they
are first read. Opening and the first query are timed in a fresh process. Memory is the anonymous
memory of the process, without mapped files.

``--exhaustive N`` repeats N queries of each kind without any limits of the search, and prints the
share of the best 10, 100 and 500 posts that the usual search finds, by part.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.shared import DATA, topics
from mathsetu.intake.question import Question
from mathsetu.library import Filter, Library
from mathsetu.records import Query
from mathsetu.retrieval import formula, meaning, weighting
from mathsetu.retrieval.base import Retriever
from mathsetu.retrieval.kernels import is_compiled

_DEPTHS = (10, 100, 500)
_FRESH = """
import sys, time
from mathsetu.library import Library
started = time.perf_counter()
library = Library(sys.argv[1])
opened = time.perf_counter()
library.search(sys.argv[2], explain=False)
print(opened - started, time.perf_counter() - opened)
"""
# The limits of the search, and values that disable them.
_LIMITS: tuple[tuple[Any, str, int], ...] = (
    (formula, "_CANDIDATES", 1 << 40),
    (formula, "_RESCORED", 1 << 30),
    (meaning, "_ALL_COMPARED", 1 << 40),
    (weighting, "_EXTRA_CANDIDATES", 1 << 30),
)


def own_memory() -> float:
    """Megabytes of anonymous memory of this process."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return float("nan")


def spent(work: Callable[[Query], object], queries: Sequence[Query]) -> str:
    """Median and 95th percentile of the processor time of some work."""
    times = []
    for query in queries:
        started = time.process_time()
        work(query)
        times.append(time.process_time() - started)
    times.sort()
    return f"{times[len(times) // 2] * 1e3:.1f} / {times[int(len(times) * 0.95)] * 1e3:.1f}"


@contextmanager
def without_limits() -> Iterator[None]:
    """Disable the limits, so that every post and formula is scored exactly."""
    before = [getattr(module, name) for module, name, _ in _LIMITS]
    for module, name, value in _LIMITS:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(_LIMITS, before, strict=True):
            setattr(module, name, value)


def found_again(library: Library, queries: Sequence[Query], weights: dict[str, float]) -> str:
    """The share of the best posts of an exhaustive search that the usual search finds."""
    shares: list[list[float]] = [[] for _ in _DEPTHS]
    for query in queries:
        k = max(_DEPTHS)
        usual = [hit.id for hit in library.answer(query, k, explain=False, weights=weights).hits]
        with without_limits():
            exact = library.answer(query, k, explain=False, weights=weights).hits
        ids = [hit.id for hit in exact]
        for depth, share in zip(_DEPTHS, shares, strict=True):
            if ids:
                share.append(len({*ids[:depth]} & {*usual[:depth]}) / len(ids[:depth]))
    return " ".join(f"{sum(share) / max(len(share), 1):.4f}" for share in shares)


def measure(folder: Path, short: list[Query], long: list[Query], exhaustive: int) -> None:
    """Print all figures for a library."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    fresh = [sys.executable, "-c", _FRESH, str(folder), short[0].text]
    runs = [subprocess.run(fresh, capture_output=True, check=True, text=True) for _ in range(3)]
    opened, first = (min(float(run.stdout.split()[at]) for run in runs) for at in range(2))
    library = Library(folder)
    empty = own_memory()
    weights = library.recipe.ranking.weights
    print(
        f"{len(library):,} posts in {len(library.manifest.segments)} segments, {size / 1e6:,.0f} MB"
    )
    print(f"loops: {'compiled' if is_compiled() else 'numpy'}")
    print(f"opened in {opened:.3f} s, first query {first:.3f} s")
    for kind, queries in (("short", short), ("long", long)):
        for query in queries:
            library.search(query, explain=False)
        print(f"{kind}: {spent(lambda query: library.search(query, explain=False), queries)} ms")
        for part in weights:
            retriever = library._backend.now().parts(None)[0][part]

            def one(query: Query, retriever: Retriever = retriever) -> object:
                [reply] = retriever.ask([Question(query)])
                return reply.best(library.recipe.ranking.candidates)

            print(f"  {part}: {spent(one, queries)} ms")
        with ThreadPoolExecutor(2) as pool:
            started = time.perf_counter()
            list(pool.map(lambda query: library.search(query, explain=False), queries))
            each = (time.perf_counter() - started) / len(queries)
        print(f"  two threads: {each * 1e3:.1f} ms of wall time a query")
        for tag in ("rare", "common"):
            where = Filter(tags=(tag,))

            def filtered(query: Query, where: Filter = where) -> object:
                return library.search(query, where=where, explain=False)

            print(f"  tag {tag}: {spent(filtered, queries)} ms")
    print(f"memory of its own: {empty:.0f} MB opened, {own_memory():.0f} MB after all queries")
    for kind, queries in (("short", short[:exhaustive]), ("long", long[:exhaustive])):
        for name in weights if exhaustive else ():
            print(f"found again, {kind}, {name}: {found_again(library, queries, {name: 1.0})}")
        if exhaustive:
            print(f"found again, {kind}, all: {found_again(library, queries, dict(weights))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--exhaustive", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    long = topics("en", options.data)[: options.queries]
    short = [Query(query.id, query.title, language="en") for query in long]
    measure(options.library, short, long, options.exhaustive)


if __name__ == "__main__":
    main()
