"""Jupyter notebooks: text cells, code cells, and formulas in their outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from mathsetu.collections.documents.markdown import read_source
from mathsetu.collections.documents.sections import Document
from mathsetu.collections.rows import BadRows, not_json
from mathsetu.limits import LONGEST_TEXT
from mathsetu.records import Post

_BACKTICKS = re.compile(r"`++")
# Types of output that may contain formulas, in order of preference.
_RESULTS = ("text/latex", "text/markdown")


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read the sections of a notebook, split at the headings in its cells; execute nothing."""
    try:
        notebook = json.loads(document.text())
        cells = [text for cell in _all_cells(notebook) for text in _cell(cell)]
    except RecursionError:
        raise document.error("nested too deeply") from None
    except json.JSONDecodeError as error:
        problem = not_json(error.msg, f"column {error.colno}")
        raise document.error(problem, error.lineno) from None
    except ValueError as error:
        raise document.error(str(error)) from None
    raw = sum(1 for cell in _all_cells(notebook) if cell.get("cell_type") == "raw")
    bad.add_ignored(document.shown, "a raw cell of a notebook", raw)
    source = "\n\n".join(cells)
    if len(source) > LONGEST_TEXT:
        raise document.error(f"its cells have more than {LONGEST_TEXT:,} characters")
    yield from read_source(document, source, bad)


def _all_cells(notebook: object) -> list[dict[str, Any]]:
    if not isinstance(notebook, dict):
        raise ValueError("not a notebook (an object with cells is expected)")
    found = notebook.get("cells")
    if found is None:  # version 3 of the format
        sheets = notebook.get("worksheets")
        found = [
            cell for sheet in (sheets if isinstance(sheets, list) else [])
            if isinstance(sheet, dict) for cell in _listed(sheet.get("cells"))
        ]  # fmt: skip
        if not found:
            raise ValueError("not a notebook (it has no cells)")
    return [cell for cell in _listed(found) if isinstance(cell, dict)]


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _text(cell.get("source", cell.get("input", "")))
    if kind == "heading":
        level = cell.get("level", 1)
        yield f"{'#' * (level if isinstance(level, int) and 0 < level < 7 else 1)} {source}"
    elif kind == "markdown":
        yield source
    elif kind == "code":
        if source.strip():
            fence = "`" * max(3, _longest_run(source) + 1)
            yield f"{fence}\n{source}\n{fence}"
        for output in _listed(cell.get("outputs")):
            yield from _result(output)


def _result(output: object) -> Iterator[str]:
    data = output.get("data") if isinstance(output, dict) else None
    if isinstance(data, dict):
        best = next((data[kind] for kind in _RESULTS if kind in data), None)
        if best is not None:
            yield _text(best)


def _text(value: object) -> str:
    """Return a text; a notebook may store it as a list of lines."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    # Replace lone surrogates, which JSON can contain but UTF-8 cannot encode.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _longest_run(source: str) -> int:
    return max(map(len, _BACKTICKS.findall(source)), default=0)
