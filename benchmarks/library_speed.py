"""Measures how fast a library is built, opened and searched, and how this scales with its size.

    python -m benchmarks.library_speed [--times 1 4 16] [--processes 2]

The posts are those of ARQMath with the recipe ``default``; larger collections repeat them with new
ids. Queries are the English topics, run one at a time on one core without explanations, after one
warm-up query. Besides wall-clock time, the processor time of all processes (build) or of this one
(queries) is printed, which depends less on the load of the machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.shared import DATA, arqmath_posts, topics
from mathsetu.collections import sampler
from mathsetu.library import Library, build_library
from mathsetu.records import Post, Query

OPENING = """
import sys, time
started = time.perf_counter()
from mathsetu.library import Library
imported = time.perf_counter()
Library(sys.argv[1])
opened = time.perf_counter()
print(imported - started, opened - imported, time.process_time())
"""
SEARCH = "from mathsetu.cli import main; main()"
ROUNDS = 7


def repeated(times: int, data: Path) -> Iterator[Post]:
    """Yield the posts several times, each time with other ids."""
    for number in range(times):
        for post in arqmath_posts(data):
            yield replace(post, id=f"{post.id}-{number}") if number else post


def processor_time() -> float:
    """Processor seconds of this process and of its ended children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def milliseconds(seconds: Sequence[float]) -> str:
    return f"{percentile(seconds, 0.5) * 1e3:.0f} / {percentile(seconds, 0.95) * 1e3:.0f}"


def measure_growth(times: int, queries: Sequence[Query], processes: int, data: Path) -> None:
    """Build from the repeated posts and search; print one row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "library"
        started, had = time.perf_counter(), processor_time()
        build_library(target, repeated(times, data), collection="arqmath", processes=processes)
        built, spent = time.perf_counter() - started, processor_time() - had
        size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
        library = Library(target)
        library.run(queries[:1])
        walls, works = [], []
        for query in queries:
            started, had = time.perf_counter(), time.process_time()
            library.run([query])
            walls.append(time.perf_counter() - started)
            works.append(time.process_time() - had)
        print(
            f"| {times}x | {len(library):,} | {built:.0f} | {spent:.0f} | {size / 1e6:.0f} "
            f"| {milliseconds(walls)} | {milliseconds(works)} |",
            flush=True,
        )
        if times == 1:
            measure_opening("ARQMath", target)


def as_installed(library: Path) -> dict[str, str]:
    """An environment in which bytecode is cached, as for an installed package."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{library}-compiled"}
    return {**os.environ, **compiled}


def measure_opening(name: str, library: Path) -> None:
    """Open in fresh processes, after a first one that compiles; print minimum and median times."""
    rows = []
    for _ in range(1 + ROUNDS):
        told = subprocess.run(
            [sys.executable, "-c", OPENING, str(library)],
            capture_output=True,
            check=True,
            env=as_installed(library),
        )
        rows.append([float(number) for number in told.stdout.split()])
    del rows[0]
    whole = [(imports + opening) * 1e3 for imports, opening, _ in rows]
    work = [row[2] * 1e3 for row in rows]
    print(
        f"opening {name}: imports and opening {min(whole):.0f} ms at best, "
        f"{statistics.median(whole):.0f} ms in the middle; processor time of the whole process "
        f"{min(work):.0f} ms at best",
        file=sys.stderr,
    )


def measure_command(library: Path) -> None:
    """Time the whole command as called from a shell."""
    command = [sys.executable, "-c", SEARCH, "search", str(library), "infinitely many primes"]
    walls, works = [], []
    subprocess.run(command, capture_output=True, check=True, env=as_installed(library))
    for _ in range(ROUNDS):
        started, had = time.perf_counter(), processor_time()
        subprocess.run(command, capture_output=True, check=True, env=as_installed(library))
        walls.append((time.perf_counter() - started) * 1e3)
        works.append((processor_time() - had) * 1e3)
    print(
        f"mathsetu search on the sampler, whole process: {min(walls):.0f} ms at best, "
        f"{statistics.median(walls):.0f} ms in the middle; processor time {min(works):.0f} ms",
        file=sys.stderr,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "library"
        build_library(target, sampler.posts(), processes=1)
        measure_command(target)
        measure_opening("the sampler", target)
    print("| posts |  | build, s | processor, s | MB | p50 / p95, ms | processor, ms |")
    print("|---|---|---|---|---|---|---|")
    queries = topics("en", arguments.data)
    for times in arguments.times:
        measure_growth(times, queries, arguments.processes, arguments.data)


if __name__ == "__main__":
    main()
