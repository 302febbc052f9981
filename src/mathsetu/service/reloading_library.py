"""A library shared by many threads, reloaded when its folder is rebuilt."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic

from mathsetu.library import Library
from mathsetu.library.manifest import check, read_manifest
from mathsetu.library.suggestions import Suggestions
from mathsetu.places import is_address
from mathsetu.service.answer_cache import AnswerCache
from mathsetu.service.watcher import ErrorLog

_log = logging.getLogger("mathsetu.service")
# Frequent tags that an interface may offer as filters.
_TAGS = 50


@dataclass
class OpenLibrary:
    """An open library, its cached answers, and the number of requests that are using it.

    Answers are not cached if the library may change while it is open.
    """

    library: Library
    answers: AnswerCache
    users: int = 0
    is_old: bool = False
    tags: dict[str, int] = field(init=False)
    posts: int = field(init=False)
    languages: dict[str, int] = field(init=False)
    suggestions: Suggestions = field(init=False)

    def __post_init__(self) -> None:
        # Computed once here, because a request to a cluster can be slow.
        self._version = self.library.version
        self.tags = self.library.tags(_TAGS)
        self.suggestions = Suggestions(self.library)
        self.posts, self.languages = len(self.library), dict(self.library.languages)

    def look(self) -> None:
        """Count posts and tags again if the library has changed while it is open."""
        if self.library.version != self._version:
            self.__post_init__()


class ReloadingLibrary:
    """Keeps a library open, and replaces it after a rebuild.

    If the folder was rebuilt, `refresh` opens the new library. Requests in progress finish with the
    old one, which is closed after the last of them. Before any request uses the new library,
    ``trial`` is called with it: an error there would occur in every request. A library on a cluster
    needs no reloading: each search uses the newest version.

    Attributes:
        is_current: Whether the last check of the folder succeeded.
    """

    def __init__(
        self, place: str | Path, trial: Callable[[Library], None] = lambda library: None
    ) -> None:
        self._is_remote = is_address(place)
        self._folder = Path(place)
        self._trial = trial
        # Read before opening, so that the next check finds changes made in between.
        self._identity = None if self._is_remote else _identity(self._folder)
        self.opened = OpenLibrary(
            Library(place), AnswerCache(0) if self._is_remote else AnswerCache()
        )
        self.is_current = True
        self._looked = monotonic()
        self._has_closed = False
        self._complaints = ErrorLog("the library was changed but cannot be opened")
        self._lock = Lock()
        self._opening = Lock()

    @property
    def seconds_since_look(self) -> float:
        """The seconds since the last successful check of the folder."""
        return monotonic() - self._looked

    def close(self) -> None:
        """Close the library when the last request is done."""
        self._retire(self.opened)

    def refresh(self) -> bool:
        """Open the library again if it was rebuilt or changed; return whether it was.

        If the new library cannot be opened, the error is logged, the old one stays in use, and
        `is_current` is false.
        """
        with self._opening:
            self._collect_closed()
            try:
                fresh = self._changed()
            except Exception as error:
                self._complaints.report(error)
                self.is_current = False
                return False
            self._complaints.clear()
            self.is_current, self._looked = True, monotonic()
            if fresh is None:
                return False
            with self._lock:
                old, self.opened = self.opened, fresh
        self._retire(old)
        _log.info("the library was reloaded: %d posts", len(fresh.library))
        return True

    def _collect_closed(self) -> None:
        """Free the files and the memory of libraries that were closed since the last check.

        Their parts refer to each other, so Python would keep them until its next full garbage
        collection, perhaps after many more rebuilds.
        """
        if self._has_closed:
            self._has_closed = False
            gc.collect()

    def _changed(self) -> OpenLibrary | None:
        """Open and try the library of the folder; return None if it is already open."""
        if self._is_remote:
            self.opened.look()
            return None
        identity = _identity(self._folder)
        # A library rebuilt from the same posts has the same manifest, but other files.
        if identity == self._identity and (
            read_manifest(self._folder) == self.opened.library.manifest
        ):
            return None
        library = Library(self._folder)
        try:
            # Check every byte: if one is wrong, the old library can stay in use.
            check(self._folder, library.manifest, thorough=True)
            fresh = OpenLibrary(library, AnswerCache())
            self._trial(library)
        except BaseException:
            library.close()
            raise
        self._identity = identity
        return fresh

    @contextmanager
    def using(self) -> Iterator[OpenLibrary]:
        """The current library, kept open until the request is done."""
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
                self._close(opened)

    def _retire(self, opened: OpenLibrary) -> None:
        with self._lock:
            opened.is_old = True
            is_idle = not opened.users
        if is_idle:
            self._close(opened)

    def _close(self, opened: OpenLibrary) -> None:
        opened.library.close()
        self._has_closed = True


def _identity(folder: Path) -> tuple[int, ...] | None:
    """The identity of the manifest's file; None if there is none."""
    try:
        stat = (folder / "manifest.json").stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size
