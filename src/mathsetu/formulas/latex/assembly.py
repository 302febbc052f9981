"""Putting boxes into rows while groups, arguments, fences and tables stand open."""

from __future__ import annotations

from mathsetu.formulas.latex.boxes import SPACE, WIDE_SPACE, Box, Row, Sign
from mathsetu.formulas.latex.brackets import mark_condition
from mathsetu.formulas.latex.commands import (
    EMPTY,
    MAKE_BOX,
    MAKE_FONT,
    MAKE_LAST,
    MAKE_NOTHING,
    PLAIN_GROUP,
    fence_sign,
)
from mathsetu.formulas.latex.frames import (
    ARGUMENT,
    LEFT,
    ONE,
    PLAIN,
    SQUARE,
    TABLE,
    Delimiter,
    Frames,
    Grid,
    Pending,
    Script,
    Waiting,
)
from mathsetu.formulas.latex.making import apply_font, make_box
from mathsetu.formulas.latex.symbols import SIGNS
from mathsetu.formulas.latex.tokens import other_sign


class Assembler(Frames):
    """Puts boxes into rows, and hands complete rows to what waits for them."""

    # -- boxes, arguments, scripts -----------------------------------------------------------

    def put(self, box: Box) -> None:
        """Add a box to the line; where only one was wanted, that is all."""
        self.boxes.append(box)
        if self.mode == ONE:
            self.end_one()

    def end_one(self) -> None:
        """The one thing that was wanted is there: hand it to what waits for it."""
        if self.is_ending:
            return  # the loop below will see what has been put
        self.is_ending = True
        while self.mode == ONE and self.boxes:
            row = self.complete()
            waiting = self.waiting
            self.pop()
            self.give(waiting, row)
        self.is_ending = False

    def give(self, waiting: Waiting, row: Row) -> None:
        """Hand a complete row to the script or command that waits for it."""
        if isinstance(waiting, Script):
            if row.boxes:  # an empty script is none
                self.add_script(waiting.base, waiting.edge, row)
        elif isinstance(waiting, Pending):
            waiting.arguments.append(row)
            self.begin(waiting)

    def begin(self, pending: Pending) -> None:
        """Read the arguments that a command still wants, or make its box."""
        command = pending.command
        if command.optional and not pending.arguments and self.tokens[self.index] == "[":
            self.index += 1
            pending.wanted += 1
            self.push(SQUARE, pending)
            return
        tokens = self.tokens
        arguments = pending.arguments
        while len(arguments) < pending.wanted:
            index = self.index
            row: Row | None
            if tokens[index] == "{":
                sign = SIGNS.get(tokens[index + 1])
                if tokens[index + 2] != "}" or sign is None or sign.role == SPACE:
                    self.index = index + 1
                    self.braces += 1
                    self.push(ARGUMENT, pending)
                    return
                row = Row([Box(sign, index + 1)])
                self.rows.append(row)
                self.index = index + 3
                arguments.append(row)
                continue
            row = self.simple_argument()
            if row is None:
                self.open_argument(pending)
                return
            arguments.append(row)
        self.make(pending)

    def simple_argument(self) -> Row | None:
        """An argument that is one plain sign, with or without braces."""
        tokens = self.tokens
        symbol = self.index
        token = tokens[symbol]
        after = symbol + 1
        if token == "{" and tokens[symbol + 2] == "}":  # noqa: S105
            symbol += 1
            after += 2
            token = tokens[symbol]
        sign = SIGNS.get(token)
        if sign is None:
            if not token[:1].isdecimal():
                return None
            if after == symbol + 1 and len(token) > 1:
                # Without braces an argument is one digit: \\frac12 is a half. The rest of the
                # number is read next, and the digit gets a symbol number after all tokens'.
                tokens[symbol] = token[1:]
                after = symbol
                symbol = self.next_symbol()
                token = token[0]
            sign = other_sign(token)
            assert sign is not None
        elif sign.role == SPACE:
            return None
        row = Row([Box(sign, symbol)])
        self.rows.append(row)
        self.index = after
        return row

    def open_argument(self, waiting: Pending | Script) -> None:
        """Begin an argument that is more than one plain sign."""
        if self.tokens[self.index] == "{":
            self.index += 1
            self.braces += 1
            self.push(ARGUMENT, waiting)
        elif self.index < self.count and self.tokens[self.index] not in ("}", "&"):
            self.push(ONE, waiting)
        else:
            symbol = waiting.symbol if isinstance(waiting, Pending) else None
            self.warn("an argument is missing", symbol)
            row = Row([])
            self.rows.append(row)
            self.give(waiting, row)

    def make(self, pending: Pending) -> None:
        """A command has all its arguments."""
        make = pending.command.make
        if make == MAKE_BOX:
            sign = pending.command.sign
            assert sign is not None
            self.put(Box(sign, pending.symbol, tuple(pending.arguments[-2:])))
        elif make == MAKE_NOTHING:
            self.end_one()
        elif make in (MAKE_LAST, MAKE_FONT):
            # The argument's boxes move into this line, where scripts may still be added to them.
            row = pending.arguments[-1]
            assert self.rows[-1] is row
            self.rows.pop()
            self.font_budget -= len(row.boxes)
            if make == MAKE_FONT and self.font_budget > 0:
                apply_font(row.boxes, 0, pending.command.font)
            if len(row.boxes) == 1:
                self.put(row.boxes[0])
            elif self.mode == ONE or self.is_before_script():
                self.rows.append(row)
                self.put(Box(PLAIN_GROUP, pending.symbol, (row,)))
            else:
                self.boxes.extend(row.boxes)
        else:
            self.put(make_box(pending.command, pending.symbol, pending.arguments, self.rows))

    def is_before_script(self) -> bool:
        """Whether a script or a prime comes next."""
        return self.tokens[self.index][:1] in ("^", "_", "'")

    def base(self) -> Box:
        """The box that a script belongs to: the last one that shows."""
        boxes = self.boxes
        place = len(boxes) - 1
        while place >= self.start and boxes[place].sign.role in (SPACE, WIDE_SPACE):
            place -= 1
        if place >= self.start:
            return boxes[place]
        box = Box(EMPTY, self.index - 1)
        boxes.append(box)
        return box

    # -- endings -----------------------------------------------------------------------------

    def end_brace(self, token: str) -> None:
        """``}``: the innermost group or argument ends."""
        if self.mode == ARGUMENT:
            self.braces -= 1
            row = self.complete()
            waiting = self.waiting
            self.pop()
            self.give(waiting, row)
            return
        if not self.braces:
            self.warn("} closes nothing")
            return
        while self.mode not in (PLAIN, ARGUMENT):
            if isinstance(self.waiting, Grid) and self.waiting.is_braced:
                self.braces -= 1
                self.end_grid()
                return
            self.end_forced()
        self.braces -= 1
        if self.mode == ARGUMENT:
            row = self.complete()
            waiting = self.waiting
            self.pop()
            self.give(waiting, row)
            return
        self.settle()
        start = self.start
        length = max(0, len(self.boxes) - start)
        if self.is_before_script():
            if length == 0:
                self.has_prescripts = True
                self.boxes.append(Box(EMPTY, self.index - 1))
            elif length > 1:
                inner = self.cut(start)
                self.boxes.append(Box(PLAIN_GROUP, self.index - 1, (inner,)))
        self.pop()
        if self.mode == ONE and length != 0:
            self.end_one()

    def unwind(self, mode: int) -> None:
        """End what should have ended before, up to what can end now."""
        while self.mode != mode:
            self.end_forced()

    def end_forced(self) -> None:
        """End the innermost open thing although its end is missing."""
        mode = self.mode
        if mode == PLAIN:
            self.warn("{ is not closed")
            self.braces -= 1
            self.settle()
            self.pop()
            return
        waiting = self.waiting
        if mode == ARGUMENT:
            self.warn("{ is not closed")
            self.braces -= 1
        elif mode == SQUARE:
            self.warn("[ is not closed")
        elif mode == ONE:
            symbol = waiting.symbol if isinstance(waiting, Pending) else None
            self.warn("an argument is missing", symbol)
        if mode == LEFT:
            self.warn("\\left has no \\right")
            self.end_fence(None, -1)
        elif mode == TABLE:
            self.warn("\\begin has no \\end")
            assert isinstance(waiting, Grid)
            self.braces -= waiting.is_braced
            self.end_grid()
        else:
            row = self.complete()
            self.pop()
            self.give_up(waiting, row)

    def give_up(self, waiting: Waiting, row: Row) -> None:
        """Hand over the last argument there will be; the others are empty."""
        if isinstance(waiting, Pending):
            waiting.arguments.append(row)
            while len(waiting.arguments) < waiting.wanted:
                empty = Row([])
                self.rows.append(empty)
                waiting.arguments.append(empty)
            self.make(waiting)
        else:
            self.give(waiting, row)

    def end_grid(self) -> None:
        """The table that is being read ends; `structures.py`, which knows tables, says how."""
        raise NotImplementedError

    def end_fence(self, closing: Sign | None, closer: int) -> None:
        r"""``\right``: what began with the innermost ``\left`` becomes a fence."""
        row = self.complete()
        waiting = self.waiting
        assert isinstance(waiting, Delimiter)
        self.lefts -= 1
        self.pop()
        opening = waiting.sign.text if waiting.sign is not None else ""
        text = closing.text if closing is not None else ""
        if opening == "{" and text == "}":
            mark_condition(row.boxes)
        fence = Box(fence_sign(opening, text), waiting.symbol, (row,))
        fence.closer = closer
        self.put(fence)
