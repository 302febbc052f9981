"""Too little memory or disk space: an error in one line, never a traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mathsetu.errors import shortage
from tests.service.test_serve import free_port

START = "from mathsetu.cli import main; main()"
MEGABYTE = 1 << 20
# Megabytes: from too little for loading the glossary to almost enough for a build.
MEMORY = [160, 200, 250, 300, 400]


def test_every_shortage_gets_a_clear_message() -> None:
    told = {
        MemoryError("Unable to allocate 20.5 MiB for an array"): "out of memory",
        OSError(errno.ENOMEM, "Cannot allocate memory"): "out of memory",
        ImportError("onnxruntime.so: failed to map segment from shared object"): "out of memory",
        RuntimeError("can't start new thread"): "ulimit -u",
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"): "ulimit -u",
        OSError(errno.EMFILE, "Too many open files"): "ulimit -n",
        FileNotFoundError(errno.ENOENT, "No usable temporary directory found in []"): "TMPDIR",
        OSError(errno.ENOSPC, "No space left on device"): "a temporary file: cannot be written",
        OSError(errno.ENOSPC, "No space left on device", "/x/y"): "/x/y: cannot be written",
    }
    for error, part in told.items():
        assert part in shortage(error)
        assert "\n" not in shortage(error)


def test_other_errors_are_not_shortages() -> None:
    for error in (ValueError("x"), KeyError("x"), RuntimeError("x"), OSError(errno.EIO, "x")):
        assert shortage(error) == ""
    for error in (ImportError("no module named x"), FileNotFoundError(errno.ENOENT, "x", "y")):
        assert shortage(error) == ""


def run(*arguments: str, memory: int = 0, file: int = -1, **environment: str) -> tuple[int, str]:
    """Run a command with limited memory or with a limited size of files."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory * MEGABYTE, memory * MEGABYTE))
        if file >= 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))

    done = subprocess.run(
        [sys.executable, "-c", START, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        timeout=120,
        # One thread for linear algebra, since each thread takes memory at the start.
        # With limited files, Python would leave incomplete bytecode for the next process.
        env={
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
    )
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def library(sampler_folder: Path) -> Path:
    return sampler_folder


def told(result: tuple[int, str]) -> str:
    """The messages of a command, which must end well or print a line of ours.

    Libraries in C or Rust may end the process when they get no memory, or print messages of their
    own; Python cannot prevent that.
    """
    code, said = result
    assert "Traceback" not in said
    if code > 0 and "OpenBLAS" not in said:
        assert code == 2, said
        assert any(line.startswith("mathsetu: ") for line in said.splitlines()), said
    return said


@pytest.mark.thorough
@pytest.mark.parametrize("memory", MEMORY)
def test_too_little_memory_is_reported_without_a_traceback(
    library: Path, tmp_path: Path, memory: int
) -> None:
    told(run("search", str(library), "primes", memory=memory))
    told(run("index", str(tmp_path / "new"), "sampler", "--processes", "1", memory=memory))


@pytest.mark.thorough
def test_the_smallest_memory_limit_is_too_little_for_a_search_and_a_server(library: Path) -> None:
    """Otherwise the test above would check nothing."""
    line = "mathsetu: out of memory; close other programs, or raise the limit (ulimit -v)\n"
    assert run("search", str(library), "primes", memory=MEMORY[0]) == (2, line)
    port = str(free_port())
    for workers in ("1", "2"):
        arguments = ("serve", str(library), "--port", port, "--workers", workers)
        code, said = run(*arguments, memory=MEMORY[0])
        assert code == 2
        assert "out of memory" in told((code, said))


@pytest.mark.thorough
def test_a_full_disk_is_reported_in_one_line(library: Path, tmp_path: Path) -> None:
    port = str(free_port())
    missing = str(tmp_path / "missing")
    for arguments in (("serve", "--port", port), ("serve", str(library), "--port", port)):
        for place in (missing, str(tmp_path)):
            said = told(run(*arguments, file=0, TMPDIR=place))
            assert "set TMPDIR" in said
        assert "cannot be written" in told(run(*arguments, file=20_000))
    built = run("index", str(tmp_path / "new"), "sampler", "--processes", "1", file=0)
    assert "cannot be written" in told(built)
