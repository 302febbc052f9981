r"""Finds the formulas among the tokens of a typed query, in linear time.

A formula is read from left to right as operands and operators take turns. Where the turn is broken
by a word, it ends. Then its evidence is weighed: ``x-y`` may be a formula and ``x-axis`` may not,
``a/b`` and ``A/B``, ``n!`` and ``Help!``. Letters and numbers that stand alone are words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from mathsetu.formulas.latex import boxes
from mathsetu.formulas.latex.commands import COMMANDS
from mathsetu.formulas.latex.fonts import FONTS
from mathsetu.formulas.latex.lexer import TEXT_NAMES
from mathsetu.intake.typed.lexer import Kind, Token, role
from mathsetu.intake.typed.names import (
    AFTER_NUMBERS,
    BEFORE_NUMBERS,
    GREEK,
    INFIX_WORDS,
    INFINITY,
    LETTER_WORDS,
    LOOK_ALIKES,
    UNITS,
)
from mathsetu.languages.table import LANGUAGES

_ATOMS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL, Kind.NAME, Kind.WILD})
_OPERATORS: Final = frozenset({Kind.INFIX, Kind.RELATION, Kind.SCRIPT, Kind.SUP, Kind.SUB})
_PROSE: Final = frozenset({Kind.WORD, Kind.SHORT, Kind.CONNECTIVE, Kind.PROSE_COMMAND})
_HYPHENS: Final = frozenset("-–−")
_SIGNS_BEFORE: Final = frozenset("- + − ± ∓ +- +/- –".split())
_ARROWS: Final = frozenset("-> --> → ↦ \\to \\rightarrow \\mapsto |-> ⟶".split())
_NEEDING: Final = frozenset(
    {boxes.FUNCTION, boxes.TRIGONOMETRIC, boxes.BIG, boxes.INTEGRAL, boxes.PREFIX, boxes.NEGATION,
     boxes.MULTIPLICATION, boxes.ADDITION, boxes.RELATION, boxes.META, boxes.OPENING}
)  # fmt: skip
_JOINING: Final = frozenset({boxes.MULTIPLICATION, boxes.ADDITION, boxes.RELATION, boxes.META})
_DIFFERENTIAL: Final = re.compile(r"d(?!e$|o$|a$|i$)[a-zA-Z]")
# a x^2 + b x …: a letter before a space is a coefficient there, and no article.
_COEFFICIENTS: Final = re.compile(
    r"[A-Za-z] [A-Za-z](?:\^\d|[²³])? ?[-+−] ?[A-Za-z0-9]+ [A-Za-z](?![A-Za-z])"
)
_CALLED: Final = frozenset(
    {Kind.LETTER, Kind.SYMBOL, Kind.SUP, Kind.SUB, Kind.SHORT, Kind.POSTFIX}
)
_IN_LISTS: Final = frozenset(
    {Kind.COMMA, Kind.DOTS, Kind.INFIX, Kind.SCRIPT, Kind.SUB, Kind.OPENING, Kind.CLOSING}
)
_SIGNS_OF_LISTS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL})


class Region(NamedTuple):
    """A formula: its first token, and the one after its last."""

    first: int
    after: int


def find_regions(text: str, tokens: Sequence[Token]) -> list[Region]:
    """The formulas of a text whose tokens are known.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> text = "is n^2 - 1 even?"
    >>> [text[found[r.first].start : found[r.after - 1].end]
    ...  for found in [tokens(text)] for r in find_regions(text, found)]
    ['n^2 - 1']
    """
    return list(_Finder(text, tokens).regions())


class _Finder:
    """Reads from token to token; each is looked at a bounded number of times."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        prose = (
            token.kind in (Kind.WORD, Kind.PROSE_COMMAND) and token.text not in INFIX_WORDS
            for token in tokens
        )
        self._prose = [0, *accumulate(prose)]
        connecting = (token.kind in (Kind.CONNECTIVE, Kind.SHORT) for token in tokens)
        self._connecting = [0, *accumulate(connecting)]
        operating = (token.kind in (Kind.INFIX, Kind.RELATION) for token in tokens)
        self._operating = [0, *accumulate(operating)]
        self._listed_until = 0

    def regions(self) -> Iterator[Region]:
        place = 0
        while place < len(self.tokens):
            reading = _Reading(self, place)
            after = reading.read()
            first = reading.first
            if after > first and reading.is_formula(after):
                after = self._with_closing(first, after)
                yield Region(first, after)
                # A letter that ended it is a word: x > 0 a y > 0.
                place = after + (reading.ended_by_word and after == reading.stopped)
            else:
                place = max(reading.stopped, place + 1)

    def _with_closing(self, first: int, after: int) -> int:
        """The end with a stray closing delimiter, if there is one."""
        token = self.at(after)
        if token is None or token.kind is not Kind.DELIMITER or token.text in ("\\(", "\\["):
            return after
        following = self.at(after + 1)
        is_price = following is not None and not following.gap and following.kind is Kind.NUMBER
        is_opening = token.gap and self.tokens[first].kind is not Kind.DELIMITER
        opens_next = following is not None and not following.gap and token.gap
        return after if is_price or is_opening or opens_next else after + 1

    def at(self, place: int) -> Token | None:
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def is_tight(self, place: int, *kinds: Kind) -> bool:
        """Whether a token of some kinds stands here, right after the one before."""
        token = self.at(place)
        return token is not None and not token.gap and (not kinds or token.kind in kinds)

    def is_pure(self, opening: int, *, called: bool = False) -> bool:
        """Whether a pair of brackets holds no prose; a function's may hold "and"."""
        closing = self.tokens[opening].mate
        if closing <= opening or closing == opening + 1:
            return False
        if self._prose[closing] != self._prose[opening]:
            return False
        if called or self._connecting[closing] == self._connecting[opening]:
            return True
        # Short words are products or prose.
        return all(
            token.kind is not Kind.CONNECTIVE
            and (token.kind is not Kind.SHORT or token.text not in short_words())
            for token in self.tokens[opening + 1 : min(closing, opening + _MOST_INSIDE)]
        )

    def has_operators(self, opening: int) -> bool:
        """Whether there are operators inside a pair of brackets."""
        return self._operating[self.tokens[opening].mate] > self._operating[opening]

    def listed(self, first: int) -> tuple[int, bool, bool]:
        """A list from here: where it ends, whether it has dots, and whether only letters."""
        place, dots, letters, count = first, False, True, 0
        if first < self._listed_until:
            return first, False, False
        while (token := self.at(place)) is not None:
            if token.kind is Kind.DOTS:
                dots = True
            elif token.kind not in _SIGNS_OF_LISTS:
                break
            letters = letters and token.kind in (Kind.LETTER, Kind.SYMBOL)
            place += 1
            count += 1
            if self.is_tight(place, Kind.SUB):
                place, letters = place + 1, False
            elif self.is_tight(place, Kind.SCRIPT):
                argument = self.at(place + 1)
                if argument is None or argument.gap:
                    break
                place = argument.mate + 1 if argument.mate > place else place + 2
                letters = False
            comma = self.at(place)
            if comma is None or comma.text != "," or comma.gap:
                break
            place += 1
        if self.tokens[place - 1].kind is Kind.COMMA:
            place -= 1
        self._listed_until = place
        return place, dots and count > 2, letters and count > 1


