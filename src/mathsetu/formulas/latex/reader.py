r"""Read LaTeX into rows of boxes; any text gives rows, malformed text with warnings.

One regular expression splits the text into tokens. One loop reads them, with a stack of open
constructs, so that depth costs only memory. Rows are listed in the order in which they end:
a row comes after all rows inside it, and the trees are built in that order without recursion.

From top to bottom: the functions from text to rows and warnings, then the reader: its loop, the
stack, rows, fonts, scripts, commands with arguments, braces, brackets, tables, other tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from mathsetu.formulas.latex.box_builders import (
    MAX_SCRIPTS,
    apply_font,
    binomial,
    make_box,
    move_prescripts,
    table_box,
)
from mathsetu.formulas.latex.boxes import (
    BAR,
    CLOSING,
    GROUP,
    IDENTIFIER,
    SPACE,
    TEXT,
    WIDE_SPACE,
    Box,
    Row,
    Sign,
    add_row,
    shared_atom,
    shared_row,
    shared_script,
)
from mathsetu.formulas.latex.brackets import FENCES, fold_bars, mark_condition
from mathsetu.formulas.latex.commands import (
    COMMANDS,
    EMPTY,
    ENVIRONMENTS,
    IGNORED,
    INFIX,
    LINES,
    MAKE_BOX,
    MAKE_FONT,
    MAKE_LAST,
    MAKE_NOTHING,
    OTHER_ENVIRONMENT,
    PLAIN_GROUP,
    WITH_COLUMNS,
    Command,
    fence_sign,
)
from mathsetu.formulas.latex.fonts import FONTS, SWITCHES
from mathsetu.formulas.latex.frames import (
    ARGUMENT,
    LEFT,
    ONE,
    PLAIN,
    SQUARE,
    TABLE,
    TOP,
    Delimiter,
    Frame,
    Grid,
    Infix,
    Pending,
    Receiver,
    Script,
    Switch,
)
from mathsetu.formulas.latex.lexer import TOKEN
from mathsetu.formulas.latex.macros import DEFINING, expand
from mathsetu.formulas.latex.symbols import BRACKETS, NEGATED, SIGNS
from mathsetu.formulas.latex.tokens import (
    SCRIPTS,
    OneSign,
    is_composed,
    is_text,
    plain_text,
    spell_out,
    text_sign,
    uncommon_sign,
)
from mathsetu.limits import LONGEST_FORMULA

# Four empty tokens after the last one, because the reader looks ahead.
_END: Final = ["", "", "", ""]
# Maximum number of problems reported for one formula.
_MAX_PROBLEMS: Final = 20
# Maximum number of open brackets searched for the partner of a closing one.
_REACH: Final = 50
_PRIMES: Final = {"'" * count: Sign("′" * count, "mo", IDENTIFIER) for count in range(1, 8)}
_FONT_COMMANDS: Final = {name: Command(MAKE_FONT, 1, font=font) for name, font in FONTS.items()}
_TEXT_GROUP: Final = Sign("", "mrow", TEXT, kind=GROUP, layout="W!", operand="W!")


class ParseWarning(NamedTuple):
    """A problem in a formula at which the parser had to guess."""

    position: int
    message: str


#: The result of the parser: the top row, all rows in the order in which they end, and warnings.
Layout = tuple[Row, list[Row], tuple[ParseWarning, ...]]


def read_layout(latex: str) -> Layout:
    """Read LaTeX into rows.

    >>> row, rows, warnings = read_layout("x^2+1")
    >>> [box.sign.text for box in row.boxes]
    ['x', '+', '1']
    """
    if len(latex) > LONGEST_FORMULA:
        row, rows, warnings = read_layout(latex[:LONGEST_FORMULA])
        message = f"only the first {LONGEST_FORMULA:,} characters are read"
        return row, rows, (*warnings, ParseWarning(LONGEST_FORMULA, message))
    tokens = TOKEN.findall(latex)
    origins: list[int] | None = None
    if not latex.isascii() and is_composed(latex):
        tokens, origins = spell_out(tokens)
    boxes: list[Box] = []
    for index, token in enumerate(tokens):
        sign = SIGNS.get(token)
        if sign is None:
            break
        boxes.append(sign.atoms.get(index) or shared_atom(sign, index))
    else:
        row = Row(boxes, 0)
        return row, [row], ()  # fast path: many formulas are a few plain signs
    reader = _Reader(tokens, boxes)
    row = reader.read()
    if reader.has_definitions:
        # Only the few formulas with definitions are read again, with their macros expanded.
        tokens, places, cut = expand(tokens)
        reader = _Reader(tokens, [])
        reader.is_expanded = True
        if cut is not None:
            # The warning is for a token before expansion; its place is appended to the others.
            reader.warn("macros expand to too much text; the rest is ignored", len(tokens))
            places.append(cut)
        origins = places if origins is None else [origins[place] for place in places]
        row = reader.read()
    if not reader.problems:
        return row, reader.rows, ()
    return row, reader.rows, _located(latex, reader.problems, origins)


def _located(
    latex: str, problems: list[tuple[int, str]], origins: list[int] | None
) -> tuple[ParseWarning, ...]:
    """Convert problems at tokens to warnings at characters."""
    starts = [match.start() for match in TOKEN.finditer(latex)]
    found = []
    for number, message in problems:
        if origins is not None:
            number = origins[number] if 0 <= number < len(origins) else len(starts)
        found.append(
            ParseWarning(starts[number] if 0 <= number < len(starts) else len(latex), message)
        )
    return tuple(found)


def _script_row(script: OneSign, base: Sign, symbol: int) -> Row:
    """Return the row of a script of one sign, at the edge that its base determines."""
    is_high, sign, beside, over = script
    edge = base.high if is_high else base.low
    return shared_script(sign, symbol, edge, over if base.stand_over else beside)


class _Reader:
    """Reads tokens into rows; the number of a token is the number of its symbol.

    ``boxes`` may already have the boxes of the first tokens.
    """

    lefts = 0  # number of open \left
    tables = 0
    splits = 0  # number of symbols without their own token
    is_ending = False
    has_definitions = False  # whether the formula defines a macro,
    is_expanded = False  # and whether all macros have been expanded
    font_budget = 5_000  # number of boxes to which a font may still be applied

    def __init__(self, tokens: list[str], boxes: list[Box]) -> None:
        self.count = len(tokens)
        self.tokens = tokens + _END
        self.index = len(boxes)
        self.problems: list[tuple[int, str]] = []
        self.rows: list[Row] = []
        self.stack: list[Frame] = []
        self.boxes = boxes  # the current line
        self.opens: list[int] = []  # the places of open brackets and bars in the line
        self.start = 0  # the place in the line where the innermost open group begins
        self.braces = 0  # number of open braces
        self.has_prescripts = False  # whether any empty group has scripts
        self.mode = TOP
        self.waiting: Receiver = None
        self.infix: Infix | None = None
        self.switch: Switch | None = None

    def read(self) -> Row:
        """Read all tokens and return the top row."""
        tokens = self.tokens
        count = self.count
        signs = SIGNS
        scripts = SCRIPTS
        actions = _ACTIONS
        boxes = self.boxes
        start = 0
        index = self.index
        while True:
            token = tokens[index]
            sign = signs.get(token)
            if sign is not None:
                boxes.append(sign.atoms.get(index) or shared_atom(sign, index))
                index += 1
                continue
            if index >= count:
                break  # the empty tokens after the last one are no signs
            self.index = index + 1
            action = actions.get(token)
            if action is not None:
                action(self, token)
            elif (script := scripts.get(token)) is None:
                self.read_other(token)
            elif len(boxes) > start and boxes[-1].sign.element != "mspace":
                base = boxes[-1]
                known = script[3] if base.sign.stand_over else script[2]
                row = known.get(index) or _script_row(script, base.sign, index)
                if base.rows or base.scripts:
                    self.add_script(len(boxes) - 1, row)
                else:
                    boxes[-1] = Box(base.sign, base.symbol, (), (row,), -1, 0, base.leaf)
                index += 1
                continue
            else:
                self.put_script(script)
            while self.mode == ONE and self.index < count:
                self.read_next()
            boxes = self.boxes
            start = self.start
            index = self.index
        self.index = count + 1  # report missing ends at the end of the text
        while self.stack:
            self.end_forced()
        return self.complete()

    def read_next(self) -> None:
        """Read the next token."""
        token = self.tokens[self.index]
        self.index += 1
        action = _ACTIONS.get(token)
        if action is not None:
            action(self, token)
        elif (sign := SIGNS.get(token)) is not None:
            self.put(shared_atom(sign, self.index - 1))
        elif (script := SCRIPTS.get(token)) is not None:
            self.put_script(script)
        else:
            self.read_other(token)

    def warn(self, message: str, symbol: int | None = None) -> None:
        """Note a problem at a symbol, or at the token that was read last."""
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append((self.index - 1 if symbol is None else symbol, message))

    def next_symbol(self) -> int:
        """Return the number of a symbol that shares its token with others."""
        self.splits += 1
        return self.count + self.splits - 1

    # -- the stack of open constructs --------------------------------------------------------------

    def push(self, mode: int, waiting: Receiver) -> None:
        """Open a construct; a plain group continues the current line."""
        frame = self.boxes, self.opens, self.start, self.mode, self.waiting, self.infix, self.switch
        self.stack.append(frame)
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
        """Return to the enclosing construct; the caller has taken the inner line."""
        (self.boxes, self.opens, self.start, self.mode, self.waiting, self.infix, self.switch) = (
            self.stack.pop()
        )

    def unwind(self, mode: int) -> None:
        """Force the end of inner constructs until the innermost one has the given mode."""
        while self.mode != mode:
            self.end_forced()

    def end_forced(self) -> None:
        """End the innermost construct although its end is missing."""
        mode = self.mode
        if mode == PLAIN:
            self.warn("{ is not closed")
            self.braces -= 1
            self.apply_pending()
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

    def give_up(self, waiting: Receiver, row: Row) -> None:
        """Pass on the last argument; the missing others are empty."""
        if isinstance(waiting, Pending):
            waiting.arguments.append(row)
            while len(waiting.arguments) < waiting.wanted:
                waiting.arguments.append(add_row([], self.rows))
            self.make(waiting)
        else:
            self.give(waiting, row)

    # -- rows --------------------------------------------------------------------------------------

    def put(self, box: Box) -> None:
        """Add a box to the line; a line that takes only one box then ends."""
        self.boxes.append(box)
        if self.mode == ONE:
            self.end_one()

    def end_one(self) -> None:
        """End a line that takes only one box, and pass it to its receiver."""
        if self.is_ending:
            return  # the loop below handles the new box
        self.is_ending = True
        while self.mode == ONE and self.boxes:
            self.hand_over()
        self.is_ending = False

    def hand_over(self) -> None:
        """Complete the line, return to the enclosing construct, and pass the row on."""
        waiting = self.waiting
        row = self.complete(waiting.edge if isinstance(waiting, Script) else "")
        self.pop()
        self.give(waiting, row)

    def give(self, waiting: Receiver, row: Row) -> None:
        """Pass a complete row to the script or command that waits for it."""
        if isinstance(waiting, Script):
            if row.boxes:  # an empty script is ignored
                self.add_script(waiting.place, row if row.edge else row.at(waiting.edge))
        elif isinstance(waiting, Pending):
            waiting.arguments.append(row)
            self.begin(waiting)

    def complete(self, edge: str = "") -> Row:
        """Complete the current line and return it as a row."""
        if self.infix is not None or self.switch is not None:
            self.apply_pending()
        boxes = self.boxes
        if self.has_prescripts:
            move_prescripts(boxes)
        if self.opens:
            bars = [place for place in self.opens if boxes[place].sign.role == BAR]
            if bars:
                fold_bars(boxes, bars, self.rows, self.next_symbol)
        row = Row(boxes, len(self.rows), edge)
        self.rows.append(row)
        return row

    def cut(self, start: int) -> Row:
        """Remove the part of the line from a place on, and return it as a complete row."""
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
                fold_bars(inner, bars, self.rows, self.next_symbol)
        return add_row(inner, self.rows)

    # -- fonts and infix commands: they apply to the rest of their group ---------------------------

    def apply_pending(self) -> None:
        """Apply the infix command and the font switch of the innermost group."""
        if self.infix is not None:
            self.end_infix()
        if self.switch is not None and self.switch[0] >= self.start:
            place, font = self.switch
            self.set_font(place, font)
            self.switch = None

    def set_font(self, place: int, font: str) -> None:
        """Apply a font to the line from a place on."""
        # Nested fonts are applied to the same boxes again and again; the budget limits this.
        self.font_budget -= len(self.boxes) - place
        if self.font_budget > 0:
            # Joining letters would shift the places of open brackets.
            can_join = not self.opens or self.opens[-1] < place
            apply_font(self.boxes, place, font, can_join)

    def read_infix(self, token: str) -> None:
        r"""Read ``\over`` or the like; the part of the group before it is the upper part."""
        if self.infix is not None:
            self.warn(f"{token} twice in one group")
            self.end_infix()
        self.infix = (token, self.index - 1, self.cut(self.start))

    def end_infix(self) -> None:
        """End an infix command; the part of the group after it is the lower part."""
        assert self.infix is not None
        token, symbol, above = self.infix
        self.infix = None
        sign, opening, closing = INFIX[token]
        below = self.cut(self.start)
        if opening:
            self.boxes.append(binomial(symbol, above, below, opening, closing, self.rows))
        else:
            self.boxes.append(Box(sign, symbol, (above, below)))

    # -- scripts -----------------------------------------------------------------------------------

    def base_place(self) -> int:
        """Return the place of the base of a script: the last visible box, or a new empty one."""
        boxes = self.boxes
        place = len(boxes) - 1
        while place >= self.start and boxes[place].sign.role in (SPACE, WIDE_SPACE):
            place -= 1
        if place >= self.start:
            return place
        boxes.append(Box(EMPTY, self.index - 1))
        return len(boxes) - 1

    def add_script(self, place: int, script: Row) -> None:
        """Add a script to a box; a box with too many scripts is first put into a group."""
        boxes = self.boxes
        base = boxes[place]
        scripts = base.scripts
        if len(scripts) >= MAX_SCRIPTS and place == len(boxes) - 1:
            base = Box(PLAIN_GROUP, base.symbol, (add_row([base], self.rows),))
            scripts = ()
        boxes[place] = Box(
            base.sign,
            base.symbol,
            base.rows,
            (*scripts, script) if scripts else (script,),
            base.closer,
            base.columns,
            base.leaf,
        )

    def put_script(self, script: OneSign) -> None:
        """Add a script of one sign."""
        place = self.base_place()
        self.add_script(place, _script_row(script, self.boxes[place].sign, self.index - 1))

    def read_script(self, token: str) -> None:
        """Read ``^`` or ``_`` with a script that is not in `SCRIPTS`."""
        boxes = self.boxes
        place = len(boxes) - 1
        if place < self.start or boxes[place].sign.element == "mspace":
            place = self.base_place()
        base = boxes[place].sign
        script = Script(place, base.high if token == "^" else base.low)  # noqa: S105
        if self.tokens[self.index] == "{":
            self.index += 1
            self.braces += 1
            self.push(ARGUMENT, script)
            return
        while self.index < self.count and self.tokens[self.index] in IGNORED:
            self.index += 1
        argument = self.simple_argument()
        if argument is not None:
            self.give(script, argument)
        else:
            self.open_argument(script)

    def read_prime(self, token: str) -> None:
        """Read one or more primes as one script."""
        sign = _PRIMES.get(token) or Sign("′" * len(token), "mo", IDENTIFIER)
        place = self.base_place()
        script = Row([Box(sign, self.index - 1)], -1, self.boxes[place].sign.high)
        self.add_script(place, script)

    def is_before_script(self) -> bool:
        """Whether a script or a prime comes next."""
        return self.tokens[self.index][:1] in ("^", "_", "'")

    # -- commands and their arguments --------------------------------------------------------------

    def read_argument_command(self, token: str) -> None:
        """Read a command with arguments."""
        self.begin(Pending(COMMANDS[token], self.index - 1))

    def begin(self, pending: Pending) -> None:
        """Read the arguments that a command still needs, or make its box."""
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
            if tokens[index] == "{":
                sign = SIGNS.get(tokens[index + 1])
                if tokens[index + 2] != "}" or sign is None or sign.role == SPACE:
                    self.index = index + 1
                    self.braces += 1
                    self.push(ARGUMENT, pending)
                    return
                self.index = index + 3
                arguments.append(shared_row(sign, index + 1))
                continue
            row = self.simple_argument()
            if row is None:
                self.open_argument(pending)
                return
            arguments.append(row)
        self.make(pending)

    def simple_argument(self) -> Row | None:
        """Read an argument of one plain sign, with or without braces; return None for others."""
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
                # number is read next, and the digit gets a symbol number after those of all tokens.
                tokens[symbol] = token[1:]
                after = symbol
                symbol = self.next_symbol()
                token = token[0]
            sign = uncommon_sign(token)
            assert sign is not None
            row = Row([Box(sign, symbol)], -1)
        elif sign.role == SPACE:
            return None
        else:
            row = shared_row(sign, symbol)
        self.index = after
        return row

    def open_argument(self, waiting: Pending | Script) -> None:
        """Begin an argument of more than one plain sign."""
        if self.tokens[self.index] == "{":
            self.index += 1
            self.braces += 1
            self.push(ARGUMENT, waiting)
        elif self.index < self.count and self.tokens[self.index] not in ("}", "&"):
            self.push(ONE, waiting)
        else:
            symbol = waiting.symbol if isinstance(waiting, Pending) else None
            self.warn("an argument is missing", symbol)
            self.give(waiting, add_row([], self.rows))

    def make(self, pending: Pending) -> None:
        """Make the box of a command that has all its arguments."""
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
            boxes = row.boxes[:] if row.number < 0 else row.boxes  # a row of one may be shared
            self.font_budget -= len(boxes)
            if make == MAKE_FONT and self.font_budget > 0:
                apply_font(boxes, 0, pending.command.font)
            if len(boxes) != 1 and (self.mode == ONE or self.is_before_script()):
                self.put(Box(PLAIN_GROUP, pending.symbol, (row,)))
                return
            if row.number >= 0:
                self.rows.pop()
            if len(boxes) == 1:
                self.put(boxes[0])
            else:
                self.boxes.extend(boxes)
        else:
            self.put(make_box(pending.command, pending.symbol, pending.arguments, self.rows))

    def read_definition(self, token: str) -> None:
        """Stop at the definition of a macro, because all macros must be expanded first."""
        if self.is_expanded:
            self.read_other(token)  # a token put back by \left is not a definition
        else:
            self.has_definitions = True
            self.index = self.count

    # -- braces ------------------------------------------------------------------------------------

    def open_group(self, token: str) -> None:
        """Open a group at a ``{`` that does not begin an argument."""
        self.braces += 1
        self.push(PLAIN, None)

    def end_brace(self, token: str) -> None:
        """End the innermost group or argument at ``}``."""
        if self.mode == ARGUMENT:
            self.braces -= 1
            self.hand_over()
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
            self.hand_over()
            return
        self.apply_pending()
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

    # -- brackets ----------------------------------------------------------------------------------

    def read_opening(self, token: str) -> None:
        """Read an opening bracket, or a bar."""
        sign = BRACKETS[token]
        symbol = self.index - 1
        box = sign.atoms.get(symbol) or shared_atom(sign, symbol)
        if self.mode == ONE:
            self.put(box)
        else:
            self.opens.append(len(self.boxes))
            self.boxes.append(box)

    def read_closing(self, token: str) -> None:
        """Read a closing bracket and make a fence with its partner."""
        sign = BRACKETS[token]
        symbol = self.index - 1
        boxes = self.boxes
        opens = self.opens
        place = opens[-1] if opens else -1
        pair = FENCES.get(boxes[place].sign.text + sign.text) if opens else None
        if pair is None:
            if self.mode == SQUARE and sign.text == "]" and not opens:
                self.hand_over()
                return
            place = self.partner(sign.text)
            if place < 0:
                self.put(shared_atom(sign, symbol))
                return
            pair = FENCES[boxes[place].sign.text + sign.text]
            inner = self.cut(place + 1)
        else:
            # The usual case: the partner is the last open bracket, and no bar is open after it.
            inner = Row(boxes[place + 1 :], len(self.rows), "w" if pair.encloses else "")
            self.rows.append(inner)
            if self.has_prescripts:
                move_prescripts(inner.boxes)
        opening = boxes[place]
        del boxes[place:]
        opens.pop()
        if pair.opening == "{":
            mark_condition(inner.boxes)
        boxes.append(Box(pair, opening.symbol, (inner,), opening.scripts, symbol))
        if place < self.start:
            # Brackets may cross braces: a group that began inside the fence now begins with it.
            self.start = place

    def partner(self, closing: str) -> int:
        """Return the place of the opening bracket that a closing one belongs to, or -1."""
        boxes = self.boxes
        for place in reversed(self.opens[-_REACH:]):
            sign = boxes[place].sign
            if sign.role != BAR and sign.text + closing in FENCES:
                return place
        return -1

    def delimiter(self, text: str) -> Sign | None:
        r"""Return the sign after ``\left`` or ``\right``; None for a dot."""
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
            self.warn(f"{text} is not a bracket")
            self.index -= 1
            self.tokens[self.index] = text
        return sign

    def begin_left(self, token: str) -> None:
        r"""Read ``\left`` with its bracket."""
        symbol = self.index - 1
        self.lefts += 1
        self.push(LEFT, Delimiter(self.delimiter(token[5:]), symbol))

    def end_left(self, token: str) -> None:
        r"""Read ``\right`` with its bracket; end the innermost ``\left``."""
        symbol = self.index - 1
        sign = self.delimiter(token[6:])
        if not self.lefts:
            self.warn("\\right has no \\left")
            if sign is not None:
                self.put(shared_atom(sign, symbol))
            return
        self.unwind(LEFT)
        self.end_fence(sign, symbol)

    def end_fence(self, closing: Sign | None, closer: int) -> None:
        r"""Make a fence of the innermost ``\left`` and the line after it."""
        waiting = self.waiting
        assert isinstance(waiting, Delimiter)
        opening = waiting.sign.text if waiting.sign is not None else ""
        sign = fence_sign(opening, closing.text if closing is not None else "")
        row = self.complete("w" if sign.encloses else "")
        self.lefts -= 1
        self.pop()
        if opening == "{" and sign.closing == "}":
            mark_condition(row.boxes)
        self.put(Box(sign, waiting.symbol, (row,), (), closer))

    # -- tables ------------------------------------------------------------------------------------

    def begin_table(self, token: str) -> None:
        r"""Begin a table at ``\begin`` of any environment."""
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
        """Skip brackets with their content."""
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
        r"""Begin the stacked lines of ``\substack``."""
        if self.tokens[self.index] == "{":
            self.index += 1
            self.braces += 1
            self.push(TABLE, Grid(LINES, self.index - 2, is_braced=True))

    def read_ampersand(self, token: str) -> None:
        """Begin the next cell at ``&``; ignore it outside tables."""
        if token not in ("&", "&amp;"):
            self.warn(f"unknown entity {token}")
        elif self.tables:
            while self.mode == ONE:
                self.end_forced()
            if self.mode == TABLE:
                self.end_cell()

    def end_cell(self) -> None:
        """End a cell and begin the next one."""
        grid = self.waiting
        assert isinstance(grid, Grid)
        grid.lines[-1].append(self.complete())
        self.boxes = []
        self.opens = []
        self.start = 0
        self.infix = None
        self.switch = None

    def end_line(self, token: str) -> None:
        r"""Begin the next line of a table at ``\\``; ignore it elsewhere."""
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
        r"""End the innermost table at ``\end``."""
        if not self.tables:
            self.warn(f"{token} without its \\begin")
            return
        while not isinstance(self.waiting, Grid) or self.waiting.is_braced:
            self.end_forced()
        self.end_grid()

    def end_grid(self) -> None:
        """Make a box of the cells that were read."""
        grid = self.waiting
        assert isinstance(grid, Grid)
        if self.boxes or grid.lines[-1]:
            grid.lines[-1].append(self.complete())
        lines = [line for line in grid.lines if any(cell.boxes for cell in line)]
        self.tables -= not grid.is_braced
        self.pop()
        if grid.sign.operand == "O!lines" and len(lines) == 1 and len(lines[0]) == 1:
            # A display with one cell is that cell; its boxes move into this line.
            only = lines[0][0]
            if self.rows[-1] is only:
                self.rows.pop()
                self.boxes.extend(only.boxes)
            else:
                self.put(Box(PLAIN_GROUP, grid.symbol, (only,)))
            return
        self.put(table_box(grid.sign, grid.symbol, lines, self.rows))

    # -- other tokens ------------------------------------------------------------------------------

    def read_other(self, token: str) -> None:
        """Read a token that is in no table, or that is rare."""
        if token in IGNORED:
            return
        sign = uncommon_sign(token)
        if sign is not None:
            self.put(Box(sign, self.index - 1))
        elif token[0] == "'":
            self.read_prime(token)
        elif token[0] == "\\":
            self.read_command(token)
        elif token[0] == "&":
            self.read_ampersand(token)
        elif token[0] == "#":
            self.put(Box(Sign("#", "mi"), self.index - 1))
        elif token[0] == "|":
            self.read_opening("\\Vert")
        elif token[0] != "%" and not token.isspace():
            self.warn(f"unreadable character U+{ord(token[0]):04X}")

    def read_command(self, token: str) -> None:
        """Read a command that is neither a sign nor takes arguments in the usual way."""
        name = token[1:]
        if name == "\\" or name == "cr" or name == "tabularnewline":
            self.end_line(token)
        elif token == "\\not":  # noqa: S105
            self.read_not()
        elif token in SWITCHES:
            if self.switch is not None and self.switch[0] >= self.start:
                self.set_font(*self.switch)
            self.switch = (len(self.boxes), FONTS[token])
        elif token in _FONT_COMMANDS:
            self.begin(Pending(_FONT_COMMANDS[token], self.index - 1))
        elif is_text(token):
            self.read_text(token)
        elif name == "substack":
            self.read_substack()
        elif name.startswith("begin"):
            self.begin_table(token)
        elif name.startswith("end"):
            self.end_table(token)
        elif name.startswith("left"):
            self.begin_left(token)
        elif name.startswith("right"):
            self.end_left(token)
        elif name.startswith("middle"):
            self.put(shared_atom(self.delimiter(token[7:]) or SIGNS["\\,"], self.index - 1))
        else:
            self.warn(f"unknown command {token}")
            self.put(Box(Sign(name, "mi"), self.index - 1))

    def read_not(self) -> None:
        r"""Read ``\not`` and the sign that it negates."""
        while self.index < self.count and self.tokens[self.index] in IGNORED:
            self.index += 1
        following = self.tokens[self.index]
        negated = NEGATED.get(following)
        if negated is None:
            plain = SIGNS.get(following) or BRACKETS.get(following)
            if plain is None:
                self.put(Box(Sign("¬", "mi", operand="O!not"), self.index - 1))
                return
            meaning = "O!not-" + plain.operator.partition("!")[2]
            negated = Sign(plain.text + "\u0338", plain.element, plain.role, operand=meaning)
        self.index += 1
        self.put(Box(negated, self.index - 1))

    def read_text(self, token: str) -> None:
        """Read text with formulas or commands inside, as a group of texts and boxes."""
        parts: list[Box] = []
        for number, part in enumerate(token.partition("{")[2][:-1].split("$")):
            if number % 2 == 0:
                words = plain_text(part)
                if words:
                    parts.append(Box(text_sign(words), self.next_symbol()))
                continue
            for name in TOKEN.findall(part):
                sign = SIGNS.get(name) or BRACKETS.get(name) or uncommon_sign(name)
                if sign is not None:
                    parts.append(Box(sign, self.next_symbol()))
        self.put(Box(_TEXT_GROUP, self.index - 1, (add_row(parts, self.rows),)))


_Action = Callable[[_Reader, str], None]
#: The actions for tokens that give a formula its structure.
_ACTIONS: Final[dict[str, _Action]] = {
    "{": _Reader.open_group,
    "}": _Reader.end_brace,
    "^": _Reader.read_script,
    "_": _Reader.read_script,
    **{
        name: _Reader.read_closing if sign.role == CLOSING else _Reader.read_opening
        for name, sign in BRACKETS.items()
    },
    **dict.fromkeys(COMMANDS, _Reader.read_argument_command),
    **dict.fromkeys(INFIX, _Reader.read_infix),
    **dict.fromkeys(DEFINING, _Reader.read_definition),
    **{
        command + delimiter: action
        for command, action in (("\\left", _Reader.begin_left), ("\\right", _Reader.end_left))
        for delimiter in (*BRACKETS, ".", "<", ">", "/")
    },
    **{"\\begin{" + name + "}": _Reader.begin_table for name in ENVIRONMENTS},
    **{"\\end{" + name + "}": _Reader.end_table for name in ENVIRONMENTS},
    "&": _Reader.read_ampersand,
    "\\\\": _Reader.end_line,
    "'": _Reader.read_prime,
    "''": _Reader.read_prime,
}
