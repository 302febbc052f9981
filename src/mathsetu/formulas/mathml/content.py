"""Convert Content MathML, as LaTeXML and ARQMath write it, to operator trees (OPT)."""

from __future__ import annotations

from itertools import pairwise

from mathsetu.errors import NotationError
from mathsetu.formulas.labels import normalise_label
from mathsetu.formulas.mathml.document import Element
from mathsetu.formulas.tree import POSITIONS, Tree

#: Shared parts are copied to each reference; larger trees than this are refused.
MAX_NODES = 200_000

_COMMUTATIVE = frozenset(
    {"eq", "plus", "times", "and", "or", "xor", "union", "intersect", "equivalent", "approx", "neq"}
)
_CONSTANTS = frozenset(
    {"infinity", "emptyset", "exponentiale", "imaginaryi", "pi", "eulergamma", "true", "false"}
    | {"integers", "reals", "rationals", "naturalnumbers", "complexes", "primes", "hbar"}
)
_FUNCTIONS = frozenset(
    {"sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch"}
    | {"arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "arcsinh", "arccosh"}
    | {"arctanh", "arccoth", "arcsech", "arccsch", "exp", "ln", "log", "max", "min", "gcd", "lcm"}
    | {"abs", "floor", "ceiling", "real", "imaginary", "arg", "conjugate"}
)
# Elements and LaTeXML symbols that have another name in Tangent.
_RENAMED = {
    "determinant": "F!det",
    "power": "O!SUP",
    "superscript": "O!SUP",
    "subscript": "O!SUB",
    "formulae-sequence": "O!form-seq",
    "for-all": "O!forall",
    "modulo": "O!rem",
    "conditional": "F!c",
    "differential-d": "F!d",
    "double-factorial": "F!df",
    "hyperbolic-cotangent": "F!coth",
    "absent": "W!",
}
_COLLECTIONS = {"list": "L", "set": "S", "vector": "V"}
_CLOSURES = {"open": "O-O", "closed": "C-C", "open-closed": "O-C", "closed-open": "C-O"}
_QUALIFIERS = frozenset({"bvar", "lowlimit", "uplimit", "condition", "domainofapplication"})
_WRAPPERS = frozenset({"degree", "logbase", "semantics", "math"}) | _QUALIFIERS


def operator_tree(root: Element) -> Tree:
    """Read an element of Content MathML.

    Raises:
        NotationError: when a ``<share>`` does not refer to an earlier element, or the shared
            parts make a tree larger than `MAX_NODES`.
    """
    by_id = {e.attributes["id"]: e for e in root.walk() if "id" in e.attributes}
    middles = _shared_operands(root)
    done: set[int] = set()  # elements whose tree is finished: a share may refer to them
    finished: list[list[Tree]] = [[]]
    pending: list[tuple[Element, bool]] = [(root, False)]
    visited = 0
    while pending:
        element, is_left = pending.pop()
        if is_left:
            operands = finished.pop()
            finished[-1].append(_node(element, operands))
            done.add(id(element))
            continue
        visited += 1
        if visited > MAX_NODES:
            raise NotationError("<share>", 0, f"the tree has more than {MAX_NODES} nodes")
        if element.name == "share":
            reference = element.attributes.get("href", "")
            target = by_id.get(reference.removeprefix("#"))
            if target is None or id(target) not in done:
                target = middles.get(id(element))
            if target is None or id(target) not in done:
                raise NotationError(reference, 0, "<share> must refer to an earlier element")
            pending.append((target, False))
            continue
        finished.append([])
        pending.append((element, True))
        # An identifier may contain Presentation MathML (mostly text); only its text is used.
        if element.name not in ("ci", "cn", "csymbol"):
            children = element.children[:1] if element.name == "semantics" else element.children
            pending.extend((child, False) for child in reversed(children))
    return finished[0][0]


def _shared_operands(root: Element) -> dict[int, Element]:
    """Return the target of each share in a chain of relations, whatever its reference is.

    A chain a<b<c is written as (a<b) and (b<c) with the second b shared; LaTeXML sometimes gives
    b another id than the one in the reference.
    """
    found: dict[int, Element] = {}
    for element in root.walk():
        for left, right in pairwise(element.children):
            if left.children and len(right.children) > 1 and right.children[1].name == "share":
                found[id(right.children[1])] = left.children[-1]
    return found


def _node(element: Element, operands: list[Tree]) -> Tree:
    name = element.name
    if name in ("ci", "cn", "csymbol"):
        return Tree(_leaf_label(element))
    if name in ("apply", "bind"):
        return _application(element, operands)
    if name in _WRAPPERS:
        return operands[0] if len(operands) == 1 else _tree("O!" + name, operands)
    if name == "cerror":
        problem = element.children[0].text if element.children else ""
        return Tree("W!") if problem == "missing-subexpression" else _tree("E!", operands)
    if name == "interval":
        closure = _CLOSURES.get(element.attributes.get("closure", "closed"), "C-C")
        return _tree(f"O!interval({closure})", operands)
    if name in _COLLECTIONS:
        return _tree(f"M!{_COLLECTIONS[name]}-{len(operands)}", operands)
    if name == "matrix":
        columns = max((len(row.children) for row in operands), default=0)
        return _tree(f"M!M-{len(operands)}x{columns}", operands)
    if name == "matrixrow":
        return _tree("M!R!", operands)
    if name == "piecewise":
        return _tree("O!cases", [part for piece in operands for part in piece.children])
    return _tree(_operator_label(name), operands)


def _leaf_label(element: Element) -> str:
    text = element.all_text()
    if element.name == "cn":
        return "N!" + text.replace(" ", "")
    if element.name == "csymbol":
        if element.attributes.get("cd") == "unknown":
            return "V!" + text
        return _operator_label(text)
    if not text:
        return "W!"
    letters = normalise_label("V!" + text)
    return "T!" + letters[2:] if element.children else letters


def _operator_label(name: str) -> str:
    if name in _RENAMED:
        return _RENAMED[name]
    if name.startswith("delimited-"):
        return "M!D-" + name.removeprefix("delimited-")
    for letter, names in (("U", _COMMUTATIVE), ("C", _CONSTANTS), ("F", _FUNCTIONS)):
        if name in names:
            return f"{letter}!{name}"
    return "O!" + name


def _application(element: Element, operands: list[Tree]) -> Tree:
    if not operands:
        return Tree("W!")
    head, *arguments = operands
    if head.children:
        # The head has children: named after the symbol that has the scripts.
        scripted = head.label in ("O!SUB", "O!SUP")
        return _tree("+!" + head.children[0].label if scripted else "+!", operands)
    kind, _, rest = head.label.partition("!")
    if kind in ("V", "T", "N", "W"):
        return _tree("F!" + rest, arguments)
    if head.label == "O!root":
        # MathML writes the degree first and omits 2; Tangent always writes it, and last.
        has_degree = len(arguments) > 1 and element.children[1].name == "degree"
        arguments = arguments[1:] + arguments[:1] if has_degree else [*arguments, Tree("N!2")]
    return _tree(head.label, arguments)


def _tree(label: str, operands: list[Tree]) -> Tree:
    if len(operands) <= len(POSITIONS):
        return Tree(label, tuple(operands), POSITIONS[: len(operands)])
    edges = tuple(POSITIONS[min(i, len(POSITIONS) - 1)] for i in range(len(operands)))
    return Tree(label, tuple(operands), edges)
