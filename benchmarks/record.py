"""Runs a benchmark and keeps what it printed in ``results/``, with the machine and the commit.

    python -m benchmarks.record formula_speed [--name NAME] [-- ARGUMENTS OF THE BENCHMARK]

What the benchmark prints on standard output is shown as ever, and written to ``results/NAME.txt``
when it ends well, below a few lines that say how it was made. Documentation quotes these files.
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
# What figures depend on beside our own code.
_LIBRARIES = ("numpy", "onnxruntime", "tokenizers", "torch")


def processor() -> str:
    """The name of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def commit(folder: Path) -> str:
    """The commit of a checkout, and whether files were changed since; "unknown" without git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def heading(module: str, arguments: Sequence[str], seconds: float) -> str:
    """What a reader of a result has to know about how it was made."""
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
    """Run a benchmark, show what it prints, and keep it; the exit status of the benchmark."""
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
    """The exit status of the benchmark."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("module", help="the benchmark, such as formula_speed")
    parser.add_argument("--name", default="", help="of the file (default: that of the benchmark)")
    parser.add_argument("arguments", nargs="*", help="given to the benchmark, after --")
    options = parser.parse_args()
    return record(options.module, options.name or options.module, options.arguments)


if __name__ == "__main__":
    sys.exit(main())
