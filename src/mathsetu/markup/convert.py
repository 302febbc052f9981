r"""Splits any supported source into spans, and turns it into marked text.

Marked text is plain text with LaTeX between delimiters. A dollar that is only a dollar is
written ``\$``, so that marked text splits into the same formulas as its source did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from mathsetu.errors import UnknownFormat
from mathsetu.markup.code import latex_code, markdown_code
from mathsetu.markup.delimiters import find_formulas
from mathsetu.markup.html import split_html
from mathsetu.markup.spans import Span, strip_latex
from mathsetu.markup.tex import latex_prose

_NEEDS_ESCAPE = re.compile(r"\\(?=[(\[]|begin\{)|\$|\\.", re.DOTALL)
_TRAILING_BACKSLASHES = re.compile(r"\\+\Z")
# Stand-ins for formulas while a Markdown renderer works on the prose around them.
_HOLDER = "\ue000{}\ue001"
_HELD = re.compile("\ue000(\\d+)\ue001")
_PRIVATE = str.maketrans("", "", "\ue000\ue001")


def split(source: str, form: str = "text") -> list[Span]:
    """Split a source into spans of text, formulas and code.

    Args:
        source: What to split.
        form: ``text`` (marked text), ``markdown``, ``latex`` or ``html``.

    >>> [(span.kind, span.content) for span in split("Is `$a` equal to $a$?", "markdown")]
    [('text', 'Is '), ('code', '`$a`'), ('text', ' equal to '), ('formula', 'a'), ('text', '?')]
    """
    try:
        return _SPLITTERS[form](source)
    except KeyError:
        raise UnknownFormat(form, _SPLITTERS) from None


def to_text(source: str, form: str = "text") -> str:
    r"""Turn a source into marked text.

    >>> to_text("# Sums\n\nThe **sum** of `n` terms is $n a$.", "markdown")
    'Sums\nThe sum of n terms is $n a$.'
    """
    spans = split(source, form)
    if form == "markdown":
        return _markdown_text(spans)
    clean = latex_prose if form == "latex" else str
    return marked_text(
        Span(span.kind, "", clean(span.content), span.display) if span.kind == "text" else span
        for span in spans
        if not (form == "latex" and span.kind == "code" and span.content.startswith("%"))
    )


def marked_text(spans: Iterable[Span]) -> str:
    r"""Write spans as marked text with tidy white space.

    >>> marked_text([Span("text", "", "It costs  $5 if "), Span("formula", "", "x>1")])
    'It costs \\$5 if $x>1$'
    """
    parts: list[str] = []
    for span in spans:
        if span.kind == "formula":
            parts.append(_delimited(span))
        elif span.kind == "text":
            parts.append(_escape(_tidy(span.content)))
        else:
            parts.append(_escape(span.content))
    return "".join(parts).strip()


def plain(text: str) -> str:
    r"""Marked text as a person would read it: ``\$`` is a dollar again.

    >>> plain(r"costs \$5 if $x>1$")
    'costs $5 if $x>1$'
    """
    return text.replace("\\$", "$")


def _split_marked(
    source: str, shielded: list[tuple[int, int]] | None = None, prices: bool = True
) -> list[Span]:
    spans: list[Span] = []
    position = 0
    formulas = [
        (f.start, f.end, f) for f in find_formulas(source, shielded=shielded or (), prices=prices)
    ]
    pieces = sorted([*formulas, *((start, end, None) for start, end in shielded or ())],
                    key=lambda piece: piece[0])  # fmt: skip
    for start, end, formula in pieces:
        if start < position:  # a comment inside a formula belongs to the formula
            continue
        if start > position:
            spans.append(Span("text", source[position:start], source[position:start]))
        raw = source[start:end]
        if formula:
            latex = source[formula.latex_start : formula.latex_end]
            spans.append(Span("formula", raw, strip_latex(latex), formula.display))
        else:
            spans.append(Span("code", raw, raw, display="\n" in raw))
        position = end
    if position < len(source):
        spans.append(Span("text", source[position:], source[position:]))
    return spans


_SPLITTERS: dict[str, Callable[[str], list[Span]]] = {
    "text": _split_marked,
    "markdown": lambda source: _split_marked(source, markdown_code(source)),
    "latex": lambda source: _split_marked(source, latex_code(source), prices=False),
    "html": split_html,
}


def _markdown_text(spans: list[Span]) -> str:
    """Render the prose with a real Markdown renderer while the formulas wait outside."""
    from markdown_it import MarkdownIt  # here, because most sources are not Markdown

    formulas = [span for span in spans if span.kind == "formula"]
    numbers = iter(range(len(formulas)))
    source = "".join(
        _HOLDER.format(next(numbers)) if span.kind == "formula" else span.raw.translate(_PRIVATE)
        for span in spans
    )
    page = split_html(MarkdownIt("commonmark").enable("table").render(source))
    # What the splitter left as text holds no formulas: only the held ones come back.
    text = marked_text(
        Span("code" if span.kind == "code" else "text", "", span.content if span.kind != "formula"
             else span.raw) for span in page
    )  # fmt: skip
    return _HELD.sub(lambda match: _delimited(formulas[int(match[1])]), text)


def _tidy(text: str) -> str:
    """Collapse white space: one space between words, one newline between lines."""
    if not text or text.isspace():
        return "\n" if "\n" in text else text[:1]
    lines = (" ".join(line.split()) for line in text.split("\n"))
    tidy = "\n".join(line for line in lines if line)
    before = "\n" if text[: len(text) - len(text.lstrip())].count("\n") else " "
    after = "\n" if text[len(text.rstrip()) :].count("\n") else " "
    return (before if text[0].isspace() else "") + tidy + (after if text[-1].isspace() else "")


def _escape(text: str) -> str:
    if "$" not in text and "\\" not in text:
        return text
    text = _NEEDS_ESCAPE.sub(_escaped, text)
    backslashes = _TRAILING_BACKSLASHES.search(text)
    # A lone last backslash would swallow the delimiter that follows.
    return text + " " if backslashes and len(backslashes[0]) % 2 else text


def _escaped(match: re.Match[str]) -> str:
    found = match[0]
    return "\\$" if found == "$" else "\\\\" if found == "\\" else found


def _delimited(span: Span) -> str:
    latex = span.content
    if latex.startswith("\\begin{") and _is_one_environment(latex):
        return latex
    if span.display:
        written = f"$${latex}$$"
        fallback = f"\\[{latex}\\]"
    else:
        written = f"${latex}$"
        fallback = f"\\({latex}\\)"
    return written if _is_one_formula(written, latex) else fallback


def _is_one_formula(written: str, latex: str) -> bool:
    if "$" not in latex and "\n" not in latex and not latex[0].isdigit() and latex[-1] != "\\":
        return True
    found = next(find_formulas(written), None)
    return found is not None and found.end == len(written)


def _is_one_environment(latex: str) -> bool:
    found = next(find_formulas(latex), None)
    return found is not None and (found.start, found.end) == (0, len(latex))
