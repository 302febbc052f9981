"""One writer of a library at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from mathsetu.errors import InputError, reason
from mathsetu.plain_files import is_plain_file, open_to_lock

#: The file that a writer locks; it stays empty.
LOCK = ".lock"
# Libraries that this process writes: the lock of a file keeps out other processes only.
_writing: set[Path] = set()


@contextmanager
def writing_alone(library: Path) -> Iterator[None]:
    """One writer at a time; the lock goes with the process, however it ends.

    What the system refuses on the way (no rights, a full disk) becomes one clear line.
    """
    own = library.resolve()
    is_new = not library.exists()
    busy = InputError(f"{library}: is locked by another writer; wait until it has finished")
    if own in _writing:
        raise busy
    try:
        library.mkdir(parents=True, exist_ok=True)
        with _opened(library / LOCK) as file:
            # Another build that failed may have removed the file between these two steps.
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
    """Remove the folder of a library again if nothing was built in it."""
    for path in library.iterdir():
        with suppress(OSError):
            path.rmdir()  # an empty folder: all else stays
    if {path.name for path in library.iterdir()} <= {LOCK}:
        with suppress(OSError):
            (library / LOCK).unlink(missing_ok=True)
            library.rmdir()


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is the one that a path names."""
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
    """Take the lock; unlike `flock`, `lockf` is not handed on to the processes of a pool."""
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
    """Take the lock as Windows has it: the first byte, which goes with the open file, too."""
    try:
        windows = import_module("msvcrt")
    except ImportError:  # no locks of files on this system
        return True
    try:
        windows.locking(file.fileno(), windows.LK_NBLCK, 1)
    except OSError:
        return False
    return True
