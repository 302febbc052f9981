r"""Splits any supported source into spans, and converts it to marked text.

Marked text is plain text with LaTeX between delimiters. In words a dollar is written ``\$``, and a
bracket delimiter ``\\(``, so that marked text splits into the same formulas as its source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from mathsetu.errors import UnknownFormat
from mathsetu.limits import LONGEST_MARKDOWN
from mathsetu.markup.attributes import from_attribute
from mathsetu.markup.blocks import with_blocks
from mathsetu.markup.code import latex_code, markdown_code
from mathsetu.markup.delimiters import DelimitedFormula, find_formulas, lone_formula
from mathsetu.markup.dumps import Extracted, extract_elements_fast
from mathsetu.markup.formula_writing import stands_alone
from mathsetu.markup.html import PLACE, Element, hold, split_html
from mathsetu.markup.pages import with_containers, with_scripts
from mathsetu.markup.references import unescape
from mathsetu.markup.spans import Span, is_closed, strip_latex
from mathsetu.markup.tex import latex_prose
from mathsetu.records import Formula

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_NEEDS_ESCAPE = re.compile(r"\\(?=[(\[]|begin\{)|\$|\\.", re.DOTALL)
# What begins a formula; escaped in words, and not.
_ESCAPED = re.compile(r"\\(\$|\\(?=[(\[]|begin\{))")
_UNESCAPED = re.compile(r"\$|\\(?=[(\[]|begin\{)")
_AMOUNT = "5 "
# Size of the cache of `spans_of`: good posts are found repeatedly, and several callers split each.
_CACHE_SIZE = 5_000
_MATHML = re.compile(r"<math\b[^<>]*+>(?:[^<]++|<(?!/?math\b))*+</math>", re.ASCII)
# Placeholders for formulas while a Markdown renderer processes the prose around them.
_HOLDER = "\ue000{}\ue001"
_HELD = re.compile("\ue000(\\d+)\ue001")
_PRIVATE = str.maketrans("", "", "\ue000\ue001")
# The renderer resolves character references, so that one could forge the mark of a placeholder.
_PRIVATE_REFERENCE = re.compile(r"&#(?:[xX]0*+[eE]00[01]|0*+5734[45])(?![0-9a-fA-F]);?")


def split(source: str, form: str = "text") -> list[Span]:
    """Split a source into spans of text, formulas and code.

    Args:
        source: The source.
        form: ``text`` (marked text), ``markdown``, ``latex`` or ``html``.

    >>> [(span.kind, span.content) for span in split("Is `$a` equal to $a$?", "markdown")]
    [('text', 'Is '), ('code', '`$a`'), ('text', ' equal to '), ('formula', 'a'), ('text', '?')]
    """
    try:
        return _SPLITTERS[form](source)
    except KeyError:
        raise UnknownFormat(form, _SPLITTERS) from None


@lru_cache(maxsize=_CACHE_SIZE)
def spans_of(text: str) -> tuple[Span, ...]:
    """Return the spans of a marked text; recent results are cached.

    >>> spans_of("Is $a$ even?") == tuple(split("Is $a$ even?"))
    True
    """
    return tuple(split(text))


def to_marked_text(source: str, form: str = "text") -> str:
    r"""Convert a source to marked text; Markdown is CommonMark, and macros are not expanded.

    Args:
        source: The source.
        form: ``text`` (already marked text), ``markdown``, ``latex`` or ``html``.

    >>> to_marked_text('<p><span class="math-container">$a&lt;b$</span> for $5.</p>', "html")
    '$a<b$ for \\$5.'
    >>> to_marked_text("# Sums\n\nThe **sum** of `n` terms is $n a$.", "markdown")
    'Sums\nThe sum of n terms is $n a$.'
    """
    return _marked(source, form)[0]


def text_and_formulas(
    source: str, form: str, post_id: str, where: str
) -> tuple[str, tuple[Formula, ...]]:
    """Convert a source to marked text, and return its formulas with their positions there.

    Formulas keep the ids that HTML gives them; the others are numbered in order.

    >>> page = 'Is <span class="math-container" id="9">$x&lt;y$</span>?'
    >>> text, (formula,) = text_and_formulas(page, "html", "7", "body")
    >>> text, formula.id, formula.latex, formula.start
    ('Is $x<y$?', '9', 'x<y', 3)
    """
    if form in ("html", "attribute") and PLACE not in source:
        page = extract_elements_fast(source, attribute=form == "attribute")
        if page is not None:
            resolve = _from_attribute if form == "attribute" else unescape
            return _fill_plain(*page, resolve, post_id, where)
    if form == "attribute":
        source, form = from_attribute(source), "html"
    elif form == "text" and "$" not in source and "\\" not in source:
        return _tidy(source.replace(PLACE, "")), ()
    elif form == "text" and (lone := lone_formula(source)) and PLACE not in source:
        return _fill_plain(*_plain_line(source, lone), str, post_id, where)
    text, held, starts = _marked(source, form)
    formulas: list[Formula] = []
    for item, start in zip(held, starts, strict=True):
        if item.kind == "formula":
            formula_id = item.id or f"{post_id}:{where}:{len(formulas)}"
            formulas.append(Formula(formula_id, item.content, "", post_id, where, start))
    return text, tuple(formulas)


def plain(text: str) -> str:
    r"""Return marked text for display: without the escapes of delimiters in words.

    >>> print(plain(r"type \\(x\), costs \$5 if $x>1$"))
    type \(x\), costs $5 if $x>1$
    """
    if "\\" not in text:
        return text
    return "".join(
        plain_words(span.raw) if span.kind == "text" else span.raw for span in spans_of(text)
    )


def plain_words(words: str) -> str:
    """As `plain`, for words without formulas."""
    return _ESCAPED.sub(r"\1", words)


def marked_words(words: str) -> str:
    r"""Return words as marked text: delimiters in them get a backslash.

    >>> print(marked_words(r"type \(x\) for $5"))
    type \\(x\) for \$5
    """
    return _UNESCAPED.sub(r"\\\g<0>", words)


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


def _with_mathml(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans of Markdown, with MathML in its prose as formulas."""
    for span in spans:
        position = 0
        for found in _MATHML.finditer(span.raw) if span.kind == "text" else ():
            formulas = split_html(with_containers(found[0]))
            if [one.kind for one in formulas] != ["formula"]:
                continue
            before = span.raw[position : found.start()]
            if before:
                yield Span("text", before, before)
            yield formulas[0]._replace(raw=found[0])
            position = found.end()
        if position < len(span.raw):
            rest = span.raw[position:]
            yield Span("text", rest, rest) if position else span


