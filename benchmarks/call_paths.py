"""Traces a query and a post through the engine, and prints both call paths, one file per line.

    python -m benchmarks.call_paths

A step is a file whose code is entered, described by the first line of its docstring. Only packages
from layer 2 up are shown: every package uses those below (formulas, languages, markup).
CONTRIBUTING.md has the result, and a test compares it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, is_dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import mathsetu
from mathsetu.cli import main as command_line
from mathsetu.collections import sampler
from mathsetu.library import build_library
from mathsetu.records import Post

PACKAGE = Path(mathsetu.__file__).parent
#: Packages that are not shown, because every package uses them.
LIBRARIES = ("formulas", "languages", "evaluation", "markup")
#: The module that is used if the inner loops are not compiled.
FALLBACK = "retrieval/kernels/plain.py"
QUERY = r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान"


@dataclass
class CallPath:
    """The files that were entered, in order, and the dataclasses that were created."""

    files: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)

    @property
    def drawn(self) -> list[str]:
        """The files from layer 2 up."""
        return [
            file
            for file in self.files
            if "/" in file and file.split("/")[0] not in LIBRARIES and file != FALLBACK
        ]


@contextmanager
def followed() -> Iterator[CallPath]:
    """Trace every file of the package that is entered, and every dataclass that is created."""
    path = CallPath()
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code.co_name == "__init__" and code.co_filename == "<string>":
            made = type(frame.f_locals.get("self"))
            if is_dataclass(made) and made.__module__.startswith("mathsetu."):
                path.values.setdefault(made.__name__, made.__module__)
        elif code.co_name != "<module>" and code.co_filename.startswith(str(PACKAGE)):
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            if file not in seen:
                seen.add(file)
                path.files.append(file)

    sys.setprofile(note)
    try:
        yield path
    finally:
        sys.setprofile(None)


def path_of_a_query(folder: Path) -> CallPath:
    """Trace ``mathsetu search`` with reasons, after a first call that has filled the caches."""

    def search() -> None:
        with redirect_stdout(StringIO()), suppress(SystemExit):
            command_line(["search", str(folder), QUERY, "--explain"])

    search()
    with followed() as path:
        search()
    return path


def path_of_a_post(folder: Path) -> CallPath:
    """Trace building a library of two posts, after a first build that has loaded the encoder."""
    posts = [
        Post(id="q", kind="question", title="Sums", body="What is the sum $1+2+\\dots+n$?"),
        Post(id="a", kind="answer", parent_id="q", body="It is $\\frac{n(n+1)}{2}$."),
    ]
    build_library(folder / "before", posts, processes=1)
    with followed() as path:
        build_library(folder / "after", posts, processes=1)
    return path


def drawing(title: str, path: CallPath) -> str:
    """Format a path, one line per step."""
    width = max(map(len, path.drawn))
    steps = (f"    {file:{width}}  {_first_line(PACKAGE / file)}" for file in path.drawn)
    return "\n".join([title, *steps])


def _first_line(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.split("\n")[0]


def both() -> dict[str, CallPath]:
    """Trace both paths, by title."""
    with TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        build_library(library, sampler.posts(), processes=1)
        return {
            "A query: mathsetu search LIBRARY QUERY --explain": path_of_a_query(library),
            "A post: mathsetu index LIBRARY POSTS": path_of_a_post(Path(folder)),
        }


def main() -> None:
    for title, path in both().items():
        print(drawing(title, path))
        print(f"    ({len(path.drawn)} files; {len(path.files)} with the libraries below)\n")


if __name__ == "__main__":
    main()
