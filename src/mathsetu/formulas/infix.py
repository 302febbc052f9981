"""Operator trees as one line of text for people: what a wildcard stands for, in messages.

Not meant to be parsed again: `mathsetu.formulas.notation` writes trees without loss.
"""

from __future__ import annotations

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
_SIGN = 6
_TIGHTEST = 9
_NAMES = {"C!infinity": "∞", "O!int": "∫", "O!sum": "∑", "O!product": "∏", "O!limit": "lim"}


def infix(tree: Tree) -> str:
    """An operator tree as text.

    >>> from mathsetu.formulas.notation import read_tree
    >>> infix(read_tree("[O!divide,0[F!sin,0[V!x]],1[U!plus,0[V!x],1[N!1]]]"))
    'sin(x)/(x + 1)'
    """
    # Operands are written before their operator: the walk is parents first, so go backwards.
    written: dict[int, tuple[str, int]] = {}
    for node in reversed(list(tree.walk())):
        written[id(node)] = _write(node, [written[id(child)] for child in node.children])
    return written[id(tree)][0]


def _write(node: Tree, operands: list[tuple[str, int]]) -> tuple[str, int]:
    label = node.label
    if label in _BETWEEN and len(operands) > 1:
        between, strength = _BETWEEN[label]
        # The first may bind as tightly, the others must bind more tightly: a - (b - c).
        parts = [
            _enclosed(operand, strength if number == 0 else strength + 1)
            for number, operand in enumerate(operands)
        ]
        return between.join(parts), strength
    if label == "O!minus" and operands:
        return "-" + _enclosed(operands[0], _SIGN), _SIGN
    name = _NAMES.get(label) or label.rpartition("!")[2] or label
    if not operands:
        return name, _TIGHTEST
    inside = ", ".join(text for text, _ in operands)
    if label.startswith("+!"):
        # A big operator: what stands over and under it, then what it works on.
        return " ".join(text for text, _ in operands), 4
    return f"{name}({inside})", _TIGHTEST


def _enclosed(operand: tuple[str, int], least: int) -> str:
    text, strength = operand
    return text if strength >= least else f"({text})"
