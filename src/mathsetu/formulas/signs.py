r"""Find the written symbols of matched nodes, including all signs of an operator.

An operator with more than two operands is one node of the operator tree and has the number of one
of its signs. Its other signs (the second plus of ``a+b+c``) are only in the layout tree. They are
found there by position: between two operands of the node, equal to its own sign, and not the
symbol of another node.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

from mathsetu.formulas.parse import Parsed
from mathsetu.formulas.tree import Tree

# The numbers of the first and the last symbol of a sub-tree, and whether any symbol is matched.
_Extent = tuple[float, float, bool]


def matched_symbols(
    parsed: Parsed, matched: Iterable[Tree], signs: Iterable[tuple[Tree, bool]] = ()
) -> frozenset[int]:
    """Return the numbers of the written symbols of matched nodes of a formula's operator tree.

    A further sign of an operator counts as matched if any part of the operand after it is matched.
    ``signs`` overrides this with pairs of an operand and whether the sign before it was found.

    >>> from mathsetu.formulas.parse import parse_latex
    >>> parsed = parse_latex("a+b+c+d")
    >>> plus, (a, b, c, d) = parsed.opt, parsed.opt.children
    >>> sorted(matched_symbols(parsed, (plus, a, b, d)))
    [0, 1, 2, 5, 6]
    >>> sorted(matched_symbols(parsed, (plus, a, b, d), signs=((b, False), (c, True))))
    [0, 2, 3, 5, 6]
    """
    marked = {node.symbol for node in matched if node.symbol >= 0}
    nodes = list(parsed.opt.walk())
    chains = [node for node in nodes if len(node.children) > 2 and node.symbol in marked]
    if not chains:
        return frozenset(marked)
    written = {node.symbol: node.label for node in parsed.slt.walk()}
    uncarried = sorted(written.keys() - {node.symbol for node in nodes})
    extents = _extents(nodes, marked)
    has_sign = {id(operand): is_found for operand, is_found in signs}
    for node in chains:
        for left, right in pairwise(node.children):
            end, (start, _, is_matched) = extents[id(left)][1], extents[id(right)]
            between = uncarried[bisect_right(uncarried, end) : bisect_left(uncarried, start)]
            if has_sign.get(id(right), is_matched):
                own = written.get(node.symbol)
                marked.update(symbol for symbol in between if written[symbol] == own)
            elif id(right) in has_sign and end < node.symbol < start:
                marked.discard(node.symbol)
    return frozenset(marked)


def _extents(nodes: list[Tree], marked: set[int]) -> dict[int, _Extent]:
    """Return the extents of all sub-trees by node id; ``nodes`` must list parents first."""
    extents: dict[int, _Extent] = {}
    for node in reversed(nodes):
        below = [extents[id(child)] for child in node.children]
        if node.symbol >= 0:
            below.append((node.symbol, node.symbol, node.symbol in marked))
        if below:
            firsts, lasts, matches = zip(*below, strict=True)
            extents[id(node)] = min(firsts), max(lasts), any(matches)
        else:
            extents[id(node)] = float("inf"), float("-inf"), False
    return extents
