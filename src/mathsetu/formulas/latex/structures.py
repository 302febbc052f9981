r"""Brackets, ``\left`` and ``\right``, and tables, while LaTeX is read."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.assembly import Assembler
from mathsetu.formulas.latex.boxes import BAR, Box, Row, Sign
from mathsetu.formulas.latex.brackets import FENCES, mark_condition
from mathsetu.formulas.latex.commands import (
    ENVIRONMENTS,
    LINES,
    OTHER_ENVIRONMENT,
    PLAIN_GROUP,
    WITH_COLUMNS,
)
from mathsetu.formulas.latex.frames import LEFT, ONE, SQUARE, TABLE, Delimiter, Grid
from mathsetu.formulas.latex.macros import DEFINING
from mathsetu.formulas.latex.making import move_prescripts
from mathsetu.formulas.latex.symbols import BRACKETS, SIGNS

# How many open brackets are passed over in search of the partner of a closing one.
_REACH: Final = 50


class Structures(Assembler):
    """Reads what encloses other things."""

    # -- brackets ----------------------------------------------------------------------------

    def read_opening(self, token: str) -> None:
        """An opening bracket, or a bar."""
        box = Box(BRACKETS[token], self.index - 1)
        if self.mode == ONE:
            self.put(box)
        else:
            self.opens.append(len(self.boxes))
            self.boxes.append(box)

    def read_closing(self, token: str) -> None:
        """A closing bracket; it makes a fence with its partner."""
        sign = BRACKETS[token]
        symbol = self.index - 1
        boxes = self.boxes
        opens = self.opens
        place = opens[-1] if opens else -1
        pair = FENCES.get(boxes[place].sign.text + sign.text) if opens else None
        if pair is None:
            if self.mode == SQUARE and sign.text == "]" and not opens:
                inner = self.complete()
                waiting = self.waiting
                self.pop()
                self.give(waiting, inner)
                return
            place = self.partner(sign.text)
            if place < 0:
                self.put(Box(sign, symbol))
                return
            pair = FENCES[boxes[place].sign.text + sign.text]
            inner = self.cut(place + 1)
        else:
            # The usual case: the partner is the last that was opened, and no bar is open.
            inner = Row(boxes[place + 1 :])
            if self.has_prescripts:
                move_prescripts(inner.boxes)
            self.rows.append(inner)
        opening = boxes[place]
        del boxes[place:]
        opens.pop()
        if pair.opening == "{":
            mark_condition(inner.boxes)
        fence = Box(pair, opening.symbol, (inner,))
        fence.closer = symbol
        if opening.scripts:
            fence.scripts = opening.scripts
        boxes.append(fence)
        if place < self.start:
            # Brackets may cross braces: a group that began inside the fence now begins with it.
            self.start = place

    def partner(self, closing: str) -> int:
        """The place of the opening bracket that a closing one belongs to, or -1."""
        boxes = self.boxes
        for place in reversed(self.opens[-_REACH:]):
            sign = boxes[place].sign
            if sign.role != BAR and sign.text + closing in FENCES:
                return place
        return -1

    # -- fences ------------------------------------------------------------------------------

    def delimiter(self, text: str) -> Sign | None:
        r"""The sign after ``\left`` or ``\right``; none for a dot."""
        known = BRACKETS.get(text)
        if known is not None:
            return known
        text = text.strip()
        if text in ("", "."):
            return None
        if text in ("<", ">"):
            text = "\\langle" if text == "<" else "\\rangle"
        sign = BRACKETS.get(text) or SIGNS.get(text)
        if sign is None:
            self.warn(f"{text} is no bracket")
            self.index -= 1
            self.tokens[self.index] = text
        return sign

    def begin_left(self, token: str) -> None:
        r"""``\left`` with its bracket."""
        symbol = self.index - 1
        self.lefts += 1
        self.push(LEFT, Delimiter(self.delimiter(token[5:]), symbol))

    def end_left(self, token: str) -> None:
        r"""``\right`` with its bracket: the innermost ``\left`` ends."""
        symbol = self.index - 1
        sign = self.delimiter(token[6:])
        if not self.lefts:
            self.warn("\\right has no \\left")
            if sign is not None:
                self.put(Box(sign, symbol))
            return
        self.unwind(LEFT)
        self.end_fence(sign, symbol)

    # -- tables ------------------------------------------------------------------------------

    def begin_table(self, token: str) -> None:
        r"""``\begin``: a table, whatever its name."""
        name = token[6:].strip(" {}\n\t")
        sign = ENVIRONMENTS.get(name) or ENVIRONMENTS.get(name.rstrip("*"))
        if sign is None:
            self.warn(f"unknown environment {name}")
            sign = OTHER_ENVIRONMENT
        symbol = self.index - 1
        if self.tokens[self.index] == "[" and self.tokens[self.index + 2] == "]":
            self.skip("]")
        if name in WITH_COLUMNS and self.tokens[self.index] == "{":
            self.skip("}")
        self.tables += 1
        self.push(TABLE, Grid(sign, symbol))

    def skip(self, closing: str) -> None:
        """Pass over what is in brackets."""
        opening = self.tokens[self.index]
        depth = 0
        while self.index < self.count:
            token = self.tokens[self.index]
            self.index += 1
            self.has_definitions |= token in DEFINING
            depth += (token == opening) - (token == closing)
            if depth <= 0:
                return

    def read_substack(self) -> None:
        """Lines above each other, without columns."""
        if self.tokens[self.index] == "{":
            self.index += 1
            self.braces += 1
            self.push(TABLE, Grid(LINES, self.index - 2, is_braced=True))

    def read_ampersand(self, token: str) -> None:
        """``&``: the next cell; outside of tables, nothing."""
        if token not in ("&", "&amp;"):
            self.warn(f"unknown entity {token}")
        elif self.tables:
            while self.mode == ONE:
                self.end_forced()
            if self.mode == TABLE:
                self.end_cell()

    def end_cell(self) -> None:
        """A cell is complete; another begins."""
        grid = self.waiting
        assert isinstance(grid, Grid)
        grid.lines[-1].append(self.complete())
        self.boxes = []
        self.opens = []
        self.start = 0
        self.infix = None
        self.switch = None

    def end_line(self, token: str) -> None:
        r"""``\\``: the next line of a table; elsewhere, nothing."""
        while self.mode == ONE:
            self.end_forced()
        if self.mode == TABLE:
            if self.tokens[self.index] == "[" and self.tokens[self.index + 1][:1].isdecimal():
                self.skip("]")
            grid = self.waiting
            assert isinstance(grid, Grid)
            self.end_cell()
            grid.lines.append([])

    def end_table(self, token: str) -> None:
        r"""``\end``: the innermost table ends."""
        if not self.tables:
            self.warn(f"{token} without its \\begin")
            return
        while not isinstance(self.waiting, Grid) or self.waiting.is_braced:
            self.end_forced()
        self.end_grid()

    def end_grid(self) -> None:
        """The cells that were read become a box."""
        grid = self.waiting
        assert isinstance(grid, Grid)
        if self.boxes or grid.lines[-1]:
            grid.lines[-1].append(self.complete())
        lines = [line for line in grid.lines if any(cell.boxes for cell in line)]
        self.tables -= not grid.is_braced
        self.pop()
        if grid.sign.operand == "O!lines" and len(lines) == 1 and len(lines[0]) == 1:
            # One line that is set apart is that line; its boxes move into this line.
            only = lines[0][0]
            if self.rows[-1] is only:
                self.rows.pop()
                self.boxes.extend(only.boxes)
            else:
                self.put(Box(PLAIN_GROUP, grid.symbol, (only,)))
            return
        columns = max((len(line) for line in lines), default=0)
        if grid.sign.operand == "O!cases" and columns == 1:
            columns = 2  # each case has a condition, even where it is not written
        if columns * len(lines) > 1000 + 4 * sum(map(len, lines)):
            # A table that is mostly holes: one cell to a line.
            lines = [[cell] for line in lines for cell in line]
            columns = 1
        cells: list[Row] = []
        for line in lines:
            cells += line
            for _ in range(columns - len(line)):
                cells.append(Row([]))
                self.rows.append(cells[-1])
        box = Box(grid.sign, grid.symbol, tuple(cells))
        box.columns = columns
        box.closer = -1
        self.put(box)
