"""LaTeX to rows of boxes; any text gives rows, whatever is wrong with it.

One regular expression cuts the text into tokens. One loop reads them, with a stack of what is
open, so that depth costs nothing but memory. Rows are listed in the order in which they end:
a row comes after all rows inside it, and the trees are built in that order without recursion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from mathsetu.formulas.latex.boxes import CLOSING, GROUP, IDENTIFIER, TEXT, Box, Row, Sign
from mathsetu.formulas.latex.commands import (
    COMMANDS,
    ENVIRONMENTS,
    IGNORED,
    INFIX,
    MAKE_FONT,
    Command,
)
from mathsetu.formulas.latex.fonts import FONTS, SWITCHES
from mathsetu.formulas.latex.frames import ARGUMENT, ONE, PLAIN, Pending, Script
from mathsetu.formulas.latex.lexer import TOKEN
from mathsetu.formulas.latex.macros import DEFINING, expand
from mathsetu.formulas.latex.structures import Structures
from mathsetu.formulas.latex.symbols import BRACKETS, NEGATED, SIGNS
from mathsetu.formulas.latex.tokens import (
    SCRIPTS,
    is_composed,
    is_text,
    other_sign,
    plain_text,
    spell_out,
    text_sign,
)
from mathsetu.limits import LONGEST_FORMULA


class ParseWarning(NamedTuple):
    """Something in a formula that had to be guessed at."""

    position: int
    message: str


#: What the parser makes: the whole row, every row in the order of ending, and warnings.
Layout = tuple[Row, list[Row], tuple[ParseWarning, ...]]

_PRIMES: Final = {"'" * count: Sign("′" * count, "mo", IDENTIFIER) for count in range(1, 8)}
_FONT_COMMANDS: Final = {name: Command(MAKE_FONT, 1, font=font) for name, font in FONTS.items()}
_TEXT_GROUP: Final = Sign("", "mrow", TEXT, kind=GROUP, layout="W!", operand="W!")


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
    reader = _Reader(tokens)
    row = reader.read()
    if reader.has_definitions:
        # Most formulas have none, and are read once; the others without their definitions again.
        tokens, places, cut = expand(tokens)
        reader = _Reader(tokens)
        reader.is_expanded = True
        if cut is not None:
            # Said of a token that was there before expansion: it goes after all that are there now.
            reader.warn("macros expand to too much: the rest is left out", len(tokens))
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


class _Reader(Structures):
    """Reads tokens into rows. Each token's number is the number of the symbol it becomes."""

    def read(self) -> Row:
        """Read everything."""
        tokens = self.tokens
        count = self.count
        rows = self.rows
        signs = SIGNS
        scripts = SCRIPTS
        actions = _ACTIONS
        boxes = self.boxes
        start = 0
        index = 0
        while True:
            token = tokens[index]
            sign = signs.get(token)
            if sign is not None:
                boxes.append(Box(sign, index))
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
                is_high, sign = script
                inner = Row([Box(sign, index)])
                rows.append(inner)
                edge = base.sign.high if is_high else base.sign.low
                if base.scripts:
                    self.add_script(base, edge, inner)
                else:
                    inner.edge = edge
                    base.scripts = (inner,)
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
            self.put(Box(sign, self.index - 1))
        elif (script := SCRIPTS.get(token)) is not None:
            self.put_script(script)
        else:
            self.read_other(token)

    def open_group(self, token: str) -> None:
        """``{`` that begins no argument."""
        self.braces += 1
        self.push(PLAIN, None)

    def read_argument_command(self, token: str) -> None:
        """A command that takes arguments."""
        self.begin(Pending(COMMANDS[token], self.index - 1))

    def read_definition(self, token: str) -> None:
        """A macro is defined: all are to be expanded first, so that nothing more is read now."""
        if self.is_expanded:
            self.read_other(token)  # what \left has left over is no definition
        else:
            self.has_definitions = True
            self.index = self.count

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
            self.put(Box(self.delimiter(token[7:]) or SIGNS["\\,"], self.index - 1))
        else:
            self.warn(f"unknown command {token}")
            self.put(Box(Sign(name, "mi"), self.index - 1))

    # -- scripts -----------------------------------------------------------------------------

    def put_script(self, script: tuple[bool, Sign]) -> None:
        """A script of one sign."""
        is_high, sign = script
        base = self.base()
        inner = Row([Box(sign, self.index - 1)])
        self.rows.append(inner)
        self.add_script(base, base.sign.high if is_high else base.sign.low, inner)

    def read_script(self, token: str) -> None:
        """``^`` or ``_`` and what is too much for the short way."""
        boxes = self.boxes
        base = boxes[-1] if len(boxes) > self.start else self.base()
        if base.sign.element == "mspace":
            base = self.base()
        script = Script(base, base.sign.high if token == "^" else base.sign.low)  # noqa: S105
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
        base = self.base()
        sign = _PRIMES.get(token) or Sign("′" * len(token), "mo", IDENTIFIER)
        row = Row([Box(sign, self.index - 1)])
        self.rows.append(row)
        self.add_script(base, base.sign.high, row)

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

    # -- text --------------------------------------------------------------------------------

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
        row = Row(parts)
        self.rows.append(row)
        self.put(Box(_TEXT_GROUP, self.index - 1, (row,)))


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
