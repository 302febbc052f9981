"""Runs one case and classifies its outcome: success, an exception, a wrong answer, or a hang.

A case hangs if it takes more than ten times the median of the cases of its kind and size, and
more than the target's floor. Processor time is measured, and a slow case is measured again before
it counts, because load on the machine or the garbage collector can slow down any single case.
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

#: A case that takes more than this many times the median is a hang.
TIMES = 10.0
# The median of fewer cases than this is not reliable.
_ENOUGH = 16
_AGAIN = 3
_PACKAGE = str(Path(mathsetu.__file__).parent)


@dataclass(frozen=True, slots=True)
class Finding:
    """A failed case; findings with the same signature are one fault."""

    target: str
    outcome: str
    signature: str
    data: bytes
    report: str

    @property
    def name(self) -> str:
        """A short name, equal for findings of the same fault."""
        return hashlib.sha256(f"{self.target} {self.signature}".encode()).hexdigest()[:12]


@dataclass(slots=True)
class TargetCounts:
    """The number of cases of a target, by outcome."""

    target: str
    cases: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    kept: int = 0

    def add(self, other: TargetCounts) -> None:
        """Add the counts of another."""
        self.cases += other.cases
        self.seconds += other.seconds
        self.kept += other.kept
        self.slowest = max(self.slowest, other.slowest)
        for outcome, count in other.outcomes.items():
            self.note(outcome, count)

    def note(self, outcome: str, count: int = 1) -> None:
        """Count a failure."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + count


class Judge:
    """Judges the cases of one target, and compares their times."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.last_seconds = 0.0
        self._times: dict[tuple[str, int], deque[float]] = {}
        self._seen: set[str] = set()

    def judge(self, data: bytes) -> Finding | None:
        """Run a case; return the finding if it failed."""
        begun = time.process_time()
        finding = self.fault(data)
        self.last_seconds = time.process_time() - begun
        if finding is not None:
            return finding
        return self._hang(data, self.last_seconds)

    def fault(self, data: bytes) -> Finding | None:
        """Run a case; return the finding if it raised an exception or gave a wrong answer."""
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
        """Minimise the input of a finding; each fault is minimised once."""
        if finding.outcome == "hang" or finding.signature in self._seen:
            return finding
        self._seen.add(finding.signature)

        def shows(data: bytes) -> bool:
            found = self.fault(data)
            return found is not None and found.signature == finding.signature

        found = self.fault(minimise(finding.data, shows, seconds))
        return found if found is not None and found.signature == finding.signature else finding

    def note_time(self, data: bytes, seconds: float) -> None:
        """Record the time of a case; only the latest cases of each kind and size are kept."""
        key = self.target.kind(data), self.target.size(data).bit_length()
        self._times.setdefault(key, deque(maxlen=64)).append(seconds)

    def _median(self, kind: str, bits: int) -> float:
        """The median time of a kind and size; extrapolated from smaller sizes if there are too few.

        Time may grow in proportion to the size, but not faster.
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
    """The place where an exception was raised: the last frame in our package, if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename.startswith(_PACKAGE)] or list(frames)
    last = inside[-1]
    # The line numbers of a recursion vary between cases.
    line = "" if isinstance(error, RecursionError) else f":{last.lineno}"
    return f"{Path(last.filename).name}{line} {last.name}"
