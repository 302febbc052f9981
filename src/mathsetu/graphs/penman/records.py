"""Files of graphs: Penman blocks with comments, or JSON Lines that contain Penman.

A block has comments such as ``# ::id`` and ``# ::snt`` above its graph and a blank line below.
Blocks that we write also have ``# ::formula_map`` (JSON). A JSON line is an object with the graph
in ``graph``, ``penman`` or ``amr``, the post id in ``id``, ``post_id`` or ``doc_id``, and the
``formula_map``. Both formats are read; blocks are written. Blocks that contain only comments, as
at the beginning of public collections, are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from mathsetu.errors import InputError, NotationError, RowError, reason
from mathsetu.graphs.graph import Graph
from mathsetu.graphs.penman.reading import read_penman
from mathsetu.graphs.penman.writing import write_penman
from mathsetu.plain_files import open_plain

_COMMENT = re.compile(r"#\s*::(\S+)\s*(.*)")
# Comments whose value is the rest of the line; a line may contain several of the others.
_WHOLE_LINE = frozenset({"snt", "tok", "formula_map"})
_GRAPH_KEYS = ("graph", "penman", "amr")
_ID_KEYS = ("id", "post_id", "doc_id")


@dataclass(frozen=True, slots=True)
class Record:
    """A graph, the id of its post or sentence, and for a sentence its text."""

    id: str
    graph: Graph
    sentence: str = ""


def write_records(path: str | Path, records: Iterable[Record]) -> int:
    """Write graphs as Penman blocks; lone surrogates become question marks.

    Returns:
        The number of graphs.

    Raises:
        InputError: When the file cannot be written, or a graph is not connected.
    """
    count = 0
    try:
        with Path(path).open("w", encoding="utf-8", errors="replace") as file:
            for record in records:
                file.write(f"{block_of(record)}\n\n")
                count += 1
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error})") from None
    return count


def block_of(record: Record) -> str:
    """Return one graph as a Penman block.

    >>> print(block_of(Record("7", Graph(["prove-01"]))))
    # ::id "7"
    # ::formula_map {}
    (n0 / prove-01)
    """
    lines = [
        f"# ::id {json.dumps(record.id, ensure_ascii=False)}",
        f"# ::formula_map {json.dumps(record.graph.formula_map, ensure_ascii=False)}",
    ]
    if record.sentence:
        lines.append(f"# ::snt {' '.join(record.sentence.split())}")
    return "\n".join([*lines, write_penman(record.graph)])


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the graphs of a file, one at a time.

    Raises:
        InputError: When the file or a graph in it cannot be read; for a graph, the message gives
            the line.
    """
    try:
        with TextIOWrapper(open_plain(path, follow_links=True), encoding="utf-8") as lines:
            yield from records_in(enumerate(lines, start=1), path)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error.reason})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


def _refuse(error: RowError) -> None:
    raise error


def records_in(
    lines: Iterable[tuple[int, str]], path: str | Path, bad: Callable[[RowError], None] = _refuse
) -> Iterator[Record]:
    """Yield the graphs of numbered lines.

    Args:
        lines: The lines with their numbers.
        path: The path of the file, for messages.
        bad: Called for each graph that cannot be read; by default, the error is raised.
    """
    for line, block in _blocks(lines):
        try:
            found = _json_record(block) if block[0] == "{" else _penman_record(block)
        except (NotationError, ValueError, RecursionError) as error:
            bad(RowError(path, line, f"no graph can be read ({error})"))
            continue
        if found is not None:
            yield found


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield each JSON line or Penman block with the number of its first line."""
    first, block = 0, list[str]()
    for number, line in lines:
        if line.startswith("{") and not block:
            yield number, line
        elif line.strip():
            first = first if block else number
            block.append(line.rstrip("\n"))
        elif block:
            yield first, "\n".join(block)
            block = []
    if block:
        yield first, "\n".join(block)


def _penman_record(block: str) -> Record | None:
    lines = block.split("\n")
    if all(line.lstrip().startswith("#") for line in lines):
        return None
    comments: dict[str, str] = {}
    for line in lines:
        found = _COMMENT.fullmatch(line)
        if found is not None:
            whole = found[1] in _WHOLE_LINE or found[2].startswith('"')
            comments[found[1]] = found[2] if whole else found[2].partition(" ::")[0].strip()
    formula_map = json.loads(comments.get("formula_map") or "{}")
    name = comments.get("id", "")
    name = json.loads(name) if name.startswith('"') else name
    return _record(name, block, formula_map, comments.get("snt", ""))


def _json_record(line: str) -> Record:
    row = json.loads(line)
    text = next((row[key] for key in _GRAPH_KEYS if isinstance(row.get(key), str)), None)
    if text is None:
        raise ValueError(f"none of {', '.join(_GRAPH_KEYS)} is in it")
    name = next((row[key] for key in _ID_KEYS if key in row), "")
    return _record(name, text, row.get("formula_map") or {}, row.get("snt") or "")


def _record(name: object, text: str, formula_map: object, sentence: object) -> Record:
    if not isinstance(formula_map, dict):
        raise ValueError("the formula_map is not a JSON object")
    ids = {str(key): str(value) for key, value in formula_map.items()}
    return Record(str(name), read_penman(text, ids), str(sentence).strip())
