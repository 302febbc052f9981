"""Write the layout of a formula as Presentation MathML for browsers (MathML Core)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import TypeAlias

from mathsetu.formulas.latex import boxes
from mathsetu.formulas.latex.boxes import Box, Row
from mathsetu.formulas.mathml.escape import escape_text

#: A style sheet for highlighted formulas: colours matched elements, not unmatched ones in them.
HIGHLIGHT_STYLE = (
    "math .matched{color:#c2410c}"
    "math .matched>:not(.matched){color:CanvasText}"
    "math :is(mi,mn,mo,mtext).matched{background:#ffd66666}"
)

_THIN_SPACE = '<mspace width="0.1667em"></mspace>'
_FUNCTIONS = frozenset({boxes.FUNCTION, boxes.TRIGONOMETRIC})
_OPERANDS = frozenset({boxes.IDENTIFIER, boxes.NUMBER, boxes.TEXT, boxes.POSTFIX})
# Capital Greek letters are upright in LaTeX, but a single letter in <mi> would be slanted.
_UPRIGHT = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ")
_LEAVES = frozenset({"mi", "mn", "mo", "mtext"})
# Tables whose cells are parts of lines (align) or of cases; all others are centred.
_LINES, _CASES = "O!lines", "O!cases"
_LEFT = ' style="text-align:left"'
_ALIGNED = (' style="text-align:right;padding-right:0"', ' style="text-align:left;padding-left:0"')
# Accents over several symbols: the characters that fonts can stretch.
_WIDE = {"^": "\u02c6", "~": "\u02dc"}
_BAR = "¯"
# No character for a bar is stretched by all fonts: the bar is drawn as a border, and the character
# is kept, invisible, for screen readers.
_UNSEEN = ' stretchy="false" style="opacity:0;font-size:1px"'
_FRAME = ' style="border:thin solid;padding:0.2em"'
# Maximum depth of the output; our own reader refuses twice as much.
_DEEPEST = 5_000
_MAX_LAYERS = 1_000
_LEFT_OUT = "<mo>…</mo>"

# An item to be written: text unchanged, a row, or a box with attributes.
_Item: TypeAlias = str | Row | tuple[Box, str]


def write_mathml(
    layout: Row, *, prefix: str = "formula", highlight: Collection[int] = (), display: bool = False
) -> str:
    """Write the layout of a parsed formula as MathML.

    The elements of symbol number 3 have ``data-symbol="3"``, the first of them also the id
    ``formula-3`` (give each formula of a page its own ``prefix``). Elements of the symbols in
    ``highlight`` have the class ``matched``. All text of the formula is escaped.

    >>> from mathsetu.formulas import parse_latex
    >>> mathml = write_mathml(parse_latex("x+1").layout, highlight={0})
    >>> '<mi id="formula-0" data-symbol="0" class="matched">x</mi>' in mathml
    True
    """
    return _Writer(prefix, frozenset(highlight)).write(layout, display)


class _Writer:
    """Writes one formula with a stack instead of recursion, so that any depth is safe."""

    def __init__(self, prefix: str, highlight: frozenset[int]) -> None:
        self.prefix = escape_text(prefix)
        self.highlight = highlight
        self.named: set[int] = set()

    def write(self, layout: Row, display: bool) -> str:
        written: list[str] = []
        pending: list[_Item] = [layout]
        depth = 0
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                written.append(item)
                depth += item.count("<") - 2 * item.count("</")
            elif depth > _DEEPEST:
                written.append(_LEFT_OUT)
            elif isinstance(item, Row):
                pending.extend(reversed(self._row(item)))
            else:
                pending.extend(reversed(self._scripted(*item)))
        block = ' display="block"' if display else ""
        namespace = "http://www.w3.org/1998/Math/MathML"
        return f'<math xmlns="{namespace}"{block}>{"".join(written)}</math>'

    def _names(self, symbol: int, *also: int) -> str:
        """Return the attributes of an element; it is matched if one of its symbols is."""
        if symbol < 0:
            return ""
        is_matched = not self.highlight.isdisjoint((symbol, *also))
        kind = ' class="matched"' if is_matched else ""
        # One command may draw several elements (the fence and the stack of a binomial).
        name = "" if symbol in self.named else f' id="{self.prefix}-{symbol}"'
        self.named.add(symbol)
        return f'{name} data-symbol="{symbol}"{kind}'

    def _row(self, row: Row) -> list[_Item]:
        """Return a row as exactly one element."""
        items = self._boxes(row)
        return items if len(items) == 1 else ["<mrow>", *items, "</mrow>"]

    def _boxes(self, row: Row) -> list[_Item]:
        """Return the boxes of a row, with the spaces that LaTeX sets and browsers do not."""
        items: list[_Item] = []
        before: Box | None = None
        for box in row.boxes:
            if before is not None and _needs_space(before, box):
                items.append(_THIN_SPACE)
            is_sign = box.sign.role == boxes.ADDITION
            is_prefix = is_sign and (before is None or not _is_operand(before))
            items.append((box, ' form="prefix"' if is_prefix else ""))
            before = box
        return items

    def _scripted(self, box: Box, attributes: str) -> list[_Item]:
        """Return a box with its scripts, from the inside out."""
        items: deque[_Item] = deque(self._bare(box, attributes))
        for layer in _layers(box)[:_MAX_LAYERS]:
            under, over = layer.get("u"), layer.get("o")
            if under is not None or over is not None:
                _wrap(items, "munder", "mover", "munderover", under, over)
            before = layer.get("d"), layer.get("c")
            below, above = layer.get("b"), layer.get("a")
            if before != (None, None):
                items.appendleft("<mmultiscripts>")
                items += [_or_none(below), _or_none(above), "<mprescripts></mprescripts>"]
                items += [*map(_or_none, before), "</mmultiscripts>"]
            elif below is not None or above is not None:
                _wrap(items, "msub", "msup", "msubsup", below, above)
        return list(items)

    def _bare(self, box: Box, attributes: str) -> list[_Item]:
        sign, kind = box.sign, box.sign.kind
        if kind == boxes.ATOM:
            return [self._atom(box, attributes)]
        if kind == boxes.FENCE:
            return self._fenced(box, self._boxes(box.rows[0]))
        if kind == boxes.ACCENT:
            return self._accent(box)
        if kind == boxes.TABLE:
            style = ' displaystyle="true"' if sign.operand == _LINES else ""
            return self._fenced(box, [f"<mtable{style}>", *_cells(box), "</mtable>"])
        if kind == boxes.FRACTION:
            element, style = "mfrac", "" if sign.text else ' linethickness="0"'
        elif kind == boxes.ROOT:
            element, style = "mroot" if len(box.rows) > 1 else "msqrt", ""
        elif kind == boxes.PHANTOM:
            element, style = "mphantom", ""
        else:
            element, style = "mrow", _FRAME if sign.text else ""
        return [f"<{element}{style}{self._names(box.symbol)}>", *box.rows, f"</{element}>"]

    def _atom(self, box: Box, attributes: str) -> str:
        sign = box.sign
        names = self._names(box.symbol)
        text = sign.text
        if sign.element == "mspace":
            return f'<mspace width="{escape_text(text)}"{names}></mspace>'
        element = sign.element if sign.element in _LEAVES else "mi"
        if element == "mi" and text in _UPRIGHT:
            attributes += ' mathvariant="normal"'
        elif element == "mo" and text[:1].isalpha() and len(text) > 1:
            # Not in the operator dictionary of browsers: set its spacing.
            space = "0.2222em" if sign.role == boxes.MULTIPLICATION else "0"
            attributes += f' lspace="{space}" rspace="0.2222em"'
            if sign.limits:
                attributes += ' movablelimits="true"'
        elif element == "mtext":
            text = text.replace(" ", "\u00a0")
        return f"<{element}{attributes}{names}>{escape_text(text)}</{element}>"

    def _fenced(self, box: Box, inner: list[_Item]) -> list[_Item]:
        opening, closing = _fence_text(box.sign.opening), _fence_text(box.sign.closing)
        # Brackets around plain symbols keep their size, as in LaTeX.
        is_low = box.sign.kind == boxes.FENCE and all(map(_is_one_line, box.rows))
        kind = f'fence="true" stretchy="{"false" if is_low else "true"}"'
        # A fence has two signs with a number each; if the first is matched, both are.
        names = self._names(box.symbol)
        items: list[_Item] = ["<mrow>" if opening else f"<mrow{names}>"]
        if opening:
            items.append(f'<mo form="prefix" {kind}{names}>{opening}</mo>')
        items += inner
        if closing:
            names = self._names(box.closer if box.closer >= 0 else box.symbol, box.symbol)
            items.append(f'<mo form="postfix" {kind}{names}>{closing}</mo>')
        return [*items, "</mrow>"]

    def _accent(self, box: Box) -> list[_Item]:
        sign, row = box.sign, box.rows[0]
        element, kind = ("munder", "accentunder") if sign.below else ("mover", "accent")
        start, end = f'<{element} {kind}="true">', f"</{element}>"
        names = self._names(box.symbol)
        mark = escape_text(sign.text)
        if len(row.boxes) == 1 and _is_one_line(row):
            return [start, row, f'<mo stretchy="false"{names}>{mark}</mo>', end]
        if mark == _BAR:
            side = "bottom" if sign.below else "top"
            border = f'<mrow style="border-{side}:thin solid"{names}>'
            return [start, border, row, "</mrow>", f"<mo{_UNSEEN}>{mark}</mo>", end]
        return [start, row, f'<mo stretchy="true"{names}>{_WIDE.get(mark, mark)}</mo>', end]


def _wrap(
    items: deque[_Item], low: str, high: str, both: str, below: Row | None, above: Row | None
) -> None:
    """Wrap items and their scripts in the element for the scripts that are present."""
    element = both if below is not None and above is not None else low if above is None else high
    items.appendleft(f"<{element}>")
    items += [script for script in (below, above) if script is not None]
    items.append(f"</{element}>")


def _or_none(script: Row | None) -> _Item:
    return "<mrow></mrow>" if script is None else script


def _layers(box: Box) -> list[dict[str, Row]]:
    """Return scripts in layers: each place once per layer, later layers around earlier ones."""
    layers: list[dict[str, Row]] = []
    for row in box.scripts:
        place = _place(box, row.edge)
        if not layers or place in layers[-1]:
            layers.append({})
        layers[-1][place] = row
    return layers


def _place(box: Box, edge: str) -> str:
    """Return where a script is displayed; the SLT has those of all operators over and under."""
    sign = box.sign
    beside = {"o": "a", "u": "b"}
    if sign.limits:
        return {"a": "o", "b": "u"}.get(edge, edge)
    if sign.kind == boxes.ATOM and sign.role not in (boxes.RELATION, boxes.META):
        return beside.get(edge, edge) if sign.element == "mo" else edge
    return edge


def _cells(box: Box) -> list[_Item]:
    items: list[_Item] = []
    columns = max(box.columns, 1)
    for start in range(0, len(box.rows), columns):
        items.append("<mtr>")
        for column, row in enumerate(box.rows[start : start + columns]):
            style = _LEFT if box.sign.operand == _CASES else ""
            if box.sign.operand == _LINES and columns > 1:
                style = _ALIGNED[column % 2]
            items += [f"<mtd{style}>", row, "</mtd>"]
        items.append("</mtr>")
    return items


def _is_one_line(row: Row) -> bool:
    return all(box.sign.kind == boxes.ATOM and not box.scripts for box in row.boxes)


def _fence_text(sign: str) -> str:
    # To browsers, ‖ is a bracket and ∥ only a relation.
    return escape_text(sign.replace("∥", "‖"))


def _needs_space(before: Box, box: Box) -> bool:
    """Whether LaTeX would set a thin space here, as around the names of functions."""
    if before.sign.role in _FUNCTIONS:
        return box.sign.kind not in (boxes.FENCE, boxes.TABLE) and box.sign.role in (
            _OPERANDS | _FUNCTIONS
        )
    return box.sign.role in _FUNCTIONS and _is_operand(before)


def _is_operand(box: Box) -> bool:
    return box.sign.kind != boxes.ATOM or box.sign.role in _OPERANDS
