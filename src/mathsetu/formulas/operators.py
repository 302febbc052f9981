"""Build the operator tree (OPT), operators with their operands, from rows of boxes.

Each row is parsed from left to right by precedence: separators bind least, then ``⇔`` and ``:``,
relations, sums, products, functions and big operators, and scripts and postfix signs most.
Ambiguous notation is read as LaTeXML reads it (docs/formulas.md has the table), because public
formula data was made with LaTeXML.
"""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.clauses import MAX_REPEATED, Budget, Clause
from mathsetu.formulas.latex.boxes import (
    ADDITION,
    ATOM,
    BIG,
    COMMA,
    CONDITION,
    FENCE,
    FRACTION,
    FUNCTION,
    IDENTIFIER,
    INTEGRAL,
    MODULUS,
    MULTIPLICATION,
    NEGATION,
    NUMBER,
    POSTFIX,
    PREFIX,
    RELATION,
    SPACE,
    TEXT,
    TRIGONOMETRIC,
    Box,
    Row,
    Sign,
)
from mathsetu.formulas.operands import (
    BLANK,
    ONE,
    TWO,
    applied,
    argument_list,
    edges,
    node,
    operand,
    scripted,
    tree_of,
)
from mathsetu.formulas.tree import Tree

# The kind of a frame with a sign that waits for its operand; other kinds are roles of functions.
_UNARY: Final = -1
# Functions whose argument without brackets ends at the next multiplication sign.
_BARE: Final = frozenset({FUNCTION, TRIGONOMETRIC})
# Functions that take the content of brackets after them as their arguments.
_WITH_BRACKETS: Final = frozenset({FUNCTION, TRIGONOMETRIC, NEGATION})
# Operators that are binary between two operands, whatever the context.
_BINARY: Final = frozenset({ADDITION, MULTIPLICATION, RELATION})
# A sentinel after the last box, which ends everything that is open.
_END_ROLE: Final = 99
_END: Final = [Box(Sign("", "mo", _END_ROLE), -1)]

# A product: its factors and the operator between them (None if they are side by side).
_Product = tuple[list[Tree], "Box | None"]
# An open argument: its kind and head, and the product around it with its waiting operator.
_Frame = tuple[int, Tree, list[Tree], "Box | None", "Box | None"]


def build_operator_tree(rows: list[Row]) -> Tree:
    """Return the tree of the last row; inner rows must come before the rows around them.

    >>> from mathsetu.formulas.latex.reader import read_layout
    >>> build_operator_tree(read_layout("x^2+1")[1])
    Tree('U!plus', 0=Tree('O!SUP', 0=Tree('V!x'), 1=Tree('N!2')), 1=Tree('N!1'))
    """
    budget = [MAX_REPEATED]
    trees: list[Tree] = []  # the trees of the rows so far
    for row in rows:
        # Fast path: most rows are one or two operands, or two with an operator between them.
        boxes = row.boxes
        count = len(boxes)
        if count == 1:
            trees.append(operand(boxes[0], trees))
            continue
        if count == 3:
            left, operator, right = boxes
            if left.sign.role <= TEXT >= right.sign.role and operator.sign.role in _BINARY:
                operands = operand(left, trees), operand(right, trees)
                trees.append(node(operator, operands, trees))
                continue
        elif count == 2:
            left, right = boxes
            if left.sign.role <= TEXT >= right.sign.role and right.sign.kind != FRACTION:
                operands = operand(left, trees), operand(right, trees)
                trees.append(Tree("U!times", operands, TWO))
                continue
        trees.append(_sentence(boxes, budget, trees))
    return trees[-1]


