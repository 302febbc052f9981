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

import re
from collections.abc import Iterator

from mathsetu.formulas.parse import parse_once
from mathsetu.intake.typed.latex import indexed_letters, to_latex
from mathsetu.intake.typed.lexer import Kind, tokens
from mathsetu.intake.typed.reading import find_regions
from mathsetu.markup import Span, split

__all__ = ["formula_as_latex", "read_typed"]

# Characters before a closing dollar that are looked at.
_SENTENCE = 60
# Signs that may be a pair of brackets.
_FENCE = re.compile("[|∣‖∥<]")
_PROSE = frozenset({Kind.WORD, Kind.SHORT, Kind.CONNECTIVE})


def read_typed(text: str) -> list[Span]:
    r"""Split a typed query into text and formulas.

    >>> [span.content for span in read_typed(r"is $n^2$ + 1 even, if x>0?")]
    ['is ', 'n^2', ' + 1 even, if ', 'x>0', '?']
    """
    if "<" not in text or "math" not in text.casefold():
        return list(_without_mathml(text))
    # Hardly anybody brings MathML, whose reader takes time to load.
    from mathsetu.intake.typed.mathml import find_mathml

    spans: list[Span] = []
    position = 0
    for start, end, latex in find_mathml(text):
        spans += _without_mathml(text[position:start])
        spans.append(Span("formula", text[start:end], latex))
        position = end
    spans += _without_mathml(text[position:])
    return spans


def formula_as_latex(text: str) -> str:
    r"""One formula in LaTeX, that may have been typed as in a query; LaTeX stays as it is.

    >>> [formula_as_latex(text) for text in ("sqrt(2)", "x^10", "a + b", "{x}^2", r"\alpha^10")]
    ['\\sqrt{2}', 'x^{10}', 'a + b', '{x}^2', '\\alpha^10']
    """
    spans = [] if "\\" in text else read_typed(text.strip())
    if len(spans) != 1 or spans[0].kind != "formula":
        return text
    latex = spans[0].content
    # Braces group in LaTeX; in a query they are those of a set.
    is_latex = "\\{" in latex or parse_once(latex).opt == parse_once(text).opt
    return text if is_latex else latex


def _without_mathml(text: str) -> Iterator[Span]:
    position = start = 0
    for span in split(text) if text else ():
        if _holds_prose(span):
            # A dollar was left open, and the next formula's seemed to close it.
            yield from _bare(text[start:])
            return
        position += len(span.raw)
        # An environment may stand in the middle of a formula: it is read with what is around it.
        if span.kind != "text" and not span.raw.startswith("\\begin"):
            yield from _bare(text[start : position - len(span.raw)])
            yield span
            start = position
    yield from _bare(text[start:])


def _holds_prose(span: Span) -> bool:
    """Whether what stands between two dollars is a formula and the sentence that follows it.

    >>> [span.raw for span in read_typed("if $x=1 and $y=2")]
    ['if ', '$x=1', ' and ', '$y=2']
    """
    inner = span.raw[1:-1]
    is_open = span.kind == "formula" and span.raw[0] == "$" and inner[-1:].isspace()
    if not is_open or "\\text" in inner or "\\mbox" in inner:
        return False
    last = tokens(inner[-_SENTENCE:])[-1:]
    return bool(last) and last[0].kind in _PROSE


def _bare(text: str) -> Iterator[Span]:
    """The spans of a text in which nothing is delimited."""
    found = tokens(text)
    if _FENCE.search(text):
        # Most queries have no bars, and do not need this module loaded.
        from mathsetu.intake.typed.fences import pair_fences

        found = pair_fences(found)
    regions = find_regions(text, found)
    indexed = indexed_letters(found) if regions else frozenset()
    position = 0
    for region in regions:
        start, end = found[region.first].start, found[region.after - 1].end
        latex = to_latex(text, found, region, indexed)
        if not latex:
            continue
        if start > position:
            yield Span("text", text[position:start], text[position:start])
        yield Span("formula", text[start:end], latex)
        position = end
    if position < len(text):
        yield Span("text", text[position:], text[position:])
