"""Pairing of brackets and bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mathsetu.formulas.latex.boxes import (
    ADDITION,
    BAR,
    COLON,
    CONDITION,
    MULTIPLICATION,
    NEGATION,
    OPENING,
    POSTFIX,
    SPACE,
    TEXT,
    WIDE_SPACE,
    Box,
    Row,
    Sign,
    add_row,
)
from mathsetu.formulas.latex.commands import fence_sign
from mathsetu.formulas.latex.symbols import BRACKETS

#: The signs that separate the elements of a set from their condition.
SUCH_THAT: Final = {
    text: Sign(text, "mo", CONDITION, operand="O!conditional-set", operator=operator)
    for text, operator in (("|", "F!c"), ("∣", "F!c"), (":", "F!:"), ("∥", "F!∥"), ("‖", "F!‖"))
}


#: Brackets that form a pair, including those of half-open intervals.
FENCES: Final[dict[str, Sign]] = {
    opening + closing: fence_sign(opening, closing)
    for opening, closings in (
        *(("(", ")]"), ("[", "])"), ("{", "}"), ("⟨", "⟩"), ("⌊", "⌋⌉"), ("⌈", "⌉⌋"), ("|", "|")),
        *(("∥", "∥"), ("⟦", "⟧"), ("⌜", "⌝"), ("⌞", "⌟")),
    )
    for closing in closings
}
_BESIDE: Final = {"o": "a", "u": "b"}
_SINGLE: Final = BRACKETS["|"]
_TYPED: Final = BRACKETS["||"]


def fold_bars(
    boxes: list[Box], bars: list[int], rows: list[Row], next_symbol: Callable[[], int]
) -> None:
    """Make fences of the paired bars of a complete line; the other bars stay signs.

    A bar at the start or after an operator opens a fence. A bar after an operand closes the open
    fence; if none is open, it opens one if a partner follows, and is otherwise a separator, as in
    ``d|n`` and ``P(A|B)``.
    ``||`` between two operands closes a single bar and opens the next one: ``|a||b|``. The second
    bar has no token of its own; ``next_symbol`` numbers it.
    """
    done: list[Box] = []  # the line so far, with its fences
    waiting: list[int] = []  # places of open bars in it
    left = len(bars)
    doubles = len([bar for bar in bars if boxes[bar].sign is _TYPED])
    last_single = max([bar for bar in bars if boxes[bar].sign is _SINGLE], default=-1)
    position = 0
    for bar in bars:
        left -= 1
        done += boxes[position:bar]
        position = bar + 1
        box = boxes[bar]
        if box.sign is _TYPED:
            doubles -= 1
        place = len(done)
        before = _role_before(done)
        # A fence can end only after an operand or a postfix sign.
        ends_here = before is not None and (before <= TEXT or before == POSTFIX)
        partner = waiting[-1] if waiting else -1
        second: Box | None = None
        if (
            box.sign is _TYPED
            and ends_here
            and bar < last_single
            and 0 <= partner < place - 1
            and done[partner].sign is _SINGLE
            and not box.scripts
            and _begins_operand(boxes, position, len(waiting) == 1)
        ):
            box, second = Box(_SINGLE, box.symbol), Box(_SINGLE, next_symbol())
        if partner >= 0 and done[partner].sign.text != box.sign.text:
            partner = -1
        elif before == MULTIPLICATION and partner == place - 2:
            ends_here = True  # an operator alone, as in |⋅|
        if ends_here and partner >= 0 and partner < place - 1:
            waiting.pop()
            inner = add_row(done[partner + 1 :], rows)
            # Scripts of a bar are over it, scripts of a fence beside it.
            scripts = [script.at(_BESIDE.get(script.edge, script.edge)) for script in box.scripts]
            sign = fence_sign(box.sign.text, box.sign.text)
            fence = Box(sign, done[partner].symbol, (inner,), tuple(scripts), box.symbol)
            del done[partner:]
            done.append(fence)
            if second is not None:
                waiting.append(len(done))
                done.append(second)
            continue
        # For a single bar, a double bar counts as two bars.
        others = left + doubles if box.sign is _SINGLE else left
        if not ends_here or (left and not _divides(box, others)):
            waiting.append(place)
        done.append(box)
    done += boxes[position:]
    boxes[:] = done


def mark_condition(boxes: list[Box]) -> None:
    """Mark the first unpaired bar or colon in braces as "such that"."""
    for place, box in enumerate(boxes):
        if box.sign.role in (BAR, COLON) and box.sign.text in SUCH_THAT:
            boxes[place] = Box(SUCH_THAT[box.sign.text], box.symbol).with_scripts(box.scripts)
            return


def _role_before(done: list[Box]) -> int | None:
    """Return the role of the last box that is not a space."""
    for box in reversed(done):
        if box.sign.role not in (SPACE, WIDE_SPACE):
            return box.sign.role
    return None


def _begins_operand(boxes: list[Box], place: int, is_signed: bool) -> bool:
    """Whether an operand can begin at a place; with ``is_signed``, also after a sign."""
    while place < len(boxes) and boxes[place].sign.role in (SPACE, WIDE_SPACE):
        place += 1
    if place == len(boxes):
        return False
    role = boxes[place].sign.role
    return role <= NEGATION or role == OPENING or (is_signed and role == ADDITION)


def _divides(bar: Box, left: int) -> bool:
    """Whether a bar after an operand is a separator, given how many bars follow it."""
    return left % 2 == 0 or bar.sign.text == "∣"
