r"""Find the LaTeX source of a part of a formula.

The nodes of an operator tree have the numbers of their symbols, but brackets, braces and
environments have no nodes. The span from the first to the last symbol of the part is therefore
extended by opening tokens before it and closing tokens after it, until it parses to that part.
"""

from __future__ import annotations

import re

from mathsetu.formulas.infix import infix, is_bracketed_as_factor
from mathsetu.formulas.latex.lexer import TOKEN
from mathsetu.formulas.matching.prepared import subtree_keys
from mathsetu.formulas.parse import parse_once
from mathsetu.formulas.tree import POSITIONS, Tree

# Longer formulas are not searched, and at most this many brackets are added on each side.
_MAX_LENGTH = 2000
_MAX_BRACKETS = 6
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
    r"""Return the LaTeX source of a part of an operator tree; "" if it is not one span of text.

    >>> from mathsetu.formulas.parse import parse_latex
    >>> formula = r"1 + 2\cos\left(x^2\right)"
    >>> part_latex(parse_latex(formula).opt.children[1], formula)
    '2\\cos\\left(x^2\\right)'
    >>> part_latex(parse_latex("x+1").opt, "y+x")
    ''
    """
    if len(latex) > _MAX_LENGTH:
        return ""
    tokens = list(TOKEN.finditer(latex))
    # Symbols that share a token (as in \frac12) have numbers after those of all tokens.
    symbols = [node.symbol for node in part.walk() if 0 <= node.symbol < len(tokens)]
    if not symbols:
        return ""
    wanted, integral = _key(part), _key(Tree("O!int", (part,), POSITIONS[:1]))
    first, last = min(symbols), max(symbols) + 1
    before = after = 0
    found = ""
    while before < min(_MAX_BRACKETS, first) and _OPENS.fullmatch(tokens[first - before - 1][0]):
        before += 1
    following = tokens[last : last + _MAX_BRACKETS]
    while after < len(following) and _CLOSES.fullmatch(following[after][0]):
        after += 1
    ways = [(left, right) for left in range(before + 1) for right in range(after + 1)]
    for left, right in sorted(ways, key=sum):
        own = tokens[first - left : last + right]
        if not _is_balanced([token[0] for token in own]):
            continue
        written = latex[own[0].start() : own[-1].end()].strip()
        read = parse_once(written)
        # Without its integral sign, a dx is parsed as a product, so try with the sign, too.
        if _key(read.opt) == wanted or _key(parse_once(rf"\int {written}").opt) == integral:
            if not read.warnings:
                return written
            # The parser closes open brackets with a warning: use such a span only as a fallback.
            found = found or written
    return found


def _key(tree: Tree) -> int:
    # In normal form, because the part of f(2x) bound to a wildcard is one product of 3 factors.
    return subtree_keys(tree).keys[0]


def part_text(part: Tree, latex: str) -> str:
    r"""Return a part of a formula as one line of readable text: infix, or its LaTeX source.

    The tree has f(x) as a product, so that only the source has these brackets.

    >>> from mathsetu.formulas.parse import parse_latex
    >>> [part_text(parse_latex(one).opt, one) for one in (r"\frac{\sin x}{x}", "f(x)^2", "a(x+1)")]
    ['sin(x)/x', 'f(x)^2', 'a (x + 1)']
    """
    written = part_latex(part, latex)
    return written if _has_plain_argument(written) else infix(part)


def name_text(name: Tree, latex: str) -> str:
    r"""Return a letter as text; a letter with an index or accent as its LaTeX source.

    >>> from mathsetu.formulas.parse import parse_latex
    >>> [name_text(parse_latex(one).opt, one) for one in (r"\alpha", r"\alpha_i", r"\bar x")]
    ['α', '\\alpha_i', '\\bar x']
    """
    return (part_latex(name, latex) if name.children else "") or infix(name)


def _has_plain_argument(latex: str) -> bool:
    """Whether a letter has an argument whose brackets `infix` would omit in a product."""
    tokens = list(TOKEN.finditer(latex))
    leaves = {node.symbol for node in parse_once(latex).opt.walk() if not node.children}
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token[0].endswith("("):
            opened.append(place)
        elif token[0].endswith(")") and opened:
            start = opened.pop()
            # A name before brackets is a leaf, or ends with an index or exponent in braces.
            follows_name = start - 1 in leaves or (start and tokens[start - 1][0] == "}")
            inside = latex[tokens[start].end() : token.start()]
            if follows_name and not is_bracketed_as_factor(parse_once(inside).opt):
                return True
    return False


def _is_balanced(tokens: list[str]) -> bool:
    depth = 0
    for token in tokens:
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            return False
    return depth == 0
