"""Rows to the symbol layout tree (SLT): what stands where.

Edges: ``n`` next on the line, ``a`` above right, ``b`` below right, ``o`` over, ``u`` under,
``c`` above left, ``d`` below left, ``w`` within, ``e`` the next element within.
"""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import (
    ACCENT,
    ATOM,
    COLON,
    COMMA,
    CONDITION,
    FENCE,
    FRACTION,
    META,
    PHANTOM,
    RELATION,
    ROOT,
    TABLE,
    Box,
    Row,
    Sign,
)
from mathsetu.formulas.latex.commands import BOXED, LINES
from mathsetu.formulas.tree import Tree

#: The order in which Tangent writes the edges of a node.
EDGE_ORDER: Final = "nabcdouwe"
_RANK: Final = {edge: rank for rank, edge in enumerate(EDGE_ORDER)}
_NEXT: Final[tuple[str, ...]] = ("n",)
_WITHIN: Final[tuple[str, ...]] = ("w",)
_OVER_AND_UNDER: Final[tuple[str, ...]] = ("o", "u")
_ALONE: Final[dict[str, tuple[str, ...]]] = {edge: (edge,) for edge in EDGE_ORDER}
_AFTER_NEXT: Final[dict[str, tuple[str, ...]]] = {edge: ("n", edge) for edge in EDGE_ORDER}
# Brackets that make one node of what they enclose; Tangent leaves the others as symbols.
_ENCLOSING: Final = {"(": ")]}", "[": ")]}", "{": ")]}", "|": "|∥", "∥": "|∥", "‖": "‖"}
_BETWEEN_FORMULAS: Final = frozenset({RELATION, META, COLON, CONDITION})


def build_layout_trees(rows: list[Row]) -> None:
    """Give each row its tree; inner rows come before the rows around them.

    >>> from mathsetu.formulas.latex.reader import read_layout
    >>> row, rows, _ = read_layout("x^2+1")
    >>> build_layout_trees(rows)
    >>> row.slt
    Tree('V!x', n=Tree('+', n=Tree('N!1')), a=Tree('N!2'))
    """
    for row in rows:
        boxes = row.boxes
        if len(boxes) == 1:
            # Most rows are one symbol.
            box = boxes[0]
            if box.label and box.sign.kind == ATOM and not box.scripts:
                box.children = box.edges = ()
                row.slt = box
                continue
        row.slt = _chain(boxes, None) or Tree("W!")


def _chain(boxes: list[Box], following: Tree | None) -> Tree | None:
    """Link boxes: each gets what follows it on its ``n`` edge. The first node of the chain."""
    for box in reversed(boxes):
        scripts = box.scripts
        if box.sign.kind != ATOM:
            following = _compound(box, following)
        elif not scripts:
            if not box.label:
                continue  # a space
            if following is None:
                box.children = box.edges = ()
            else:
                box.children = (following,)
                box.edges = _NEXT
            following = box
        elif len(scripts) == 1:
            script = scripts[0]
            if following is None:
                box.children = (script.slt,)
                box.edges = _ALONE[script.edge]
            else:
                box.children = (following, script.slt)
                box.edges = _AFTER_NEXT[script.edge]
            following = box
        else:
            box.children = box.edges = ()
            following = _finish(box, box, following)
    return following


def _finish(base: Tree, box: Box, following: Tree | None) -> Tree:
    """Give a node the scripts of a box and what follows it."""
    for script in box.scripts:
        base = _attach(base, script.edge, script.slt)
    if following is None:
        return base
    if len(base.children) == 1:
        base.children = (following, base.children[0])
        base.edges = _AFTER_NEXT[base.edges[0]]
    else:
        base.children = (following, *base.children)
        base.edges = ("n", *base.edges)
    return base


def _attach(base: Tree, edge: str, child: Tree) -> Tree:
    """Give a node one more edge; where that edge is taken, the node goes into a group first."""
    if not base.edges:
        base.children = (child,)
        base.edges = _ALONE[edge]
        return base
    if edge in base.edges:
        return _attach(Tree("M!1x1", (base,), _WITHIN), edge, child)
    children = list(base.children)
    edges = list(base.edges)
    place = 0
    rank = _RANK[edge]
    while place < len(edges) and _RANK[edges[place]] < rank:
        place += 1
    children.insert(place, child)
    edges.insert(place, edge)
    base.children = tuple(children)
    base.edges = tuple(edges)
    return base


def _base(row: Row) -> Tree:
    """A row as one node: its only node, or a group of all."""
    tree = row.slt
    return Tree("M!1x1", (tree,), _WITHIN) if "n" in tree.edges else tree


