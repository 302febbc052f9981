"""Convert Presentation MathML to symbol layout trees (SLT)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

from mathsetu.formulas.labels import normalise_label
from mathsetu.formulas.mathml.document import Element
from mathsetu.formulas.tree import EDGE_ORDER, Tree

_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064\u200b")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_BARS = frozenset("|∥")
# Look-alike characters, mapped to one spelling as in Tangent.
_ONE_SPELLING = str.maketrans("−‖\u203e\u02c6\u02dc", "-∥¯^~")
_ROWS = frozenset({"math", "mrow", "mstyle", "mpadded", "mtd", "semantics", "maction"})
_NOTHING = frozenset({"mspace", "mphantom", "annotation", "annotation-xml", "none", "mprescripts"})
# The edges of the children after the base.
_SCRIPTS = {
    "msub": "b",
    "msup": "a",
    "msubsup": "ba",
    "munder": "u",
    "mover": "o",
    "munderover": "uo",
}

#: The result of reading an element: adjacent symbols on one line.
Line = list[Tree]


def layout_tree(root: Element) -> Tree:
    """Read an element of Presentation MathML."""
    finished: list[list[Line]] = [[]]
    pending: list[tuple[Element, bool]] = [(root, False)]
    while pending:
        element, is_left = pending.pop()
        if is_left:
            parts = finished.pop()
            finished[-1].append(_line(element, parts))
            continue
        finished.append([])
        pending.append((element, True))
        pending.extend((child, False) for child in reversed(_shown(element)))
    return _chain(finished[0][0])


def _shown(element: Element) -> list[Element]:
    """Return the children that become parts of the line; for a table its cells, row by row."""
    name = element.name
    if name in _NOTHING or name in ("mtext", "merror"):
        return []
    if name in ("semantics", "maction"):
        return element.children[:1]
    if name == "mtable":
        return [cell for row in element.children for cell in _row_cells(row)]
    return element.children


def _row_cells(row: Element) -> list[Element]:
    if row.name == "mlabeledtr":
        return row.children[1:]
    return row.children if row.name == "mtr" else [row]


def _line(element: Element, parts: list[Line]) -> Line:
    name = element.name
    if name in _ROWS:
        return _row(parts, element.children)
    if name in _SCRIPTS:
        return _scripts(parts, _SCRIPTS[name])
    if name in ("mi", "mn", "mo", "mtext", "ms", "merror"):
        return _symbol(element)
    if name == "mfrac":
        return [_node("O!divide", zip("ou", parts, strict=False))]
    if name == "msqrt":
        return [_node("O!root", [("w", [node for part in parts for node in part])])]
    if name == "mroot":
        return [_node("O!root", zip("wc", parts, strict=False))]
    if name == "mmultiscripts":
        return _multiscripts(element, parts)
    if name == "mtable":
        cells = iter([_chain(part) for part in parts])
        return [
            _table("", "", [list(islice(cells, len(_row_cells(row)))) for row in element.children])
        ]
    if name == "mfenced":
        return _fenced(element, parts)
    if name == "menclose":
        notation = element.attributes.get("notation", "longdiv").split() or ["longdiv"]
        return [_node(notation[0], [("w", _row(parts, element.children))])]
    return [] if name in _NOTHING else _row(parts, element.children)


def _symbol(element: Element) -> Line:
    text = unicodedata.normalize("NFC", element.all_text())
    if element.name == "mo":
        if text in ("d", "𝑑"):
            return [Tree("V!d")]  # the d of a differential is a letter
        text = "".join(c for c in text if c not in _INVISIBLE).translate(_ONE_SPELLING)
        return [Tree(text)] if text else []
    if element.name == "mi" and text[:1] == "?" and len(text) > 1:
        return [Tree(text)]  # a wildcard of a query
    if element.name == "mi":
        return [Tree(normalise_label("V!" + text) if text else "W!")]
    if element.name == "mn":
        return [Tree("N!" + text.replace(" ", ""))]
    if element.name == "merror":
        return [Tree("E!" + text)]
    return [Tree("T!" + normalise_label("V!" + text)[2:] if text else "W!")]


def _row(parts: Sequence[Line], elements: Sequence[Element]) -> Line:
    """Join the parts of a row; matching fences with their content become one ``M!`` node."""
    marks = [
        part[0].label if element.name == "mo" and len(part) == 1 else ""
        for element, part in zip(elements, parts, strict=False)
    ]
    last = len(parts) - 1
    if last > 0 and marks[0] in _BARS and marks[last] in _BARS and _BARS.isdisjoint(marks[1:last]):
        return [_fence(marks[0], marks[last], parts[1:last], marks[1:last])]
    # Each level holds the parts and marks since its opening bracket.
    levels: list[tuple[list[Line], list[str]]] = [([], [])]
    for part, mark in zip(parts, marks, strict=False):
        if mark in _CLOSING and len(levels) > 1:
            inner, inner_marks = levels.pop()
            opening = inner_marks[0]
            part, mark = [_fence(opening, mark, inner[1:], inner_marks[1:])], ""
        elif mark in _OPENING:
            levels.append(([], []))
        levels[-1][0].append(part)
        levels[-1][1].append(mark)
    nodes = [node for level, _ in levels for part in level for node in part]
    # LaTeXML writes an empty <mi> for a missing operand, as before the = of "=1". As in Tangent's
    # trees, such a blank is dropped unless it stands alone.
    return [node for node in nodes if node.label != "W!" or node.children] or nodes[:1]


def _fence(opening: str, closing: str, parts: Sequence[Line], marks: Sequence[str]) -> Tree:
    inner = [node for part in parts for node in part]
    if len(inner) == 1 and inner[0].label.startswith("M!") and inner[0].label[2:3].isdigit():
        table = inner[0]
        if table.edges == ("w",):
            return Tree(f"M!{opening}{closing}{table.label[2:]}", table.children, table.edges)
    items: list[Line] = [[]]
    for part, mark in zip(parts, marks, strict=True):
        items[-1].extend(part)
        if mark == ",":
            items.append([])
    if not items[-1]:
        items.pop()
    return _table(opening, closing, [[_chain(item) for item in items]])


def _table(opening: str, closing: str, rows: Sequence[Sequence[Tree]]) -> Tree:
    columns = max((len(row) for row in rows), default=0)
    label = f"M!{opening}{closing}{len(rows)}x{columns}"
    element: Tree | None = None
    for cell in reversed([cell for row in rows for cell in row]):
        element = cell if element is None else _attach(cell, "e", element)
    return Tree(label) if element is None else Tree(label, (element,), ("w",))


def _scripts(parts: list[Line], edges: str) -> Line:
    if not parts:
        return []
    base = _base(parts[0])
    for edge, part in zip(edges, parts[1:], strict=False):
        base = _script(base, edge, part)
    return [base]


def _multiscripts(element: Element, parts: list[Line]) -> Line:
    if not parts:
        return []
    base = _base(parts[0])
    names = [child.name for child in element.children]
    split = names.index("mprescripts") if "mprescripts" in names else len(names)
    for edges, group in (("ba", parts[1:split]), ("dc", parts[split + 1 :])):
        for number, part in enumerate(group):
            if part:
                base = _script(base, edges[number % 2], part)
    return [base]


def _base(line: Line) -> Tree:
    """Return one node as the base of scripts; several symbols become a group without fences."""
    if len(line) == 1:
        return line[0]
    return _node("M!1x1", [("w", line)]) if line else Tree("W!")


def _script(base: Tree, edge: str, script: Line) -> Tree:
    # Tangent puts the scripts of an operator (∫, lim, →) above and below it.
    if "!" not in base.label[1:2]:
        edge = {"a": "o", "b": "u"}.get(edge, edge)
    if edge in base.edges:
        base = _node("M!1x1", [("w", [base])])
    return _attach(base, edge, _chain(script))


def _fenced(element: Element, parts: list[Line]) -> Line:
    separators = "".join(element.attributes.get("separators", ",").split())
    joined: list[Line] = []
    marks: list[str] = []
    for number, part in enumerate(parts):
        joined.append(part)
        marks.append("")
        if separators and number < len(parts) - 1:
            mark = separators[min(number, len(separators) - 1)]
            joined.append([Tree(mark)])
            marks.append(mark)
    opening = element.attributes.get("open", "(").strip()
    closing = element.attributes.get("close", ")").strip()
    return [_fence(opening, closing, joined, marks)]


def _node(label: str, parts: Iterable[tuple[str, Line]]) -> Tree:
    node = Tree(label)
    for edge, line in parts:
        node = _attach(node, edge, _chain(line))
    return node


def _attach(node: Tree, edge: str, child: Tree) -> Tree:
    """Return a node with one more edge."""
    rank = EDGE_ORDER.index(edge)
    place = sum(EDGE_ORDER.index(e) < rank for e in node.edges)
    children = (*node.children[:place], child, *node.children[place:])
    edges = (*node.edges[:place], edge, *node.edges[place:])
    return Tree(node.label, children, edges, node.symbol)


def _chain(line: Line) -> Tree:
    """Link the symbols of a line by ``n`` edges and return the first."""
    if not line:
        return Tree("W!")
    tree = line[-1]
    for node in line[-2::-1]:
        tree = _attach(node, "n", tree)
    return tree
