"""Load test of the server: many users, more users than it can serve, and recovery.

    python -m benchmarks.service_load [--users 50] [--seconds 60] [--workers 2] [--no-facets]
        [--new-questions]

Starts ``mathsetu serve`` over the ARQMath posts (recipe ``default``) on loopback, and sends
requests from another process. Each user sends a query, reads the whole answer, and sends the next
query at once. Queries are the titles of the English topics; each answer has ten hits with all
reasons, the total and, unless disabled, counts by language, tag and collection. Topics are
repeated, so answers are cached; with ``--new-questions`` (from the training data, up to 150
characters) no query is repeated.

There are three measurements. First, the given number of users for the given time, with the memory
of the server's processes. Then eight times as many users as may wait, who must be answered or
rejected with 429 at once. Then five users, who must be served as before. The processor time per
answer is printed too, because it depends least on the load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.collection import real_posts
from benchmarks.shared import DATA, arqmath_posts, topics
from mathsetu.library import build_library

HOST = "127.0.0.1"
OVERLOAD = 8
RECOVERY_USERS = 5
# Number of training questions to draw from, and maximum characters of a question.
DRAWN, LONGEST = 40_000, 150


@dataclass
class Load:
    """The results of the users of one measurement."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)

    def line(self, name: str) -> str:
        times = " / ".join(f"{percentile(self.answered, q) * 1e3:.0f}" for q in (0.5, 0.95, 0.99))
        refused = f"{percentile(self.refused, 0.95) * 1e3:.0f} ms" if self.refused else "-"
        counts = ", ".join(f"{status}: {n:,}" for status, n in sorted(self.statuses.items()))
        errors = sum(self.broken.values()) + sum(
            n for status, n in self.statuses.items() if status not in (200, 429)
        )
        return (
            f"{name:<22} {len(self.answered) / self.seconds:6.1f} answers/s   "
            f"p50/p95/p99 {times} ms   {counts}   429s within {refused}   errors {errors} "
            f"{dict(self.broken) or ''}"
        )


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)] if values else float("nan")


async def user(
    port: int, number: int, users: int, paths: list[str], end: float, load: Load
) -> None:
    """Send requests as one of several users, on one connection, which is reopened if it is lost."""
    place = number
    while time.perf_counter() < end:
        try:
            reader, writer = await asyncio.open_connection(HOST, port)
        except OSError as error:
            load.broken[type(error).__name__] += 1
            await asyncio.sleep(0.1)
            continue
        try:
            while time.perf_counter() < end:
                began = time.perf_counter()
                writer.write(
                    f"GET {paths[place % len(paths)]} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
                )
                place += users
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0])
                await reader.readexactly(length)
                status = int(head.split(" ", 2)[1])
                load.statuses[status] += 1
                spent = time.perf_counter() - began
                (load.answered if status == 200 else load.refused).append(spent)
                if status == 429:
                    await asyncio.sleep(1)
        except (OSError, asyncio.IncompleteReadError) as error:
            load.broken[type(error).__name__] += 1
        finally:
            writer.close()


async def crowd(port: int, users: int, seconds: float, paths: list[str]) -> Load:
    load = Load()
    began = time.perf_counter()
    end = began + seconds
    await asyncio.gather(*(user(port, n, users, paths, end, load) for n in range(users)))
    load.seconds = time.perf_counter() - began
    return load


def client(port: int, users: int, seconds: float, paths: list[str], results: object) -> None:
    results.put(asyncio.run(crowd(port, users, seconds, paths)))  # type: ignore[attr-defined]


def measure(port: int, users: int, seconds: float, paths: list[str]) -> Load:
    """Run the users in a separate process."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=client, args=(port, users, seconds, paths, results))
    process.start()
    load = results.get()
    process.join()
    assert isinstance(load, Load)
    return load


class Watch(threading.Thread):
    """Samples the memory of a server's processes every second; measures their processor time."""

    def __init__(self, server: int) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.megabytes: list[float] = []
        self.stop = threading.Event()
        self.began = self.processor_seconds()

    def run(self) -> None:
        while not self.stop.wait(1.0):
            pages = (
                int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in self.all()
            )
            self.megabytes.append(sum(pages) * os.sysconf("SC_PAGESIZE") / 1e6)

    def all(self) -> list[int]:
        """The processes of the server."""
        found = [self.server]
        for process in found:
            children = Path(f"/proc/{process}/task/{process}/children").read_text()
            found += map(int, children.split())
        return found

    def processor_seconds(self) -> float:
        ticks = 0
        for process in self.all():
            numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(numbers[11]) + int(numbers[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def line(self, answers: int) -> str:
        count = len(self.megabytes)
        marks = [self.megabytes[min(int(count * q), count - 1)] for q in (0, 0.25, 0.5, 0.75, 1)]
        spent = (self.processor_seconds() - self.began) / max(answers, 1)
        return (
            f"{'':<22} memory {' → '.join(f'{mark:.0f}' for mark in marks)} MB, "
            f"{spent * 1e3:.0f} ms of a processor for an answer, so at most "
            f"{1 / spent:.0f} answers/s on each core that is free for it"
        )


def repeated_questions(data: Path) -> list[str]:
    return [topic.title for topic in topics("en", data)]


def new_questions(data: Path) -> list[str]:
    posts = real_posts(data, DRAWN, seed=0)
    texts = (post["question"] for post in posts if post["language"] == "en")
    return list(dict.fromkeys(text for text in texts if len(text) <= LONGEST))


def start(library: Path, port: int, workers: int, waiting: int) -> subprocess.Popen[bytes]:
    code = "from mathsetu.cli import main; main()"
    options = ["--port", str(port), "--workers", str(workers), "--waiting", str(waiting)]
    server = subprocess.Popen(
        [sys.executable, "-c", code, "serve", str(library), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://{HOST}:{port}/v1/health", timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return server
    raise SystemExit("the server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--library", type=Path, help="a library to serve instead of a new one")
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--waiting", type=int, default=64)
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--new-questions", action="store_true", help="ask nothing twice")
    parser.add_argument("--no-facets", action="store_true", help="do not ask for counts")
    arguments = parser.parse_args()
    port, waiting = arguments.port, arguments.waiting
    facets = "false" if arguments.no_facets else "true"
    asked = new_questions if arguments.new_questions else repeated_questions
    paths = [
        "/v1/search?" + urlencode({"q": question, "k": 10, "facets": facets})
        for question in asked(arguments.data)
    ]
    # The queries are divided, so that each measurement has new ones.
    first, second, third = (
        (paths[place::3] for place in range(3)) if arguments.new_questions else [paths] * 3
    )
    with tempfile.TemporaryDirectory() as folder:
        library = arguments.library or Path(folder) / "library"
        if arguments.library is None:
            build_library(library, arqmath_posts(arguments.data), "default")
        server = start(library, port, arguments.workers, waiting)
        try:
            if not arguments.new_questions:
                measure(port, arguments.workers, 5, first)  # warm up the caches
            watch = Watch(server.pid)
            watch.start()
            load = measure(port, arguments.users, arguments.seconds, first)
            watch.stop.set()
            print(load.line(f"{arguments.users} users"))
            print(watch.line(len(load.answered)), flush=True)
            many = OVERLOAD * waiting
            print(measure(port, many, 15, second).line(f"{many} users"), flush=True)
            print(measure(port, RECOVERY_USERS, 10, third).line(f"{RECOVERY_USERS} users again"))
        finally:
            server.terminate()
            print(f"server ended with {server.wait(30)}")


if __name__ == "__main__":
    main()
