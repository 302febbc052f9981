"""Runs tests in a forked process in which one module is replaced by a mutant.

No file is written: an import hook provides the changed module. The parent process has imported
pytest and the large libraries, but none of our modules, so that a fork starts fast. Processes that
are started by a test see the unchanged module.
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
# Imported before the fork, because these take most of the time until the first test.
_LARGE = ("hypothesis", "markdown_it", "numpy", "numpy.testing", "onnxruntime", "py3langid",
          "pytest", "rich", "sqlite3", "tokenizers")  # fmt: skip
_OPTIONS = ("-x", "-q", "-m", "not thorough", "-p", "no:cacheprovider", "-p", "no:schemathesis",
            "-p", "no:xdist", "--hypothesis-seed=0",
            "-W", "ignore::pytest.PytestAssertRewriteWarning")  # fmt: skip

# Wall-clock limit of a run, as a multiple of its processor time limit.
_PATIENCE = 10
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


def preload() -> None:
    """Import the libraries that every forked process needs."""
    for name in _LARGE:
        with suppress(ImportError):
            importlib.import_module(name)


def module_name(path: Path) -> str:
    """Return the name under which a file of the package is imported.

    >>> module_name(PACKAGE / "ranking" / "__init__.py")
    'mathsetu.ranking'
    """
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Changed(importlib.abc.MetaPathFinder):
    """An import hook for one changed module."""

    def __init__(self, path: Path, code: CodeType) -> None:
        self._name, self._path, self._code = module_name(path), path, code

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the changed module; other modules are found as usual."""
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
    """Run tests with a changed module; return killed, survived or timed out.

    Args:
        path: The file of the module.
        code: The changed code.
        tests: Test files or test ids.
        limit: Seconds of processor time after which the tests count as failed.
    """
    place = tempfile.mkdtemp(prefix="mathsetu-mutations-")
    child = os.fork()
    if child == 0:
        _test_and_exit(path, code, tests, place, limit)
    # A waiting test uses no processor time, and a busy machine is slow: limit wall-clock time too.
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
        # The process leads its own process group, so that its workers are killed too.
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
        # Failing examples must not be stored for runs that test the real code.
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = f"{place}/hypothesis"
        sys.meta_path.insert(0, _Changed(path, code))
        # Import it now, because pytest would read the doctests of the module from its file.
        importlib.import_module(module_name(path))
        import pytest

        status = int(pytest.main([*_OPTIONS, f"--basetemp={place}/tmp", *tests]))
    finally:
        os._exit(status)
