r"""Converts equations of Word documents (Office Math Markup Language, OMML) to LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

from mathsetu.markup.symbols import (
    ABOVE,
    BELOW,
    FUNCTIONS,
    as_text,
    fenced,
    grouped,
    with_scripts,
    word,
    written,
)

NAMESPACE = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# Deeper equations are flattened: they do not occur in practice; each level is a recursive call.
_DEEPEST = 80
_WORD = re.compile(r"[A-Za-z]{2,}")
_LOOSE_LIMIT = re.compile(rf"(\\(?:{'|'.join(sorted(FUNCTIONS))})) ?\{{\}}_\{{")
_PROPERTIES = "Pr"


def omml_to_latex(element: Element) -> str:
    r"""Convert an equation to LaTeX.

    >>> from xml.etree.ElementTree import fromstring
    >>> m = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    >>> half = f"<m:f {m}><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
    >>> omml_to_latex(fromstring(half + "</m:den></m:f>"))
    '\\frac{1}{2}'
    """
    # LibreOffice attaches the limits of an operator to an empty base after it.
    return _LOOSE_LIMIT.sub(r"\1_{", " ".join(_latex(element, 0).split()))


def _latex(element: Element, depth: int) -> str:
    name = element.tag.removeprefix(NAMESPACE) if isinstance(element.tag, str) else ""
    if depth > _DEEPEST:
        return written("".join(element.itertext()))
    if name == "r":
        return _run(element)
    if name.endswith(_PROPERTIES):
        return ""
    maker = _MAKERS.get(name)
    if maker is not None:
        return maker(element, depth)
    return _children(element, depth)


def _children(element: Element, depth: int) -> str:
    return "".join(_latex(child, depth + 1) for child in element)


def _part(element: Element, name: str, depth: int) -> str:
    part = element.find(NAMESPACE + name)
    return "" if part is None else _children(part, depth + 1).strip()


def _run(element: Element) -> str:
    text = "".join(part.text or "" for part in element.iter(NAMESPACE + "t"))
    properties = element.find(NAMESPACE + "rPr")
    style = ""
    if properties is not None:
        if properties.find(NAMESPACE + "nor") is not None:
            return as_text(text)
        style = _value(properties.find(NAMESPACE + "sty"))
        script = _value(properties.find(NAMESPACE + "scr"))
        fonts = {"double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak",
                 "sans-serif": "mathsf", "monospace": "mathtt"}  # fmt: skip
        if script in fonts and text.strip():
            return f"\\{fonts[script]}{{{written(text.strip())}}}"
        if style == "b" and text.strip():
            return f"\\mathbf{{{written(text.strip())}}}"
    pieces = []
    position = 0
    for found in _WORD.finditer(text):
        is_name = found[0] in FUNCTIONS or style == "p"
        pieces.append(written(text[position : found.start()]))
        pieces.append(word(found[0]) if is_name else found[0])
        position = found.end()
    return "".join([*pieces, written(text[position:])])


def _value(element: Element | None, default: str = "") -> str:
    return default if element is None else element.get(f"{NAMESPACE}val", default)


def _property(element: Element, name: str, default: str = "") -> str:
    """Return a property of an element; empty if it is present without a value."""
    tag = element.tag.removeprefix(NAMESPACE)
    properties = element.find(f"{NAMESPACE}{tag}{_PROPERTIES}")
    found = properties.find(NAMESPACE + name) if properties is not None else None
    return default if found is None else found.get(f"{NAMESPACE}val", "")


def _is_on(element: Element, name: str) -> bool:
    return _property(element, name, "0") in ("", "1", "on", "true")


def _fraction(element: Element, depth: int) -> str:
    above, below = _part(element, "num", depth), _part(element, "den", depth)
    kind = _property(element, "type")
    if kind == "noBar":
        return f"{{{above} \\atop {below}}}"
    if kind == "lin":
        return f"{grouped(above)}/{grouped(below)}"
    return f"\\frac{{{above}}}{{{below}}}"


def _root(element: Element, depth: int) -> str:
    degree = "" if _is_on(element, "degHide") else _part(element, "deg", depth)
    inside = _part(element, "e", depth)
    return f"\\sqrt[{degree}]{{{inside}}}" if degree else f"\\sqrt{{{inside}}}"


def _scripts(element: Element, depth: int) -> str:
    below, above = _part(element, "sub", depth), _part(element, "sup", depth)
    return with_scripts(_part(element, "e", depth), below, above)


def _before(element: Element, depth: int) -> str:
    below, above = _part(element, "sub", depth), _part(element, "sup", depth)
    return with_scripts("", below, above) + _part(element, "e", depth)


def _nary(element: Element, depth: int) -> str:
    sign = written(_property(element, "chr", "∫") or "∫").strip()
    below = "" if _is_on(element, "subHide") else _part(element, "sub", depth)
    above = "" if _is_on(element, "supHide") else _part(element, "sup", depth)
    scripts = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return f"{sign}{scripts} {_part(element, 'e', depth)}"


def _function(element: Element, depth: int) -> str:
    return f"{_part(element, 'fName', depth)} {_part(element, 'e', depth)}"


def _limit(sign: str) -> Callable[[Element, int], str]:
    def make(element: Element, depth: int) -> str:
        limit = _part(element, "lim", depth)
        return _part(element, "e", depth) + (f"{sign}{{{limit}}}" if limit else "")

    return make


def _delimited(element: Element, depth: int) -> str:
    opening = written(_property(element, "begChr", "("))
    closing = written(_property(element, "endChr", ")"))
    between = written(_property(element, "sepChr", "|"))
    parts = [_children(part, depth + 1).strip() for part in element.findall(NAMESPACE + "e")]
    is_array = len(parts) == 1 and parts[0].startswith("\\begin{")
    if is_array and opening == "\\{" and closing == ")":
        closing = ""  # LibreOffice does not state that there is no closing bracket
    return fenced(opening, between.join(parts), closing)


def _matrix(element: Element, depth: int) -> str:
    rows = [
        " & ".join(_children(cell, depth + 1).strip() for cell in row.findall(NAMESPACE + "e"))
        for row in element.findall(NAMESPACE + "mr")
    ]
    return "\\begin{matrix} " + " \\\\ ".join(rows) + " \\end{matrix}"


def _array(element: Element, depth: int) -> str:
    rows = [_children(row, depth + 1).strip() for row in element.findall(NAMESPACE + "e")]
    # Word marks the alignment of lines with an ampersand in the text.
    rows = [row.replace("\\&", "&") for row in rows]
    return "\\begin{aligned} " + " \\\\ ".join(rows) + " \\end{aligned}"


def _accent(element: Element, depth: int) -> str:
    sign = _property(element, "chr", "\u0302") or "\u0302"
    inside = _part(element, "e", depth)
    return f"\\{ABOVE[sign]}{{{inside}}}" if sign in ABOVE else inside


def _bar(element: Element, depth: int) -> str:
    name = "overline" if _property(element, "pos", "bot") == "top" else "underline"
    return f"\\{name}{{{_part(element, 'e', depth)}}}"


def _group(element: Element, depth: int) -> str:
    sign = _property(element, "chr", "⏟") or "⏟"
    inside = _part(element, "e", depth)
    name = ABOVE.get(sign) if _property(element, "pos") == "top" else BELOW.get(sign)
    return f"\\{name}{{{inside}}}" if name else inside


_MAKERS: dict[str, Callable[[Element, int], str]] = {
    "f": _fraction, "rad": _root, "sSup": _scripts, "sSub": _scripts, "sSubSup": _scripts,
    "sPre": _before, "nary": _nary, "func": _function, "limLow": _limit("_"),
    "limUpp": _limit("^"), "d": _delimited, "m": _matrix, "eqArr": _array, "acc": _accent,
    "bar": _bar, "groupChr": _group, "phant": lambda element, depth: "",
}  # fmt: skip
