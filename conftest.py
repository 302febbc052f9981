"""Modules that are made of torch are tested where it is installed, and left alone elsewhere."""

from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).parent / "src" / "mathsetu"
# Their modules lean on each other: without torch none of them can be imported.
_ROOMS = ("training/graph",)


def _needs_torch(path: Path) -> bool:
    inside = path.relative_to(_PACKAGE).as_posix().startswith(_ROOMS)
    return inside or "\nimport torch" in path.read_text(encoding="utf-8")


collect_ignore = (
    [] if find_spec("torch") else [str(p) for p in _PACKAGE.rglob("*.py") if _needs_torch(p)]
)
