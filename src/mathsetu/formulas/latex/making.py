"""What commands make of their arguments once these have been read."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import (
    ADDITION,
    ATOM,
    BIG,
    GROUP,
    IDENTIFIER,
    META,
    MODULUS,
    MULTIPLICATION,
    NUMBER,
    RELATION,
    Box,
    Row,
    Sign,
)
from mathsetu.formulas.latex.brackets import mark_condition
from mathsetu.formulas.latex.commands import (
    EMPTY,
    MAKE_ARROW,
    MAKE_BINOMIAL,
    MAKE_FENCE,
    MAKE_MODULUS,
    MAKE_OVER,
    MAKE_PRESCRIPTS,
    MAKE_ROOT,
    MAKE_UNDER,
    MAKE_WILDCARD,
    NOTHING,
    PLAIN_GROUP,
    STACKED,
    Command,
    fence_sign,
)
from mathsetu.formulas.latex.fonts import JOINING, styled_sign, word_sign
from mathsetu.formulas.latex.tokens import wildcard

#: Nobody writes more scripts than this on one symbol.
MOST_SCRIPTS: Final = 50
_MOD: Final = Sign("mod", "mo", IDENTIFIER)
_MODULUS: Final = Sign("", "mrow", MODULUS, kind=fence_sign("(", ")").kind, layout="M!()")
_MODULUS.opening, _MODULUS.closing = "(", ")"


# Groups with something over or under an operator, by the role of the operator.
_STACKS: Final = {
    role: Sign("", "mrow", role, kind=GROUP, layout="W!", operand="W!")
    for role in (ADDITION, MULTIPLICATION, RELATION, META, BIG)
}


def make_box(command: Command, symbol: int, arguments: list[Row], rows: list[Row]) -> Box:
    """The box that a command makes."""
    make = command.make
    if make == MAKE_ROOT:
        assert command.sign is not None
        return Box(command.sign, symbol, tuple(reversed(arguments)))
    if make == MAKE_BINOMIAL:
        return binomial(symbol, arguments[0], arguments[1], "(", ")", rows)
    if make in (MAKE_OVER, MAKE_UNDER):
        arguments[0].edge = "o" if make == MAKE_OVER else "u"
        return stacked(arguments[1], symbol, (arguments[0],))
    if make == MAKE_ARROW:
        assert command.sign is not None
        row = Row([Box(command.sign, symbol)])
        rows.append(row)
        scripts = tuple(reversed(arguments))
        for edge, script in zip("ou", scripts, strict=False):
            script.edge = edge
        return stacked(row, symbol, scripts)
    if make == MAKE_MODULUS:
        inner = arguments[0]
        inner.boxes.insert(0, Box(_MOD, symbol))
        box = Box(_MODULUS, symbol, (inner,))
        box.closer = -1
        return box
    if make == MAKE_FENCE:
        assert command.sign is not None
        fence = Box(command.sign, symbol, (arguments[0],))
        fence.closer = -1
        if command.sign.opening == "{":
            mark_condition(arguments[0].boxes)
        return fence
    if make == MAKE_PRESCRIPTS:
        base = unit(arguments[2], symbol)
        arguments[0].edge = "c"
        arguments[1].edge = "d"
        base.scripts = (arguments[0], arguments[1])
        return base
    assert make == MAKE_WILDCARD
    return Box(wildcard("".join(box.sign.text for box in arguments[0].boxes)), symbol)


def stacked(row: Row, symbol: int, scripts: tuple[Row, ...]) -> Box:
    """A row with others over or under it; it keeps the role of a lone operator."""
    role = row.boxes[0].sign.role if len(row.boxes) == 1 else IDENTIFIER
    box = Box(_STACKS.get(role, PLAIN_GROUP), symbol, (row,))
    box.scripts = scripts
    return box


def unit(row: Row, symbol: int) -> Box:
    """A row as one box: its only box, or a group."""
    first = row.boxes[0] if len(row.boxes) == 1 else None
    if first is not None and first.sign.kind == ATOM:
        return Box(first.sign, first.symbol)
    return Box(PLAIN_GROUP, symbol, (row,))


def binomial(
    symbol: int, above: Row, below: Row, opening: str, closing: str, rows: list[Row]
) -> Box:
    """Two rows above each other, in brackets."""
    inner = Row([Box(STACKED, symbol, (above, below))])
    rows.append(inner)
    fence = Box(fence_sign(opening, closing), symbol, (inner,))
    fence.closer = -1
    return fence


def apply_font(boxes: list[Box], start: int, font: str, can_join: bool = True) -> None:
    """Set the letters and numbers of a line, from a place on, in a font; join names."""
    place = start
    while place < len(boxes):
        box = boxes[place]
        sign = box.sign
        if sign.kind == ATOM and sign.role <= NUMBER and sign.element != "mo":
            if can_join and font in JOINING and sign.role == IDENTIFIER and len(sign.text) == 1:
                end = place + 1
                while end < len(boxes) and _joins(boxes[end - 1], boxes[end]):
                    end += 1
                if end > place + 1:
                    word = "".join(part.sign.text for part in boxes[place:end])
                    joined = Box(word_sign(word, font), box.symbol)
                    joined.scripts = boxes[end - 1].scripts
                    boxes[place:end] = [joined]
                    place += 1
                    continue
            box.sign = styled_sign(sign, font)
        for script in box.scripts:
            for part in script.boxes:
                if (
                    part.sign.kind == ATOM
                    and part.sign.role <= NUMBER
                    and part.sign.element != "mo"
                ):
                    part.sign = styled_sign(part.sign, font)
        place += 1


def move_prescripts(boxes: list[Box]) -> None:
    """Give the scripts of empty groups to the letter or fence after them: ``{}_nC_k``."""
    for place in range(len(boxes) - 1):
        box, following = boxes[place], boxes[place + 1]
        if box.sign is EMPTY and box.scripts and following.sign.role == IDENTIFIER:
            if len(box.scripts) >= MOST_SCRIPTS:
                continue  # from one empty group to the next they would gather without end
            for script in box.scripts:
                script.edge = "c" if script.edge in "ao" else "d"
            following.scripts = box.scripts + following.scripts
            box.scripts = ()
            box.sign = NOTHING
            box.label = ""


def _joins(left: Box, right: Box) -> bool:
    """Whether two letters side by side are letters of one name."""
    return (
        not left.scripts
        and right.sign.kind == ATOM
        and right.sign.role == IDENTIFIER
        and right.sign.element == "mi"
        and len(right.sign.text) == 1
        and right.sign.text.isascii()
        and right.sign.text.isalpha()
    )