# Tokens inside brackets that are looked at one by one; longer ones hold no sentence of short words.
_MOST_INSIDE: Final = 40


class _Reading:
    """One attempt to read a formula from a token on."""

    def __init__(self, finder: _Finder, first: int) -> None:
        self.finder = finder
        self.tokens = finder.tokens
        self.first = first
        self.place = first
        #: Where the reading stopped, and whether at a letter that is a word.
        self.stopped = first
        self.ended_by_word = False
        self.forced = False
        self.strong = 0
        self.relations = 0
        self.operators = 0
        self.letters = 0
        self.has_integral = False
        self.has_environment = False
        self.open_bars: list[str] = []
        #: Whether a formula may end where an operand would be welcome: ∫₀^∞.
        self.settled = 0

    def read(self) -> int:
        """The place after the last token that completes a formula."""
        finder = self.finder
        token = self.tokens[self.first]
        if token.kind is Kind.DELIMITER:
            if token.text in ("\\)", "\\]") or finder.at(self.first + 1) is None:
                self.stopped = self.first + 1
                return self.first
            self.forced = True
            self.place += 1
        complete = self.first
        has_operand = False
        evidence = self._evidence
        end, has_dots, are_letters = finder.listed(self.place)
        following = finder.at(end)
        if has_dots or (
            are_letters and following is not None and following.kind is Kind.RELATION
        ):
            self.strong += has_dots
            self.letters += 1
            self.place = complete = end
            has_operand = True
            evidence = self._evidence
        while (token := finder.at(self.place)) is not None:
            if token.gap == 2 and has_operand:
                break
            self.settled = 0
            after = self._go_on() if has_operand else self._operand()
            if after is None:
                break
            has_operand = after > 0
            self.place = abs(after)
            if has_operand or self.settled:
                complete = self.place
                evidence = self._evidence
        # What was counted for a part that is left out counts no more.
        self._evidence = evidence
        self.stopped = max(self.place, self.first + 1) if complete == self.first else complete
        return complete

    @property
    def _evidence(self) -> tuple[int, int, int, int]:
        return self.strong, self.relations, self.operators, self.letters

    @_evidence.setter
    def _evidence(self, counts: tuple[int, int, int, int]) -> None:
        self.strong, self.relations, self.operators, self.letters = counts

    # -- operands: each of these gives the place after what was read, negative where an operand must
    # -- still follow, None where nothing can be read.

    def _operand(self) -> int | None:
        finder, place = self.finder, self.place
        token = self.tokens[place]
        kind = token.kind
        if self.has_environment and kind is Kind.RELATION:
            return -(place + 1)
        is_first = place == self.first or (self.forced and place == self.first + 1)
        if kind is Kind.INFIX and token.text in _SIGNS_BEFORE:
            before = finder.at(place - 1)
            glued = is_first and not token.gap and before is not None and before.kind in _PROSE
            alone = is_first and not finder.is_tight(place + 1)
            return None if glued or alone or finder.at(place + 1) is None else -(place + 1)
        if kind is Kind.PREFIX:
            self.strong += 1
            after = place + 1
            while finder.is_tight(after, Kind.SUP):
                after += 1
            if finder.is_tight(after, Kind.SCRIPT):
                after = self._script_argument(after) or after
            return -after if self._begins_operand(after) else after
        if kind is Kind.NUMBER:
            return self._number(place)
        if kind is Kind.SUP and finder.is_tight(place + 1, Kind.ROOT):
            return -(place + 1)  # ³√8
        if kind is Kind.WILD:
            self.strong += 1
            return place + 2
        if kind is Kind.LETTER:
            self.letters += 1
            return self._letter(place, is_first)
        if kind is Kind.SYMBOL:
            self.letters += 1
            self.strong += 1
            return place + 1
        if kind is Kind.DOTS:
            return place + 1 if not is_first or finder.is_tight(place + 1, Kind.INFIX) else None
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
            if finder.is_tight(place + 1) and not finder.is_tight(place + 1, *_PROSE):
                self.open_bars.append(token.text)
                return -(place + 1)
            return None
        if kind is Kind.SHORT:
            return self._short(place, is_first)
        return None

    def _number(self, place: int) -> int:
        # 3,14 is one number; inside brackets it would be a list.
        if "." in self.tokens[place].text and self.finder.is_tight(place + 1, Kind.DOTS):
            self.strong += 1  # 0.999...
            return place + 2
        if self.finder.is_tight(place + 1, Kind.COMMA) and self.finder.is_tight(
            place + 2, Kind.NUMBER
        ):
            return place + 3
        return place + 1

    def _letter(self, place: int, is_first: bool) -> int | None:
        """A letter, unless it is an article or conjunction before what follows."""
        token, following = self.tokens[place], self.finder.at(place + 1)
        if not is_first or following is None or not following.gap:
            return place + 1
        starts = following.kind in _ATOMS or following.kind in (
            Kind.COMMAND, Kind.FUNCTION, Kind.BIG, Kind.ROOT, Kind.PREFIX, Kind.OPENING, Kind.SHORT,
        )  # fmt: skip
        if token.text not in LETTER_WORDS or not starts:
            return place + 1
        before = self.finder.at(place - 1)
        is_coefficient = _COEFFICIENTS.match(self.finder.text, token.start) is not None
        if is_coefficient or before is None:
            return place + 1
        return None

    def _name(self, place: int, is_first: bool) -> int | None:
        token, following = self.tokens[place], self.finder.at(place + 1)
        self.letters += 1
        if is_first:
            joined = following is not None and (
                following.kind in _OPERATORS
                or (not following.gap and following.kind in (Kind.OPENING, Kind.POSTFIX))
            )
            if not joined or token.text in INFINITY:
                return None
            if following is not None and following.text in _HYPHENS and not following.gap:
                return None  # beta-carotene, pi-day
            self.strong += not following.gap if following is not None else 0
        return place + 1

    def _function(self, place: int, is_first: bool) -> int | None:
        """A function with its scripts and its argument; alone it is a word."""
        finder = self.finder
        name = self.tokens[place].text
        if len(name) > 3 and name.endswith("x") and name not in ("max",):  # sinx
            self.strong += 1
            self.letters += 1
            return place + 1
        if name == "inf" and not is_first and self.tokens[place - 1].text in _ARROWS | {"-", "="}:
            return place + 1
        after = place + 1
        while finder.is_tight(after, Kind.SCRIPT, Kind.SUP, Kind.SUB):
            self.strong += 1
            if self.tokens[after].kind is not Kind.SCRIPT:
                after += 1
                continue
            argument = self._script_argument(after)
            if argument is None:
                return None
            after = argument
        if name == "log" and finder.is_tight(after, Kind.NUMBER):
            after += finder.is_tight(after + 1, Kind.OPENING)  # log2(8)
        argument_token = finder.at(after)
        if argument_token is None:
            return None if is_first and after == place + 1 else after
        if argument_token.kind is Kind.OPENING and finder.is_pure(after, called=True):
            if argument_token.gap and not finder.has_operators(after) and is_first:
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
        return after if joined else None

    def _is_argument(self, place: int, name: str) -> bool:
        """Whether a function's argument without brackets begins here."""
        token, following = self.tokens[place], self.finder.at(place + 1)
        if token.kind in (Kind.SYMBOL, Kind.ROOT, Kind.BAR, Kind.WILD):
            return True
        if token.kind is Kind.NAME:
            return token.text in GREEK
        if token.kind is Kind.COMMAND:
            return token.strong
        if token.kind is Kind.NUMBER:
            tight = following is not None and not following.gap and following.kind in _ATOMS
            return name in BEFORE_NUMBERS or tight
        if token.kind is Kind.LETTER:
            ends = following is None or following.kind not in _PROSE
            return ends or token.text not in LETTER_WORDS
        if token.kind is Kind.FUNCTION:
            return self.finder.is_tight(place + 1, Kind.OPENING, Kind.SCRIPT) or (
                following is not None and following.kind in _ATOMS
            )
        if token.kind is Kind.SHORT:
            return token.text not in short_words() and (not token.gap or len(token.text) < 3)
        return False

    def _root(self, place: int) -> int | None:
        following = self.finder.at(place + 1)
        if following is None:
            return None
        is_sign = self.tokens[place].strong
        if following.kind in _PROSE or following.kind in (Kind.OTHER, Kind.COMMA, Kind.CLOSING):
            return None
        if following.kind is Kind.OPENING and not self.finder.is_pure(place + 1, called=True):
            return None if following.mate > 0 else -(place + 1)
        self.strong += 1 if is_sign or following.kind is not Kind.LETTER else 1
        return -(place + 1)

    def _big(self, place: int, is_first: bool) -> int | None:
        """A sum, an integral or a limit; by its name it wants scripts or an operand."""
        finder, token = self.finder, self.tokens[place]
        after, scripted = place + 1, False
        while finder.is_tight(after, Kind.SCRIPT, Kind.SUP, Kind.SUB):
            scripted = True
            if self.tokens[after].kind is not Kind.SCRIPT:
                after += 1
                continue
            argument = self._script_argument(after)
            if argument is None:
                return None
            after = argument
        following = finder.at(after)
        is_integral = token.text in ("int", "integral") or role(token.text) == boxes.INTEGRAL
        if token.strong or scripted:
            self.strong += 1
            self.has_integral = self.has_integral or is_integral
            self.settled = after
            return -after if self._begins_operand(after) else after
        if following is None:
            return None
        if finder.is_tight(after, Kind.OPENING) and token.text != "integral":
            return -after if finder.is_pure(after, called=True) else None
        if token.text in ("integral", "product"):
            return None
        before = finder.at(place - 1)
        if token.text in ("sum", "prod"):
            second = finder.at(after + 1)
            is_index = second is not None and second.text == "="  # sum i=1 to n
            if is_index or (before is not None and before.kind in _PROSE):
                return None
        if following.kind in _PROSE or not self._begins_operand(after):
            return None
        self.has_integral = self.has_integral or is_integral
        return -after

    def _begins_operand(self, place: int) -> bool:
        token = self.finder.at(place)
        if token is None:
            return False
        if token.kind is Kind.LETTER:
            following = self.finder.at(place + 1)
            return following is None or following.kind not in _PROSE or (
                token.text not in LETTER_WORDS
            )
        if token.kind is Kind.SHORT:
            return token.text not in short_words()
        return token.kind in _ATOMS or token.kind in (
            Kind.FUNCTION, Kind.ROOT, Kind.BIG, Kind.COMMAND, Kind.OPENING, Kind.PREFIX, Kind.BAR,
        )  # fmt: skip

    def _command(self, place: int, is_first: bool) -> int | None:
        r"""A command of LaTeX with its arguments."""
        finder, token = self.finder, self.tokens[place]
        name = token.text[1:]
        is_text = name in TEXT_NAMES and name not in ("operatorname", "mathrm")
        if is_first and is_text and finder.is_tight(place + 1, Kind.OPENING):
            self.place = max(self.tokens[place + 1].mate, place) + 1
        if is_first and (is_text or not name or not name[0].isalpha()):
            return None
        known = token.strong
        self.strong += known
        after = place + 1
        arguments = 0
        takes = token.text in COMMANDS or token.text in FONTS or name in TEXT_NAMES or not known
        while takes or name in ("begin", "end"):
            argument = finder.at(after)
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
        if role(token.text) in _NEEDING or (wants and not arguments):
            self.relations += role(token.text) in (boxes.RELATION, boxes.META)
            self.has_integral = self.has_integral or role(token.text) == boxes.INTEGRAL
            following = finder.at(after)
            if following is not None and following.kind in (Kind.SCRIPT, Kind.SUP, Kind.SUB):
                return after
            return -after if self._begins_operand(after) or not is_first else after
        return after

    def _group(self, place: int, is_first: bool) -> int | None:
        finder, token = self.finder, self.tokens[place]
        if token.mate < 0:
            # It was never closed: go on inside.
            return -(place + 1) if finder.is_tight(place + 1) or not is_first else None
        if token.text.startswith("\\left") or token.text == "{":
            if token.strong or finder.is_pure(place):
                self._count_inside(place)
                return token.mate + 1
            return None
        if not finder.is_pure(place):
            return None
        self._count_inside(place)
        return token.mate + 1

    def _count_inside(self, place: int) -> None:
        """Take what brackets hold as evidence."""
        mate = self.tokens[place].mate
        if self.tokens[place].strong or mate - place > _MOST_INSIDE:
            self.strong += 1
            return
        inside = self.tokens[place + 1 : mate]
        kinds = [token.kind for token in inside]
        self.strong += sum(
            token.strong or token.kind in (Kind.SCRIPT, Kind.FUNCTION, Kind.ROOT)
            for token in inside
        )
        self.letters += sum(
            kind in (Kind.LETTER, Kind.SYMBOL, Kind.SHORT, Kind.NAME) for kind in kinds
        )
        joints = [
            number
            for number, kind in enumerate(kinds)
            if kind in (Kind.INFIX, Kind.RELATION) and 0 < number < len(kinds) - 1
        ]
        ranges = all(inside[number].text in _HYPHENS for number in joints)
        numbers = all(kind in (Kind.NUMBER, Kind.INFIX) for kind in kinds)
        if joints and not (ranges and numbers):
            self.operators += 1
        self.relations += any(kind is Kind.RELATION for kind in kinds)
        # (0,1), [a,b], {1,2,3}: what is listed in brackets, if it is more than labels.
        simple = all(
            kind in _ATOMS or kind in _IN_LISTS for kind in kinds
        )
        if Kind.COMMA in kinds and simple and kinds[-1] is not Kind.COMMA:
            self.strong += kinds[0] is not Kind.COMMA

    def _short(self, place: int, is_first: bool) -> int | None:
        """A short word that may be a product of variables, a differential, or GL(2)."""
        finder, token = self.finder, self.tokens[place]
        following = finder.at(place + 1)
        word = token.text
        if finder.is_tight(place + 1, Kind.OPENING) and self.tokens[place + 1].text == "(":
            inner = self.tokens[place + 2] if self.tokens[place + 1].mate > place + 2 else None
            plural = inner is not None and inner.text in ("s", "es", "a", "as", "os")
            if plural or word in short_words() or not finder.is_pure(place + 1, called=True):
                return None
            self.strong += 1
            return place + 1
        self.letters += 1
        joined = following is not None and following.kind in _OPERATORS
        tight = joined and following is not None and not following.gap
        slashed = joined and following is not None and following.text == "/"
        differential = word[0] in "d∂" and len(word) == 2
        if is_first:
            if not joined or following is None:
                return None
            if following.text in _HYPHENS and tight:
                return None
            if slashed:
                below = finder.at(place + 2)
                is_quotient = below is not None and (
                    below.text.startswith("d") or below.kind in (Kind.NUMBER, Kind.OPENING)
                )
                return place + 1 if is_quotient and word not in short_words() else None
            if word in short_words():
                return None
            return place + 1
        if differential and word not in short_words():
            return place + 1
        before = self.tokens[place - 1]
        if before.text in _HYPHENS and not before.gap and not token.gap and self.operators < 2:
            if not self.relations and not self.strong:
                return None
        if before.text == "/" and word not in ("dx", "dy", "dt"):
            if word[0].islower() and word[1:].isupper():
                return place + 1  # Z/nZ
            return place + 1 if self.operators + self.relations + self.strong > 1 else None
        # An operator wants an operand, even if it looks like a word: a + bi.
        ends = following is None or following.kind not in _PROSE
        even = bool(before.gap) == bool(token.gap)
        wanted = even and (before.text in ("+", "*") or (before.kind is Kind.RELATION and ends))
        ends = ends and even
        return place + 1 if word not in short_words() or joined or ends or wanted else None

    def _script_argument(self, place: int) -> int | None:
        """The place after a script whose mark is here."""
        finder = self.finder
        after = place + 1
        token = finder.at(after)
        if token is not None and token.kind is Kind.INFIX and token.text in _SIGNS_BEFORE:
            signed = finder.at(after + 1)
            if signed is not None and not signed.gap and (
                signed.kind in _ATOMS or signed.kind in (Kind.OPENING, Kind.COMMAND, Kind.SHORT)
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
            argument = finder.at(inner)
            while argument is not None and argument.text == "{" and argument.mate > inner:
                inner = argument.mate + 1
                argument = finder.at(inner)
            return inner
        if token.kind in _ATOMS:
            return after + 1 + (token.kind is Kind.WILD)
        if token.kind in (Kind.SHORT, Kind.WORD, Kind.FUNCTION, Kind.BIG, Kind.CONNECTIVE):
            is_one_name = not token.gap and not finder.is_tight(after + 1, Kind.SCRIPT)
            return after + 1 if is_one_name else None
        if token.text in ("*", "'", "′", "∘", "⊥", "°") and not token.gap:
            return after + 1
        return None

    # -- what may follow an operand

    def _go_on(self) -> int | None:
        finder, place = self.finder, self.place
        token = self.tokens[place]
        kind = token.kind
        if kind is Kind.SCRIPT:
            return self._scripted(place)
        if kind in (Kind.SUP, Kind.SUB):
            before = self.tokens[place - 1]
            if token.gap:
                return None
            is_unit = before.text in UNITS and self._is_quantity(place - 1)
            self.strong += 0 if is_unit else 1
            return place + 1
        if kind is Kind.POSTFIX:
            return self._postfix(place)
        if kind in (Kind.INFIX, Kind.RELATION):
            return self._infix(place)
        if kind is Kind.BAR:
            if self.open_bars:
                self.strong += 1
                if token.text == "||" and self.open_bars[-1] == "|":
                    return -(place + 1)  # |a||b|
                self.open_bars.pop()
                return place + 1
            if self._may_relate(place + 1):
                self.relations += bool(token.gap)
                return -(place + 1)
            return None
        if token.text == ":":
            return self._mapping(place)
        if token.text == "&" and self.has_environment:
            return -(place + 1)
        if token.text in INFIX_WORDS:
            return self._infix_word(place)
        if kind is Kind.COMMAND and role(token.text) in _JOINING:
            self.strong += token.strong
            self.relations += role(token.text) in (boxes.RELATION, boxes.META)
            return -(place + 1)
        if token.gap:
            return self._after_space(place)
        return self._juxtaposed(place)

    def _is_quantity(self, place: int) -> bool:
        before = self.finder.at(place - 1)
        return place == self.first or (before is not None and before.kind is Kind.NUMBER)

    def _scripted(self, place: int) -> int | None:
        before, token = self.tokens[place - 1], self.tokens[place]
        after = self._script_argument(place)
        if after is None:
            return None
        if token.text == "_":
            argument = self.tokens[place + 1]
            names = before.kind in (Kind.SHORT, Kind.WORD) and argument.kind in _PROSE
            if token.gap or names or self.finder.is_tight(after, *_PROSE):
                return None
            if self.finder.is_tight(after, Kind.SCRIPT) and self.tokens[after].text == "_":
                return None  # snake_case_names
        self.strong += 1
        return after

    def _postfix(self, place: int) -> int | None:
        token, before = self.tokens[place], self.tokens[place - 1]
        following = self.finder.at(place + 1)
        if token.gap:
            return None
        if token.text == "!":
            if before.kind in (Kind.SHORT, Kind.FUNCTION) or before.text in ("I",):
                return None
            if before.text in LETTER_WORDS and place - 1 == self.first and (
                following is None or following.kind in _PROSE
            ):
                return None
            self.strong += 1
            return place + 1
        if token.text == "°":
            celsius = following is not None and not following.gap and following.text in ("C", "F")
            self.strong += not celsius
            return None if celsius else place + 1
        if before.kind not in (Kind.LETTER, Kind.SYMBOL, Kind.CLOSING, Kind.POSTFIX, Kind.SUP):
            return None
        # A prime says little: 'a' may be quoted.
        self.strong += self.finder.is_tight(place + 1, Kind.OPENING)
        return place + 1

    def _infix(self, place: int) -> int | None:
        finder, token = self.finder, self.tokens[place]
        before, following = self.tokens[place - 1], finder.at(place + 1)
        if following is None:
            return None
        if following.text == token.text and not following.gap and token.text in "+-":
            return None  # C++
        tight = not token.gap and not following.gap
        if token.text in _HYPHENS:
            if tight and following.kind in (Kind.WORD, Kind.CONNECTIVE, Kind.PROSE_COMMAND):
                return None  # x-axis
            if token.gap and not following.gap and following.kind in _PROSE:
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

    def _may_relate(self, place: int) -> bool:
        token = self.finder.at(place)
        if token is None:
            return False
        if token.kind in (Kind.SHORT, Kind.DOTS):
            return True
        if token.kind is Kind.INFIX and token.text in _SIGNS_BEFORE:
            return self.finder.at(place + 1) is not None
        if token.kind is Kind.LETTER:
            return True
        return self._begins_operand(place)

    def _mapping(self, place: int) -> int | None:
        """The colon of ``f: A -> B``, or that of a proportion, ``a:b = c:d``."""
        if self.finder.is_tight(place) and self.finder.is_tight(place + 1):
            second = self.finder.at(place + 2)
            is_equated = second is not None and second.text == "="
            fits = self.tokens[place - 1].kind in _ATOMS and (is_equated or self.relations)
            if fits and self._begins_operand(place + 1):
                return -(place + 1)
        if place - 1 != self.first and not (self.forced and place - 2 == self.first):
            return None
        if self.tokens[place - 1].kind not in (Kind.LETTER, Kind.SYMBOL):
            return None
        target = self.finder.at(place + 1)
        if target is None:
            return None
        after = target.mate + 1 if target.mate > place else place + 2
        while self.finder.is_tight(after, Kind.SCRIPT, Kind.SUP):
            after += 2 if self.tokens[after].kind is Kind.SCRIPT else 1
        if target.kind is Kind.COMMAND and self.finder.is_tight(after, Kind.OPENING):
            after = max(self.tokens[after].mate + 1, after + 1)
        arrow = self.finder.at(after)
        if arrow is None or arrow.text not in _ARROWS:
            return None
        self.strong += 1
        return -(place + 1)

    def _infix_word(self, place: int) -> int | None:
        following = self.finder.at(place + 1)
        before = self.tokens[place - 1]
        if following is None or before.text in ("I", "a"):
            return None
        if following.kind not in (Kind.NUMBER, Kind.LETTER, Kind.SYMBOL, Kind.OPENING):
            return None
        after = self.finder.at(place + 2)
        is_article = following.text in LETTER_WORDS and after is not None and after.kind in _PROSE
        if is_article or (following.kind is Kind.OPENING and not self.finder.is_pure(place + 1)):
            return None
        self.strong += 1
        return -(place + 1)

    def _juxtaposed(self, place: int) -> int | None:
        """What stands right after an operand, without space: a factor or an argument."""
        finder, token, before = self.finder, self.tokens[place], self.tokens[place - 1]
        kind = token.kind
        if kind is Kind.OPENING:
            if token.strong or (token.text == "{" and before.kind is Kind.CLOSING):
                return token.mate + 1 if token.mate > place else -(place + 1)
            if token.mate < 0:
                return -(place + 1)
            called = before.kind in _CALLED or (
                place - 2 >= self.first and self.tokens[place - 2].kind is Kind.SCRIPT
            )
            if not finder.is_pure(place, called=called):
                return None
            if before.kind is Kind.NUMBER and not called and not finder.has_operators(place):
                inner = self.tokens[place + 1]
                if token.mate == place + 2 and inner.kind in (Kind.LETTER, Kind.NUMBER):
                    return None  # 4(b)
            self.strong += called
            if not called:
                self._count_inside(place)
            return token.mate + 1
        if kind is Kind.NUMBER:
            # x1 is a variable; 3x3 is a size.
            following = finder.at(place + 1)
            joined = following is not None and following.kind in (Kind.INFIX, Kind.RELATION)
            if before.text in ("x", "X") and not joined and place - 2 >= self.first and (
                self.tokens[place - 2].kind is Kind.NUMBER
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
            return place + 1 + (kind is Kind.WILD)
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
        """What stands after an operand and a space: a factor, or the next word of a sentence."""
        finder, token, before = self.finder, self.tokens[place], self.tokens[place - 1]
        kind = token.kind
        following = finder.at(place + 1)
        begun = self.relations + self.operators + self.strong > 0
        if kind is Kind.COMMAND:
            if not token.strong and not token.text[1:2] in (",", ";", ":", "!", " ", "\\"):
                return None
            return self._operand_at(place)
        if kind in (Kind.PREFIX, Kind.ROOT) or (kind is Kind.BIG and (token.strong or begun)):
            return self._operand_at(place)
        if kind is Kind.SYMBOL:
            goes_on = following is not None and following.kind in _OPERATORS
            if before.kind is Kind.NUMBER or (begun and before.strong) or goes_on:
                return self._operand_at(place)
            return self._operand_at(place) if self.operators + self.relations else None
        if kind is Kind.NAME:
            fits = token.text in GREEK and (before.kind is Kind.NUMBER or begun)
            self.strong += fits
            return place + 1 if fits else None
        if kind is Kind.FUNCTION:
            if before.kind is Kind.LETTER and before.text in LETTER_WORDS and not begun:
                return None
            return self._operand_at(place)
        if kind is Kind.SHORT:
            if token.text in ("dx", "dy", "dt", "dz", "dr") and before.kind is Kind.LETTER:
                self.strong += 1  # x dx
                return place + 1
            if _DIFFERENTIAL.fullmatch(token.text) and (begun or self.has_integral):
                if token.text in short_words() and not self.has_integral:
                    return None
                return place + 1
            fits = following is not None and following.kind in _OPERATORS
            known = token.text in short_words()
            is_hyphen = fits and following is not None and following.text in _HYPHENS
            ends = following is None or following.kind in (Kind.COMMA, Kind.OTHER)
            if self.relations and ends and not known:
                return place + 1
            return place + 1 if fits and begun and not known and not is_hyphen else None
        if kind is Kind.OPENING:
            return self._group_after_space(place, begun)
        if kind is Kind.LETTER:
            return self._letter_after_space(place)
        if kind is Kind.BAR and begun:
            return None
        if kind is Kind.DOTS and begun:
            return place + 1
        return None

    def _operand_at(self, place: int) -> int | None:
        self.place = place
        return self._operand()

    def _group_after_space(self, place: int, begun: bool) -> int | None:
        finder, token = self.finder, self.tokens[place]
        if token.strong:
            return self._group(place, is_first=False)
        if token.mate < 0 or not finder.is_pure(place):
            return None
        inner = self.tokens[place + 1]
        is_modulus = inner.text == "mod"
        follows = finder.is_tight(token.mate + 1, Kind.SCRIPT, Kind.SUP, Kind.OPENING)
        if is_modulus or (finder.has_operators(place) and (begun or follows)):
            self.strong += 1
            return token.mate + 1
        before = self.tokens[place - 1]
        is_factor = before.kind is Kind.NUMBER and finder.has_operators(place)
        if is_factor:
            self._count_inside(place)
        return token.mate + 1 if is_factor else None

    def _letter_after_space(self, place: int) -> int | None:
        """A letter is a factor, ``2 x + 1``, or a word, ``x > 0 a y > 0``."""
        finder, token = self.finder, self.tokens[place]
        following = finder.at(place + 1)
        begun = self.relations + self.operators + self.strong > 0
        is_word = token.text in LETTER_WORDS
        if following is None:
            fits = begun
        elif not following.gap and following.kind in (
            Kind.SCRIPT, Kind.SUP, Kind.SUB, Kind.OPENING, Kind.POSTFIX,
        ):  # fmt: skip
            fits = True
        elif following.kind in (Kind.INFIX, Kind.RELATION):
            fits = not (self.relations and following.kind is Kind.RELATION)
            if following.text in _HYPHENS and not following.gap and finder.is_tight(
                place + 2, *_PROSE
            ):
                fits = False
        elif following.kind in (Kind.LETTER, Kind.NUMBER, Kind.FUNCTION, Kind.OPENING, Kind.BAR):
            fits = begun and not (is_word and self.relations)
        elif following.kind in _PROSE:
            fits = begun and not is_word
        else:
            fits = begun
        if fits and is_word and following is not None and following.kind in _PROSE:
            fits = False
        if not fits:
            self.ended_by_word = is_word
            return None
        self.letters += 1
        return place + 1

    # -- evidence

    def is_formula(self, after: int) -> bool:
        """Whether what was read up to a token is a formula, and not prose that looks like one."""
        tokens = self.tokens[self.first : after]
        if self.forced:
            return self._is_no_price(tokens[1:], after)
        written = "".join(token.text for token in tokens)
        if self._is_prose(tokens, written, after):
            return False
        if self.strong or self.relations:
            return True
        if self.operators:
            return self._has_good_operators(tokens, after)
        return self._is_whole(after) and self.letters > 0 and len(tokens) > 1

    def _is_no_price(self, tokens: Sequence[Token], after: int) -> bool:
        if not tokens:
            return False
        before = self.finder.at(self.first - 1)
        if before is not None and not self.tokens[self.first].gap and before.kind is Kind.NUMBER:
            return False  # 5$ a day
        if tokens[0].kind is Kind.NUMBER and not (self.strong + self.relations + self.operators):
            return self.letters > 0 and not tokens[-1].text.casefold() == "k"
        return True

    def _is_prose(self, tokens: Sequence[Token], written: str, after: int) -> bool:
        """Whether it is one of the compounds that only look like formulas."""
        following = self.finder.at(after)
        glued = following is not None and not following.gap
        if written in LOOK_ALIKES or (written == "a(n)" and not self._is_whole(after)):
            return True
        if glued and following is not None and len(tokens) < 3:
            if following.text in _HYPHENS and self.finder.is_tight(after + 1, *_PROSE):
                return True  # σ-algebra
            if following.kind is Kind.WORD and tokens[-1].kind is Kind.LETTER:
                return True
        if len(tokens) == 2 and tokens[1].kind is Kind.SUP and tokens[0].text in UNITS:
            return not self._is_whole(after)
        return False

    def _has_good_operators(self, tokens: Sequence[Token], after: int) -> bool:
        """Whether plus, minus, times and slash alone make a formula of letters and numbers."""
        signs = [token for token in tokens if token.kind is Kind.INFIX]
        kinds = [token.kind for token in tokens]
        if any(token.text in ("+", "*", "+-", "**", "·") for token in signs):
            return True
        slashes = [token for token in signs if token.text == "/"]
        hyphens = [token for token in signs if token.text in _HYPHENS]
        whole = self._is_whole(after)
        only_numbers = all(kind in (Kind.NUMBER, Kind.INFIX) for kind in kinds)
        if only_numbers and len(signs) > 1 and len({sign.text for sign in signs}) == 1:
            return whole and not _is_date(tokens)  # 12/05/2024, 555-12-34
        if slashes and not hyphens:
            return self._is_quotient(tokens, after)
        if hyphens and not slashes:
            if whole:
                return not only_numbers or len(tokens) == 3
            if len(tokens) == 2:  # -5, -x
                return False
            if len(hyphens) == 1 and len(tokens) == 3:
                left, sign, right = tokens
                spaced = sign.gap and right.gap
                if only_numbers:
                    return False
                if spaced:
                    return True
                if left.kind is Kind.LETTER and right.kind is Kind.LETTER:
                    return False  # the x-y plane
                letter = left if left.kind is Kind.LETTER else right
                return letter.text.islower()  # n-1, but F-16 and 3-D
            return not only_numbers
        return not only_numbers or whole

    def _is_quotient(self, tokens: Sequence[Token], after: int) -> bool:
        letters = [token.text for token in tokens if token.kind is Kind.LETTER]
        if len(tokens) == 3 and len(letters) == 2:
            # A/B testing, I/O; but a/b and p/q.
            return all(letter.islower() for letter in letters)
        if any(token.kind is Kind.SHORT for token in tokens):
            shorts = [token.text for token in tokens if token.kind is Kind.SHORT]
            return all(word[0] == "d" or word[1:].isupper() for word in shorts) or any(
                token.kind is Kind.NUMBER for token in tokens
            )
        if len(tokens) == 3 and not letters:
            before = self.finder.at(self.first - 1)
            return not (before is not None and before.text in ("on", "since", "until", "by", "del"))
        return True

    def _is_whole(self, after: int) -> bool:
        """Whether nothing but punctuation stands around it."""
        alone = self.first <= 3 and len(self.tokens) - after <= 3
        if not alone:
            return False
        others = (*self.tokens[: self.first], *self.tokens[after:])
        return all(token.text in ".,;:?!\"'()$" for token in others)


def _is_date(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 5 and any(len(token.text) == 4 for token in tokens[::2])


@cache
def short_words() -> frozenset[str]:
    """The words of up to three letters that sentences of our languages are made of."""
    listed = frozenset().union(
        *(row.stop_words for row in LANGUAGES.values() if row.script == "Latn")
    )
    small = frozenset(word for word in listed if len(word) <= 3)
    return small | _MORE_SHORT_WORDS | {word.capitalize() for word in small}


_MORE_SHORT_WORDS: Final = frozenset(
    "if is as at be by in of on or to up an am do go he it so "
    "use try get let set sum one two six ten odd big new old top low way day man men its his her "
    "him she you they we us me my our was has had did may can why who how and for the not but are "
    "any all few per via vs etc see say yes no ok pdf PDF ODE PDE TCP IP USA UK EU PhD IQ AI ML "
    "NN map row key box bus car cat dog hat red led end eat buy pay add ray law aim arc area axis "
    "ka ke ki ko se me hai kya ho tha thi par jo ye wo yah hal mul "
    "un una los las del por con que qué sin más dos uno sus fin ver ley eje par "
    "je na za od do iz po ne to ta su li ga mu ih kut broj niz red dva tri sve pri bez "
    "že co jak pro ale ten tak být dva tři bod".split()
)