_SPLITTERS: dict[str, Callable[[str], list[Span]]] = {
    "text": _split_marked,
    "markdown": lambda source: list(_with_mathml(_split_marked(source, markdown_code(source)))),
    "latex": lambda source: _split_marked(source, latex_code(source), prices=False),
    "html": split_html,
}


#: The forms that a source may have.
FORMS = tuple(_SPLITTERS)


@cache
def _markdown_renderer() -> MarkdownIt:
    """Return the cached renderer, because creating it costs more than rendering a short section."""
    from markdown_it import MarkdownIt  # imported here, because most sources are not Markdown

    return MarkdownIt("commonmark").enable("table")


def _markdown_text(spans: list[Span]) -> str:
    """Render the prose with a Markdown renderer, with placeholders for the formulas."""
    formulas = [span for span in spans if span.kind == "formula"]
    numbers = iter(range(len(formulas)))
    source = "".join(
        _HOLDER.format(next(numbers)) if span.kind == "formula" else _without_marks(span.raw)
        for span in spans
    )
    page = split_html(with_blocks(with_scripts(_markdown_renderer().render(source))))
    # All formulas are already replaced, so what looks like a formula here is text.
    prose, code = _hold(
        Span("code" if span.kind == "code" else "text", "", span.content if span.kind != "formula"
             else span.raw) for span in page
    )  # fmt: skip
    text, _ = _fill(_tidy(prose), code)

    def back(match: re.Match[str]) -> str:
        # A backslash directly before a dollar would escape it.
        apart = " " if text[match.start() - 1 : match.start()] == "\\" else ""
        formula = formulas[int(match[1])]
        after = text[match.end() : match.end() + 1].replace(_HOLDER[0], "$")
        return apart + _delimited(formula.content, formula.display, after)

    return _HELD.sub(back, text)


