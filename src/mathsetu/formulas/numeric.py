r"""Evaluates operator trees numerically, with numbers substituted for letters.

Equivalent formulas have the same values: $(x+1)^2$ and $x^2+2x+1$, $\frac{1}{2}$ and $0.5$. The
numbers substituted for a letter are a hash of its name, so that each formula can be labelled
independently: the values of a sub-formula become a label, and equal labels mean equal values.
Equations and inequalities are compared by the difference of their sides, up to a factor: $2x=4$
equals $x=2$, and $a<b$ equals $b>a$.

Only arithmetic, powers, roots and elementary functions are evaluated. Evaluation is in floating
point and in one pass, so that no formula takes long, however large its numbers are.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from hashlib import blake2b
from typing import Final

from mathsetu.formulas.numbers import number_value, value
from mathsetu.formulas.tree import Tree

#: The values of a sub-formula, one for each sample point.
Values = tuple[complex, ...]
#: The prefix of labels of values; no label of a symbol has it.
VALUE: Final = "value:"

# The number of sample points. Two different formulas agree at all of them only by chance, which
# is less likely than a parsing error.
_POINTS: Final = 3
# Digits that must agree; rounding errors affect the last few of the sixteen digits of a float.
_DIGITS: Final = 9
# Smaller differences are rounding errors.
_ZERO: Final = 1e-11
# Names of letters are truncated at this length; longer ones contain sub-formulas as subscripts.
_LONGEST_NAME: Final = 200

_CONSTANTS: Final[Mapping[str, float]] = {"V!π": math.pi, "V!e": math.e}
_SIDES: Final[Mapping[str, tuple[str, bool]]] = {
    "U!eq": ("eq", False),
    "U!neq": ("neq", False),
    "O!lt": ("lt", False),
    "O!gt": ("lt", True),
    "O!leq": ("leq", False),
    "O!geq": ("leq", True),
}


def _reciprocal(function: Callable[[complex], complex]) -> Callable[[complex], complex]:
    return lambda number: 1 / function(number)


def _factorial(number: complex) -> complex:
    """Return the factorial, extended to real numbers by the gamma function."""
    if number.imag:
        raise ValueError("the gamma function is only evaluated for real numbers")
    return complex(math.gamma(number.real + 1))


def _rounded_by(function: Callable[[float], int]) -> Callable[[complex], complex]:
    def rounded(number: complex) -> complex:
        if number.imag:
            raise ValueError("only real numbers can be rounded")
        return complex(function(number.real))

    return rounded


_FUNCTIONS: Final[Mapping[str, Callable[[complex], complex]]] = {
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "cot": _reciprocal(cmath.tan),
    "sec": _reciprocal(cmath.cos),
    "csc": _reciprocal(cmath.sin),
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
    "exp": cmath.exp,
    "ln": cmath.log,
    "log": cmath.log,
    "abs": lambda number: complex(abs(number)),
    "floor": _rounded_by(math.floor),
    "ceiling": _rounded_by(math.ceil),
}
_INVERSES: Final = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}


def sub_values(tree: Tree) -> list[tuple[Tree, Values | None]]:
    r"""Return all nodes of an operator tree with their values (or None), children first.

    >>> from mathsetu.formulas import parse_latex
    >>> [(node.label, round(values[0].real, 3))
    ...     for node, values in sub_values(parse_latex(r"\sqrt{2}+1").opt) if values]
    [('N!1', 1.0), ('N!2', 2.0), ('N!2', 2.0), ('O!root', 1.414), ('U!plus', 2.414)]
    """
    found: list[tuple[Tree, Values | None]] = []
    finished: list[Values | None] = []
    for node in reversed(list(tree.walk())):
        start = len(finished) - len(node.children)
        operands = finished[start:][::-1]
        del finished[start:]
        values = _values(node, operands)
        finished.append(values)
        found.append((node, values))
    return found


def value_labels(tree: Tree) -> list[str]:
    r"""Return a label for each operator and each relation of a tree that can be evaluated.

    >>> from mathsetu.formulas import parse_latex
    >>> square, expanded = (parse_latex(one).opt for one in ("(x+1)^2", "x^2+2x+1"))
    >>> value_labels(square)[-1] == value_labels(expanded)[-1]
    True
    >>> one, other = (parse_latex(one).opt for one in ("2x=4", "x-2=0"))
    >>> value_labels(one)[-1] == value_labels(other)[-1]
    True
    """
    known = sub_values(tree)
    labels = [label_of(values) for node, values in known if node.children and values is not None]
    of_node = {id(node): values for node, values in known}
    for node, _ in known:
        if node.label in _SIDES and len(node.children) == 2:
            sides = [of_node[id(child)] for child in node.children]
            if sides[0] is not None and sides[1] is not None:
                labels.append(_relation(node.label, sides[0], sides[1]))
    return labels


def labels_with_values(tree: Tree) -> list[str]:
    r"""Return the labels of an operator tree; each numeric sub-tree is one label, its value.

    >>> from mathsetu.formulas import parse_latex
    >>> labels_with_values(parse_latex(r"x+\frac{1}{2}").opt), parse_latex("x+0.50").opt
    (['U!plus', 'V!x', 'N!0.5'], Tree('U!plus', 0=Tree('V!x'), 1=Tree('N!0.50')))
    """
    numbers: dict[int, Fraction | None] = {}
    for node in reversed(list(tree.walk())):
        numbers[id(node)] = value(node.label, [numbers[id(child)] for child in node.children])
    labels = []
    stack = [tree]
    while stack:
        node = stack.pop()
        number = numbers[id(node)]
        if number is None:
            labels.append(node.label)
            stack.extend(reversed(node.children))
        else:
            labels.append(number_label(float(number)))
    return labels


def normalise_number_label(label: str) -> str:
    """Return a label of a layout tree, with a number replaced by its value.

    >>> normalise_number_label("N!0.50"), normalise_number_label("V!x")
    ('N!0.5', 'V!x')
    """
    number = number_value(label[2:]) if label.startswith("N!") else None
    return label if number is None else number_label(float(number))


def number_label(number: float) -> str:
    """Return the label of a number, equal for all its spellings.

    >>> number_label(0.5), number_label(1000)
    ('N!0.5', 'N!1000')
    """
    return f"N!{number:.{_DIGITS}g}"


def label_of(values: Values) -> str:
    """Return the label of all sub-formulas with these values; a constant has that of a number.

    >>> label_of((2 + 0j, 2 + 0j, 2 + 0j))
    'N!2'
    """
    rounded = [_rounded(value) for value in values]
    if len(set(rounded)) == 1 and not rounded[0][1]:
        return number_label(rounded[0][0])
    return VALUE + _digest(rounded)


def _relation(label: str, left: Values, right: Values) -> str:
    """Return the label of an equation or inequality: its sides' difference, up to a factor."""
    name, turned = _SIDES[label]
    if turned:
        left, right = right, left
    differences = [a - b for a, b in zip(left, right, strict=True)]
    scale: complex = next((one for one in differences if abs(one) > _ZERO), 1 + 0j)
    if name in ("lt", "leq"):
        scale = complex(abs(scale))  # a negative factor would reverse the inequality
    return f"{VALUE}{name}:" + _digest([_rounded(one / scale) for one in differences])


