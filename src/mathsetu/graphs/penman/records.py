"""Files of graphs: Penman blocks with comments, or JSON lines that hold Penman.

A block has ``# ::id`` and ``# ::formula_map`` (JSON) lines above its graph and a blank line below.
A JSON line is an object with the graph in ``graph``, ``penman`` or ``amr``, the post's ``id`` (or
``post_id``) and the ``formula_map``. Both are read; blocks are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from mathsetu.errors import InputError, NotationError, RowError
from mathsetu.graphs.graph import Graph
from mathsetu.graphs.penman.reading import read_penman
from mathsetu.graphs.penman.writing import write_penman
from mathsetu.plain_files import open_plain

_COMMENT = re.compile(r"#\s*::(\S+)\s*(.*)")
_GRAPH_KEYS = ("graph", "penman", "amr")
_ID_KEYS = ("id", "post_id", "doc_id")


@dataclass(frozen=True, slots=True)
class Record:
    """A graph and the post that it is of."""

    id: str
    graph: Graph


def write_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write graphs as Penman blocks; halves of characters become question marks.

    Raises:
        InputError: When the file cannot be written, or a graph is in pieces.
    """
    try:
        with Path(path).open("w", encoding="utf-8", errors="replace") as file:
            for record in records:
                formula_map = json.dumps(record.graph.formula_map, ensure_ascii=False)
                file.write(f"# ::id {json.dumps(record.id, ensure_ascii=False)}\n")
                file.write(f"# ::formula_map {formula_map}\n{write_penman(record.graph)}\n\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error})") from None


def read_records(path: str | Path) -> Iterator[Record]:
    """The graphs of a file, one at a time.

    Raises:
        InputError: When there is no such file, or a graph in it cannot be read; the message
            says in which line.
    """
    try:
        with TextIOWrapper(open_plain(path, follow_links=True), encoding="utf-8") as lines:
            for line, block in _blocks(lines):
                try:
                    yield _json_record(block) if block[0] == "{" else _penman_record(block)
                except (NotationError, ValueError, RecursionError) as error:
                    raise RowError(path, line, f"no graph can be read ({error})") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error.reason})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """What belongs together: a JSON line, or the lines up to a blank one; with the first line."""
    first, block = 0, list[str]()
    for number, line in enumerate(lines, start=1):
        if line.startswith("{") and not block:
            yield number, line
        elif line.strip():
            first = first if block else number
            block.append(line)
        elif block:
            yield first, "".join(block)
            block = []
    if block:
        yield first, "".join(block)


def _penman_record(block: str) -> Record:
    found = (_COMMENT.fullmatch(line) for line in block.splitlines())
    comments = {comment[1]: comment[2] for comment in found if comment is not None}
    formula_map = json.loads(comments.get("formula_map") or "{}")
    name = comments.get("id", "")
    return _record(json.loads(name) if name.startswith('"') else name, block, formula_map)


def _json_record(line: str) -> Record:
    row = json.loads(line)
    text = next((row[key] for key in _GRAPH_KEYS if isinstance(row.get(key), str)), None)
    if text is None:
        raise ValueError(f"none of {', '.join(_GRAPH_KEYS)} is in it")
    name = next((row[key] for key in _ID_KEYS if key in row), "")
    return _record(name, text, row.get("formula_map") or {})


def _record(name: object, text: str, formula_map: object) -> Record:
    if not isinstance(formula_map, dict):
        raise ValueError("the formula_map is no JSON object")
    ids = {str(key): str(value) for key, value in formula_map.items()}
    return Record(str(name), read_penman(text, ids))
