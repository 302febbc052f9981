"""Runs a benchmark and stores its output in ``results/``, with the machine and the commit.

    python -m benchmarks.record [--name NAME] formula_speed [-- ARGUMENTS OF THE BENCHMARK]

The standard output of the benchmark is shown as usual. If it succeeds, the output is written to
``results/NAME.txt``, below a header that describes the run. Documentation quotes these files.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
# Libraries that affect the figures.
_LIBRARIES = ("numpy", "onnxruntime", "tokenizers", "torch")


def processor() -> str:
    """The name of the processor, if the system provides it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def commit(folder: Path) -> str:
    """The commit of a checkout, with "-dirty" if files have changed; "unknown" without git.

    Files of results do not count, so that several benchmarks can be recorded one after another.
    """
    name = _git(folder, "rev-parse", "--short=12", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!results")
    return f"{name}-dirty" if name and changed else name or "unknown"


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def heading(module: str, arguments: Sequence[str], seconds: float) -> str:
    """The header of a result file: how the result was made."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    libraries = []
    for name in _LIBRARIES:
        try:
            libraries.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    lines = {
        "command": " ".join(["python", "-m", f"benchmarks.{module}", *arguments]),
        "commit": commit(RESULTS.parent),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{processor()}, {cores} cores, {platform.system()} {platform.machine()}",
        "python": f"{platform.python_version()}, {', '.join(libraries)}",
        "seconds": f"{seconds:.0f}",
    }
    return "\n".join(f"# {name}: {value}" for name, value in lines.items())


def record(module: str, name: str, arguments: Sequence[str]) -> int:
    """Run a benchmark, show and store its output; return its exit status."""
    began = time.monotonic()
    command = [sys.executable, "-u", "-m", f"benchmarks.{module}", *arguments]
    printed: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as running:
        assert running.stdout is not None
        for line in running.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            printed.append(line)
    if running.returncode == 0:
        RESULTS.mkdir(exist_ok=True)
        head = heading(module, arguments, time.monotonic() - began)
        text = f"{head}\n\n{''.join(printed).strip()}\n"
        (RESULTS / f"{name}.txt").write_text(text, encoding="utf-8")
    return running.returncode


def main() -> int:
    """Run and record a benchmark; return its exit status."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("module", help="the benchmark, such as formula_speed")
    parser.add_argument("--name", default="", help="of the file (default: that of the benchmark)")
    parser.add_argument("arguments", nargs="*", help="given to the benchmark, after --")
    options = parser.parse_args()
    return record(options.module, options.name or options.module, options.arguments)


if __name__ == "__main__":
    sys.exit(main())
