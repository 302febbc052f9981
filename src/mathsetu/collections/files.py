"""Opens text by path, compressed or not, and writes files whole or not at all.

``-`` is standard input or output; ``.gz``, ``.xz``, ``.bz2`` and ``.zst`` are decompressed on the
way, and all but the last are written, too. Members of archives are read as files are.
Text is UTF-8, with or without a byte order mark.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from mathsetu.collections.meter import reading
from mathsetu.collections.packing import Member, open_zstd
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.errors import InputError, RowError, reason
from mathsetu.plain_files import open_plain
from mathsetu.printable import visible

COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
# A line longer than this is no row of any format: it is a wrong or hostile file.
LONGEST_LINE = 64 * 1024 * 1024
_CHUNK = 1 << 20


def read_lines(
    path: str | Path, bad: BadRows = REFUSE, *, follow_links: bool = True
) -> Iterator[tuple[int, str]]:
    r"""Yield the lines of a file with their numbers, without line ends; empty lines too.

    A line that is not UTF-8 is a bad row.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "notes.txt.gz"
    >>> with writing(path) as file:
    ...     _ = file.write("one\ntwo\n")
    >>> list(read_lines(path))
    [(1, 'one'), (2, 'two')]
    """
    for number, line in read_raw_lines(path, follow_links=follow_links):
        try:
            yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            bad.report(RowError(shown(path), number, _not_utf8(error)))


def read_raw_lines(path: str | Path, *, follow_links: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file as bytes, with their numbers and line ends."""
    with _opened(path, follow_links) as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), b""), start=1):
            if len(line) == LONGEST_LINE:
                limit = LONGEST_LINE >> 20
                raise RowError(shown(path), number, f"the line is longer than {limit} MiB")
            # Files that were put together of several have such a mark before each of them.
            yield number, line.removeprefix(b"\xef\xbb\xbf")


def read_chunks(path: str | Path) -> Iterator[bytes]:
    """Yield a file's bytes in chunks, decompressed."""
    with _opened(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def read_head(path: str | Path, size: int = 4096) -> str:
    """The first characters of a file, for guessing what it holds."""
    with _opened(path) as file:
        return file.read(size).decode("utf-8", errors="ignore").removeprefix("\ufeff")


def plain_name(path: str | Path) -> str:
    """A file's name without the ending of its compression, in lower case.

    >>> plain_name("data/Posts.xml.gz")
    'posts.xml'
    """
    name = Path(path).name.lower()
    return name.rsplit(".", 1)[0] if name.endswith(COMPRESSED) else name


def given_name(path: str | Path) -> str:
    """A path as the user gave it, for ids: with its folders where it leads down from here.

    >>> given_name("notes/sheet.csv"), given_name("../notes/sheet.csv"), given_name("-")
    ('notes/sheet.csv', 'sheet.csv', 'stdin')
    """
    if str(path) == "-":
        return "stdin"
    place = Path(path)
    if place.is_absolute() or ".." in place.parts:
        return place.name
    return place.as_posix()


def shown(path: str | Path) -> str:
    """How a path appears in messages."""
    return "standard input" if str(path) == "-" else str(path)


class _Shown(StringIO):
    """Standard output where it is a terminal."""

    def write(self, text: str) -> int:
        return sys.stdout.write(visible(text))


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """Open a file to write text; it appears under its name only when all went well.

    The text goes to a new file beside the target, which replaces the target at the end. After
    an error or Ctrl-C the target is as it was before.
    """
    if str(path) == "-":
        # A file takes everything as it is; a terminal would obey some of it.
        yield _Shown() if sys.stdout.isatty() else sys.stdout
        return
    try:
        with writing_bytes(path) as raw:
            yield from _text_into(raw, Path(os.path.realpath(path)).suffix)
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: a text contains an invalid character ({error.reason})"
        ) from error


@contextmanager
def writing_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """The same for bytes."""
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    # Unlike a path, this raises nothing where nobody may look.
    special = os.path.exists(target) and not (os.path.isfile(target) or os.path.isdir(target))
    part = target if special else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.is_dir():
            raise InputError(f"{path}: is a folder (give the name of a file)")
        with part.open("wb") as raw:
            yield raw
            raw.flush()
            if not special:
                os.fsync(raw.fileno())
        if not special:
            part.replace(target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
    finally:
        if not special:
            with suppress(OSError):
                part.unlink()


def _text_into(raw: BinaryIO, suffix: str) -> Iterator[TextIO]:
    """Yield one text file that writes into a binary one, and finish it."""
    packers: dict[str, Callable[[BinaryIO], Any]] = {
        # No name and no time inside: the same rows give the same bytes.
        ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
        ".xz": partial(lzma.LZMAFile, mode="wb"),
        ".bz2": partial(bz2.BZ2File, mode="wb"),
    }
    packed = packers[suffix](raw) if suffix in packers else raw
    text = TextIOWrapper(packed, encoding="utf-8", newline="")
    try:
        yield text
    finally:
        text.detach()  # flushes, and leaves the binary file open
        if packed is not raw:
            packed.close()


@contextmanager
def _opened(path: str | Path, follow_links: bool = True) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    unpackers: dict[str, Callable[[BinaryIO], Any]] = {
        ".gz": lambda file: gzip.GzipFile(fileobj=file),
        ".xz": lzma.LZMAFile,
        ".bz2": bz2.BZ2File,
        ".zst": open_zstd,
    }
    unpack = unpackers.get(Path(path).suffix.lower())
    try:
        with _raw(path, follow_links) as raw:
            if unpack is None:
                yield raw
            else:
                with unpack(raw) as file:
                    yield file
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the compressed data is corrupt ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error


@contextmanager
def _raw(path: str | Path, follow_links: bool) -> Iterator[BinaryIO]:
    """The bytes of a file as they lie there, or of a member of an archive."""
    if isinstance(path, Member):
        try:
            with path.tree.open(path.name) as member:
                yield member
        except path.tree.broken as error:
            raise InputError(f"{path}: the archive is broken ({error})") from None
        return
    with open_plain(path, follow_links=follow_links) as raw, reading(raw):
        yield raw


def _not_utf8(error: UnicodeDecodeError) -> str:
    value = error.object[error.start]
    return f"byte 0x{value:02x} at position {error.start + 1} is not UTF-8 (convert the file first)"
