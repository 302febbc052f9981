"""The tokeniser: one regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from mathsetu.formulas.latex.fonts import FONTS, SWITCHES

#: Commands whose argument is read as text.
TEXT_NAMES: Final = (
    "text textrm textbf textit textsf texttt textsc textsl textup textmd textnormal"
    " mbox hbox operatorname operatorname* qvar"
).split()

# An argument with up to two levels of inner braces; deeper ones are split into tokens.
_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\}"


def _named(names: Iterable[str], then: str) -> str:
    """Return a pattern of names with a common suffix, with one alternative for each first letter.

    An alternative with another first letter than the text is skipped quickly.

    >>> _named(["tag", "hspace", "hskip"], "=")
    'h(?:space|skip)=|t(?:ag)='
    """
    # Longer names first: one may be a prefix of another.
    ordered = sorted(names, key=lambda name: (name[0], -len(name)))
    return "|".join(
        f"{first}(?:{'|'.join(re.escape(name[1:]) for name in same)}){then}"
        for first, same in groupby(ordered, lambda name: name[0])
    )


# Font switches are left out: they apply to the tokens after them.
_FONTS = _named(
    (name[1:] for name in FONTS if name not in SWITCHES),
    r"(?:\s*\{\s*[A-Za-z0-9]+\s*\}|\s+[A-Za-z0-9]|\d)",
)
_TEXTS = _named(TEXT_NAMES, r"\s*" + _BRACED)
_TABLES = _named(("begin", "end"), r"\s*\{[^{}\\]*\}")
_FENCES = _named(("left", "right", "middle"), r"(?![A-Za-z])\s*(?:\\(?:[A-Za-z]+|.)|[^\\\s])?")
_STARRED = _named(("tag", "hspace", "vspace", "operatorname"), r"\*")
_LENGTHS = _named(("hskip", "vskip", "mskip", "mkern", "kern"), r"\s*-?[\d.]+\s*[a-z]{2}")

#: One token, with frequent tokens first; a token includes simple arguments of text and fonts.
#: Spaces are skipped and are not tokens, except for one at the end.
TOKEN: Final = re.compile(
    rf"""
      [A-Za-z()\[\]{{}}+*/,;~$@"`-]                    # most signs are one character
    | \\(?:{_FONTS}|{_TEXTS}|{_TABLES}|{_FENCES}|{_STARRED}|{_LENGTHS}|[A-Za-z]+|.)
    | [\^_](?:\{{[A-Za-z0-9]\}}|[A-Za-z0-9]|)          # the usual scripts are one sign
    | \d\d*+(?:(?:\\[\ ,]|\{{,\}}|~)\s*\d{{3}}(?!\d))*+(?:[.٫]\d+|\{{,\}}\d+|)
    | =:?
    | &(?:[A-Za-z]+|\#[0-9]+|\#[xX][0-9A-Fa-f]+);
    | \|\|?
    | \.(?:\.\.|\d+)?
    | !(?:=(?!=)|!)?
    | :=?
    | [<>]=?
    | '+
    | %[^\n]*
    | \#[1-9]?
    | \?(?:[A-Za-z]\d*)?
    | \S
    | \s\Z
    """,
    re.VERBOSE | re.DOTALL,
)
