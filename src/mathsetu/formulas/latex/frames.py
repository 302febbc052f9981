"""What stands open while LaTeX is read: the line being written, and a stack of those around it."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import BAR, Box, Row, Sign
from mathsetu.formulas.latex.brackets import fold_bars
from mathsetu.formulas.latex.commands import INFIX, PLAIN_GROUP, Command
from mathsetu.formulas.latex.making import MOST_SCRIPTS, apply_font, binomial, move_prescripts

# How what is open will end: with the text, with } (a group, an argument), after one thing,
# with ], with \right, with \end.
TOP: Final = 0
PLAIN: Final = 1
ARGUMENT: Final = 2
ONE: Final = 3
SQUARE: Final = 4
LEFT: Final = 5
TABLE: Final = 6

#: Nothing follows the last token, four times: the reader looks ahead.
END: Final = ["", "", "", ""]
# More problems than this in one formula are no longer told one by one.
_MOST_PROBLEMS: Final = 20


class Pending:
    """A command whose arguments are being read."""

    __slots__ = ("arguments", "command", "symbol", "wanted")

    def __init__(self, command: Command, symbol: int) -> None:
        self.command = command
        self.symbol = symbol
        self.wanted = command.arguments
        self.arguments: list[Row] = []


class Script:
    """A script whose row is being read, and the box it belongs to."""

    __slots__ = ("base", "edge")

    def __init__(self, base: Box, edge: str) -> None:
        self.base = base
        self.edge = edge


class Grid:
    """A table whose cells are being read."""

    __slots__ = ("is_braced", "lines", "sign", "symbol")

    def __init__(self, sign: Sign, symbol: int, is_braced: bool = False) -> None:
        self.sign = sign
        self.symbol = symbol
        self.is_braced = is_braced
        self.lines: list[list[Row]] = [[]]


class Delimiter:
    r"""The opening sign of a ``\left``."""

    __slots__ = ("sign", "symbol")

    def __init__(self, sign: Sign | None, symbol: int) -> None:
        self.sign = sign
        self.symbol = symbol


Waiting = Pending | Script | Grid | Delimiter | None
#: An infix command, its number, and the row before it.
Infix = tuple[str, int, Row]
_Frame = tuple[list[Box], list[int], int, int, Waiting, Infix | None, tuple[int, str] | None]


class Frames:
    """The line being written, and the stack of what stands open around it."""

    lefts = 0  # how many of them stand open
    tables = 0
    splits = 0  # how many symbols have no token of their own
    is_ending = False
    has_definitions = False  # whether a macro is defined somewhere,
    is_expanded = False  # and whether all of them have been put in
    font_budget = 5_000  # how many boxes may still be set in a font

    def __init__(self, tokens: list[str]) -> None:
        self.count = len(tokens)
        self.tokens = tokens + END
        self.index = 0
        self.problems: list[tuple[int, str]] = []
        self.rows: list[Row] = []
        self.stack: list[_Frame] = []
        self.boxes: list[Box] = []  # the line being written
        self.opens: list[int] = []  # where in the line brackets and bars stand open
        self.start = 0  # where in the line the innermost open group begins
        self.braces = 0  # how many of them stand open
        self.has_prescripts = False  # whether scripts stand on an empty group somewhere
        self.mode = TOP
        self.waiting: Waiting = None
        self.infix: Infix | None = None
        self.switch: tuple[int, str] | None = None

    def warn(self, message: str, symbol: int | None = None) -> None:
        """Note a problem at a symbol, or at the token that was read last."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append((self.index - 1 if symbol is None else symbol, message))

    def next_symbol(self) -> int:
        """A number for a symbol that shares its token with others."""
        self.splits += 1
        return self.count + self.splits - 1

    # -- opening and closing ---------------------------------------------------------------

    def push(self, mode: int, waiting: Waiting) -> None:
        """Open something; a plain group goes on writing in the same line."""
        self.stack.append(
            (
                self.boxes,
                self.opens,
                self.start,
                self.mode,
                self.waiting,
                self.infix,
                self.switch,
            )
        )
        self.mode = mode
        self.waiting = waiting
        self.infix = None
        if mode == PLAIN:
            self.start = len(self.boxes)
        else:
            self.boxes = []
            self.opens = []
            self.start = 0
            self.switch = None

    def pop(self) -> None:
        """Go back to what is around; the caller has taken what was inside."""
        (
            self.boxes,
            self.opens,
            self.start,
            self.mode,
            self.waiting,
            self.infix,
            self.switch,
        ) = self.stack.pop()

    def settle(self) -> None:
        """Finish what infix commands and font switches began in the innermost group."""
        if self.infix is not None:
            self.end_infix()
        if self.switch is not None and self.switch[0] >= self.start:
            place, font = self.switch
            self.set_font(place, font)
            self.switch = None

    def set_font(self, place: int, font: str) -> None:
        """Set what stands in the line from a place on in a font."""
        # Fonts inside fonts come by again and again; they may not do so without end.
        self.font_budget -= len(self.boxes) - place
        if self.font_budget > 0:
            # Joined letters would move the brackets that stand open.
            can_join = not self.opens or self.opens[-1] < place
            apply_font(self.boxes, place, font, can_join)

    def add_script(self, base: Box, edge: str, script: Row) -> None:
        """Give a box one more script; a box that has too many goes into a group first."""
        if len(base.scripts) >= MOST_SCRIPTS and self.boxes and self.boxes[-1] is base:
            inner = Row([base])
            self.rows.append(inner)
            base = self.boxes[-1] = Box(PLAIN_GROUP, base.symbol, (inner,))
        script.edge = edge
        base.scripts += (script,)

    def cut(self, start: int) -> Row:
        """Take what stands in the line from a place on out of it, as a row that is complete."""
        inner = self.boxes[start:]
        del self.boxes[start:]
        if self.has_prescripts:
            move_prescripts(inner)
        opens = self.opens
        if opens:
            bars = []
            while opens and opens[-1] >= start:
                place = opens.pop() - start
                if inner[place].sign.role == BAR:
                    bars.append(place)
            if bars:
                bars.reverse()
                fold_bars(inner, bars, self.rows)
        row = Row(inner)
        self.rows.append(row)
        return row

    def complete(self) -> Row:
        """The line being written, complete."""
        if self.infix is not None or self.switch is not None:
            self.settle()
        boxes = self.boxes
        if self.has_prescripts:
            move_prescripts(boxes)
        if self.opens:
            bars = [place for place in self.opens if boxes[place].sign.role == BAR]
            if bars:
                fold_bars(boxes, bars, self.rows)
        row = Row(boxes)
        self.rows.append(row)
        return row

    def read_infix(self, token: str) -> None:
        r"""``\over`` and the like: what is before it in the group is the upper part."""
        if self.infix is not None:
            self.warn(f"{token} twice in one group")
            self.end_infix()
        self.infix = (token, self.index - 1, self.cut(self.start))

    def end_infix(self) -> None:
        """The group ends: what came after the infix command is the lower part."""
        assert self.infix is not None
        token, symbol, above = self.infix
        self.infix = None
        sign, opening, closing = INFIX[token]
        below = self.cut(self.start)
        if opening:
            self.boxes.append(binomial(symbol, above, below, opening, closing, self.rows))
        else:
            self.boxes.append(Box(sign, symbol, (above, below)))
