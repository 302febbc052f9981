"""Which lines of the package an input reaches, so that inputs which reach new ones are kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import mathsetu

_PACKAGE = str(Path(mathsetu.__file__).parent)


class Coverage:
    """Remembers the lines that were ever reached.

    Tracing makes a case ten times slower, so that only one case in many is traced.
    """

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._inside: dict[CodeType, bool] = {}

    def is_new(self, work: Callable[[], object]) -> bool:
        """Do some work; whether it reached lines that none before it has reached."""
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
