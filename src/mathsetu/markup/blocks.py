"""Keeps the numbers of lists and the rows of tables where HTML becomes text."""

from __future__ import annotations

import re

#: The sign between the cells of a row. It is no sign of formulas or prices, unlike ``|``.
BETWEEN_CELLS = "│"
_REST = r"((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>"
_LIST_TAG = re.compile(
    rf"<(/?)(ol|ul|li)(?![\w-]){_REST}(\s*+<p>|(?:\s++|<a>\s*+</a>)*+</li\s*+>)?",
    re.ASCII | re.IGNORECASE,
)
_CELL_EDGE = re.compile(
    rf"(?<!\s)\s*+</(t[dh])\s*+>\s*+<(t[dh])(?![\w-]){_REST}\s*+", re.IGNORECASE
)
_CELL = re.compile(rf"<t[dh](?![\w-]){_REST}", re.IGNORECASE)
_ROW_EDGE = re.compile(rf"(<t[dh](?![\w-]){_REST})\s++|(?<!\s)\s++(</t[dh]\s*+>)", re.IGNORECASE)
# Cells of LaTeXML that align the parts of an equation.
_EQUATION = "ltx_eqn"
_LETTERS = 26
_ITEM = re.compile(r"\s*(?:-|\d{1,5}[.)]|\(?[a-zA-Z][.)])\s")
_NUMBER = re.compile(r"\b(?:start|value)\s*+=\s*+[\"']?([0-9]{1,5})\b", re.ASCII | re.IGNORECASE)
_KIND = re.compile(r"\btype\s*+=\s*+[\"']?([aA])\b", re.ASCII)


def with_blocks(source: str) -> str:
    """Write the numbers of ordered lists as text, and each row of a table in one line.

    Items without text and without a number are removed, such as those of a menu without its links.

    >>> with_blocks("<ol start=3><li>One<li><p>Two</p></ol>")
    '<ol start=3><p>3. One<p>4. Two</p></ol>'
    >>> with_blocks("<tr> <td>f</td> <td> g </td></tr>")
    '<tr> <td>f</td> │<td>g</td></tr>'
    """
    if "<li" in source or "<LI" in source:
        source = _Lists().written(source)
    if "</t" in source or "</T" in source:
        source = _ROW_EDGE.sub(r"\1\3", _CELL_EDGE.sub(_joined_cells, source))
    return source


class _Lists:
    """One pass over the lists of a page."""

    def __init__(self) -> None:
        # For each open list its kind and the number of its next item, None without numbers.
        self._open: list[tuple[str, int | None]] = []

    def written(self, source: str) -> str:
        return _LIST_TAG.sub(self._tag, source)

    def _tag(self, tag: re.Match[str]) -> str:
        closing, name, attributes, following = tag[1], tag[2].lower(), tag[3], tag[4] or ""
        is_empty = "/" in following
        if name != "li":
            if not closing:
                found = _KIND.search(attributes)
                start = _number(attributes, 1) if name == "ol" else None
                self._open.append((found[1] if found else "", start))
            elif self._open:
                self._open.pop()
            return tag[0]
        if closing:
            return tag[0]
        kind, number = self._open[-1] if self._open else ("", None)
        if number is None:
            return "" if is_empty else tag[0].removesuffix(following)
        number = _number(attributes, number)
        self._open[-1] = kind, number + 1
        return f"<p{attributes}>{_label(kind, number)} "


def begins_block(line: str, before: str) -> bool:
    """Whether a line of text is a block of its own: an item of a list, or beside a table's row.

    Other lines may be wrapped: they continue the line before.

    >>> begins_block("2. Two", "1. One"), begins_block("more text", "Some text")
    (True, False)
    """
    return _ITEM.match(line) is not None or BETWEEN_CELLS in line or BETWEEN_CELLS in before


def _number(attributes: str, otherwise: int) -> int:
    found = _NUMBER.search(attributes)
    return int(found[1]) if found else otherwise


def _label(kind: str, number: int) -> str:
    is_letter = kind and 0 < number <= _LETTERS
    return f"{chr(ord(kind) + number - 1)}." if is_letter else f"{number}."


def _joined_cells(edge: re.Match[str]) -> str:
    source, start = edge.string, edge.start()
    before = _CELL.fullmatch(source, source.rfind("<", 0, start), start) is not None
    is_empty = before or source.startswith("</t", edge.end())
    between = "" if is_empty or _EQUATION in edge[3] else f" {BETWEEN_CELLS}"
    return f"</{edge[1]}>{between}<{edge[2]}{edge[3]}>"
