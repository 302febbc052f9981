"""Records which lines of the package an input reaches; inputs that reach new lines are kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import mathsetu

_PACKAGE = str(Path(mathsetu.__file__).parent)


class Coverage:
    """Remembers all lines that were reached.

    Tracing makes a case ten times slower, so only one case in many is traced.
    """

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._inside: dict[CodeType, bool] = {}

    def is_new(self, work: Callable[[], object]) -> bool:
        """Call a function; return whether it reached lines that no earlier call reached."""
        before = len(self.lines)
        previous = sys.gettrace()
        sys.settrace(self._call)
        try:
            work()
        finally:
            sys.settrace(previous)
        return len(self.lines) > before

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        inside = self._inside.get(code)
        if inside is None:
            inside = self._inside[code] = code.co_filename.startswith(_PACKAGE)
        return self._line if inside else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line
