"""Which modules are collected: none whose tests would not run, for importing takes long."""

import gc
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

_PACKAGE = Path(__file__).parent / "src" / "mathsetu"
# Their modules lean on each other: without torch none of them can be imported.
_NEED_TORCH = ("training/graph",)
# Modules that are imported where another program is, and that program.
_INTEGRATIONS = {
    "pyterrier": "pyterrier",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
}
# How a module says that all of its tests take long.
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
    """Leave out what lacks its package or has no tests, and thorough modules unless asked for."""
    if collection_path in _IMPOSSIBLE:
        return True
    if collection_path.suffix == ".py" and collection_path.is_relative_to(_PACKAGE):
        return ">>>" not in collection_path.read_text(encoding="utf-8") or None
    if config.option.markexpr == "not thorough" and collection_path.name.startswith("test_"):
        return _ALL_THOROUGH in collection_path.read_text(encoding="utf-8") or None
    return None


# The garbage collector takes a tenth of all time where it looks at the hundreds of modules that
# stay: it rests while they are imported, leaves them out afterwards, and comes less often.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector work again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test; of a worker, report to the process that waits only what that has to know.

    To tell it that each test begins, was set up, was torn down and ends takes a tenth of all time.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_sessionfinish() -> None:
    """Look for what was left open once, and not five times, as pytest does at the end."""
    gc.collect()
    gc.freeze()
