"""Work on all cores, with the results in order; Ctrl-C and kills leave no process behind."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from threading import current_thread, main_thread
from typing import Any, TypeVar

from mathsetu.errors import MathSetuError
from mathsetu.parent import end_with_parent

Item = TypeVar("Item")
Result = TypeVar("Result")


def all_cores() -> int:
    """How many processes to work with unless told otherwise."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ordered_map(
    work: Callable[[Item], Result], items: Iterable[Item], processes: int, chunk: int = 1
) -> Generator[Result, None, None]:
    """What ``map(work, items)`` gives, worked out in several processes.

    Few items are under way at a time, so that memory stays small. Close the generator if it is
    not read to its end (`contextlib.closing`): that ends the processes.

    Args:
        work: A function or method that can be pickled; each process gets it once.
        items: What it is called with.
        processes: How many processes; with fewer than two all work is done in this one.
        chunk: How many items are sent to a process at once.

    >>> list(ordered_map(str, range(3), processes=1))
    ['0', '1', '2']
    """
    if processes < 2:
        yield from map(work, items)
        return
    # Slow to import, and a search needs none of it.
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    rest = iter(items)
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(work,)) as pool:
        waiting: deque[Future[list[Result]]] = deque()
        try:
            while some := list(islice(rest, chunk)):
                with _undisturbed():
                    waiting.append(pool.submit(_worked, some))
                if len(waiting) > 4 * processes:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise MathSetuError(
                "a worker process was killed, probably out of memory; try fewer processes "
                "(--processes 1) or fewer files"
            ) from None
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def ordered_threads(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Generator[Result, None, None]:
    """What ``map(work, items)`` gives, worked out by threads.

    This is for work that numpy does outside Python's lock. Few items are under way at a time.

    Args:
        work: What is done.
        items: What it is called with.
        threads: How many at most; no more than there are cores.

    >>> list(ordered_threads(str, range(3), 2))
    ['0', '1', '2']
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    threads = min(all_cores(), threads)
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


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


# What this process works on; it may be too large to come with every chunk.
_work: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work
    # Ctrl-C reaches all processes; the first one alone answers, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The processes are parallel; threads of tokenizers inside them would be in each other's way.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    end_with_parent()


def _worked(items: list[Any]) -> list[Any]:
    return [_work(item) for item in items]