def _sentence(row: list[Box], budget: Budget, trees: list[Tree]) -> Tree:
    """Return the tree of a row; a level collects operands until an operator binds more loosely."""
    # The current product, the operator between its factors, and one that waits for its operand.
    factors: list[Tree] = []
    joiner: Box | None = None
    waiting: Box | None = None
    # Functions and signs whose argument is being read.
    frames: list[_Frame] = []
    # The current sum, the operator between its terms, and one that waits for its operand.
    terms: list[Tree] = []
    adder: Box | None = None
    next_adder: Box | None = None
    # One relation and the expression before it; several relations, and lists, need a clause.
    relation: Box | None = None
    before: Tree | None = None
    clause: Clause | None = None
    place = 0
    boxes = row + _END
    while True:
        box = boxes[place]
        place += 1
        sign = box.sign
        role = sign.role
        if role <= TEXT:
            if sign.kind == ATOM:
                if frames and sign.text == "d" and _is_differential(row, place, frames):
                    # The differential of an integral, with its variable.
                    factors, joiner, waiting = _end_frames(
                        frames, _BARE, factors, joiner, waiting, trees
                    )
                    tree = Tree("F!d", (operand(row[place], trees),), ONE, box.symbol)
                    place += 1
                else:
                    tree = box.leaf or Tree(sign.operand, (), (), box.symbol)
                    if box.scripts:
                        tree = scripted(tree, box, trees)
            else:
                tree = operand(box, trees)
                if sign.kind == FENCE:
                    if frames and factors:
                        # sin x (y): the brackets are not part of the argument.
                        factors, joiner, waiting = _end_frames(
                            frames, _BARE, factors, joiner, waiting, trees
                        )
                elif sign.kind == FRACTION and factors and _is_mixed(row, place):
                    tree = Tree("U!plus", (factors.pop(), tree), TWO)
            if joiner is waiting:
                factors.append(tree)  # both are None: factors side by side
            else:
                factors, joiner = _times(factors, joiner, waiting, tree, trees)
                waiting = None
        elif role >= ADDITION:
            if role == ADDITION and (not factors or waiting is not None):
                # A sign before its operand.
                frames.append((_UNARY, operand(box, trees), factors, joiner, waiting))
                factors = []
                joiner = waiting = None
                continue
            # The term is complete.
            while frames:
                factors, joiner, waiting = _end_frame(frames, factors, joiner, waiting, trees)
            if factors:
                tree = factors[0] if len(factors) == 1 else _product(factors, joiner, trees)
                if waiting is not None:
                    tree = _product(
                        _times([tree], None, None, operand(waiting, trees), trees)[0], None, trees
                    )
                    waiting = None
                factors = []
                joiner = None
                if len(terms) == 1:
                    adder = next_adder
                elif terms and not _same(adder, next_adder):
                    assert adder is not None
                    terms = [node(adder, tuple(terms), trees)]
                    adder = next_adder
                terms.append(tree)
                next_adder = None
            if role == ADDITION:
                next_adder = box
                continue
            # The sum is complete.
            whole: Tree | None = None
            if terms:
                whole = terms[0]
                if len(terms) > 1:
                    assert adder is not None
                    whole = node(adder, tuple(terms), trees)
                if next_adder is not None:
                    whole = Tree("O!limit-from", (whole, operand(next_adder, trees)), TWO)
                    next_adder = None
                terms = []
            if role == _END_ROLE:
                if clause is not None:
                    return clause.end(whole)
                if relation is None:
                    return whole or BLANK
                return node(relation, (before or BLANK, whole or BLANK), trees)
            if role == MODULUS:
                factors = [_with_modulus(whole, box, trees)]
                continue
            if clause is None:
                if role == RELATION and relation is None and whole is not None:
                    relation = box
                    before = whole
                    continue
                clause = Clause(budget, trees)
                if relation is not None:
                    clause.add(before, relation, RELATION)
            if role == CONDITION:
                # The condition after "such that" in a set is parsed separately.
                parts = (clause.end(whole), _sentence(row[place:], budget, trees))
                return Tree("O!conditional-set", parts, TWO, box.symbol)
            if role == RELATION and whole is None and _is_alone(clause, row, place):
                factors = [operand(box, trees)]
                continue
            clause.add(whole, box, role)
        elif role == MULTIPLICATION:
            if frames:
                factors, joiner, waiting = _end_frames(
                    frames, _BARE, factors, joiner, waiting, trees
                )
            if factors and waiting is None:
                waiting = box
            else:
                factors, joiner = _times(factors, joiner, waiting, operand(box, trees), trees)
                waiting = None
        elif role <= NEGATION:
            if role in _WITH_BRACKETS:
                while frames and frames[-1][0] == TRIGONOMETRIC and factors:
                    factors, joiner, waiting = _end_frame(frames, factors, joiner, waiting, trees)
                fence = _fence_ahead(row, place)
                if fence is not None or role == NEGATION:
                    tree = operand(box, trees)
                    if fence is not None:
                        place = row.index(fence, place) + 1
                        tree = applied(tree, argument_list(fence, trees))
                        if fence.scripts:
                            tree = scripted(tree, fence, trees)
                    factors, joiner = _times(factors, joiner, waiting, tree, trees)
                    waiting = None
                    continue
            frames.append((role, operand(box, trees), factors, joiner, waiting))
            factors = []
            joiner = waiting = None
        elif role == POSTFIX and factors and waiting is None:
            tree = Tree(sign.operator, (factors[-1],), ONE, box.symbol)
            factors[-1] = scripted(tree, box, trees)
        elif role != SPACE:
            # An unpaired bracket, or a postfix sign without its operand.
            factors, joiner = _times(factors, joiner, waiting, operand(box, trees), trees)
            waiting = None


