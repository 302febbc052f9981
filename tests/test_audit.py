"""The audit of dependencies: a weakness fails, and what was not audited is never called safe."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parent.parent
SAFE = {"name": "click", "version": "8.5.1", "vulns": []}
UNKNOWN = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}
WEAK = {
    "name": "jinja2",
    "version": "3.1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.6"]}, {"id": "PYSEC-2", "fix_versions": []}],
}


@pytest.fixture(scope="module")
def verdict() -> Callable[[Any], tuple[int, list[str]]]:
    return runpy.run_path(str(CHECKOUT / ".ci" / "audit.py"))["verdict"]


def test_a_known_weakness_fails_and_is_named(verdict: Callable[..., Any]) -> None:
    status, lines = verdict({"dependencies": [SAFE, WEAK, UNKNOWN]})
    assert status == 1
    assert "jinja2 3.1.0: PYSEC-1 (mended in 3.1.6)" in lines
    assert "jinja2 3.1.0: PYSEC-2 (mended in no version yet)" in lines


def test_no_weakness_passes_and_says_what_was_left_out(verdict: Callable[..., Any]) -> None:
    status, lines = verdict({"dependencies": [SAFE, UNKNOWN]})
    assert status == 0
    assert lines[0] == "1 pinned versions have no known weakness"
    assert lines[1].startswith("WARNING")
    assert lines[1].endswith("torch")


@pytest.mark.parametrize("report", [[], [UNKNOWN, UNKNOWN]])
def test_where_nobody_answered_nothing_is_called_safe(
    verdict: Callable[..., Any], report: list[dict[str, str]]
) -> None:
    status, [line] = verdict({"dependencies": report})
    assert status == 0
    assert line.startswith("WARNING: the dependencies were NOT audited")
