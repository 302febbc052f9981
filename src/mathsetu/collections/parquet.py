"""Parquet files (extra ``parquet``): our records, lossless in both directions, and other tables.

Columns of posts and queries are the fields of the records; runs and judgments have the columns of
`mathsetu.collections.result_rows`. The metadata of the files we write names their content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from mathsetu.collections import result_rows
from mathsetu.collections.compression import Member
from mathsetu.collections.files import plain_name, shown, writing_bytes
from mathsetu.collections.jsonl import VERSION, check_texts, from_json, to_json
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.source_text import complete, noting_html
from mathsetu.errors import InputError, MissingExtra, RowError, reason
from mathsetu.plain_files import open_plain
from mathsetu.records import Formula, Judgment, Post, Query, Run

Row = tuple[int, dict[str, Any]]
Record = TypeVar("Record", Post, Query)

_HOLDS, _VERSION = b"mathsetu", b"mathsetu_version"
_BATCH = 1000
# Limit for one decompressed batch: a small file can decompress to more than fits in memory.
_MAX_BYTES = 2_000_000_000
_WHOLE = ("score", "start")


def read_rows(path: str | Path) -> Iterator[Row]:
    """Yield the rows of any Parquet file as dictionaries, with their numbers from 1."""
    arrow, parquet = _arrow(path)
    number = 0
    with (
        _reading(path, arrow),
        open_plain(path, follow_links=True) as file,
        parquet.ParquetFile(file) as table,
    ):
        for batch in table.iter_batches(batch_size=_BATCH):
            if batch.nbytes > _MAX_BYTES:
                problem = f"{len(batch)} rows have {batch.nbytes:,} bytes"
                raise InputError(f"{shown(path)}: {problem}; at most {_MAX_BYTES:,} are read")
            for row in batch.to_pylist():
                number += 1
                yield number, row


def detect_records(path: str | Path) -> str:
    """Return what a file holds, by its metadata or its columns; empty if neither shows it.

    This serves to detect formats, so the result is also empty for a file that cannot be read.
    """
    if isinstance(path, Member) or not plain_name(path).endswith(".parquet"):
        return ""
    try:
        arrow, parquet = _arrow(path)
        with _reading(path, arrow), open_plain(path, follow_links=True) as file:
            schema = parquet.read_schema(file)
    except (InputError, MissingExtra):
        return ""
    said = (schema.metadata or {}).get(_HOLDS, b"").decode("ascii", "replace")
    return said or result_rows.kind_of(schema.names)


def read_posts(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    """Read posts; if a post has no ``formulas``, they are extracted from its text."""
    bad.note_form_used()
    return noting_html(_posts(path, bad), shown(path), bad)


def _posts(path: str | Path, bad: BadRows) -> Iterator[Post]:
    for number, value, post in _records(path, Post, bad):
        try:
            post = complete(post, bad.form, has_formulas="formulas" in value)
        except ValueError as error:
            bad.report(RowError(shown(path), number, str(error)))
            continue
        if bad.accepts(post.id, shown(path), number, post.tags):
            yield post


def read_queries(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Query]:
    """Read queries."""
    return (query for _, _, query in _records(path, Query, bad))


def read_judgments(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Judgment]:
    """Read judgments, with our column names or those of other programs."""
    return result_rows.read_judgments(read_rows(path), shown(path), bad)


def read_runs(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Run]:
    """Read runs, with our column names or those of other programs."""
    name = Path(path).name.partition(".")[0]
    return result_rows.read_runs(read_rows(path), shown(path), bad, name)


def write_posts(path: str | Path, posts: Iterable[Post]) -> None:
    """Write posts in batches of a thousand."""
    _write_records(path, "posts", Post, posts)


def write_queries(path: str | Path, queries: Iterable[Query]) -> None:
    """Write queries."""
    _write_records(path, "queries", Query, queries)


def write_judgments(path: str | Path, judgments: Iterable[Judgment]) -> None:
    """Write judgments."""
    arrow, _ = _arrow(path, "writing")
    types = (arrow.string(), arrow.string(), arrow.int64())
    columns = result_rows.judgment_columns(judgments)
    _write_columns(path, "judgments", columns, dict(zip(columns, types, strict=True)))


def write_runs(path: str | Path, runs: Iterable[Run]) -> None:
    """Write runs."""
    arrow, _ = _arrow(path, "writing")
    types = {result_rows.RANK: arrow.int64(), result_rows.SCORE: arrow.float64()}
    columns = result_rows.run_columns(runs)
    text = arrow.string()
    _write_columns(path, "runs", columns, {name: types.get(name, text) for name in columns})


def _records(
    path: str | Path, kind: type[Record], bad: BadRows
) -> Iterator[tuple[int, dict[str, Any], Record]]:
    for number, row in read_rows(path):
        try:
            value = _without_nulls(row)
            record = from_json(value, kind)
            check_texts(value, "row")
        except (ValueError, RecursionError) as error:
            bad.report(RowError(shown(path), number, str(error)))
            continue
        yield number, value, record


def _without_nulls(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without its null values, which stand for missing fields."""
    plain: dict[str, Any] = {}
    for name, part in value.items():
        if isinstance(part, list):
            plain[name] = [_without_nulls(one) if isinstance(one, dict) else one for one in part]
        elif part is not None:
            plain[name] = part
    return plain


