"""Reads HTML as pages with mathematics write it, in linear time, on any input.

Formulas are recognised in the ways that pages mark them: Stack Exchange's
``<span class="math-container" id="…">``, MathJax's ``<script type="math/tex">``, MathML with a
TeX annotation, and plain delimiters in the text. A page that marks its formulas means its other
dollars as dollars. Scripts, styles and comments leave nothing behind; nothing is executed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from html import unescape
from itertools import accumulate

from mathsetu.markup.delimiters import find_formulas
from mathsetu.markup.spans import Span, strip_latex

# Possessive: each "<" looks at most as far as the next one, so no input takes quadratic time.
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)/?>|<!")
_ATTRIBUTE = re.compile(r"([a-zA-Z-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))")
_ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
_TEX_ANNOTATION = re.compile(
    r"<annotation[^<>]*encoding=[\"']application/x-tex[\"'][^<>]*>([^<]*)</annotation>"
)
_DELIMITED = re.compile(r"\s*(?:\$\$(.+)\$\$|\$(.+)\$|\\\((.+)\\\)|\\\[(.+)\\\])\s*", re.DOTALL)

_BLOCKS = frozenset(
    "p div br li ul ol dl dt dd h1 h2 h3 h4 h5 h6 table tr blockquote pre hr section article "
    "header footer figure figcaption body html main nav aside details summary form".split()
)
_SILENT = frozenset("script style template noscript head title svg iframe object".split())


def split_html(source: str) -> list[Span]:
    """Split HTML into spans; joining them gives the source back exactly.

    >>> page = '<b>Is</b> <span class="math-container" id="q_1">$x&lt;y$</span>?'
    >>> [(span.kind, span.content, span.id) for span in split_html(page)]
    [('text', 'Is ', ''), ('formula', 'x<y', 'q_1'), ('text', '?', '')]
    """
    return _Reader(source).spans()


class _Reader:
    """Walks over the tags once and gathers spans."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._marked = False
        self._missing: set[str] = set()
        self._spans: list[Span] = []
        self._runs: dict[int, list[tuple[int, int, str]]] = {}
        # The text run being gathered: where its raw source begins, and its pieces
        # (raw start, raw end, clean text).
        self._run_start = 0
        self._pieces: list[tuple[int, int, str]] = []

    def spans(self) -> list[Span]:
        source, position = self.source, 0
        for tag in _TAG.finditer(source):
            start, end = tag.span()
            if start < position:
                continue
            if start > position:
                self._add(position, start, unescape(source[position:start]))
            position = self._after(tag, start, end)
        if position < len(source):
            self._add(position, len(source), unescape(source[position:]))
        self._end_run(len(source))
        return self._resolve()

    def _after(self, tag: re.Match[str], start: int, end: int) -> int:
        """Deal with one tag and return where reading goes on."""
        name = (tag[2] or "").lower()
        if not name:
            return self._comment_end(start)
        if tag[1]:
            if name in _BLOCKS:
                self._add(start, end, "\n")
            return end
        attributes = tag[3]
        if name == "span" and "math-container" in attributes:
            return self._formula(start, end, "</span>", _attribute(attributes, "id"))
        if name == "script" and "math/tex" in attributes:
            return self._script_formula(start, end, display="display" in attributes)
        if name == "math":
            return self._mathml(start, end)
        if name == "code" or name == "pre":
            return self._code(start, end, name)
        if name in _SILENT:
            return self._skip_to(f"</{name}", end)
        if name == "li":
            self._add(start, end, "\n- ")
        elif name in _BLOCKS:
            self._add(start, end, "\n")
        elif name in ("td", "th"):
            self._add(start, end, " ")
        return end

    def _find(self, needle: str, start: int) -> int:
        """Like str.find, but a needle that was missing once is not looked for again."""
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

    def _skip_to(self, closing: str, start: int) -> int:
        end = self._find(closing, start)
        end = self._find(">", end) if end >= 0 else -1
        return len(self.source) if end < 0 else end + 1

    def _formula(self, start: int, end: int, closing: str, formula_id: str) -> int:
        close = self._find(closing, end)
        if close < 0:
            return end
        inner = unescape(_TAG.sub("", self.source[end:close]))
        delimited = _DELIMITED.fullmatch(inner)
        latex = next(filter(None, delimited.groups()), "") if delimited else inner
        display = bool(delimited and (delimited[1] or delimited[4]))
        return self._emit(start, close + len(closing), strip_latex(latex), display, formula_id)

    def _script_formula(self, start: int, end: int, display: bool) -> int:
        close = self._find("</script>", end)
        if close < 0:
            return end
        latex = strip_latex(self.source[end:close])
        return self._emit(start, close + len("</script>"), latex, display, "")

    def _mathml(self, start: int, end: int) -> int:
        close = self._find("</math>", end)
        if close < 0:
            return end
        annotation = _TEX_ANNOTATION.search(self.source, end, close)
        if annotation is None:
            return end
        display = 'display="block"' in self.source[start:end]
        latex = strip_latex(unescape(annotation[1]))
        return self._emit(start, close + len("</math>"), latex, display, "")

    def _emit(self, start: int, end: int, latex: str, display: bool, formula_id: str) -> int:
        if not latex:
            return end
        self._marked = True
        self._end_run(start)
        self._spans.append(Span("formula", self.source[start:end], latex, display, formula_id))
        self._run_start = end
        return end

    def _code(self, start: int, end: int, name: str) -> int:
        close = self._find(f"</{name}>", end)
        if close < 0:
            return end
        stop = close + len(name) + 3
        code = unescape(_TAG.sub("", self.source[end:close]))
        self._end_run(start)
        self._spans.append(Span("code", self.source[start:stop], code, display=name == "pre"))
        self._run_start = stop
        return stop

    def _add(self, start: int, end: int, text: str) -> None:
        self._pieces.append((start, end, text))

    def _end_run(self, stop: int) -> None:
        """Close the text run that reaches up to ``stop``; empty runs leave no span."""
        if stop > self._run_start:
            raw = self.source[self._run_start : stop]
            self._runs[len(self._spans)] = self._pieces
            self._spans.append(Span("text", raw, "".join([piece[2] for piece in self._pieces])))
        self._pieces = []

    def _resolve(self) -> list[Span]:
        """Where the page marked no formulas itself, look for delimiters in its text."""
        if self._marked:
            return self._spans
        resolved: list[Span] = []
        position = 0
        for number, span in enumerate(self._spans):
            end = position + len(span.raw)
            if span.kind == "text" and ("$" in span.content or "\\" in span.content):
                resolved.extend(_split_run(self.source, position, end, self._runs[number]))
            else:
                resolved.append(span)
            position = end
        return resolved


