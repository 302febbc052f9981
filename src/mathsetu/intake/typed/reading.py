r"""Finds the formulas among the tokens of a typed query, in linear time.

A formula is read from left to right as alternating operands and operators; a word ends it. Then
the evidence is checked, because ``x-y``, ``a/b`` and ``n!`` may be formulas, but ``x-axis``,
``A/B`` and ``Help!`` are not. Isolated letters and numbers are words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mathsetu.formulas.latex import boxes
from mathsetu.intake.typed.evidence import is_formula
from mathsetu.intake.typed.lexer import SHORT, role
from mathsetu.intake.typed.names import AFTER_NUMBERS, GREEK, INFIX_WORDS, LETTER_WORDS, UNITS
from mathsetu.intake.typed.operands import DIFFERENTIAL, Operands
from mathsetu.intake.typed.row import MAX_INSIDE, Region, Row, joins, short_words
from mathsetu.intake.typed.token_kinds import (
    ARROWS,
    ATOMS,
    BARS,
    HYPHENS,
    OPERATORS,
    PROSE,
    SIGNS_BEFORE,
    Kind,
    Token,
)

_AFTER_INFIX_WORDS: Final = frozenset(
    {Kind.NUMBER, Kind.LETTER, Kind.SYMBOL, Kind.WILD, Kind.OPENING}
)
# One-letter words, without prepositions such as k and v, which are operands after "mod".
_VOWEL_WORDS: Final = LETTER_WORDS & frozenset("aAiIoOyYeEuU")
_SCRIPTS: Final = frozenset({Kind.SCRIPT, Kind.SUP, Kind.SUB})
_CALLED: Final = frozenset(
    {Kind.LETTER, Kind.SYMBOL, Kind.WILD, Kind.SUP, Kind.SUB, Kind.SHORT, Kind.POSTFIX}
)


def find_regions(text: str, tokens: Sequence[Token]) -> list[Region]:
    """Return the formulas of a tokenised text.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> text = "is n^2 - 1 even?"
    >>> [text[found[r.first].start : found[r.after - 1].end]
    ...  for found in [tokens(text)] for r in find_regions(text, found)]
    ['n^2 - 1']
    """
    return list(_regions(Row(text, tokens)))


def _regions(row: Row) -> Iterator[Region]:
    place = 0
    while place < len(row.tokens):
        reading = Reading(row, place)
        after = reading.read()
        if after > place and is_formula(reading, after):
            after = _with_closing(row, place, after)
            yield Region(place, after)
            # Skip a letter that ended the formula as a word: x > 0 a y > 0.
            place = after + (reading.ended_by_word and after == reading.stopped)
        else:
            place = max(reading.stopped, place + 1)


def _with_closing(row: Row, first: int, after: int) -> int:
    """Return the end of a formula, including a stray closing delimiter."""
    token = row.at(after)
    if token is None or token.kind is not Kind.DELIMITER or token.text in ("\\(", "\\["):
        return after
    following = row.at(after + 1)
    is_price = following is not None and not following.gap and following.kind is Kind.NUMBER
    is_opening = token.gap and row.tokens[first].kind is not Kind.DELIMITER
    opens_next = following is not None and not following.gap and token.gap
    return after if is_price or is_opening or opens_next else after + 1


_PRIMED: Final = frozenset(
    {Kind.LETTER, Kind.SYMBOL, Kind.WILD, Kind.CLOSING, Kind.POSTFIX, Kind.SUP, Kind.SHORT}
)


class Reading(Operands):
    """One attempt to read a formula, starting at a token."""

    def read(self) -> int:
        """Return the position after the last token that completes a formula."""
        row = self.row
        token = self.tokens[self.first]
        if token.kind is Kind.DELIMITER:
            if token.text in ("\\)", "\\]") or row.at(self.first + 1) is None:
                self.stopped = self.first + 1
                return self.first
            self.forced = True
            self.place += 1
        complete = self.first
        has_operand = False
        evidence = self._evidence
        end, has_dots, are_letters = row.listed(self.place)
        following = row.at(end)
        if has_dots or (are_letters and joins(following)):
            self.strong += has_dots
            self.letters += 1
            self.place = complete = end
            has_operand = True
            evidence = self._evidence
        while (token_here := row.at(self.place)) is not None:
            if token_here.gap == 2 and has_operand:
                break
            self.optional_end = 0
            after = self._go_on() if has_operand else self._operand()
            if after is None:
                break
            has_operand = after > 0
            self.place = abs(after)
            if has_operand or self.optional_end:
                complete = self.place
                evidence = self._evidence
        # Discard the evidence of tokens after the end of the formula.
        self._evidence = evidence
        self.stopped = max(self.place, self.first + 1) if complete == self.first else complete
        return complete

    @property
    def _evidence(self) -> tuple[int, int, int, int]:
        return self.strong, self.relations, self.operators, self.letters

    @_evidence.setter
    def _evidence(self, counts: tuple[int, int, int, int]) -> None:
        self.strong, self.relations, self.operators, self.letters = counts

    def _go_on(self) -> int | None:
        place = self.place
        token = self.tokens[place]
        kind = token.kind
        if kind is Kind.SCRIPT:
            return self._scripted(place)
        if kind in (Kind.SUP, Kind.SUB):
            before = self.tokens[place - 1]
            if token.gap and token.text[0] != "^":
                return None
            is_unit = before.text in UNITS and self._is_quantity(place - 1)
            self.strong += 0 if is_unit else 1
            return place + 1
        if kind is Kind.POSTFIX:
            return self._postfix(place)
        if kind in (Kind.INFIX, Kind.RELATION):
            return self._infix(place)
        if kind is Kind.BAR:
            if self._may_relate(place + 1):
                self.relations += bool(token.gap)
                return -(place + 1)
            return None
        if token.text == ":":
            return self._mapping(place)
        if token.text == "," and self.relations and self.tokens[place - 1].kind in ATOMS:
            end, has_dots, _ = self.row.listed(place - 1)
            return end if has_dots else None  # k = 1, 2, ..., n
        if token.text == "&" and self.has_environment:
            return -(place + 1)
        if token.text in INFIX_WORDS:
            return self._infix_word(place)
        if kind is Kind.COMMAND and joins(token):
            self.strong += token.strong
            self.relations += role(token.text) in (boxes.RELATION, boxes.META)
            return -(place + 1)
        if token.gap:
            return self._after_space(place)
        return self._juxtaposed(place)

    def _is_quantity(self, place: int) -> bool:
        before = self.row.at(place - 1)
        return place == self.first or (before is not None and before.kind is Kind.NUMBER)

    def _scripted(self, place: int) -> int | None:
        before, token = self.tokens[place - 1], self.tokens[place]
        after = self._script_argument(place)
        if after is None:
            return None
        if token.text == "_":
            argument = self.tokens[place + 1]
            names = before.kind in (Kind.SHORT, Kind.WORD) and argument.kind in PROSE
            is_command = before.kind is Kind.COMMAND
            if (token.gap and not is_command) or names or self.row.is_tight(after, *PROSE):
                return None
            if self.row.is_tight(after, Kind.SCRIPT) and self.tokens[after].text == "_":
                return None  # snake_case_names
        self.strong += 1
        return after

    def _postfix(self, place: int) -> int | None:
        token, before = self.tokens[place], self.tokens[place - 1]
        following = self.row.at(place + 1)
        if token.gap:
            return None
        if token.text == "!":
            if before.kind in (Kind.SHORT, Kind.FUNCTION) or before.text in ("I",):
                return None
            if (
                before.text in LETTER_WORDS
                and place - 1 == self.first
                and (following is None or following.kind in PROSE)
            ):
                return None
            self.strong += 1
            return place + 1
        if token.text == "°":
            celsius = following is not None and not following.gap and following.text in ("C", "F")
            self.strong += not celsius
            return None if celsius else place + 1
        if before.kind not in _PRIMED:
            return None
        # A prime is weak evidence: 'a' may be quoted.
        is_product = before.kind is Kind.CLOSING and self._is_product(before.mate)
        self.strong += is_product or self.row.is_tight(place + 1, Kind.OPENING)
        return place + 1

    def _is_product(self, opening: int) -> bool:
        """Whether a pair of brackets has two small letters, as in ``(fg)'`` or ``(u v)'``.

        After an opening quotation mark, the sign behind the brackets closes the quotation.
        """
        token = self.tokens[opening]
        before = range(max(0, opening - MAX_INSIDE), opening)
        if any(self._is_opening_quote(place) for place in before):
            return False
        inside = self.tokens[opening + 1 : token.mate]
        letters = "".join(one.text for one in inside)
        return (
            token.text == "("
            and all(one.kind in (Kind.LETTER, Kind.SHORT) for one in inside)
            and len(letters) == 2
            and letters.islower()
            and letters not in short_words()
        )

    def _is_opening_quote(self, place: int) -> bool:
        token = self.tokens[place]
        return token.text in ("'", "‘") and (place == 0 or bool(token.gap))

    def _infix(self, place: int) -> int | None:
        row, token = self.row, self.tokens[place]
        before, following = self.tokens[place - 1], row.at(place + 1)
        if following is None:
            return place + 1 if self._is_side(place) else None
        if following.text == token.text and not following.gap and token.text in "+-":
            return None  # C++
        tight = not token.gap and not following.gap
        if self._is_side(place):
            return place + 1
        if token.text in HYPHENS:
            if tight and following.kind in (Kind.WORD, Kind.CONNECTIVE, Kind.PROSE_COMMAND):
                return None  # x-axis
            if token.gap and not following.gap and following.kind in PROSE:
                return None
        if token.text == "!=" and before.kind is Kind.NUMBER and following.kind is Kind.NUMBER:
            self.strong += 1  # 5!=120
        if token.text == "/" and (before.kind is Kind.WORD or following.kind is Kind.WORD):
            return None
        if token.kind is Kind.RELATION:
            if not self._may_relate(place + 1):
                return None
            self.relations += 1
            self.strong += token.strong
        else:
            if not self._may_relate(place + 1):
                return None
            self.operators += 1
            self.strong += token.strong
        return -(place + 1)

    def _is_side(self, place: int) -> bool:
        """Whether a sign marks a one-sided limit: ``x -> 0+``."""
        token, following = self.tokens[place], self.row.at(place + 1)
        ends = following is None or bool(following.gap)
        after_arrow = place - 2 >= self.first and self.tokens[place - 2].text in ARROWS
        return token.text in "+-−" and not token.gap and ends and after_arrow

    def _may_relate(self, place: int) -> bool:
        token = self.row.at(place)
        if token is None:
            return False
        if token.kind in (Kind.SHORT, Kind.DOTS):
            return True
        if token.kind is Kind.INFIX and token.text in SIGNS_BEFORE:
            return self.row.at(place + 1) is not None
        if token.kind is Kind.LETTER:
            return True
        return self._begins_operand(place)

    def _mapping(self, place: int) -> int | None:
        """Read the colon of ``f: A -> B``, of a proportion ``a:b = c:d``, or after a quantifier."""
        is_even = self.row.is_tight(place) == self.row.is_tight(place + 1)
        if is_even and self.tokens[place - 1].kind in ATOMS and self._begins_operand(place + 1):
            end = place
            while end < place + 8 and (sign := self.row.at(end)) is not None and sign.text == ":":
                end += 2
            sign = self.row.at(end)
            if self.relations or (sign is not None and sign.text == "="):
                return -(place + 1)
        quantified = self.tokens[self.first].text in ("∀", "∃", "\\forall", "\\exists")
        if quantified and self.relations and self._begins_operand(place + 1):
            return -(place + 1)
        if place - 1 != self.first and not (self.forced and place - 2 == self.first):
            return None
        if self.tokens[place - 1].kind not in (Kind.LETTER, Kind.SYMBOL, Kind.WILD):
            return None
        target = self.row.at(place + 1)
        if target is None:
            return None
        after = target.mate + 1 if target.mate > place else place + 2
        while (sign := self.row.at(after)) is not None and sign.text in ("×", "⊗", "⊕"):
            after += 2  # f: A × B -> C
        while self.row.is_tight(after, Kind.SCRIPT, Kind.SUP):
            is_sign = self.tokens[after].kind is Kind.SUP
            after = after + 1 if is_sign else self._script_argument(after) or after + 1
        if target.kind is Kind.COMMAND and self.row.is_tight(after, Kind.OPENING):
            after = max(self.tokens[after].mate + 1, after + 1)
        arrow = self.row.at(after)
        if arrow is None or arrow.text not in ARROWS:
            return None
        self.strong += 1
        return -(place + 1)

    def _infix_word(self, place: int) -> int | None:
        following = self.row.at(place + 1)
        before = self.tokens[place - 1]
        if following is None:
            return None
        # After a relation, "mod" is an operator; without a relation, "a mod 2 space" is prose.
        is_modulus = bool(self.relations) and self.tokens[place].text == "mod"
        if before.text in ("I", "a") and not is_modulus:
            return None
        if following.kind not in _AFTER_INFIX_WORDS:
            is_word = following.kind is Kind.SHORT and len(following.text) == SHORT
            if not is_modulus or is_word or not self._begins_operand(place + 1):
                return None
        after = self.row.at(place + 2)
        words = _VOWEL_WORDS if is_modulus else LETTER_WORDS
        is_article = following.text in words and after is not None and after.kind in PROSE
        if is_article or (following.kind is Kind.OPENING and not self.row.has_no_prose(place + 1)):
            return None
        self.strong += 1
        return -(place + 1)

    def _juxtaposed(self, place: int) -> int | None:
        """Read a factor or an argument directly after an operand, without space."""
        row, token, before = self.row, self.tokens[place], self.tokens[place - 1]
        kind = token.kind
        if kind is Kind.OPENING:
            if token.text in BARS:
                return self._group(place, is_first=False)
            if token.strong or (token.text == "{" and before.kind is Kind.CLOSING):
                return token.mate + 1 if token.mate > place else -(place + 1)
            if token.mate < 0:
                return -(place + 1)
            called = before.kind in _CALLED or self._is_script(place - 1)
            if not row.has_no_prose(place, called=called):
                return None
            is_number = before.kind is Kind.NUMBER and not self._is_index(place - 1)
            if is_number and not called and not row.has_operators(place):
                inner = self.tokens[place + 1]
                if token.mate == place + 2 and inner.kind in (Kind.LETTER, Kind.NUMBER):
                    return None  # 4(b)
            self.strong += called
            if not called:
                self._count_inside(place)
            return token.mate + 1
        if kind is Kind.NUMBER:
            # x1 is a variable; 3x3 is a size.
            following = row.at(place + 1)
            joined = following is not None and following.kind in (Kind.INFIX, Kind.RELATION)
            if (
                before.text in ("x", "X")
                and not joined
                and place - 2 >= self.first
                and (self.tokens[place - 2].kind is Kind.NUMBER)
            ):
                self.letters = 0
                return None
            return place + 1
        if kind is Kind.SHORT:
            if before.kind is Kind.NUMBER and token.text in AFTER_NUMBERS:
                return None
            self.letters += 1
            return place + 1
        if kind is Kind.LETTER:
            self.letters += 1
            return place + 1
        if kind in (Kind.SYMBOL, Kind.WILD):
            self.strong += 1
            return place + 1
        if kind is Kind.NAME:
            self.strong += token.text in GREEK
            return place + 1
        if kind in (Kind.FUNCTION, Kind.ROOT, Kind.BIG, Kind.PREFIX, Kind.COMMAND):
            self.place = place
            return self._operand()
        if kind is Kind.DOTS:
            return place + 1
        return None

    def _after_space(self, place: int) -> int | None:
        """Read a factor after an operand and a space, or stop at the next word of a sentence."""
        row, token, before = self.row, self.tokens[place], self.tokens[place - 1]
        kind = token.kind
        following = row.at(place + 1)
        begun = self.relations + self.operators + self.strong > 0
        if kind is Kind.COMMAND:
            if not token.strong and token.text[1:2] not in (",", ";", ":", "!", " ", "\\"):
                return None
            return self._operand_at(place)
        big = kind is Kind.BIG and (token.strong or begun)
        if big or kind in (Kind.PREFIX, Kind.ROOT, Kind.WILD):
            return self._operand_at(place)
        if kind is Kind.SYMBOL:
            goes_on = following is not None and following.kind in OPERATORS
            goes_on = goes_on or self._is_letter_pair(place)
            if before.kind is Kind.NUMBER or (begun and before.strong) or goes_on:
                return self._operand_at(place)
            return self._operand_at(place) if self.operators + self.relations else None
        if kind is Kind.NAME:
            fits = token.text in GREEK and (before.kind is Kind.NUMBER or begun)
            self.strong += fits
            return place + 1 if fits else None
        if kind is Kind.FUNCTION:
            if before.kind is Kind.LETTER and before.text in LETTER_WORDS and not begun:
                sign = row.at(place + 2)
                is_term = sign is not None and sign.kind in (Kind.INFIX, Kind.RELATION)
                if not is_term or following is None or following.kind not in ATOMS:
                    return None
            return self._operand_at(place)
        if kind is Kind.SHORT:
            if token.text in ("dx", "dy", "dt", "dz", "dr") and before.kind is Kind.LETTER:
                self.strong += 1  # x dx
                return place + 1
            if DIFFERENTIAL.fullmatch(token.text) and (begun or self.has_integral):
                if token.text in short_words() and not self.has_integral:
                    return None
                self.strong += self.has_integral  # int u dv
                return place + 1
            fits = following is not None and following.kind in OPERATORS
            known = token.text in short_words()
            if begun and row.is_tight(place + 1, Kind.SCRIPT, Kind.SUP):
                return place + 1  # 1/2 at^2
            if self.operators + self.relations and row.is_tight(place + 1, Kind.NUMBER):
                return place + 1  # 1/2 at2
            is_hyphen = fits and following is not None and following.text in HYPHENS
            if begun and not known and self._is_product_before_function(place):
                return place + 1
            ends = following is None or following.kind in (Kind.COMMA, Kind.OTHER)
            if self.relations and ends and not known:
                return place + 1
            return place + 1 if fits and begun and not known and not is_hyphen else None
        if kind is Kind.OPENING:
            return self._group_after_space(place, begun)
        if kind is Kind.LETTER:
            return self._letter_after_space(place)
        if kind is Kind.DOTS and begun:
            return place + 1
        return None

    def _is_product_before_function(self, place: int) -> bool:
        """Whether two letters after a number are factors of a function: ``2 ab cos C``."""
        word, function = self.tokens[place], self.row.at(place + 1)
        if function is None or function.kind is not Kind.FUNCTION:
            return False
        is_product = len(word.text) == 2 and word.text.islower()
        is_factor = self.tokens[place - 1].kind is Kind.NUMBER
        has_argument = self.row.at(place + 2) is not None and (
            self.row.is_tight(place + 2, Kind.OPENING, *_SCRIPTS)
            or self._is_argument(place + 2, function.text)
        )
        return is_product and is_factor and has_argument

    def _operand_at(self, place: int) -> int | None:
        self.place = place
        return self._operand()

    def _group_after_space(self, place: int, begun: bool) -> int | None:
        row, token = self.row, self.tokens[place]
        if token.strong or token.text in BARS or token.text == "<":
            return self._group(place, is_first=False)
        if token.mate < 0 or not row.has_no_prose(place):
            return None
        inner = self.tokens[place + 1]
        is_modulus = inner.text == "mod"
        if begun and self._is_group_index(place):
            self.strong += 1
            return token.mate + 1
        if self._is_derivative(place - 3):
            self.strong += 1
            return token.mate + 1
        beyond = row.at(token.mate + 1)
        follows = row.is_tight(token.mate + 1, Kind.SCRIPT, Kind.SUP, Kind.OPENING) or (
            beyond is not None and beyond.text == "/"  # n (n+1)/2
        )
        if is_modulus or (row.has_operators(place) and (begun or follows)):
            self.strong += 1
            return token.mate + 1
        before = self.tokens[place - 1]
        is_factor = before.kind is Kind.NUMBER and row.has_operators(place)
        if is_factor:
            self._count_inside(place)
        return token.mate + 1 if is_factor else None

    def _is_group_index(self, place: int) -> bool:
        """Whether brackets contain the index of a subgroup: ``|G| = |H| [G:H]``."""
        token = self.tokens[place]
        inside = self.tokens[place + 1 : token.mate]
        is_pair = len(inside) == 3 and inside[1].text == ":"
        return token.text == "[" and is_pair and inside[0].kind is inside[2].kind is Kind.LETTER

    def _is_derivative(self, place: int) -> bool:
        """Whether ``d/dx`` begins here."""
        if place < self.first:
            return False
        above, slash, below = self.tokens[place : place + 3]
        is_operator = above.text == "d" and slash.text == "/" and not below.gap
        return is_operator and DIFFERENTIAL.fullmatch(below.text) is not None

    def _is_times(self, place: int) -> bool:
        """Whether an x between two numbers is a multiplication sign: ``3 x 4 = 12``."""
        before, second = self.tokens[place - 1], self.row.at(place + 1)
        third = self.row.at(place + 2)
        return (
            self.tokens[place].text in ("x", "X")
            and before.kind is Kind.NUMBER
            and second is not None
            and second.kind is Kind.NUMBER
            and bool(second.gap)
            and (third is None or third.kind in (Kind.RELATION, Kind.OTHER))
        )

    def _is_letter_pair(self, place: int) -> bool:
        """Whether the second of two similar factors begins here: ``Δx Δp``."""
        is_first = (
            place - 2 >= self.first and self.tokens[place - 2].text == self.tokens[place].text
        )
        is_glued = self.row.is_tight(place - 1, Kind.LETTER)
        return is_first and is_glued and self.row.is_tight(place + 1, Kind.LETTER)

    def _is_script(self, place: int) -> bool:
        """Whether a token is a script: the 2 of ``f^2(x)`` and the 1 of ``f^-1(x)``."""
        mark = place - 1
        if mark > self.first and self.tokens[mark].text in SIGNS_BEFORE:
            mark -= 1
        return mark >= self.first and self.tokens[mark].kind is Kind.SCRIPT

    def _is_index(self, place: int) -> bool:
        """Whether a number directly follows a letter, as in ``f1(x)``."""
        is_inside = place > self.first and not self.tokens[place].gap
        return is_inside and self.tokens[place - 1].kind in _CALLED

    def _is_half(self, place: int) -> bool:
        """Whether a letter continues a term, ``1/2 a t^2``, and is not a word between equations."""
        slash, number = self.tokens[place - 2], self.tokens[place - 1]
        mark = self.row.at(place + 2)
        is_divided = place - 2 > self.first and slash.text == "/" and number.kind is Kind.NUMBER
        if not is_divided or mark is None or mark.gap:
            return False
        beyond = self.row.at(place + (4 if mark.kind is Kind.SCRIPT else 3))
        is_power = mark.kind in (Kind.SCRIPT, Kind.SUP, Kind.NUMBER)
        return is_power and (beyond is None or beyond.kind is not Kind.RELATION)

    def _is_coefficient_of(self, place: int) -> bool:
        """Whether a letter is a factor in ``2 a b cos C``, not a word as in ``x = 2 a y = 3``."""
        following, start = self.tokens[place + 1], place - 1
        while (
            start > max(self.first, place - MAX_INSIDE) and self.tokens[start].kind is Kind.LETTER
        ):
            start -= 1
        number = self.tokens[start]
        is_called = self.row.is_tight(place + 2, Kind.OPENING) and following.kind is Kind.LETTER
        is_term = number.kind is Kind.NUMBER and number.text not in ("0", "1") and not is_called
        if not is_term or following.kind not in (Kind.LETTER, Kind.FUNCTION):
            return False
        for token in self.tokens[place + 1 : place + MAX_INSIDE]:
            if token.kind is Kind.RELATION or token.kind in PROSE:
                return token.kind is not Kind.RELATION or not self.relations
        return True

    def _is_matrix_factor(self, place: int) -> bool:
        """Whether a capital letter is between two others, as in ``A = U S V^T``."""
        before, after = self.tokens[place - 1], self.row.at(place + 1)
        others = [one.text for one in (before, after) if one and one.kind is Kind.LETTER]
        return len(others) == 2 and all(map(str.isupper, [*others, self.tokens[place].text]))

    def _begins_equation(self, place: int) -> bool:
        """Whether a letter with a digit begins the next equation: ``x1 = 5 x2 = 6``."""
        before, beyond = self.tokens[place - 1], self.row.at(place + 2)
        is_number = before.kind is Kind.NUMBER and bool(before.gap)
        is_related = beyond is not None and beyond.kind is Kind.RELATION
        return bool(self.relations) and is_number and is_related

    def _letter_after_space(self, place: int) -> int | None:
        """Read a letter as a factor, ``2 x + 1``, or stop at a word, ``x > 0 a y > 0``."""
        row, token = self.row, self.tokens[place]
        following = row.at(place + 1)
        begun = self.relations + self.operators + self.strong > 0
        is_word = token.text in LETTER_WORDS
        is_integrated = (
            self.has_integral
            and following is not None
            and DIFFERENTIAL.fullmatch(following.text) is not None
        )
        if is_integrated:
            self.letters += 1
            return place + 1  # int u' v dx
        if self._is_times(place):
            self.operators += 1
            self.strong += 1
            return place + 2
        if following is None:
            fits = begun
        elif following.text == "." and row.is_tight(place + 1) and row.is_tight(place + 2):
            fits = False  # s.t.
        elif not following.gap and following.kind in (
            Kind.SCRIPT, Kind.SUP, Kind.SUB, Kind.OPENING, Kind.POSTFIX,
        ):  # fmt: skip
            fits = True
        elif row.is_tight(place + 1, Kind.NUMBER):
            begins = self._begins_equation(place)
            fits = not begins if begun else self._runs_into_operator(place)
        elif is_word and following.text in HYPHENS and not following.gap:
            fits = False  # 196 a-t-il
        elif following.kind in (Kind.INFIX, Kind.RELATION):
            fits = not (self.relations and following.kind is Kind.RELATION)
            if following.text in HYPHENS and not following.gap and row.is_tight(place + 2, *PROSE):
                fits = False
        elif following.kind in (Kind.LETTER, Kind.NUMBER, Kind.FUNCTION, Kind.OPENING, Kind.BAR):
            if begun:
                is_free = not (is_word and self.relations) or self._is_half(place)
                fits = is_free or self._is_matrix_factor(place) or self._is_coefficient_of(place)
            else:
                is_coefficient = self._is_coefficient_of(place)
                fits = self._runs_into_operator(place + is_coefficient)
        elif following.kind in PROSE:
            is_next = self.relations and self.tokens[place - 1].text == "0"  # f(c) = 0 f is
            fits = begun and not (is_word or is_next)
        else:
            fits = begun
        if fits and is_word and following is not None and following.kind in PROSE:
            fits = False
        if not fits:
            self.ended_by_word = is_word
            return None
        self.letters += 1
        return place + 1
