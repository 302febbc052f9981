"""The write lock of a library: one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from mathsetu.errors import InputError, reason
from mathsetu.plain_files import is_plain_file, open_to_lock

#: The empty file that a writer locks.
LOCK = ".lock"
# Libraries that this process is writing: a file lock excludes other processes only.
_writing: set[Path] = set()


@contextmanager
def writing_alone(library: Path) -> Iterator[None]:
    """Hold the write lock of a library; it is released when the process ends in any way.

    Errors of the operating system (no permission, a full disk) are raised as `InputError`.
    """
    own = library.resolve()
    is_new = not library.exists()
    busy = InputError(f"{library}: is locked by another writer; wait until it has finished")
    if own in _writing:
        raise busy
    try:
        library.mkdir(parents=True, exist_ok=True)
        with _opened(library / LOCK) as file:
            # A failed build may have removed the file between opening and locking it.
            if not _locked(file) or not _is_at(file, library / LOCK):
                raise busy
            _writing.add(own)
            try:
                yield
            finally:
                _writing.remove(own)
                if is_new:
                    _remove_empty(library)
    except OSError as error:
        raise InputError(f"{library}: cannot be written ({reason(error)})") from error


def _remove_empty(library: Path) -> None:
    """Remove the new folder of a library if nothing was built in it."""
    for path in library.iterdir():
        with suppress(OSError):
            path.rmdir()  # removes empty folders only
    if {path.name for path in library.iterdir()} <= {LOCK}:
        with suppress(OSError):
            (library / LOCK).unlink(missing_ok=True)
            library.rmdir()


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _opened(path: Path) -> BinaryIO:
    if os.path.lexists(path) and not is_plain_file(path):
        kind = "a link" if path.is_symlink() else "not a plain file"
        raise InputError(f"{path}: is {kind}; remove it")
    return open_to_lock(path)


def _locked(file: BinaryIO) -> bool:
    """Take the lock; unlike with `flock`, worker processes do not inherit it."""
    try:
        import fcntl
    except ImportError:
        return _locked_on_windows(file)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _locked_on_windows(file: BinaryIO) -> bool:
    """Lock the first byte of the file; Windows releases it when the file is closed."""
    try:
        windows = import_module("msvcrt")
    except ImportError:  # no file locks on this system
        return True
    try:
        windows.locking(file.fileno(), windows.LK_NBLCK, 1)
    except OSError:
        return False
    return True
