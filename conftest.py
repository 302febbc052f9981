"""Selects the modules to collect; modules without runnable tests are slow to import, so skipped."""

import gc
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

_PACKAGE = Path(__file__).parent / "src" / "mathsetu"
# The modules of these folders import each other, so that none can be imported without torch.
_NEED_TORCH = ("training/graph",)
# Integrations, and the package that each needs.
_INTEGRATIONS = {
    "pyterrier": "pyterrier",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
}
# The line that marks all tests of a module as thorough.
_ALL_THOROUGH = "\npytestmark = pytest.mark.thorough\n"


def _needs_torch(path: Path) -> bool:
    inside = path.relative_to(_PACKAGE).as_posix().startswith(_NEED_TORCH)
    return inside or "\nimport torch" in path.read_text(encoding="utf-8")


_IMPOSSIBLE = frozenset(
    () if find_spec("torch") else filter(_needs_torch, _PACKAGE.rglob("*.py"))
) | {
    _PACKAGE / "integrations" / f"{name}.py"
    for name, program in _INTEGRATIONS.items()
    if not find_spec(program)
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip modules that lack a package or have no tests, and thorough modules unless selected."""
    if collection_path in _IMPOSSIBLE:
        return True
    if collection_path.suffix == ".py" and collection_path.is_relative_to(_PACKAGE):
        return ">>>" not in collection_path.read_text(encoding="utf-8") or None
    if config.option.markexpr == "not thorough" and collection_path.name.startswith("test_"):
        return _ALL_THOROUGH in collection_path.read_text(encoding="utf-8") or None
    return None


# The garbage collector takes a tenth of the run time if it scans the hundreds of modules that stay
# in memory: it is off while they are imported, ignores them afterwards, and runs less often.
gc.disable()


def pytest_collection_finish() -> None:
    """Switch the garbage collector on again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _folder_of_temporary_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Make temporary files in pytest's folder: pytest keeps those of three runs only."""
    tempfile.tempdir = str(tmp_path_factory.getbasetemp())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test; a worker reports only the result of the call, and failures, to the main process.

    Reporting that each test begins, was set up, was torn down and ends takes a tenth of the time.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_sessionfinish() -> None:
    """Collect garbage once at the end, instead of five times as pytest does."""
    gc.collect()
    gc.freeze()
