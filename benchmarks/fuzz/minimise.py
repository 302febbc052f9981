"""Minimises an input that shows a fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks.fuzz.mutate import as_bytes, as_text

Part = TypeVar("Part")


def minimise(data: bytes, shows: Callable[[bytes], bool], seconds: float) -> bytes:
    """Return the smallest input found in the time given for which ``shows`` is true."""
    end = time.monotonic() + seconds
    text = as_text(data)
    if as_bytes(text) != data:  # not UTF-8: byte by byte
        return _smaller(
            [data[n : n + 1] for n in range(len(data))], lambda parts: b"".join(parts), shows, end
        )
    lines = text.splitlines(keepends=True)
    data = _smaller(lines, lambda parts: as_bytes("".join(parts)), shows, end)
    return _smaller(list(as_text(data)), lambda parts: as_bytes("".join(parts)), shows, end)


def _smaller(
    parts: Sequence[Part],
    join: Callable[[Sequence[Part]], bytes],
    shows: Callable[[bytes], bool],
    end: float,
) -> bytes:
    """Delta debugging: remove halves, then quarters, then smaller pieces."""
    kept = list(parts)
    size = max(len(kept) // 2, 1)
    while kept:
        changed = False
        start = 0
        while start < len(kept):
            if time.monotonic() > end:
                return join(kept)
            without = kept[:start] + kept[start + size :]
            if shows(join(without)):
                kept, changed = without, True
            else:
                start += size
        if size == 1 and not changed:
            break
        size = max(size // 2, 1)
    return join(kept)
