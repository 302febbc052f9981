"""Times ``mathsetu compare`` on ten runs: ``python benchmarks/compare_speed.py``.

Writes synthetic runs over 150 topics with 100 judgments each to a temporary folder, and compares
them with the command line, once for each depth. Prints the processor time of the whole command,
including its start, and the wall-clock time.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

COMMAND = [sys.executable, "-c", "from mathsetu.cli import main; main()", "compare"]


def write_case(folder: Path, runs: int, topics: int, depth: int) -> list[str]:
    """Write judgments and runs; return their paths as arguments of the command."""
    generator = random.Random(0)
    posts = [str(number) for number in range(max(200, 2 * depth))]
    names = [f"A.{number}" for number in range(topics)]
    qrels = folder / "qrels.txt"
    qrels.write_text(
        "".join(
            f"{topic} 0 {post} {generator.choice((0, 0, 0, 1, 2, 3))}\n"
            for topic in names
            for post in generator.sample(posts, 100)
        )
    )
    paths = [qrels]
    for number in range(runs):
        path = folder / f"{number}.run"
        with path.open("w") as file:
            for topic in names:
                scores = sorted((generator.random() for _ in range(depth)), reverse=True)
                hits = zip(generator.sample(posts, depth), scores, strict=True)
                for rank, (post, score) in enumerate(hits, start=1):
                    file.write(f"{topic} Q0 {post} {rank} {score!r} run{number}\n")
        paths.append(path)
    return [str(path) for path in paths]


def measure(paths: list[str], options: list[str]) -> tuple[float, float]:
    """Processor and wall-clock seconds of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([*COMMAND, *paths, *options], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--topics", type=int, default=150)
    parser.add_argument("--depths", type=int, nargs="+", default=[100, 1000])
    arguments = parser.parse_args()
    print(f"{arguments.runs} runs x {arguments.topics} topics")
    print("hits a topic   pairs       processor s   wall-clock s")
    for depth in arguments.depths:
        with TemporaryDirectory() as folder:
            paths = write_case(Path(folder), arguments.runs, arguments.topics, depth)
            for pairs, options in (("baseline", []), ("all", ["--all-pairs"])):
                used, wall = measure(paths, options)
                print(f"{depth:12,}   {pairs:8} {used:14.2f} {wall:14.2f}")


if __name__ == "__main__":
    main()
