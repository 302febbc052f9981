"""Files by name, in a folder or in an archive that is never unpacked to disk.

Names are relative paths with slashes. Hostile names of archive members do no harm, because nothing
is written to disk and names are only compared with other names.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import tarfile
import threading
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mathsetu.collections.compression import open_zstd
from mathsetu.collections.meter import reading
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError, MissingExtra, reason
from mathsetu.limits import LONGEST_ARCHIVE, LONGEST_DOCUMENT, MAX_GROWTH, MAX_MEMBERS
from mathsetu.places import is_library
from mathsetu.plain_files import open_plain

_CHUNK = 1 << 20
#: Exceptions that broken archives raise, besides OSError.
BROKEN = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError,
          NotImplementedError, RuntimeError, ValueError)  # fmt: skip


class Entry(NamedTuple):
    """A file of a tree; its size as stated before it is read."""

    name: str
    size: int


class Tree(ABC):
    """A set of files."""

    #: Prefix of names in messages.
    label: str = ""
    #: Exceptions that a broken member raises, besides those of its compression.
    broken = (zipfile.BadZipFile, tarfile.TarError, NotImplementedError)

    @abstractmethod
    def entries(self, bad: BadRows) -> Iterator[Entry]:
        """Yield the files in order; report entries that are not regular files."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""

    @abstractmethod
    def open(self, name: str) -> Any:
        """Return a context manager that opens a file as a stream of bytes."""

    def read(self, name: str, limit: int = LONGEST_DOCUMENT) -> bytes:
        """Return the whole content of a file; raise InputError if it exceeds the limit."""
        with self.open(name) as file:
            data: bytes = file.read(limit + 1)
        if len(data) > limit:
            raise InputError(f"{self.shown(name)}: the file is longer than {limit >> 20} MiB")
        return data

    def shown(self, name: str) -> str:
        """Return the name of a file for messages."""
        return f"{self.label}/{name}" if self.label else name


class FolderTree(Tree):
    """A folder on disk; links are not followed, because they may lead out of it."""

    def __init__(self, root: Path, label: str | None = None) -> None:
        self.root = root
        self.label = str(root) if label is None else label

    def entries(self, bad: BadRows) -> Iterator[Entry]:
        """Yield files in order of their folders, then of their names."""

        def unreadable(error: OSError) -> None:
            bad.add_ignored(str(error.filename), f"a folder that cannot be read: {reason(error)}")

        for folder, folders, names in os.walk(self.root, onerror=unreadable):
            shown = sorted(name for name in folders if not name.startswith("."))
            hidden = [name for name in folders if name.startswith(".")]
            hidden += [name for name in names if name.startswith(".")]
            for name in sorted(hidden):
                bad.add_ignored(Path(folder, name), "hidden")
            links = [name for name in shown if Path(folder, name).is_symlink()]
            libraries = [name for name in shown if is_library(Path(folder, name))]
            folders[:] = [name for name in shown if name not in {*links, *libraries}]
            for name in links:
                _link(Path(folder, name), bad)
            for name in libraries:
                if name not in links:
                    bad.add_ignored(Path(folder, name), "a library")
            for name in sorted(names):
                path = Path(folder, name)
                if name.startswith("."):
                    continue
                if path.is_symlink():
                    _link(path, bad)
                elif not path.is_file():
                    bad.note(f"{path}: not a regular file, not read")
                    bad.add_ignored(path, "not a regular file")
                else:
                    yield Entry(path.relative_to(self.root).as_posix(), path.stat().st_size)

    def has(self, name: str) -> bool:
        """Whether there is a regular file of this name, not reached through a link."""
        path = self.root
        for part in name.split("/"):
            path = path / part
            if part in ("", "..") or path.is_symlink():
                return False
        return path.is_file()

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open the file."""
        with open_plain(self.root / name) as file, reading(file):
            yield file

    def path(self, name: str) -> Path:
        """Return the path of a file on disk."""
        return self.root / name


def _link(path: Path, bad: BadRows) -> None:
    bad.note(f"{path}: a link, not followed")
    bad.add_ignored(path, "a link, not followed")


class ZipTree(Tree):
    """A zip archive."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        self.label = label
        self._zip = zipfile.ZipFile(file)
        infos = [info for info in self._zip.infolist() if not info.is_dir()]
        packed = file.seek(0, os.SEEK_END)
        _check_growth(sum(info.file_size for info in infos), packed, label)
        self._members = {clean_name(info.filename): info for info in infos}
        self._outside = [info.filename for info in infos if not clean_name(info.filename)]
        self._members.pop("", None)

    def entries(self, bad: BadRows) -> Iterator[Entry]:
        """Files by name."""
        _report_outside(self._outside, self.label, bad)
        for name in _counted(self._members, self.label):
            info = self._members[name]
            if info.flag_bits & 1:
                bad.add_ignored(self.shown(name), "encrypted")
            else:
                yield Entry(name, info.file_size)

    def has(self, name: str) -> bool:
        """Whether there is such a member."""
        return name in self._members

    def open(self, name: str) -> Any:
        """Open the member as a decompressed stream."""
        return self._zip.open(self._members[name])


