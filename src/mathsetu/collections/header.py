"""Maps the columns of a table to the fields of a post.

The user gives the mapping (``--field body=Content``), or it is guessed from common column names.
The rows of JSON may have different keys, so the keys of all rows are collected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mathsetu.collections.tables import plain_header
from mathsetu.errors import HeaderError, InputError

#: The fields of a post that a column may hold, with common names for them.
FIELDS: dict[str, tuple[str, ...]] = {
    "body": (
        "body", "text", "content", "contents", "answer", "solution", "postbody", "answertext",
        "answerbody", "abstract", "statement", "document", "passage", "markdown", "html",
        "description", "message", "response", "output", "completion", "note", "notes",
    ),
    "question": ("question", "problem", "prompt", "questionbody", "questiontext", "query", "input",
                 "exercise", "instruction"),
    "title": ("title", "heading", "subject", "name", "questiontitle", "posttitle"),
    "id": ("id", "postid", "docid", "documentid", "answerid", "uid", "uuid", "key", "searchid",
           "questionid", "uniqueid"),
    "tags": ("tags", "tag", "labels", "keywords", "categories", "category", "topics",
             "topic"),
    "language": ("language", "lang", "languagecode", "langcode"),
    "kind": ("kind", "posttype"),
    "thread_id": ("threadid", "thread"),
    "parent_id": ("parentid", "parent"),
    "url": ("url", "link", "uri", "href", "permalink"),
    "score": ("score", "votes", "upvotes"),
}  # fmt: skip
_COMMON = frozenset(spelling for spellings in FIELDS.values() for spelling in spellings)
# Limit of column names that are kept only for messages. If keys are data, each row has new ones.
_MAX_NAMES = 1_000
_SHOWN = 20
# Limit of spellings of one name (Title, title) that are read.
_MAX_SPELLINGS = 5

#: The columns that hold each field, in the order in which they are tried for each row.
Chosen = dict[str, tuple[str, ...]]


class Header:
    """The column names of a table, in order of their first appearance.

    Args:
        row: A row with all columns, or the first of several rows.
        given: The user's mapping of fields to columns.

    >>> header = Header({"id": 1, "text": "a"})
    >>> header.add({"id": 2, "body": "b", "by": "c"})
    >>> header.names
    ['id', 'text', 'body', 'by']
    >>> header.are_apart("body", ["text"]), header.are_apart("id", ["text"])
    (True, False)
    """

    def __init__(
        self, row: Mapping[str, Any] | None = None, given: Mapping[str, str] | None = None
    ) -> None:
        self._names: dict[str, None] = {}
        self._given = frozenset(map(plain_header, (given or {}).values()))
        self._spelled: dict[str, list[str]] = {}
        self._common: dict[str, str] = {}
        self._beside: dict[str, set[str]] = {}
        self._twice: set[str] = set()
        self.add(row or {})

    @property
    def names(self) -> list[str]:
        """All names; beyond a thousand, only those that may hold a field are kept."""
        return list(self._names)

    def add(self, row: Mapping[str, Any]) -> None:
        """Record the names in a row; a null value counts as missing."""
        for name in row:
            if name not in self._names:
                self._add_name(name)
        filled = [self._common[name] for name in row.keys() & self._common if row[name] is not None]
        present = set(filled)
        if len(present) < len(filled):
            self._twice.update(plain for plain in present if filled.count(plain) > 1)
        for plain in present:
            self._beside[plain] |= present

    def _add_name(self, name: str) -> None:
        plain = plain_header(name)
        if len(self._names) < _MAX_NAMES or plain in _COMMON or plain in self._given:
            self._names[name] = None
        spellings = self._spelled.setdefault(plain, []) if plain in _COMMON else None
        if spellings is not None and len(spellings) < _MAX_SPELLINGS:
            spellings.append(name)
            self._common[name] = plain
            self._beside.setdefault(plain, set())

    def spelled(self, plain: str) -> list[str]:
        """Return the columns with this plain name; only the first if a row has several."""
        found = self._spelled.get(plain, [])
        return found[:1] if plain in self._twice else found

    def are_apart(self, plain: str, others: Iterable[str]) -> bool:
        """Whether no row has both a column of this name and one of the others."""
        return self._beside[plain].isdisjoint(others)

    def found(self, column: str) -> str | None:
        """Return the table's spelling of a column that the user names; None if there is none."""
        if column in self._names:
            return column
        plain = plain_header(column)
        return next((name for name in self._names if plain_header(name) == plain), None)

    def __str__(self) -> str:
        return listed(self.names) or "nothing"


def listed(names: Sequence[str]) -> str:
    """Join names for a message; of a long list, only the first ones.

    >>> listed(["a", "b"]), listed(["a"] * 99).endswith("a, a …")
    ('a, b', True)
    """
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


def choose(header: Header, given: Mapping[str, str], path: str, line: int = 1) -> Chosen:
    """Choose the columns of each field; raise HeaderError if none can be the body.

    Several columns are guessed for one field only if no row has two of them: then they are
    different names for the same field.

    >>> header = Header(dict.fromkeys(["Frage", "Problem", "Solution", "Note"], ""))
    >>> choose(header, {"title": "Frage"}, "a.csv")
    {'title': ('Frage',), 'body': ('Solution',), 'question': ('Problem',)}
    >>> header = Header({"Text": "a"})
    >>> header.add({"body": "b"})
    >>> choose(header, {}, "a.jsonl")
    {'body': ('body', 'Text')}
    """
    chosen: Chosen = {}
    for field, column in given.items():
        if field not in FIELDS:
            raise InputError(f"--field {field}: not a field of a post ({', '.join(FIELDS)})")
        found = header.found(column)
        if found is None:
            raise HeaderError(path, line, f"no column {column!r} for {field}; there are: {header}")
        chosen[field] = (found,)
    taken = {column for columns in chosen.values() for column in columns}
    for field, spellings in FIELDS.items():
        if field in chosen:
            continue
        columns: list[str] = []
        used: list[str] = []
        for spelling in spellings:
            free = [name for name in header.spelled(spelling) if name not in taken]
            if free and header.are_apart(spelling, used):
                columns += free
                used.append(spelling)
        if columns:
            chosen[field] = tuple(columns)
    if "body" not in chosen:  # problems without solutions
        if "question" not in chosen:
            problem = f"no column for the body (use --field body=COLUMN); there are: {header}"
            raise HeaderError(path, line, problem)
        chosen["body"] = chosen.pop("question")
    return chosen
