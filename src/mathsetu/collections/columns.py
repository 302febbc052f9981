"""Posts from tables with any column names: CSV, TSV, JSON, JSON Lines and Parquet.

The user maps columns to the fields of a post, or the mapping is guessed (see
`mathsetu.collections.header`) and reported. Each row becomes a post. The file and the line serve
as the id of a row that has no id, and as the address of one that has no URL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mathsetu.collections import parquet
from mathsetu.collections.compression import Member
from mathsetu.collections.files import (
    given_name,
    plain_name,
    read_chunks,
    read_lines,
    read_raw_lines,
    shown,
)
from mathsetu.collections.header import FIELDS, Chosen, Header, choose, listed
from mathsetu.collections.meter import unmetered
from mathsetu.collections.rows import OTHER_IDS, REFUSE, BadRows, not_json
from mathsetu.collections.source_text import form_of, form_of_title, read_texts, split_tags
from mathsetu.collections.tables import plain_header, read_table
from mathsetu.collections.trec import parse_integer
from mathsetu.collections.trees import FolderTree
from mathsetu.errors import InputError, MissingExtra, RowError
from mathsetu.languages.table import language
from mathsetu.limits import LONGEST_DOCUMENT
from mathsetu.printable import counted
from mathsetu.records import Post

_TEXTS = ("title", "question", "body")
_DELIMITERS = ",;\t|"
_SEPARATED = (".csv", ".tsv", ".txt")
_LINES = (".jsonl", ".ndjson")
_ENDINGS = (".csv", ".tsv", ".json", ".parquet", *_LINES)
_LISTS = ("data", "items", "posts", "rows", "records", "questions", "problems", "documents",
          "results", "examples", "entries")  # fmt: skip

Row = tuple[int, Mapping[str, Any]]


def read_posts(
    path: str | Path,
    bad: BadRows,
    *,
    name: str = "",
    fields: Mapping[str, str] | None = None,
) -> Iterator[Post]:
    r"""Read the rows of a table as posts.

    Args:
        path: The table.
        bad: What to do with bad rows, and the columns that the user names.
        name: The name of the table in generated ids (default: the path as the user gave it).
        fields: The user's mapping of fields to columns for this table (default: that of ``bad``).

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "notes.csv"
    >>> _ = path.write_text("Subject;Content\nSums;What is $1+1$?\n")
    >>> post = next(read_posts(path, BadRows()))
    >>> post.title, post.body, post.id
    ('Sums', 'What is $1+1$?', 'notes.csv#2')
    """
    bad.note_form_used()
    name = name or given_name(path)
    fields = bad.fields if fields is None else fields
    with _readable_twice(path) as file:
        columns: Chosen | None = None
        for line, row in _rows(file, bad):
            if columns is None:
                header = _header(file, BadRows(skip=True), fields)
                columns = choose(header, fields, shown(path), line)
                _report(path, columns, header, fields, bad)
            place = f"{name}#{line}"
            try:
                post = row_post(row, columns, place, bad.form)
            except ValueError as error:
                bad.report(RowError(shown(path), line, str(error)))
                continue
            if bad.accepts(post.id, shown(path), line, post.tags, OTHER_IDS):
                is_addressed = bool(post.url) or str(path) == "-"
                yield post if is_addressed else replace(post, url=place)
    bad.add_read(path, "table")


@contextmanager
def _readable_twice(path: str | Path) -> Iterator[str | Path]:
    """Yield the path itself, or for standard input, which cannot be read twice, a copy on disk."""
    if str(path) != "-":
        yield path
        return
    with TemporaryDirectory() as folder:
        name = shown(path)
        with Path(folder, name).open("wb") as copy:
            copy.writelines(read_chunks(path))
        yield Member.of(FolderTree(Path(folder), label=""), name)


def applicable_fields(path: str | Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the user's mapping whose columns the table has; empty if it is broken."""
    if not given or not plain_name(path).endswith(_ENDINGS):
        return {}
    try:
        header = _header(path, BadRows(skip=True), given)
    except (InputError, MissingExtra):
        return {}
    return {field: column for field, column in given.items() if header.found(column) is not None}


