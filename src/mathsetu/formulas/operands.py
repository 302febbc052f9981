"""Build nodes of operator trees from single boxes, independently of their context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mathsetu.formulas.latex.boxes import (
    ACCENT,
    ATOM,
    CONDITION,
    FENCE,
    FRACTION,
    GROUP,
    RELATION,
    ROOT,
    TABLE,
    TEXT,
    Box,
    Row,
)
from mathsetu.formulas.latex.commands import fence_sign
from mathsetu.formulas.tree import POSITIONS, Tree

#: The edges of a node by its number of operands.
_EDGES: Final[tuple[tuple[str, ...], ...]] = tuple(
    POSITIONS[:count] for count in range(len(POSITIONS) + 1)
)
#: The edges of one operand, and of two.
ONE: Final = _EDGES[1]
TWO: Final = _EDGES[2]
_NAMED: Final = len(_EDGES)
#: A missing operand.
BLANK: Final = Tree("W!")
# The default degree of a root.
_SQUARE: Final = Tree("N!2")
_SCRIPT_LABELS: Final = {edge: "O!SUP" if edge in "aoc" else "O!SUB" for edge in "aocbud"}
_PARENTHESES: Final = fence_sign("(", ")")
_INTERVALS: Final = {
    "()": "O!interval(O-O)",
    "[]": "O!interval(C-C)",
    "(]": "O!interval(O-C)",
    "[)": "O!interval(C-O)",
}
_ENCLOSED: Final = {
    "||": "F!abs",
    "∣∣": "F!abs",
    "∥∥": "O!norm",
    "‖‖": "O!norm",
    "⌊⌋": "F!floor",
    "⌈⌉": "F!ceiling",
    "⌊⌉": "F!round",
}
# Relations that are replaced by their mirror image.
_TURNED: Final = {"O!superset": "O!subset", "O!prsuperset": "O!prsubset"}


def edges(count: int) -> tuple[str, ...]:
    """Return the edges of ``count`` operands.

    >>> edges(3)
    ('0', '1', '2')
    """
    if count < _NAMED:
        return _EDGES[count]
    return POSITIONS + POSITIONS[-1:] * (count - len(POSITIONS))


def tree_of(row: Row, trees: list[Tree]) -> Tree:
    """Return the tree of an inner row."""
    return trees[row.number] if row.number >= 0 else operand(row.boxes[0], trees)


def node(box: Box, operands: tuple[Tree, ...], trees: list[Tree]) -> Tree:
    """Apply the operator of a box to operands."""
    sign = box.sign
    if box.scripts or sign.kind != ATOM:
        return applied(operand(box, trees), operands)
    label = sign.operator
    if sign.role == RELATION and label in _TURNED:
        label = _TURNED[label]
        operands = operands[::-1]
    count = len(operands)
    return Tree(label, operands, _EDGES[count] if count < _NAMED else edges(count), box.symbol)


def applied(head: Tree, operands: tuple[Tree, ...]) -> Tree:
    """Apply a head to operands; a head with children becomes the first operand.

    >>> applied(Tree("F!sin"), (Tree("V!x"),))
    Tree('F!sin', 0=Tree('V!x'))
    """
    if head.children:
        scripts = head.label in ("O!SUP", "O!SUB")
        label = "+!" + head.children[0].label if scripts else "+!"
        return Tree(label, (head, *operands), edges(len(operands) + 1))
    label = head.label
    if label[0] in "VTN":
        label = "F" + label[1:]
    return Tree(label, operands, edges(len(operands)), head.symbol)


def operand(box: Box, trees: list[Tree]) -> Tree:
    """Return the node of a box that is an operand."""
    sign = box.sign
    tree = box.leaf
    if tree is None:
        tree = (
            Tree(sign.operand, (), (), box.symbol) if sign.kind == ATOM else _compound(box, trees)
        )
    return scripted(tree, box, trees) if box.scripts else tree


def scripted(tree: Tree, box: Box, trees: list[Tree]) -> Tree:
    """Add the scripts of a box to a node, in the order of writing."""
    is_group = box.sign.kind == GROUP
    for script in box.scripts:
        inner = script.boxes[0].leaf if script.number < 0 else trees[script.number]
        if inner is None:
            inner = tree_of(script, trees)
        if is_group and script.edge in "ou":
            # A script over or under a group is applied to the group.
            tree = applied(inner, (tree,))
        else:
            tree = Tree(_SCRIPT_LABELS[script.edge], (tree, inner), TWO)
    return tree


def _compound(box: Box, trees: list[Tree]) -> Tree:
    sign = box.sign
    rows = box.rows
    kind = sign.kind
    if kind == TABLE:
        return _table(box, trees)
    row = rows[0]
    first = trees[row.number] if row.number >= 0 else operand(row.boxes[0], trees)
    if kind == FENCE:
        if sign is _PARENTHESES and rows[0].boxes and not first.label.startswith("M!L-"):
            return first  # most parentheses only group
        return _fenced(box, first)
    if kind == FRACTION:
        return Tree(sign.operand, (first, tree_of(rows[1], trees)), TWO, box.symbol)
    if kind == ROOT:
        degree = tree_of(rows[1], trees) if len(rows) > 1 else _SQUARE
        return Tree("O!root", (first, degree), TWO, box.symbol)
    if kind == ACCENT:
        return Tree("F!" + sign.text, (first,), ONE, box.symbol)
    if kind == GROUP:
        if sign.role == TEXT:
            words = " ".join(part.sign.text.strip() for part in rows[0].boxes).strip()
            return Tree("T!" + words if words else "W!", (), (), box.symbol)
        return first
    return BLANK


def argument_list(box: Box, trees: list[Tree]) -> tuple[Tree, ...]:
    """Return the arguments of a function from the brackets after it."""
    tree = tree_of(box.rows[0], trees)
    if tree.label.startswith("M!L-"):
        return tree.children
    if tree.label == "O!conditional-set":
        for part in box.rows[0].boxes:
            if part.sign.role == CONDITION:
                return (Tree(part.sign.operator, tree.children, TWO, tree.symbol),)
    return (tree,)


def collection(label: str, trees: Sequence[Tree], symbol: int = -1) -> Tree:
    """Return a list, set or vector of trees; a list of one tree is that tree.

    >>> collection("M!L-", [Tree("V!a"), Tree("V!b")]).label
    'M!L-2'
    """
    if len(trees) == 1 and label == "M!L-":
        return trees[0]
    return Tree(f"{label}{len(trees)}", tuple(trees), edges(len(trees)), symbol)


def _fenced(box: Box, tree: Tree) -> Tree:
    sign = box.sign
    boxes = box.rows[0].boxes
    pair = sign.opening + sign.closing
    if len(boxes) == 1 and boxes[0].sign.kind == FRACTION and not boxes[0].sign.text:
        return tree  # a binomial coefficient
    if not boxes:
        return (
            Tree("M!L-0", (), (), box.symbol) if pair != "{}" else Tree("M!S-0", (), (), box.symbol)
        )
    is_list = tree.label.startswith("M!L-") and len(boxes) > 1
    if pair == "()":
        if not is_list:
            return tree
        if len(tree.children) == 2:
            if any(part.sign.text == ";" for part in boxes):
                return tree
            return Tree(_INTERVALS[pair], tree.children, TWO, box.symbol)
        return collection("M!V-", tree.children, box.symbol)
    if pair == "{}":
        return _set(box, tree, is_list)
    if is_list and len(tree.children) == 2 and pair in _INTERVALS:
        return Tree(_INTERVALS[pair], tree.children, TWO, box.symbol)
    if pair in _ENCLOSED:
        return Tree(_ENCLOSED[pair], (tree,), ONE, box.symbol)
    if not sign.opening and sign.closing == "|":
        return Tree("O!evaluated-at", (tree,), ONE, box.symbol)
    if is_list and pair in ("[]", "⟨⟩"):
        return Tree(tree.label, tree.children, tree.edges, box.symbol)
    if not sign.opening or not sign.closing:
        return tree
    return Tree("M!D-" + pair, (tree,), ONE, box.symbol)


def _set(box: Box, tree: Tree, is_list: bool) -> Tree:
    if is_list:
        return collection("M!S-", tree.children, box.symbol)
    if tree.label == "O!conditional-set":
        return tree
    return collection("M!S-", (tree,), box.symbol)


def _joined(cells: tuple[Tree, ...]) -> tuple[Tree, ...]:
    """Join the cells of an aligned line: ``a &= b`` is one formula, split only for alignment."""
    joined: list[Tree] = []
    for cell in cells:
        formula = _completed(cell, joined[-1]) if joined else None
        if formula is not None:
            joined[-1] = formula
        elif cell.label != "W!" or not joined:
            joined.append(cell)
    return tuple(joined[1:] if len(joined) > 1 and joined[0].label == "W!" else joined)


def _completed(cell: Tree, left: Tree) -> Tree | None:
    """Add the left side to a cell that begins with a relation (``= b, c = d``); else None."""
    if len(cell.children) == 2 and cell.children[0].label == "W!":
        return Tree(cell.label, (left, cell.children[1]), TWO, cell.symbol)
    if cell.label not in ("U!and", "O!form-seq"):
        return None
    first = _completed(cell.children[0], left) if cell.children else None
    if first is None:
        return None
    return Tree(cell.label, (first, *cell.children[1:]), cell.edges, cell.symbol)


def _table(box: Box, trees: list[Tree]) -> Tree:
    """Return the tree of a matrix, of cases, or of stacked lines."""
    meaning = box.sign.operand
    columns = box.columns or 1
    cells = tuple([tree_of(row, trees) for row in box.rows])
    if meaning == "O!cases":
        return Tree(meaning, cells, edges(len(cells)), box.symbol)
    lines = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    if meaning == "O!lines":
        lines = [_joined(line) for line in lines]
        columns = max(map(len, lines), default=0)
    else:
        columns = box.columns
    rows = tuple([Tree("M!R!", line, edges(len(line))) for line in lines])
    matrix = Tree(f"M!M-{len(rows)}x{columns}", rows, edges(len(rows)), box.symbol)
    if meaning in ("M!", "O!lines"):
        return matrix
    wrapped = Tree("O!matrix", (matrix,), ONE, box.symbol)
    if meaning == "O!matrix":
        return wrapped
    return Tree(meaning, (wrapped,), ONE, box.symbol)
