"""Opens text files, also compressed ones, and writes files atomically.

``-`` is standard input or output. ``.gz``, ``.xz``, ``.bz2`` and ``.zst`` are decompressed while
they are read; all but ``.zst`` can also be written. Members of archives are read like files.
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

from mathsetu.collections.compression import Member, open_zstd
from mathsetu.collections.meter import reading
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.errors import InputError, RowError, reason
from mathsetu.plain_files import open_plain
from mathsetu.printable import visible

COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
# No format has rows this long: the file is of another type, or hostile.
LONGEST_LINE = 64 * 1024 * 1024
_CHUNK = 1 << 20


def read_lines(
    path: str | Path, bad: BadRows = REFUSE, *, follow_links: bool = True
) -> Iterator[tuple[int, str]]:
    r"""Yield all lines of a file with their numbers, without line ends.

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
            # A concatenation of several files has a byte order mark at the start of each.
            yield number, line.removeprefix(b"\xef\xbb\xbf")


def read_chunks(path: str | Path) -> Iterator[bytes]:
    """Yield a file's bytes in chunks, decompressed."""
    with _opened(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def read_head(path: str | Path, size: int = 4096) -> str:
    """Return the beginning of a file, from which its format is guessed."""
    with _opened(path) as file:
        return file.read(size).decode("utf-8", errors="ignore").removeprefix("\ufeff")


def plain_name(path: str | Path) -> str:
    """Return a file name in lower case, without the ending of its compression.

    >>> plain_name("data/Posts.xml.gz")
    'posts.xml'
    """
    name = Path(path).name.lower()
    return name.rsplit(".", 1)[0] if name.endswith(COMPRESSED) else name


def given_name(path: str | Path) -> str:
    """Return a path as used in ids: with its folders if it is below the working directory.

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
    """Standard output on a terminal, without the characters that control a terminal."""

    def write(self, text: str) -> int:
        return sys.stdout.write(visible(text))


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """Open a file to write text; the file is replaced only if everything was written.

    The text goes to a temporary file in the same folder, which replaces the target at the end.
    After an error or Ctrl-C the target is unchanged.
    """
    if str(path) == "-":
        # A terminal would interpret control characters; a file or a pipe gets the text unchanged.
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
    """Open a file to write bytes, with the same guarantee as `writing`."""
    # Keep a symbolic link; replace the file that it points to.
    target = Path(os.path.realpath(path))
    # os.path.exists, unlike Path.exists, does not raise if access is denied.
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
    """Yield a text file that writes into a binary one, compressed if the suffix says so."""
    packers: dict[str, Callable[[BinaryIO], Any]] = {
        # Omit the name and the time, so that the same rows give the same bytes.
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
    """Open a file, or a member of an archive, without decompressing it."""
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
