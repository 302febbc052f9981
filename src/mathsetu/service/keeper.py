"""A library that stays open for many threads while it is rebuilt."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock

from mathsetu.errors import MathSetuError
from mathsetu.library import Library
from mathsetu.library.manifest import read_manifest
from mathsetu.records import Post

_log = logging.getLogger("mathsetu.service")
# Frequent tags that a door may offer as filters.
_TAGS = 50
# Posts that are kept in memory as they were read.
_REMEMBERED = 1_000


@dataclass
class Opened:
    """A library and how many requests are using it just now."""

    library: Library
    users: int = 0
    is_old: bool = False
    tags: dict[str, int] = field(init=False)
    post: Callable[[str], Post] = field(init=False)

    def __post_init__(self) -> None:
        self.tags = self.library.tags(_TAGS)
        # Reading a post takes longer than finding it, and good posts are found again and again.
        self.post = lru_cache(_REMEMBERED)(self.library.post)


class Keeper:
    """Keeps the library of a folder open.

    When it was rebuilt, `refresh` opens the new one; requests under way end with the old one,
    which is closed after the last of them.
    """

    def __init__(self, folder: Path) -> None:
        self.opened = Opened(Library(folder))
        self._folder = folder
        self._lock = Lock()
        self._opening = Lock()

    def close(self) -> None:
        """Close the library when the last request is done."""
        self._retire(self.opened)

    def refresh(self) -> bool:
        """Open the library anew if it was rebuilt or changed; whether that was so.

        A library that cannot be opened is reported, and the old one goes on answering.
        """
        with self._opening:
            try:
                if read_manifest(self._folder) == self.opened.library.manifest:
                    return False
                fresh = Opened(Library(self._folder))
            except MathSetuError as error:
                _log.warning("the library was changed but cannot be opened: %s", error)
                return False
            with self._lock:
                old, self.opened = self.opened, fresh
        self._retire(old)
        _log.info("the library was opened anew: %d posts", len(fresh.library))
        return True

    @contextmanager
    def using(self) -> Iterator[Opened]:
        """The library as it is now, kept open until the request is done."""
        with self._lock:
            opened = self.opened
            opened.users += 1
        try:
            yield opened
        finally:
            with self._lock:
                opened.users -= 1
                is_over = opened.is_old and not opened.users
            if is_over:
                opened.library.close()

    def _retire(self, opened: Opened) -> None:
        with self._lock:
            opened.is_old = True
            is_idle = not opened.users
        if is_idle:
            opened.library.close()
