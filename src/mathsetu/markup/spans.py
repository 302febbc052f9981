"""The pieces that a text falls into."""

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

    ``raw`` is the source exactly as written; ``content`` is what it means: clean text, code,
    or LaTeX without its delimiters. ``id`` is the formula id that HTML may carry.

    >>> Span("formula", "$x$", "x").display
    False
    """

    kind: Kind
    raw: str
    content: str
    display: bool = False
    id: str = ""


def strip_latex(latex: str) -> str:
    r"""Take white space off both ends, but leave the space of a final ``\ `` in place.

    Stray brackets go where there are stray dollars, open braces or prose, too: no delimiters could
    be put around all of them.

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
    """Whether each brace is closed: an open one would reach for one in the text that follows."""
    if "\\{" in latex or "\\}" in latex:
        latex = latex.replace("\\\\", "").replace("\\{", "").replace("\\}", "")
    return latex.count("{") == latex.count("}")


def join(spans: Iterable[Span]) -> str:
    """The source the spans were split from.

    >>> join([Span("text", "Let ", "Let "), Span("formula", "$x$", "x")])
    'Let $x$'
    """
    return "".join(span.raw for span in spans)


def extract(spans: Iterable[Span], post_id: str, where: str) -> tuple[Formula, ...]:
    """The formulas among the spans as records; those without an id are numbered by place.

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
