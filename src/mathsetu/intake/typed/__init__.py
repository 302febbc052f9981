r"""Reads typed queries: finds formulas without delimiters.

`read_typed` splits a query into spans of text and formulas, as `mathsetu.markup.split` does with
marked text. No character is lost: the raw spans joined are the query. It finds bare LaTeX, ASCII
and Unicode mathematics, MathML, and formulas with a missing delimiter, in linear time. Posts are
never read in this way, and topics only if they have no delimited formula (see
`mathsetu.intake.question`).

>>> [(span.kind, span.content) for span in read_typed("why is sqrt(2) irrational?")]
[('text', 'why is '), ('formula', '\\sqrt{2}'), ('text', ' irrational?')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathsetu.formulas.parse import parse_once
from mathsetu.intake.typed.latex import indexed_letters, to_latex
from mathsetu.intake.typed.lexer import tokens
from mathsetu.intake.typed.reading import find_regions
from mathsetu.intake.typed.spelled import SPELLED, read_spelled_signs
from mathsetu.intake.typed.token_kinds import Kind
from mathsetu.markup import Span, split

__all__ = ["formula_as_latex", "read_typed"]

# Number of characters that are examined before a closing dollar.
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
    # Imported lazily: MathML is rare in queries, and its reader is slow to load.
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
    r"""Convert one formula, typed as in a query, to LaTeX; LaTeX stays, without delimiters.

    >>> [formula_as_latex(text) for text in ("sqrt(2)", "x^10", "a + b", "{x}^2", r"\alpha^10")]
    ['\\sqrt{2}', 'x^{10}', 'a + b', '{x}^2', '\\alpha^10']
    >>> formula_as_latex(r"$x^2$"), formula_as_latex(r"\[\pi\]")
    ('x^2', '\\pi')
    """
    delimited = split(text.strip())
    if len(delimited) == 1 and delimited[0].kind == "formula":
        return delimited[0].content
    spans = [] if "\\" in text else read_typed(text.strip())
    if len(spans) != 1 or spans[0].kind != "formula":
        return text
    latex = spans[0].content
    # Braces group in LaTeX; in a query they denote a set.
    is_latex = "\\{" in latex or parse_once(latex).opt == parse_once(text).opt
    return text if is_latex else latex


def _without_mathml(text: str) -> Iterator[Span]:
    position = start = 0
    for span in split(text) if text else ():
        if _holds_prose(span):
            # A dollar is unclosed, so the opening dollar of the next formula closed it.
            yield from _bare(text[start:])
            return
        position += len(span.raw)
        # An environment may be in the middle of a formula, so it is read with its surroundings.
        if span.kind != "text" and not span.raw.startswith("\\begin"):
            yield from _bare(text[start : position - len(span.raw)])
            yield span
            start = position
    yield from _bare(text[start:])


def _holds_prose(span: Span) -> bool:
    """Whether the text between two dollars is a formula followed by prose.

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
    """Yield the spans of a text without delimited formulas."""
    found = tokens(text)
    if SPELLED.search(text):
        read_spelled_signs(text, found)
    if _FENCE.search(text):
        # Imported lazily: most queries have no bars.
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
