"""Operator trees as one line of text for people: what a wildcard stands for, in messages.

Not meant to be parsed again: `mathsetu.formulas.notation` writes trees without loss.
"""

from __future__ import annotations

from collections.abc import Iterable

from mathsetu.formulas.tree import Tree

# Between operands, and how tightly the operator binds; a looser operand gets parentheses.
_BETWEEN = {
    "U!and": (", ", 0),
    "U!eq": (" = ", 1),
    "U!neq": (" ≠ ", 1),
    "O!lt": (" < ", 1),
    "O!gt": (" > ", 1),
    "O!leq": (" ≤ ", 1),
    "O!geq": (" ≥ ", 1),
    "O!in": (" ∈ ", 1),
    "U!plus": (" + ", 2),
    "O!minus": (" - ", 3),
    "U!times": (" ", 4),
    "O!divide": ("/", 5),
    "O!SUP": ("^", 7),
    "O!SUB": ("_", 7),
}
#: A text, or an operand and how tightly it must bind to stand without brackets.
_Part = str | tuple[Tree, int]
_SIGN = 6
_TIGHTEST = 9
_NAMES = {"C!infinity": "∞", "O!int": "∫", "O!sum": "∑", "O!product": "∏", "O!limit": "lim"}


def infix(tree: Tree) -> str:
    """An operator tree as text.

    >>> from mathsetu.formulas.notation import read_tree
    >>> infix(read_tree("[O!divide,0[F!sin,0[V!x]],1[U!plus,0[V!x],1[N!1]]]"))
    'sin(x)/(x + 1)'
    """
    pieces: list[str] = []
    coming: list[_Part] = [(tree, 0)]  # the next is the last, so that depth costs only memory
    while coming:
        part = coming.pop()
        if isinstance(part, str):
            pieces.append(part)
            continue
        node, least = part
        parts, strength = _parts(node)
        if strength < least:
            parts = ["(", *parts, ")"]
        coming.extend(reversed(parts))
    return "".join(pieces)


def _parts(node: Tree) -> tuple[list[_Part], int]:
    """What a node is written as, and how tightly that binds."""
    label, operands = node.label, node.children
    if label in _BETWEEN and len(operands) > 1:
        between, strength = _BETWEEN[label]
        # The first may bind as tightly, the others must bind more tightly: a - (b - c).
        leasts = [strength, *[strength + 1] * (len(operands) - 1)]
        return _joined(between, zip(operands, leasts, strict=True)), strength
    if label == "O!minus" and operands:
        return ["-", (operands[0], _SIGN)], _SIGN
    name = _NAMES.get(label) or label.rpartition("!")[2] or label
    if not operands:
        return [name], _TIGHTEST
    inside = [(operand, 0) for operand in operands]
    if label.startswith("+!"):
        # A big operator: what stands over and under it, then what it works on.
        return _joined(" ", inside), 4
    return [f"{name}(", *_joined(", ", inside), ")"], _TIGHTEST


def _joined(between: str, operands: Iterable[tuple[Tree, int]]) -> list[_Part]:
    parts: list[_Part] = []
    for operand in operands:
        if parts:
            parts.append(between)
        parts.append(operand)
    return parts
