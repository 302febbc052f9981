r"""Finds pairs of bars, pairs of a bar and an angle, and pairs of < and > that act as brackets.

A bar looks the same if it opens, closes, or means "divides", "given" or "such that". The tokens on
both sides of it and the bars before it decide. The tokens of a pair become brackets and are then
read like brackets. Bars without a partner stay bars.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from mathsetu.intake.typed.names import FENCED, FUNCTIONS, INFIX_WORDS
from mathsetu.intake.typed.row import MAX_INSIDE, is_prose, joins
from mathsetu.intake.typed.token_kinds import ATOMS, DOUBLE_BARS, PROSE, SIGNS_BEFORE, Kind, Token

_ENDING: Final = ATOMS | {Kind.SHORT, Kind.SUP, Kind.SUB, Kind.POSTFIX, Kind.CLOSING, Kind.DOTS}
_BEGINNING: Final = ATOMS | {
    Kind.SHORT, Kind.FUNCTION, Kind.ROOT, Kind.BIG, Kind.PREFIX, Kind.OPENING, Kind.SUP,
}  # fmt: skip
# Never inside a pair of bars, not even in brackets between them.
_NEVER_INSIDE: Final = frozenset({Kind.WORD, Kind.PROSE_COMMAND, Kind.DELIMITER})
_IN_ANGLES: Final = ATOMS | {
    Kind.SHORT, Kind.INFIX, Kind.COMMA, Kind.SCRIPT, Kind.SUP, Kind.SUB, Kind.POSTFIX, Kind.COMMAND,
}  # fmt: skip
_SPINS: Final = frozenset("↑↓")


class _Level(NamedTuple):
    """The number of open bars at a bracket, and at the innermost brace around it."""

    bars: int
    bars_of_brace: int


class _Bar(NamedTuple):
    """A bar that may open. ``half`` is 1 for the second half of a split double bar."""

    place: int
    half: int
    is_double: bool
    #: Whether it directly follows an operand: a product, 2|x|, or a relation, a|b.
    is_factor: bool


def pair_fences(found: list[Token]) -> list[Token]:
    """Turn pairs of bars and angles into brackets; split ``||`` where it is two bars.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> pair_fences(tokens("|x||y|"))[2:4]
    [CLOSING('|'), OPENING('|')]
    >>> pair_fences(tokens("a|b"))[1]
    BAR('|')
    >>> pair_fences(tokens("H|ψ⟩"))[1:]
    [OPENING('|'), SYMBOL('ψ'), CLOSING('⟩')]
    """
    _pair_angles(found)
    _pair_states(found)
    return _Bars(found).paired()


class _Bars:
    """One pass over the tokens with a stack of open bars."""

    def __init__(self, found: Sequence[Token]) -> None:
        self._found = found
        self._opened: list[_Bar] = []
        self._levels = [_Level(0, 0)]
        self._pairs: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._split: set[int] = set()
        self._last_closed = -1

    def paired(self) -> list[Token]:
        for place, token in enumerate(self._found):
            if token.gap == 2:
                self._forget(0)
            if token.kind is Kind.OPENING and token.mate >= 0:
                bars = len(self._opened)
                brace = bars if token.text == "{" else self._levels[-1].bars_of_brace
                self._levels.append(_Level(bars, brace))
            elif token.kind is Kind.CLOSING and token.mate >= 0:
                self._forget(self._levels.pop().bars)
            elif token.kind is Kind.BAR:
                self._take(place)
            elif token.kind in _NEVER_INSIDE and token.text not in INFIX_WORDS:
                self._forget(self._levels[-1].bars_of_brace)
            elif self._is_prose(place):
                self._forget(self._levels[-1].bars)
        return self._rewritten()

    def _forget(self, kept: int) -> None:
        """Drop all open bars except the first ``kept``."""
        del self._opened[kept:]
        # Bars that open after this are inside the current brackets, even if fewer are open now.
        count = len(self._opened)
        bars, bars_of_brace = self._levels[-1]
        self._levels[-1] = _Level(min(bars, count), min(bars_of_brace, count))

    def _is_prose(self, place: int) -> bool:
        token = self._found[place]
        if token.kind in (Kind.SHORT, Kind.CONNECTIVE):
            return is_prose(self._found, place)
        if token.text == ".":  # u.v
            return bool(token.gap) or not self._is_tight(place + 1)
        return token.kind is Kind.OTHER and token.text not in ":&"

    def _take(self, place: int) -> None:
        """Close an open bar with this one, or open this one."""
        token = self._found[place]
        is_double = token.text in DOUBLE_BARS
        is_factor = not token.gap and self._ends_operand(place - 1)
        may_open = self._may_open(place, is_factor)
        inside = self._opened[max(self._levels[-1].bars, len(self._opened) - 2) :]
        if inside and self._may_close(place, inside[-1], may_open):
            last = inside[-1]
            if last.is_double == is_double:
                self._close(place, 0)
                return
            if not is_double and self._is_splittable(last):  # ||x| - |y||
                self._close_half(place, 0)
                return
            is_enclosed = len(inside) == 2 and (
                not inside[0].is_double or self._is_splittable(inside[0])
            )
            is_tripled = self._is_tight(place + 1) and self._found[place + 1].kind is Kind.BAR
            if token.text == "||" and (may_open or (is_tripled and not is_enclosed)):  # |x||y|
                self._split.add(place)
                self._close(place, 0)
                self._opened.append(_Bar(place, 1, is_double=False, is_factor=False))
                self._last_closed = -1
                return
            if token.text == "||" and is_enclosed:  # the end of ||x| - |y||
                self._split.add(place)
                self._close(place, 0)
                if inside[0].is_double:
                    self._close_half(place, 1)
                else:
                    self._close(place, 1)
                return
        if may_open:
            self._opened.append(_Bar(place, 0, is_double, is_factor))
        else:
            self._forget(self._levels[-1].bars)

    def _close(self, place: int, half: int) -> None:
        last = self._opened.pop()
        self._pairs.append(((last.place, last.half), (place, half)))
        self._last_closed = place

    def _close_half(self, place: int, half: int) -> None:
        """Close the second half of a double bar; the first half stays open."""
        last = self._opened[-1]
        self._split.add(last.place)
        self._opened[-1] = last._replace(half=1)
        self._close(place, half)
        self._opened.append(last._replace(is_double=False))

    def _is_splittable(self, bar: _Bar) -> bool:
        return bar.is_double and self._found[bar.place].text == "||"

    def _may_close(self, place: int, last: _Bar, may_open: bool) -> bool:
        token = self._found[place]
        if not self._ends_operand(place - 1):
            return False
        if token.gap and (last.is_factor or may_open):
            return False
        if not self._is_tight(place + 1):
            return True
        before, following = self._found[place - 1], self._found[place + 1]
        if before.kind is Kind.SHORT and following.kind in PROSE:
            return False  # |foo|bar|
        # a|b|c has relations, a|b| a factor; a double bar may close and open: 2|x||y|
        is_two = token.text == "||" and not last.is_double
        goes_on = self._begins_operand(place + 1) or following.kind is Kind.WORD
        return is_two or not (last.is_factor and goes_on)

    def _may_open(self, place: int, is_factor: bool) -> bool:
        if not self._is_tight(place + 1):
            return False
        token, following = self._found[place], self._found[place + 1]
        before = self._found[place - 1] if place else None
        if following.kind is Kind.BAR:
            return not is_factor
        if following.kind is Kind.SHORT and before is not None and before.kind in PROSE:
            return bool(token.gap)  # ls|wc
        is_signed = following.text in SIGNS_BEFORE and self._is_tight(place + 2)
        return self._begins_operand(place + 2 if is_signed else place + 1)

    def _ends_operand(self, place: int) -> bool:
        if place < 0:
            return False
        token = self._found[place]
        if token.kind is Kind.BAR:
            return place == self._last_closed
        if token.kind is Kind.FUNCTION:  # sinx
            return token.text not in FUNCTIONS and token.text not in FENCED
        return token.kind in _ENDING or (token.kind is Kind.COMMAND and not joins(token))

    def _begins_operand(self, place: int) -> bool:
        token = self._found[place]
        return token.kind in _BEGINNING or (token.kind is Kind.COMMAND and not joins(token))

    def _is_tight(self, place: int) -> bool:
        return place < len(self._found) and not self._found[place].gap

    def _rewritten(self) -> list[Token]:
        """Return the tokens with double bars split and all pairs renumbered."""
        splits = (place in self._split for place in range(len(self._found)))
        moved = [0, *accumulate(splits)]
        tokens: list[Token] = []
        for place, token in enumerate(self._found):
            if token.mate >= 0:
                token.mate += moved[token.mate]
            if place in self._split:
                tokens.append(Token(Kind.BAR, "|", token.start, token.gap))
                tokens.append(Token(Kind.BAR, "|", token.start + 1, 0))
            else:
                tokens.append(token)
        for (first, first_half), (second, second_half) in self._pairs:
            opening = first + moved[first] + first_half
            _make_brackets(tokens, opening, second + moved[second] + second_half)
        return tokens


def _pair_angles(found: list[Token]) -> None:
    """Turn < and > into brackets around a list or states: <u,v>, <a|b>, 2<u,v>, not a<b, c>d."""
    for place, token in enumerate(found):
        before = found[place - 1] if place else None
        if token.text != "<":
            continue
        may_be_less = before is not None and _may_be_less(before, token)
        end, has_comma, has_bar, has_word = place + 1, False, False, False
        while end < min(len(found), place + MAX_INSIDE):
            inner = found[end]
            if inner.kind is Kind.OPENING and inner.mate > end:
                end = inner.mate
            elif inner.gap == 2 or (inner.kind not in _IN_ANGLES and inner.kind is not Kind.BAR):
                break
            has_comma = has_comma or inner.kind is Kind.COMMA
            has_bar = has_bar or inner.kind is Kind.BAR
            has_word = has_word or inner.kind is Kind.SHORT  # <on|off>
            end += 1
        is_closed = end < len(found) and found[end].text == ">" and not found[end].gap
        is_product = has_comma or (has_bar and not has_word)
        if is_closed and may_be_less:
            is_product = has_comma and _ends_factor(found, place, end)
        if is_closed and is_product and not found[place + 1].gap:
            _make_brackets(found, place, end)


def _ends_factor(found: Sequence[Token], opening: int, closing: int) -> bool:
    """Whether < and > after an operand are brackets: ``2<u,v> + 1``, ``x <u,v> y``.

    Relations have an operand on each side, and spaces also between them: ``a <b, c> d``.
    """
    following = found[closing + 1] if closing + 1 < len(found) else None
    if following is None:
        return True
    begins = following.kind in _BEGINNING or following.kind is Kind.COMMAND
    is_even = any(token.gap for token in found[opening + 1 : closing])
    return not begins or bool(found[opening].gap and following.gap and not is_even)


def _pair_states(found: list[Token]) -> None:
    """Turn a bar and an angle around a quantum state into brackets: |ψ⟩, ⟨ψ|, |0>."""
    for place, token in enumerate(found):
        if token.text == "⟨" and token.mate >= 0 and _holds_states(found, place):
            found[token.mate].mate = token.mate = -1
        if token.text == "⟨" and token.mate < 0:
            bar = _bar_from(found, place, 1)
            if bar is not None:
                _make_brackets(found, place, bar)
        is_closing = token.text == "⟩" and token.mate < 0
        if (is_closing or (token.text == ">" and _ends_state(found, place))) and not token.gap:
            bar = _bar_from(found, place, -1)
            if bar is None or found[bar + 1].gap:
                continue
            if is_closing or all(inner.kind is not Kind.SHORT for inner in found[bar:place]):
                _make_brackets(found, bar, place)


def _bar_from(found: Sequence[Token], angle: int, step: int) -> int | None:
    """Return the position of the bar that pairs with an angle, if the pair is not empty."""
    place = angle + step
    while 0 <= place < len(found) and abs(place - angle) < MAX_INSIDE:
        token = found[place]
        if token.kind is Kind.BAR:
            return place if token.text in ("|", "∣") and abs(place - angle) > 1 else None
        if token.mate >= 0 and (token.mate - place) * step > 0:
            place = token.mate
        elif token.gap == 2 or (token.kind not in _IN_ANGLES and token.text not in _SPINS):
            return None
        place += step
    return None


def _holds_states(found: Sequence[Token], opening: int) -> bool:
    """Whether a pair of angles belongs to two joined states: ⟨a| + |b⟩."""
    inside = found[opening + 1 : min(found[opening].mate, opening + MAX_INSIDE)]
    return any(bar.kind is Kind.BAR and joins(sign) for bar, sign in pairwise(inside))


def _ends_state(found: Sequence[Token], place: int) -> bool:
    """Whether no operand for a comparison follows >: |0> + |1>, but not {x|x> 0}."""
    following = found[place + 1] if place + 1 < len(found) else None
    if following is None or following.kind is Kind.BAR:
        return True
    beyond = found[place + 2] if place + 2 < len(found) else None
    is_sign = following.text in SIGNS_BEFORE and bool(following.gap)
    is_signed = is_sign and beyond is not None and not beyond.gap
    return not is_signed and (
        following.kind in (Kind.RELATION, Kind.INFIX, Kind.CLOSING, Kind.COMMA, Kind.OTHER)
        or following.kind in PROSE
    )


def _may_be_less(before: Token, sign: Token) -> bool:
    """Whether < may mean "less": an operand or bar, or a word without space, precedes it."""
    is_apart = bool(sign.gap) and before.kind in PROSE
    is_opening_bar = before.kind is Kind.BAR and not sign.gap
    return not (is_apart or is_opening_bar) and (
        before.kind in _ENDING or before.kind in PROSE or before.kind is Kind.BAR
    )


def _make_brackets(found: Sequence[Token], opening: int, closing: int) -> None:
    found[opening].kind, found[opening].mate = Kind.OPENING, closing
    found[closing].kind, found[closing].mate = Kind.CLOSING, opening
