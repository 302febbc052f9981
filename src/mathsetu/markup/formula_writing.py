r"""Writes a formula into LaTeX documents and Markdown.

Some environments (``equation``, ``align``) start a display themselves, and LaTeX refuses them
between delimiters. In Markdown every display is between dollars. MathJax and KaTeX support
different environments there, but both support those for parts of a formula (``aligned``). Neither
LaTeX nor Markdown allows blank lines in a formula, and removing a label can leave one.
"""

from __future__ import annotations

import re

from mathsetu.markup.delimiters import find_formulas

# Environments that start mathematics themselves, of two kinds: those equivalent to delimiters, and
# those that arrange rows, mapped to an environment that arranges rows inside a formula. For
# multline, no exact equivalent is supported everywhere.
_MERE_DELIMITERS = ("math", "displaymath", "equation", "dmath", "subequations")
_INSIDE = {
    "align": ("aligned", ""),
    "alignat": ("alignedat", ""),
    "flalign": ("aligned", ""),
    "gather": ("gathered", ""),
    "multline": ("gathered", ""),
    "eqnarray": ("array", "{rcl}"),
}
_EDGE = re.compile(rf"\\(begin|end)\{{({'|'.join([*_MERE_DELIMITERS, *_INSIDE])})\*?\}}")
# After the beginning of an environment for a part of a formula, this would be read as an option.
_BRACKET = re.compile(r"\s*\[")
# Commands allowed only in a numbered display. A tag is allowed in a row of align, not of aligned.
_NUMBERING = re.compile(r"\\label\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")
_BLANK_LINES = re.compile(r"\n\s*\n")
_TAG = re.compile(r"\\tag(?![A-Za-z])")


def stands_alone(latex: str) -> bool:
    r"""Whether a formula is a single environment that LaTeX accepts only without delimiters.

    >>> stands_alone(r"\begin{align*}x\end{align*}"), stands_alone(r"\begin{cases}x\end{cases}")
    (True, False)
    """
    edge = _EDGE.match(latex)
    if edge is None or edge[1] != "begin":
        return False
    return _is_formula(latex)


def _is_formula(text: str) -> bool:
    """Whether a text is a single formula with its delimiters."""
    found = next(find_formulas(text), None)
    return found is not None and (found.start, found.end) == (0, len(text))


def formula_in_latex(latex: str, *, display: bool) -> str:
    r"""Write a formula with delimiters for the text of a LaTeX document.

    >>> formula_in_latex(r"\begin{align}x\end{align}", display=True)
    '\\begin{align}x\\end{align}'
    >>> formula_in_latex(r"\begin{cases}x\end{cases}", display=True)
    '\\[\\begin{cases}x\\end{cases}\\]'
    """
    if stands_alone(latex):
        return _BLANK_LINES.sub("\n", latex)
    inside = formula_body(latex)
    return rf"\[{inside}\]" if display else f"${inside}$"


def formula_in_markdown(latex: str, *, display: bool = False) -> str:
    r"""Write a formula between dollars, with environments that are allowed there.

    A formula that contains a dollar gets other delimiters if it would end there.

    >>> formula_in_markdown(r"\begin{equation*} x=1 \end{equation*}", display=True)
    '$$x=1$$'
    >>> formula_in_markdown(r"\begin{align} x&=1 \label{e} \end{align}", display=True)
    '$$\\begin{aligned} x&=1  \\end{aligned}$$'
    """
    inside = formula_body(latex)
    is_inline = not display or latex.startswith("\\begin{math}")
    dollars = "$" if is_inline else "$$"
    written = f"{dollars}{inside}{dollars}"
    if "$" not in inside or _is_formula(written):
        return written
    return rf"\({inside}\)" if is_inline else rf"\[{inside}\]"


def formula_body(latex: str) -> str:
    r"""Return a formula without what is not allowed between delimiters: environments, blank lines.

    >>> formula_body(r"\begin{equation}a=b\end{equation}")
    'a=b'
    """
    if not _EDGE.search(latex):
        return _BLANK_LINES.sub("\n", latex)
    has_tags = _TAG.search(latex) is not None

    def changed(edge: re.Match[str]) -> str:
        kind, name = edge.groups()
        if name in _MERE_DELIMITERS:
            return ""
        if has_tags:
            return edge[0]
        inside, columns = _INSIDE[name]
        if kind == "end":
            return rf"\end{{{inside}}}"
        no_option = "{}" if not columns and _BRACKET.match(latex, edge.end()) else ""
        return rf"\begin{{{inside}}}{columns}{no_option}"

    return _BLANK_LINES.sub("\n", _NUMBERING.sub("", _EDGE.sub(changed, latex))).strip()
