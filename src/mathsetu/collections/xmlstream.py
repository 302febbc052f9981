"""Reads XML as a stream of elements with their lines, in constant memory.

A document that declares entities is refused: the formats here need none, and entities are how
small files become large ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from mathsetu.collections.files import LONGEST_LINE, read_chunks, shown
from mathsetu.errors import RowError


def read_rows(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the attributes of each ``row`` element, with its line."""
    rows: list[tuple[int, dict[str, str]]] = []
    parser = expat.ParserCreate()

    def started(element: str, attributes: dict[str, str]) -> None:
        if element == "row":
            rows.append((parser.CurrentLineNumber, attributes))

    parser.StartElementHandler = started
    for _ in _parse(parser, path):
        yield from rows
        rows.clear()


def read_records(
    path: str | Path, name: str
) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """Yield each element of a name with its line, its attributes and its children's texts."""
    records: list[tuple[int, dict[str, str], dict[str, str]]] = []
    opened: list[tuple[int, dict[str, str], dict[str, str]]] = []
    text: list[str] = []
    parser = expat.ParserCreate()

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
    for _ in _parse(parser, path):
        yield from records
        records.clear()


def _parse(parser: expat.XMLParserType, path: str | Path) -> Iterator[None]:
    """Give the parser the document part by part; after each, take what its handlers found."""

    def error(problem: str, line: int) -> RowError:
        return RowError(shown(path), line, problem)

    def refuse(*_: object) -> NoReturn:
        problem = "the document declares entities, which is not allowed"
        raise error(problem, parser.CurrentLineNumber)

    parser.EntityDeclHandler = refuse
    read = 0
    try:
        for chunk in read_chunks(path):
            parser.Parse(chunk)
            yield
            read += len(chunk)
            if read - parser.CurrentByteIndex > LONGEST_LINE:
                problem = f"a tag is longer than {LONGEST_LINE >> 20} MiB"
                raise error(problem, parser.CurrentLineNumber)
        parser.Parse(b"", True)
    except expat.ExpatError as broken:
        yield  # what stands before the break is good
        message = expat.ErrorString(broken.code)
        problem = f"broken XML at column {broken.offset + 1}: {message}"
        raise error(problem, broken.lineno) from None
