"""Progress of reading files, for progress bars.

Progress is counted in bytes on disk, because these sizes are known before anything is read, unlike
the decompressed sizes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO


class Meter:
    """Counts the bytes read from closed files and from those that are still open.

    >>> Meter(100).done
    0
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._finished = 0
        self._open: list[BinaryIO] = []

    @property
    def done(self) -> int:
        """Bytes read so far, at most the total."""
        position = 0
        for file in self._open:
            try:
                position += file.tell()
            except (OSError, ValueError):  # has no position, or is already closed
                continue
        return min(self.total, self._finished + position)

    def opened(self, file: BinaryIO) -> None:
        """Start to count an open file."""
        self._open.append(file)

    def closed(self, file: BinaryIO, position: int) -> None:
        """Add the bytes that were read from a file."""
        if file in self._open:
            self._open.remove(file)
        self._finished += position


_meter: ContextVar[Meter | None] = ContextVar("_meter", default=None)


@contextmanager
def metered(sources: Sequence[Path]) -> Iterator[Meter]:
    """Count the bytes read from files and folders in a ``with`` block."""
    meter = Meter(sum(map(_size, sources)))
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


@contextmanager
def unmetered() -> Iterator[None]:
    """Count nothing in a ``with`` block, because its files are read again later."""
    token = _meter.set(None)
    try:
        yield
    finally:
        _meter.reset(token)


@contextmanager
def reading(file: BinaryIO) -> Iterator[None]:
    """Count a file while it is read, if a meter is active."""
    meter = _meter.get()
    if meter is None:
        yield
        return
    meter.opened(file)
    try:
        yield
    finally:
        try:
            position = file.tell()
        except (OSError, ValueError):
            position = 0
        meter.closed(file, position)


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    total = 0
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:  # deleted in the meantime; the reader reports it
                continue
    return total
