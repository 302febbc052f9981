r"""The LaTeX of a part of a formula, as it is written there.

A node of an operator tree knows the symbols that it comes from, but brackets, braces and
environments leave no nodes. So what stands from the first symbol of a part to its last one is
widened by what may open before it and close after it, until it is read as that part.
"""

from __future__ import annotations

import re

from mathsetu.formulas.latex.lexer import TOKEN
from mathsetu.formulas.parse import parse_once
from mathsetu.formulas.tree import POSITIONS, Tree

# Longer formulas are not looked through, and no part has more brackets side by side.
_LONGEST = 2000
_MOST = 6
_OPENS = re.compile(
    r"[(\[{|]|\|\||\\[{|]|\\(?:left|[bB]igg?l?)(?![a-z]).*|\\begin.*"
    r"|\\(?:langle|lfloor|lceil|l?[vV]ert)(?![a-z])",
    re.DOTALL,
)
_CLOSES = re.compile(
    r"[)\]}|!]|\|\||'+|\\[}|]|\\(?:right|[bB]igg?r?)(?![a-z]).*|\\end.*"
    r"|\\(?:rangle|rfloor|rceil|r?[vV]ert)(?![a-z])",
    re.DOTALL,
)


def part_latex(part: Tree, latex: str) -> str:
    r"""What a formula has in the place of a part of its operator tree; "" if not in one piece.

    >>> from mathsetu.formulas.parse import parse_latex
    >>> formula = r"1 + 2\cos\left(x^2\right)"
    >>> part_latex(parse_latex(formula).opt.children[1], formula)
    '2\\cos\\left(x^2\\right)'
    >>> part_latex(parse_latex("x+1").opt, "y+x")
    ''
    """
    if len(latex) > _LONGEST:
        return ""
    tokens = list(TOKEN.finditer(latex))
    # A symbol that shares a token with another (as in \frac12) has a number after all tokens'.
    symbols = [node.symbol for node in part.walk() if 0 <= node.symbol < len(tokens)]
    if not symbols:
        return ""
    integral = Tree("O!int", (part,), POSITIONS[:1])
    first, last = min(symbols), max(symbols) + 1
    before = after = 0
    found = ""
    while before < min(_MOST, first) and _OPENS.fullmatch(tokens[first - before - 1][0]):
        before += 1
    while after < min(_MOST, len(tokens) - last) and _CLOSES.fullmatch(tokens[last + after][0]):
        after += 1
    ways = [(left, right) for left in range(before + 1) for right in range(after + 1)]
    for left, right in sorted(ways, key=sum):
        own = tokens[first - left : last + right]
        if not _is_balanced([token[0] for token in own]):
            continue
        written = latex[own[0].start() : own[-1].end()].strip()
        read = parse_once(written)
        # Alone, the dx of an integral is a product.
        if read.opt == part or parse_once(rf"\int {written}").opt == integral:
            if not read.warnings:
                return written
            # What was left open is closed by the reader, which says so.
            found = found or written
    return found


def _is_balanced(tokens: list[str]) -> bool:
    depth = 0
    for token in tokens:
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            return False
    return depth == 0
