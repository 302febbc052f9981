"""Fuzz targets for files: documents of all kinds, archives, tables and wiki dumps.

The first line of an input is its file name. The input of a Word document is the text of its main
part, and that of an archive is the text of its one member, so that mutations reach their readers.
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.target import expect
from benchmarks.fuzz.targets.markup import MARKUP_TOKENS
from benchmarks.fuzz.targets.readers import Reader
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds

_SEEDS = Path(__file__).parent.parent / "seeds"
_TEX = (
    r"\newcommand{\a}[1]{#1} \def\a#1{ \def\a{\a\a} \a \a{ \let\a\b \begin{document} "
    r"\end{document} \begin{theorem}[ \end{theorem} \newtheorem{a}{B} "
    r"\newenvironment{a}{b}{c} \begin{a} \end{a} \input{a} \section{ } "
    r"\label{x} \ref{x} \cite[ ]{ \iffalse \fi \verb|a| "
    r"\begin{verbatim} % \footnote{ \item[ \\[2pt] \ensuremath{x} "
    r"\DeclareMathOperator{\a}{b} \title{ \begin{tabular}{c}"
)
_PAGE = (
    '<math> </math> <mfrac> <mi>x</mi> <mtable><mtr><mtd> <annotation alttext="x" <h1> </h1> '
    '<span class="katex-html"> <mjx-container> <span class="texhtml"> <sup> <div class="math"> '
    '<img class="tex" alt="x"> <script type="math/tex"> </script> <nav> <!-- --> </span>'
)
_WORD = (
    "<w:p> </w:p> <w:r> <w:t>x</w:t> <m:oMath> </m:oMath> <m:f> <m:num> <m:den> <m:r><m:t>1</m:t>"
    "</m:r> <m:nary> <m:sub> <m:d> <m:e> <m:m> <m:mr> <m:eqArr> <m:acc> <m:rad> <!DOCTYPE"
)
_NOTES = ':::{.a} [[ ]] ^[ [^1] %% == $$ @eq-a {#a} --- ``` > [!note] "cell_type": "source":'
_WIKI = "{{ }} [[ ]] {{math| <math> </math> <ref> </ref> '' ''' == {| |} |- || * &lt;math&gt; <ns>0"
_COLUMNS = '{ } [ ] "text": "body": , ; | \t \n "" title Content id null 1e999 "\\ud800" lang'
_ENDINGS = ("md", "qmd", "html", "tex", "ipynb", "txt", "docx", "pdf")


class Named(Reader):
    """A format whose files are distinguished by their extensions."""

    endings: Sequence[str] = ()

    def seeds(self) -> list[bytes]:
        """One small file of each kind."""
        return [path.read_bytes() for path in sorted((_SEEDS / self.name).glob("*.txt"))]

    def make(self, mutator: Mutator) -> bytes:
        """A mutated file, sometimes with another extension."""
        name, _, content = mutator.base().partition(b"\n")
        if mutator.chance.random() < 0.05:
            name = f"file.{mutator.chance.choice(list(self.endings))}".encode()
        if name.endswith(b"pdf"):
            changed = Mutator(mutator.chance, mutator.pool).text(content.decode("latin-1"))
            return name + b"\n" + changed.encode("latin-1", "replace")
        return name + b"\n" + as_bytes(mutator.text(as_text(content)))

    def kind(self, data: bytes) -> str:
        """The extension of the file."""
        return self._ending_of(data)

    def size(self, data: bytes) -> int:
        """The length of the whole input."""
        return len(data)

    def _ending_of(self, data: bytes) -> str:
        given = data.partition(b"\n")[0].rpartition(b".")[2].decode("ascii", "ignore")
        return given if given in self.endings else self.endings[0]

    def check(self, data: bytes) -> None:
        """Check that a file gives the same posts each time, with unique ids."""
        ending, content = self._ending_of(data), data.partition(b"\n")[2]
        if ending == "pdf" and find_spec("pypdf") is None:
            return
        path = self._place / f"file.{ending}"
        path.write_bytes(self._packed(ending, content))
        self._detect(path)
        self._check_file(path)
        posts, _ = self._read(path, BadRows(skip=True, ids=SeenIds()))
        ids = [post.id for post in posts]
        expect(len(ids) == len(set(ids)), "every post has an id of its own", ids)

    def _packed(self, ending: str, content: bytes) -> bytes:
        return _word(content) if ending == "docx" else content


class Documents(Named):
    """Papers, notes, web pages, notebooks, Word and PDF files."""

    endings = _ENDINGS

    def __init__(self) -> None:
        super().__init__("document")
        own = " ".join((_TEX, _PAGE, _WORD, _NOTES)).split(" ")
        self.tokens = [*own, "# ", "\n", "\n\n", *MARKUP_TOKENS]

    def seeds(self) -> list[bytes]:
        """One small file of each kind, and a notebook."""
        cells = [{"cell_type": "markdown", "source": ["# One\n", "Let $x$."]},
                 {"cell_type": "code", "source": "1", "outputs": []}]  # fmt: skip
        notebook = json.dumps({"cells": cells, "nbformat": 4, "metadata": {}})
        return [*super().seeds(), f"a.ipynb\n{notebook}".encode()]


class Tables(Named):
    """CSV, TSV and JSON files with any columns."""

    endings = ("csv", "tsv", "json", "jsonl")

    def __init__(self) -> None:
        super().__init__("table")
        self.tokens = [*_COLUMNS.split(" "), *MARKUP_TOKENS[:8]]


class Wikis(Named):
    """Wiki dumps."""

    endings = ("xml",)

    def __init__(self) -> None:
        super().__init__("wikipedia")
        self.tokens = [*_WIKI.split(" "), "\n", "<page>", "</page>", "&lt;", *MARKUP_TOKENS[:8]]


class Archives(Named):
    """Archives of one document, some of them corrupt."""

    endings = ("zip", "tar", "tar.gz")

    def __init__(self) -> None:
        super().__init__("archive")
        self.tokens = [*_TEX.split(" "), "../", "/", "\n"]

    def _ending_of(self, data: bytes) -> str:
        given = data.partition(b"\n")[0].decode("ascii", "ignore")
        return next((one for one in reversed(self.endings) if given.endswith(one)), "zip")

    def _packed(self, ending: str, content: bytes) -> bytes:
        name, _, text = content.partition(b"\n")
        member = name.decode("utf-8", "replace").replace("\0", "")[:80] or "a.tex"
        buffer = io.BytesIO()
        if ending == "zip":
            with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(zipfile.ZipInfo(member, (2000, 1, 1, 0, 0, 0)), text)
        else:
            info = tarfile.TarInfo(member)
            info.size = len(text)
            packing = "w:gz" if ending == "tar.gz" else "w"
            with tarfile.open(fileobj=buffer, mode=packing) as archive:  # type: ignore[call-overload]
                archive.addfile(info, io.BytesIO(text))
        packed = bytearray(buffer.getvalue())
        if len(text) % 5 == 0 and packed:  # some are broken, always in the same place
            packed[len(text) * 7919 % len(packed)] ^= 1 + len(text) % 255
        return bytes(packed)


def _word(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        part = zipfile.ZipInfo("word/document.xml", (2000, 1, 1, 0, 0, 0))
        archive.writestr(part, content)
    return buffer.getvalue()
