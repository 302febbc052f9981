"""Checks the files that a command writes, so that it never overwrites inputs or other work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from mathsetu.collections.files import read_head
from mathsetu.collections.formats import detect
from mathsetu.errors import InputError

_REMEDY = "remove it first, or name another file"
_AT_ENDS = 4096


def check_target(
    target: Path | None,
    inputs: Iterable[object] = (),
    *,
    own: Callable[[Path], bool],
    about: str,
    outputs: Iterable[Path | None] = (),
    overwrite: bool | None = None,
) -> None:
    """Refuse to overwrite an input of the command, or a file that the command did not make.

    Every option and argument that names an output file is checked here, before any work is done.

    Args:
        target: The file to write; None and ``-`` are ignored.
        inputs: The inputs of the command, which are never overwritten. In an input folder, only
            files that the command has made are overwritten. Values that are not paths are ignored.
        own: Whether a file was made by this command, and so may be replaced.
        about: The part of the error message that describes any other file.
        outputs: The other files that the command writes.
        overwrite: Whether the user allows overwriting any other file; None if the command has no
            such option.
    """
    if target is None or str(target) == "-":
        return
    if any(other is not None and _is_same(other, target) for other in outputs):
        raise InputError(f"{target}: would be written twice by this command; name different files")
    if not target.is_file():
        return
    read = [path for path in inputs if isinstance(path, Path)]
    if any(_is_same(path, target) for path in read):
        raise InputError(f"{target}: is read by this command; write to another file")
    if not target.stat().st_size:
        return
    is_own = own(target)
    if not is_own and any(_is_below(target, path) for path in read):
        raise InputError(f"{target}: is in a folder that this command reads; {_REMEDY}")
    if not is_own and not overwrite:
        remedy = _REMEDY if overwrite is None else "use --overwrite to replace it"
        what = ", contains judgments" if holds_judgments(target) else ""
        raise InputError(f"{target}: exists{what}{about} ({remedy})")


def begins(test: Callable[[str], bool]) -> Callable[[Path], bool]:
    """Return a test of the beginning of a file; a file that cannot be read fails it."""

    def passes(path: Path) -> bool:
        with suppress(InputError):
            return test(read_head(path))
        return False

    return passes


def can_be_read(read: Callable[[Path], object]) -> Callable[[Path], bool]:
    """Return a test whether a file can be read by a function."""

    def passes(path: Path) -> bool:
        with suppress(InputError):
            read(path)
            return True
        return False

    return passes


def holds_judgments(path: Path) -> bool:
    """Whether a file holds judgments, which may be a person's only copy."""
    with suppress(InputError):
        return detect(path).holds == "judgments"
    return False


def is_figure(path: Path) -> bool:
    """Whether a file was written by Matplotlib, which puts its name at the beginning or the end."""
    with path.open("rb") as file:
        head = file.read(_AT_ENDS)
        file.seek(max(path.stat().st_size - _AT_ENDS, 0))
        return b"Matplotlib" in head + file.read()


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, which need not exist yet."""
    with suppress(OSError):
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def _is_below(path: Path, folder: Path) -> bool:
    return folder.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
