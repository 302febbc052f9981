"""The posts of one segment in SQLite: found by number or id, filtered by language and tag."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.collections.jsonl import from_json, to_json
from mathsetu.errors import InputError
from mathsetu.records import Post

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCHEMA = """
CREATE TABLE posts (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    language TEXT NOT NULL,
    collection TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE TABLE tags (tag TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (tag, number))
WITHOUT ROWID;
"""
_BATCH = 2_000


def write_store(path: Path, posts: Iterable[Post], collection: str) -> int:
    """Write posts into a new file and return how many; two posts with one id are refused."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        # The file appears in the library only when it is whole, so no journal is needed.
        connection.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {_SCHEMA}"
        )
        count = 0
        for post in posts:
            record = json.dumps(to_json(post), ensure_ascii=False, separators=(",", ":"))
            row = (
                count,
                post.id,
                post.language,
                post.collection or collection,
                post.parent_id,
                record,
            )
            try:
                connection.execute("INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?)", row)
            except sqlite3.IntegrityError:
                raise InputError(f"two posts have the id {post.id!r}; ids must differ") from None
            except UnicodeEncodeError:
                raise InputError(
                    f"post {post.id!r} contains an invalid character (lone surrogate)"
                ) from None
            tags = ((tag, count) for tag in sorted(set(post.tags)))
            connection.executemany("INSERT INTO tags VALUES (?, ?)", tags)
            count += 1
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise InputError(f"{path}: cannot be written ({error})") from error
    finally:
        connection.close()
    return count


class Store:
    """The posts of one segment, opened for reading."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Several threads of a server may read, one after the other; nobody writes.
        self._lock = Lock()
        try:
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            row = self._connection.execute("SELECT count(*) FROM posts").fetchone()
            self.count = int(row[0])
        except sqlite3.Error as error:
            raise InputError(f"{path}: is damaged ({error}); build the library again") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def posts(self) -> Iterator[Post]:
        """All posts in order, each answer with the title, tags and text of its question."""
        rows = self._connection.execute(
            "SELECT p.record, q.record FROM posts p LEFT JOIN posts q "
            "ON p.parent_id != '' AND q.id = p.parent_id ORDER BY p.number"
        )
        for record, parent in rows:
            post = _post(record)
            yield beside(post, _post(parent)) if parent else post

    def by_number(self, numbers: Sequence[int]) -> dict[int, Post]:
        """The posts with these numbers."""
        found: dict[int, Post] = {}
        for start in range(0, len(numbers), _BATCH):
            batch = list(numbers[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            query = f"SELECT number, record FROM posts WHERE number IN ({marks})"  # noqa: S608
            for number, record in self._rows(query, batch):
                found[number] = _post(record)
        return found

    def number_of(self, post_id: str) -> int | None:
        """The number of a post."""
        rows = self._rows("SELECT number FROM posts WHERE id = ?", (post_id,))
        return int(rows[0][0]) if rows else None

    def find(self, post_id: str) -> Post | None:
        """The post with an id, if it is here."""
        number = self.number_of(post_id)
        return None if number is None else self.by_number([number])[number]

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts."""
        found: dict[int, str] = {}
        for start in range(0, len(numbers), _BATCH):
            batch = list(numbers[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            query = f"SELECT number, id FROM posts WHERE number IN ({marks})"  # noqa: S608
            found.update(self._rows(query, batch))
        return found

    def languages(self, removed: Set[int] = frozenset()) -> dict[str, int]:
        """How many posts there are of each language, those that were removed not counted."""
        rows = self._rows("SELECT number, language FROM posts")
        return Counter(language for number, language in rows if number not in removed)

    def tags(self, removed: Set[int] = frozenset()) -> dict[str, int]:
        """How many posts have each tag, those that were removed not counted."""
        rows = self._rows("SELECT number, tag FROM tags")
        return Counter(tag for number, tag in rows if number not in removed)

    def allowed(
        self, language: str = "", tags: Sequence[str] = (), collection: str = ""
    ) -> NDArray[np.bool_]:
        """Which posts pass a filter; of several tags, a post needs all."""
        allowed = np.ones(self.count, dtype=np.bool_)
        for column, value in (("language", language), ("collection", collection)):
            if value:
                query = f"SELECT number FROM posts WHERE {column} = ?"  # noqa: S608
                allowed &= self._mask(query, value)
        for tag in tags:
            allowed &= self._mask("SELECT number FROM tags WHERE tag = ?", tag)
        return allowed

    def _mask(self, query: str, value: str) -> NDArray[np.bool_]:
        mask = np.zeros(self.count, dtype=np.bool_)
        mask[[row[0] for row in self._rows(query, (value,))]] = True
        return mask

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(query, values).fetchall()
        except UnicodeEncodeError:
            return []  # a lone surrogate stands in no post


def _post(record: str) -> Post:
    return from_json(json.loads(record), Post)


def beside(post: Post, question: Post) -> Post:
    """An answer as it is searched: with what its question says."""
    return replace(
        post,
        title=post.title or question.title,
        tags=post.tags or question.tags,
        question=post.question or question.body,
    )
