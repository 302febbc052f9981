"""Reads the ``row`` elements of a dump with their lines, in constant memory.

Dumps write each row on a separate line, in one simple form (a plain row). A few string operations
parse such a line in half the time of an XML parser. The parser gets everything else: it tracks
where rows may occur, reads rows in other forms and reports errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from mathsetu.collections.xmlstream import XmlStream, parts
from mathsetu.markup.attributes import BrokenReference, from_attribute, to_attribute

# The shape of a plain row: the text around its values. Longer shapes are not cached.
_SHAPE = re.compile(r" *<row((?: [A-Za-z]+=\")+) ?/>")
_LONGEST_SHAPE = 1000
# Control characters that XML does not allow, and the tab, which becomes a space in attributes.
_CONTROLS = bytes(set(range(32)) - set(b"\n\r"))
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")

Row = dict[str, str]


def read_rows(path: str | Path, as_written: str) -> Iterator[tuple[int, Row]]:
    """Yield the attributes of each row with its line.

    Args:
        path: The file, also compressed.
        as_written: The attribute whose character references are not resolved (see
            `mathsetu.markup.attributes`), because its consumer can avoid most of this work.
    """
    reader = _Reader(path, as_written)
    rest = b""
    for chunk, final in parts(path):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield from reader.read_lines(rest + chunk[:end])
            rest = chunk[end:]
        else:  # a line longer than a chunk is left to the parser
            yield from reader.parse(rest + chunk, final)
            rest = b""


class _Reader:
    """Reads plain rows itself and passes the rest to the parser, with correct line numbers."""

    def __init__(self, path: str | Path, as_written: str) -> None:
        self._as_written = as_written
        self._stream = XmlStream(path)
        self._line = 1
        self._passed = 0  # lines since the last part that the parser got
        self._depth = 0
        self._may_be_plain = True
        self._in_rows = False
        self._found: list[tuple[int, Row]] = []
        parser = self._stream.parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.XmlDeclHandler = self._declare
        parser.StartDoctypeDeclHandler = self._never_plain
        parser.StartCdataSectionHandler = self._never_plain

    def read_lines(self, block: bytes) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a block of complete lines."""
        text = _plain_text(block)
        if text is None:
            yield from self.parse(block)
            return
        for line in text.split("\n")[:-1]:
            row = _plain_row(line, self._as_written) if self._in_rows else None
            if row is None:
                yield from self.parse(line.encode() + b"\n")
            else:
                yield self._line, row
                self._line += 1
                self._passed += 1

    def parse(self, part: bytes, final: bool = False) -> Iterator[tuple[int, Row]]:
        """Yield the rows that the parser finds in a part of the document."""
        error = self._stream.take(b"\n" * self._passed + part, final)
        self._passed = 0
        self._line += part.count(b"\n")
        yield from self._found
        self._found.clear()
        if error is not None:
            raise error
        self._in_rows = self._may_be_plain and self._depth > 0 and self._stream.is_between

    def _start(self, element: str, attributes: Row) -> None:
        self._depth += 1
        if element == "row":
            if self._as_written in attributes:
                attributes[self._as_written] = to_attribute(attributes[self._as_written])
            self._found.append((self._stream.parser.CurrentLineNumber, attributes))

    def _end(self, _: str) -> None:
        self._depth -= 1

    def _declare(self, _: str, encoding: str | None, __: int) -> None:
        if encoding is not None and encoding.lower() != "utf-8":
            self._never_plain()

    def _never_plain(self, *_: object) -> None:
        """Leave the rest to the parser: from here on, plain rows may have another meaning."""
        self._may_be_plain = False


def _plain_text(block: bytes) -> str | None:
    """Decode lines without carriage returns; None if they need the parser."""
    if len(block.translate(None, _CONTROLS)) < len(block):
        return None
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not text.isascii() and _NO_CHARACTERS.search(text):
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return None if "\r" in text else text


def _plain_row(line: str, as_written: str) -> Row | None:
    """Return the attributes of a plain row; None for any other line."""
    pieces = line.split('"')
    shape = '"'.join(pieces[::2])
    names = _names(shape) if len(shape) < _LONGEST_SHAPE else ()
    values = pieces[1::2]
    if as_written not in names or len(values) != len(names) or line.find("<", len(pieces[0])) >= 0:
        return None
    place = names.index(as_written)
    kept, values[place] = values[place], ""
    try:
        values = [from_attribute(value) if "&" in value else value for value in values]
    except BrokenReference:
        return None  # the parser reports the error
    row = dict(zip(names, values, strict=True))
    row[as_written] = kept
    return row


@lru_cache(maxsize=256)
def _names(shape: str) -> tuple[str, ...]:
    """Return the attribute names of a plain row from its shape; empty for any other line.

    >>> _names(' <row Id=" Body=" />'), _names(' <row Id=" Id=" />')
    (('Id', 'Body'), ())
    """
    match = _SHAPE.fullmatch(shape)
    if match is None:
        return ()
    names = tuple(name.strip(' ="') for name in match[1].split('"')[:-1])
    return names if len(set(names)) == len(names) else ()
