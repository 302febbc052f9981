"""A process that runs batches of cases; the supervisor watches it and may kill it at any time."""

from __future__ import annotations

import gc
import logging
import random
import resource
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.fuzz.corpus import LONGEST_SEED, Corpus, regressions
from benchmarks.fuzz.coverage import Coverage
from benchmarks.fuzz.judge import Finding, Judge, TargetCounts
from benchmarks.fuzz.mutate import Mutator
from benchmarks.fuzz.target import Target
from benchmarks.fuzz.targets import TARGETS

#: The maximum size of an input that the supervisor can see, in bytes.
ROOM = 1 << 20
#: Maximum address space of a worker, in bytes.
MEMORY = 4 << 30
#: Time limit for minimising an input, in seconds.
MINIMISING = 5.0
# One case in this many is traced for coverage.
_TRACED = 40
_TRACING_SEEDS = 3.0


@dataclass(frozen=True, slots=True)
class Options:
    """The options shared by all workers of a run."""

    seed: int
    corpus: Path
    place: Path


@dataclass(frozen=True, slots=True)
class Batch:
    """Cases of a target to run: every ``step``-th from ``first`` on, until a limit is reached."""

    target: str
    first: int
    step: int
    seconds: float
    cases: int


@dataclass(slots=True)
class Session:
    """One opened target: its seeds, its pool and its judge."""

    target: Target
    options: Options
    judge: Judge = field(init=False)
    seeds: list[bytes] = field(init=False)
    pool: list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.target.open(self.options.place)
        self.judge = Judge(self.target)
        self.seeds = self.target.seeds() + regressions(self.target.name)
        kept = Corpus(self.options.corpus).seeds(self.target.name)
        self.pool = self.seeds + kept

    def case(self, number: int) -> bytes:
        """Return the case with a number: the seeds unchanged, then mutations."""
        if number < len(self.seeds):
            return self.seeds[number]
        chance = random.Random(f"{self.options.seed} {self.target.name} {number}")
        return self.target.make(Mutator(chance, self.pool, self.target.tokens))


class Watched:
    """Shared memory that shows the supervisor which case is running, and since when."""

    def __init__(self, context: Any) -> None:
        self.begun = context.RawValue("d", 0.0)
        self.number = context.RawValue("q", -1)
        self.processor = context.RawValue("d", 0.0)
        self.size = context.RawValue("q", 0)
        self.room = context.RawArray("B", ROOM)

    def begin(self, data: bytes, number: int = -1) -> None:
        """Publish the case that begins now."""
        size = min(len(data), ROOM)
        memoryview(self.room).cast("B")[:size] = data[:size]
        self.size.value = size
        self.number.value = number
        self.processor.value = time.process_time()
        self.begun.value = time.monotonic()

    def end(self) -> None:
        """Publish that no case is running."""
        self.begun.value = 0.0

    @property
    def data(self) -> bytes:
        """The input of the latest case."""
        return bytes(memoryview(self.room).cast("B")[: self.size.value])


def limit_memory() -> None:
    """Limit the memory, so that an expensive case fails instead of the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def work(connection: Connection, watched: Watched, options: Options) -> None:
    """Run batches until the supervisor closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor kills its workers itself
    limit_memory()
    logging.disable()  # a server logs every fault with its traceback; the judge reports it
    sessions: dict[str, Session] = {}
    coverages: dict[str, Coverage] = {}
    while True:
        try:
            batch: Batch = connection.recv()
        except EOFError:
            break
        session = sessions.get(batch.target)
        if session is None:
            session = sessions[batch.target] = Session(TARGETS[batch.target](), options)
            coverages[batch.target] = _baseline(session, watched)
            gc.collect()
            gc.freeze()  # objects of the session need not be scanned again
        for message in run_batch(session, coverages[batch.target], watched, batch):
            connection.send(message)
    for session in sessions.values():
        session.target.close()


def run_batch(
    session: Session, coverage: Coverage, watched: Watched, batch: Batch
) -> Iterator[Finding | TargetCounts]:
    """Run the cases of a batch; yield each finding when it occurs, and the counts at the end."""
    tally = TargetCounts(batch.target)
    judge, target = session.judge, session.target
    corpus = Corpus(session.options.corpus)
    begun = time.monotonic()
    end = begun + batch.seconds
    number = batch.first
    while tally.cases < batch.cases and time.monotonic() < end:
        data = session.case(number)
        watched.begin(data, number)
        finding = judge.judge(data)
        is_short = len(data) <= LONGEST_SEED
        if finding is None and is_short and number % _TRACED < batch.step:
            watched.begin(data, number)
            if coverage.is_new(lambda data=data: judge.fault(data)):  # type: ignore[misc]
                session.pool.append(data)
                tally.kept += 1
                corpus.keep(target.name, data)
        watched.end()
        tally.slowest = max(tally.slowest, (judge.last_seconds, len(data)))
        tally.cases += 1
        number += batch.step
        if finding is not None:
            tally.note(finding.outcome)
            yield finding
            watched.begin(data, number)
            yield judge.smaller(finding, MINIMISING)
            watched.end()
    tally.seconds = time.monotonic() - begun
    yield tally


def _baseline(session: Session, watched: Watched) -> Coverage:
    """Measure the lines that the pool already reaches, for at most a few seconds."""
    coverage = Coverage()
    end = time.monotonic() + _TRACING_SEEDS
    for data in session.pool:
        if len(data) > LONGEST_SEED:
            continue
        if time.monotonic() > end:
            break
        watched.begin(data)
        coverage.is_new(lambda data=data: session.judge.fault(data))  # type: ignore[misc]
    watched.end()
    return coverage
