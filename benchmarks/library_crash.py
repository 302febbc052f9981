"""Kills builds and additions of a library at random moments, and searches during rebuilds.

    python -m benchmarks.library_crash [--kills 20] [--posts 248] [--seed 1]

A process that builds a library over an existing one, or adds posts to it, is killed (``kill -9``).
Then the library must open, and give the answers of either the old or the new one, and no process
may be left behind. At the end, two processes open and search a library repeatedly while it is
rebuilt. Needs ``fork``.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from mathsetu.collections import sampler
from mathsetu.library import Library, add_posts, build_library
from mathsetu.records import Post

QUERIES = ("prime numbers", "$a^2+b^2=c^2$", r"integral $\int_0^\infty e^{-x^2}dx$")
# Seconds in which processes must notice that their parent has ended.
PATIENCE = 5.0

Work = Callable[[], object]
Answers = tuple[object, ...]


def answers(library: Path) -> Answers:
    """What distinguishes two libraries: their size, and their answers to a few queries."""
    opened = Library(library)
    return (len(opened), *(opened.search(query, 5, explain=False) for query in QUERIES))


@contextmanager
def apart(work: Work) -> Iterator[int]:
    """Run work in a new process with its own process group, and kill it at the end."""
    process = os.fork()
    if not process:
        os.setsid()
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(f"  in the other process: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
    try:
        yield process
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def all_ended(group: int) -> bool:
    """Whether every process of a group ends within `PATIENCE` seconds."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    os.killpg(group, signal.SIGKILL)
    return False


def timed(work: Work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


class Experiment:
    """One kind of work on a library, killed repeatedly."""

    def __init__(self, place: Path, old: Path, work: Callable[[Path], object]) -> None:
        self.target = place / "target"
        self._old, self._work = old, work
        self.seen: Counter[str] = Counter()
        self.old = answers(old)
        self.reset()
        self.seconds = timed(partial(work, self.target))
        self.new = answers(self.target)
        assert self.old != self.new

    def reset(self) -> None:
        shutil.rmtree(self.target, ignore_errors=True)
        shutil.copytree(self._old, self.target)

    def kill(self, moment: float) -> None:
        """Kill the work after some seconds, and record the state of the library."""
        with apart(partial(self._work, self.target)) as process:
            time.sleep(moment)
        if not all_ended(process):
            self.seen["left processes behind"] += 1
        try:
            found = answers(self.target)
        except Exception as error:
            print(f"  after {moment:.3f} s: {error!r}", file=sys.stderr)
            self.seen["broken"] += 1
            self.reset()
            return
        states = {"old": self.old, "new": self.new}
        state = next((name for name, known in states.items() if known == found), "broken")
        self.seen[state] += 1
        if state != "old":
            self.reset()


def kills(experiment: Experiment, name: str, count: int, generator: random.Random) -> bool:
    for _ in range(count):
        experiment.kill(generator.uniform(0, 1.2 * experiment.seconds))
    seen = ", ".join(f"{number} {state}" for state, number in sorted(experiment.seen.items()))
    print(f"{name}: {count} kills within {1.2 * experiment.seconds:.2f} s: {seen}", flush=True)
    return set(experiment.seen) <= {"old", "new"}


def search_again_and_again(library: Path, known: Sequence[Answers], until: Path) -> None:
    rounds = 0
    while not until.exists():
        if answers(library) not in known:
            raise AssertionError("an answer of neither the old library nor the new one")
        rounds += 1
    if not rounds:
        raise AssertionError("no search was done")


def readers(place: Path, versions: Sequence[Sequence[Post]], builds: int) -> bool:
    """Let two processes search while this one builds."""
    library, done = place / "read", place / "done"
    known = []
    for posts in versions:
        build_library(library, posts, processes=1)
        known.append(answers(library))
    reading = partial(search_again_and_again, library, known, done)
    with apart(reading) as first, apart(reading) as second:
        for number in range(builds):
            build_library(library, versions[number % len(versions)], processes=1)
        done.touch()
        # WNOWAIT keeps the ended process as a zombie, so that it can still be killed.
        states = [os.waitid(os.P_PID, one, os.WEXITED | os.WNOWAIT) for one in (first, second)]
    good = all(state is not None and state.si_status == 0 for state in states)
    print(f"readers: {builds} builds under two searching processes: {'good' if good else 'BROKEN'}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="of each kind")
    parser.add_argument("--posts", type=int, default=248)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    posts = list(islice(sampler.posts(), arguments.posts))
    less = posts[: len(posts) * 3 // 4]
    more = [replace(post, id=f"{post.id}.again") for post in less[: len(less) // 2]]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        old = place / "old"
        build_library(old, less, processes=1)
        good = []
        for processes in (1, 2):
            # Without a fingerprint a build starts again each time; with one it resumes.
            mark = "the same" if processes == 2 else ""
            work = partial(
                build_library, posts=posts, recipe="default", processes=processes, fingerprint=mark
            )
            half = (arguments.kills + processes - 1) // 2
            name = f"builds with {processes} process{'es' * (processes > 1)}"
            good.append(kills(Experiment(place, old, work), name, half, generator))
        adding = Experiment(place, old, partial(add_posts, posts=more, processes=2))
        good.append(kills(adding, "additions", arguments.kills, generator))
        good.append(readers(place, [less, posts], max(arguments.kills // 4, 2)))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
