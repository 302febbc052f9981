"""The command line, called in the process of the tests, because a new one takes half a second."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from mathsetu.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


class Mathsetu:
    """Calls ``mathsetu`` with arguments and returns its output and exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Result:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        code = ended.value.code
        return Result(code if isinstance(code, int) else 1, captured.out, captured.err)

    def json(self, *arguments: str | Path) -> object:
        result = self(*arguments, "--json")
        assert result.code == 0, result.err
        return json.loads(result.out)

    def refuses(self, *arguments: str | Path) -> str:
        """Return the error for a mistake, which has one line."""
        result = self(*arguments)
        assert result.code == 2
        lines = result.err.strip().splitlines()
        # Usage errors begin with the usage of the command.
        assert len(lines) == 1 or lines[0].startswith("Usage: ")
        return lines[-1]
