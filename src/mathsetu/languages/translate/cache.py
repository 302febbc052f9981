"""A cache of translations in one SQLite file, shared by any number of processes.

The cache must never prevent a translation: an unusable file gives a warning, a corrupt file is
renamed, and the translation continues.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

_Result = TypeVar("_Result")

# Maximum wait for another process, in seconds.
_MAX_WAIT = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS translations (
    backend TEXT, model TEXT, source TEXT, target TEXT, text TEXT, translation TEXT NOT NULL,
    PRIMARY KEY (backend, model, source, target, text)
) WITHOUT ROWID
"""


def cache_folder() -> Path:
    """Return the cache folder of the platform; ``XDG_CACHE_HOME`` overrides it.

    >>> cache_folder().name
    'mathsetu'
    """
    chosen = os.environ.get("XDG_CACHE_HOME")
    if chosen:
        base = Path(chosen)
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "mathsetu"


def model_stamp(model: str) -> str:
    """Return the name of a model; for a folder, with its state, since it may be trained again.

    >>> model_stamp("facebook/nllb-200-distilled-600M")
    'facebook/nllb-200-distilled-600M'
    """
    folder = Path(model)
    if not folder.is_dir():
        return model
    states = [file.stat() for file in folder.iterdir() if file.is_file()]
    newest = max((state.st_mtime_ns for state in states), default=0)
    return f"{folder.resolve()} {newest} {sum(state.st_size for state in states)}"


@dataclass(frozen=True, slots=True)
class Direction:
    """The key of a cached translation without the text."""

    backend: str
    model: str
    source: str
    target: str

    def key(self, text: str) -> tuple[str, str, str, str, str]:
        """Return the full key of a text."""
        return (self.backend, self.model, self.source, self.target, text)


class Cache:
    """Translations by backend, model, direction and text.

    Each call reopens the file, so that threads and forked processes can share one cache.

    >>> from tempfile import mkdtemp
    >>> cache = Cache(Path(mkdtemp()) / "translations.sqlite")
    >>> direction = Direction("nllb", "small", "en", "hi")
    >>> cache.remember(direction, {"integral": "समाकल"})
    >>> cache.recall(direction, ["integral", "limit"])
    {'integral': 'समाकल'}
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else cache_folder() / "translations.sqlite"

    def recall(self, direction: Direction, texts: Iterable[str]) -> dict[str, str]:
        """Return the cached translations of texts."""

        def read(connection: sqlite3.Connection) -> dict[str, str]:
            known: dict[str, str] = {}
            for text in texts:
                row = connection.execute(
                    "SELECT translation FROM translations WHERE backend = ? AND model = ? "
                    "AND source = ? AND target = ? AND text = ?",
                    direction.key(text),
                ).fetchone()
                if row is not None:
                    known[text] = row[0]
            return known

        return self._run(read, {})

    def remember(self, direction: Direction, translations: Mapping[str, str]) -> None:
        """Store translations; a new translation replaces an earlier one of the same text."""

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO translations VALUES (?, ?, ?, ?, ?, ?)",
                    [(*direction.key(text), result) for text, result in translations.items()],
                )

        self._run(write, None)

    def _run(self, work: Callable[[sqlite3.Connection], _Result], otherwise: _Result) -> _Result:
        patient_until = monotonic() + _MAX_WAIT
        was_broken = False
        while True:
            try:
                with closing(self._open()) as connection:
                    return work(connection)
            except (sqlite3.OperationalError, OSError) as problem:
                if not _is_busy(problem) or monotonic() > patient_until:
                    _warn(f"{self.path}: the translation cache is not used ({problem})")
                    return otherwise
                sleep(0.02)
            except sqlite3.DatabaseError as problem:
                if was_broken:
                    return otherwise
                self._set_aside(problem)
                was_broken = True

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_MAX_WAIT)
        try:
            # In this mode, readers and a writer do not block each other.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self, problem: Exception) -> None:
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        aside = self.path.with_name(f"{self.path.name}.broken-{moment}")
        with suppress(FileNotFoundError):  # another process has already renamed it
            self.path.replace(aside)
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        _warn(f"{self.path}: the translation cache is corrupt ({problem}); renamed to {aside.name}")


def _is_busy(problem: Exception) -> bool:
    """Whether the file is locked; SQLite itself does not wait while the journal mode changes."""
    code: int = getattr(problem, "sqlite_errorcode", 0) & 0xFF  # without the extended part
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=5)
