"""Shared code of the verbs that write runs: their formats, and which files they may write over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def check_target(
    target: Path,
    inputs: Iterable[Path | None],
    *,
    overwrite: bool,
    may_go: Callable[[Run], bool],
    about: str,
) -> None:
    """Refuse to write over what a verb reads, and over files that cannot be made again.

    Args:
        target: Where the run is written to.
        inputs: What the verb reads, which is never written over.
        overwrite: Whether the user wants any other file written over.
        may_go: Whether a run may be written over without being asked.
        about: What the message says about the target.
    """
    if not target.is_file():
        return
    if any(one is not None and one.exists() and one.samefile(target) for one in inputs):
        raise InputError(f"{target}: is read by this command; write the run to another file")
    if not overwrite and target.stat().st_size and not _holds_only(target, may_go):
        raise InputError(f"{target}: exists{about} (--overwrite writes over it)")


def _holds_only(path: Path, may_go: Callable[[Run], bool]) -> bool:
    with suppress(InputError):
        return all(map(may_go, read_records(path, "runs")))
    return False
