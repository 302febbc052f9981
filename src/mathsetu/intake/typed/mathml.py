r"""Converts MathML in a query, copied from a web page, to LaTeX.

The TeX annotation is used if there is one; otherwise the presentation is converted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mathsetu.errors import NotationError
from mathsetu.formulas.mathml.document import parse_xml
from mathsetu.markup.mathml import mathml_to_latex
from mathsetu.markup.spans import strip_latex

_OPENING = re.compile(r"<(?:[A-Za-z]{1,10}:)?math(?=[\s>])", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:[A-Za-z]{1,10}:)?math\s{0,9}>", re.IGNORECASE)
_TEX: Final = frozenset({"application/x-tex", "text/x-tex", "application/x-latex", "TeX", "LaTeX"})


def find_mathml(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Yield the start, end and LaTeX of each MathML element in a text.

    >>> list(find_mathml("is <math><msqrt><mn>2</mn></msqrt></math> real?"))
    [(3, 41, '\\sqrt{2}')]
    """
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        closing = _CLOSING.search(text, opening.end())
        if closing is None:
            return
        position = closing.end()
        latex = _latex(text[opening.start() : position])
        if latex:
            yield opening.start(), position, latex


def _latex(source: str) -> str:
    try:
        root = parse_xml(source)
    except NotationError:
        return ""
    for element in root.walk():
        if element.name == "annotation" and element.attributes.get("encoding", "") in _TEX:
            written = strip_latex(element.text)
            if written:
                return written
    return strip_latex(mathml_to_latex(source))
