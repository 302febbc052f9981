r"""Finds the formulas among the tokens of a typed query, in linear time.

A formula is read from left to right as operands and operators take turns. Where the turn is broken
by a word, it ends. Then its evidence is weighed: ``x-y`` may be a formula and ``x-axis`` may not,
``a/b`` and ``A/B``, ``n!`` and ``Help!``. Letters and numbers that stand alone are words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mathsetu.intake.typed.evidence import is_formula
from mathsetu.intake.typed.lexer import Kind, Token
from mathsetu.intake.typed.reading import Reading
from mathsetu.intake.typed.row import Row


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
    return list(_regions(Row(text, tokens)))


def _regions(row: Row) -> Iterator[Region]:
    place = 0
    while place < len(row.tokens):
        reading = Reading(row, place)
        after = reading.read()
        if after > place and is_formula(reading, after):
            after = _with_closing(row, place, after)
            yield Region(place, after)
            # A letter that ended it is a word: x > 0 a y > 0.
            place = after + (reading.ended_by_word and after == reading.stopped)
        else:
            place = max(reading.stopped, place + 1)


def _with_closing(row: Row, first: int, after: int) -> int:
    """The end with a stray closing delimiter, if there is one."""
    token = row.at(after)
    if token is None or token.kind is not Kind.DELIMITER or token.text in ("\\(", "\\["):
        return after
    following = row.at(after + 1)
    is_price = following is not None and not following.gap and following.kind is Kind.NUMBER
    is_opening = token.gap and row.tokens[first].kind is not Kind.DELIMITER
    opens_next = following is not None and not following.gap and token.gap
    return after if is_price or is_opening or opens_next else after + 1
