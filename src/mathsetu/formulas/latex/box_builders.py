"""Builds the boxes of commands from their arguments."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import (
    ADDITION,
    ATOM,
    BIG,
    FENCE,
    GROUP,
    IDENTIFIER,
    META,
    MODULUS,
    MULTIPLICATION,
    NUMBER,
    RELATION,
    SPACE,
    Box,
    Row,
    Sign,
    add_row,
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

#: Maximum number of scripts on one symbol.
MAX_SCRIPTS: Final = 50
# Displayed, but not an operand: the rest of the content of the brackets is the modulus.
_MOD: Final = Sign("mod", "mo", SPACE)
_MODULUS: Final = Sign("", "mrow", MODULUS, kind=FENCE, layout="M!()", opening="(", closing=")")

# Groups of an operator with scripts over or under it, by the role of the operator.
_STACKS: Final = {
    role: Sign("", "mrow", role, kind=GROUP, layout="W!", operand="W!")
    for role in (ADDITION, MULTIPLICATION, RELATION, META, BIG)
}


def make_box(command: Command, symbol: int, arguments: list[Row], rows: list[Row]) -> Box:
    """Build the box of a command."""
    make = command.make
    if make == MAKE_ROOT:
        assert command.sign is not None
        return Box(command.sign, symbol, tuple(reversed(arguments)))
    if make == MAKE_BINOMIAL:
        return binomial(symbol, arguments[0], arguments[1], "(", ")", rows)
    if make in (MAKE_OVER, MAKE_UNDER):
        script = arguments[0].at("o" if make == MAKE_OVER else "u")
        return _stacked(arguments[1], symbol, (script,))
    if make == MAKE_ARROW:
        assert command.sign is not None
        scripts = [row.at(edge) for edge, row in zip("ou", reversed(arguments), strict=False)]
        arrow = Row([Box(command.sign, symbol)], -1)
        return _stacked(arrow, symbol, tuple(scripts))
    if make == MAKE_MODULUS:
        inner = arguments[0]
        if inner.number >= 0:
            rows.pop()
        return Box(_MODULUS, symbol, (add_row([Box(_MOD, symbol), *inner.boxes], rows),))
    if make == MAKE_FENCE:
        assert command.sign is not None
        row = arguments[0]
        if command.sign.opening == "{":
            if row.number < 0:
                row = Row(row.boxes[:], -1)  # a copy, because the row may be shared
            mark_condition(row.boxes)
        return Box(command.sign, symbol, (row,))
    if make == MAKE_PRESCRIPTS:
        scripts = [arguments[0].at("c"), arguments[1].at("d")]
        return _unit(arguments[2], symbol).with_scripts(tuple(scripts))
    assert make == MAKE_WILDCARD
    return Box(wildcard("".join(box.sign.text for box in arguments[0].boxes)), symbol)


def _stacked(row: Row, symbol: int, scripts: tuple[Row, ...]) -> Box:
    """Return a row with scripts over or under it; a single operator keeps its role."""
    role = row.boxes[0].sign.role if len(row.boxes) == 1 else IDENTIFIER
    return Box(_STACKS.get(role, PLAIN_GROUP), symbol, (row,), scripts)


def _unit(row: Row, symbol: int) -> Box:
    """Return a row as one box: its only box, or a group."""
    first = row.boxes[0] if len(row.boxes) == 1 else None
    if first is not None and first.sign.kind == ATOM:
        return first
    return Box(PLAIN_GROUP, symbol, (row,))


def binomial(
    symbol: int, above: Row, below: Row, opening: str, closing: str, rows: list[Row]
) -> Box:
    """Return two stacked rows in brackets."""
    inner = add_row([Box(STACKED, symbol, (above, below))], rows)
    return Box(fence_sign(opening, closing), symbol, (inner,))


def table_box(sign: Sign, symbol: int, lines: list[list[Row]], rows: list[Row]) -> Box:
    """Build a table from its cells; lines with too few cells are filled with empty ones."""
    columns = max((len(line) for line in lines), default=0)
    if sign.operand == "O!cases" and columns == 1:
        columns = 2  # each case has a condition, even where it is not written
    if columns * len(lines) > 1000 + 4 * sum(map(len, lines)):
        # Most cells would be empty: use one cell per line.
        lines = [[cell] for line in lines for cell in line]
        columns = 1
    cells: list[Row] = []
    for line in lines:
        cells += line
        cells += [add_row([], rows) for _ in range(columns - len(line))]
    return Box(sign, symbol, tuple(cells), (), -1, columns)


def apply_font(boxes: list[Box], start: int, font: str, can_join: bool = True) -> None:
    """Apply a font to the letters and numbers of a line from a place on; join names."""
    place = start
    while place < len(boxes):
        box = boxes[place]
        sign = box.sign
        if _has_fonts(sign):
            end = place + 1
            if can_join and font in JOINING and sign.role == IDENTIFIER and len(sign.text) == 1:
                while end < len(boxes) and _joins(boxes[end - 1], boxes[end]):
                    end += 1
            if end > place + 1:
                word = "".join(part.sign.text for part in boxes[place:end])
                scripts = boxes[end - 1].scripts
                boxes[place:end] = [Box(word_sign(word, font), box.symbol).with_scripts(scripts)]
                place += 1
                continue
            box = Box(styled_sign(sign, font), box.symbol).with_scripts(box.scripts)
        if box.scripts:
            box = box.with_scripts(tuple([_in_font(script, font) for script in box.scripts]))
        boxes[place] = box
        place += 1


def _in_font(script: Row, font: str) -> Row:
    """Apply a font to the letters and numbers of a script, but not to its own scripts."""
    boxes = script.boxes
    if script.number < 0:
        boxes = boxes[:]  # a copy, because the list may be shared
        script = Row(boxes, -1, script.edge)
    for place, box in enumerate(boxes):
        if _has_fonts(box.sign):
            styled = Box(styled_sign(box.sign, font), box.symbol)
            boxes[place] = styled.with_scripts(box.scripts)
    return script


def _has_fonts(sign: Sign) -> bool:
    """Whether a sign is a letter or a number."""
    return sign.kind == ATOM and sign.role <= NUMBER and sign.element != "mo"


def move_prescripts(boxes: list[Box]) -> None:
    """Move the scripts of empty groups to the letter or fence after them: ``{}_nC_k``."""
    for place in range(len(boxes) - 1):
        box, following = boxes[place], boxes[place + 1]
        if box.sign is EMPTY and box.scripts and following.sign.role == IDENTIFIER:
            if len(box.scripts) >= MAX_SCRIPTS:
                continue  # they would accumulate from one empty group to the next
            before = [row.at("c" if row.edge in "ao" else "d") for row in box.scripts]
            boxes[place + 1] = following.with_scripts((*before, *following.scripts))
            boxes[place] = Box(NOTHING, box.symbol)


def _joins(left: Box, right: Box) -> bool:
    """Whether two adjacent letters belong to one name."""
    return (
        not left.scripts
        and right.sign.kind == ATOM
        and right.sign.role == IDENTIFIER
        and right.sign.element == "mi"
        and len(right.sign.text) == 1
        and right.sign.text.isascii()
        and right.sign.text.isalpha()
    )
