"""Time limits: set by the interfaces, checked by code that works in loops.

Python cannot stop a thread from outside, so long loops call `check_time` regularly. Without a
limit, a call costs almost nothing.
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
    """Raise `OutOfTime` if the time limit of the current context has passed."""
    if monotonic() > _end.get():
        raise OutOfTime


def time_left() -> float:
    """The seconds left in the current context; infinite without a limit.

    >>> time_left()
    inf
    """
    return _end.get() - monotonic()


@contextmanager
def time_limit(end: float) -> Iterator[None]:
    """Limit the time of a block: until ``end``, on the clock of `time.monotonic`.

    >>> with time_limit(monotonic() - 1):
    ...     check_time()
    Traceback (most recent call last):
    mathsetu.errors.OutOfTime: time limit reached
    """
    token = _end.set(min(end, _end.get()))
    try:
        yield
        # No check here: work that finished late still has a result.
    finally:
        _end.reset(token)


class Clock:
    """Divides the time of a job among its steps, and records the steps that did not finish.

    Each step gets an equal share of the remaining time, so that one slow step cannot use up the
    time of the others. A step whose part of a cluster is unavailable is also recorded, with the
    reason.

    >>> clock = Clock(seconds=0)
    >>> clock.attempt("words", check_time)
    >>> clock.unfinished
    ('words',)
    """

    def __init__(self, seconds: float | None = None, *, may_begin_anew: bool = False) -> None:
        """Start the clock.

        Args:
            seconds: The time limit of the job; none unless given.
            may_begin_anew: Whether `Replaced` is raised, so that the caller can restart the job.
                Otherwise it ends only the step.
        """
        self._may_begin_anew = may_begin_anew
        self._end = float("inf") if seconds is None else monotonic() + seconds
        self._unfinished: dict[str, None] = {}
        #: The steps that failed because a cluster did not answer, with the reasons.
        self.unavailable: dict[str, str] = {}

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The steps that were cut off, in their order."""
        return tuple(self._unfinished)

    def attempt(self, step: str, work: Callable[[], Result], steps: int = 1) -> Result | None:
        """Run a step and return its result, or None if it was cut off.

        Args:
            step: Its name.
            work: The function that does the work.
            steps: How many steps, including this one, share the remaining time.
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
            # All steps must read the same version, so the whole job starts again.
            if isinstance(error, Replaced) and self._may_begin_anew:
                raise
            self._unfinished[step] = None
            self.unavailable[step] = str(error)
            return None
