r"""Queries as people type them: formulas are found without any delimiters.

`read_typed` cuts a query into spans of text and formulas, as `mathsetu.markup.split` does with
marked text, and never loses a character: the raw spans joined are the query. Bare LaTeX, ASCII and
Unicode mathematics, MathML, and formulas with a delimiter missing are found, in linear time. Posts
are never read in this way, and topics only where they have no delimited formula at all (see
`mathsetu.intake.question`).

>>> [(span.kind, span.content) for span in read_typed("why is sqrt(2) irrational?")]
[('text', 'why is '), ('formula', '\\sqrt{2}'), ('text', ' irrational?')]
"""

from __future__ import annotations

from collections.abc import Iterator

from mathsetu.intake.typed.latex import to_latex
from mathsetu.intake.typed.lexer import tokens
from mathsetu.intake.typed.mathml import find_mathml
from mathsetu.intake.typed.regions import find_regions
from mathsetu.markup import Span, split

__all__ = ["read_typed"]


def read_typed(text: str) -> list[Span]:
    r"""Split a typed query into text and formulas.

    >>> [span.content for span in read_typed(r"is $n^2$ + 1 even, if x>0?")]
    ['is ', 'n^2', ' + 1 even, if ', 'x>0', '?']
    """
    spans: list[Span] = []
    position = 0
    for start, end, latex in find_mathml(text):
        spans += _without_mathml(text[position:start])
        spans.append(Span("formula", text[start:end], latex))
        position = end
    spans += _without_mathml(text[position:])
    return spans


def _without_mathml(text: str) -> Iterator[Span]:
    for span in split(text) if text else ():
        if span.kind == "text":
            yield from _bare(span.raw)
        else:
            yield span


def _bare(text: str) -> Iterator[Span]:
    """The spans of a text in which nothing is delimited."""
    found = tokens(text)
    position = 0
    for region in find_regions(text, found):
        start, end = found[region.first].start, found[region.after - 1].end
        latex = to_latex(text, found, region)
        if not latex:
            continue
        if start > position:
            yield Span("text", text[position:start], text[position:start])
        yield Span("formula", text[start:end], latex)
        position = end
    if position < len(text):
        yield Span("text", text[position:], text[position:])
