"""The posts of one segment in SQLite: read by number or id, and filtered.

Each row has a checksum that is verified whenever the row is read. Queries over all rows (which
posts have a tag, that no post has an id) first verify the checksums of the whole file.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

import numpy as np

from mathsetu.collections.jsonl import from_json, to_json
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake.marked_text import MarkedText
from mathsetu.intake.posts import LazyPost, PostFacts, placed_texts, read_post, written_texts
from mathsetu.limits import LONGEST_NAME
from mathsetu.plain_files import is_plain_file
from mathsetu.records import Post, archives_of, source_file
from mathsetu.retrieval.mapped import MappedBytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCHEMA = """
CREATE TABLE posts (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    language TEXT NOT NULL,
    collection TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    record TEXT NOT NULL,
    spans TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX answers ON posts (parent_id) WHERE parent_id != '';
CREATE TABLE tags (tag TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (tag, number))
WITHOUT ROWID;
"""
# Older stores do not have this table; the versions of their posts cannot be looked up.
_THREADS = """
CREATE TABLE threads (thread TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (thread, number))
WITHOUT ROWID;
"""
_BATCH = 2_000
# Bytes of the file that SQLite may map into memory: without mapping, the system call for each page
# takes longer than reading it.
_MAPPED = 1 << 40
#: The name of the file with a segment's posts.
STORE = "posts.sqlite"
_NAMES = ("number", "id", "language", "collection", "parent_id", "record", "spans", "checksum")
_COLUMNS = ", ".join(_NAMES)

#: Finds a question by its id in any segment.
Questions = Callable[[str], PostFacts | None]


@dataclass(frozen=True, slots=True)
class Row:
    """A post as a row of the store."""

    id: str
    language: str
    collection: str
    parent_id: str
    record: str
    spans: str
    tags: tuple[str, ...] = ()
    thread_id: str = ""
    file: str = ""
    kind: str = ""

    @property
    def threads(self) -> tuple[str, ...]:
        """The names of the groups that the post belongs to: its thread, file and archives.

        Only the thread makes posts versions of one another.
        """
        archives = archives_of(self.file or self.thread_id)
        return tuple(dict.fromkeys(filter(None, (self.thread_id, self.file, *archives))))

    @property
    def values(self) -> tuple[str, ...]:
        """The values that the checksum covers."""
        return self.id, self.language, self.collection, self.parent_id, self.record, self.spans


class Heading(NamedTuple):
    """The columns and fields of a post that ranking needs, read without the whole post."""

    language: str
    thread_id: str
    parent_id: str = ""
    kind: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether the post answers another one."""
        return bool(self.parent_id) or self.kind == "answer"


@dataclass(frozen=True)
class Stored:
    """A post and its question as texts, which are fast to send between processes."""

    language: str
    record: str
    spans: str
    asked_language: str = ""
    asked_record: str = ""
    asked_spans: str = ""

    @classmethod
    def of(cls, post: Post) -> Stored:
        """A post as read from a store, without its question."""
        row = to_row(read_post(post), "")
        return cls(row.language, row.record, row.spans)

    def facts(self) -> PostFacts:
        """The facts of the post; an answer is completed from its question."""
        facts = facts_of(self.language, self.record, self.spans)
        if not self.asked_record:
            return facts
        return facts.with_question(
            facts_of(self.asked_language, self.asked_record, self.asked_spans)
        )


def to_row(facts: PostFacts, collection: str) -> Row:
    """The row of a post; ``collection`` is used if the post does not name one."""
    post, known = facts.stored()
    # The language has its own column.
    record = to_json(replace(post, language=""))
    return Row(
        post.id,
        post.language,
        post.collection or collection,
        post.parent_id,
        json.dumps(record, ensure_ascii=False, separators=(",", ":")),
        json.dumps(known, ensure_ascii=False, separators=(",", ":")),
        post.tags,
        post.thread_id,
        source_file(post.url) or source_file(post.id),
        post.kind,
    )


def write_store(path: Path, rows: Iterable[Row]) -> int:
    """Write posts into a new file and return their number; refuse duplicate ids."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        # The file becomes part of the library only when it is complete, so no journal is needed.
        connection.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {_SCHEMA}{_THREADS}"
        )
        count = 0
        for row in rows:
            _check_names(row)
            try:
                marks = ", ".join("?" * len(_NAMES))
                values = (count, *row.values, _checksum(row.values))
                connection.execute(f"INSERT INTO posts VALUES ({marks})", values)  # noqa: S608
            except sqlite3.IntegrityError:
                raise InputError(f"two posts have the id {row.id!r}; ids must differ") from None
            except UnicodeEncodeError:
                raise InputError(
                    f"post {row.id!r} contains an invalid character (lone surrogate)"
                ) from None
            tags = ((tag, count) for tag in sorted(set(row.tags)))
            connection.executemany("INSERT INTO tags VALUES (?, ?)", tags)
            threads = ((thread, count) for thread in row.threads)
            connection.executemany("INSERT INTO threads VALUES (?, ?)", threads)
            count += 1
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise InputError(f"{path}: cannot be written ({error})") from error
    finally:
        connection.close()
    return count


def _check_names(row: Row) -> None:
    """Refuse ids, collections and tags that are too long for the interfaces to accept."""
    names = [("the id", row.id), ("the collection", row.collection)]
    for what, name in (*names, *(("a tag", tag) for tag in row.tags)):
        if len(name) > LONGEST_NAME:
            raise InputError(
                f"post {row.id[:40]!r}: {what} has {len(name):,} characters; at most "
                f"{LONGEST_NAME:,} are allowed"
            )


def set_languages(path: Path, languages: Mapping[int, str]) -> None:
    """Set the languages of posts, by number, in a store that is not open for reading."""
    if not languages:
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")
        for number, language in languages.items():
            query = f"SELECT {_COLUMNS} FROM posts WHERE number = ?"  # noqa: S608
            _, post_id, _, *rest, _ = connection.execute(query, (number,)).fetchone()
            checksum = _checksum((post_id, language, *rest))
            connection.execute(
                "UPDATE posts SET language = ?, checksum = ? WHERE number = ?",
                (language, checksum, number),
            )
        connection.execute("COMMIT")


class Store:
    """The posts of one segment, opened for reading."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Threads of a server take turns reading; the file is never written.
        self._lock = Lock()
        self._facets: dict[str, tuple[list[str], NDArray[np.int32], NDArray[np.int64]]] = {}
        if not is_plain_file(path):
            raise DamagedLibrary(path, "is missing")
        # Mapped at once, because a rebuild may remove the file while it is open.
        self._bytes = MappedBytes(path)
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        # After a reload, running searches still use the old store; it closes after the last one.
        finalize(self, self._connection.close).atexit = False
        try:
            self.count = self._opened()
        except BaseException:
            self.close()
            raise

    def _opened(self) -> int:
        """Check that the file is a store; returns the number of posts."""
        path = self._path
        try:
            # An untrusted file may contain views and triggers.
            self._connection.executescript("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
            self._connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
            schema = _schema(self._connection)
            if schema not in (_own_schema(_SCHEMA), _own_schema(_SCHEMA + _THREADS)):
                raise DamagedLibrary(path, "does not have the expected tables")
            # Counting would read the whole file; a missing post is noticed when it is read.
            query = "SELECT (SELECT min(number) FROM posts), (SELECT max(number) FROM posts)"
            first, last = self._connection.execute(query).fetchone()
            self._has_threads = any(name == "threads" for _, name, *_ in schema)
        except sqlite3.Error as error:
            raise DamagedLibrary(path, f"is damaged ({error})") from error
        if first not in (0, None):
            raise DamagedLibrary(path, "is damaged (its posts are not numbered from 0)")
        return 0 if last is None else int(last) + 1

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def all(self, questions: Questions = lambda post_id: None) -> Iterator[Stored]:
        """All posts in order, answers with their questions.

        Args:
            questions: Finds questions that are not in this segment.
        """
        rows = self._connection.execute(
            "SELECT p.parent_id, p.language, p.record, p.spans, q.language, q.record, q.spans "
            "FROM posts p LEFT JOIN posts q "
            "ON p.parent_id != '' AND q.id = p.parent_id ORDER BY p.number"
        )
        for parent_id, *texts in rows:
            own, asked = texts[:3], texts[3:]
            found = questions(parent_id) if parent_id and asked[0] is None else None
            if found is not None:
                row = to_row(found, "")
                asked = [row.language, row.record, row.spans]
            yield Stored(*own, *(asked if asked[0] is not None else ()))

    def by_number(self, numbers: Sequence[int]) -> dict[int, PostFacts]:
        """The posts with these numbers."""
        return {number: self._read(row) for number, row in self._by_number(numbers).items()}

    def lazy_posts(self, numbers: Sequence[int]) -> dict[int, LazyPost]:
        """The posts with these numbers as they were written; parsed lazily, so this is fast."""
        return {
            number: LazyPost(
                row[5],
                partial(self._post, row),
                partial(self._written, row),
                partial(self._texts, row),
            )
            for number, row in self._by_number(numbers).items()
        }

    def rows(self, numbers: Sequence[int]) -> Iterator[Row]:
        """The rows of posts, with their tags."""
        for start in range(0, len(numbers), _BATCH):
            found = self._by_number(numbers[start : start + _BATCH])
            for number in numbers[start : start + _BATCH]:
                _, post_id, language, collection, parent_id, record, spans, _ = found[number]
                named = self._names_in(record)
                yield Row(post_id, language, collection, parent_id, record, spans, *named)

    def _names_in(self, record: str) -> tuple[tuple[str, ...], str, str, str]:
        """The tags, the thread, the file and the kind of a post."""
        try:
            post = json.loads(record)
            tags = tuple(map(str, post.get("tags", ())))
            file = source_file(str(post.get("url", ""))) or source_file(str(post["id"]))
            return tags, str(post.get("thread_id", "")), file, str(post.get("kind", ""))
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise DamagedLibrary(self._path, f"has a damaged post ({error})") from error

    def number_of(self, post_id: str) -> int | None:
        """The number of a post; None if it is not in the store."""
        rows = self._rows("SELECT number FROM posts WHERE id = ?", (post_id,))
        return int(rows[0][0]) if rows else None

    def collection_of(self, number: int) -> str:
        """The collection of a post."""
        return str(self._by_number([number])[number][3])

    def check(self) -> None:
        """Verify the whole file: a post may be missing only because the file is damaged."""
        self._bytes.check()

    def answers_to(self, post_id: str) -> list[tuple[int, Post]]:
        """The answers to a question, with their numbers; their ``collection`` is set."""
        self._bytes.check()
        rows = self._rows("SELECT number FROM posts WHERE parent_id = ?", (post_id,))
        found = self._by_number([row[0] for row in rows])
        return [(n, replace(self._read(row).post, collection=row[3])) for n, row in found.items()]

    def threads(self, names: Sequence[str]) -> Iterator[tuple[str, int, str]]:
        """The posts of threads or files: the name, and the number and language of the post."""
        for start in range(0, len(names) if self._has_threads else 0, _BATCH):
            batch = list(names[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            query = (
                "SELECT t.thread, t.number, p.language FROM threads t "  # noqa: S608
                f"JOIN posts p ON p.number = t.number WHERE t.thread IN ({marks})"
            )
            rows = self._rows(query, batch)
            self._check_numbers(row[1] for row in rows)
            yield from ((str(thread), number, str(code)) for thread, number, code in rows)

    def threads_below(self, prefix: str) -> list[str]:
        """The names of threads and files that start with a prefix, also those of removed posts."""
        # A range query on the primary key, so only matching rows are read.
        query = "SELECT DISTINCT thread FROM threads WHERE thread >= ? AND thread < ?"
        rows = self._rows(query, (prefix, f"{prefix}\U0010ffff")) if self._has_threads else ()
        return [str(thread) for (thread,) in rows]

    def answers_without_language(self) -> dict[int, str]:
        """The numbers of answers without a language, with the ids of their questions."""
        query = "SELECT number, parent_id FROM posts WHERE language = '' AND parent_id != ''"
        return dict(self._rows(query))

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts."""
        return {number: row[1] for number, row in self._by_number(numbers).items()}

    def languages(self, removed: Set[int] = frozenset()) -> dict[str, int]:
        """The number of posts in each language, without removed posts."""
        self._bytes.check()
        rows = self._rows("SELECT number, language FROM posts")
        return Counter(str(language) for number, language in rows if number not in removed)

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        """The `Heading` of each post, by number.

        Nothing else is read, and checksums are not verified: damage could change only the order of
        the hits.
        """
        # The kind of a post matters only within a thread.
        thread, kind = (
            f"coalesce(json_extract(record, '$.{name}'), '')" if self._any_threads else "''"
            for name in ("thread_id", "kind")
        )
        columns = f"number, language, {thread}, parent_id, {kind}"
        found: dict[int, Heading] = {}
        for start in range(0, len(numbers), _BATCH):
            batch = list(numbers[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            rows = self._rows(
                f"SELECT {columns} FROM posts WHERE number IN ({marks})",  # noqa: S608
                batch,
            )
            found |= ((row[0], Heading(*map(str, row[1:]))) for row in rows)
        if len(found) != len(set(numbers)):
            raise DamagedLibrary(self._path, "lacks posts that it should hold")
        return found

    @cached_property
    def _any_threads(self) -> bool:
        return self._has_threads and bool(self._rows("SELECT 1 FROM threads LIMIT 1"))

    def tags(self, removed: Set[int] = frozenset()) -> dict[str, int]:
        """The number of posts with each tag, without removed posts."""
        self._bytes.check()
        rows = self._rows("SELECT number, tag FROM tags")
        return Counter(str(tag) for number, tag in rows if number not in removed)

    def titles(self) -> Iterator[tuple[int, str]]:
        """The numbers and titles of posts with a title.

        They are read in batches, so that other threads do not wait long. Checksums are not
        verified: damage could change only a suggestion.
        """
        query = (
            "SELECT number, json_extract(record, '$.title') FROM posts WHERE number BETWEEN ? AND ?"
        )
        for start in range(0, self.count, _BATCH):
            rows = self._rows(query, (start, start + _BATCH - 1))
            yield from (
                (number, title) for number, title in rows if isinstance(title, str) and title
            )

    def allowed(self, conditions: Iterable[tuple[str, tuple[str, ...], bool]]) -> NDArray[np.bool_]:
        """The mask of posts that meet all conditions (field, values, whether one is wanted)."""
        self._bytes.check()
        allowed = np.ones(self.count, dtype=np.bool_)
        for field, values, is_wanted in conditions:
            mask = self._mask(field, values)
            allowed &= mask if is_wanted else ~mask
        return allowed

    def _mask(self, field: str, values: Iterable[str]) -> NDArray[np.bool_]:
        """The mask of posts that have one of the values."""
        mask = np.zeros(self.count, dtype=np.bool_)
        table = "tags" if field == "tag" else "posts"
        for value in values:
            query = f"SELECT number FROM {table} WHERE {field} = ?"  # noqa: S608
            numbers = [row[0] for row in self._rows(query, (value,))]
            self._check_numbers(numbers)
            mask[numbers] = True
        return mask

    def _check_numbers(self, numbers: Iterable[object]) -> None:
        if not all(isinstance(number, int) and 0 <= number < self.count for number in numbers):
            raise DamagedLibrary(self._path, "names posts that are not there")

    def facet(self, field: str, numbers: Sequence[int]) -> dict[str, int]:
        """How many of the given posts have each language, tag or collection."""
        names, places, first = self._facet(field)
        wanted = np.asarray(numbers, dtype=np.int64)
        begins, counts = first[wanted], first[wanted + 1] - first[wanted]
        # The positions of the values of the first post, of the second, and so on.
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        found = np.bincount(places[np.repeat(begins, counts) + steps], minlength=len(names))
        return {names[place]: int(found[place]) for place in np.flatnonzero(found).tolist()}

    def _facet(self, field: str) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
        """The distinct values of a field, the value indices of all posts, and each post's offset.

        There is no index from posts to tags, and reading the posts found would take longer than the
        rest of the search. So this table is read once; it takes a few bytes per post.
        """
        if field not in self._facets:
            self._bytes.check()
            table = "tags" if field == "tag" else "posts"
            rows = self._rows(f"SELECT number, {field} FROM {table} ORDER BY number")  # noqa: S608
            numbers = [row[0] for row in rows]
            self._check_numbers(numbers)
            known: dict[str, int] = {}
            places = [known.setdefault(str(row[1]), len(known)) for row in rows]
            counts = np.bincount(np.array(numbers, dtype=np.int64), minlength=self.count)
            first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
            self._facets[field] = (list(known), np.array(places, dtype=np.int32), first)
        return self._facets[field]

    def _by_number(self, numbers: Sequence[int]) -> dict[int, tuple[Any, ...]]:
        """Complete rows by number; their checksums are verified."""
        found: dict[int, tuple[Any, ...]] = {}
        for start in range(0, len(numbers), _BATCH):
            batch = list(numbers[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            query = f"SELECT {_COLUMNS} FROM posts WHERE number IN ({marks})"  # noqa: S608
            for row in self._rows(query, batch):
                own = row[1:-1]
                if not all(isinstance(value, str) for value in own) or _checksum(own) != row[-1]:
                    raise DamagedLibrary(self._path, f"has a damaged post (number {row[0]})")
                found[row[0]] = row
        if len(found) != len(set(numbers)):
            raise DamagedLibrary(self._path, "lacks posts that it should hold")
        return found

    def _post(self, row: tuple[Any, ...]) -> Post:
        with self._reading():
            return _post(row[2], row[5])

    def _written(self, row: tuple[Any, ...]) -> dict[str, str]:
        # Decoding a post's list of formulas takes ten times as long as its texts.
        with self._reading():
            record = json.loads(row[5])
            record.pop("formulas", None)
            return written_texts(from_json(record, Post))

    def _texts(self, row: tuple[Any, ...], written: Mapping[str, str]) -> dict[str, MarkedText]:
        with self._reading():
            return placed_texts(written, json.loads(row[6]))

    def _read(self, row: tuple[Any, ...]) -> PostFacts:
        with self._reading():
            return facts_of(row[2], row[5], row[6])

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise `DamagedLibrary` if the decoding of a row fails."""
        try:
            yield
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise DamagedLibrary(self._path, f"has a damaged post ({error})") from error

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(query, values).fetchall()
        except UnicodeEncodeError:
            return []  # no post contains a lone surrogate
        except sqlite3.Error as error:
            raise DamagedLibrary(self._path, f"is damaged ({error})") from error


def _checksum(values: Sequence[str]) -> int:
    return zlib.crc32("\0".join(values).encode())


def _schema(connection: sqlite3.Connection) -> list[Any]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
    return connection.execute(query).fetchall()


@cache
def _own_schema(script: str) -> list[Any]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    schema = _schema(connection)
    connection.close()
    return schema


def facts_of(language: str, record: str, spans: str) -> PostFacts:
    """The facts in a row; raises ValueError, TypeError or LookupError if it is invalid."""
    return PostFacts.restored(_post(language, record), json.loads(spans))


def _post(language: str, record: str) -> Post:
    return from_json(json.loads(record) | {"language": language}, Post)
