"""Runs periodic jobs, such as reloading a rebuilt library; survives all errors."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from threading import Event, Thread

_log = logging.getLogger("mathsetu.service")
# Distinct problems that are remembered, so that messages that never repeat cannot fill the memory.
_MAX_PROBLEMS = 100
_NUMBER = re.compile(r"0x[0-9a-f]+|[0-9]+(?:,[0-9]{3})*")


class ErrorLog:
    """Logs each distinct problem once, until the next success.

    Problems that differ only in numbers are not distinct.

    >>> complaints = ErrorLog("the library cannot be opened")
    >>> complaints.report(ValueError("a bad header")), complaints.report(ValueError("a bad header"))
    (True, False)
    >>> complaints.clear()
    >>> complaints.report(ValueError("a bad header"))
    True
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._logged: set[str] = set()

    def report(self, error: Exception) -> bool:
        """Log a problem unless it was logged before; return whether it was logged now."""
        problem = f"{type(error).__name__}: {error}"
        # The size of a growing file differs each time, and so does the address of an object.
        kind = _NUMBER.sub("#", problem)
        if kind in self._logged:
            return False
        if len(self._logged) >= _MAX_PROBLEMS:
            self._logged.clear()
        self._logged.add(kind)
        _log.warning("%s: %s", self._what, problem)
        return True

    def clear(self) -> None:
        """Forget all problems after a success: the next one is logged again."""
        self._logged.clear()


class Watcher:
    """Runs jobs every few seconds in its own thread.

    The threads of requests may all be busy, and later it may be impossible to start a new one. Each
    job runs even if others failed, and runs again the next time.
    """

    def __init__(self, seconds: float, **jobs: Callable[[], object]) -> None:
        """Make a watcher; the log names a failed job by its keyword."""
        self._seconds = seconds
        self._jobs = [(job, ErrorLog(f"{name} failed")) for name, job in jobs.items()]
        self._is_over = Event()
        self._thread = Thread(target=self._watch, name="mathsetu-watcher", daemon=True)

    def start(self) -> None:
        """Start the thread; the jobs run for the first time after one interval."""
        self._thread.start()

    def stop(self, patience: float = 5.0) -> None:
        """Stop after the current job, but wait for it no longer than ``patience`` seconds."""
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
