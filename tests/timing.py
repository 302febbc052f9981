"""How long something takes, as far as a busy machine can tell."""

import gc
import time
from collections.abc import Callable


def best_seconds(work: Callable[[], object], tries: int = 5) -> float:
    """Processor time of the best of several tries, without the garbage collector.

    Other work on the machine can only make a try slower, so the best one says most.
    """
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