class TarTree(Tree):
    """A tar archive in a seekable file."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        self.label = label
        self._tar = tarfile.TarFile(fileobj=file)
        self._members: dict[str, tarfile.TarInfo] = {}
        self._others: list[str] = []
        self._outside: list[str] = []
        for number, info in enumerate(self._tar):
            if number >= MAX_MEMBERS:
                raise InputError(f"{label}: has more than {MAX_MEMBERS:,} members")
            name = clean_name(info.name)
            if info.isreg() and name:
                self._members[name] = info
            elif info.isreg():
                self._outside.append(info.name)
            elif not info.isdir():
                self._others.append(info.name)

    def entries(self, bad: BadRows) -> Iterator[Entry]:
        """Yield files by name; links and devices are skipped."""
        _report_outside(self._outside, self.label, bad)
        for name in self._others:
            bad.add_ignored(self.shown(name), "not a regular file")
        for name in _counted(self._members, self.label):
            yield Entry(name, self._members[name].size)

    def has(self, name: str) -> bool:
        """Whether there is such a member."""
        return name in self._members

    def open(self, name: str) -> Any:
        """Open the member."""
        file = self._tar.extractfile(self._members[name])
        assert file is not None  # members are regular files
        return file


class SevenZipTree(Tree):
    """A 7z archive, read by py7zr."""

    def __init__(self, path: str | Path, label: str) -> None:
        try:
            import py7zr
        except ImportError:
            raise MissingExtra(f"{label}: reading 7z archives", "archives") from None
        self.label = label
        self._path = path
        self._module = py7zr
        try:
            with py7zr.SevenZipFile(path) as archive:
                if archive.needs_password():
                    raise InputError(f"{label}: is encrypted (unpack it first)")
                infos = [info for info in archive.list() if not info.is_directory]
                total = sum(int(info.uncompressed) for info in infos)
            _check_growth(total, Path(path).stat().st_size, label)
        except (py7zr.exceptions.ArchiveError, OSError, *BROKEN, TypeError, IndexError) as error:
            raise InputError(f"{label}: the archive is broken ({_words(error)})") from None
        self._members = {clean_name(info.filename): info for info in infos}
        self._outside = [info.filename for info in infos if not clean_name(info.filename)]
        self._members.pop("", None)

    def entries(self, bad: BadRows) -> Iterator[Entry]:
        """Files by name."""
        _report_outside(self._outside, self.label, bad)
        for name in _counted(self._members, self.label):
            yield Entry(name, int(self._members[name].uncompressed))

    def has(self, name: str) -> bool:
        """Whether there is such a member."""
        return name in self._members

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open the member as a stream: a thread decompresses it into a pipe."""
        reading, writing = os.pipe()
        problems: list[BaseException] = []
        worker = threading.Thread(
            target=self._unpack, args=(self._members[name].filename, writing, problems), daemon=True
        )
        worker.start()
        file = os.fdopen(reading, "rb", buffering=_CHUNK)
        try:
            yield file
            if problems:
                raise InputError(f"{self.shown(name)}: is broken ({_words(problems[0])})")
        finally:
            file.close()  # if the worker still writes, it gets an error and ends
            worker.join()

    def _unpack(self, member: str, descriptor: int, problems: list[BaseException]) -> None:
        module = self._module

        class Pipe(module.io.Py7zIO):  # type: ignore[misc, name-defined, unused-ignore]
            """Writes the decompressed data into the pipe."""

            def write(self, data: bytes | bytearray) -> int:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view) :]
                return len(data)

            def read(self, size: int | None = None) -> bytes:
                return b""

            def seek(self, offset: int, whence: int = 0) -> int:
                return 0

            def flush(self) -> None:
                return

            def size(self) -> int:
                return 0

        class Pipes(module.io.WriterFactory):  # type: ignore[misc, name-defined, unused-ignore]
            """Creates the output for the member: the pipe."""

            def create(self, filename: str) -> Any:
                return Pipe()

        try:
            with module.SevenZipFile(self._path) as archive:
                archive.extract(targets=[member], factory=Pipes())
        except BrokenPipeError:
            pass  # the reader stopped before the end
        except BaseException as error:
            problems.append(error)
        finally:
            with suppress(OSError):
                os.close(descriptor)


