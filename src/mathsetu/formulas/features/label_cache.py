"""A cache of properties of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from mathsetu.formulas.labels import is_commutative, one_shape

_Answer = TypeVar("_Answer")


class _CachedFunction(dict[str, _Answer]):
    """A dict that computes missing values; a look-up is faster than a function call."""

    def __init__(self, answer: Callable[[str], _Answer]) -> None:
        self._answer = answer

    def __missing__(self, text: str) -> _Answer:
        found = self._answer(text)
        if len(self) < 100_000:
            self[text] = found
        return found


def _abstracted(label: str) -> str:
    return label[0] if label.startswith(("V!", "N!")) else label


def _in_order(edges: str) -> str:
    return "".join(sorted(edges))


#: The label for comparisons; see `one_shape`.
SHAPE: Final = _CachedFunction(one_shape)
#: The kind of a variable or number; any other label unchanged.
#:
#: >>> ABSTRACT["V!x"], ABSTRACT["N!42"], ABSTRACT["U!plus"]
#: ('V', 'N', 'U!plus')
ABSTRACT: Final = _CachedFunction(_abstracted)
#: Whether the operands of an operator may change places.
COMMUTATIVE: Final = _CachedFunction(is_commutative)
#: The edges of a node, one letter each, in alphabetical order.
IN_ORDER: Final = _CachedFunction(_in_order)
