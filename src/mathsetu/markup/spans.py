"""The spans of a text: prose, formulas and code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from mathsetu.markup.delimiters import reaches_across
from mathsetu.records import Formula

Kind = Literal["text", "formula", "code"]
# A delimiter, unless its backslash belongs to a line break before it.
_BRACKET = re.compile(r"(\\\\)|\\[()\[\]]")


class Span(NamedTuple):
    """One piece of a source.

    ``raw`` is the exact source; ``content`` is its meaning: clean text, code, or LaTeX without
    delimiters. ``id`` is the id of the formula, if the HTML has one.

    >>> Span("formula", "$x$", "x").display
    False
    """

    kind: Kind
    raw: str
    content: str
    display: bool = False
    id: str = ""


def strip_latex(latex: str) -> str:
    r"""Strip white space from both ends, but keep the space of a final ``\ ``.

    Stray bracket delimiters are removed if there are also stray dollars, open braces or prose: no
    delimiters can enclose all of these.

    >>> strip_latex(" x \\  "), strip_latex(r"$x\)")
    ('x \\ ', '$x')
    """
    stripped = latex.strip()
    if (
        "\\" in stripped
        and ("\\)" in stripped or "\\]" in stripped or "\\(" in stripped or "\\[" in stripped)
        and ("$" in stripped or not is_closed(stripped) or reaches_across(stripped))
    ):
        stripped = _BRACKET.sub(r"\1", stripped).strip()
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 else stripped


def is_closed(latex: str) -> bool:
    """Whether braces balance; an open one could be closed by a brace in the text that follows."""
    if "\\{" in latex or "\\}" in latex:
        latex = latex.replace("\\\\", "").replace("\\{", "").replace("\\}", "")
    return latex.count("{") == latex.count("}")


def join(spans: Iterable[Span]) -> str:
    """Return the source that the spans were split from.

    >>> join([Span("text", "Let ", "Let "), Span("formula", "$x$", "x")])
    'Let $x$'
    """
    return "".join(span.raw for span in spans)


def extract(spans: Iterable[Span], post_id: str, where: str) -> tuple[Formula, ...]:
    """Return the formulas among the spans as records; those without an id are numbered.

    >>> extract([Span("text", "Let ", "Let "), Span("formula", "$x$", "x")], "7", "body")[0]
    ... # doctest: +NORMALIZE_WHITESPACE
    Formula(id='7:body:0', latex='x', visual_id='', post_id='7', where='body', start=4,
            slt='', opt='', mathml='')
    """
    formulas: list[Formula] = []
    start = 0
    for span in spans:
        if span.kind == "formula":
            formulas.append(
                Formula(
                    id=span.id or f"{post_id}:{where}:{len(formulas)}",
                    latex=span.content,
                    post_id=post_id,
                    where=where,
                    start=start,
                )
            )
        start += len(span.raw)
    return tuple(formulas)