def _write_records(
    path: str | Path, holds: str, kind: type[Record], records: Iterable[Record]
) -> None:
    arrow, parquet = _arrow(path, "writing")
    schema = _schema(arrow, kind).with_metadata(_metadata(holds))
    waiting = iter(records)
    with writing_bytes(path) as file, parquet.ParquetWriter(file, schema) as writer:
        while batch := [to_json(record) for record in islice(waiting, _BATCH)]:
            with _encoding(path):
                writer.write_table(arrow.Table.from_pylist(batch, schema))


def _write_columns(
    path: str | Path, holds: str, columns: Mapping[str, list[object]], types: Mapping[str, Any]
) -> None:
    arrow, parquet = _arrow(path, "writing")
    schema = arrow.schema(list(types.items()), _metadata(holds))
    with _encoding(path):
        table = arrow.table(dict(columns), schema=schema)
    with writing_bytes(path) as file:
        parquet.write_table(table, file)


def _schema(arrow: Any, kind: type[Post | Query | Formula]) -> Any:
    text = arrow.string()
    shapes: dict[str, Callable[[], Any]] = {
        "tags": lambda: arrow.list_(text),
        "formulas": lambda: arrow.list_(arrow.struct(list(_schema(arrow, Formula)))),
    }
    columns = []
    for field in fields(kind):
        if field.name in shapes:
            columns.append((field.name, shapes[field.name]()))
        else:
            columns.append((field.name, arrow.int64() if field.name in _WHOLE else text))
    return arrow.schema(columns)


def _metadata(holds: str) -> dict[bytes, bytes]:
    return {_HOLDS: holds.encode(), _VERSION: str(VERSION).encode()}


def _arrow(path: str | Path, doing: str = "reading") -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(f"{shown(path)}: {doing} Parquet files", "parquet") from None
    if isinstance(path, Member):
        raise InputError(f"{path}: a Parquet file in an archive (unpack it first)")
    if str(path) == "-":
        raise InputError("give the name of a Parquet file; it cannot be standard input or output")
    return pyarrow, pyarrow.parquet


@contextmanager
def _reading(path: str | Path, arrow: Any) -> Iterator[None]:
    """Convert errors of Arrow into an InputError with a message of one line."""
    try:
        yield
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())[:200]
        raise InputError(f"{shown(path)}: cannot be read as Parquet ({problem})") from None
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be read ({reason(error)})") from None


@contextmanager
def _encoding(path: str | Path) -> Iterator[None]:
    """Refuse texts that cannot be encoded as UTF-8."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: a text contains an invalid character ({error.reason})") from None
