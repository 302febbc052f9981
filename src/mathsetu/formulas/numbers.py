"""Values of numeric sub-trees: 0.5, ½ and the fraction 1/2 are the same number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

# Longer numbers are compared as written: parsing and dividing them would be slow.
_LONGEST = 40
_MAX_BITS = 512
_POINTS = {0x066B: ".", 0x066C: ","}  # Arabic decimal and thousands separators
_DECIMAL = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_GROUPS = re.compile(r"(?<=\d)[, \u2009\u202f](?=\d{3}(?!\d))")
_VULGAR = re.compile(r"(\d*)([\u00bc-\u00be\u2150-\u215e\u2189])", re.ASCII)


@lru_cache(maxsize=16384)
def number_value(name: str) -> Fraction | None:
    """Return the value of a number in digits of any script; None for any other text.

    >>> number_value("0.50"), number_value("1,000"), number_value("2½"), number_value("१२")
    (Fraction(1, 2), Fraction(1000, 1), Fraction(5, 2), Fraction(12, 1))
    """
    if len(name) > _LONGEST:
        return None
    if (mixed := _VULGAR.fullmatch(name)) is not None:
        part = Fraction(unicodedata.numeric(mixed.group(2))).limit_denominator(10)
        return int(mixed.group(1) or 0) + part
    if not name.isascii():
        name = "".join(str(unicodedata.decimal(char, char)) for char in name.translate(_POINTS))
    digits = _GROUPS.sub("", name)
    return Fraction(digits) if _DECIMAL.fullmatch(digits) else None


def value(label: str, operands: Sequence[Fraction | None]) -> Fraction | None:
    """Return the value of a node from the values of its operands; None if it is not a number.

    Only fractions and signs are evaluated: ``1+1`` is a sum, not a 2.

    >>> value("O!divide", [Fraction(1), Fraction(2)])
    Fraction(1, 2)
    >>> value("U!plus", [Fraction(1), Fraction(1)])
    """
    if label.startswith("N!"):
        return number_value(label[2:])
    if label == "O!divide" and len(operands) == 2:
        above, below = operands
        return _bounded(above / below) if above is not None and below else None
    if label == "O!minus" and len(operands) == 1 and operands[0] is not None:
        return -operands[0]
    return None


def _bounded(number: Fraction) -> Fraction | None:
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    return number if bits <= _MAX_BITS else None