def _without_marks(prose: str) -> str:
    """Remove from prose what could be read as a placeholder of a formula."""
    return _PRIVATE_REFERENCE.sub("", prose.translate(_PRIVATE))


def _marked(source: str, form: str) -> tuple[str, Sequence[Span | Element], list[int]]:
    """Return a source as marked text, its formulas and code, and the start of each of them."""
    if form == "markdown" and len(source) > LONGEST_MARKDOWN:
        form = "text"  # nobody writes such a long section; rendering it would take too long
    if form == "html":
        text, held = _hold_html(with_containers(source))
    elif form == "latex":
        text, held = _hold(
            Span("text", "", latex_prose(span.content)) if span.kind == "text" else span
            for span in split(source, form)
            if not (span.kind == "code" and span.content.startswith("%"))
        )
    elif form == "text":
        text, held = _hold_text(source)
    elif form == "markdown":
        text, held = _hold_text(_markdown_text(split(source, form)))
    else:
        raise UnknownFormat(form, _SPLITTERS)
    # Rendered Markdown is already tidy, and the lines of its code must not change.
    text, starts = _fill(text if form == "markdown" else _tidy(text), held)
    return text, held, starts


def _hold(spans: Iterable[Span]) -> tuple[str, list[Span]]:
    """Return the text with a `PLACE` for each formula and code span, and these spans."""
    parts: list[str] = []
    held: list[Span] = []
    for span in spans:
        if span.kind == "text":
            parts.append(span.content.replace(PLACE, ""))
        else:
            parts.append(PLACE)
            held.append(span)
    return "".join(parts), held


def _hold_text(source: str) -> tuple[str, list[Element]]:
    """Do the same as `_hold` for marked text, where only formulas are replaced."""
    parts: list[str] = []
    held: list[Element] = []
    position = 0
    for start, end, latex_start, latex_end, display in find_formulas(source):
        parts.append(source[position:start].replace(PLACE, ""))
        held.append(Element("formula", strip_latex(source[latex_start:latex_end]), display))
        position = end
    parts.append(source[position:].replace(PLACE, ""))
    return PLACE.join(parts), held


def _hold_html(source: str) -> tuple[str, Sequence[Span | Element]]:
    """Do the same as `_hold` for HTML, without spans if the page marks its formulas, as most do."""
    if PLACE in source:
        return _hold(split_html(source))
    text, held = hold(source)
    if ("$" in text or "\\" in text) and not any(item.kind == "formula" for item in held):
        return _hold(split_html(source))
    return text, held


def _fill(text: str, held: Sequence[Span | Element]) -> tuple[str, list[int]]:
    """Escape a tidy text and put the held formulas and code back; also return their starts."""
    chunks = text.split(PLACE)
    if "$" in text or "\\" in text:
        chunks = [_escape(chunk) for chunk in chunks]
    parts = chunks[:1]
    starts: list[int] = []
    length = len(chunks[0])
    for item, chunk in zip(held, chunks[1:], strict=True):
        kind, content, display = item.kind, item.content, item.display
        is_formula = kind == "formula"
        # A formula directly after this one may begin with a dollar.
        after = chunk or ("$" if len(starts) + 1 < len(held) else "")
        written = _delimited(content, display, after) if is_formula else _escape(content)
        starts.append(length)
        parts += (written, chunk)
        length += len(written) + len(chunk)
    whole = "".join(parts)
    marked = whole.strip()
    if starts and whole[:1].isspace():  # code at the beginning may be indented
        indent = len(whole) - len(whole.lstrip())
        starts = [start - indent for start in starts]
    return marked, starts


