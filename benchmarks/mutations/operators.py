"""Mutation operators: small changes to a syntax tree, each of which should make a test fail."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Fields that are not behaviour: types and decorators.
_IGNORED_FIELDS = {"annotation", "returns", "decorator_list", "type_params"}


@dataclass(frozen=True)
class Mutation:
    """One change at one place.

    Attributes:
        line: The line of the changed node.
        index: The position of the node in `ast.walk`, and the number of its change.
        description: The change in words.
    """

    line: int
    index: tuple[int, int]
    description: str


def mutations(source: str) -> list[Mutation]:
    """Find all changes that can be made to a module.

    >>> [one.description for one in mutations("def f(a): return a < 3")]
    ['return nothing', '< to <=', '3 to 4']
    """
    tree = ast.parse(source)
    allowed = {id(node) for node in _behaviour(tree)}
    return [
        Mutation(node.lineno, (place, number), description)
        for place, node in enumerate(ast.walk(tree))
        if id(node) in allowed and isinstance(node, ast.stmt | ast.expr)
        for number, (description, _) in enumerate(_changes(node))
    ]


def mutated(source: str, mutation: Mutation) -> ast.Module:
    """Return the tree of a module with one change.

    >>> [change] = mutations("x = 1 < y")[:1]
    >>> ast.unparse(mutated("x = 1 < y", change))
    'x = 1 <= y'
    """
    tree = ast.parse(source)
    place, number = mutation.index
    node = next(node for here, node in enumerate(ast.walk(tree)) if here == place)
    assert isinstance(node, ast.stmt | ast.expr)
    _, apply = list(_changes(node))[number]
    apply()
    return ast.fix_missing_locations(tree)


def _behaviour(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that determine behaviour: not types, messages, docstrings or exports."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":  # an assertion that always holds
        return
    if isinstance(node, ast.Assign) and "__all__" in ast.unparse(node.targets[0]):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in _IGNORED_FIELDS:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _behaviour(child)


def _changes(node: ast.stmt | ast.expr) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the possible changes of a node: a description, and a function that applies it."""
    match node:
        case ast.Compare(ops=[operator]) if (other := _COMPARISONS.get(type(operator))) is not None:
            yield f"{_sign(operator)} to {_sign(other())}", lambda: _set(node, "ops", [other()])
        case ast.BinOp(op=operation) | ast.AugAssign(op=operation) if (
            swapped := _OPERATIONS.get(type(operation))
        ) is not None:
            yield (
                f"{_sign(operation)} to {_sign(swapped())}",
                lambda: _set(node, "op", swapped()),
            )
        case ast.BoolOp():
            opposite = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield f"{_sign(node.op)} to {_sign(opposite)}", lambda: _set(node, "op", opposite)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield f"no {_sign(node.op)}", lambda: _set(node, "op", ast.UAdd())
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, ast.Constant):
            opposite_test = ast.UnaryOp(ast.Not(), node.test)
            yield "condition negated", lambda: _set(node, "test", opposite_test)
        case ast.Constant(value=bool() as value):
            yield f"{value} to {not value}", lambda: _set(node, "value", not value)
        case ast.Constant(value=int() | float() as value):
            yield f"{value} to {value + 1}", lambda: _set(node, "value", value + 1)
        case ast.Return(value=ast.expr() as given) if ast.unparse(given) != "None":
            yield "return nothing", lambda: _set(node, "value", ast.Constant(None))
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            renamed = ast.Name(_CALLS[name], ast.Load())
            yield f"{name} to {_CALLS[name]}", lambda: _set(node, "func", renamed)
        case ast.Expr(value=ast.Call()):
            yield "call left out", lambda: _set(node, "value", ast.Constant(None))
        case ast.Break():
            yield "break to continue", lambda: _set(node, "__class__", ast.Continue)
        case ast.Continue():
            yield "continue to break", lambda: _set(node, "__class__", ast.Break)


def _set(node: ast.AST, name: str, value: object) -> None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and name == "op":
        # Use `not not x`, since the condition must remain a bool.
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
        return
    setattr(node, name, value)


def _sign(operator: ast.AST) -> str:
    """The source text of an operator."""
    written = {
        ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "-",
        ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
        ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
        ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
        ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|",
        ast.LShift: "<<", ast.RShift: ">>",
    }  # fmt: skip
    return written[type(operator)]
