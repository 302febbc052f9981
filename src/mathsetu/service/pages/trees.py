"""Draws the trees of a found formula, with the parts that match the question in colour."""

from __future__ import annotations

from collections.abc import Callable

from mathsetu.formulas.drawing import draw_layout_tree, draw_operator_tree
from mathsetu.formulas.matching import match
from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_latex


def operator_tree(latex: str, query: str = "") -> str:
    """The operator tree of a formula as SVG.

    >>> operator_tree("t+1", query="x+1").count('class="matched"')
    3
    """
    opt = parse_latex(latex).opt
    return draw_operator_tree(
        opt, match(parse_latex(query).opt, opt).candidate_nodes if query else ()
    )


def layout_tree(latex: str, query: str = "") -> str:
    """The symbol layout tree of a formula as SVG.

    >>> layout_tree("t^2", query="x^3").count("<rect")
    2
    """
    parsed = parse_latex(latex)
    symbols = match_latex(query, latex).candidate_symbols if query else ()
    return draw_layout_tree(
        parsed.slt, [node for node in parsed.slt.walk() if node.symbol in symbols]
    )


#: The drawings by name.
KINDS: dict[str, Callable[[str, str], str]] = {"operator": operator_tree, "layout": layout_tree}
