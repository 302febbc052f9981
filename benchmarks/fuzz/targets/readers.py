"""Fuzz targets for the readers, writers and validators of all formats, also compressed."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as arrow
from pyarrow import parquet

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.target import Target, expect, expect_equal, expect_refusal
from benchmarks.fuzz.targets.markup import MARKUP_TOKENS
from mathsetu.collections import formats, sampler
from mathsetu.collections.jsonl import to_json
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.errors import InputError
from mathsetu.records import Hit, Run

_TABLE = '\t , " "" \n \r\n Q0 0 1 -1 2.5 nan 1e400 ٣ 1_0 \ufeff \0 A.1 B.7 run'.split(" ")
_CSV = [
    *_TABLE,
    *"ID Title Body Tags QueryID SearchID Similarity query latex $x$ <p> </p>".split(" "),
]
_JSON = [
    *'" { } [ ] : , null true NaN 1e999 -0 "\\ud800" "\\u0000" \n \ufeff [[[[[[[[[['.split(" "),
    *'"id": "body": "formulas": "grade": "score": "text": "tags":'.split(" "),
    '{"mathsetu": "posts", "version": 1}',
    "1" * 5_000,
]
_XML = [
    *"< > /> </ &amp; &lt; &#x0; &#36; &bogus; &amp;lt; &a; <!-- --> <![CDATA[ ]]>".split(" "),
    *"<posts> </posts> <Topic </Topic> <Title> <Question> <Latex> \n \r ' \"".split(" "),
    *'Id="1" Body=" PostTypeId="2" ParentId="1" Score=" Title=" Tags="&lt;a&gt;"'.split(" "),
    "<row ",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    '<?xml version="1.0" encoding="utf-16"?>',
]
_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"BZh": ".bz2"}

# Small valid files, one folder per format.
_SEEDS = Path(__file__).parent.parent / "seeds"
_ENDINGS = {
    "clmir": ".csv",
    "arqmath-topics": ".xml",
    "stackexchange": ".xml",
    "jsonl": ".jsonl",
    "arqmath-formulas": ".tsv",
    "crossmath": ".tsv",
    "parquet": ".parquet",
}
# Formats that preserve all fields of a record; others may write less than they read.
_EXACT = ("jsonl-posts", "jsonl-queries", "jsonl-judgments", "jsonl-formulas", "trec-qrels",
          "parquet-posts", "parquet-queries", "parquet-judgments")  # fmt: skip
# Maximum number of records read; no seed has more.
_MOST = 500


class Reader(Target):
    """Files of one format; the first bytes of an input show whether it is compressed."""

    def __init__(self, format_name: str) -> None:
        self.name = f"read-{format_name}"
        self.floor = 2.0  # each file is read several times, and every row may be a bad one
        self.form = formats.find(format_name)
        ending = (end for start, end in _ENDINGS.items() if format_name.startswith(start))
        self._ending = next(ending, ".txt")
        self.tokens: Sequence[str] = self._tokens()

    def _tokens(self) -> Sequence[str]:
        name = self.form.name
        if name.startswith("jsonl"):
            return _JSON
        if name in ("stackexchange", "arqmath-topics"):
            return [*_XML, *MARKUP_TOKENS[:12]]
        return _CSV if name.startswith("clmir") else _TABLE

    def open(self, place: Path) -> None:
        """Create a folder for the files."""
        self._place = place / f"{self.name}-{id(self)}"
        self._place.mkdir(exist_ok=True)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._place, ignore_errors=True)

    def seeds(self) -> list[bytes]:
        """Small valid files, also compressed."""
        plain = [path.read_bytes() for path in sorted((_SEEDS / self.name).glob("*.txt"))]
        plain = plain or [as_bytes(_json_seed(self.form.holds))]
        return plain + [pack(plain[0]) for pack in _PACKERS.values()]

    def make(self, mutator: Mutator) -> bytes:
        """A mutated file; JSON is also mutated by value, and some files are compressed then."""
        chance = mutator.chance
        base = _unpacked(mutator.base())
        if self.form.name.startswith("jsonl") and chance.random() < 0.5:
            data = as_bytes(mutator.json_lines(as_text(base)))
        else:
            data = mutator.data()
        if chance.random() < 0.1:
            return chance.choice(list(_PACKERS.values()))(_unpacked(data))
        return data

    def kind(self, data: bytes) -> str:
        """The compression."""
        return _packing(data)

    def size(self, data: bytes) -> int:
        """The uncompressed size."""
        return len(_unpacked(data))

    def check(self, data: bytes) -> None:
        """Check that a file gives the same records each time, or a refusal in one line."""
        path = self._place / f"file{self._ending}{_packing(data)}"
        path.write_bytes(data)
        self._detect(path)
        self._check_file(path)

    def _detect(self, path: Path) -> None:
        try:
            formats.detect(path)
        except InputError as error:
            expect_refusal(error)

    def _check_file(self, path: Path) -> None:
        strict, problem = self._read(path, REFUSE)
        bad = BadRows(skip=True)
        lenient, refusal = self._read(path, bad)
        again, _ = self._read(path, BadRows(skip=True))
        expect_equal(again, lenient, "a second reading gives the same")
        expect(len(bad.errors) <= bad.count, "bad rows are counted")
        for error in bad.errors:
            expect_refusal(error)
        if problem is None:
            expect_equal(lenient, strict, "a file without bad rows is read the same either way")
            expect(bad.count == 0 and refusal is None, "a good file has no bad rows", bad.messages)
        else:
            expect(bool(bad.count or refusal), "what is refused is counted as bad", problem)
        self._validate(path, problem)
        if lenient:
            self._check_writing(path, lenient)

    def _read(self, path: Path, bad: BadRows) -> tuple[list[Any], InputError | None]:
        records: list[Any] = []
        try:
            records.extend(islice(self.form.read(path, bad), _MOST))
        except InputError as error:
            expect_refusal(error)
            return records, error
        return records, None

    def _validate(self, path: Path, problem: InputError | None) -> None:
        if self.form.validate is None:
            return
        try:
            problems = self.form.validate(path)
        except InputError as error:
            expect_refusal(error)
            return
        for found in problems:
            expect(bool(found.message.strip()), "a problem says what is wrong")
        if problem is not None:
            fatal = any(found.fatal for found in problems)
            expect(fatal, "a validator finds what a reader refuses", problem)

    def _check_writing(self, path: Path, records: list[Any]) -> None:
        if self.form.write is None:
            return
        target = path.with_name(f"written{self._ending}")
        try:
            self.form.write(target, records)
        except InputError as error:
            expect_refusal(error)
            return
        back, problem = self._read(target, REFUSE)
        expect(problem is None, "what is written can be read", problem)
        if self.form.name in _EXACT:
            expect_equal(back, records, "what is written reads as it was")
            return
        expect_equal(len(back), len(records), "as many records are read as were written")
        self.form.write(target, back)
        settled, _ = self._read(target, REFUSE)
        expect_equal(settled, back, "what was written once is written the same again")


class ParquetReader(Reader):
    """A Parquet format: mutated bytes, and files that Arrow writes from mutated rows."""

    def seeds(self) -> list[bytes]:
        """A file of a few valid records."""
        assert self.form.write is not None
        with TemporaryDirectory() as folder:
            path = Path(folder) / "seed.parquet"
            self.form.write(path, _records(self.form.holds))
            return [path.read_bytes()]

    def make(self, mutator: Mutator) -> bytes:
        """A mutated file; mostly its rows are mutated instead of its bytes."""
        if mutator.chance.random() < 0.3:
            return mutator.data()
        try:
            rows = parquet.read_table(BytesIO(mutator.base())).to_pylist()
            lines = mutator.json_lines("\n".join(json.dumps(row) for row in rows))
            table = arrow.Table.from_pylist([json.loads(line) for line in lines.splitlines()])
            target = BytesIO()
            parquet.write_table(table, target)
        except (
            arrow.ArrowException,
            ArithmeticError,
            AttributeError,
            OSError,
            TypeError,
            ValueError,
        ):
            return mutator.data()
        return target.getvalue()

    def kind(self, data: bytes) -> str:
        """The same for all inputs."""
        return ""

    def size(self, data: bytes) -> int:
        """The length of the file; its own metadata cannot be trusted."""
        return len(data)


class Folder(Reader):
    """A folder with one note; the first line of an input is the file name."""

    def __init__(self) -> None:
        super().__init__("folder")
        self.floor = 2.0
        own = "---\n ===\n \n <h1> </h1> <title> \\section{ } \\label{ \\begin{document} ```"
        self.tokens = ["# ", "## ", *own.split(" "), *MARKUP_TOKENS]

    def seeds(self) -> list[bytes]:
        """One small file of each kind."""
        return [path.read_bytes() for path in sorted((_SEEDS / self.name).glob("*.txt"))]

    def make(self, mutator: Mutator) -> bytes:
        """A mutated file with the same name."""
        name, _, text = as_text(mutator.base()).partition("\n")
        return as_bytes(name + "\n" + mutator.text(text))

    def kind(self, data: bytes) -> str:
        """The extension of the file."""
        return _file_name(data).rpartition(".")[2]

    def check(self, data: bytes) -> None:
        """Check that a file gives the same posts each time, with unique ids."""
        folder = self._place / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / _file_name(data)).write_bytes(data.partition(b"\n")[2])
        self._check_file(folder)
        posts, _ = self._read(folder, BadRows(skip=True))
        ids = [post.id for post in posts]
        expect(len(ids) == len(set(ids)), "every post has an id of its own", ids)


def _file_name(data: bytes) -> str:
    ending = data.partition(b"\n")[0].rpartition(b".")[2]
    return "file." + {b"html": "html", b"tex": "tex"}.get(ending, "md")


def _packing(data: bytes) -> str:
    return next((ending for magic, ending in _MAGIC.items() if data.startswith(magic)), "")


def _unpacked(data: bytes) -> bytes:
    openers = {".gz": gzip.decompress, ".xz": lzma.decompress, ".bz2": bz2.decompress}
    opener = openers.get(_packing(data))
    try:
        return opener(data) if opener else data
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        return data


def _records(holds: str) -> Sequence[Any]:
    posts = list(sampler.posts())
    every: dict[str, Sequence[Any]] = {
        "posts": posts[:40:8],
        "queries": list(sampler.queries())[:5],
        "formulas": [formula for post in posts[:30:6] for formula in post.formulas[:1]],
        "judgments": list(sampler.judgments())[:6],
        "runs": [
            Run("a", {"A.1": (Hit("7", 2.5), Hit("9", 1.0, "8"))}),
            Run("b", {"A.1": (Hit("9", 1.0),)}),
        ],
    }
    return every[holds]


def _json_seed(holds: str) -> str:
    lines = [json.dumps(to_json(record), ensure_ascii=False) for record in _records(holds)]
    return "\n".join([json.dumps({"mathsetu": holds, "version": 1}), *lines]) + "\n"
