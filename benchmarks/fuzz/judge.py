"""Runs one case and says what came of it: nothing, an exception, a wrong answer, or a hang.

A case hangs when it takes more than ten times the median of the cases of its kind and size, and
more than the target's floor. Processor time is measured, and a slow case is measured again before
it counts: a busy machine or the garbage collector can make any single one slow.
"""

from __future__ import annotations

import hashlib
import statistics
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import mathsetu
from benchmarks.fuzz.minimise import minimise
from benchmarks.fuzz.target import Target, WrongAnswer

#: How many times the median is a hang.
TIMES = 10.0
# A median of fewer cases than this says nothing.
_ENOUGH = 16
_AGAIN = 3
_PACKAGE = str(Path(mathsetu.__file__).parent)


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that went wrong; findings of one signature are one fault."""

    target: str
    outcome: str
    signature: str
    data: bytes
    report: str

    @property
    def name(self) -> str:
        """A short name that is the same for the same fault."""
        return hashlib.sha256(f"{self.target} {self.signature}".encode()).hexdigest()[:12]


@dataclass(slots=True)
class TargetCounts:
    """What the cases of a target came to."""

    target: str
    cases: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    kept: int = 0

    def add(self, other: TargetCounts) -> None:
        """Count what another has counted."""
        self.cases += other.cases
        self.seconds += other.seconds
        self.kept += other.kept
        self.slowest = max(self.slowest, other.slowest)
        for outcome, count in other.outcomes.items():
            self.note(outcome, count)

    def note(self, outcome: str, count: int = 1) -> None:
        """Count something that went wrong."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + count


class Judge:
    """Judges the cases of one target, which it compares with each other in time."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.last_seconds = 0.0
        self._times: dict[tuple[str, int], deque[float]] = {}
        self._seen: set[str] = set()

    def judge(self, data: bytes) -> Finding | None:
        """Run a case; what went wrong, if anything did."""
        begun = time.process_time()
        finding = self.fault(data)
        self.last_seconds = time.process_time() - begun
        if finding is not None:
            return finding
        return self._hang(data, self.last_seconds)

    def fault(self, data: bytes) -> Finding | None:
        """The exception or the wrong answer of a case."""
        try:
            self.target.check(data)
        except WrongAnswer as wrong:
            return Finding(self.target.name, "wrong answer", wrong.rule, data, str(wrong))
        except Exception as error:
            signature = f"{type(error).__name__} in {_place(error)}"
            report = "".join(traceback.format_exception(error, limit=-20))
            return Finding(self.target.name, "exception", signature, data, report)
        return None

    def smaller(self, finding: Finding, seconds: float) -> Finding:
        """The same fault with a smaller input; each fault is made smaller once."""
        if finding.outcome == "hang" or finding.signature in self._seen:
            return finding
        self._seen.add(finding.signature)

        def shows(data: bytes) -> bool:
            found = self.fault(data)
            return found is not None and found.signature == finding.signature

        found = self.fault(minimise(finding.data, shows, seconds))
        return found if found is not None and found.signature == finding.signature else finding

    def note_time(self, data: bytes, seconds: float) -> None:
        """Take note of what a case took; only the last ones of its kind and size count."""
        key = self.target.kind(data), self.target.size(data).bit_length()
        self._times.setdefault(key, deque(maxlen=64)).append(seconds)

    def _median(self, kind: str, bits: int) -> float:
        """What cases of a kind and size take; where there were few, what smaller ones tell.

        Time may grow with the size, and no faster.
        """
        for smaller in range(bits, 0, -1):
            known = self._times.get((kind, smaller), ())
            if len(known) >= _ENOUGH:
                return float(statistics.median(known) * 2 ** (bits - smaller))
        return self.target.floor

    def _hang(self, data: bytes, seconds: float) -> Finding | None:
        kind = self.target.kind(data)
        limit = self.target.floor
        if seconds > limit:
            limit = max(limit, TIMES * self._median(kind, self.target.size(data).bit_length()))
            if seconds > limit:
                seconds = min(_timed(lambda: self.fault(data)) for _ in range(_AGAIN))
        self.note_time(data, seconds)
        if seconds <= limit:
            return None
        report = (
            f"{seconds * 1000:.0f} ms for {len(data)} bytes; the limit is {limit * 1000:.0f} ms"
        )
        return Finding(self.target.name, "hang", f"hang {kind}".strip(), data, report)


def _timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _place(error: Exception) -> str:
    """Where an exception was raised: the last line of ours, if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename.startswith(_PACKAGE)] or list(frames)
    last = inside[-1]
    # The lines of a recursion differ from case to case.
    line = "" if isinstance(error, RecursionError) else f":{last.lineno}"
    return f"{Path(last.filename).name}{line} {last.name}"