def _plain_line(source: str, found: DelimitedFormula) -> tuple[str, Iterable[Extracted]]:
    """Return the same as `extract_elements_fast`, for a line of marked text with one formula."""
    text = f"{source[: found.start]}{PLACE}{source[found.end :]}"
    latex = strip_latex(source[found.latex_start : found.latex_end])
    return text, [(None, f"${latex}$", latex, None)]


def _from_attribute(written: str) -> str:
    source = from_attribute(written)
    text = source.replace("&lt;", "<").replace("&gt;", ">")
    return unescape(source) if "&" in text else text  # faster if there are no other references


def _fill_plain(
    text: str, held: Iterable[Extracted], resolve: Callable[[str], str], post_id: str, where: str
) -> tuple[str, tuple[Formula, ...]]:
    """Do the work of `_fill` and build the records in one pass, for speed on millions of posts."""
    chunks = _tidy(text).split(PLACE)
    if "$" in text or "\\" in text:
        chunks = [_escape(chunk) for chunk in chunks]
    marked = chunks[0]
    formulas: list[Formula] = []
    last = len(chunks) - 2
    for number, ((formula_id, written, latex, code), chunk) in enumerate(
        zip(held, chunks[1:], strict=True)
    ):
        if latex is None:
            marked += _escape(resolve(code)) + chunk
            continue
        start = len(marked)
        first = latex[0]
        is_safe = first.isalpha() or (first == "\\" and not latex.startswith("\\begin"))
        is_safe = is_safe and "\\(" not in latex and "\\[" not in latex
        if not is_safe or "&" in latex or "\n" in latex or not is_closed(latex):
            latex = strip_latex(resolve(latex))
            after = chunk or ("$" if number < last else "")
            marked += _delimited(latex, written.startswith("$$"), after) + chunk
        else:
            marked += written + chunk
        formula_id = formula_id or f"{post_id}:{where}:{len(formulas)}"
        formulas.append(Formula(formula_id, latex, "", post_id, where, start))
    return marked.rstrip(), tuple(formulas)


def _tidy(text: str) -> str:
    """Collapse white space: one space between words, one newline between lines."""
    lines = text.split("\n")
    if text.isascii() and not ("  " in text or "\t" in text or "\r" in text):
        tidied = map(str.strip, lines)  # faster, and enough for most texts
    else:
        tidied = map(" ".join, map(str.split, lines))
    return "\n".join(filter(None, tidied))


def _escape(text: str) -> str:
    if "$" not in text and "\\" not in text:
        return text
    text = _NEEDS_ESCAPE.sub(_escaped, text)
    backslashes = len(text) - len(text.rstrip("\\"))
    # A single backslash at the end would escape the delimiter that follows.
    return text + " " if backslashes % 2 else text


def _escaped(match: re.Match[str]) -> str:
    found = match[0]
    return "\\$" if found == "$" else "\\\\" if found == "\\" else found


def _delimited(latex: str, display: bool, after: str) -> str:
    """Write a formula with delimiters such that `find_formulas` finds it before ``after``."""
    dollars = "$$" if display else "$"
    written = f"{dollars}{latex}{dollars}"
    if latex.startswith("\\begin{") and stands_alone(latex):
        return latex
    # Other beginnings could be read as an amount of money or as the rest of a sentence.
    is_safe = (latex[0].isalpha() or latex[0] == "\\") and latex[-1] != "\\"
    closed = is_closed(latex)
    if is_safe and closed and "$" not in latex and "\n" not in latex:
        return written
    bracketed = f"\\[{latex}\\]" if display else f"\\({latex}\\)"
    for way in (written, bracketed) if closed else (bracketed, written):
        # After an amount, a dollar is least likely to open a formula: if the formula is found
        # there, it is found anywhere.
        text = f"{_AMOUNT}{way}{after[:1]}"
        found = next(find_formulas(text), None)
        # Also compare the LaTeX, because dollars around dollars form other delimiters.
        if (
            found is not None
            and (found.start, found.end) == (len(_AMOUNT), len(_AMOUNT) + len(way))
            and text[found.latex_start : found.latex_end] == latex
        ):
            return way
    return bracketed
