"""Measures running times on machines that may be busy.

Other work on the machine can make a try many times slower, but never faster. So a try that was too
slow is repeated before a test fails.
"""

import gc
import time
from collections.abc import Callable

_ROUNDS = 8


def best_seconds(work: Callable[[], object], tries: int = 5) -> float:
    """Processor time of the best of several tries, without the garbage collector."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(tries):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return best


def assert_within(seconds: float, work: Callable[[], object]) -> None:
    """Check that at least one of several tries takes at most ``seconds`` of processor time."""
    taken: list[float] = []
    while len(taken) < _ROUNDS:
        taken.append(best_seconds(work, tries=1))
        if taken[-1] <= seconds:
            return
    raise AssertionError(f"it took {min(taken):.3g} s instead of {seconds:g} s")


def assert_grows_at_most(
    times: float, small: Callable[[], object], large: Callable[[], object], unnoticed: float = 0.002
) -> None:
    """Check that the large work takes at most ``times`` as long as the small one, in any round.

    A small work of less than ``unnoticed`` seconds counts as ``unnoticed`` seconds: a few
    milliseconds are not significant, since a first try needs as long to get its memory.
    """
    ratios: list[float] = []
    while len(ratios) < _ROUNDS:
        longer = best_seconds(large, tries=1)
        if longer <= times * unnoticed:
            return
        ratios.append(longer / max(best_seconds(small, tries=3), unnoticed))
        if ratios[-1] <= times:
            return
    raise AssertionError(f"it took {min(ratios):.3g} times as long instead of {times:g} times")