def why_not_posts(path: str | Path, given: Mapping[str, str]) -> str:
    """Return why the columns of a table cannot hold posts; empty if they can.

    For a broken table the result is empty too, because the reader reports what is wrong with it.
    """
    bad = BadRows(skip=True)
    try:
        header = _header(path, bad, given)
    except (InputError, MissingExtra):
        return ""
    if not header.names and plain_name(path).endswith(_LINES) and bad.count:
        return ""
    try:
        choose(header, given, shown(path))
    except RowError as error:
        return error.problem
    return ""


def is_table(name: str, head: str) -> bool:
    """Whether a file may be a table with named columns, by its name and first characters."""
    if name.endswith(".parquet"):
        return True
    if name.endswith((".csv", ".tsv")):
        header = head.split("\n", 1)[0]
        return any(sign in header for sign in _DELIMITERS) or plain_header(header) in FIELDS["body"]
    return name.endswith((".jsonl", ".ndjson", ".json")) and head.lstrip()[:1] in ("{", "[")


def _header(path: str | Path, bad: BadRows, given: Mapping[str, str]) -> Header:
    """Return the columns of a table; none if no row could be read.

    JSON rows may have different keys, so all rows are read.
    """
    header = Header(given=given)
    if plain_name(path).endswith(_SEPARATED):
        _, names, _ = _separated_header(path, REFUSE)
        header.add(dict.fromkeys(names, ""))
        return header
    with unmetered():
        for _, row in _rows(path, bad):
            header.add(row)
            if plain_name(path).endswith(".parquet"):
                break
    return header


def _rows(path: str | Path, bad: BadRows) -> Iterator[Row]:
    name = plain_name(path)
    if name.endswith(".parquet"):
        return parquet.read_rows(path)
    if name.endswith(_SEPARATED):
        return _separated(path, bad)
    return _json(path, bad)


def _separated_header(
    path: str | Path, bad: BadRows
) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """Return the line number of the header, the column names and the rows below."""
    first = next((line for _, line in read_raw_lines(path)), b"")
    header = first.decode("utf-8", "replace")
    delimiter = max(_DELIMITERS, key=header.count)
    rows = read_table(path, bad, delimiter=delimiter)
    line, names = next(rows, (1, []))
    return line, [name.strip() for name in names], rows


def _separated(path: str | Path, bad: BadRows) -> Iterator[Row]:
    line, names, rows = _separated_header(path, bad)
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise RowError(shown(path), line, f"two columns are called {double!r}")
    for line, row in rows:
        if len(row) != len(names):
            problem = f"{counted(len(row), 'column')} where the header has {len(names)}"
            bad.report(RowError(shown(path), line, problem))
            continue
        yield line, dict(zip(names, row, strict=True))


