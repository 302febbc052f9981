"""Opens files that a user names, and nothing that only looks like one.

Reading a pipe that nobody writes into, or a device, would never end; a link in a folder of notes
may lead out of it.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_plain(path: str | Path, *, follow_links: bool = True) -> BinaryIO:
    """Open a regular file to read its bytes; OSError says why something else is not opened.

    What is opened is looked at after it was opened, so that nobody can exchange it in between.

    >>> open_plain("/dev/null")
    Traceback (most recent call last):
    OSError: [Errno 22] not a regular file; pipe its content in and give - as the name: '/dev/null'
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not follow_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    problem = "not a regular file; pipe its content in and give - as the name"
    raise OSError(errno.EINVAL, problem, str(path))