def _digest(rounded: list[tuple[float, float]]) -> str:
    text = ";".join(f"{real:.{_DIGITS}g},{imaginary:.{_DIGITS}g}" for real, imaginary in rounded)
    return blake2b(text.encode(), digest_size=6).hexdigest()


def _rounded(value: complex) -> tuple[float, float]:
    """Round the real and imaginary parts to `_DIGITS` digits of the absolute value."""
    size = abs(value)
    if size <= _ZERO:
        return 0.0, 0.0
    places = _DIGITS - 1 - math.floor(math.log10(size))
    # Adding 0.0 turns a negative zero, which rounding may produce, into zero.
    return round(value.real, places) + 0.0, round(value.imag, places) + 0.0


def _values(node: Tree, operands: list[Values | None]) -> Values | None:
    label = node.label
    if not node.children:
        return _leaf(label)
    if label == "O!SUB" and node.children[0].label.startswith("V!"):
        return _letter(_name(node))  # a letter with an index is a separate letter
    head = node.children[0]
    if label.startswith("+!F!") and len(operands) == 2 and operands[1] is not None:
        function = _decorated(label[4:], head)
        return _applied(lambda numbers: function(numbers[0]), [operands[1]]) if function else None
    known = [values for values in operands if values is not None]
    if len(known) < len(operands):
        return None
    operation = _operation(label, len(known))
    return _applied(operation, known) if operation else None


