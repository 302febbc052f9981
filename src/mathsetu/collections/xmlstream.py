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


class XmlStream:
    """A parser that takes a document part by part; its handlers find what is in it."""

    def __init__(self, path: str | Path) -> None:
        self.parser = expat.ParserCreate()
        self.parser.EntityDeclHandler = self._refuse
        self._path = shown(path)
        self._taken = 0

    def take(self, part: bytes, final: bool = False) -> RowError | None:
        """Parse a part; what is wrong with it is returned, since what stands before is good."""
        try:
            self.parser.Parse(part, final)
        except expat.ExpatError as broken:
            message = expat.ErrorString(broken.code)
            problem = f"malformed XML at column {broken.offset + 1}: {message}"
            return RowError(self._path, broken.lineno, problem)
        except RowError as refused:
            return refused
        except (LookupError, ValueError) as unknown:  # of the encoding that it declares
            return self._error(f"malformed XML: {unknown}; convert the file to UTF-8")
        self._taken += len(part)
        if self._waiting > LONGEST_LINE:
            return self._error(f"a tag is longer than {LONGEST_LINE >> 20} MiB")
        return None

    @property
    def is_between(self) -> bool:
        """Whether the document so far ends between tags, and not inside one or a comment."""
        return not self._waiting

    @property
    def _waiting(self) -> int:
        return self._taken - self.parser.CurrentByteIndex

    def _refuse(self, *_: object) -> NoReturn:
        raise self._error("the document declares entities, which is not allowed")

    def _error(self, problem: str) -> RowError:
        return RowError(self._path, self.parser.CurrentLineNumber, problem)


def read_records(
    path: str | Path, name: str
) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """Yield each element of a name with its line, its attributes and its children's texts."""
    records: list[tuple[int, dict[str, str], dict[str, str]]] = []
    opened: list[tuple[int, dict[str, str], dict[str, str]]] = []
    text: list[str] = []
    stream = XmlStream(path)
    parser = stream.parser

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
    for part, final in parts(path):
        error = stream.take(part, final)
        yield from records
        records.clear()
        if error is not None:
            raise error


def parts(path: str | Path) -> Iterator[tuple[bytes, bool]]:
    """A file's bytes in chunks, and at the end an empty one that is the final."""
    for chunk in read_chunks(path):
        yield chunk, False
    yield b"", True
