"""Checks periodically whether the library was rebuilt; survives all errors."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from threading import Event, Thread

_log = logging.getLogger("mathsetu.service")
# Distinct problems that are remembered, so that a message that never repeats cannot fill memory.
_REMEMBERED = 100
_NUMBER = re.compile(r"0x[0-9a-f]+|[0-9]+(?:,[0-9]{3})*")


class Complaints:
    """Writes each distinct problem into the log once, until all is well again.

    Problems that differ in numbers alone are not distinct.

    >>> complaints = Complaints("the library cannot be opened")
    >>> complaints.report(ValueError("a bad header")), complaints.report(ValueError("a bad header"))
    (True, False)
    >>> complaints.clear()
    >>> complaints.report(ValueError("a bad header"))
    True
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._told: set[str] = set()

    def report(self, error: Exception) -> bool:
        """Log a problem unless it was logged before; whether it was logged now."""
        problem = f"{type(error).__name__}: {error}"
        # A file that grows has another size each time, an object another address.
        kind = _NUMBER.sub("#", problem)
        if kind in self._told:
            return False
        if len(self._told) >= _REMEMBERED:
            self._told.clear()
        self._told.add(kind)
        _log.warning("%s: %s", self._what, problem)
        return True

    def clear(self) -> None:
        """All is well: the next problem is news, whatever it is."""
        self._told.clear()


class Watcher:
    """Does some jobs every few seconds in a thread of its own.

    A thread of its own, because those of the requests may all be busy, and no new one may be had
    later. Each job is tried whatever became of the others, and again the next time.
    """

    def __init__(self, seconds: float, **jobs: Callable[[], object]) -> None:
        """Make a watcher; the name of a job tells in the log what failed."""
        self._seconds = seconds
        self._jobs = [(job, Complaints(f"{name} failed")) for name, job in jobs.items()]
        self._is_over = Event()
        self._thread = Thread(target=self._watch, name="mathsetu-watcher", daemon=True)

    def start(self) -> None:
        """Begin; the first look is after the first pause."""
        self._thread.start()

    def stop(self, patience: float = 5.0) -> None:
        """End after the job that is under way, or leave it behind when it takes too long."""
        self._is_over.set()
        self._thread.join(patience)

    def _watch(self) -> None:
        while not self._is_over.wait(self._seconds):
            for job, complaints in self._jobs:
                try:
                    job()
                    complaints.clear()
                except Exception as error:
                    complaints.report(error)
