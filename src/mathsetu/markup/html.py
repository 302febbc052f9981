"""Reads HTML with mathematics, in linear time on any input.

Formulas are recognised in these notations: Stack Exchange's
``<span class="math-container" id="…">``, MathJax's ``<script type="math/tex">``, MathML with a
TeX annotation, and plain delimiters in the text. If a page marks its formulas, its other dollars
are literal. Scripts, styles and comments are removed; nothing is executed.

For speed on millions of texts in dumps, only the few elements that are not prose are processed one
by one (`find_elements`); the prose between them is cleaned as a whole. `mathsetu.markup.dumps` is
an even faster path for most of these texts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Literal, NamedTuple

from mathsetu.markup.delimiters import find_formulas
from mathsetu.markup.references import unescape
from mathsetu.markup.spans import Span, strip_latex

# Placeholder for a formula or code while the prose around it is processed. No entity resolves to
# this character, and texts do not need it.
PLACE = "\0"
# Possessive: matching at a "<" stops at the next one at the latest, so no input takes quadratic
# time. A tag cannot contain a `PLACE`.
_ATTRIBUTES = r"((?:[^<>\"'\0]++|\"[^\"<\0]*+\"|'[^'<\0]*+')*+)>"
_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*+)" + _ATTRIBUTES)
ELEMENT = re.compile(
    r"<(?:!|(span(?=[^<>]*math-container)|script|style|template|noscript|head|title|svg|iframe"
    r"|object|math|code|pre)(?![a-z0-9])" + _ATTRIBUTES + ")",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([a-zA-Z-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))")
_ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]{0,31};?)")
_PIECE = re.compile(f"{_TAG.pattern}|(?P<entity>{_ENTITY.pattern})")
_TEX_ANNOTATION = re.compile(
    r"<annotation[^<>]*encoding=[\"']application/x-tex[\"'][^<>]*>([^<]*)</annotation>"
)
_DELIMITED = re.compile(r"\s*(?:\$\$(.+)\$\$|\$(.+)\$|\\\((.+)\\\)|\\\[(.+)\\\])\s*", re.DOTALL)
_DISPLAY_GROUPS = (1, 4)

_BLOCKS = (
    "p div br li ul ol dl dt dd h1 h2 h3 h4 h5 h6 table tr blockquote pre hr section article "
    "header footer figure figcaption body html main nav aside details summary form".split()
)
# The text that replaces a tag; other tags are replaced by nothing.
_TAG_TEXT = dict.fromkeys([*_BLOCKS, *(f"/{name}" for name in _BLOCKS)], "\n") | {
    "li": "\n- ",
    "td": " ",
    "th": " ",
}

_SHOUTED = re.compile(r"</[A-Z][A-Za-z0-9]*+(?=\s*+>)")


class Element(NamedTuple):
    """A part of a page that is not prose: a formula, code, or invisible content ("nothing")."""

    kind: Literal["formula", "code", "nothing"]
    content: str = ""
    display: bool = False
    id: str = ""
    start: int = -1
    end: int = -1


def split_html(source: str) -> list[Span]:
    """Split HTML into spans; joining them restores the source exactly.

    >>> page = '<b>Is</b> <span class="math-container" id="q_1">$x&lt;y$</span>?'
    >>> [(span.kind, span.content, span.id) for span in split_html(page)]
    [('text', 'Is ', ''), ('formula', 'x<y', 'q_1'), ('text', '?', '')]
    """
    elements = find_elements(source)
    marked = any(element.kind == "formula" for element in elements)
    spans: list[Span] = []
    visible: list[tuple[int, int]] = []
    run_start = position = 0
    for element in elements:
        kind, content, display, formula_id, start, end = element
        visible.append((position, start))
        position = end
        if kind != "nothing":
            spans += _text_spans(source, run_start, start, visible, marked)
            spans.append(Span(kind, source[start:end], content, display, formula_id))
            run_start = end
            visible.clear()
    visible.append((position, len(source)))
    spans += _text_spans(source, run_start, len(source), visible, marked)
    return spans


def hold(source: str) -> tuple[str, list[Element]]:
    """Return the text of a page with a `PLACE` for each formula and code, and these in order.

    Formulas between delimiters are not found. The page must not contain the `PLACE` character.

    >>> text, held = hold('<i>Is</i> <span class="math-container">$x$</span>?')
    >>> text.replace(PLACE, "_"), held[0].content
    ('Is _?', 'x')
    """
    held: list[Element] = []
    parts: list[str] = []
    position = 0
    for element in find_elements(source):
        parts.append(source[position : element.start])
        position = element.end
        if element.kind != "nothing":
            parts.append(PLACE)
            held.append(element)
    parts.append(source[position:])
    return clean("".join(parts)), held


def clean(source: str) -> str:
    r"""Return the text of HTML without formulas, code and invisible elements.

    >>> clean("<p>Rock &amp; <b>roll</b></p>")
    '\nRock & roll\n'
    """
    if "<" in source:
        source = _TAG.sub(_tag_text, source)
    return unescape(source) if "&" in source else source


def with_plain_endings(source: str) -> str:
    """Convert upper-case closing tags, common in old pages, to lower case for other functions.

    >>> with_plain_endings("<PRE>a</PRE> if x<A")
    '<PRE>a</pre> if x<A'
    """
    return _SHOUTED.sub(lambda tag: tag[0].lower(), source)


def find_elements(source: str) -> list[Element]:
    """Return the elements of a page that are not prose, in order.

    >>> [(part.kind, part.content) for part in find_elements("<code>1 &lt; 2</code><!-- a -->")]
    [('code', '1 < 2'), ('nothing', '')]
    """
    finder = _Finder(source)
    elements: list[Element] = []
    position = 0
    for opening in ELEMENT.finditer(source):
        if opening.start() >= position and (element := finder.element(opening)) is not None:
            elements.append(element)
            position = element.end
    return elements


class _Finder:
    """Finds the ends of elements; remembers missing strings, so that the time is linear."""

    def __init__(self, source: str) -> None:
        self.source = with_plain_endings(source)
        self._missing: set[str] = set()

    def element(self, opening: re.Match[str]) -> Element | None:
        """Return the element that a tag opens; None if the tag is treated as part of the prose."""
        name, attributes = opening.groups()
        start, end = opening.span()
        if name is None:
            return Element("nothing", start=start, end=self._comment_end(start))
        name = name.lower()
        if name == "span":
            return self._container(start, end, attributes)
        if name == "script" and "math/tex" in attributes:
            return self._script(start, end, display="display" in attributes)
        if name == "math":
            return self._mathml(start, end)
        if name == "code" or name == "pre":
            return self._code(start, end, name)
        return Element("nothing", start=start, end=self._after(f"</{name}", end))

    def _find(self, needle: str, start: int) -> int:
        """Like str.find, but a needle that was missing once is not searched for again."""
        if needle in self._missing:
            return -1
        found = self.source.find(needle, start)
        if found < 0:
            self._missing.add(needle)
        return found

    def _comment_end(self, start: int) -> int:
        comment = self.source.startswith("<!--", start)
        end = self._find("-->" if comment else ">", start)
        if end < 0:
            return start + 2
        return end + (3 if comment else 1)

    def _after(self, closing: str, start: int) -> int:
        end = self._find(closing, start)
        end = self._find(">", end) if end >= 0 else -1
        return len(self.source) if end < 0 else end + 1

    def _container(self, start: int, end: int, attributes: str) -> Element | None:
        close = self._find("</span>", end)
        if close < 0:
            return None
        inner = self.source[end:close]
        if "<" in inner:
            inner = _TAG.sub("", inner)
        latex = unescape(inner) if "&" in inner else inner
        delimited = _DELIMITED.fullmatch(latex)
        group = delimited.lastindex if delimited else None
        if delimited and group:
            latex = delimited[group]
        formula_id = _attribute(attributes, "id") if "id" in attributes else ""
        return _formula(start, close + 7, latex, group in _DISPLAY_GROUPS, formula_id)

    def _script(self, start: int, end: int, display: bool) -> Element | None:
        close = self._find("</script>", end)
        if close < 0:
            return None
        return _formula(start, close + len("</script>"), self.source[end:close], display)

    def _mathml(self, start: int, end: int) -> Element | None:
        close = self._find("</math>", end)
        annotation = _TEX_ANNOTATION.search(self.source, end, close) if close >= 0 else None
        if annotation is None:
            return None
        display = 'display="block"' in self.source[start:end]
        return _formula(start, close + len("</math>"), unescape(annotation[1]), display)

    def _code(self, start: int, end: int, name: str) -> Element | None:
        close = self._find(f"</{name}>", end)
        if close < 0:
            return None
        code = unescape(_TAG.sub("", self.source[end:close]))
        return Element("code", code, name == "pre", "", start, close + len(name) + 3)


def _formula(start: int, end: int, latex: str, display: bool, formula_id: str = "") -> Element:
    latex = strip_latex(latex)
    if not latex:
        return Element("nothing", start=start, end=end)
    return Element("formula", latex, display, formula_id, start, end)


def _tag_text(tag: re.Match[str]) -> str:
    name = tag[1]
    return _TAG_TEXT.get(name) or _TAG_TEXT.get(name.lower(), "")


def _text_spans(
    source: str, start: int, end: int, visible: list[tuple[int, int]], marked: bool
) -> Iterator[Span]:
    """Yield the spans of a run of text, of which only the visible ranges have content.

    If the page marks no formulas itself, formulas between delimiters are found.
    """
    if start == end:
        return
    text = "".join([clean(source[first:last]) for first, last in visible])
    if marked or ("$" not in text and "\\" not in text):
        yield Span("text", source[start:end], text)
    else:
        yield from _split_run(source, start, end, list(_pieces(source, visible)))


def _split_run(
    source: str, start: int, end: int, pieces: list[tuple[int, int, str]]
) -> Iterator[Span]:
    """Split one run of text at its delimiters, given the source range of each piece."""
    text = "".join([piece[2] for piece in pieces])
    offsets = list(accumulate((len(piece[2]) for piece in pieces), initial=0))

    def raw_position(position: int, ending: bool) -> int:
        # At a border of two pieces, an end belongs to the first, and a start to the second.
        number = (bisect_left if ending else bisect_right)(offsets, position) - 1
        piece_start, piece_end, piece_text = pieces[number]
        if len(piece_text) == piece_end - piece_start:
            return piece_start + position - offsets[number]
        return piece_end if ending else piece_start

    raw_done = start
    text_done = 0
    for found in find_formulas(text):
        raw_start = raw_position(found.start, ending=False)
        raw_end = raw_position(found.end, ending=True)
        if raw_start > raw_done:
            yield Span("text", source[raw_done:raw_start], text[text_done : found.start])
        latex = strip_latex(text[found.latex_start : found.latex_end])
        yield Span("formula", source[raw_start:raw_end], latex, found.display)
        raw_done, text_done = raw_end, found.end
    if raw_done < end:
        yield Span("text", source[raw_done:end], text[text_done:])


def _pieces(source: str, visible: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Cut visible source into pieces: an entity, a tag, or literal text; yield range and text."""
    for position, end in visible:
        for piece in _PIECE.finditer(source, position, end):
            if piece.start() > position:
                yield position, piece.start(), source[position : piece.start()]
            text = unescape(piece[0]) if piece["entity"] else _tag_text(piece)
            yield piece.start(), piece.end(), text
            position = piece.end()
        if position < end:
            yield position, end, source[position:end]


def _attribute(attributes: str, name: str) -> str:
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == name:
            return unescape(match[2] or match[3] or match[4] or "")
    return ""
