"""Injects faults into every file operation of library changes: kills, I/O errors, power loss.

    python -m benchmarks.library_faults [--kills 400] [--errors 200] [--losses 400] [--seed 1]

Each file operation of a change (open, write, rename, remove, fsync …) is a moment at which

- the process is killed (``kill -9`` from inside, so exactly at that operation),
- the operation fails (no space, an input or output error), or
- the power fails. A simulated file system records what ``fsync`` has made durable. After a power
  loss, a file has its content at its last ``fsync``, or any mixture of that and later writes; a
  folder has any mixture of its names then and now.

Afterwards the library must give the answers of either the old or the new one, and pass a check of
every byte; repeating the change must then succeed. Needs ``fork``.
"""

from __future__ import annotations

import argparse
import builtins
import errno
import io
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import (
    Library,
    add_posts,
    build_library,
    optimize_library,
    remove_posts,
)
from mathsetu.library import build as building
from mathsetu.library.manifest import check, read_manifest
from mathsetu.recipes import load_recipe
from mathsetu.recipes.schema import Recipe

QUERIES = ("prime numbers", "$a^2+b^2=c^2$")
# File operations of a change, by the names that Python's own functions use.
OPERATIONS = ("open", "mkdir", "rename", "replace", "unlink", "rmdir", "fsync", "scandir")
SECTOR = 512

Change = Callable[[Path], object]
Answers = tuple[object, ...]
#: Called for each operation with its number, its name and its arguments.
Watcher = Callable[[int, str, tuple[Any, ...]], None]


def answers(folder: Path) -> Answers:
    """Check all files; return the size and answers, which distinguish two libraries."""
    check(folder, read_manifest(folder), thorough=True)
    with Library(folder) as library:
        return (len(library), *(library.search(query, 5, explain=False) for query in QUERIES))


