"""Time limits: checked by the code, shared between steps, with a list of unfinished steps."""

from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from mathsetu.deadline import Clock, check_time, time_limit
from mathsetu.errors import OutOfTime


def endless() -> None:
    while True:
        check_time()


def test_steps_without_a_time_limit_are_never_interrupted() -> None:
    check_time()
    clock = Clock()
    assert clock.attempt("step", lambda: "done") == "done"
    assert clock.unfinished == ()


def test_a_limit_inside_a_limit_cannot_be_longer() -> None:
    with (
        time_limit(monotonic() - 1),
        time_limit(monotonic() + 100),
        pytest.raises(OutOfTime),
    ):
        check_time()


def test_a_limit_ends_with_its_block() -> None:
    with pytest.raises(OutOfTime), time_limit(monotonic() - 1):
        check_time()
    check_time()


@pytest.mark.thorough
def test_one_endless_step_leaves_time_for_the_next() -> None:
    clock = Clock(seconds=2.0)
    began = monotonic()
    assert clock.attempt("endless", endless, steps=2) is None
    assert monotonic() - began < 1.9
    assert clock.attempt("short", lambda: "done") == "done"
    assert clock.unfinished == ("endless",)


def test_no_step_starts_after_the_time_limit() -> None:
    clock = Clock(seconds=0)
    begun: list[str] = []
    assert clock.attempt("late", lambda: begun.append("late")) is None
    assert begun == []


def test_a_step_that_is_interrupted_twice_is_named_once() -> None:
    clock = Clock(seconds=0)
    for step in ("a", "b", "a"):
        clock.attempt(step, check_time)
    assert clock.unfinished == ("a", "b")


def test_a_limit_of_one_thread_does_not_apply_to_others() -> None:
    with ThreadPoolExecutor(1) as pool, time_limit(monotonic() - 1):
        assert pool.submit(check_time).result() is None
