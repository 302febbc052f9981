"""The pool for all parallel work: results in order, unchanged errors, no processes left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path

import pytest

from mathsetu.errors import MathSetuError, RowError
from mathsetu.pool import ordered_map
from tests.processes import processes_with


def slow_at_first(number: int) -> tuple[int, float]:
    """The earlier the number, the longer it takes: chunks finish in the wrong order."""
    time.sleep(max(0.0, 0.18 - 0.06 * (number // 3)))
    return number, time.monotonic()


def fails_at_five(number: int) -> int:
    if number == 5:
        raise RowError("posts.jsonl", number, "is odd")
    return number


def in_which_process(number: int) -> int:
    return os.getpid()


def killed_at_five(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Scale:
    """Work with its own state, which each process gets once."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def times(self, number: int) -> int:
        return self.factor * number


def test_results_are_in_order_though_chunks_finish_out_of_order() -> None:
    with closing(ordered_map(slow_at_first, range(12), processes=4, chunk=3)) as results:
        numbers, ended = zip(*results, strict=True)
    assert numbers == tuple(range(12))
    assert ended[0] > ended[9]  # else the order was never at risk


def first_is_slow(number: int) -> int:
    time.sleep(0.1 if number < 2 else 0)
    return number


@pytest.mark.thorough
def test_results_are_in_order_if_the_queue_of_chunks_is_full() -> None:
    # At most ten chunks wait for two processes; the first chunk is not done before that.
    with closing(ordered_map(first_is_slow, range(60), processes=2, chunk=2)) as results:
        assert list(results) == list(range(60))


@pytest.mark.thorough
@pytest.mark.parametrize("processes", [0, 1, 2])
@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_results_do_not_depend_on_the_numbers_of_processes_and_of_items_in_a_chunk(
    processes: int, chunk: int
) -> None:
    results = ordered_map(Scale(3).times, iter(range(100)), processes, chunk)
    assert list(results) == [3 * number for number in range(100)]


def test_one_process_means_the_current_process() -> None:
    assert set(ordered_map(in_which_process, range(3), 1)) == {os.getpid()}
    assert os.getpid() not in set(ordered_map(in_which_process, range(3), 2))


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_a_worker_comes_after_the_results_before_it(processes: int) -> None:
    results = ordered_map(fails_at_five, range(1000), processes)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(RowError, match=r"posts\.jsonl line 5: is odd") as caught:
        next(results)
    assert caught.value.line == 5
    assert active_children() == []


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_worker_gives_an_error() -> None:
    with pytest.raises(MathSetuError, match="a worker process was killed, probably out of memory"):
        list(ordered_map(killed_at_five, range(10), 2))
    assert active_children() == []


def test_few_items_are_read_ahead_and_a_closed_map_leaves_no_process() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(100_000):
            taken = number
            yield number

    with closing(ordered_map(fails_at_five, items(), 2, chunk=5)) as results:
        assert next(results) == 0
        assert len(active_children()) == 2
    assert taken < 100
    assert active_children() == []


WORKS = """
import sys, time
from mathsetu.pool import ordered_map

def slow(number):
    time.sleep(0.05)
    return number

try:
    for number in ordered_map(slow, range(100_000), 3):
        print(number, flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.thorough
def test_ctrl_c_and_kills_leave_no_process_behind(ending: signal.Signals, tmp_path: Path) -> None:
    mark = f"MATHSETU_TEST={tmp_path}"
    with subprocess.Popen(
        [sys.executable, "-c", f"import signal; signal.signal(signal.SIGINT, "
         f"signal.default_int_handler)\n{WORKS}"],
        stdout=subprocess.PIPE,
        env={**os.environ, "MATHSETU_TEST": str(tmp_path)},
        start_new_session=True,
    ) as working:  # fmt: skip
        assert working.stdout is not None
        assert working.stdout.readline() == b"0\n"
        assert len(processes_with(mark)) == 4
        if ending == signal.SIGINT:
            os.killpg(working.pid, ending)  # as a terminal does
        else:
            os.kill(working.pid, ending)
        working.wait(20)
    if ending == signal.SIGINT:
        assert working.returncode == 130
    end = time.monotonic() + 5
    while processes_with(mark) and time.monotonic() < end:
        time.sleep(0.02)
    assert processes_with(mark) == set()
