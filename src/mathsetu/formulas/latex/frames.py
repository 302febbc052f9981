r"""Frames on the reader's stack: groups and commands whose content is still being read."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import Box, Row, Sign
from mathsetu.formulas.latex.commands import Command

# Where a frame ends: at the end of the text, at } (a group, an argument), after one item, at ],
# at \right, at \end.
TOP: Final = 0
PLAIN: Final = 1
ARGUMENT: Final = 2
ONE: Final = 3
SQUARE: Final = 4
LEFT: Final = 5
TABLE: Final = 6


class Pending:
    """A command whose arguments are being read."""

    __slots__ = ("arguments", "command", "symbol", "wanted")

    def __init__(self, command: Command, symbol: int) -> None:
        self.command = command
        self.symbol = symbol
        self.wanted = command.arguments
        self.arguments: list[Row] = []


class Script:
    """A script whose row is being read, and the place of its base in the line around it."""

    __slots__ = ("edge", "place")

    def __init__(self, place: int, edge: str) -> None:
        self.place = place
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


#: The receiver of the row that is being read.
Receiver = Pending | Script | Grid | Delimiter | None
#: An infix command, its number, and the row before it.
Infix = tuple[str, int, Row]
#: A place in the line, and the font that applies from there on.
Switch = tuple[int, str]
#: A line, the places of its open brackets, the start of its innermost group, where it ends, its
#: receiver, and its infix command and font switch.
Frame = tuple[list[Box], list[int], int, int, Receiver, Infix | None, Switch | None]
