"""Prepares posts on all cores, in their order; Ctrl-C and a kill leave no process behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from threading import current_thread, main_thread
from typing import Any

from mathsetu.errors import MathSetuError
from mathsetu.parent import end_with_parent
from mathsetu.records import Post
from mathsetu.retrieval.base import Builder

_CHUNK = 64


def all_cores() -> int:
    """How many processes to build with unless told otherwise."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepared_posts(
    builder: Builder, posts: Iterator[Post], processes: int
) -> Generator[Any, None, None]:
    """Prepare posts in their order, in this process or in several."""
    if processes < 2:
        yield from map(builder.prepare, posts)
        return
    # Slow to import, and a search needs none of it.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(builder,)) as pool:
        waiting = []
        try:
            while chunk := list(islice(posts, _CHUNK)):
                with _undisturbed():
                    waiting.append(pool.submit(_prepare_chunk, chunk))
                # A few chunks a process are under way, so that memory stays small.
                if len(waiting) > 4 * processes:
                    yield from waiting.pop(0).result()
            for result in waiting:
                yield from result.result()
        except BrokenProcessPool:
            raise MathSetuError(
                "a process of the build was ended from outside, perhaps for want of memory; "
                "fewer of them need less (--processes 1)"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put Ctrl-C off while processes are started: in the midst of that it would get lost."""
    if current_thread() is not main_thread():
        yield
        return
    asked: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked and callable(before):
        before(signal.SIGINT, None)


_builder: Builder


def _begin(builder: Builder) -> None:
    global _builder
    _builder = builder
    # Ctrl-C reaches all processes; the first one alone answers, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _prepare_chunk(posts: list[Post]) -> list[Any]:
    return [_builder.prepare(post) for post in posts]
