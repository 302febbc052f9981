"""Which brackets and bars belong together."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import (
    BAR,
    COLON,
    CONDITION,
    MULTIPLICATION,
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

#: The signs that divide a set's elements from their condition.
SUCH_THAT: Final = {
    text: Sign(text, "mo", CONDITION, operand="O!conditional-set", operator=operator)
    for text, operator in (("|", "F!c"), ("∣", "F!c"), (":", "F!:"), ("∥", "F!∥"), ("‖", "F!‖"))
}


#: Brackets that may enclose something together; half-open intervals may.
FENCES: Final[dict[str, Sign]] = {
    opening + closing: fence_sign(opening, closing)
    for opening, closings in (
        *(("(", ")]"), ("[", "])"), ("{", "}"), ("⟨", "⟩"), ("⌊", "⌋⌉"), ("⌈", "⌉⌋"), ("|", "|")),
        *(("∥", "∥"), ("⟦", "⟧"), ("⌜", "⌝"), ("⌞", "⌟")),
    )
    for closing in closings
}
_BESIDE: Final = {"o": "a", "u": "b"}


def fold_bars(boxes: list[Box], bars: list[int], rows: list[Row]) -> None:
    """Make fences of the bars of a finished line that come in pairs; the others stay signs.

    A bar opens where nothing can have ended before it: at the start, or after an operator. After
    an operand it closes what is open; with nothing open it opens if a partner follows, and
    otherwise it divides what is before it from what is after, as in ``d|n`` and ``P(A|B)``.
    """
    done: list[Box] = []  # the line so far, with its fences
    waiting: list[int] = []  # places in it of bars that stand open
    left = len(bars)
    position = 0
    for bar in bars:
        left -= 1
        done += boxes[position:bar]
        position = bar + 1
        box = boxes[bar]
        place = len(done)
        before = _role_before(done)
        # After an operand or a postfix sign something may end; after the rest nothing can.
        ends_here = before is not None and (before <= TEXT or before == POSTFIX)
        partner = waiting[-1] if waiting else -1
        if partner >= 0 and done[partner].sign is not box.sign:
            partner = -1
        elif before == MULTIPLICATION and partner == place - 2:
            ends_here = True  # an operator alone, as in |⋅|
        if ends_here and partner >= 0 and partner < place - 1:
            waiting.pop()
            inner = add_row(done[partner + 1 :], rows)
            # Scripts of a bar stand over it, scripts of a fence beside it.
            scripts = [script.at(_BESIDE.get(script.edge, script.edge)) for script in box.scripts]
            sign = fence_sign(box.sign.text, box.sign.text)
            fence = Box(sign, done[partner].symbol, (inner,), tuple(scripts), box.symbol)
            del done[partner:]
            done.append(fence)
            continue
        if not ends_here or (left and not _divides(box, left)):
            waiting.append(place)
        done.append(box)
    done += boxes[position:]
    boxes[:] = done


def mark_condition(boxes: list[Box]) -> None:
    """In braces, the first bar or colon that stands alone says "such that"."""
    for place, box in enumerate(boxes):
        if box.sign.role in (BAR, COLON) and box.sign.text in SUCH_THAT:
            boxes[place] = Box(SUCH_THAT[box.sign.text], box.symbol).with_scripts(box.scripts)
            return


def _role_before(done: list[Box]) -> int | None:
    """The role of the last box that is not a space."""
    for box in reversed(done):
        if box.sign.role not in (SPACE, WIDE_SPACE):
            return box.sign.role
    return None


def _divides(bar: Box, left: int) -> bool:
    """Whether a bar after an operand stands alone although others follow it."""
    return left % 2 == 0 or bar.sign.text == "∣"
