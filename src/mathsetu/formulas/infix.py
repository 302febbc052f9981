"""Write operator trees as one line of readable text, for example the binding of a wildcard.

The text is not meant to be parsed: `mathsetu.formulas.notation` writes trees without loss.
"""

from __future__ import annotations

from collections.abc import Iterable

from mathsetu.formulas.latex.boxes import MULTIPLICATION, RELATION
from mathsetu.formulas.latex.symbols import SIGNS
from mathsetu.formulas.tree import Tree

# Infix operators and their strength; an operand that binds more loosely gets parentheses.
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
#: A text, or an operand and the least strength at which it needs no brackets.
_Part = str | tuple[Tree, int]
_LIST, _RELATION, _SUM, _PRODUCT, _SIGN, _POSTFIX, _TIGHTEST = 0, 1, 2, 4, 6, 8, 9
_STRENGTHS = {RELATION: _RELATION, MULTIPLICATION: _PRODUCT}
# Signs by their label in trees; of signs with the same label, the first.
_SIGNS = {
    sign.operand: sign
    for sign in reversed(SIGNS.values())
    if sign.operand and sign.operand[:2] in ("O!", "U!", "C!")
}
_BY_TEXT = {sign.text: sign for sign in SIGNS.values()}
# ⊂ and ⊆ have the same label, as in LaTeXML.
_NAMES = {
    "O!binomial": "binom",
    "O!rem": "mod",
    "O!subset": "⊆",
    "O!superset": "⊇",
    "O!prsubset": "⊂",
    "O!prsuperset": "⊃",
}
# The opening bracket, the separator and the closing bracket.
_AROUND = {
    "O!interval(O-O)": ("(", ", ", ")"),
    "O!interval(O-C)": ("(", ", ", "]"),
    "O!interval(C-O)": ("[", ", ", ")"),
    "O!interval(C-C)": ("[", ", ", "]"),
    "O!conditional-set": ("{", " | ", "}"),
    "O!norm": ("‖", ", ", "‖"),
    "F!abs": ("|", ", ", "|"),
    "F!floor": ("⌊", ", ", "⌋"),
    "F!ceiling": ("⌈", ", ", "⌉"),
    "F!pmod": ("(mod ", ", ", ")"),
    "O!lines": ("[", "; ", "]"),
    "O!atop": ("[", "; ", "]"),
}
_AFTER = {"O!factorial": "!", "F!df": "!!", "O!percent": "%", "O!evaluated-at": "|"}
_LISTS = {"O!form-seq": ", ", "F!c": " | "}


def infix(tree: Tree) -> str:
    """Return an operator tree as text.

    >>> from mathsetu.formulas.notation import read_tree
    >>> infix(read_tree("[O!divide,0[F!sin,0[V!x]],1[U!plus,0[V!x],1[N!1]]]"))
    'sin(x)/(x + 1)'
    """
    pieces: list[str] = []
    coming: list[_Part] = [(tree, 0)]  # a stack, because formulas can be very deep
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


def is_bracketed_as_factor(tree: Tree) -> bool:
    """Whether `infix` puts a tree in brackets if it is a factor; a product gets no brackets.

    >>> plus = Tree("U!plus", (Tree("V!x"), Tree("N!1")), ("0", "1"))
    >>> is_bracketed_as_factor(plus), is_bracketed_as_factor(Tree("V!x"))
    (True, False)
    """
    return _parts(tree)[1] < _PRODUCT