def _compound(box: Box, following: Tree | None) -> Tree | None:
    """A box with rows inside it."""
    sign = box.sign
    kind = sign.kind
    rows = box.rows
    if kind == FENCE:
        return _fence(box, following)
    if kind == FRACTION:
        box.children = (rows[0].slt, rows[1].slt)
        box.edges = _OVER_AND_UNDER
    elif kind == ROOT:
        if len(rows) == 1:
            box.children = (rows[0].slt,)
            box.edges = _WITHIN
        else:
            box.children = (rows[1].slt, rows[0].slt)
            box.edges = ("c", "w")
    elif kind == ACCENT:
        # The mark is the symbol that was written; it hangs on what it stands over.
        box.children = box.edges = ()
        box.label = sign.text
        return _finish(_attach(_base(rows[0]), "u" if sign.below else "o", box), box, following)
    elif kind == TABLE:
        return _table(box, following)
    elif kind == PHANTOM:
        return following
    elif sign is BOXED:
        box.label = "box"
        box.children = (rows[0].slt,)
        box.edges = _WITHIN
    elif box.scripts:
        return _finish(_base(rows[0]), box, following)
    else:
        # Only texts and single arguments come here, so this does not nest.
        return _chain(rows[0].boxes, following) if following is not None else rows[0].slt
    return _finish(box, box, following)


def _fence(box: Box, following: Tree | None) -> Tree | None:
    """What is between brackets: one node, its elements inside."""
    sign = box.sign
    row = box.rows[0]
    boxes = row.boxes
    if _encloses(sign) or any(_is_inline(part) for part in boxes):
        if len(boxes) == 1:
            inner = row.slt
            box.children = (inner,)
            box.edges = _WITHIN
            box.label = sign.layout + "1x1"
            if boxes[0].sign.kind == TABLE and inner.label[2:3].isdigit() and "w" in inner.edges:
                box.label = sign.layout + inner.label[2:]
                box.children = inner.children
                box.edges = inner.edges
        else:
            _fill(box, row)
        return _finish(box, box, following)
    if box.scripts:
        line = _bracketed(box, None)
        group = Tree("M!1x1", (line,), _WITHIN) if line is not None else Tree("W!")
        return _finish(group, box, following)
    return _bracketed(box, following)


def _encloses(sign: Sign) -> bool:
    """Whether brackets make one node of what they enclose."""
    return sign.closing != "" and sign.closing in _ENCLOSING.get(sign.opening, "")


def _is_inline(box: Box) -> bool:
    """Whether a fence's brackets are symbols of the line; around such, one level is enough."""
    return box.sign.kind == FENCE and not _encloses(box.sign)


def _bracketed(box: Box, following: Tree | None) -> Tree | None:
    """Brackets that are symbols like others, and what is between them."""
    if box.sign.closing:
        following = _linked(box.sign.closing, box.closer, following)
    inner = box.rows[0].boxes if box.sign.kind == FENCE else [_bare(box)]
    following = _chain(inner, following)
    if box.sign.opening:
        following = _linked(box.sign.opening, box.symbol, following)
    return following


def _linked(label: str, symbol: int, following: Tree | None) -> Tree:
    """A node for a bracket, with what follows it."""
    if following is None:
        return Tree(label, (), (), symbol)
    return Tree(label, (following,), _NEXT, symbol)


def _fill(box: Box, row: Row) -> None:
    """Put the row between brackets into their node; commas divide it into elements."""
    if not row.boxes:
        box.label = box.sign.layout + "1x0"
        box.children = box.edges = ()
        return
    commas: list[Box] = []
    for part in row.boxes:
        role = part.sign.role
        if role < RELATION:
            continue
        if role == COMMA:
            if part.sign.text == ",":
                commas.append(part)
        elif role in _BETWEEN_FORMULAS:
            commas = []  # a sequence of formulas is one element
            break
    if not commas:
        box.label = box.sign.layout + "1x1"
        box.children = (row.slt,)
        box.edges = _WITHIN
        return
    heads = [row.slt]
    for comma in commas:
        # What followed the comma on the line is the next element.
        if comma.edges[:1] == _NEXT:
            heads.append(comma.children[0])
            comma.children = comma.children[1:]
            comma.edges = comma.edges[1:]
    box.label = f"{box.sign.layout}1x{len(heads)}"
    element = heads.pop()
    while heads:
        element = _attach(heads.pop(), "e", element)
    box.children = (element,)
    box.edges = _WITHIN


def _bare(box: Box) -> Box:
    """A table without its brackets and scripts."""
    bare = Box(LINES, box.symbol, box.rows)
    bare.columns = box.columns
    bare.closer = -1
    return bare


def _table(box: Box, following: Tree | None) -> Tree | None:
    """A table: one node, its cells inside, row by row."""
    opening, closing = box.sign.opening, box.sign.closing
    if (opening or closing) and not _encloses(box.sign):
        return _bracketed(box, following)
    cell: Tree | None = None
    for row in reversed(box.rows):
        cell = row.slt if cell is None else _attach(row.slt, "e", cell)
    lines = len(box.rows) // box.columns if box.columns else 0
    box.label = f"M!{opening}{closing}{lines}x{box.columns}"
    box.children = () if cell is None else (cell,)
    box.edges = () if cell is None else _WITHIN
    return _finish(box, box, following)
