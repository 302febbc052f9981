"""Reads XML as a stream of elements with their lines, in constant memory.

A document that declares entities is refused: the formats here need none, and entities are how
small files become large ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from mathsetu.collections.files import read_chunks, read_raw_lines, shown
from mathsetu.errors import RowError

_BEFORE_VALUE = re.compile(r"( *<row)? +([A-Za-z]+)=")

Rows = Iterator[tuple[int, dict[str, str]]]


def read_rows(path: str | Path, texts: Sequence[str]) -> Rows:
    """Yield the attributes of each ``row`` element, with its line.

    Dumps have a row on each line, written in one plain way. Such lines are cut apart here,
    which takes half the time of an XML parser. The parser gets all other lines, and an empty
    line for each of these, so that it still sees a whole document and counts its lines.

    Args:
        path: The document.
        texts: The attributes that may hold more than numbers, dates and names.
    """
    rows: list[tuple[int, dict[str, str]]] = []
    parser = _parser(path)

    def started(element: str, attributes: dict[str, str]) -> None:
        if element == "row":
            rows.append((parser.CurrentLineNumber, attributes))

    parser.StartElementHandler = started
    feed = _feeder(parser, path)
    names: dict[str, str] = {}
    plain_lines = 0
    for number, line in read_raw_lines(path):
        attributes = _plain_row(line, names, texts) if number > 1 else None
        if attributes is not None:
            plain_lines += 1
            yield number, attributes
            continue
        feed(b"\n" * plain_lines + line)
        plain_lines = 0
        if rows:
            yield from rows
            rows.clear()
    feed(b"\n" * plain_lines, True)


def read_records(
    path: str | Path, name: str
) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """Yield each element of a name with its line, its attributes and its children's texts."""
    records: list[tuple[int, dict[str, str], dict[str, str]]] = []
    opened: list[tuple[int, dict[str, str], dict[str, str]]] = []
    text: list[str] = []
    parser = _parser(path)

    def started(element: str, attributes: dict[str, str]) -> None:
        text.clear()
        if element == name:
            opened[:] = [(parser.CurrentLineNumber, attributes, {})]

    def ended(element: str) -> None:
        if element == name:
            records.extend(opened)
            opened.clear()
        elif opened:
            opened[0][2][element] = "".join(text)

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.CharacterDataHandler = text.append
    feed = _feeder(parser, path)
    for chunk in read_chunks(path):
        feed(chunk)
        yield from records
        records.clear()
    feed(b"", True)


def _plain_row(line: bytes, names: dict[str, str], texts: Sequence[str]) -> dict[str, str] | None:
    """The attributes of a line that is a plain row; None if the parser must look at it.

    ``names`` remembers the names that were checked, by how they stand between the values.
    """
    if not line.endswith((b'" />\n', b'" />\r\n')) or line.count(b"<") != 1:
        return None
    try:
        pieces = line.decode("utf-8").split('"')
    except UnicodeDecodeError:
        return None
    written = pieces[:-1:2]
    for name in written:
        if name not in names:
            checked = _BEFORE_VALUE.fullmatch(name)
            if checked is None or (checked[1] is None) != (name is not written[0]):
                return None
            names[name] = checked[2]
    row = dict(zip(map(names.__getitem__, written), pieces[1::2], strict=True))
    if len(row) < len(written):
        return None
    for name in texts:
        value = row.get(name)
        if value and "&" in value:
            value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
            value = value.replace("&#xA;", "\n")
            if value.count("&") != value.count("&amp;"):
                return None  # an entity that is rarer, or wrong
            row[name] = value.replace("&amp;", "&")
    return row


def _parser(path: str | Path) -> expat.XMLParserType:
    parser = expat.ParserCreate()

    def refuse(*_: object) -> NoReturn:
        problem = "the document declares entities, which is not allowed"
        raise RowError(shown(path), parser.CurrentLineNumber, problem)

    parser.EntityDeclHandler = refuse
    return parser


def _feeder(parser: expat.XMLParserType, path: str | Path) -> Callable[..., None]:
    """A function that gives the parser the next part of the document, and then its end."""

    def feed(part: bytes, last: bool = False) -> None:
        try:
            parser.Parse(part, last)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            problem = f"broken XML at column {error.offset + 1}: {message}"
            raise RowError(shown(path), error.lineno, problem) from None

    return feed
