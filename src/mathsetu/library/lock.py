"""One writer of a library at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from mathsetu.errors import InputError
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
    busy = InputError(f"{library}: is being written already; wait until that is done")
    if own in _writing:
        raise busy
    try:
        library.mkdir(parents=True, exist_ok=True)
        with _opened(library / LOCK) as file:
            if not _locked(file):
                raise busy
            _writing.add(own)
            try:
                yield
            finally:
                _writing.remove(own)
    except OSError as error:
        raise InputError(
            f"{library}: cannot be written ({(error.strerror or str(error)).lower()})"
        ) from error


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
