"""Finds signs typed as words and letters: ``nabla f``, ``partial_t u``, ``u . v``, ``A x B``.

These words also occur in prose (*a partial sum*), so that the tokens around them decide. A token
gets the sign as its text, and keeps its position.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mathsetu.intake.typed.lexer import kind_of_sign
from mathsetu.intake.typed.names import AND_OR, GREEK, LETTER_WORDS
from mathsetu.intake.typed.token_kinds import Kind, Token

#: The texts in which there may be such a sign.
SPELLED: Final = re.compile(
    r"nabla|partial|forall|rot | [.xoUn] |P(?:r|rob)?\(|\d ?x ?10|\d[a-z]\.[a-z]|\{ ?\w in "
    r"|frac\{|binom\{",
    re.IGNORECASE,
)
# partial u / partial t; partial_t u.
_DERIVATIVE: Final = re.compile(r"(?<!\w)partial(?:_|[^,;=/]{0,12}/\s?\(?\s?partial(?!\w))")
_SCRIPTS: Final = frozenset({Kind.SCRIPT, Kind.SUP, Kind.SUB})
_VARIABLES: Final = frozenset({Kind.LETTER, Kind.SYMBOL})
_FRACTIONS: Final = frozenset(("frac", "dfrac", "tfrac", "binom"))
_SETS: Final = {"U": "∪", "n": "∩"}
# Differentials of vectors: int F . dr.
_VECTORS: Final = re.compile("d[rslxSA]")
_PRODUCTS: Final = {"x": "×", "X": "×", ".": "·", "*": "·", "·": "·", "×": "×"}


def read_spelled_signs(text: str, found: Sequence[Token]) -> None:
    """Turn words that stand for signs into those signs.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> found = tokens("nabla f = 0")
    >>> read_spelled_signs("nabla f = 0", found)
    >>> found
    [PREFIX('∇'), LETTER('f'), RELATION('='), NUMBER('0')]
    """
    has_derivative = _DERIVATIVE.search(text) is not None
    has_quantifier = any(token.text == "forall" for token in found)
    for place, token in enumerate(found):
        following = found[place + 1 : place + 4]
        if token.text in _FRACTIONS and _has_two_arguments(found, place):
            token.kind, token.strong, token.text = Kind.COMMAND, True, f"\\{token.text}"
        elif token.text in ("nabla", "Nabla"):
            _read_nabla(token, following)
        elif has_derivative and token.text == "partial":
            if _is_variable(following) or _is_scripted(following):
                _become(token, "∂")
                following[0].gap = 0
        elif has_quantifier and token.text in ("forall", "exists"):
            if _is_variable(following):
                _become(token, "∀" if token.text == "forall" else "∃")
        elif token.text == "in" and (has_quantifier or _is_in_set(found, place)):
            if place and found[place - 1].kind in _VARIABLES and _is_variable(following):
                _become(token, "∈")
        elif token.text == "rot" and _is_vector_field(following):
            token.kind = Kind.FUNCTION
        elif token.text == "o" and _is_composition(found, place):
            _become(token, "∘")
        elif token.text == "x" and place and found[place - 1].text == "∇":
            if following and following[0].gap and following[0].kind in _VARIABLES:
                _become(token, "×")
        elif token.text == "x" and place and _is_power_of_ten(found[place - 1], following):
            _become(token, "×")
        elif token.text in _SETS and token.gap and _joins_sets(found, place, following):
            _become(token, _SETS[token.text])
        elif token.text in AND_OR and token.gap and _is_event(found, place, following):
            token.kind, token.text = Kind.CONNECTIVE, AND_OR[token.text]
        elif token.text == "x" and token.gap and _is_set(found, place - 1, following):
            _become(token, "×")
        elif token.text == "." and place and _is_product(found, place, following):
            _become(token, "·")


def _read_nabla(token: Token, following: Sequence[Token]) -> None:
    if len(following) > 1 and following[0].text in _PRODUCTS:
        sign, operand = following[:2]
        if operand.kind in _VARIABLES or operand.kind is Kind.OPENING:
            _become(token, "∇")
            _become(sign, _PRODUCTS[sign.text])
    elif _is_scripted(following) or (following and following[0].kind is Kind.OPENING):
        _become(token, "∇")
    elif _is_variable(following):
        is_word = following[0].text in LETTER_WORDS
        joins = len(following) > 1 and following[1].kind in (Kind.INFIX, Kind.RELATION)
        if joins or not is_word:
            _become(token, "∇")


def _is_variable(following: Sequence[Token]) -> bool:
    if not following or following[0].gap > 1:
        return False
    return following[0].kind in _VARIABLES or following[0].text in GREEK


def _is_scripted(following: Sequence[Token]) -> bool:
    return bool(following) and following[0].kind in _SCRIPTS and not following[0].gap


def _is_product(found: Sequence[Token], place: int, following: Sequence[Token]) -> bool:
    """Whether a full stop joins letters: ``a . b = 0``, ``int_C F . dr``, ``2x.y``."""
    before, dot = found[place - 1 : place + 1]
    if not following or before.kind not in _VARIABLES or dot.gap != following[0].gap:
        return False
    if not dot.gap:
        is_counted = place > 1 and found[place - 2].kind is Kind.NUMBER and not before.gap
        ends = len(following) < 2 or following[1].gap or following[1].kind is Kind.CLOSING
        return bool(is_counted and ends and following[0].kind in _VARIABLES)
    if dot.gap > 1 or _VECTORS.fullmatch(following[0].text):
        return dot.gap == 1
    is_related = len(following) > 1 and following[1].kind is Kind.RELATION
    return is_related and following[0].kind in _VARIABLES


def _is_set(found: Sequence[Token], place: int, following: Sequence[Token]) -> bool:
    """Whether a capital letter before an x, perhaps with scripts, and one after it are sets."""
    if not following or following[0].gap != 1 or not _is_capital(following[0]):
        return False
    if place >= 2 and found[place - 1].kind is Kind.SCRIPT and not found[place].gap:
        place -= 2  # S^1 x S^1
    elif place >= 1 and found[place].kind in (Kind.SUP, Kind.SUB):
        place -= 1
    return place >= 0 and _is_capital(found[place])


def _has_two_arguments(found: Sequence[Token], place: int) -> bool:
    """Whether a name is a command without its backslash: ``frac{1}{2}``."""
    for _ in range(2):
        place += 1
        if place >= len(found) or found[place].gap or found[place].text != "{":
            return False
        place = found[place].mate
        if place < 0:
            return False
    return True


def _is_vector_field(following: Sequence[Token]) -> bool:
    """Whether a capital letter follows ``rot``, and then an operator or nothing."""
    if not following or not _is_capital(following[0]) or following[0].gap != 1:
        return False
    return len(following) == 1 or following[1].kind in (Kind.INFIX, Kind.RELATION, Kind.CLOSING)


def _is_composition(found: Sequence[Token], place: int) -> bool:
    """Whether an o is between two functions in brackets: ``(g o f)(x)``."""
    if place < 2 or place + 2 >= len(found) or found[place - 2].text != "(":
        return False
    around = found[place - 1], found[place + 1]
    are_apart = found[place].gap == 1 == found[place + 1].gap
    is_whole = found[place - 2].mate == place + 2
    return are_apart and is_whole and all(one.kind in _VARIABLES for one in around)


def _is_in_set(found: Sequence[Token], place: int) -> bool:
    """Whether ``in`` follows the variable of a set: ``{x in R : x > 0}``."""
    return place > 1 and found[place - 2].text == "{"


def _is_power_of_ten(before: Token, following: Sequence[Token]) -> bool:
    """Whether an x is before a power of ten: ``3x10^8``, ``3 x 10^8``."""
    if before.kind is not Kind.NUMBER or len(following) < 2 or following[0].text != "10":
        return False
    return following[1].kind in (Kind.SCRIPT, Kind.SUP) and not following[1].gap


def _joins_sets(found: Sequence[Token], place: int, following: Sequence[Token]) -> bool:
    """Whether a letter between two sets is the sign of their union: ``P(A U B)``, ``A U B``."""
    is_between = _is_set(found, place - 1, following)
    before = found[place - 2] if place > 1 else None
    if before is not None and before.kind is Kind.RELATION:  # A = L U P, but A U B = B U A
        return is_between and any(token.text in ("∪", "∩") for token in found[:place])
    return is_between and (before is None or before.kind is Kind.OPENING)


def _is_event(found: Sequence[Token], place: int, following: Sequence[Token]) -> bool:
    """Whether a word is between two events of a probability: ``P(A und B)``."""
    if place < 3 or not following or following[0].gap != 1:
        return False
    opening = found[place - 2]
    is_argument = opening.kind is Kind.OPENING and found[place - 3].text in ("P", "Pr", "Prob")
    return is_argument and _is_capital(found[place - 1]) and _is_capital(following[0])


def _is_capital(token: Token) -> bool:
    return token.kind in _VARIABLES and (token.text.isupper() or token.text in "ℂℍℕℙℚℝℤ")


def _become(token: Token, sign: str) -> None:
    token.kind, token.strong = kind_of_sign(sign)
    token.text = sign
