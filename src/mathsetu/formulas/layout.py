"""Build the symbol layout tree (SLT), the positions of symbols, from rows of boxes.

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
from mathsetu.formulas.latex.commands import BOXED
from mathsetu.formulas.tree import EDGE_ORDER, Tree

_RANK: Final = {edge: rank for rank, edge in enumerate(EDGE_ORDER)}
_NEXT: Final[tuple[str, ...]] = ("n",)
_WITHIN: Final[tuple[str, ...]] = ("w",)
_OVER_AND_UNDER: Final[tuple[str, ...]] = ("o", "u")
_NEXT_AND_WITHIN: Final[tuple[str, ...]] = ("n", "w")
_DEGREE_AND_WITHIN: Final[tuple[str, ...]] = ("c", "w")
_ALONE: Final[dict[str, tuple[str, ...]]] = {edge: (edge,) for edge in EDGE_ORDER}
_AFTER_NEXT: Final[dict[str, tuple[str, ...]]] = {edge: ("n", edge) for edge in EDGE_ORDER}
_BETWEEN_FORMULAS: Final = frozenset({RELATION, META, COLON, CONDITION})
# Limit for the symbols of a nested line that may be copied, times the number of rows.
_MAX_COPIED: Final = 100_000
# The tree of a line without visible symbols.
_BLANK: Final = Tree("W!")
# Markers: a tree that is not built yet, and a row that has no elements.
_UNKNOWN: Final = Tree("")
_UNDIVIDED: Final = Tree("")


def build_layout_tree(rows: list[Row]) -> Tree:
    """Return the tree of the last row; inner rows must come before the rows around them.

    >>> from mathsetu.formulas.latex.reader import read_layout
    >>> build_layout_tree(read_layout("x^2+1")[1])
    Tree('V!x', n=Tree('+', n=Tree('N!1')), a=Tree('N!2'))
    """
    # The trees of the rows, then those of rows in brackets after division into elements.
    count = len(rows)
    trees = [_UNKNOWN] * (2 * count)
    for number, row in enumerate(rows):
        boxes = row.boxes
        tree = _divided(boxes, trees) if row.edge == "w" and len(boxes) > 1 else None
        trees[number] = tree or _chain(boxes, trees) or _BLANK
    return trees[count - 1]


def _chain(boxes: list[Box], trees: list[Tree]) -> Tree | None:
    """Link boxes by ``n`` edges into a line; return its first node, or None if there is none."""
    following: Tree | None = None
    for box in reversed(boxes):
        label = box.plain
        if label:
            if following is None:
                following = box.leaf or Tree(label, (), (), box.symbol)
            else:
                following = Tree(label, (following,), _NEXT, box.symbol)
            continue
        if label is not None:
            continue  # a space
        sign = box.sign
        scripts = box.scripts
        if sign.kind != ATOM:
            following = _compound(box, sign, following, trees)
        elif len(scripts) == 1:
            script = scripts[0]
            inner = script.boxes[0].leaf if script.number < 0 else trees[script.number]
            if inner is None:
                inner = _of(script, trees)
            following = (
                Tree(sign.layout, (inner,), _ALONE[script.edge], box.symbol)
                if following is None
                else Tree(sign.layout, (following, inner), _AFTER_NEXT[script.edge], box.symbol)
            )
        else:
            base = Tree(sign.layout, (), (), box.symbol)
            following = _finish(base, box, following, trees)
    return following


def _of(row: Row, trees: list[Tree]) -> Tree:
    """Return the tree of an inner row."""
    if row.number >= 0:
        return trees[row.number]
    box = row.boxes[0]
    label = box.sign.layout
    return box.leaf or (Tree(label, (), (), box.symbol) if label else _BLANK)


def _node(
    label: str,
    children: tuple[Tree, ...],
    edges: tuple[str, ...],
    box: Box,
    following: Tree | None,
    trees: list[Tree],
) -> Tree:
    """Return the node of a box with its scripts and the nodes after it on the line."""
    if box.scripts:
        return _finish(Tree(label, children, edges, box.symbol), box, following, trees)
    if following is None:
        return Tree(label, children, edges, box.symbol)
    return Tree(label, (following, *children), ("n", *edges), box.symbol)


def _finish(base: Tree, box: Box, following: Tree | None, trees: list[Tree]) -> Tree:
    """Add the scripts of a box, and the nodes after it on the line, to a node."""
    for script in box.scripts:
        base = _attach(base, script.edge, _of(script, trees))
    return base if following is None else _followed(base, following)


def _followed(base: Tree, following: Tree) -> Tree:
    """Add the nodes after it on the line to a node."""
    return Tree(base.label, (following, *base.children), ("n", *base.edges), base.symbol)


def _attach(base: Tree, edge: str, child: Tree) -> Tree:
    """Return a node with one more edge; if it has that edge, it is first put into a group."""
    children = base.children
    edges = base.edges
    if edge in edges:
        return _attach(Tree("M!1x1", (base,), _WITHIN), edge, child)
    place = 0
    rank = _RANK[edge]
    while place < len(edges) and _RANK[edges[place]] < rank:
        place += 1
    children = (*children[:place], child, *children[place:])
    edges = (*edges[:place], edge, *edges[place:])
    return Tree(base.label, children, edges, base.symbol)


def _joined(line: Tree, following: Tree, trees: list[Tree]) -> Tree:
    """Append one line to another."""
    if line is _BLANK:
        return following
    nodes: list[Tree] = []
    last = line
    while last.edges[:1] == _NEXT:
        nodes.append(last)
        last = last.children[0]
    if len(nodes) * len(trees) > 2 * _MAX_COPIED:
        # Deeply nested lines would be copied again at each level.
        return Tree("M!1x1", (following, line), _NEXT_AND_WITHIN)
    following = _followed(last, following)
    for node in reversed(nodes):
        following = Tree(node.label, (following, *node.children[1:]), node.edges, node.symbol)
    return following


def _grouped(tree: Tree) -> Tree:
    """Return a line as one node: its only node, or a group of all its nodes."""
    return Tree("M!1x1", (tree,), _WITHIN) if "n" in tree.edges else tree


def _compound(box: Box, sign: Sign, following: Tree | None, trees: list[Tree]) -> Tree | None:
    """Return the tree of a box with inner rows, and of the nodes after it on the line."""
    kind = sign.kind
    rows = box.rows
    if kind == TABLE:
        return _table(box, following, trees)
    if kind == PHANTOM:
        return following
    row = rows[0]
    first = trees[row.number] if row.number >= 0 else _of(row, trees)
    if kind == FENCE:
        if row.edge == "w":
            return _enclosed(box, sign, first, following, trees)
        if sign.encloses or any(map(_is_inline, row.boxes)):
            first = _elements(row, trees) or first
            return _enclosed(box, sign, first, following, trees)
        if box.scripts:
            line = _bracketed(box, None, trees)
            base = Tree("M!1x1", (line,), _WITHIN) if line is not None else _BLANK
            return _finish(base, box, following, trees)
        return _bracketed(box, following, trees)
    if kind == FRACTION:
        row = rows[1]
        second = trees[row.number] if row.number >= 0 else _of(row, trees)
        return _node(sign.layout, (first, second), _OVER_AND_UNDER, box, following, trees)
    if kind == ROOT:
        if len(rows) == 1:
            return _node(sign.layout, (first,), _WITHIN, box, following, trees)
        parts = (_of(rows[1], trees), first)
        return _node(sign.layout, parts, _DEGREE_AND_WITHIN, box, following, trees)
    if kind == ACCENT:
        # The mark has the symbol number; it is a child of the node that it stands over.
        mark = Tree(sign.text, (), (), box.symbol)
        base = _attach(_grouped(first), "u" if sign.below else "o", mark)
        return _finish(base, box, following, trees)
    if sign is BOXED:
        return _node("box", (first,), _WITHIN, box, following, trees)
    if box.scripts:
        return _finish(_grouped(first), box, following, trees)
    return first if following is None else _joined(first, following, trees)


def _enclosed(box: Box, sign: Sign, inner: Tree, following: Tree | None, trees: list[Tree]) -> Tree:
    """Return brackets and their content as one node, with the elements inside."""
    boxes = box.rows[0].boxes
    if not boxes:
        return _node(sign.layout + "1x0", (), (), box, following, trees)
    is_table = len(boxes) == 1 and boxes[0].sign.kind == TABLE
    if is_table and inner.label[2:3].isdigit() and "w" in inner.edges:
        label = sign.layout + inner.label[2:]
        return _node(label, inner.children, inner.edges, box, following, trees)
    count = 1
    element = inner
    while element.edges and element.edges[-1] == "e":
        element = element.children[-1]
        count += 1
    label = f"{sign.layout}1x{count}"
    if box.scripts:
        return _finish(Tree(label, (inner,), _WITHIN, box.symbol), box, following, trees)
    if following is None:
        return Tree(label, (inner,), _WITHIN, box.symbol)
    return Tree(label, (following, inner), _NEXT_AND_WITHIN, box.symbol)


def _is_inline(box: Box) -> bool:
    """Whether the brackets of a fence are plain symbols; a fence around it is then a node."""
    return box.sign.kind == FENCE and not box.sign.encloses


def _bracketed(box: Box, following: Tree | None, trees: list[Tree]) -> Tree | None:
    """Return brackets that are plain symbols, with the nodes between and after them."""
    sign = box.sign
    if sign.closing:
        following = _linked(sign.closing, (), (), box.closer, following)
    if sign.kind == FENCE:
        line = _of(box.rows[0], trees)
        if following is not None:
            following = _joined(line, following, trees)
        elif line is not _BLANK:
            following = line
    else:
        label, cells, edges = _grid(box, trees)
        following = _linked("M!" + label, cells, edges, box.symbol, following)
    if sign.opening:
        following = _linked(sign.opening, (), (), box.symbol, following)
    return following


def _linked(
    label: str,
    children: tuple[Tree, ...],
    edges: tuple[str, ...],
    symbol: int,
    following: Tree | None,
) -> Tree:
    """Create a node that is followed by the given nodes on the line."""
    tree = Tree(label, children, edges, symbol)
    return tree if following is None else _followed(tree, following)


def _elements(row: Row, trees: list[Tree]) -> Tree | None:
    """Return the first element of a row between brackets, if it has several; computed once.

    Inner rows are divided first, so that brackets may be nested to any depth.
    """
    if row.number < 0:
        return None
    place = row.number + len(trees) // 2
    if trees[place] is _UNKNOWN:
        trees[place] = _divided(row.boxes, trees) or _UNDIVIDED
    return None if trees[place] is _UNDIVIDED else trees[place]


def _divided(boxes: list[Box], trees: list[Tree]) -> Tree | None:
    """Divide a line at its commas; return the first element, linked to the others, or None."""
    ends: list[int] = []
    for place, part in enumerate(boxes):
        role = part.sign.role
        if role < RELATION:
            continue
        if role == COMMA:
            if part.sign.text == ",":
                ends.append(place + 1)
        elif role in _BETWEEN_FORMULAS:
            return None  # a sequence of formulas is one element
    if not ends:
        return None
    tree = _chain(boxes[ends[-1] :], trees)  # may be None after the last comma
    for start, end in zip([0, *ends][-2::-1], reversed(ends), strict=True):
        element = _chain(boxes[start:end], trees)
        assert element is not None  # it has at least the comma
        tree = element if tree is None else _attach(element, "e", tree)
    return tree


def _table(box: Box, following: Tree | None, trees: list[Tree]) -> Tree | None:
    """Return a table as one node with its cells inside, row by row."""
    brackets = box.sign.opening + box.sign.closing
    if brackets and not box.sign.encloses:
        return _bracketed(box, following, trees)
    size, cells, edges = _grid(box, trees)
    return _node(f"M!{brackets}{size}", cells, edges, box, following, trees)


def _grid(box: Box, trees: list[Tree]) -> tuple[str, tuple[Tree, ...], tuple[str, ...]]:
    """Return the size of a table, its first cell (linked to the others), and the edge to it."""
    cell: Tree | None = None
    for row in reversed(box.rows):
        tree = _of(row, trees)
        cell = tree if cell is None else _attach(tree, "e", cell)
    lines = len(box.rows) // box.columns if box.columns else 0
    size = f"{lines}x{box.columns}"
    return (size, (), ()) if cell is None else (size, (cell,), _WITHIN)
