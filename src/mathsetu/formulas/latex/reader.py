r"""LaTeX to rows of boxes; any text gives rows, whatever is wrong with it.

One regular expression cuts the text into tokens. One loop reads them, with a stack of what is
open, so that depth costs nothing but memory. Rows are listed in the order in which they end:
a row comes after all rows inside it, and the trees are built in that order without recursion.

From top to bottom: the way from text to rows and warnings, then the reader: its loop, the stack,
rows, fonts, scripts, commands with arguments, braces, brackets, tables, other tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from mathsetu.formulas.latex.box_builders import (
    MOST_SCRIPTS,
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
    Script,
    Switch,
    Waiting,
)
from mathsetu.formulas.latex.lexer import TOKEN
from mathsetu.formulas.latex.macros import DEFINING, expand
from mathsetu.formulas.latex.symbols import BRACKETS, NEGATED, SIGNS
from mathsetu.formulas.latex.tokens import (
    SCRIPTS,
    OneSign,
    is_composed,
    is_text,
    other_sign,
    plain_text,
    spell_out,
    text_sign,
)
from mathsetu.limits import LONGEST_FORMULA

# Nothing follows the last token, four times: the reader looks ahead.
_END: Final = ["", "", "", ""]
# More problems than this in one formula are no longer told one by one.
_MOST_PROBLEMS: Final = 20
# How many open brackets are passed over in search of the partner of a closing one.
_REACH: Final = 50
_PRIMES: Final = {"'" * count: Sign("′" * count, "mo", IDENTIFIER) for count in range(1, 8)}
_FONT_COMMANDS: Final = {name: Command(MAKE_FONT, 1, font=font) for name, font in FONTS.items()}
_TEXT_GROUP: Final = Sign("", "mrow", TEXT, kind=GROUP, layout="W!", operand="W!")


class ParseWarning(NamedTuple):
    """Something in a formula that had to be guessed at."""

    position: int
    message: str


#: What the parser makes: the whole row, every row in the order of ending, and warnings.
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
        return row, [row], ()  # many formulas are a few plain signs
    reader = _Reader(tokens, boxes)
    row = reader.read()
    if reader.has_definitions:
        # Most formulas have none, and are read once; the others without their definitions again.
        tokens, places, cut = expand(tokens)
        reader = _Reader(tokens, [])
        reader.is_expanded = True
        if cut is not None:
            # Said of a token that was there before expansion: it goes after all that are there now.
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
    """Problems at tokens as warnings at characters."""
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
    """The row of a script of one sign, which stands where its base wants it."""
    is_high, sign, beside, over = script
    edge = base.high if is_high else base.low
    return shared_script(sign, symbol, edge, over if base.stand_over else beside)


class _Reader:
    """Reads tokens into rows. Each token's number is the number of the symbol it becomes.

    The line may already have the boxes of the first tokens.
    """

    lefts = 0  # how many of them stand open
    tables = 0
    splits = 0  # how many symbols have no token of their own
    is_ending = False
    has_definitions = False  # whether a macro is defined somewhere,
    is_expanded = False  # and whether all of them have been put in
    font_budget = 5_000  # how many boxes may still be set in a font

    def __init__(self, tokens: list[str], boxes: list[Box]) -> None:
        self.count = len(tokens)
        self.tokens = tokens + _END
        self.index = len(boxes)
        self.problems: list[tuple[int, str]] = []
        self.rows: list[Row] = []
        self.stack: list[Frame] = []
        self.boxes = boxes  # the line being written
        self.opens: list[int] = []  # where in the line brackets and bars stand open
        self.start = 0  # where in the line the innermost open group begins
        self.braces = 0  # how many of them stand open
        self.has_prescripts = False  # whether scripts stand on an empty group somewhere
        self.mode = TOP
        self.waiting: Waiting = None
        self.infix: Infix | None = None
        self.switch: Switch | None = None

    def read(self) -> Row:
        """Read everything."""
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
                break  # what follows the last token is no sign
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
        self.index = count + 1  # what is missing is missing at the end
        while self.stack:
            self.end_forced()
        return self.complete()

    def read_next(self) -> None:
        """The next token, whatever it is."""
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
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append((self.index - 1 if symbol is None else symbol, message))

    def next_symbol(self) -> int:
        """A number for a symbol that shares its token with others."""
        self.splits += 1
        return self.count + self.splits - 1

    # -- the stack of what stands open -------------------------------------------------------------

    def push(self, mode: int, waiting: Waiting) -> None:
        """Open something; a plain group goes on writing in the same line."""
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
        """Go back to what is around; the caller has taken what was inside."""
        (self.boxes, self.opens, self.start, self.mode, self.waiting, self.infix, self.switch) = (
            self.stack.pop()
        )

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
                waiting.arguments.append(add_row([], self.rows))
            self.make(waiting)
        else:
            self.give(waiting, row)

    # -- rows --------------------------------------------------------------------------------------

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
            self.hand_over()
        self.is_ending = False

    def hand_over(self) -> None:
        """The line is complete: go back to what is around, and give it to what waits for it."""
        waiting = self.waiting
        row = self.complete(waiting.edge if isinstance(waiting, Script) else "")
        self.pop()
        self.give(waiting, row)

    def give(self, waiting: Waiting, row: Row) -> None:
        """Hand a complete row to the script or command that waits for it."""
        if isinstance(waiting, Script):
            if row.boxes:  # an empty script is none
                self.add_script(waiting.place, row if row.edge else row.at(waiting.edge))
        elif isinstance(waiting, Pending):
            waiting.arguments.append(row)
            self.begin(waiting)

    def complete(self, edge: str = "") -> Row:
        """The line being written, complete."""
        if self.infix is not None or self.switch is not None:
            self.settle()
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
                fold_bars(inner, bars, self.rows, self.next_symbol)
        return add_row(inner, self.rows)

    # -- fonts and infix commands: they hold for the rest of their group ---------------------------

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

    # -- scripts -----------------------------------------------------------------------------------

    def base_place(self) -> int:
        """The place of the box that a script belongs to: the last one that shows."""
        boxes = self.boxes
        place = len(boxes) - 1
        while place >= self.start and boxes[place].sign.role in (SPACE, WIDE_SPACE):
            place -= 1
        if place >= self.start:
            return place
        boxes.append(Box(EMPTY, self.index - 1))
        return len(boxes) - 1

    def add_script(self, place: int, script: Row) -> None:
        """Give a box one more script; a box that has too many goes into a group first."""
        boxes = self.boxes
        base = boxes[place]
        scripts = base.scripts
        if len(scripts) >= MOST_SCRIPTS and place == len(boxes) - 1:
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
        """A script of one sign."""
        place = self.base_place()
        self.add_script(place, _script_row(script, self.boxes[place].sign, self.index - 1))

    def read_script(self, token: str) -> None:
        """``^`` or ``_`` and what is too much for the short way."""
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
        """One or more primes: a script of their own."""
        sign = _PRIMES.get(token) or Sign("′" * len(token), "mo", IDENTIFIER)
        place = self.base_place()
        script = Row([Box(sign, self.index - 1)], -1, self.boxes[place].sign.high)
        self.add_script(place, script)

    def is_before_script(self) -> bool:
        """Whether a script or a prime comes next."""
        return self.tokens[self.index][:1] in ("^", "_", "'")

    # -- commands and their arguments --------------------------------------------------------------

    def read_argument_command(self, token: str) -> None:
        """A command that takes arguments."""
        self.begin(Pending(COMMANDS[token], self.index - 1))

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
            row = Row([Box(sign, symbol)], -1)
        elif sign.role == SPACE:
            return None
        else:
            row = shared_row(sign, symbol)
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
            self.give(waiting, add_row([], self.rows))

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
        """A macro is defined: all are to be expanded first, so that nothing more is read now."""
        if self.is_expanded:
            self.read_other(token)  # what \left has left over is no definition
        else:
            self.has_definitions = True
            self.index = self.count

    # -- braces ------------------------------------------------------------------------------------

    def open_group(self, token: str) -> None:
        """``{`` that begins no argument."""
        self.braces += 1
        self.push(PLAIN, None)

    def end_brace(self, token: str) -> None:
        """``}``: the innermost group or argument ends."""
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

    # -- brackets ----------------------------------------------------------------------------------

    def read_opening(self, token: str) -> None:
        """An opening bracket, or a bar."""
        sign = BRACKETS[token]
        symbol = self.index - 1
        box = sign.atoms.get(symbol) or shared_atom(sign, symbol)
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
                self.hand_over()
                return
            place = self.partner(sign.text)
            if place < 0:
                self.put(shared_atom(sign, symbol))
                return
            pair = FENCES[boxes[place].sign.text + sign.text]
            inner = self.cut(place + 1)
        else:
            # The usual case: the partner is the last that was opened, and no bar is open.
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
        """The place of the opening bracket that a closing one belongs to, or -1."""
        boxes = self.boxes
        for place in reversed(self.opens[-_REACH:]):
            sign = boxes[place].sign
            if sign.role != BAR and sign.text + closing in FENCES:
                return place
        return -1

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
            self.warn(f"{text} is not a bracket")
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
                self.put(shared_atom(sign, symbol))
            return
        self.unwind(LEFT)
        self.end_fence(sign, symbol)

    def end_fence(self, closing: Sign | None, closer: int) -> None:
        r"""``\right``: what began with the innermost ``\left`` becomes a fence."""
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
        self.put(table_box(grid.sign, grid.symbol, lines, self.rows))

    # -- other tokens ------------------------------------------------------------------------------

    def read_other(self, token: str) -> None:
        """A token that no table lists, or one that is not frequent."""
        if token in IGNORED:
            return
        sign = other_sign(token)
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
        """A command that is neither a sign nor takes arguments in the usual way."""
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
        r"""``\not`` and the sign that it crosses out."""
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
        """Text with formulas or commands inside, as a group of texts and boxes."""
        parts: list[Box] = []
        for number, part in enumerate(token.partition("{")[2][:-1].split("$")):
            if number % 2 == 0:
                words = plain_text(part)
                if words:
                    parts.append(Box(text_sign(words), self.next_symbol()))
                continue
            for name in TOKEN.findall(part):
                sign = SIGNS.get(name) or BRACKETS.get(name) or other_sign(name)
                if sign is not None:
                    parts.append(Box(sign, self.next_symbol()))
        self.put(Box(_TEXT_GROUP, self.index - 1, (add_row(parts, self.rows),)))


_Action = Callable[[_Reader, str], None]
#: What to do at the tokens that give a formula its structure.
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
