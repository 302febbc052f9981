"""Our own JSON Lines: one record per line, lossless in both directions.

The first line may be a header, ``{"mathsetu": "posts", "version": 1}``; we always write it.
Keys are the names of the record's fields; fields with their default value may be omitted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from mathsetu.collections.files import read_lines, shown, writing
from mathsetu.collections.rows import REFUSE, BadRows, not_json
from mathsetu.collections.source_text import complete, noting_html
from mathsetu.errors import InputError, RowError
from mathsetu.limits import LONGEST_TEXT, MAX_DIGITS, MAX_FORMULAS
from mathsetu.records import Formula, Judgment, Post, Query

VERSION = 1
#: Remedy for a line with more text after a record.
OWN_LINE = "each record needs a line of its own"
# The message of Python's parser in that case.
_MORE_FOLLOWS = "Extra data"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# A longer number is too long for any field, and remains so when it is cut to this length.
_MAX_JSON_DIGITS = 100


class RepeatedKey(ValueError):
    """A JSON object has the same key more than once.

    Attributes:
        key: The key.
        problem: The problem and its remedy.
    """

    def __init__(self, key: str, count: int) -> None:
        self.key, self.problem = key, f"was given {count:,} times; give it once"
        super().__init__(f'"{key}" {self.problem}')


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object from its pairs; raise `RepeatedKey` if a key is repeated.

    >>> json.loads('{"id": "7", "body": "b", "id": "8"}', object_pairs_hook=object_of)
    Traceback (most recent call last):
    mathsetu.collections.jsonl.RepeatedKey: "id" was given 2 times; give it once
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        key, count = Counter(key for key, _ in pairs).most_common(1)[0]
        raise RepeatedKey(key, count)
    return value


Record = TypeVar("Record", Post, Query, Formula, Judgment)
# The allowed keys and the required keys of each kind of record.
_KEYS: dict[type, tuple[frozenset[str], list[str]]] = {
    kind: (
        frozenset(field.name for field in fields(kind)),
        [field.name for field in fields(kind) if field.default is MISSING],
    )
    for kind in (Post, Query, Formula, Judgment)
}


def read_posts(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    r"""Read posts; if a post has no key ``formulas``, they are extracted from its text.

    Texts are marked text and are kept unchanged, unless ``bad.form`` names another form.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "posts.jsonl"
    >>> _ = path.write_text('{"id": "7", "body": "Let $x>0$."}\n')
    >>> [post.formulas[0].latex for post in read_posts(path)]
    ['x>0']
    """
    bad.note_form_used()
    return noting_html(_posts(path, bad), shown(path), bad)


def _posts(path: str | Path, bad: BadRows) -> Iterator[Post]:
    for line, value, post in _read(path, "posts", Post, bad):
        try:
            post = complete(post, bad.form, has_formulas="formulas" in value)
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))
            continue
        if bad.accepts(post.id, shown(path), line, post.tags):
            yield post


def is_own(head: str, kind: type[Post | Query | Formula | Judgment]) -> bool:
    """Whether records with this beginning are in our format, not a table with other columns.

    >>> is_own('{"id": "7", "body": "b"}', Post), is_own('{"id": 7, "body": "b", "by": "c"}', Post)
    (True, False)
    """
    line, _, _ = head.lstrip().partition("\n")
    if '"mathsetu"' in line[:20]:
        return True
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return True  # the reader reports what is wrong
    known = {field.name for field in fields(kind)}
    return (
        isinstance(value, dict) and value.keys() <= known and isinstance(value.get("id", ""), str)
    )


def read_queries(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Query]:
    """Read queries (required: ``id`` and ``text``)."""
    return (query for _, _, query in _read(path, "queries", Query, bad))


def read_formulas(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Formula]:
    """Read formulas (required: ``id`` and ``latex``)."""
    return (formula for _, _, formula in _read(path, "formulas", Formula, bad))


def read_judgments(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Judgment]:
    """Read judgments (required: ``query_id``, ``id`` and ``grade``)."""
    return (judgment for _, _, judgment in _read(path, "judgments", Judgment, bad))


def write_posts(path: str | Path, posts: Iterable[Post]) -> None:
    """Write posts."""
    _write(path, "posts", posts)


def write_queries(path: str | Path, queries: Iterable[Query]) -> None:
    """Write queries."""
    _write(path, "queries", queries)


def write_formulas(path: str | Path, formulas: Iterable[Formula]) -> None:
    """Write formulas."""
    _write(path, "formulas", formulas)


def write_judgments(path: str | Path, judgments: Iterable[Judgment]) -> None:
    """Write judgments."""
    _write(path, "judgments", judgments)


def to_json(record: Post | Query | Formula | Judgment) -> dict[str, Any]:
    """Return a record as a dictionary, without the fields that have their default value.

    The formulas of a post are always included; without them, a reader would extract them again.

    >>> to_json(Post(id="7", body="no formula"))
    {'id': '7', 'body': 'no formula', 'formulas': []}
    """
    values: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name == "formulas" and (value or isinstance(record, Post)):
            values["formulas"] = [to_json(formula) for formula in value]
        elif value != field.default:
            values[field.name] = value
    return values


def from_json(value: object, kind: type[Record]) -> Record:
    """Build a record from a dictionary; raise ValueError if it is invalid.

    >>> from_json({"id": "7", "text": "prime numbers"}, Query).text
    'prime numbers'
    >>> from_json({"id": "7", "txt": "prime numbers"}, Judgment)
    Traceback (most recent call last):
    ValueError: "txt" is not a known key (known: grade, id, query_id)
    """
    if not isinstance(value, dict):
        raise ValueError(f"an object {{…}} is expected, not {_named(value)}")
    known, needed = _KEYS[kind]
    for key in value:
        if key not in known:
            raise ValueError(f'"{key}" is not a known key (known: {", ".join(sorted(known))})')
    for key in needed:
        if key not in value:
            listed = " and ".join(f'"{name}"' for name in needed)
            raise ValueError(f'"{key}" is missing (each line needs {listed})')
    return kind(**{key: _SHAPES.get(key, _string)(key, part) for key, part in value.items()})


def _read(
    path: str | Path, holds: str, kind: type[Record], bad: BadRows
) -> Iterator[tuple[int, dict[str, Any], Record]]:
    for number, line in read_lines(path, bad):
        if not line.strip():
            continue
        try:
            value = json.loads(
                line,
                object_pairs_hook=object_of,
                parse_constant=_refuse_constant,
                parse_int=_whole,
            )
            if number == 1 and isinstance(value, dict) and "mathsetu" in value:
                _check_header(value, holds, shown(path))
                continue
            record = from_json(value, kind)
            # A lone surrogate can only come from an escape, and no text is longer than its line.
            if _SURROGATE.search(line) or len(line) > LONGEST_TEXT:
                check_texts(value, holds)
            yield number, value, record
        except json.JSONDecodeError as error:
            problem = not_json(error.msg, f"character {error.pos + 1:,}")
            if error.msg == _MORE_FOLLOWS:
                problem += f"; {OWN_LINE}"
            bad.report(RowError(shown(path), number, problem))
        except RecursionError:
            bad.report(RowError(shown(path), number, "nested too deeply"))
        except ValueError as error:
            bad.report(RowError(shown(path), number, str(error)))


def check_texts(value: object, key: str) -> None:
    """Refuse texts that contain a lone surrogate or are too long for a post."""
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise ValueError(f'"{key}" is longer than {LONGEST_TEXT:,} characters')
        if not value.isascii() and _has_surrogate(value):
            raise ValueError(f'"{key}" contains an invalid character (lone surrogate)')
    elif isinstance(value, dict):
        for name, part in value.items():
            check_texts(part, name)
    elif isinstance(value, list):
        for part in value:
            check_texts(part, key)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _write(
    path: str | Path, holds: str, records: Iterable[Post | Query | Formula | Judgment]
) -> None:
    with writing(path) as file:
        file.write(json.dumps({"mathsetu": holds, "version": VERSION}) + "\n")
        for record in records:
            file.write(json.dumps(to_json(record), ensure_ascii=False) + "\n")


def _check_header(header: dict[str, Any], holds: str, path: str) -> None:
    if header["mathsetu"] != holds:
        raise InputError(f"{path}: holds {header['mathsetu']}, not {holds}")
    if header.get("version") != VERSION:
        version = header.get("version")
        raise InputError(
            f"{path}: has version {version!r} of the format; this program reads version {VERSION}"
        )


def _whole(digits: str) -> int:
    # Python refuses thousands of digits with a message that users would not understand.
    return int(digits[:_MAX_JSON_DIGITS])


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _named(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def _string(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f'"{key}" must be a text, not {_named(value)}')
    if not value and key in ("id", "query_id"):
        raise ValueError(f'"{key}" is empty')
    return value


def _integer(key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f'"{key}" must be an integer, not {_named(value)}')
    if abs(value) >= 10**MAX_DIGITS:
        raise ValueError(f'"{key}" has more than {MAX_DIGITS} digits')
    return value


def _integer_or_null(key: str, value: object) -> int | None:
    return None if value is None else _integer(key, value)


def _list(key: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f'"{key}" must be a list, not {_named(value)}')
    return value


def _strings(key: str, value: object) -> tuple[str, ...]:
    return tuple(_string(key, item) for item in _list(key, value))


def _formulas(key: str, value: object) -> tuple[Formula, ...]:
    items = _list(key, value)
    if len(items) > MAX_FORMULAS:
        raise ValueError(f"{len(items):,} formulas where at most {MAX_FORMULAS:,} are allowed")
    try:
        return tuple(from_json(item, Formula) for item in items)
    except ValueError as error:
        raise ValueError(f'in "{key}": {error}') from None


# Parsers of the fields that are not texts.
_SHAPES: dict[str, Callable[[str, object], Any]] = {
    "tags": _strings,
    "formulas": _formulas,
    "score": _integer_or_null,
    "start": _integer,
    "grade": _integer,
}
