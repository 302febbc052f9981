"""Divides the time among the targets, and kills workers whose case does not end."""

from __future__ import annotations

import math
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from benchmarks.fuzz.corpus import Corpus
from benchmarks.fuzz.judge import Finding, TargetCounts
from benchmarks.fuzz.worker import Batch, Options, Watched, work

#: A case that takes more processor time than this is killed with its worker.
LONGEST_CASE = 20.0
#: So is a case that takes more wall-clock time than this: it may wait for something for ever.
LONGEST_WAIT = 90.0
#: A target whose cases had to be killed this often is left out for the rest of the run.
MAX_ENDED = 5
_LOOK_EVERY = 0.2
_SLICE = 2.0


@dataclass(slots=True)
class Plan:
    """The settings of a run; ``cases`` is the total for all targets."""

    targets: Sequence[str]
    seconds: float
    cases: int
    seed: int
    corpus: Path
    processes: int = 2


@dataclass(slots=True)
class Result:
    """The results of a run."""

    tallies: dict[str, TargetCounts]
    findings: dict[str, Finding] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


class _Worker:
    """One worker process, and the next case of each target in it."""

    def __init__(self, place: int, step: int, options: Options) -> None:
        self._context: Any = multiprocessing.get_context("spawn")
        self._options = options
        self._step = step
        self._next = dict[str, int]()
        self._place = place
        self.batch: Batch | None = None
        self.start()

    def start(self) -> None:
        """Start the process, or a new one after it was killed."""
        self.watched = Watched(self._context)
        ours, theirs = self._context.Pipe()
        self.connection: Connection = ours
        self.process = self._context.Process(
            target=work, args=(theirs, self.watched, self._options), daemon=True
        )
        self.process.start()
        theirs.close()

    def give(self, target: str, seconds: float, cases: int) -> None:
        """Send a batch to the worker."""
        first = self._next.get(target, self._place)
        self.batch = Batch(target, first, self._step, seconds, cases)
        self.connection.send(self.batch)

    def done(self, cases: int) -> None:
        """Mark the batch as done; the next batch of its target continues after it."""
        assert self.batch is not None
        self._next[self.batch.target] = self.batch.first + cases * self._step
        self.batch = None

    def skip_current(self) -> int:
        """Continue after the case that was running when the process ended; return the cases run."""
        assert self.batch is not None
        number = max(int(self.watched.number.value), self.batch.first)
        cases = (number - self.batch.first) // self._step + 1
        self.done(cases)
        return cases

    @property
    def is_stuck(self) -> bool:
        """Whether the current case has been running for too long."""
        begun = self.watched.begun.value
        waited = time.monotonic() - begun if begun else 0.0
        if waited <= LONGEST_CASE:
            return False
        # On a busy machine, wall-clock time is not reliable.
        spent = _processor_time(self.process.pid) - self.watched.processor.value
        return spent > LONGEST_CASE or waited > LONGEST_WAIT

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _processor_time(process: int) -> float:
    """Processor seconds that a process has used; infinite if they cannot be read."""
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        )
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Supervisor:
    """Runs the fuzzer with several workers."""

    def __init__(self, plan: Plan, shares: dict[str, float], say: Callable[[str], None]) -> None:
        self._plan = plan
        self._shares = shares
        self._say = say
        self._corpus = Corpus(plan.corpus)
        self._ended = dict.fromkeys(plan.targets, 0)
        self._rounds = [list(plan.targets)] * plan.processes
        self.result = Result({name: TargetCounts(name) for name in plan.targets})

    def run(self) -> Result:
        """Run until the time or the cases are used up, or until interrupted."""
        # In memory if possible, because writers wait until their data is on disk.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        place = Path(tempfile.mkdtemp(prefix=f"mathsetu-fuzz-{os.getpid()}-", dir=memory))
        options = Options(self._plan.seed, self._plan.corpus, place)
        processes = self._plan.processes
        workers = [_Worker(number, processes, options) for number in range(processes)]
        try:
            self._share_out(workers)
        except KeyboardInterrupt:
            self._say("interrupted")
        finally:
            for worker in workers:
                worker.end()
            shutil.rmtree(place, ignore_errors=True)
        return self.result

    def _share_out(self, workers: Sequence[_Worker]) -> None:
        end = time.monotonic() + self._plan.seconds
        # Workers start at different targets, so that they do not wait for the same library.
        turns = [number * len(self._plan.targets) // len(workers) for number in range(len(workers))]
        while True:
            for place, worker in enumerate(workers):
                if worker.batch is None and time.monotonic() < end:
                    turns[place] = self._give(worker, turns[place], end)
            if not any(worker.batch for worker in workers):
                return
            connections = {worker.connection: worker for worker in workers if worker.batch}
            for connection in wait(list(connections), _LOOK_EVERY):
                assert isinstance(connection, Connection)
                self._hear(connections[connection])
            for worker in workers:
                if worker.batch and worker.is_stuck:
                    self._restart(worker, "hang")

    def _give(self, worker: _Worker, turn: int, end: float) -> int:
        """Give a worker a batch of the next target with cases left; return its next turn."""
        targets = self._plan.targets
        for step in range(len(targets)):
            name = targets[(turn + step) % len(targets)]
            most = self._plan.cases // len(targets)
            left = most - self.result.tallies[name].cases
            if left > 0 and self._ended[name] < MAX_ENDED:
                seconds = min(_SLICE * self._shares.get(name, 1.0), end - time.monotonic())
                worker.give(name, seconds, -(-left // self._plan.processes))
                return turn + step + 1
        return turn

    def _hear(self, worker: _Worker) -> None:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            self._restart(worker, "crash")
            return
        if isinstance(message, Finding):
            self._note(message)
        else:
            self.result.tallies[message.target].add(message)
            worker.done(message.cases)

    def _note(self, finding: Finding) -> None:
        """Store a finding; a smaller input for the same fault replaces the earlier one."""
        known = self.result.findings.get(finding.name)
        if known is not None and len(known.data) <= len(finding.data):
            return
        self.result.findings[finding.name] = finding
        path = self._corpus.store(finding)
        if known is None:
            self._say(f"{finding.target}: {finding.outcome}: {finding.signature}: {path}")

    def _restart(self, worker: _Worker, outcome: str) -> None:
        """Kill a worker that hangs or has crashed, record its case, and start a new worker."""
        assert worker.batch is not None
        name, data = worker.batch.target, worker.watched.data
        worker.end()
        tally = self.result.tallies[name]
        report = f"the process ended with status {worker.process.exitcode}"
        if outcome == "hang":
            report = f"did not end within {LONGEST_CASE:.0f} s of processor time"
        tally.cases += worker.skip_current()
        tally.note(outcome)
        self._note(Finding(name, outcome, f"{outcome} of the process", data, report))
        self._ended[name] += 1
        if self._ended[name] == MAX_ENDED:
            self.result.left_out.append(name)
            self._say(f"{name}: left out after {MAX_ENDED} of its cases had to be ended")
        with suppress(OSError):
            worker.start()
