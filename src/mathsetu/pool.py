"""Parallel maps with ordered results; Ctrl-C and kills leave no process behind."""

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
    """The default number of processes: one per available core."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ordered_map(
    work: Callable[[Item], Result], items: Iterable[Item], processes: int, chunk: int = 1
) -> Generator[Result, None, None]:
    """Like ``map(work, items)``, computed by several processes.

    Only a few items are in progress at a time, to limit memory. Close the generator if it is not
    read to its end (`contextlib.closing`): that ends the processes.

    Args:
        work: A function or method that can be pickled; it is sent to each process once.
        items: Its arguments.
        processes: How many processes; with fewer than two, all work is done in this one.
        chunk: How many items are sent to a process at once.

    >>> list(ordered_map(str, range(3), processes=1))
    ['0', '1', '2']
    """
    if processes < 2:
        yield from map(work, items)
        return
    # Imported here: the import is slow, and a search does not need it.
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
    """Like ``map(work, items)``, computed by threads.

    Use it for numpy work that releases Python's lock. Only a few items are in progress at a time.

    Args:
        work: The function.
        items: Its arguments.
        threads: How many threads, at most one per core.

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
    """Delay Ctrl-C while processes are being started, since it would be lost then."""
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


# The function of this worker process; it may be too large to send with every chunk.
_work: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work
    # Ctrl-C reaches all processes; only the main process handles it, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The processes already run in parallel; tokenizer threads would compete for the same cores.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    end_with_parent()


def _worked(items: list[Any]) -> list[Any]:
    return [_work(item) for item in items]
