"""Entry point for reading MathML: finds the requested part."""

from __future__ import annotations

from mathsetu.errors import NotationError
from mathsetu.formulas.mathml.content import operator_tree
from mathsetu.formulas.mathml.document import Element, parse_xml
from mathsetu.formulas.mathml.presentation import layout_tree
from mathsetu.formulas.tree import Tree

_PRESENTATION = frozenset(
    {"mi", "mn", "mo", "mtext", "ms", "mspace", "mrow", "mfrac", "msqrt", "mroot", "mstyle"}
    | {"merror", "mpadded", "mphantom", "mfenced", "menclose", "msub", "msup", "msubsup"}
    | {"munder", "mover", "munderover", "mmultiscripts", "mtable", "maction"}
)


def read_presentation(text: str) -> Tree:
    """Return the symbol layout tree of Presentation MathML.

    >>> from mathsetu.formulas.notation import write_tree
    >>> write_tree(read_presentation("<math><msup><mi>x</mi><mn>2</mn></msup></math>"))
    '[V!x,a[N!2]]'

    Raises:
        NotationError: when the text is malformed or contains no Presentation MathML.
    """
    for part in _parts(parse_xml(text)):
        if part.name in _PRESENTATION or part.name in ("math", "semantics"):
            return layout_tree(part)
    raise NotationError(text, 0, "no Presentation MathML found")


def read_content(text: str) -> Tree:
    """Return the operator tree of Content MathML, also from an annotation.

    >>> from mathsetu.formulas.notation import write_tree
    >>> mathml = "<math><apply><plus/><ci>𝑥</ci><cn>1</cn></apply></math>"
    >>> write_tree(read_content(mathml))
    '[U!plus,0[V!x],1[N!1]]'

    Raises:
        NotationError: when the text is malformed or contains no Content MathML.
    """
    for part in _parts(parse_xml(text)):
        if part.name not in _PRESENTATION and part.name not in ("math", "semantics"):
            return operator_tree(part)
    raise NotationError(text, 0, "no Content MathML found")


def _parts(root: Element) -> list[Element]:
    """Return the formula and its annotations; either may have either kind of MathML."""
    math = next((element for element in root.walk() if element.name == "math"), root)
    top = math.children if math.name == "math" else [math]
    parts: list[Element] = []
    for element in top:
        if element.name != "semantics":
            parts.append(math if len(top) > 1 and element.name in _PRESENTATION else element)
            continue
        for child in element.children:
            if child.name == "annotation-xml":
                parts.extend(child.children)
            elif child.name != "annotation":
                parts.append(child)
    return parts or [math]
