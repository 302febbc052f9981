"""The kinds of tokens of a typed query, and sets of kinds and signs."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Final


class Kind(IntEnum):
    """The kind of a token; an integer, because membership in sets is tested often."""

    NUMBER = auto()
    LETTER = auto()  # a variable
    SYMBOL = auto()  # a sign that occurs only in formulas: π, ℝ, ∞
    NAME = auto()  # the name of a sign: pi, infinity
    FUNCTION = auto()
    BIG = auto()  # sum, integral, limit
    ROOT = auto()
    SHORT = auto()  # a short word, perhaps a product of variables: xy, dx
    WORD = auto()
    CONNECTIVE = auto()
    COMMAND = auto()
    PROSE_COMMAND = auto()
    SUP = auto()
    SUB = auto()
    SCRIPT = auto()
    INFIX = auto()
    RELATION = auto()
    PREFIX = auto()
    POSTFIX = auto()
    OPENING = auto()
    CLOSING = auto()
    BAR = auto()
    COMMA = auto()
    DOTS = auto()
    WILD = auto()  # a wildcard: ?f, ?a1
    DELIMITER = auto()
    OTHER = auto()


class Token:
    """A token of a query: its position, its kind, and the white space before it."""

    __slots__ = ("end", "gap", "kind", "mate", "start", "strong", "text")

    def __init__(self, kind: Kind, text: str, start: int, gap: int, strong: bool = False) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = start + len(text)
        #: 0: none; 1: blanks; 2: a new line.
        self.gap = gap
        #: Whether it does not occur in prose.
        self.strong = strong
        #: The position of the matching bracket, -1 for none.
        self.mate = -1

    def __repr__(self) -> str:
        return f"{self.kind.name}({self.text!r})"


ATOMS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL, Kind.NAME, Kind.WILD})
OPERATORS: Final = frozenset({Kind.INFIX, Kind.RELATION, Kind.SCRIPT, Kind.SUP, Kind.SUB})
PROSE: Final = frozenset({Kind.WORD, Kind.SHORT, Kind.CONNECTIVE, Kind.PROSE_COMMAND})
HYPHENS: Final = frozenset("-–−")
SIGNS_BEFORE: Final = frozenset("- + − ± ∓ +- +/- –".split())
ARROWS: Final = frozenset("-> --> → ↦ \\to \\rightarrow \\mapsto |-> ⟶".split())
DOUBLE_BARS: Final = frozenset({"||", "\\|", "‖", "∥"})
#: Signs that act as brackets in pairs (see `mathsetu.intake.typed.fences`).
BARS: Final = DOUBLE_BARS | {"|", "∣"}
