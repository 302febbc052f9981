"""Which modules are collected: none whose tests would not run, for importing takes long."""

import gc
from importlib.util import find_spec
from pathlib import Path

import pytest

_PACKAGE = Path(__file__).parent / "src" / "mathsetu"
# Their modules lean on each other: without torch none of them can be imported.
_ROOMS = ("training/graph",)
# How a module says that all of its tests take long.
_ALL_THOROUGH = "\npytestmark = pytest.mark.thorough\n"


def _needs_torch(path: Path) -> bool:
    inside = path.relative_to(_PACKAGE).as_posix().startswith(_ROOMS)
    return inside or "\nimport torch" in path.read_text(encoding="utf-8")


collect_ignore = (
    [] if find_spec("torch") else [str(p) for p in _PACKAGE.rglob("*.py") if _needs_torch(p)]
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the browsers, servers and clients of thorough modules unloaded where none is used."""
    if config.option.markexpr != "not thorough" or collection_path.suffix != ".py":
        return None
    return _ALL_THOROUGH in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_finish() -> None:
    """Spare the garbage collector the hundred modules that stay: it takes a tenth of the time."""
    gc.collect()
    gc.freeze()
