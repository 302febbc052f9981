r"""Reads operands: numbers, functions, big operators, groups, commands and their scripts.

Letters and short words, which may also be prose, are classified in `mathsetu.intake.typed.words`.
Each method reads from a given token. It returns the position after the tokens read, negated if an
operand must still follow, or None if there is no operand.
"""

from __future__ import annotations

import re
from typing import Final

from mathsetu.formulas.latex import boxes
from mathsetu.formulas.latex.commands import COMMANDS
from mathsetu.formulas.latex.fonts import FONTS
from mathsetu.formulas.latex.lexer import TEXT_NAMES
from mathsetu.intake.typed.lexer import role
from mathsetu.intake.typed.names import (
    BEFORE_NUMBERS,
    FENCED,
    GREEK,
    INFIX_WORDS,
    LETTER_WORDS,
)
from mathsetu.intake.typed.row import MAX_INSIDE, Row, end_of_exponent, joins, short_words
from mathsetu.intake.typed.token_kinds import (
    ARROWS,
    ATOMS,
    BARS,
    HYPHENS,
    OPERATORS,
    PROSE,
    SIGNS_BEFORE,
    Kind,
)
from mathsetu.intake.typed.words import Words

_NEEDING: Final = frozenset(
    {boxes.FUNCTION, boxes.TRIGONOMETRIC, boxes.BIG, boxes.INTEGRAL, boxes.PREFIX, boxes.NEGATION,
     boxes.MULTIPLICATION, boxes.ADDITION, boxes.RELATION, boxes.META, boxes.OPENING}
)  # fmt: skip
# Roles whose operand follows their scripts.
_READING_ON: Final = frozenset({boxes.FUNCTION, boxes.TRIGONOMETRIC, boxes.BIG, boxes.INTEGRAL})
#: The differential of an integral, such as dx, but not words such as "de" and "do".
DIFFERENTIAL: Final = re.compile(r"d(?!e$|o$|a$|i$)[a-zA-Z]")
# After these, "sum" is a word: the sum 1/a + 1/b.
_ARTICLES: Final = frozenset({"the", "a", "this", "that", "their"})
_SCRIPTS: Final = frozenset({Kind.SCRIPT, Kind.SUP, Kind.SUB})
_NAMES: Final = frozenset({Kind.FUNCTION, Kind.BIG})
_IN_LISTS: Final = frozenset(
    {Kind.COMMA, Kind.DOTS, Kind.INFIX, Kind.SCRIPT, Kind.SUB, Kind.OPENING, Kind.CLOSING}
)