def _times(
    factors: list[Tree], joiner: Box | None, waiting: Box | None, tree: Tree, trees: list[Tree]
) -> _Product:
    """Add a factor to a product, joined by the waiting operator."""
    if not factors:
        return [tree], None
    if len(factors) == 1 or _same(joiner, waiting):
        factors.append(tree)
        return factors, waiting
    return [_product(factors, joiner, trees), tree], waiting


def _product(factors: list[Tree], joiner: Box | None, trees: list[Tree]) -> Tree:
    """Return the factors as one node."""
    if len(factors) == 1:
        return factors[0]
    if joiner is None:
        count = len(factors)
        return Tree("U!times", tuple(factors), TWO if count == 2 else edges(count))
    return node(joiner, tuple(factors), trees)


def _same(first: Box | None, second: Box | None) -> bool:
    """Whether two operators join their operands into one node."""
    if first is None or second is None:
        return first is second
    return (
        first.sign is second.sign
        and not first.scripts
        and not second.scripts
        and first.sign.operator != "O!divide"
    )


def _end_frame(
    frames: list[_Frame],
    factors: list[Tree],
    joiner: Box | None,
    waiting: Box | None,
    trees: list[Tree],
) -> tuple[list[Tree], Box | None, Box | None]:
    """End the innermost argument; the applied function is a factor of the product around it."""
    if waiting is not None:
        factors, joiner = _times(factors, joiner, None, operand(waiting, trees), trees)
    _, head, outer, outer_joiner, outer_waiting = frames.pop()
    tree = applied(head, (_product(factors, joiner, trees),)) if factors else head
    factors, joiner = _times(outer, outer_joiner, outer_waiting, tree, trees)
    return factors, joiner, None


def _end_frames(
    frames: list[_Frame],
    kinds: frozenset[int],
    factors: list[Tree],
    joiner: Box | None,
    waiting: Box | None,
    trees: list[Tree],
) -> tuple[list[Tree], Box | None, Box | None]:
    """End the arguments of the innermost functions, as long as they are of the given kinds."""
    while frames and frames[-1][0] in kinds and factors:
        factors, joiner, waiting = _end_frame(frames, factors, joiner, waiting, trees)
    return factors, joiner, waiting


def _fence_ahead(row: list[Box], place: int) -> Box | None:
    """Return the parentheses or braces that come next, if any."""
    while place < len(row) and row[place].sign.role == SPACE:
        place += 1
    if place < len(row):
        box = row[place]
        sign = box.sign
        if sign.opening in ("(", "{") and sign.kind == FENCE and sign.role != MODULUS:
            return box if box.rows[0].boxes else None
    return None


def _is_differential(row: list[Box], place: int, frames: list[_Frame]) -> bool:
    """Whether a d is followed by its variable, and the innermost big operator is an integral."""
    if place >= len(row) or row[place - 1].scripts:
        return False
    following = row[place].sign
    if following.role != IDENTIFIER or following.element != "mi":
        return False
    for frame in reversed(frames):
        if frame[0] == INTEGRAL:
            return True
        if frame[0] == BIG or frame[0] == PREFIX:
            return False
    return False


def _is_mixed(row: list[Box], place: int) -> bool:
    """Whether a fraction of numbers directly follows a number: a mixed number."""
    box = row[place - 1]
    before = row[place - 2]
    if before.sign.role != NUMBER or before.scripts or box.scripts:
        return False
    return all(
        len(part.boxes) == 1 and part.boxes[0].sign.role == NUMBER and not part.boxes[0].scripts
        for part in box.rows
    )


def _is_alone(clause: Clause, row: list[Box], place: int) -> bool:
    """Whether a relation is itself an operand, as in a list of signs."""
    return not clause.relations and (place >= len(row) or row[place].sign.role == COMMA)


def _with_modulus(whole: Tree | None, box: Box, trees: list[Tree]) -> Tree:
    """Annotate an expression with the ``(mod n)`` after it."""
    note = Tree("F!pmod", (tree_of(box.rows[0], trees),), ONE, box.symbol)
    return note if whole is None else Tree("O!annotated", (whole, note), TWO)