def _leaf(label: str) -> Values | None:
    if label in _CONSTANTS:
        return (complex(_CONSTANTS[label]),) * _POINTS
    if label.startswith("V!") and label != "V!′":
        return _letter(label)
    if label.startswith("N!"):
        number = number_value(label[2:])
        return None if number is None else (complex(float(number)),) * _POINTS
    return None


def _letter(name: str) -> Values:
    """Return the values of a letter: from 1 to 3, where few functions are discontinuous."""
    digest = blake2b(name.encode(errors="replace"), digest_size=4 * _POINTS).digest()
    return tuple(
        complex(1 + 2 * int.from_bytes(digest[4 * place : 4 * place + 4], "big") / 2**32)
        for place in range(_POINTS)
    )


def _name(node: Tree) -> str:
    written: list[str] = []
    size = 0
    for one in node.walk():
        written.append(f"{one.label}/{len(one.children)}")
        size += len(written[-1])
        if size > _LONGEST_NAME:
            break
    return " ".join(written)


def _operation(label: str, count: int) -> Callable[[list[complex]], complex] | None:
    """Return the operation of an operator on ``count`` numbers; None if it is not supported."""
    if label == "U!plus":
        return sum
    if label in ("U!times", "F!⋅"):
        return math.prod
    if label == "O!minus":
        return (lambda n: -n[0]) if count == 1 else (lambda n: n[0] - sum(n[1:]))
    if label.startswith("F!") and count == 1:
        function = _FUNCTIONS.get(label[2:])
        return (lambda n: function(n[0])) if function else None
    return _SIMPLE.get((label, count))


_SIMPLE: Final[Mapping[tuple[str, int], Callable[[list[complex]], complex]]] = {
    ("O!divide", 2): lambda n: n[0] / n[1],
    ("O!SUP", 2): lambda n: n[0] ** n[1],
    ("O!root", 2): lambda n: n[0] ** (1 / n[1]),
    ("O!percent", 1): lambda n: n[0] / 100,
    ("O!factorial", 1): lambda n: _factorial(n[0]),
    ("O!binomial", 2): lambda n: _factorial(n[0]) / (_factorial(n[1]) * _factorial(n[0] - n[1])),
}


def _decorated(name: str, head: Tree) -> Callable[[complex], complex] | None:
    r"""Return a function with an exponent or a base: $\sin^2$, $\tan^{-1}$, $\log_2$; or None."""
    function = _FUNCTIONS.get(name)
    if function is None or len(head.children) != 2 or head.children[0].children:
        return None
    given = _number(head.children[1])
    if given is None:
        return None
    if head.label == "O!SUB" and name == "log":
        return lambda number: cmath.log(number) / cmath.log(given)
    if head.label != "O!SUP":
        return None
    if given == -1:
        return _FUNCTIONS.get(_INVERSES.get(name, ""))
    return lambda number: function(number) ** given


def _number(tree: Tree) -> float | None:
    """Return the value of a written number, which may have a minus; None for other trees."""
    if tree.label == "O!minus" and len(tree.children) == 1:
        inner = _number(tree.children[0]) if not tree.children[0].children else None
        return None if inner is None else -inner
    number = number_value(tree.label[2:]) if tree.label.startswith("N!") else None
    return None if number is None else float(number)


def _applied(
    operation: Callable[[list[complex]], complex], operands: list[Values]
) -> Values | None:
    try:
        found = tuple(operation(list(numbers)) for numbers in zip(*operands, strict=True))
    except (ArithmeticError, ValueError):
        return None
    return found if all(map(cmath.isfinite, found)) else None