def _json(path: str | Path, bad: BadRows) -> Iterator[Row]:
    lines = (line.strip() for _, line in read_raw_lines(path) if line.strip())
    first, second = next(lines, b""), next(lines, b"")
    is_named_lines = plain_name(path).endswith(_LINES)
    if first.startswith(b"{") and _is_row(first, second, is_named_lines):
        yield from _json_lines(path, bad)
        return
    data = bytearray()
    for chunk in read_chunks(path):
        data += chunk
        if len(data) > LONGEST_DOCUMENT:
            raise InputError(
                f"{shown(path)}: is longer than {LONGEST_DOCUMENT >> 20} MiB (convert it to JSON "
                "Lines, which may be longer)"
            )
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{shown(path)}: is not UTF-8 (convert the file first)") from None
    except RecursionError:
        raise InputError(f"{shown(path)}: nested too deeply") from None
    except json.JSONDecodeError as error:
        problem = not_json(error.msg, f"column {error.colno}")
        raise RowError(shown(path), error.lineno, problem) from None
    except ValueError as error:
        raise InputError(f"{shown(path)}: not JSON: {error}") from None
    for number, row in enumerate(_listed(value, shown(path)), start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            bad.report(RowError(shown(path), number, "an object {…} is expected"))


def _json_lines(path: str | Path, bad: BadRows) -> Iterator[Row]:
    for number, line in read_lines(path, bad):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("an object {…} is expected")
        except RecursionError:
            bad.report(RowError(shown(path), number, "nested too deeply"))
            continue
        except json.JSONDecodeError as error:
            problem = not_json(error.msg, f"character {error.pos + 1:,}")
            bad.report(RowError(shown(path), number, problem))
            continue
        except ValueError as error:
            bad.report(RowError(shown(path), number, str(error)))
            continue
        yield number, value


def _is_row(line: bytes, following: bytes, is_named_lines: bool) -> bool:
    """Whether a line is one row of JSON Lines, not an object that holds all rows."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        # A broken row; but a lone brace begins a JSON document of many lines.
        return is_named_lines and line != b"{"
    is_first_of_many = following.startswith(b"{")
    return isinstance(value, dict) and (is_first_of_many or _listed(value, "") == [value])


def _listed(value: object, path: str) -> list[Any]:
    """Return the rows of a JSON document: a list, or the rows inside an object."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = {key: part for key, part in value.items() if isinstance(part, list)}
        named = next((lists[name] for name in _LISTS if name in lists), None)
        if named is not None:
            return named
        if len(lists) == 1 and all(isinstance(row, dict) for row in (*lists.values(),)[0][:5]):
            return (*lists.values(),)[0]
        if value and all(isinstance(part, dict) for part in value.values()):
            return [{"id": key, **part} for key, part in value.items()]
        return [value]
    raise RowError(path, 1, "a list of objects is expected")


def row_post(
    row: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
    default_id: str,
    form: str = "",
) -> Post:
    """Return the post of a row; raise ValueError if the row cannot become a post.

    Without ``form``, each text is read as HTML if it has closing tags, else as plain text.
    """
    values = {field: _first_filled(row, names) for field, names in columns.items()}
    post_id = _text(values.get("id"), "id").strip() or default_id
    sources: dict[str, tuple[str, str]] = {}
    for field in _TEXTS:
        source = _text(values.get(field), field)
        own_form = form or form_of(source)
        if field == "title":
            own_form = form_of_title(source, own_form)
        sources[field] = source, own_form
    read = read_texts(sources, post_id)
    texts = {field: text for field, (text, _) in read.items()}
    formulas = tuple(formula for _, found in read.values() for formula in found)
    if not texts["body"] and not texts["title"] and not texts["question"]:
        raise ValueError(f"the row has no text in {' or '.join(map(repr, columns['body']))}")
    tags = values.get("tags")
    score = values.get("score")
    return Post(
        id=post_id,
        body=texts["body"],
        title=texts["title"].replace("\n", " "),
        tags=_tags(tags),
        language=_language(_text(values.get("language"), "language")),
        kind=_text(values.get("kind"), "kind").strip()[:100],
        thread_id=_text(values.get("thread_id"), "thread_id").strip(),
        parent_id=_text(values.get("parent_id"), "parent_id").strip(),
        question=texts["question"],
        url=_text(values.get("url"), "url").strip(),
        score=_score(score),
        formulas=formulas,
    )


def _first_filled(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _text(value: object, field: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"the {field} contains an invalid character (lone surrogate)"
            ) from None
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return _text("\n\n".join(value), field)
    raise ValueError(f"the {field} is neither a text nor a number")


def _language(name: str) -> str:
    """Return the two-letter code of a language name; empty if it names no known language.

    >>> _language("en-GB"), _language("Hindi"), _language("unknown")
    ('en', 'hi', '')
    """
    code = language(name).code
    return code if len(code) == 2 and code.isalpha() and code.isascii() else ""


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(_text(tag, "tags") for tag in value if tag)
    return split_tags(_text(value, "tags"))


def _score(value: object) -> int | None:
    """Return a number of votes; None if the column holds something else."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return value
    try:
        return parse_integer(value, "score") if isinstance(value, str) and value else None
    except ValueError:
        return None


def _report(
    path: str | Path,
    columns: Chosen,
    header: Header,
    given: Mapping[str, str],
    bad: BadRows,
) -> None:
    used_for = {field: f"{field} = {' or '.join(names)}" for field, names in columns.items()}
    said = [text for field, text in used_for.items() if field in given]
    guessed = [text for field, text in used_for.items() if field not in given]
    taken = {name for names in columns.values() for name in names}
    rest = [name for name in header.names if name not in taken]
    used = ", ".join(said)
    if guessed and said:
        used += f"; guessed: {', '.join(guessed)} (--field FIELD=COLUMN overrides it)"
    elif guessed:
        used = f"{', '.join(guessed)} (guessed; --field FIELD=COLUMN overrides it)"
    unread = f"; not read: {listed(rest)}" if rest else ""
    bad.note_columns(f"{shown(path)}: {used}{unread}", given)
