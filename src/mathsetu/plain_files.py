"""Opens regular files safely, and refuses links, devices and pipes.

Reading a device, or a pipe without a writer, would never end; a link may lead out of its folder.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

# Not every system has these flags. O_NONBLOCK: opening a pipe must not wait for its other end.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_ALWAYS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def open_plain(path: str | Path, *, follow_links: bool = False) -> BinaryIO:
    """Open a regular file for reading bytes; raise OSError for anything else.

    The type is checked on the open descriptor, so that the file cannot be exchanged in between.

    >>> open_plain("/dev/null")
    Traceback (most recent call last):
    OSError: [Errno 22] not a regular file; save its content in one: '/dev/null'
    """
    return os.fdopen(_opened(path, os.O_RDONLY | (0 if follow_links else _NO_LINK)), "rb")


def open_to_lock(path: Path) -> BinaryIO:
    """Open a regular file for locking; create it if it is missing, and never truncate it."""
    return os.fdopen(_opened(path, os.O_RDWR | os.O_CREAT | _NO_LINK), "r+b")


def create_plain(path: Path) -> BinaryIO:
    """Create a new file for writing; raise OSError if the name exists."""
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
    """All entries below a folder, sorted by name, each folder before its content.

    Links are listed but not followed. Unlike `os.walk` and `Path.rglob`, this raises OSError for
    an unreadable folder instead of skipping it.
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
    """Flush a folder to disk, so that its changed entries survive a power failure."""
    if os.name != "posix":  # other systems cannot open folders for this
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Flush a folder and everything below it to disk."""
    for entry in reversed(entries_below(folder)):
        if entry.is_dir(follow_symlinks=False):
            sync_folder(Path(entry.path))
        else:
            with open_plain(Path(entry.path)) as file:
                os.fsync(file.fileno())
    sync_folder(folder)
