"""Whether a formula stands in a text as it is written, up to spacing and notation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from mathsetu.formulas.matching import PreparedFormula
from mathsetu.formulas.parse import parse_once

#: What a formula counts that is only a part of the one that is written.
PART = 0.8
# A letter, or two symbols, stand in every other post.
_LEAST_NODES = 3
# Formulas of one text that are looked at.
_MOST = 50
# What is written in several ways, or says nothing but how wide a gap or a bracket is.
_SPELLINGS = (
    *((mark, "") for mark in (r"\,", r"\;", r"\!", r"\:", r"\ ", "~", "&", *"{}()")),
    *((rf"\{name}", "") for name in ("displaystyle", "textstyle", "limits", "left", "right")),
    *((rf"\{name}", "") for name in ("mathrm", "qquad", "quad")),
    *((rf"\{name}", "\\") for name in ("operatorname*", "operatorname")),
    *((rf"\{name}", r"\frac") for name in ("dfrac", "tfrac", "cfrac")),
    *((rf"\{name}q", rf"\{name}") for name in ("le", "ge", "ne")),
    (r"\rightarrow", r"\to"),
)


def plainly(latex: str) -> str:
    r"""LaTeX without blanks, brackets and choices of spelling: enough to look for a formula.

    >>> plainly(r"\dfrac{1}{n ^ {2}} \, dx") == plainly(r"\frac1{n^2}dx")
    True
    """
    plain = "".join(latex.split())
    for spelling, usual in _SPELLINGS:
        if spelling in plain:
            plain = plain.replace(spelling, usual)
    return plain


def exactly(asked: str, plain_text: str, formulas: Iterable[str]) -> tuple[float, str]:
    r"""How exactly a text holds a formula, and the formula of the text that does.

    That is 1 where it is there as it is, `PART` where it is inside a larger one, else 0.

    Args:
        asked: The formula.
        plain_text: The text (`plainly`), which tells most texts to be without it.
        formulas: The formulas of the text; they are read only where it may be among them.

    >>> text = r"\sum_n \dfrac1{n^2}"
    >>> exactly(r"\frac{1}{n^{2}}", plainly(text), [text])
    (0.8, '\\sum_n \\dfrac1{n^2}')
    >>> exactly("n^3", plainly(text), [text])
    (0.0, '')
    """
    wanted = _plain_formula(asked)
    if not wanted or wanted not in plain_text or not is_telling(asked):
        return 0.0, ""
    likely = islice((latex for latex in formulas if wanted in _plain_formula(latex)), _MOST)
    best = max(likely, key=lambda latex: _held(asked, latex), default="")
    share = _held(asked, best) if best else 0.0
    return share, best if share else ""


def is_telling(latex: str) -> bool:
    """Whether a formula is large enough that to hold it says something of a post.

    >>> is_telling("x"), is_telling("x^2")
    (False, True)
    """
    return len(_prepared(latex).labels) >= _LEAST_NODES


# Good posts are found again and again, and each formula of a query is looked for in all of theirs.
_plain_formula = lru_cache(maxsize=1 << 14)(plainly)


@lru_cache(maxsize=4096)
def _held(asked: str, latex: str) -> float:
    query, candidate = _prepared(asked), _prepared(latex)
    if query.keys[0] == candidate.keys[0]:
        return 1.0
    return PART if query.keys[0] in candidate.keys else 0.0


@lru_cache(maxsize=4096)
def _prepared(latex: str) -> PreparedFormula:
    return PreparedFormula(parse_once(latex).opt)
