"""Exact matches: whether a text contains a formula, up to spacing and notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Protocol

from mathsetu.formulas.latex.symbols import NATIONAL
from mathsetu.formulas.matching.prepared import SubtreeKeys, subtree_keys
from mathsetu.formulas.parse import parse_once

#: The score of a formula that is only a part of a formula of the text.
PART = 0.8
# Smaller formulas (a letter, two symbols) occur in too many posts.
_MIN_NODES = 3
# Maximum number of candidate formulas compared per text.
_MAX_CANDIDATES = 50
# Notation with several spellings, or that only sets the width of a space or bracket.
# A fraction has a command or a slash before, between or around its two parts; a product has a
# sign or none.
_MARKS = "~&{}()/*"
_GAPS = (r"\,", r"\;", r"\!", r"\:")
_SIZES = ("bigg", "Bigg", "big", "Big")
_SPELLINGS = (
    (r"\rightarrow", r"\to"),  # before \right, which is a prefix of it
    *((rf"\{name}", "") for name in ("displaystyle", "textstyle", "limits", "left", "right")),
    *((rf"\{name}", "") for name in ("mathrm", "qquad", "quad")),
    # With their sides, l and r, first; \bigcup loses its beginning in both formulas.
    *((rf"\{name}{side}", "") for name in _SIZES for side in ("l", "r", "m", "")),
    *((rf"\{name}", "\\") for name in ("operatorname*", "operatorname")),
    (r"\cdot", ""),
    *((rf"\{name}", "") for name in ("frac", "dfrac", "tfrac", "cfrac", "over")),
    *((rf"\{name}q", rf"\{name}") for name in ("le", "ge", "ne")),
    *((rf"\var{name}", rf"\{name}") for name in ("epsilon", "theta", "kappa", "rho", "phi")),
    *((rf"\{name}", "|") for name in ("mid", "lvert", "rvert", "vert")),
    *((rf"\{name}", "|") for name in ("parallel", "lVert", "rVert", "Vert")),
)
# Bars of norms are reduced to one.
_DOUBLE_BARS = ("||", "‖", "∥", r"\|")
# National names of functions, longest first, because no blank ends a name here.
_NATIONAL = re.compile(rf"\\({'|'.join(sorted(filter(str.isascii, NATIONAL), key=len)[::-1])})")
# The name of a command, and the names that vary between spellings of the same formula.
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_CHOICES = frozenset(_COMMAND.findall(" ".join(map(" ".join, _SPELLINGS)))).union(
    NATIONAL, NATIONAL.values()
)


def normalise_formula(latex: str) -> str:
    r"""Strip blanks, brackets and variants of spelling from LaTeX, to search for a formula in it.

    Fractions are reduced to their parts, because there are several ways to write them.

    >>> written = (r"\dfrac{1}{n ^ {2}} \, d\varphi", r"\frac1{n^2}d\phi", r"1/n^2 d\phi")
    >>> len(set(map(normalise_formula, written)))
    1
    """
    plain = "".join(latex.split())
    has_commands = "\\" in plain
    for gap in (*_GAPS, *_MARKS) if has_commands else _MARKS:
        plain = plain.replace(gap, "")
    if not has_commands:
        return _with_single_bars(plain)
    for spelling, usual in _SPELLINGS:
        if spelling in plain:
            plain = plain.replace(spelling, usual)
    plain = _with_single_bars(plain)
    plain = _NATIONAL.sub(lambda found: f"\\{NATIONAL[found[1]]}", plain)
    # A name may be a command or upright letters: reduce both to letters.
    return plain.replace("\\", "")


def _with_single_bars(plain: str) -> str:
    for bar in _DOUBLE_BARS:
        plain = plain.replace(bar, "|")
    return plain


class HasFormulas(Protocol):
    """A text with formulas; ``raw`` and ``plain`` are cheap filters before ``formulas``."""

    @property
    def raw(self) -> str:
        """A text that contains all commands of the formulas, and possibly more."""
        ...

    @property
    def plain(self) -> str:
        """The whole text, stripped by `normalise_formula`."""
        ...

    @property
    def formulas(self) -> Sequence[str]:
        """Its formulas."""
        ...


def exact_score(asked: str, text: HasFormulas) -> tuple[float, str]:
    """Return how exactly a text contains a formula, and the formula of the text that does.

    The score is 1 for an equal formula, `PART` for a larger formula that contains it, else 0.
    """
    if not all(name in text.raw for name in _names(asked)):
        return 0.0, ""
    return most_exact(asked, text.formulas) if _may_contain(text.plain, asked) else (0.0, "")


def most_exact(asked: str, formulas: Iterable[str]) -> tuple[float, str]:
    r"""Return how exactly any of some formulas contains another, and which one (see `exact_score`).

    >>> most_exact(r"\frac{1}{n^2}", [r"\frac1n", r"1/n^2 < 1"])
    (0.8, '1/n^2 < 1')
    >>> most_exact(r"2^3=8", [r"2^3=2\cdot4=8"])  # the ends of a chain
    (0.8, '2^3=2\\cdot4=8')
    """
    if not is_informative(asked):
        return 0.0, ""
    containing = (own for own in formulas if _may_contain(_plain_formula(own), asked))
    likely = islice(containing, _MAX_CANDIDATES)
    share, best = 0.0, ""
    # Shortest first: an equal formula is shorter than formulas that contain it.
    for latex in sorted(likely, key=len):
        own = _contained_share(asked, latex)
        if own > share:
            share, best = own, latex
        if share == 1:
            break
    return share, best


def is_informative(latex: str) -> bool:
    r"""Whether a formula is large enough that its occurrence in a post is informative.

    A named function with an argument is informative at any size.

    >>> is_informative("x"), is_informative("-1"), is_informative("x^2"), is_informative(r"\det A")
    (False, False, True, True)
    """
    nodes = len(_keys(latex).keys)
    return nodes >= _MIN_NODES or (nodes > 1 and parse_once(latex).opt.label.startswith("F!"))


def _may_contain(plain: str, asked: str) -> bool:
    """Whether a normalised text has the formula, or both sides of the equation: a fast test."""
    wanted = _plain_formula(asked)
    if not wanted or wanted in plain:
        return bool(wanted)
    left, equals, right = wanted.partition("=")
    return bool(equals) and left in plain and right in plain


# Good posts are found repeatedly, and each formula of a query is compared with all of theirs.
_plain_formula = lru_cache(maxsize=1 << 14)(normalise_formula)


@lru_cache(maxsize=64)
def _names(latex: str) -> list[str]:
    """Return the commands that a text with this formula must contain, longest first."""
    return sorted(set(_COMMAND.findall(latex)) - _CHOICES, key=len, reverse=True)


@lru_cache(maxsize=4096)
def _contained_share(asked: str, latex: str) -> float:
    if asked.split() == latex.split():
        return 1.0
    wanted, candidate = _keys(asked), _keys(latex)
    if wanted.keys[0] == candidate.keys[0]:
        return 1.0
    return PART if candidate.hold(wanted) else 0.0


@lru_cache(maxsize=4096)
def _keys(latex: str) -> SubtreeKeys:
    return subtree_keys(parse_once(latex).opt)
