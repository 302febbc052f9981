"""Fuzz target for library files that are damaged or forged; an input is a list of changes.

Each line is one change, such as ``flip segments/000001/posts.sqlite 100 255``. Afterwards the
library must be refused in one line, or answer as before. If the manifest itself was changed, or its
checksums were updated for changed files (``sign``), it is another library and may answer
differently; it must still open and answer, or be refused.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.target import Target, expect_equal, expect_refusal
from benchmarks.fuzz.targets.sample_libraries import library, some_posts
from mathsetu.cli.info import command as info
from mathsetu.errors import InputError
from mathsetu.library import Filter, Library
from mathsetu.library.manifest import describe, signed
from mathsetu.retrieval.mapped import seal

_QUERIES = ("prime numbers", "$a^2+b^2=c^2$", "समाकल $\\int_0^1 x dx$")
_MANIFEST = "manifest.json"
# Changes that make it another library, which may answer differently.
_FORGERIES = ("sign", "set", "drop")
# Changes that do not need an existing file.
_WITHOUT_FILE = ("extra", "folder-link")
_SIMPLE = ("remove", "empty", "fifo", "folder", "outside", "hard")
_FOLDERS = ("segments", "segments/000001", "segments/000001/words")
_LINKS = "/dev/null /dev/zero /etc/hostname . .. nowhere ../../manifest.json outside".split()
_HEADERS = (
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (1152921504606846976,), }",
    "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '|S0', 'fortran_order': False, 'shape': (), }",
    "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }",
    "{'descr': '<u1', 'fortran_order': False, 'shape': (4, 0, 9), }",
    "(" * 200,
)
_VALUES = ("-1", "0", "1", "9223372036854775807", "nan", "inf")
_STATEMENTS = (
    "UPDATE posts SET record = '{}'",
    "UPDATE posts SET record = '[' || record",
    "UPDATE posts SET record = NULL",
    "UPDATE posts SET number = number + 1000",
    "UPDATE posts SET number = -number - 5",
    "UPDATE posts SET id = x'ff00' WHERE number = 0",
    "UPDATE posts SET language = 7",
    "DELETE FROM posts WHERE number % 2",
    "DELETE FROM posts",
    "DROP TABLE tags",
    "DROP TABLE posts",
    "UPDATE tags SET number = 99999",
    "UPDATE tags SET number = 'x'",
    "CREATE TABLE more (a)",
    "PRAGMA user_version = 7",
    "PRAGMA journal_mode = WAL",
)
_SETTINGS = (
    "format mathsetu version recipe recipe.name recipe.parts recipe.parts.words.kind"
    " recipe.parts.words.scheme.k1 recipe.parts.words.fields recipe.parts.formulas.matched"
    " recipe.parts.meaning.min_cosine recipe.ranking.weights recipe.ranking.weights.words"
    " recipe.ranking.k recipe.ranking.candidates recipe.ranking.normalise recipe.ranking.fuse"
    " recipe.rerank recipe.query.translate recipe.query.model recipe.systems segments segments.0"
    " segments.0.name segments.0.posts segments.0.removed segments.0.files segments.1.name"
    " segments.0.files.posts~sqlite segments.0.files.words/terms~npy languages languages.en"
).split()
_SETTING_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 7, 3.5, 1e308, 10**30, [], [0], [-1], [10**30], [[[]]], {}, [1, "00"]),
    *("", "..", "../000002", "000001", "000002", "/etc", "x\0", "٣", "\ud800", "graph", "dense"),
    *({"x": 1}, {"kind": "formula"}, {"words": 0}, {"../../x": [1, "a"]}, {"posts.sqlite": [1]}),
)


class LibraryFiles(Target):
    """A library of two segments with one removed post."""

    name = "library"
    floor = 1.0

    def open(self, place: Path) -> None:
        """Build the library, and record its answers."""
        self._good = library(place, "damaged", some_posts(72), in_parts=True)
        self._work = place / f"damaged-{os.getpid()}"
        self._files = sorted(
            path.relative_to(self._good).as_posix()
            for path in self._good.rglob("*")
            if path.is_file()
        )
        self._restore()
        self._answers = _answers(self._work)

    def close(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self._work, ignore_errors=True)

    def seeds(self) -> list[bytes]:
        """One change of each kind."""
        file = next(name for name in self._files if name.endswith("terms.npy"))
        lines = (
            "",
            f"flip {file} 200 255",
            f"cut {file} 9",
            f"grow {file} 00ff",
            f"remove {file}",
            f"link {file} /dev/zero",
            f"fifo {file}",
            f"folder {file}",
            f"outside {file}",
            f"swap {file} {_MANIFEST}",
            "extra segments/000001/words/more.npy",
            "folder-link segments",
            "set segments.0.posts 5",
            "drop recipe.ranking",
            f"head {file} {_HEADERS[0]}\nsign",
            f"number {file} 3 -1\nsign",
            "sql segments/000001/posts.sqlite DELETE FROM posts\nsign",
        )
        return [as_bytes(line) for line in lines]

    def make(self, mutator: Mutator) -> bytes:
        """One to three changes, half of the time with updated checksums."""
        chance = mutator.chance
        lines = [self._line(mutator) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        if chance.random() < 0.5:
            lines.append("sign")
        return as_bytes("\n".join(lines))

    def _line(self, mutator: Mutator) -> str:
        chance = mutator.chance
        file, other = chance.choice(self._files), chance.choice(self._files)
        if chance.random() < 0.1:
            file = _MANIFEST
        size = (self._good / file).stat().st_size
        # The first bytes of a file name its type, and the last bytes often locate its parts.
        near = chance.choice(
            (chance.randint(0, 128), chance.randint(0, size), max(size - chance.randint(1, 64), 0))
        )
        array = chance.choice([name for name in self._files if name.endswith(".npy")])
        store = chance.choice([name for name in self._files if name.endswith(".sqlite")])
        place, number = chance.randint(-3, 60), chance.randint(-9, 10**6)
        setting, value = chance.choice(_SETTINGS), json.dumps(chance.choice(_SETTING_VALUES))
        new = (f"{file}.bak", "segments/000009/x", "segments/x", "x", f"{file}/x")
        lines = (
            f"flip {file} {near} {1 << chance.randrange(8)}",
            f"flip {file} {near} {chance.randint(1, 255)}",
            f"write {file} {near} {chance.randbytes(chance.randint(1, 16)).hex()}",
            f"cut {file} {near}",
            f"grow {file} {chance.randbytes(chance.randint(1, 16)).hex()}",
            f"{chance.choice(_SIMPLE)} {file}",
            f"link {file} {chance.choice(_LINKS)}",
            f"{chance.choice(('swap', 'copy'))} {file} {other}",
            f"extra {chance.choice(new)}",
            f"set {setting} {value}",
            f"drop {setting}",
            f"head {array} {chance.choice(_HEADERS)}",
            f"number {array} {place} {chance.choice(_VALUES)}",
            f"number {array} {place} {number}",
            f"sql {store} {chance.choice(_STATEMENTS)}",
            f"folder-link {chance.choice(_FOLDERS)}",
        )
        return chance.choice(lines)

    def kind(self, data: bytes) -> str:
        """Whether the library is damaged or forged."""
        return "forged" if _is_forged(data) else "damaged"

    def check(self, data: bytes) -> None:
        """Check that the library is refused in one line, or answers as before."""
        try:
            for line in as_text(data).splitlines():
                with suppress(
                    OSError,
                    ValueError,
                    IndexError,
                    KeyError,
                    TypeError,
                    OverflowError,
                    sqlite3.Error,
                ):
                    apply(self._work, line)
            refusal = self._opened(is_forged=_is_forged(data))
            self._inspect(refusal)
        finally:
            self._restore()

    def _opened(self, is_forged: bool) -> InputError | None:
        try:
            answers = _answers(self._work)
        except InputError as error:
            expect_refusal(error)
            return error
        if not is_forged:
            expect_equal(
                answers, self._answers, "a damaged library is refused or answers as before"
            )
        return None

    def _inspect(self, refusal: InputError | None) -> None:
        """Run ``mathsetu info --check``, which may refuse the library."""
        result = CliRunner().invoke(info, [str(self._work), "--check"], standalone_mode=False)
        error = result.exception
        if isinstance(error, InputError):
            expect_refusal(error)
        elif error is not None:
            raise error

    def _restore(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        if self._work.is_symlink() or self._work.is_file():
            self._work.unlink()
        shutil.copytree(self._good, self._work)


def _is_forged(data: bytes) -> bool:
    words = [line.split(" ") for line in as_text(data).splitlines()]
    return any(line[0] in _FORGERIES or _MANIFEST in line for line in words)


def _answers(folder: Path) -> tuple[object, ...]:
    """Call every kind of search on a library, and return the answers."""
    with Library(folder) as opened:
        hits = [opened.search(query, 4) for query in _QUERIES]
        found = [hit.id for some in hits for hit in some]
        return (
            len(opened),
            hits,
            [opened.post(name) for name in found],
            opened.search(_QUERIES[0], 4, where=Filter("en", ("number-theory",)), explain=False),
            opened.similar(found[0], 3).hits if found else (),
            [(match.latex, opened.posts_with(match, 3)) for match in opened.formulas("x^2", 3)],
            opened.tags(5),
        )


def apply(folder: Path, line: str) -> None:
    """Apply one change to a library; a change that is impossible is skipped."""
    word, _, rest = line.partition(" ")
    name, _, argument = rest.partition(" ")
    path = folder / (_MANIFEST if word in _FORGERIES else name)
    if ".." in name or name.startswith("/"):
        return
    if word not in _WITHOUT_FILE and (path.is_symlink() or not path.is_file()):
        return  # reading a device or a pipe might never end
    if word == "sign":
        sign(folder)
    elif word in ("set", "drop"):
        _change_manifest(path, name, argument if word == "set" else None)
    elif word == "swap":
        _swap(path, folder / argument)
    elif word == "copy":
        (folder / argument).write_bytes(path.read_bytes())
    else:
        _CHANGES[word](path, argument)


def sign(folder: Path) -> None:
    """Update the checksums in the manifest for the present files."""
    path = folder / _MANIFEST
    content = json.loads(path.read_bytes())
    for segment in content["segments"]:
        place = folder / "segments" / segment["name"]
        with suppress(InputError, OSError):  # links and devices have no checksums
            seal(place)
            segment["files"] = describe(place)
    _write_manifest(path, content)


def _change_manifest(path: Path, setting: str, value: str | None) -> None:
    """Replace or remove a setting; ``~`` is a dot inside a name."""
    content: Any = json.loads(path.read_bytes())
    *outer, last = (step.replace("~", ".") for step in setting.split("."))
    place = content
    for step in outer:
        place = place[int(step) if isinstance(place, list) else step]
    key = int(last) if isinstance(place, list) else last
    if value is None:
        del place[key]
    else:
        place[key] = json.loads(value)
    _write_manifest(path, content)


def _write_manifest(path: Path, content: Any) -> None:
    """Write a manifest with a valid checksum, whatever its content."""
    is_table = isinstance(content, dict)
    written = json.dumps(signed(content) if is_table else content)
    path.write_text(written, encoding="utf-8", errors="surrogatepass")


def _flip(path: Path, argument: str) -> None:
    offset, mask = map(int, argument.split(" "))
    data = bytearray(path.read_bytes())
    data[offset] ^= mask & 255
    path.write_bytes(data)


def _write(path: Path, argument: str) -> None:
    offset, written = argument.split(" ")
    data = bytearray(path.read_bytes())
    new = bytes.fromhex(written)
    data[int(offset) : int(offset) + len(new)] = new
    path.write_bytes(data)


def _link(path: Path, argument: str) -> None:
    path.unlink()
    path.symlink_to(argument)


def _outside(path: Path, _: str) -> None:
    """Move a file, and replace it by a link to it."""
    there = path.parent / f".{path.name}.there"
    path.rename(there)
    path.symlink_to(there.name)


def _hard(path: Path, _: str) -> None:
    os.link(path, path.with_name(f"{path.name}.twin"))


def _folder(path: Path, _: str) -> None:
    path.unlink()
    path.mkdir()


def _fifo(path: Path, _: str) -> None:
    path.unlink()
    os.mkfifo(path)


def _swap(path: Path, other: Path) -> None:
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


def _extra(path: Path, _: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x93NUMPY\x01\x00")


def _head(path: Path, header: str) -> None:
    """Replace the header of an array file."""
    data = path.read_bytes()
    length = int.from_bytes(data[8:10], "little")
    padded = header.encode() + b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(data[:8] + len(padded).to_bytes(2, "little") + padded + data[10 + length :])


def _number(path: Path, argument: str) -> None:
    """Replace a number in an array."""
    place, value = argument.split(" ")
    array = np.load(path, allow_pickle=False)
    flat = array.reshape(-1)
    kind = flat.dtype.type
    flat[int(place)] = kind(float(value)) if flat.dtype.kind == "f" else kind(int(value))
    np.save(path, array, allow_pickle=False)


def _sql(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.execute(statement)
    finally:
        connection.close()


def _folder_link(path: Path, _: str) -> None:
    there = path.with_name(f".{path.name}.there")
    path.rename(there)
    path.symlink_to(there.name)


_CHANGES: dict[str, Callable[[Path, str], object]] = {
    "flip": _flip,
    "write": _write,
    "cut": lambda path, size: os.truncate(path, int(size)),
    "grow": lambda path, written: path.write_bytes(path.read_bytes() + bytes.fromhex(written)),
    "remove": lambda path, _: path.unlink(),
    "empty": lambda path, _: path.write_bytes(b""),
    "link": _link,
    "outside": _outside,
    "hard": _hard,
    "folder": _folder,
    "fifo": _fifo,
    "extra": _extra,
    "head": _head,
    "number": _number,
    "sql": _sql,
    "folder-link": _folder_link,
}
