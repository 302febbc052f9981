r"""MathML that was copied from a page, as LaTeX.

Its TeX annotation is taken where it has one; else its presentation is written as LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from mathsetu.errors import NotationError
from mathsetu.formulas.mathml.document import Element, parse_xml
from mathsetu.intake.typed.latex import command_of
from mathsetu.markup.spans import strip_latex

_OPENING = re.compile(r"<(?:[A-Za-z]{1,10}:)?math(?=[\s>])", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:[A-Za-z]{1,10}:)?math\s{0,9}>", re.IGNORECASE)
_TEX: Final = frozenset({"application/x-tex", "text/x-tex", "application/x-latex", "TeX", "LaTeX"})
_HIDDEN: Final = frozenset({"annotation", "annotation-xml", "mphantom", "mspace", "none"})
_ESCAPED: Final = {char: f"\\{char}" for char in "{}%$#&_"} | {"\\": "\\backslash ", "^": "\\hat{}"}
_INVISIBLE: Final = str.maketrans("", "", "\u2061\u2062\u2063\u2064\u200b")


def find_mathml(text: str) -> Iterator[tuple[int, int, str]]:
    r"""The MathML in a text: where each piece begins and ends, and its LaTeX.

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
    return strip_latex(_presented(root))


def _presented(root: Element) -> str:
    """The presentation as LaTeX, innermost elements first."""
    done: dict[int, str] = {}
    for element in reversed(list(root.walk())):
        parts = [done.pop(id(child)) for child in element.children]
        if element.name in _HIDDEN:
            done[id(element)] = ""
        elif element.name in ("mi", "mn", "mo", "mtext", "ms"):
            done[id(element)] = _token(element)
        else:
            done[id(element)] = _WRITERS.get(element.name, _row)(parts)
    return done[id(root)]


def _token(element: Element) -> str:
    text = element.text.translate(_INVISIBLE)
    if element.name in ("mtext", "ms"):
        return f"\\text{{{''.join(_ESCAPED.get(char, char) for char in text)}}}" if text else ""
    if element.name == "mi" and len(text) > 1 and text.isalpha():
        return f"\\{text} " if text in _FUNCTION_NAMES else f"\\operatorname{{{text}}}"
    return "".join(
        _ESCAPED.get(char) or (char if char.isascii() else command_of(char)) for char in text
    )


_FUNCTION_NAMES: Final = frozenset(
    "sin cos tan cot sec csc sinh cosh tanh log ln exp lim max min sup inf gcd det dim ker".split()
)


def _row(parts: list[str]) -> str:
    return "".join(parts)


def _scripts(*marks: str) -> Callable[[list[str]], str]:
    def write(parts: list[str]) -> str:
        base, *scripts = parts or [""]
        base = base if len(base) < 2 or base[0] == "\\" else f"{{{base}}}"
        written = (f"{mark}{{{part}}}" for mark, part in zip(marks, scripts, strict=False) if part)
        return base.rstrip() + "".join(written) + " "

    return write


def _fraction(parts: list[str]) -> str:
    return f"\\frac{{{parts[0]}}}{{{parts[1]}}}" if len(parts) == 2 else _row(parts)


def _root(parts: list[str]) -> str:
    return f"\\sqrt[{parts[1]}]{{{parts[0]}}}" if len(parts) == 2 else _row(parts)


_WRITERS: Final[dict[str, Callable[[list[str]], str]]] = {
    "mfrac": _fraction,
    "msqrt": lambda parts: f"\\sqrt{{{_row(parts)}}}",
    "mroot": _root,
    "msup": _scripts("^"),
    "msub": _scripts("_"),
    "msubsup": _scripts("_", "^"),
    "mover": _scripts("^"),
    "munder": _scripts("_"),
    "munderover": _scripts("_", "^"),
    "mfenced": lambda parts: f"({','.join(parts)})",
    "mtd": lambda parts: f"{_row(parts)} & ",
    "mtr": lambda parts: _row(parts).removesuffix(" & ") + r" \\ ",
    "mtable": lambda parts: f"\\begin{{matrix}}{_row(parts).removesuffix(' ')}\\end{{matrix}}",
}
