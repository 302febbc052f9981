"""The tokens of a typed query as a sequence, with fast lookups of neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from mathsetu.formulas.latex import boxes
from mathsetu.intake.typed.lexer import role
from mathsetu.intake.typed.names import INFIX_WORDS, SHORT_WORDS
from mathsetu.intake.typed.token_kinds import HYPHENS, Kind, Token
from mathsetu.languages.table import LANGUAGES

#: Maximum number of tokens inside brackets that are examined one by one.
MAX_INSIDE: Final = 40
_JOINING: Final = frozenset({boxes.MULTIPLICATION, boxes.ADDITION, boxes.RELATION, boxes.META})
_DOTS: Final = frozenset("\\dots \\ldots \\cdots".split())
_SUMS: Final = frozenset("+*·")
_MINUEND: Final = re.compile("[a-z][yzx]|[bd]i")
_FACTORS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL, Kind.NAME, Kind.SHORT})
_CONTINUING: Final = frozenset(
    {Kind.SCRIPT, Kind.SUP, Kind.SUB, Kind.OPENING, Kind.POSTFIX, Kind.WORD}
)
_SIGNS_OF_LISTS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL})


class Region(NamedTuple):
    """The tokens of a formula: the position of the first, and that after the last."""

    first: int
    after: int


class Row:
    """The tokens of a text, with lookups that take bounded time."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        prose = (
            token.kind in (Kind.WORD, Kind.PROSE_COMMAND) and token.text not in INFIX_WORDS
            for token in tokens
        )
        self._prose = [0, *accumulate(prose)]
        connecting = (token.kind in (Kind.CONNECTIVE, Kind.SHORT) for token in tokens)
        self._connecting = [0, *accumulate(connecting)]
        operating = (token.kind in (Kind.INFIX, Kind.RELATION) for token in tokens)
        self._operating = [0, *accumulate(operating)]
        self._listed_until = 0

    def at(self, place: int) -> Token | None:
        """Return the token at a position, or None outside the text."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def is_tight(self, place: int, *kinds: Kind) -> bool:
        """Whether the token here is of one of these kinds (if given) and no space precedes it."""
        token = self.at(place)
        return token is not None and not token.gap and (not kinds or token.kind in kinds)

    def has_no_prose(self, opening: int, *, called: bool = False) -> bool:
        """Whether a pair of brackets contains no prose; those of a function may contain "and"."""
        closing = self.tokens[opening].mate
        if closing <= opening or closing == opening + 1:
            return False
        if self._prose[closing] != self._prose[opening]:
            return False
        if called or self._connecting[closing] == self._connecting[opening]:
            return True
        # Short words may be products or prose.
        return not any(
            is_prose(self.tokens, place)
            for place in range(opening + 1, min(closing, opening + MAX_INSIDE))
        )

    def has_operators(self, opening: int) -> bool:
        """Whether there are operators inside a pair of brackets."""
        return self._operating[self.tokens[opening].mate] > self._operating[opening]

    def listed(self, first: int) -> tuple[int, bool, bool]:
        """Return the end of the list here, whether it has dots, and whether only letters."""
        place, dots, letters, count = first, False, True, 0
        if first < self._listed_until:
            return first, False, False
        while (token := self.at(place)) is not None:
            if token.kind is Kind.DOTS or token.text in _DOTS:
                dots = True
            elif dots and token.kind is Kind.SHORT and len(token.text) == 2:
                if token.text[0] != self.tokens[first].text:
                    break  # x1, ..., xn
            elif token.kind not in _SIGNS_OF_LISTS:
                break
            letters = letters and token.kind in (Kind.LETTER, Kind.SYMBOL)
            place += 1
            count += 1
            if token.kind is Kind.LETTER and self.is_tight(place, Kind.NUMBER):
                place, letters = place + 1, False
            if self.is_tight(place, Kind.SUB):
                place, letters = place + 1, False
            elif self.is_tight(place, Kind.SCRIPT):
                argument = self.at(place + 1)
                if argument is None or argument.gap:
                    break
                place = argument.mate + 1 if argument.mate > place else place + 2
                letters = False
            comma = self.at(place)
            if comma is None or comma.text != "," or comma.gap:
                break
            place += 1
        if self.tokens[place - 1].kind is Kind.COMMA:
            place -= 1
        self._listed_until = place
        return place, dots and count > 2, letters and count > 1


def end_of_exponent(tokens: Sequence[Token], mark: int) -> int:
    """Return the end of a product in an exponent of e without brackets, or 0: ``e^2πi``, ``e^-3t``.

    A function in an exponent has its argument there: ``a^log x``.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> end_of_exponent(tokens("e^2x + 1"), 1), end_of_exponent(tokens("x^2y"), 1)
    (4, 0)
    """
    if not mark or tokens[mark].text != "^":
        return 0
    name, argument, beyond = (*tokens[mark + 1 : mark + 4], None, None, None)[:3]
    if name is not None and name.kind is Kind.FUNCTION and argument is not None:
        is_variable = argument.kind in (Kind.LETTER, Kind.SYMBOL, Kind.NAME)
        is_apart = beyond is None or bool(beyond.gap) or beyond.kind not in _CONTINUING
        return mark + 3 if is_variable and argument.gap == 1 and is_apart else 0
    if tokens[mark - 1].text[-1:] != "e":
        return 0
    if tokens[mark - 1].kind not in (Kind.LETTER, Kind.SHORT):
        return 0
    first = mark + 1
    if first < len(tokens) and tokens[first].text in HYPHENS:
        first += 1
    end = first
    while end < min(len(tokens), first + MAX_INSIDE) and not tokens[end].gap:
        if tokens[end].kind not in _FACTORS:
            break
        end += 1
    is_open = end < len(tokens) and not tokens[end].gap and tokens[end].kind in _CONTINUING
    return 0 if end < first + 2 or is_open else end


def is_prose(tokens: Sequence[Token], place: int) -> bool:
    """Whether a token is a connective or a short word, not a product of letters.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> is_prose(tokens("|a+bi|"), 3), is_prose(tokens("(a by b)"), 2)
    (False, True)
    """
    word = tokens[place]
    if word.kind is not Kind.SHORT:
        return word.kind is Kind.CONNECTIVE
    return word.text in short_words() and not _is_term(tokens, place)


def _is_term(tokens: Sequence[Token], place: int) -> bool:
    """Whether a short word is a term of a sum or difference: ``(ax+by)^2``, ``a-bi``, ``by+ax``."""
    word = tokens[place]
    before = tokens[place - 1] if place else None
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if len(word.text) != 2 or not word.text.islower() or place < 1 or before is None:
        return False
    is_even = bool(before.gap) == bool(word.gap)
    if before.text in _SUMS and is_even:
        other = tokens[place - 2] if place > 1 else None
        is_apart = other is None or other.kind not in (Kind.WORD, Kind.CONNECTIVE)
        return is_apart and not (following is not None and following.text in HYPHENS)
    if before.text in HYPHENS and is_even and place > 1:
        other = tokens[place - 2]
        if other.kind is Kind.SHORT and other.text not in short_words():
            return True  # ax-by
        is_counted = place > 2 and tokens[place - 3].kind is Kind.NUMBER and not other.gap
        if other.kind is Kind.LETTER and is_counted:
            return True  # 2z-it
        # a-bi and x-ty, but not the x-os, Czech for the axis
        return other.kind in _SIGNS_OF_LISTS and _MINUEND.fullmatch(word.text) is not None
    beyond = tokens[place + 2] if place + 2 < len(tokens) else None
    if before.kind not in (Kind.OPENING, Kind.BAR) or following is None or beyond is None:
        return False
    return following.text in _SUMS and beyond.kind not in (Kind.WORD, Kind.CONNECTIVE)


def joins(token: Token | None) -> bool:
    r"""Whether a token is an operator or relation between operands, such as + or \le."""
    if token is None:
        return False
    if token.kind is Kind.COMMAND:
        return role(token.text) in _JOINING
    return token.kind in (Kind.INFIX, Kind.RELATION)


@cache
def short_words() -> frozenset[str]:
    """Return the words of up to three letters that occur in prose of our languages."""
    listed = frozenset().union(
        *(row.stop_words for row in LANGUAGES.values() if row.script == "Latn")
    )
    small = frozenset(word for word in listed if len(word) <= 3)
    return small | SHORT_WORDS | {word.capitalize() for word in small}