@contextmanager
def open_archive(path: str | Path, label: str, data: bytes | None = None) -> Iterator[Tree | None]:
    """Open an archive as a tree in a ``with`` block; the tree is None for any other file.

    Args:
        path: The file.
        label: The name of the file in messages.
        data: The content of the file, if it is a member of another archive.
    """
    try:
        file = open_plain(path, follow_links=True) if data is None else io.BytesIO(data)
    except OSError as error:
        raise InputError(f"{label}: cannot be read ({reason(error)})") from None
    with file, reading(file):
        try:
            tree = _tree_of(file, path, label, is_inner=data is not None)
        except (OSError, *BROKEN) as error:
            raise InputError(f"{label}: the archive is broken ({_words(error)})") from None
        yield tree


def _tree_of(file: BinaryIO, path: str | Path, label: str, *, is_inner: bool) -> Tree | None:
    head = file.read(512)
    file.seek(0)
    if head.startswith(b"7z\xbc\xaf\x27\x1c"):
        if is_inner:
            raise InputError(f"{label}: a 7z archive inside another (unpack it first)")
        return SevenZipTree(path, label)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return ZipTree(file, label)
    if head[257:262] == b"ustar":
        return TarTree(file, label)
    unpack = compression(head)
    if unpack is None:
        return None
    with unpack(file) as unpacked:
        if unpacked.read(512)[257:262] != b"ustar":
            return None
    file.seek(0)
    with unpack(file) as unpacked:
        whole = unpacked.read(LONGEST_ARCHIVE + 1)
    if len(whole) > LONGEST_ARCHIVE:
        raise InputError(
            f"{label}: unpacks to more than {LONGEST_ARCHIVE >> 20} MiB (unpack it, "
            "and give the folder)"
        )
    return TarTree(io.BytesIO(whole), label)


def compression(head: bytes) -> Callable[[BinaryIO], Any] | None:
    """Return the decompressor for a file with this beginning; None if it is not compressed."""
    if head.startswith(b"\x1f\x8b"):
        return lambda file: gzip.GzipFile(fileobj=file)
    if head.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile
    if head.startswith(b"BZh"):
        return bz2.BZ2File
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return open_zstd
    return None


def clean_name(name: str) -> str:
    """Normalise the name of a member to a relative path; empty if it leads out of the archive.

    >>> clean_name("./a//b.tex"), clean_name("../../etc/passwd"), clean_name("/etc/passwd")
    ('a/b.tex', '', '')
    """
    name = name.replace("\\", "/")
    if name.startswith("/") or "\0" in name:
        return ""
    name = posixpath.normpath(name)
    return "" if name in (".", "..") or name.startswith("../") else name


def _report_outside(names: list[str], label: str, bad: BadRows) -> None:
    for name in names:
        bad.add_ignored(f"{label}: {name}", "a path that leads outside its archive")


def _check_growth(total: int, packed: int, label: str) -> None:
    """Refuse an archive with an implausible compression ratio (a zip bomb)."""
    if total > LONGEST_ARCHIVE and total > MAX_GROWTH * packed:
        raise InputError(
            f"{label}: claims to unpack to {total >> 20:,} MiB, more than {MAX_GROWTH} times "
            "its size"
        )


def _counted(members: dict[str, Any], label: str) -> list[str]:
    if len(members) > MAX_MEMBERS:
        raise InputError(f"{label}: has more than {MAX_MEMBERS:,} members")
    return sorted(name for name in members if not posixpath.basename(name).startswith("."))


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
