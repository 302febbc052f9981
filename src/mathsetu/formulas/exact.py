"""Whether a formula stands in a text as it is written, up to spacing and notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Protocol

from mathsetu.formulas.latex.symbols import NATIONAL
from mathsetu.formulas.matching.prepared import SubtreeKeys, subtree_keys
from mathsetu.formulas.parse import parse_once

#: What a formula counts that is only a part of the one that is written.
PART = 0.8
# A letter, or two symbols, stand in every other post.
_LEAST_NODES = 3
# Formulas of one text that are looked at.
_MOST = 50
# What is written in several ways, or says nothing but how wide a gap or a bracket is.
# A fraction is written with a command or with a slash, before, between or around its two parts,
# and a product with a sign or without.
_MARKS = "~&{}()/*"
_GAPS = (r"\,", r"\;", r"\!", r"\:")
_SPELLINGS = (
    (r"\rightarrow", r"\to"),  # before a \right is taken for the end of a bracket
    *((rf"\{name}", "") for name in ("displaystyle", "textstyle", "limits", "left", "right")),
    *((rf"\{name}", "") for name in ("mathrm", "qquad", "quad")),
    *((rf"\{name}", "\\") for name in ("operatorname*", "operatorname")),
    (r"\cdot", ""),
    *((rf"\{name}", "") for name in ("frac", "dfrac", "tfrac", "cfrac", "over")),
    *((rf"\{name}q", rf"\{name}") for name in ("le", "ge", "ne")),
    *((rf"\{name}", "|") for name in ("mid", "lvert", "rvert", "vert")),
)
# National names of functions; the longer first, as blanks no longer end them.
_NATIONAL = re.compile(rf"\\({'|'.join(sorted(filter(str.isascii, NATIONAL), key=len)[::-1])})")
# The name of a command, and those that are not in every text that means the same.
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_CHOICES = frozenset(_COMMAND.findall(" ".join(map(" ".join, _SPELLINGS)))).union(
    NATIONAL, NATIONAL.values()
)


def plainly(latex: str) -> str:
    r"""LaTeX without blanks, brackets and choices of spelling: enough to look for a formula.

    Fractions are no more than their parts here, as there are several ways to write them.

    >>> plainly(r"\dfrac{1}{n ^ {2}} \, dx") == plainly(r"\frac1{n^2}dx") == plainly("1/n^2 dx")
    True
    """
    plain = "".join(latex.split())
    has_commands = "\\" in plain
    for gap in (*_GAPS, *_MARKS) if has_commands else _MARKS:
        plain = plain.replace(gap, "")
    if not has_commands:
        return plain
    for spelling, usual in _SPELLINGS:
        if spelling in plain:
            plain = plain.replace(spelling, usual)
    plain = _NATIONAL.sub(lambda found: f"\\{NATIONAL[found[1]]}", plain)
    # Names are written as commands, or upright: both are letters.
    return plain.replace("\\", "")


class HasFormulas(Protocol):
    """A text with formulas; most texts are told to be without one by a first look or a second."""

    @property
    def raw(self) -> str:
        """Has all commands of the text, among other things."""
        ...

    @property
    def plain(self) -> str:
        """The whole text (`plainly`)."""
        ...

    @property
    def formulas(self) -> Sequence[str]:
        """Its formulas."""
        ...


def exactly(asked: str, text: HasFormulas) -> tuple[float, str]:
    """How exactly a text holds a formula, and the formula of the text that does.

    That is 1 where it is there as it is, `PART` where it is inside a larger one, else 0.
    """
    wanted = _plain_formula(asked)
    if not wanted or not all(name in text.raw for name in _names(asked)):
        return 0.0, ""
    return most_exact(asked, text.formulas) if wanted in text.plain else (0.0, "")


def most_exact(asked: str, formulas: Iterable[str]) -> tuple[float, str]:
    r"""How exactly one of some formulas holds another, and the one that does (see `exactly`).

    >>> most_exact(r"\frac{1}{n^2}", [r"\frac1n", r"1/n^2 < 1"])
    (0.8, '1/n^2 < 1')
    """
    wanted = _plain_formula(asked)
    if not wanted or not is_telling(asked):
        return 0.0, ""
    likely = islice((latex for latex in formulas if wanted in _plain_formula(latex)), _MOST)
    share, best = 0.0, ""
    # The shortest first: nothing is more exact than the formula by itself.
    for latex in sorted(likely, key=len):
        own = _held(asked, latex)
        if own > share:
            share, best = own, latex
        if share == 1:
            break
    return share, best


def is_telling(latex: str) -> bool:
    r"""Whether a formula is large enough that to hold it says something of a post.

    A function with its argument is, however small: it has a name.

    >>> is_telling("x"), is_telling("-1"), is_telling("x^2"), is_telling(r"\det A")
    (False, False, True, True)
    """
    nodes = len(_keys(latex).keys)
    return nodes >= _LEAST_NODES or (nodes > 1 and parse_once(latex).opt.label.startswith("F!"))


# Good posts are found again and again, and each formula of a query is looked for in all of theirs.
_plain_formula = lru_cache(maxsize=1 << 14)(plainly)


@lru_cache(maxsize=64)
def _names(latex: str) -> list[str]:
    """Names of commands that a text must have which holds a formula, the longest first."""
    return sorted(set(_COMMAND.findall(latex)) - _CHOICES, key=len, reverse=True)


@lru_cache(maxsize=4096)
def _held(asked: str, latex: str) -> float:
    if asked.split() == latex.split():
        return 1.0
    wanted, candidate = _keys(asked), _keys(latex)
    if wanted.keys[0] == candidate.keys[0]:
        return 1.0
    return PART if candidate.hold(wanted) else 0.0


@lru_cache(maxsize=4096)
def _keys(latex: str) -> SubtreeKeys:
    return subtree_keys(parse_once(latex).opt)