class Operands(Words):
    """Reads operands, and counts the evidence for a formula."""

    def __init__(self, row: Row, first: int) -> None:
        self.row = row
        self.tokens = row.tokens
        self.first = first
        self.place = first
        #: The position where reading stopped, and whether a letter that is a word ended it.
        self.stopped = first
        self.ended_by_word = False
        self.forced = False
        self.strong = 0
        self.relations = 0
        self.operators = 0
        self.letters = 0
        self.has_integral = False
        self.has_environment = False
        #: A position where a formula may end although an operand may follow, as in ∫₀^∞; else 0.
        self.optional_end = 0

    def _operand(self) -> int | None:
        row, place = self.row, self.place
        token = self.tokens[place]
        kind = token.kind
        if self.has_environment and kind is Kind.RELATION:
            return -(place + 1)
        is_first = place == self.first or (self.forced and place == self.first + 1)
        if kind is Kind.INFIX and token.text in SIGNS_BEFORE:
            before = row.at(place - 1)
            glued = is_first and not token.gap and before is not None and before.kind in PROSE
            alone = is_first and not row.is_tight(place + 1)
            return None if glued or alone or row.at(place + 1) is None else -(place + 1)
        if kind is Kind.PREFIX:
            self.strong += 1
            after = place + 1
            while row.is_tight(after, Kind.SUP):
                after += 1
            if row.is_tight(after, Kind.SCRIPT):
                after = self._script_argument(after) or after
            return -after if self._begins_operand(after) else after
        if kind is Kind.NUMBER:
            return self._number(place)
        if token.text == "~" and self.strong:
            return -(place + 1)  # a space in LaTeX
        if kind is Kind.SUP and row.is_tight(place + 1, Kind.ROOT):
            return -(place + 1)  # ³√8
        if kind is Kind.WILD:
            self.strong += 1
            return place + 1
        if kind is Kind.LETTER:
            self.letters += 1
            return self._letter(place, is_first)
        if kind is Kind.SYMBOL:
            self.letters += 1
            self.strong += 1
            return place + 1
        if kind is Kind.DOTS:
            return place + 1 if not is_first or row.is_tight(place + 1, Kind.INFIX) else None
        if kind is Kind.NAME:
            return self._name(place, is_first)
        if kind is Kind.FUNCTION:
            return self._function(place, is_first)
        if kind is Kind.ROOT:
            return self._root(place)
        if kind is Kind.BIG:
            return self._big(place, is_first)
        if kind is Kind.COMMAND:
            return self._command(place, is_first)
        if kind is Kind.OPENING:
            return self._group(place, is_first)
        if kind is Kind.BAR:
            # The bar is not closed: continue inside.
            is_opening = row.is_tight(place + 1) and not row.is_tight(place + 1, *PROSE)
            return -(place + 1) if is_opening else None
        if kind is Kind.SHORT:
            return self._short(place, is_first)
        return None

    def _number(self, place: int) -> int:
        # 3,14 is one number; inside brackets it would be a list.
        if "." in self.tokens[place].text and self.row.is_tight(place + 1, Kind.DOTS):
            self.strong += 1  # 0.999...
            return place + 2
        if self.row.is_tight(place + 1, Kind.COMMA) and self.row.is_tight(place + 2, Kind.NUMBER):
            return place + 3
        return place + 1

    def _function(self, place: int, is_first: bool) -> int | None:
        """Read a function with its scripts and its argument; a name alone is a word."""
        row = self.row
        name = self.tokens[place].text
        if len(name) > 3 and name.endswith("x") and name not in ("max",):  # sinx
            self.strong += 1
            self.letters += 1
            return place + 1
        if name == "inf" and not is_first and self.tokens[place - 1].text in ARROWS | {"-", "="}:
            return place + 1
        after = place + 1
        while row.is_tight(after, Kind.SCRIPT, Kind.SUP, Kind.SUB):
            self.strong += 1
            if self.tokens[after].kind is not Kind.SCRIPT:
                after += 1
                continue
            argument = self._script_argument(after)
            if argument is None:
                return None
            after = argument
        if name == "log" and row.is_tight(after, Kind.NUMBER):
            after += row.is_tight(after + 1, Kind.OPENING)  # log2(8)
        argument_token = row.at(after)
        if argument_token is None and after == place + 1:
            return None if is_first or self._is_word_at_end(place) else after
        if argument_token is None:
            return after
        if argument_token.kind is Kind.OPENING and argument_token.text in BARS:
            if name in FENCED:
                return None  # norm ||x||: the bars already denote the norm, so the name is a word
            self.letters += 1
            return self._group(after, is_first)
        if argument_token.kind is Kind.OPENING and row.has_no_prose(after, called=True):
            is_remark = argument_token.gap and not (
                row.has_operators(after) or self._is_matrix(after)
            )
            if is_remark and is_first:
                return None
            self.strong += 1
            self.letters += 1
            return argument_token.mate + 1
        if self._is_argument(after, name):
            self.strong += 1
            self.letters += 1
            return -after
        if after > place + 1 and not is_first:
            return after
        joined = argument_token.kind in (Kind.INFIX, Kind.RELATION) and not is_first
        return after if joined and name not in FENCED else None

    def _is_matrix(self, opening: int) -> bool:
        """Whether square brackets contain rows: ``[[1, 2], [3, 4]]``, ``[1 2; 3 4]``."""
        inside = self.tokens[opening + 1 : min(self.tokens[opening].mate, opening + MAX_INSIDE)]
        if self.tokens[opening].text != "[" or not inside:
            return False
        return inside[0].text == "[" or any(token.text == ";" for token in inside)

    def _is_word_at_end(self, place: int) -> bool:
        """Whether a function at the end is a word: ``L^2 norm``, but not ``f = sin``."""
        is_joined = self.tokens[place - 1].kind in (Kind.INFIX, Kind.RELATION)
        return self.tokens[place].text in FENCED or not is_joined

    def _is_argument(self, place: int, name: str) -> bool:
        """Whether an argument without brackets begins here."""
        token, following = self.tokens[place], self.row.at(place + 1)
        if token.kind in (Kind.SYMBOL, Kind.ROOT, Kind.WILD):
            return True
        if token.kind is Kind.BAR:
            return name not in FENCED
        if token.kind is Kind.NAME:
            return token.text in GREEK
        if token.kind is Kind.COMMAND:
            return token.strong
        if token.kind is Kind.NUMBER:
            tight = following is not None and not following.gap and following.kind in ATOMS
            return name in BEFORE_NUMBERS or tight
        if token.kind is Kind.LETTER:
            if token.text not in LETTER_WORDS:
                return True
            if following is None or following.kind not in PROSE:
                return not self._is_between_names(place)
            is_integrated = DIFFERENTIAL.fullmatch(following.text) is not None  # sin y dy
            return is_integrated and following.text[1:] == token.text
        if token.kind is Kind.FUNCTION:
            return self.row.is_tight(place + 1, Kind.OPENING, Kind.SCRIPT) or (
                following is not None and following.kind in ATOMS
            )
        if token.kind is Kind.SHORT:
            return token.text not in short_words() and (not token.gap or len(token.text) < 3)
        return False

    def _is_between_names(self, place: int) -> bool:
        """Whether a letter is a conjunction between names: ``sen y cos``, but not ``sin y cos x``.

        No argument follows the last name. There may be more than two names, ``sen y cos y tan``,
        and a name may have two words, ``lim sup y lim inf``.
        """
        row, end = self.row, self._after_names(place + 1)
        is_begun = self.operators + self.relations > 0
        if is_begun or end == place + 1:
            return False
        while (token := row.at(end)) is not None and token.gap and token.text in LETTER_WORDS:
            after = self._after_names(end + 1)
            if after == end + 1:
                break
            if after > place + MAX_INSIDE:
                return False
            end = after
        if token is None:
            return True
        if token.kind is Kind.OPENING:
            return not row.has_no_prose(end, called=True)
        is_joined = token.kind in OPERATORS or joins(token)
        return not is_joined and not self._is_argument(end, self.tokens[end - 1].text)

    def _after_names(self, place: int) -> int:
        """Return the position after the names of functions here, each preceded by a space."""
        while (token := self.row.at(place)) is not None and token.gap and token.kind in _NAMES:
            place += 1
        return place

    def _root(self, place: int) -> int | None:
        following = self.row.at(place + 1)
        if following is None:
            return None
        if following.kind is Kind.SHORT and not following.gap:
            self.strong += 1
            return place + 2  # √ab
        if following.kind in PROSE or following.kind in (Kind.OTHER, Kind.COMMA, Kind.CLOSING):
            return None
        if following.kind is Kind.OPENING and not self.row.has_no_prose(place + 1, called=True):
            return None if following.mate > 0 else -(place + 1)
        self.strong += 1
        return -(place + 1)

    def _big(self, place: int, is_first: bool) -> int | None:
        """Read a sum, an integral or a limit; a name needs scripts or an operand."""
        row, token = self.row, self.tokens[place]
        after, scripted = place + 1, False
        while row.is_tight(after, Kind.SCRIPT, Kind.SUP, Kind.SUB):
            scripted = True
            if self.tokens[after].kind is not Kind.SCRIPT:
                after += 1
                continue
            argument = self._script_argument(after)
            if argument is None:
                return None
            after = argument
        following = row.at(after)
        is_integral = token.text in ("int", "integral") or role(token.text) == boxes.INTEGRAL
        if token.strong or scripted:
            self.strong += 1
            self.has_integral = self.has_integral or is_integral
            self.optional_end = after
            return -after if self._begins_operand(after) else after
        if following is None:
            return None
        if row.is_tight(after, Kind.OPENING) and token.text != "integral":
            return -after if row.has_no_prose(after, called=True) else None
        if token.text in ("integral", "product"):
            return None
        before = row.at(place - 1)
        if token.text in ("sum", "prod"):
            second = row.at(after + 1)
            is_index = second is not None and second.text == "="  # sum i=1 to n
            in_prose = before is not None and before.kind in PROSE
            if is_index or (in_prose and not self._is_summed(place, after)):
                return None
        was_integral, self.has_integral = self.has_integral, self.has_integral or is_integral
        is_side = before is not None and before.kind is Kind.RELATION and not is_first
        is_term = is_side and following.kind is Kind.SHORT  # = sum nCk x^k
        if (following.kind in PROSE and not is_term) or not self._begins_operand(after):
            self.has_integral = was_integral
            return None
        return -after

    def _is_summed(self, place: int, after: int) -> bool:
        """Whether a term follows ``sum``: *of sum 1/n^2*, *sum a r^n*, not *the sum 1/2*."""
        row = self.row
        if self.tokens[place - 1].text in _ARTICLES:
            return False
        factors = (row.at(after), row.at(after + 1))
        letters = [one is not None and one.kind is Kind.LETTER for one in factors]
        if letters[0] and row.is_tight(after + sum(letters), *_SCRIPTS):
            return True
        one, slash, below = (row.at(after + step) for step in range(3))
        return (
            one is not None
            and one.kind is Kind.NUMBER
            and slash is not None
            and slash.text == "/"
            and below is not None
            and below.kind is Kind.LETTER
        )

    def _begins_operand(self, place: int) -> bool:
        token = self.row.at(place)
        if token is None:
            return False
        if token.kind is Kind.LETTER:
            following = self.row.at(place + 1)
            if following is None or following.kind not in PROSE or token.text not in LETTER_WORDS:
                return True
            return self.has_integral and DIFFERENTIAL.fullmatch(following.text) is not None
        if token.kind is Kind.SHORT:
            return token.text not in short_words()
        return token.kind in ATOMS or token.kind in (
            Kind.FUNCTION, Kind.ROOT, Kind.BIG, Kind.COMMAND, Kind.OPENING, Kind.PREFIX, Kind.BAR,
        )  # fmt: skip

    def _command(self, place: int, is_first: bool) -> int | None:
        r"""Read a LaTeX command with its arguments."""
        row, token = self.row, self.tokens[place]
        name = token.text[1:]
        is_text = name in TEXT_NAMES and name not in ("operatorname", "mathrm")
        if is_first and is_text and row.is_tight(place + 1, Kind.OPENING):
            self.place = max(self.tokens[place + 1].mate, place) + 1
        if is_first and (is_text or not name or not name[0].isalpha()):
            return None
        known = token.strong
        self.strong += known
        if token.mate > place:
            return token.mate + 1  # a whole environment
        after = place + 1
        arguments = 0
        takes = token.text in COMMANDS or token.text in FONTS or name in TEXT_NAMES or not known
        while takes or name in ("begin", "end"):
            argument = row.at(after)
            if argument is None or argument.text not in ("{", "[") or argument.mate < after:
                break
            if argument.text == "[" and arguments:
                break
            after = argument.mate + 1
            arguments += 1
            if name in ("begin", "end"):
                self.has_environment = True
                return -after if name == "begin" else after
        self.strong += arguments and not known
        wants = COMMANDS[token.text].arguments if token.text in COMMANDS else 0
        if wants == 2 and not arguments and self._are_arguments(after):
            return after + 2  # \frac 1 2
        if role(token.text) in _NEEDING or (wants and not arguments):
            self.relations += role(token.text) in (boxes.RELATION, boxes.META)
            self.has_integral = self.has_integral or role(token.text) == boxes.INTEGRAL
            following = row.at(after)
            if following is not None and following.kind in (Kind.SCRIPT, Kind.SUP, Kind.SUB):
                return self._scripted_command(after) if role(token.text) in _READING_ON else after
            return -after if self._begins_operand(after) or not is_first else after
        return after

    def _are_arguments(self, place: int) -> bool:
        """Whether two arguments without braces, each after a space, begin here."""
        pair = (self.row.at(place), self.row.at(place + 1))
        return all(one is not None and one.gap == 1 and one.kind in ATOMS for one in pair)

    def _scripted_command(self, place: int) -> int:
        r"""Read the scripts of a sum, an integral or a function; an operand may follow."""
        after = place
        while (token := self.row.at(after)) is not None and token.kind in _SCRIPTS:
            argument = self._script_argument(after) if token.kind is Kind.SCRIPT else after + 1
            if argument is None:
                break
            self.strong += 1
            after = argument
        self.optional_end = after
        return -after if self._begins_operand(after) else after

    def _group(self, place: int, is_first: bool) -> int | None:
        row, token = self.row, self.tokens[place]
        if token.text in BARS:
            self.strong += 1
            return token.mate + 1
        if token.mate < 0:
            # The bracket is not closed: continue inside.
            return -(place + 1) if row.is_tight(place + 1) or not is_first else None
        if token.text.startswith("\\left") or token.text == "{":
            if token.strong or row.has_no_prose(place):
                self._count_inside(place)
                return token.mate + 1
            return None
        if not row.has_no_prose(place):
            return None
        self._count_inside(place)
        return token.mate + 1

    def _count_inside(self, place: int) -> None:
        """Count the evidence inside brackets."""
        mate = self.tokens[place].mate
        if self.tokens[place].strong or mate - place > MAX_INSIDE:
            self.strong += 1
            return
        inside = self.tokens[place + 1 : mate]
        kinds = [token.kind for token in inside]
        self.strong += sum(
            token.strong or token.kind in (Kind.SCRIPT, Kind.FUNCTION, Kind.ROOT)
            for token in inside
        )
        self.letters += sum(
            kind in (Kind.LETTER, Kind.SYMBOL, Kind.WILD, Kind.SHORT, Kind.NAME) for kind in kinds
        )
        joints = [
            number
            for number, kind in enumerate(kinds)
            if kind in (Kind.INFIX, Kind.RELATION) and 0 < number < len(kinds) - 1
        ]
        ranges = all(inside[number].text in HYPHENS for number in joints)
        numbers = all(kind in (Kind.NUMBER, Kind.INFIX) for kind in kinds)
        if joints and not (ranges and numbers) and Kind.OTHER not in kinds:
            self.operators += 1
        self.relations += any(kind is Kind.RELATION for kind in kinds)
        self.strong += any(token.text in INFIX_WORDS for token in inside[1:-1])
        # (0,1), [a,b], {1,2,3}: a list of simple operands in brackets.
        simple = all(kind in ATOMS or kind in _IN_LISTS for kind in kinds)
        if Kind.COMMA in kinds and simple and kinds[-1] is not Kind.COMMA:
            self.strong += kinds[0] is not Kind.COMMA

    def _script_argument(self, place: int) -> int | None:
        """Return the position after the script whose mark is here, or None."""
        row = self.row
        if end := end_of_exponent(self.tokens, place):
            return end
        after = place + 1
        token = row.at(after)
        if token is not None and token.kind is Kind.INFIX and token.text in SIGNS_BEFORE:
            signed = row.at(after + 1)
            if (
                signed is not None
                and not signed.gap
                and (
                    signed.kind in ATOMS or signed.kind in (Kind.OPENING, Kind.COMMAND, Kind.SHORT)
                )
            ):
                after += 1
                token = signed
            else:
                return after + 1 if not token.gap else None
        if token is None:
            return None
        if token.gap == 2:
            return None
        if token.kind is Kind.OPENING:
            return token.mate + 1 if token.mate > after else after + 1
        if token.kind is Kind.COMMAND:
            inner = after + 1
            argument = row.at(inner)
            while argument is not None and argument.text == "{" and argument.mate > inner:
                inner = argument.mate + 1
                argument = row.at(inner)
            return inner
        if token.kind in ATOMS:
            return after + 1
        if token.kind in (Kind.SHORT, Kind.WORD, Kind.FUNCTION, Kind.BIG, Kind.CONNECTIVE):
            is_one_name = not token.gap and not row.is_tight(after + 1, Kind.SCRIPT)
            return after + 1 if is_one_name else None
        if token.text in ("'", "′", "∘", "⊥", "°") and not token.gap:
            return after + 1
        return None
