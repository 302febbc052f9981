"""Shared code of the verbs that write runs: their formats, and which files are runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mathsetu.cli.evaluation import read_records
from mathsetu.collections.formats import FORMATS, Writer, find
from mathsetu.errors import InputError
from mathsetu.records import Run


def run_writer(name: str) -> Writer:
    """What writes runs in a format."""
    form = find(name)
    if form.holds != "runs" or form.write is None:
        known = ", ".join(f.name for f in FORMATS.values() if f.holds == "runs" and f.write)
        raise InputError(f"{name} is not a run format (known: {known})")
    return form.write


def holds_runs(may_go: Callable[[Run], bool] = lambda run: True) -> Callable[[Path], bool]:
    """Whether a file holds runs only, and such as may be written over."""

    def passes(path: Path) -> bool:
        with suppress(InputError):
            return all(map(may_go, read_records(path, "runs")))
        return False

    return passes