def _split_run(
    source: str, start: int, end: int, pieces: list[tuple[int, int, str]]
) -> Iterator[Span]:
    """Split one run of text at its delimiters, knowing from which source each piece came."""
    fine = list(_at_entities(source, pieces))
    text = "".join(piece[2] for piece in fine)
    offsets = list(accumulate((len(piece[2]) for piece in fine), initial=0))

    def raw_position(position: int, ending: bool) -> int:
        # Of the pieces that touch the position, an ending belongs to the first.
        number = (bisect_left if ending else bisect_right)(offsets, position) - 1
        piece_start, piece_end, piece_text = fine[number]
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


def _at_entities(source: str, pieces: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Cut pieces so that each is an entity, a tag, or text that stands in the source as it is."""
    for start, end, text in pieces:
        if len(text) == end - start or source[start] == "<":
            yield start, end, text
            continue
        position = start
        for entity in _ENTITY.finditer(source, start, end):
            if entity.start() > position:
                yield position, entity.start(), source[position : entity.start()]
            yield entity.start(), entity.end(), unescape(entity[0])
            position = entity.end()
        if position < end:
            yield position, end, source[position:end]


def _attribute(attributes: str, name: str) -> str:
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == name:
            return unescape(match[2] or match[3] or match[4] or "")
    return ""
