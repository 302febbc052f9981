"""Decides whether letters, names of letters and short words are operands or words of prose.

Each method reads from a given token and returns a position, as in `mathsetu.intake.typed.operands`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mathsetu.intake.typed.names import AFTER_NUMBERS, GREEK, INFINITY, LETTER_WORDS
from mathsetu.intake.typed.row import Row, joins, short_words
from mathsetu.intake.typed.token_kinds import ATOMS, HYPHENS, OPERATORS, PROSE, Kind, Token

_SCRIPTS: Final = frozenset({Kind.SCRIPT, Kind.SUP, Kind.SUB})
_AFTER_NAMES: Final = frozenset({Kind.OPENING, Kind.POSTFIX, Kind.NUMBER})
_PRIMES: Final = frozenset("'’′″")
_OPERANDS: Final = frozenset({*ATOMS, Kind.SHORT, Kind.OPENING, Kind.FUNCTION, Kind.COMMAND})
_VOWELS: Final = frozenset("aeiou")
# a x^2 + b x …: here, a letter before a space is a coefficient, not an article.
_COEFFICIENTS: Final = re.compile(
    r"[A-Za-z] [A-Za-z](?:\^\d|[²³])? ?[-+−] ?[A-Za-z0-9]+ [A-Za-z](?![A-Za-z])"
)
# Kinds of factors in a product of letters, and how many of them are examined.
_FACTORS: Final = frozenset({Kind.LETTER, Kind.SYMBOL, Kind.SHORT})
_MAX_FACTORS: Final = 8


class Words:
    """Distinguishes operands from words for `Operands`, and counts the evidence for a formula."""

    row: Row
    tokens: Sequence[Token]
    #: The positions of the first token and of the current token.
    first: int
    place: int
    strong: int
    letters: int
    operators: int
    relations: int

    def _letter(self, place: int, is_first: bool) -> int | None:
        """Read a letter, unless it is an article or conjunction before the next token."""
        token, following = self.tokens[place], self.row.at(place + 1)
        if not is_first or following is None or not following.gap:
            return place + 1
        starts = following.kind in ATOMS or following.kind in (
            Kind.COMMAND, Kind.FUNCTION, Kind.BIG, Kind.ROOT, Kind.PREFIX, Kind.OPENING, Kind.SHORT,
        )  # fmt: skip
        if token.text not in LETTER_WORDS or not starts or joins(following):
            return place + 1
        before = self.row.at(place - 1)
        is_coefficient = _COEFFICIENTS.match(self.row.text, token.start) is not None
        if is_coefficient or before is None:
            return place + 1
        return None

    def _is_coefficient(self, place: int) -> bool:
        """Whether the name of a Greek letter precedes another factor: ``pi r^2``."""
        factor, following = self.row.at(place + 1), self.row.at(place + 2)
        if self.tokens[place].text not in GREEK or factor is None or following is None:
            return False
        is_power = self.row.is_tight(place + 2, Kind.SCRIPT, Kind.SUP)
        is_joined = following.kind is Kind.RELATION or following.text in ("+", "/")
        return factor.kind is Kind.LETTER and (is_power or is_joined)

    def _name(self, place: int, is_first: bool) -> int | None:
        token, following = self.tokens[place], self.row.at(place + 1)
        self.letters += 1
        if is_first:
            joined = following is not None and (
                following.kind in OPERATORS
                or (not following.gap and following.kind in _AFTER_NAMES)
            )
            if not joined and self._is_coefficient(place):
                self.strong += 1
                return place + 1
            if not joined or token.text in INFINITY:
                return None
            if following is not None and following.text in HYPHENS and not following.gap:
                return None  # beta-carotene, pi-day
            is_numbered = self.row.is_tight(place + 1, Kind.NUMBER)
            self.strong += following is not None and not following.gap and not is_numbered
        return place + 1

    def _short(self, place: int, is_first: bool) -> int | None:
        """Read a short word that may be a product of variables, a differential, or GL(2)."""
        row, token = self.row, self.tokens[place]
        following = row.at(place + 1)
        word = token.text
        if row.is_tight(place + 1, Kind.OPENING) and self.tokens[place + 1].text == "(":
            inner = self.tokens[place + 2] if self.tokens[place + 1].mate > place + 2 else None
            plural = inner is not None and inner.text in ("s", "es", "a", "as", "os")
            if plural or word in short_words() or not row.has_no_prose(place + 1, called=True):
                return None
            self.strong += 1
            return place + 1
        self.letters += 1
        joined = following is not None and (
            following.kind in OPERATORS or following.text == "∥" or joins(following)
        )
        tight = joined and following is not None and not following.gap
        slashed = joined and following is not None and following.text == "/"
        differential = word[0] in "d∂" and len(word) == 2
        if is_first:
            if row.is_tight(place + 1, Kind.NUMBER):
                if word not in short_words() and self._is_indexed_product(place):
                    return place + 1
                self.place = place + 2  # mp3 - a guide
                return None
            if self._is_primed_product(place) or self._is_before_symbol(place):
                return place + 1
            if not joined or following is None:
                return None
            before_it = row.at(place - 1)
            if before_it is not None and before_it.text in HYPHENS and not token.gap:
                return None  # x-mas = fun
            if following.text in HYPHENS and tight:
                return place + 1 if self._is_difference(place) else None
            if slashed:
                below = row.at(place + 2)
                is_quotient = below is not None and (
                    below.text.startswith("d")
                    or below.kind in (Kind.NUMBER, Kind.OPENING)
                    or (below.kind is Kind.LETTER and row.is_tight(place + 3, *_SCRIPTS))
                )
                is_quotient = is_quotient and word not in short_words()
                return place + 1 if is_quotient or self._is_ratio(place) else None
            if word in short_words():
                return None
            return place + 1
        if differential and word not in short_words():
            return place + 1
        before = self.tokens[place - 1]
        is_compound = before.text in HYPHENS and not before.gap and not token.gap
        begun = self.operators > 1 or self.relations or self.strong
        if is_compound and not begun and not self._is_difference(place - 2):
            return None
        if before.text == "/" and word not in ("dx", "dy", "dt"):
            if word[0].islower() and word[1:].isupper():
                return place + 1  # Z/nZ
            begun = self.operators + self.relations + self.strong > 1
            return place + 1 if begun or self._is_ratio(place - 2) else None
        # After an operator, a word is likely an operand: a + bi.
        ends = following is None or following.kind not in PROSE
        even = bool(before.gap) == bool(token.gap)
        is_sum = before.text in ("+", "*") and len(word) < 3
        wanted = even and (is_sum or (before.kind is Kind.RELATION and ends))
        ends = ends and even and len(word) < 3
        return place + 1 if word not in short_words() or joined or ends or wanted else None

    def _is_primed_product(self, place: int) -> bool:
        """Whether a product has primes before an operator: ``uv' + u'v``, ``ay'' + by' = 0``."""
        row, word = self.row, self.tokens[place]
        after = place + 1
        while row.is_tight(after) and set(self.tokens[after].text) <= _PRIMES:
            after += 1
        sign, beyond = row.at(after), row.at(after + 1)
        if after == place + 1 or sign is None or beyond is None or sign.kind not in OPERATORS:
            return False
        is_product = len(word.text) == 2 and word.text.islower()
        is_operand = beyond.kind in _OPERANDS or beyond.text in HYPHENS
        return is_product and is_operand and bool(sign.gap) == bool(beyond.gap)

    def _is_before_symbol(self, place: int) -> bool:
        """Whether a symbol and an operator follow two small letters: ``eiπ + 1 = 0``."""
        word, sign = self.tokens[place].text, self.row.at(place + 2)
        is_product = len(word) == 2 and word.islower() and self.row.is_tight(place + 1, Kind.SYMBOL)
        return is_product and sign is not None and sign.kind in OPERATORS

    def _is_ratio(self, place: int) -> bool:
        """Whether an equation of ratios of segments begins here: ``AD/AB = AE/AC``."""
        above, slash, below, sign, beyond = (self.row.at(place + step) for step in range(5))
        if above is None or slash is None or below is None or sign is None or beyond is None:
            return False
        are_segments = all(one.kind is Kind.SHORT and one.text.isupper() for one in (above, below))
        is_value = beyond.kind is Kind.NUMBER or (
            beyond.kind is Kind.SHORT and beyond.text.isupper()
        )
        is_equation = slash.text == "/" and sign.kind is Kind.RELATION
        return are_segments and is_equation and is_value

    def _is_indexed_product(self, place: int) -> bool:
        """Whether letters with a digit are a product, ``Gm1m2``, not a name: mp3/mp4, MP3 - a."""
        following, below = self.row.at(place + 2), self.row.at(place + 3)
        if following is None or below is None:
            return False
        if following.text in HYPHENS:
            return below.gap == following.gap and self._runs_into_operator(place + 3)
        is_factor = not following.gap and following.kind in (Kind.LETTER, Kind.OPENING)
        is_name = following.text == "/" and below.kind in PROSE
        return is_factor or (following.kind in OPERATORS and not is_name)

    def _runs_into_operator(self, place: int) -> bool:
        """Whether factors that begin here, ``G M`` or ``m1 m2``, end at an operator."""
        row = self.row
        for _ in range(_MAX_FACTORS):
            token = row.at(place)
            if token is None or token.kind not in _FACTORS:
                return False
            is_indexed = row.is_tight(place + 1, Kind.NUMBER)
            place += 2 if is_indexed else 1
            following = row.at(place)
            if following is not None and following.kind in OPERATORS:
                is_compound = following.text in HYPHENS and row.is_tight(place + 1, *PROSE)
                return not is_compound
            if token.text in LETTER_WORDS and not is_indexed:
                return False
        return False

    def _is_difference(self, place: int) -> bool:
        """Whether a hyphen is a minus between products, as in ``ad-bc``, not part of a compound.

        Each product has two lower-case letters and is not a common word. The second has no vowel,
        so that it is not a word or an ending (Hungarian ``dx-et``). In an equation the second may
        be a word, ``ax-by=c``, or a single letter or number, ``ax-b=0``.
        """
        left, right, beyond = (self.row.at(place + step) for step in (0, 2, 3))
        if left is None or right is None or left.kind is not Kind.SHORT or right.gap:
            return False
        is_related = beyond is not None and beyond.kind is Kind.RELATION
        if is_related and right.kind in (Kind.LETTER, Kind.NUMBER):
            products = [left.text]  # ax-b=0
        elif right.kind is Kind.SHORT and _VOWELS.isdisjoint(right.text):
            products = [left.text, right.text]
        else:
            return False
        words = products[:1] if is_related else products
        return all(len(one) == 2 and one.islower() for one in products) and not any(
            one in short_words() or one in AFTER_NUMBERS for one in words
        )
