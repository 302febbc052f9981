"""Continuous fuzzing: gives mutated inputs to every reader, interface and library file.

    python -m benchmarks.fuzz [--seconds 3600] [--cases N] [--targets latex,http] [--seed N]
    python -m benchmarks.fuzz --replay .fuzz/findings/latex/0123456789ab.input

Prints a table, and exits with 1 if anything went wrong: an exception that is not a clear refusal
(over HTTP, a 5xx status), a wrong answer, a crash, or a hang, which is a case that takes more than
ten times the median of its kind and size. Each finding is minimised and stored with its report in
the corpus folder. Inputs that reach new lines are stored too, and later runs start from them.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fuzz.corpus import DEFAULT, replay_command
from benchmarks.fuzz.judge import Judge
from benchmarks.fuzz.supervisor import Plan, Result, Supervisor
from benchmarks.fuzz.targets import SHARES, TARGETS
from benchmarks.fuzz.worker import limit_memory

_OUTCOMES = ("exception", "hang", "wrong answer", "crash")


def table(result: Result, wall: float) -> str:
    """Format the results of a run, one line per target."""
    heads = ("target", "cases", "exceptions", "hangs", "wrong", "crashes", "cases/s", "slowest")
    rows: list[tuple[str, ...]] = [heads]
    totals = dict.fromkeys(_OUTCOMES, 0)
    cases = 0
    for tally in result.tallies.values():
        counts = [tally.outcomes.get(outcome, 0) for outcome in _OUTCOMES]
        for outcome, count in zip(_OUTCOMES, counts, strict=True):
            totals[outcome] += count
        cases += tally.cases
        seconds, size = tally.slowest
        rate = f"{tally.cases / tally.seconds:,.0f}" if tally.seconds else "-"
        slowest = f"{seconds * 1000:,.0f} ms ({size:,} B)"
        rows.append((tally.target, f"{tally.cases:,}", *map(str, counts), rate, slowest))
    total = (f"{totals[outcome]:,}" for outcome in _OUTCOMES)
    rows.append(("all", f"{cases:,}", *total, f"{cases / max(wall, 1e-9):,.0f}", f"{wall:,.0f} s"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, len(heads) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def replay(path: Path) -> int:
    """Run one stored input again; the name of its folder is its target."""
    name = path.resolve().parent.name
    if name not in TARGETS:
        print(f"{path}: its folder must be named for a target ({', '.join(TARGETS)})")
        return 2
    limit_memory()
    target = TARGETS[name]()
    with tempfile.TemporaryDirectory() as place:
        target.open(Path(place))
        judge = Judge(target)
        finding = judge.judge(path.read_bytes())
        target.close()
    print(f"{name}: {judge.last_seconds * 1000:.0f} ms")
    if finding is None:
        print("nothing went wrong")
        return 0
    print(f"{finding.outcome}: {finding.signature}\n{finding.report}")
    return 1


def main() -> int:
    """Run the fuzzer; return 1 if something was found."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("benchmarks.fuzz", description=__doc__, formatter_class=raw)
    parser.add_argument("--seconds", type=float, default=3600, help="how long to go on")
    parser.add_argument(
        "--cases", type=int, default=sys.maxsize, help="cases, all targets together"
    )
    parser.add_argument("--targets", default="", help=f"some of {','.join(TARGETS)}")
    parser.add_argument("--seed", type=int, help="for the same cases again (with the same corpus)")
    parser.add_argument("--corpus", type=Path, default=DEFAULT, help="seeds and findings (.fuzz)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one stored input again")
    options = parser.parse_args()
    if options.replay:
        return replay(options.replay)
    names = [name for name in options.targets.split(",") if name] or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target {unknown[0]!r} (known: {', '.join(TARGETS)})")
    # Interrupts end the run with its table and without leftover files. The handlers are set
    # because a shell ignores Ctrl-C for a process that it started in the background.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"seed {seed}, corpus {options.corpus}", flush=True)
    plan = Plan(names, options.seconds, options.cases, seed, options.corpus, options.processes)
    begun = time.monotonic()
    result = Supervisor(plan, SHARES, lambda line: print(line, flush=True)).run()
    print(table(result, time.monotonic() - begun))
    kept = sum(tally.kept for tally in result.tallies.values())
    print(f"{kept} inputs that reach new lines were kept in {options.corpus / 'seeds'}")
    for finding in result.findings.values():
        path = options.corpus / "findings" / finding.target / f"{finding.name}.input"
        print(
            f"\n{finding.target}: {finding.outcome}: {finding.signature}\n  {replay_command(path)}"
        )
    return 1 if result.findings or result.left_out else 0


if __name__ == "__main__":
    sys.exit(main())
