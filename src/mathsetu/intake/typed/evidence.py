"""Decides whether the tokens read are a formula or prose that looks like one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mathsetu.intake.typed.names import LOOK_ALIKES, QUOTIENTS, UNITS
from mathsetu.intake.typed.token_kinds import HYPHENS, PROSE, Kind, Token

if TYPE_CHECKING:
    from mathsetu.intake.typed.reading import Reading

# Letters that a number may multiply; other letters after a number are units and the like.
_VARIABLES = frozenset("abcnrtuvwxyzθ")


def is_formula(reading: Reading, after: int) -> bool:
    """Whether the tokens up to a position are a formula and not prose that looks like one."""
    tokens = reading.tokens[reading.first : after]
    if reading.forced:
        return _is_no_price(reading, tokens[1:], after)
    written = "".join(token.text for token in tokens)
    if _is_prose(reading, tokens, written, after):
        return False
    if reading.strong or reading.relations:
        return True
    if reading.operators:
        return _has_good_operators(reading, tokens, after)
    if len(tokens) < 2 or not _is_whole(reading, after):
        return False
    if all(token.kind in (Kind.NUMBER, Kind.LETTER, Kind.SHORT) for token in tokens):
        return _is_product(tokens)
    return reading.letters > 0


def _is_product(tokens: Sequence[Token]) -> bool:
    """Whether a number and letters are a product, such as 3x and 4ac, but not 24h and B2B."""
    first, *factors = tokens
    return first.kind is Kind.NUMBER and all(set(token.text) <= _VARIABLES for token in factors)


def _is_no_price(reading: Reading, tokens: Sequence[Token], after: int) -> bool:
    if not tokens:
        return False
    before = reading.row.at(reading.first - 1)
    if before is not None and not reading.tokens[reading.first].gap and before.kind is Kind.NUMBER:
        return False  # 5$ a day
    counted = reading.strong + reading.relations + reading.operators
    if tokens[0].kind is Kind.NUMBER and not counted:
        return reading.letters > 0 and tokens[-1].text.casefold() != "k"
    return True


def _is_prose(reading: Reading, tokens: Sequence[Token], written: str, after: int) -> bool:
    """Whether the tokens are a compound that only looks like a formula."""
    following = reading.row.at(after)
    glued = following is not None and not following.gap
    if written in LOOK_ALIKES or (written == "a(n)" and not _is_whole(reading, after)):
        return True
    if glued and following is not None and len(tokens) < 3:
        is_compound = following.text in HYPHENS and reading.row.is_tight(after + 1, *PROSE)
        if is_compound and tokens[-1].kind is not Kind.SUP:
            return True  # σ-algebra, but C^*-algebra
        if following.kind is Kind.WORD and tokens[-1].kind is Kind.LETTER:
            return True
    if len(tokens) == 2 and tokens[1].kind is Kind.SUP and tokens[0].text in UNITS:
        return not _is_whole(reading, after)
    return False


def _has_good_operators(reading: Reading, tokens: Sequence[Token], after: int) -> bool:
    """Whether operators alone are sufficient evidence for a formula of letters and numbers."""
    signs = [token for token in tokens if token.kind is Kind.INFIX]
    kinds = [token.kind for token in tokens]
    if any(token.text in ("+", "*", "+-", "**", "·") for token in signs):
        return True
    slashes = [token for token in signs if token.text == "/"]
    hyphens = [token for token in signs if token.text in HYPHENS]
    whole = _is_whole(reading, after)
    only_numbers = all(kind in (Kind.NUMBER, Kind.INFIX) for kind in kinds)
    if only_numbers and len(signs) > 1 and len({sign.text for sign in signs}) == 1:
        is_name = bool(hyphens) and not any(token.gap for token in tokens[1:])
        return whole and not is_name and not _is_date(tokens)  # 3-4-5, 12/05/2024
    if slashes and not hyphens:
        return _is_quotient(reading, tokens, after)
    if hyphens and not slashes:
        letters = [token.text for token in tokens if token.kind is Kind.LETTER]
        is_name = bool(letters) and all(letter.isupper() for letter in letters)
        if is_name and not any(token.gap for token in tokens[1:]):
            return False  # A-Z, R2-D2
        if whole:
            return not only_numbers or len(tokens) == 3
        if len(hyphens) > 1 and not any(token.gap for token in tokens[1:]):
            return any(kind is Kind.NUMBER for kind in kinds)  # a-t-il
        if len(tokens) == 2:  # -5, -x
            return False
        if len(hyphens) == 1 and len(tokens) == 3:
            left, sign, right = tokens
            spaced = sign.gap and right.gap
            if only_numbers:
                return False
            if spaced:
                return True
            if left.kind is Kind.LETTER and right.kind is Kind.LETTER:
                return False  # the x-y plane
            letter = left if left.kind is Kind.LETTER else right
            return letter.text.islower()  # n-1, but F-16 and 3-D
        return not only_numbers
    return not only_numbers or whole


def _is_quotient(reading: Reading, tokens: Sequence[Token], after: int) -> bool:
    letters = [token.text for token in tokens if token.kind is Kind.LETTER]
    if len(tokens) == 3 and len(letters) == 2:
        # A/B testing, I/O; but a/b, p/q, and quotients of groups.
        return all(letter.islower() for letter in letters) or "/".join(letters) in QUOTIENTS
    if any(token.kind is Kind.SHORT for token in tokens):
        shorts = [token.text for token in tokens if token.kind is Kind.SHORT]
        return all(word[0] == "d" or word[1:].isupper() for word in shorts) or any(
            token.kind is Kind.NUMBER for token in tokens
        )
    if len(tokens) == 3 and not letters:
        before, following = reading.row.at(reading.first - 1), reading.row.at(after)
        has_year = any(len(token.text) == 4 for token in tokens)
        is_rated = "." in tokens[0].text and following is not None and following.kind in PROSE
        if has_year or is_rated:
            return _is_whole(reading, after)  # 2024/25, 4.5/5 stars
        return not (before is not None and before.text in ("on", "since", "until", "by", "del"))
    return True


def _is_whole(reading: Reading, after: int) -> bool:
    """Whether only punctuation surrounds the tokens."""
    alone = reading.first <= 3 and len(reading.tokens) - after <= 3
    if not alone:
        return False
    others = (*reading.tokens[: reading.first], *reading.tokens[after:])
    return all(token.text in ".,;:?!\"'()$" for token in others)


def _is_date(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 5 and any(len(token.text) == 4 for token in tokens[::2])
