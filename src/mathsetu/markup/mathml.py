r"""Converts Presentation MathML to LaTeX, for pages that contain no TeX source.

The markup may be invalid, such as unclosed tags in a web page. Any input is read, in linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from mathsetu.markup.references import unescape
from mathsetu.markup.symbols import (
    ABOVE,
    BELOW,
    WITH_LIMITS,
    as_text,
    fenced,
    with_scripts,
    word,
    written,
)

_PIECE = re.compile(r"<(/?)([A-Za-z][\w:.-]*+)([^<>]*+)>|([^<]++)|<")
_ATTRIBUTE = re.compile(r"([A-Za-z-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
# Deeper formulas are flattened: they do not occur in practice, and each level is a recursive call.
_DEEPEST = 80
_VARIANTS = {"bold": "mathbf", "double-struck": "mathbb", "script": "mathcal",
             "fraktur": "mathfrak", "sans-serif": "mathsf", "monospace": "mathtt",
             "bold-script": "mathcal", "bold-fraktur": "mathfrak",
             "bold-italic": "boldsymbol"}  # fmt: skip
_TOKENS = frozenset(("mi", "mn", "mo", "mtext", "ms"))
_UNSEEN = frozenset(("annotation", "annotation-xml", "mphantom", "none", "mprescripts"))


@dataclass(slots=True)
class _Node:
    name: str
    attributes: str = ""
    texts: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def mathml_to_latex(source: str) -> str:
    r"""Convert a formula from Presentation MathML to LaTeX.

    >>> mathml_to_latex("<math><mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac></math>")
    '\\frac{1}{x^{2}}'
    """
    latex = _latex(_parsed(source))
    return re.sub(r"[ \t\n]++", " ", latex).strip()


def without_comments(source: str) -> str:
    """Remove the comments of markup; an unclosed comment extends to the end.

    >>> without_comments("a<!-- b -->c<!-- d")
    'ac'
    """
    kept: list[str] = []
    position = 0
    while (start := source.find("<!--", position)) >= 0:
        kept.append(source[position:start])
        end = source.find("-->", start + 4)
        position = len(source) if end < 0 else end + 3
    kept.append(source[position:])
    return "".join(kept)


def _parsed(source: str) -> _Node:
    root = _Node("mrow")
    stack = [root]
    opened: Counter[str] = Counter()
    too_deep = 0
    for closing, tag, attributes, text in _PIECE.findall(without_comments(source)):
        name = tag.rpartition(":")[2].lower()
        if text:
            stack[-1].texts.append(unescape(text))
        elif not name:
            continue
        elif closing:
            if too_deep:
                too_deep -= 1
            elif opened[name]:  # also closes the unclosed elements inside
                while (node := stack.pop()).name != name:
                    opened[node.name] -= 1
                opened[name] -= 1
        elif len(stack) > _DEEPEST:
            too_deep += not attributes.endswith("/")
        else:
            node = _Node(name, attributes)
            stack[-1].children.append(node)
            if not attributes.endswith("/"):
                stack.append(node)
                opened[name] += 1
    return root


def _latex(node: _Node) -> str:
    name = node.name
    if name in _UNSEEN:
        return ""
    if name in _TOKENS:
        return _token(node)
    if name == "semantics":
        return _latex(node.children[0]) if node.children else ""
    if name == "mtable":
        return _table(node)
    if name == "mfenced":
        return _fenced(node)
    if name == "mspace":
        return " "
    maker = _MAKERS.get(name)
    parts = [_latex(child) for child in node.children if child.name != "mprescripts"]
    if maker is not None:
        wanted, make = maker
        if len(parts) >= wanted:
            return make(node, parts)
    if any(child.name == "mtable" or child.name == "mfrac" for child in node.children):
        parts = _with_fences(parts)
    return "".join(parts)


def _with_fences(parts: list[str]) -> list[str]:
    """Merge brackets in a row with the matrix or binomial coefficient between them."""
    made: list[str] = []
    seen = [part for part in parts if part.strip()]
    number = 0
    while number < len(seen):
        opening = seen[number].strip()
        if opening in ("(", "[", "|", "\\{", "\\|") and number + 1 < len(seen):
            closing = seen[number + 2] if number + 2 < len(seen) else ""
            whole = fenced(opening, seen[number + 1], closing)
            if whole.startswith(("\\begin{", "\\binom")):
                made.append(whole)
                number += 3
                continue
            if opening == "\\{":
                whole = fenced(opening, seen[number + 1], "")
                if whole.startswith("\\begin{"):
                    made.append(whole)
                    number += 2
                    continue
        made.append(seen[number])
        number += 1
    return made


def _token(node: _Node) -> str:
    # A token may contain other elements; only their text is part of the formula.
    text = "".join([node.text, *(child.text for child in node.children)])
    if node.name in ("mtext", "ms"):
        return as_text(text)
    text = "".join(text.split())
    if not text:
        return ""
    variant = _attribute(node, "mathvariant")
    if node.name == "mn":
        return written(text)
    if len(text) > 1 and text.isalpha() and text.isascii():
        return word(text)
    latex = written(text)
    if node.name == "mi" and variant in _VARIANTS:
        return f"\\{_VARIANTS[variant]}{{{latex.strip()}}}"
    return latex


def _fraction(node: _Node, parts: list[str]) -> str:
    above, below = (part.strip() for part in parts[:2])
    if _attribute(node, "linethickness").rstrip("px") == "0":
        return f"{{{above} \\atop {below}}}"
    return f"\\frac{{{above}}}{{{below}}}"


def _over(node: _Node, parts: list[str]) -> str:
    base, above = parts[:2]
    sign = _sign(node.children[1])
    if sign in ABOVE:
        return f"\\{ABOVE[sign]}{{{base.strip()}}}"
    if _sign(node.children[0]) in WITH_LIMITS:
        return f"{base.strip()}^{{{above.strip()}}}"
    return f"\\overset{{{above.strip()}}}{{{base.strip()}}}"


def _under(node: _Node, parts: list[str]) -> str:
    base, below = parts[:2]
    sign = _sign(node.children[1])
    if sign in BELOW:
        return f"\\{BELOW[sign]}{{{base.strip()}}}"
    if _sign(node.children[0]) in WITH_LIMITS:
        return f"{base.strip()}_{{{below.strip()}}}"
    return f"\\underset{{{below.strip()}}}{{{base.strip()}}}"


def _under_over(node: _Node, parts: list[str]) -> str:
    base, below, above = (part.strip() for part in parts[:3])
    if _sign(node.children[0]) in WITH_LIMITS:
        return f"{base}_{{{below}}}^{{{above}}}"
    return f"\\underset{{{below}}}{{\\overset{{{above}}}{{{base}}}}}"


def _multiscripts(node: _Node, parts: list[str]) -> str:
    names = [child.name for child in node.children]
    before = names.index("mprescripts") if "mprescripts" in names else len(parts)
    base, after, ahead = parts[0], parts[1:before], parts[before:]
    latex = with_scripts(base, "".join(after[::2]), "".join(after[1::2]))
    if not any(part.strip() for part in ahead):
        return latex
    return with_scripts("", "".join(ahead[::2]), "".join(ahead[1::2])) + latex


def _table(node: _Node) -> str:
    rows = [row for row in node.children if row.name in ("mtr", "mlabeledtr")]
    lines = []
    for row in rows:
        cells = row.children[1:] if row.name == "mlabeledtr" else row.children
        lines.append(" & ".join(_latex(cell).strip() for cell in cells))
    between = " \\\\ "
    return f"\\begin{{matrix}} {between.join(lines)} \\end{{matrix}}" if lines else ""


def _fenced(node: _Node) -> str:
    opening = _attribute(node, "open", "(")
    closing = _attribute(node, "close", ")")
    separators = "".join(_attribute(node, "separators", ",").split()) or ""
    parts = [_latex(child) for child in node.children]
    inside = parts[0] if parts else ""
    for number, part in enumerate(parts[1:]):
        sign = separators[min(number, len(separators) - 1)] if separators else ""
        inside += written(sign) + part
    return fenced(written(opening), inside, written(closing))


def _sign(node: _Node) -> str:
    """Return the text of a node, also if it is nested in elements with a single child."""
    while not node.text.strip() and len(node.children) == 1:
        node = node.children[0]
    return node.text.strip()


def _attribute(node: _Node, name: str, default: str = "") -> str:
    for match in _ATTRIBUTE.finditer(node.attributes):
        if match[1].lower() == name:
            return unescape(match[2] or match[3] or "")
    return default


_MAKERS: dict[str, tuple[int, Callable[[_Node, list[str]], str]]] = {
    "mfrac": (2, _fraction),
    "msqrt": (0, lambda _, parts: f"\\sqrt{{{''.join(parts).strip()}}}"),
    "mroot": (2, lambda _, parts: f"\\sqrt[{parts[1].strip()}]{{{parts[0].strip()}}}"),
    "msup": (2, lambda _, parts: with_scripts(parts[0], "", parts[1])),
    "msub": (2, lambda _, parts: with_scripts(parts[0], parts[1])),
    "msubsup": (3, lambda _, parts: with_scripts(parts[0], parts[1], parts[2])),
    "mover": (2, _over),
    "munder": (2, _under),
    "munderover": (3, _under_over),
    "mmultiscripts": (1, _multiscripts),
    "maction": (1, lambda _, parts: parts[0]),
}
