"""Reads XML as a stream of elements with their lines, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mathsetu.collections.files import LONGEST_LINE, read_chunks, shown
from mathsetu.errors import RowError
from mathsetu.markup.safe_xml import RefusedXml, XmlParser


class XmlStream:
    """A parser that is fed a document in parts and calls the handlers set on ``parser``."""

    def __init__(self, path: str | Path) -> None:
        self._xml = XmlParser(doctype=True)
        self.parser = self._xml.expat
        self._path = shown(path)
        self._taken = 0

    def take(self, part: bytes, final: bool = False) -> RowError | None:
        """Parse a part; return its error, because the elements before the error are valid."""
        try:
            self._xml.feed(part, final)
        except RefusedXml as refused:
            return RowError(self._path, refused.line, refused.problem)
        self._taken += len(part)
        if self._waiting > LONGEST_LINE:
            problem = f"a tag is longer than {LONGEST_LINE >> 20} MiB"
            return RowError(self._path, self.parser.CurrentLineNumber, problem)
        return None

    @property
    def is_between(self) -> bool:
        """Whether the input so far ends between tags, not inside a tag or a comment."""
        return not self._waiting

    @property
    def _waiting(self) -> int:
        return self._taken - self.parser.CurrentByteIndex


def read_records(
    path: str | Path, name: str
) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """Yield each element with this name: its line, its attributes and its children's texts."""
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
    """Yield a file's bytes in chunks, each with False; then an empty chunk with True."""
    for chunk in read_chunks(path):
        yield chunk, False
    yield b"", True
