"""Time limits: set by the interfaces, checked by code that works in loops.

Python cannot stop a thread from outside, so long loops ask `check_time` now and then. Where
nobody has set a limit that costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TypeVar

from mathsetu.errors import OutOfTime, Replaced, Unavailable

Result = TypeVar("Result")

_end: ContextVar[float] = ContextVar("_end", default=float("inf"))


def check_time() -> None:
    """Raise `OutOfTime` when the time of the work that goes on here is over."""
    if monotonic() > _end.get():
        raise OutOfTime


def time_left() -> float:
    """The seconds that are left for the work that goes on here; infinite without a limit.

    >>> time_left()
    inf
    """
    return _end.get() - monotonic()


@contextmanager
def time_limit(end: float) -> Iterator[None]:
    """Let the work of a block last until ``end``, as `time.monotonic` tells it.

    >>> with time_limit(monotonic() - 1):
    ...     check_time()
    Traceback (most recent call last):
    mathsetu.errors.OutOfTime: time limit reached
    """
    token = _end.set(min(end, _end.get()))
    try:
        yield
        # Work that never asked is over its time all the same, but its result is there.
    finally:
        _end.reset(token)


class Clock:
    """Shares the time of a job out among its steps, and notes the steps that did not finish.

    A step gets an equal share of what is left for those that are still to come, so that one slow
    step does not leave the others with nothing. A step whose part of a cluster is away is left
    out, too, with the reason for it.

    >>> clock = Clock(seconds=0)
    >>> clock.attempt("words", check_time)
    >>> clock.unfinished
    ('words',)
    """

    def __init__(self, seconds: float | None = None, *, may_begin_anew: bool = False) -> None:
        """Begin.

        Args:
            seconds: The time of the job; any time unless given.
            may_begin_anew: Whether `Replaced` ends the job instead of a step.
        """
        self._may_begin_anew = may_begin_anew
        self._end = float("inf") if seconds is None else monotonic() + seconds
        self._unfinished: dict[str, None] = {}
        #: The steps that a cluster had no answer for, and why.
        self.unavailable: dict[str, str] = {}

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The steps that were cut off, in their order."""
        return tuple(self._unfinished)

    def attempt(self, step: str, work: Callable[[], Result], steps: int = 1) -> Result | None:
        """The result of a step, or None when it was cut off.

        Args:
            step: Its name.
            work: What it does.
            steps: How many steps share the time that is left, this one included.
        """
        now = monotonic()
        try:
            with time_limit(now + (self._end - now) / steps):
                check_time()
                return work()
        except OutOfTime:
            self._unfinished[step] = None
            return None
        except Unavailable as error:
            # All steps read the same version: with another one, the whole job begins again.
            if isinstance(error, Replaced) and self._may_begin_anew:
                raise
            self._unfinished[step] = None
            self.unavailable[step] = str(error)
            return None
