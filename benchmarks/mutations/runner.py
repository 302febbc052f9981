"""Runs tests in a forked process in which one module is another than on the disk.

Nothing is written: the process gets the changed module from an import hook. It is forked from one
that has imported pytest and the large libraries but nothing of ours, so that it starts at once.
Processes that a test starts again see the unchanged module.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import spec_from_file_location
from math import ceil
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "mathsetu"
# Imported before processes are forked: this takes most of the time until a first test runs.
_LARGE = ("hypothesis", "markdown_it", "numpy", "numpy.testing", "onnxruntime", "py3langid",
          "pytest", "rich", "sqlite3", "tokenizers")  # fmt: skip
_OPTIONS = ("-x", "-q", "-m", "not thorough", "-p", "no:cacheprovider", "-p", "no:schemathesis",
            "-p", "no:xdist", "--hypothesis-seed=0",
            "-W", "ignore::pytest.PytestAssertRewriteWarning")  # fmt: skip

# How much longer than its processor time a run may take.
_PATIENCE = 10
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


def preload() -> None:
    """Import what every forked process needs."""
    for name in _LARGE:
        with suppress(ImportError):
            importlib.import_module(name)


def module_name(path: Path) -> str:
    """The name under which a file of the package is imported.

    >>> module_name(PACKAGE / "ranking" / "__init__.py")
    'mathsetu.ranking'
    """
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Changed(importlib.abc.MetaPathFinder):
    """Finds one module as it was changed."""

    def __init__(self, path: Path, code: CodeType) -> None:
        self._name, self._path, self._code = module_name(path), path, code

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module that was changed; all others are found as ever."""
        if fullname != self._name:
            return None
        loader = _CodeLoader(fullname, str(self._path), self._code)
        return spec_from_file_location(fullname, self._path, loader=loader)


class _CodeLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed module."""
        return self._code


def run_tests(path: Path, code: CodeType, tests: Sequence[str], limit: float) -> str:
    """Run tests with a changed module: killed, survived or timed out.

    Args:
        path: The file of the module.
        code: What it is instead.
        tests: Files or ids of tests.
        limit: Seconds of processor time after which the tests count as failed.
    """
    place = tempfile.mkdtemp(prefix="mathsetu-mutations-")
    child = os.fork()
    if child == 0:
        _test_and_exit(path, code, tests, place, limit)
    # A test that waits for something takes no processor time; a busy machine takes long.
    end = time.monotonic() + _PATIENCE * limit
    try:
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code_of_exit = os.waitstatus_to_exitcode(status)
                if code_of_exit == -signal.SIGXCPU:
                    return TIMED_OUT
                return KILLED if code_of_exit else SURVIVED
            time.sleep(0.02)
        # The process leads a group of its own, so that its workers end with it.
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return TIMED_OUT
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _test_and_exit(
    path: Path, code: CodeType, tests: Sequence[str], place: str, limit: float
) -> None:
    import resource  # only Unix has it

    status = 70
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(limit), ceil(limit) + 5))
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        # Examples that fail here must not be tried again by those who test the real code.
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = f"{place}/hypothesis"
        sys.meta_path.insert(0, _Changed(path, code))
        # Now, for pytest would look for the examples of a module in its file, as it is on the disk.
        importlib.import_module(module_name(path))
        import pytest

        status = int(pytest.main([*_OPTIONS, f"--basetemp={place}/tmp", *tests]))
    finally:
        os._exit(status)
