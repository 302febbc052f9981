"""Reads comma- and tab-separated tables: rows with their first line, columns by name."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mathsetu.collections.files import read_raw_lines, shown
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.errors import RowError
from mathsetu.printable import counted

# Python's default limit (128 KiB) is too low for the longest posts. A field longer than this limit
# is due to an unclosed quotation mark.
LONGEST_FIELD = 16 * 1024 * 1024

Row = tuple[int, list[str]]


_NOT_UTF8 = (
    "a byte is not UTF-8 (save the table as CSV UTF-8, or convert it first: "
    "iconv -f CP1252 -t UTF-8 OLD > NEW)"
)


def read_table(path: str | Path, bad: BadRows = REFUSE, *, delimiter: str = ",") -> Iterator[Row]:
    """Yield the non-empty rows of a table, each with the line on which it starts.

    Quoted fields may contain line breaks.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    # Bytes that are not UTF-8 become surrogates, so that the error can name their row.
    lines = (line.decode("utf-8", "surrogateescape") for _, line in read_raw_lines(path))
    rows = csv.reader(lines, delimiter=delimiter, strict=delimiter == ",")
    while True:
        start = rows.line_num + 1
        try:
            row = next(rows)
            _check_unicode(row)
        except StopIteration:
            return
        except (csv.Error, UnicodeEncodeError) as error:
            problem = str(error) if isinstance(error, csv.Error) else _NOT_UTF8
            bad.report(RowError(shown(path), start, problem))
            continue
        if any(row):
            yield start, row


def read_named(
    path: str | Path,
    columns: Mapping[str, Sequence[str]],
    bad: BadRows = REFUSE,
    *,
    delimiter: str = ",",
    optional: Sequence[str] = (),
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with a header, as dictionaries with the given names.

    Args:
        path: The table.
        columns: For each name, the spellings that the header may use for it. Case, spaces and
            punctuation are ignored.
        bad: What to do with bad rows. A header without the required columns is always refused.
        delimiter: The separator of fields.
        optional: The names that may be missing.
    """
    rows = read_table(path, bad, delimiter=delimiter)
    line, header = next(rows, (1, []))
    positions = find_columns(header, columns, shown(path), line, optional)
    for line, row in rows:
        if len(row) != len(header):
            problem = f"{counted(len(row), 'column')} where the header has {len(header)}"
            bad.report(RowError(shown(path), line, problem))
            continue
        yield line, {name: row[position] for name, position in positions.items()}


def find_columns(
    header: Sequence[str],
    columns: Mapping[str, Sequence[str]],
    path: str,
    line: int,
    optional: Sequence[str] = (),
) -> dict[str, int]:
    """Return the position of each column in a header.

    >>> find_columns(["Query_ID", "LaTeX"], {"id": ["queryid"], "latex": ["latex"]}, "q.csv", 1)
    {'id': 0, 'latex': 1}
    """
    known = {plain_header(name): number for number, name in reversed(list(enumerate(header)))}
    positions: dict[str, int] = {}
    for name, spellings in columns.items():
        spelling = next((s for s in spellings if s in known), None)
        if spelling is not None:
            positions[name] = known[spelling]
        elif name not in optional:
            found = ", ".join(header) or "nothing"
            problem = f"no column for {name} ({' or '.join(spellings)}); the header has: {found}"
            raise RowError(path, line, problem)
    return positions


def plain_header(name: str) -> str:
    """Return a column name in lower case, without spaces and punctuation.

    >>> plain_header("Query_ID ")
    'queryid'
    """
    return "".join(character for character in name.casefold() if character.isalnum())


def _check_unicode(row: list[str]) -> None:
    for field in row:
        if not field.isascii():
            field.encode("utf-8")
