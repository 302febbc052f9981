"""The tokens of a typed query in a row, and what is asked of neighbours again and again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from mathsetu.formulas.latex import boxes
from mathsetu.intake.typed.lexer import Kind, Token, role
from mathsetu.intake.typed.names import INFIX_WORDS, SHORT_WORDS
from mathsetu.languages.table import LANGUAGES

ATOMS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL, Kind.NAME, Kind.WILD})
OPERATORS: Final = frozenset({Kind.INFIX, Kind.RELATION, Kind.SCRIPT, Kind.SUP, Kind.SUB})
PROSE: Final = frozenset({Kind.WORD, Kind.SHORT, Kind.CONNECTIVE, Kind.PROSE_COMMAND})
HYPHENS: Final = frozenset("-–−")
SIGNS_BEFORE: Final = frozenset("- + − ± ∓ +- +/- –".split())
ARROWS: Final = frozenset("-> --> → ↦ \\to \\rightarrow \\mapsto |-> ⟶".split())
#: Tokens inside brackets that are looked at one by one; no sentence of short words is longer.
MOST_INSIDE: Final = 40
_JOINING: Final = frozenset({boxes.MULTIPLICATION, boxes.ADDITION, boxes.RELATION, boxes.META})
_DOTS: Final = frozenset("\\dots \\ldots \\cdots".split())
_SIGNS_OF_LISTS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL})


class Region(NamedTuple):
    """A formula: its first token, and the one after its last."""

    first: int
    after: int


class Row:
    """The tokens of a text; what is asked of them takes a bounded time."""

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

    def at(self, place: int) -> Token | None:
        """The token at a place, None where there is none."""
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
            for token in self.tokens[opening + 1 : min(closing, opening + MOST_INSIDE)]
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
            if token.kind is Kind.DOTS or token.text in _DOTS:
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


def joins(token: Token | None) -> bool:
    r"""Whether a token is an operator or relation between operands, such as + or \le."""
    if token is None:
        return False
    if token.kind is Kind.COMMAND:
        return role(token.text) in _JOINING
    return token.kind in (Kind.INFIX, Kind.RELATION)


@cache
def short_words() -> frozenset[str]:
    """The words of up to three letters that sentences of our languages are made of."""
    listed = frozenset().union(
        *(row.stop_words for row in LANGUAGES.values() if row.script == "Latn")
    )
    small = frozenset(word for word in listed if len(word) <= 3)
    return small | SHORT_WORDS | {word.capitalize() for word in small}
