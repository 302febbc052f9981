"""Opens regular files safely, and refuses links, devices and pipes.

Reading a pipe that nobody writes into, or a device, would never end; a link may lead out of the
folder it stands in.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

# Systems without links have no such flag. Opening a pipe must not wait for its other end.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_ALWAYS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def open_plain(path: str | Path, *, follow_links: bool = False) -> BinaryIO:
    """Open a regular file to read its bytes; OSError says why something else is not opened.

    What is opened is looked at after it was opened, so that nobody can exchange it in between.

    >>> open_plain("/dev/null")
    Traceback (most recent call last):
    OSError: [Errno 22] not a regular file; save its content in one: '/dev/null'
    """
    return os.fdopen(_opened(path, os.O_RDONLY | (0 if follow_links else _NO_LINK)), "rb")


def open_to_lock(path: Path) -> BinaryIO:
    """Open a regular file for locking; it is made where there is none, and never emptied."""
    return os.fdopen(_opened(path, os.O_RDWR | os.O_CREAT | _NO_LINK), "r+b")


def create_plain(path: Path) -> BinaryIO:
    """Make a new file for writing; OSError when there is anything of that name."""
    return os.fdopen(_opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")


def _opened(path: str | Path, flags: int) -> int:
    descriptor = os.open(path, flags | _ALWAYS, 0o666)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    problem = "not a regular file; save its content in one"
    raise OSError(errno.EINVAL, problem, str(path))


def is_plain_file(path: Path) -> bool:
    """Whether a path is a regular file, and not a link to one."""
    return _mode(path, stat.S_ISREG)


def is_plain_folder(path: Path) -> bool:
    """Whether a path is a folder, and not a link to one."""
    return _mode(path, stat.S_ISDIR)


def _mode(path: Path, test: object) -> bool:
    try:
        return bool(test(path.lstat().st_mode))  # type: ignore[operator]
    except OSError:
        return False


def entries_below(folder: Path) -> list[os.DirEntry[str]]:
    """All that lies below a folder, in order, each folder before what it holds.

    Links are listed and not followed. Unlike `os.walk` and `Path.rglob` this passes over nothing
    that cannot be read: OSError says what.
    """
    found: list[os.DirEntry[str]] = []
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        found.append(entry)
        if entry.is_dir(follow_symlinks=False):
            found += entries_below(Path(entry.path))
    return found


def files_below(folder: Path) -> list[Path]:
    """The files below a folder, in order."""
    entries = entries_below(folder)
    return [Path(entry.path) for entry in entries if not entry.is_dir(follow_symlinks=False)]


def sync_folder(folder: Path) -> None:
    """Let what was made, renamed and removed in a folder survive a loss of power."""
    if os.name != "posix":  # elsewhere folders cannot be opened for this
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Let all files of a folder, and the folder itself, survive a loss of power."""
    for entry in reversed(entries_below(folder)):
        if entry.is_dir(follow_symlinks=False):
            sync_folder(Path(entry.path))
        else:
            with open_plain(Path(entry.path)) as file:
                os.fsync(file.fileno())
    sync_folder(folder)
