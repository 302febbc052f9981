r"""Converts the prose of a LaTeX source to plain text: removes commands and keeps words."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = dict(
    zip("`'^\"~=.uvHcdbk", "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b"
        "\u0327\u0323\u0331\u0328", strict=True)
)  # fmt: skip
_ACCENT = re.compile(r"\\(?:([`'^\"~=.])\s*|([uvHcdbk])(?:\s+|(?=\{)))\{?(\\?[A-Za-z])\}?")
_LETTERS = {"ss": "ß", "ae": "æ", "oe": "œ", "o": "ø", "l": "ł", "aa": "å", "i": "ı", "j": "ȷ",
            "LaTeX": "LaTeX", "TeX": "TeX", "dots": "…", "ldots": "…", "S": "§"}  # fmt: skip
# Commands whose arguments are not prose.
_MACHINERY = re.compile(
    r"\\(?:label|ref|eqref|pageref|cite[a-z]*|includegraphics|usepackage|documentclass|input|"
    r"include|bibliography|bibliographystyle|vspace|hspace|pagestyle|setcounter|newcommand|"
    r"renewcommand|begin|end)\*?(?:\[[^\[\]]*\])*(?:\{[^{}]*\})+(?:\[[^\[\]]*\])?"
)
#: Commands that define macros.
DEFINES = re.compile(
    r"\\(?:(?:new|renew|provide)command|[gex]?def|DeclareMath|let)(?![a-zA-Z])"
    r"|\\DeclareMathOperator"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?[ \t]?|\\([^A-Za-z])")
# The separator of cells in a table.
_ALIGNMENT = re.compile(r"(?<!\\)&")
_KEPT_ESCAPES = frozenset("%&#_{} ")


def latex_prose(text: str) -> str:
    r"""Return the words of a piece of LaTeX without formulas.

    >>> latex_prose(r"\textbf{Ro\v{z}klad} The \emph{first} ``step''~of Erd\H{o}s\label{a}")
    'Rožklad The first “step” of Erdős'
    """
    text = _ACCENT.sub(_accented, text)
    text = _ALIGNMENT.sub(" ", _MACHINERY.sub("", text))
    text = _COMMAND.sub(_command, text)
    text = text.replace("``", "“").replace("''", "”").replace("---", "—").replace("--", "–")
    return text.translate({ord("{"): None, ord("}"): None, ord("~"): " "})


def _accented(match: re.Match[str]) -> str:
    mark = _ACCENTS[match[1] or match[2]]
    return unicodedata.normalize("NFC", match[3].lstrip("\\") + mark)


def _command(match: re.Match[str]) -> str:
    name, escaped = match.groups()
    if name is None:
        return escaped if escaped in _KEPT_ESCAPES else "\\$" if escaped == "$" else " "
    if name == "item":
        return "\n- "
    return _LETTERS.get(name, "\n" if name in ("par", "section", "newline") else "")