def _parts(node: Tree) -> tuple[list[_Part], int]:
    """Return the parts of a node's text, and the strength of its operator."""
    label, operands = node.label, node.children
    if label == "O!root" and operands[1:] == (_TWO,):
        return ["sqrt(", (operands[0], _LIST), ")"], _TIGHTEST
    if label == "O!SUP" and len(operands) == 2 and not operands[1].label.strip("V!′"):
        return [(operands[0], _POSTFIX), operands[1].label.removeprefix("V!")], _POSTFIX
    if label in _BETWEEN and len(operands) > 1:
        return _between(*_BETWEEN[label], operands)
    if label == "O!minus" and operands:
        return ["-", (operands[0], _SIGN)], _SIGN
    inside = [(operand, _LIST + 1) for operand in operands]
    if operands and (bracketed := _bracketed(label, operands)):
        return bracketed, _TIGHTEST
    if label in _AFTER and len(operands) == 1:
        return [(operands[0], _POSTFIX), _AFTER[label]], _POSTFIX
    if label in _LISTS or label.startswith("M!L-"):
        return _joined(_LISTS.get(label, ", "), inside), _LIST
    if label == "O!annotated" and len(operands) > 1:
        return _between(" ", _SUM, operands)
    if label == "O!continued-fraction" and len(operands) > 1:
        return _between("/", 5, operands)
    if label == "F!d" and len(operands) == 1:
        return ["d", (operands[0], _POSTFIX)], _TIGHTEST
    if label.startswith("+!"):
        return _applied(operands), _PRODUCT
    sign = _SIGNS.get(label)
    name = _NAMES.get(label) or (sign.text if sign else label.rpartition("!")[2])
    if not operands:
        return [name], _TIGHTEST
    is_word = any(character.isalnum() for character in name)
    if name and not is_word and len(operands) > 1:
        sign = sign or _BY_TEXT.get(name)
        strength = _STRENGTHS.get(sign.role, _SUM) if sign else _SUM
        return _between(f" {name} ", strength, operands)
    if label == "O!rem" and len(operands) > 1:
        return _between(f" {name} ", _PRODUCT, operands)
    if sign and not is_word:
        return [name, (operands[0], _SIGN)], _SIGN
    return [f"{name}(", *_joined(", ", inside), ")"], _TIGHTEST


_TWO = Tree("N!2")


def _between(between: str, strength: int, operands: tuple[Tree, ...]) -> tuple[list[_Part], int]:
    # The first operand may bind equally tightly, the others must bind more tightly: a - (b - c).
    parts: list[_Part] = []
    for operand in operands:
        # The arguments of f(x, a) are a factor in the tree.
        is_argument = between == " " and _opens_round(operand.label)
        if parts:
            parts.append("" if is_argument else between)
        parts.append((operand, strength + bool(parts)))
    return parts, strength


def _opens_round(label: str) -> bool:
    return label.startswith(("O!interval(O-", "M!V-"))


def _bracketed(label: str, operands: tuple[Tree, ...]) -> list[_Part]:
    """Return the operands in the brackets of a label; an empty list if the label has none."""
    inside = [(operand, _LIST + 1) for operand in operands]
    if label in _AROUND:
        opening, between, closing = _AROUND[label]
    elif label == "O!matrix":
        return [(operands[0], _LIST)] if len(operands) == 1 else ["[", *_joined("; ", inside), "]"]
    elif label == "O!cases":
        # Each value is followed by its condition, which may be left out.
        values: list[_Part] = []
        for number, operand in enumerate(inside):
            if operand[0].label != "W!" or operand[0].children:
                values += [", " if number % 2 else "; ", operand]
        return ["{", *values[1:], "}"]
    elif label.startswith("M!S-"):
        opening, between, closing = "{", ", ", "}"
    elif label.startswith("M!V-"):
        opening, between, closing = "(", ", ", ")"
    elif label.startswith("M!D-") and len(label) > 5:
        opening, between, closing = label[4], ", ", label[-1]
    elif label == "M!R!":
        opening, between, closing = "", ", ", ""
    elif label.startswith("M!") and not label.startswith("M!L-"):
        opening, between, closing = "[", "; ", "]"
    else:
        return []
    return [opening, *_joined(between, inside), closing]


def _applied(operands: tuple[Tree, ...]) -> list[_Part]:
    """Return an operator with its scripts, followed by its arguments."""
    if len(operands) == 3:  # a relation, and its sides
        operands = (operands[1], operands[0], operands[2])
        return _joined(" ", [(operand, _LIST) for operand in operands])
    operator, *arguments = operands
    return _joined(" ", [(operator, _LIST), *((argument, _PRODUCT) for argument in arguments)])


def _joined(between: str, operands: Iterable[tuple[Tree, int]]) -> list[_Part]:
    parts: list[_Part] = []
    for operand in operands:
        if parts:
            parts.append(between)
        parts.append(operand)
    return parts