@contextmanager
def watched(watcher: Watcher, after: Watcher | None = None) -> Iterator[Counter[str]]:
    """Call a watcher for every file operation, including those in library calls."""
    seen: Counter[str] = Counter()
    before = {name: getattr(os, name) for name in OPERATIONS}
    connect, opened = sqlite3.connect, io.open

    def tell(name: str, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
        number = seen.total()
        seen[name] += 1
        watcher(number, name, given)
        done = original(*given, **named)
        if after is not None:
            after(number, name, given)
        return done

    for name, original in before.items():
        setattr(os, name, partial(tell, name, original))
    sqlite3.connect = partial(tell, "connect", connect)
    io.open = builtins.open = partial(tell, "open", opened)
    try:
        yield seen
    finally:
        for name, original in before.items():
            setattr(os, name, original)
        sqlite3.connect = connect
        io.open = builtins.open = opened


class PowerFailed(BaseException):
    """Ends a change at a power loss; nothing catches it."""


@dataclass
class Node:
    """A file or folder of the simulated disk: its durable content, and its content in memory."""

    durable: Any = None
    current: Any = None


@dataclass
class Disk:
    """Simulates what a power loss would leave of a folder.

    Files and folders are identified by their inodes, so that renames do not matter. The real folder
    is read after each operation; ``fsync`` makes its present content durable.
    """

    top: Path
    nodes: dict[int, Node] = field(default_factory=dict)

    def begin(self) -> None:
        """Mark the present content as durable."""
        self.look()
        for node in self.nodes.values():
            node.durable = node.current

    def look(self) -> None:
        """Read the present content."""
        for path in (self.top, *self.top.rglob("*")):
            try:
                inode = path.lstat().st_ino
                content: Any = (
                    {entry.name: entry.inode() for entry in os.scandir(path)}
                    if path.is_dir()
                    else path.read_bytes()
                )
            except FileNotFoundError:
                continue
            node = self.nodes.get(inode)
            if node is None or isinstance(node.current, dict) != isinstance(content, dict):
                # New, or a reused inode of something that was removed.
                node = self.nodes[inode] = Node({} if isinstance(content, dict) else b"")
            node.current = content

    def sync(self, inode: int) -> None:
        """Mark the content of a file or folder as durable."""
        if inode in self.nodes:
            self.nodes[inode].durable = self.nodes[inode].current

    def lose_power(self, target: Path, chance: random.Random) -> None:
        """Write one possible state after a power loss to a new folder."""
        self._restore(self.top.lstat().st_ino, target, chance)

    def _restore(self, inode: int, path: Path, chance: random.Random) -> None:
        node = self.nodes[inode]
        if isinstance(node.current, dict):
            path.mkdir()
            for name in sorted({*node.durable, *node.current}):
                kept = chance.choice((node.durable.get(name), node.current.get(name)))
                if kept is not None and kept in self.nodes:
                    self._restore(kept, path / name, chance)
        else:
            path.write_bytes(_torn(node.durable, node.current, chance))


def _torn(old: bytes, new: bytes, chance: random.Random) -> bytes:
    """A file whose sectors were written in any order, or not at all."""
    if old == new:
        return new
    kind = chance.choice(("old", "new", "cut", "zeros", "mixed"))
    if kind in ("old", "new"):
        return old if kind == "old" else new
    if kind == "cut":
        return new[: chance.randrange(len(new) + 1)]
    if kind == "zeros":
        return bytes(len(new))
    sectors = (
        chance.choice((new, old.ljust(len(new), b"\0")))[start : start + SECTOR]
        for start in range(0, len(new), SECTOR)
    )
    return b"".join(sectors)[: len(new)]


class Experiment:
    """One kind of change on a library, with repeated faults."""

    def __init__(self, place: Path, name: str, old: Path | None, change: Change) -> None:
        self.name, self.place = name, place
        self._old, self._change = old, change
        self.seen: Counter[str] = Counter()
        target = self._fresh()
        self.before = answers(target) if old else None
        with watched(lambda *_: None) as operations:
            change(target)
        self.operations = operations.total()
        self.after = answers(target)
        assert self.before != self.after

    def _fresh(self) -> Path:
        target = self.place / "target"
        shutil.rmtree(target, ignore_errors=True)
        if self._old is not None:
            shutil.copytree(self._old, target)
        return target

    def kill(self, moment: int) -> None:
        """Kill the process at one operation, as ``kill -9`` does."""
        target = self._fresh()
        process = os.fork()
        if not process:

            def end(number: int, name: str, given: tuple[Any, ...]) -> None:
                if number == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

            with watched(end):
                self._change(target)
            os._exit(0)
        os.waitpid(process, 0)
        self._judge("kill", moment, target)

    def fail(self, moment: int, problem: int) -> None:
        """Make one operation fail."""
        target = self._fresh()

        def fail(number: int, name: str, given: tuple[Any, ...]) -> None:
            if number == moment:
                raise OSError(problem, os.strerror(problem))

        try:
            with watched(fail):
                self._change(target)
        except InputError:
            pass
        except Exception as error:
            self._note("error", moment, f"{error!r} reached the user")
            return
        self._judge("error", moment, target)

    def lose_power(self, moment: int, chance: random.Random) -> None:
        """Simulate a power loss at one operation."""
        target = self._fresh()
        target.mkdir(exist_ok=True)
        disk = Disk(target)
        disk.begin()
        inodes: dict[int, int] = {}

        def before(number: int, name: str, given: tuple[Any, ...]) -> None:
            if number == moment:
                raise PowerFailed
            if name == "fsync":
                inodes[number] = os.fstat(given[0]).st_ino

        def after(number: int, name: str, given: tuple[Any, ...]) -> None:
            if name == "scandir":
                return
            with unwatched():
                disk.look()
            if name == "fsync":
                disk.sync(inodes[number])

        try:
            with watched(before, after):
                self._change(target)
        except PowerFailed:
            pass
        disk.look()
        left = self.place / "left"
        shutil.rmtree(left, ignore_errors=True)
        disk.lose_power(left, chance)
        shutil.rmtree(target)
        left.rename(target)
        self._judge("loss", moment, target)

    def _judge(self, kind: str, moment: int, target: Path) -> None:
        """Check that it is the old or the new library; if old, repeating the change must work."""
        state = self._state(target)
        if state not in ("old", "new"):
            self._note(kind, moment, state)
            return
        self.seen[f"{kind}: {state}"] += 1
        if state == "old":
            try:
                self._change(target)
                again = self._state(target)
            except Exception as error:
                again = repr(error)
            if again != "new":
                self._note(kind, moment, f"asked for again: {again}")

    def _state(self, target: Path) -> str:
        try:
            found = answers(target)
        except InputError as error:
            is_absent = self.before is None and not (target / "manifest.json").exists()
            return "old" if is_absent else str(error)
        except Exception as error:
            return repr(error)
        return "old" if found == self.before else "new" if found == self.after else "a third one"

    def _note(self, kind: str, moment: int, problem: str) -> None:
        self.seen[f"{kind}: BROKEN"] += 1
        print(f"  {self.name}, {kind} at operation {moment}: {problem}", file=sys.stderr)


@contextmanager
def unwatched() -> Iterator[None]:
    """Do not count the simulated disk's own file operations."""
    wrapped = {name: getattr(os, name) for name in OPERATIONS}
    opened: Any = io.open
    for name, function in wrapped.items():
        setattr(os, name, function.args[1])
    io.open = builtins.open = opened.args[1]
    try:
        yield
    finally:
        for name, function in wrapped.items():
            setattr(os, name, function)
        io.open = builtins.open = opened


def experiments(place: Path, recipe: Recipe) -> Iterator[Experiment]:
    """Yield builds (new, over an old one, resumed, in segments), additions, removals, a merge."""
    posts = list(islice(sampler.posts(), 12))
    asked = replace(posts[0], id="question", kind="question", tags=("zebra",), body="zebra")
    reply = replace(posts[1], id="reply", parent_id="question", title="", tags=())
    less = [asked, reply, *posts[:8]]
    old = place / "old"
    build_library(old, less, recipe, processes=1)
    build = partial(build_library, posts=posts, recipe=recipe, processes=1)
    yield Experiment(place, "first build", None, build)
    yield Experiment(place, "build over an old one", old, build)
    yield Experiment(place, "build that goes on", old, partial(build, fingerprint="same"))
    yield Experiment(place, "addition", old, partial(add_posts, posts=posts, processes=1))
    yield Experiment(place, "removal", old, partial(remove_posts, ids=[posts[2].id]))
    yield Experiment(place, "removal of a question", old, partial(remove_posts, ids=["question"]))
    pieces = place / "pieces"
    shutil.copytree(old, pieces)
    add_posts(pieces, posts, processes=1)
    remove_posts(pieces, [posts[2].id, "question"])
    yield Experiment(place, "merge", pieces, optimize_library)
    yield Experiment(place, "build of several segments", old, partial(_in_small_segments, build))


def _in_small_segments(build: Change, folder: Path) -> None:
    usual, building.SEGMENT_POSTS = building.SEGMENT_POSTS, 5
    try:
        build(folder)
    finally:
        building.SEGMENT_POSTS = usual


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=400)
    parser.add_argument("--errors", type=int, default=200)
    parser.add_argument("--losses", type=int, default=400)
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        found = list(experiments(Path(folder), load_recipe(arguments.recipe)))
        for number, experiment in enumerate(found):
            # Every operation at least once if there are enough cases, then random ones.
            def moments(
                count: int, number: int = number, experiment: Experiment = experiment
            ) -> list[int]:
                share = count * (number + 1) // len(found) - count * number // len(found)
                every = list(range(experiment.operations))
                chance.shuffle(every)
                return [*every, *chance.choices(every, k=share)][:share]

            for moment in moments(arguments.kills):
                experiment.kill(moment)
            for moment in moments(arguments.errors):
                experiment.fail(moment, chance.choice((errno.ENOSPC, errno.EIO, errno.EACCES)))
            for moment in moments(arguments.losses):
                experiment.lose_power(moment, chance)
            shown = ", ".join(f"{state} {n}" for state, n in sorted(experiment.seen.items()))
            print(f"{experiment.name} ({experiment.operations} operations): {shown}", flush=True)
            total.update(experiment.seen)
    broken = sum(n for state, n in total.items() if "BROKEN" in state)
    print(f"{total.total()} cases, {broken} broken")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
