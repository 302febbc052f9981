r"""The layout of a formula: signs in boxes, boxes in rows.

The parser reads LaTeX into rows. Everything else is built from them: the symbol layout tree
(`layout`), the operator tree (`operators`) and the displayed MathML.

    Row    a line: boxes, left to right
    Box    an item of a line: a sign, with the rows inside it and the scripts around it
    Sign   the written sign of a box; shared by all boxes with this sign

The content of ``Box.rows`` depends on ``Box.sign.kind``:

    ATOM      nothing: a letter, number, operator, text or space
    FRACTION  numerator, denominator (no line where ``sign.text`` is empty, as in ``\atop``)
    ROOT      radicand, and the degree where one is written
    FENCE     the content between ``sign.opening`` and ``sign.closing`` (either may be empty)
    TABLE     the cells, row by row; ``Box.columns`` of them in each row; fences as in FENCE
    GROUP     one row that is a unit: ``{a+b}``, ``\boxed{x}``, text with formulas inside
    ACCENT    one row, with ``sign.text`` drawn above it (or below: ``sign.below``)
    PHANTOM   one row that takes up space but is invisible
"""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.tree import Tree

# Kinds of boxes. Single Final constants, so that the compiler inlines the numbers.
ATOM: Final = 0
FRACTION: Final = 1
ROOT: Final = 2
FENCE: Final = 3
TABLE: Final = 4
GROUP: Final = 5
ACCENT: Final = 6
PHANTOM: Final = 7

# Roles of boxes when their row is parsed as an expression. The order matters: roles up to TEXT are
# only operands, roles from ADDITION on are signs that end a term, and each of these binds no more
# tightly than those before it.
IDENTIFIER: Final = 0
NUMBER: Final = 1
TEXT: Final = 2
FUNCTION: Final = 3
TRIGONOMETRIC: Final = 4
BIG: Final = 5
INTEGRAL: Final = 6
PREFIX: Final = 7
NEGATION: Final = 8
POSTFIX: Final = 9
MULTIPLICATION: Final = 10
SPACE: Final = 11
OPENING: Final = 12
CLOSING: Final = 13
ADDITION: Final = 14
MODULUS: Final = 15
BAR: Final = 16
RELATION: Final = 17
META: Final = 18
COLON: Final = 19
COMMA: Final = 20
WIDE_SPACE: Final = 21
PERIOD: Final = 22
CONDITION: Final = 23

# Brackets that form one node with their content; in Tangent, the others stay symbols.
_ENCLOSING: Final = {"(": ")]}", "[": ")]}", "{": ")]}", "|": "|∥", "∥": "|∥", "‖": "‖"}

# Symbol numbers below this have shared boxes; nearly all symbols of real formulas are below it.
_MAX_SHARED: Final = 256


class Sign:
    """The labels, the appearance and the role of a written sign.

    ``text`` is the displayed text; ``element`` its MathML element (``mi``, ``mn``, ``mo``,
    ``mtext``, ``mspace``); ``layout`` its label in the SLT; ``operand`` and ``operator`` its
    labels in the OPT when it stands alone and when it is applied to operands. ``limits`` means
    that scripts are above and below it in displayed formulas; ``high`` and ``low`` are the SLT
    edges to its scripts, ``o`` and ``u`` if these ``stand_over`` it. ``encloses`` means that its
    brackets, ``opening`` and ``closing``, form one SLT node with their content. ``atoms`` and
    ``lines`` are shared between formulas, by symbol number: boxes with only this sign, and rows of
    one such box (see `shared_atom`).
    """

    __slots__ = (
        "atoms",
        "below",
        "closing",
        "element",
        "encloses",
        "high",
        "kind",
        "layout",
        "limits",
        "lines",
        "low",
        "opening",
        "operand",
        "operator",
        "role",
        "stand_over",
        "text",
    )

    def __init__(
        self,
        text: str,
        element: str = "mi",
        role: int = IDENTIFIER,
        *,
        layout: str | None = None,
        operand: str | None = None,
        operator: str | None = None,
        kind: int = ATOM,
        limits: bool = False,
        below: bool = False,
        opening: str = "",
        closing: str = "",
    ) -> None:
        self.text = text
        self.element = element
        self.role = role
        if layout is None:
            layout = "V!" + text if element == "mi" else "" if element == "mspace" else text
        self.layout = layout
        if element == "mspace":
            operand = "W!"  # a space alone is a missing operand
        self.operand = "V!" + text if operand is None else operand
        self.operator = (
            ("F!" + text if operand is None else operand) if operator is None else operator
        )
        self.kind = kind
        self.limits = limits
        self.stand_over = limits or element == "mo"
        self.high = "o" if self.stand_over else "a"
        self.low = "u" if self.stand_over else "b"
        self.below = below
        self.opening = opening
        self.closing = closing
        self.encloses = closing != "" and closing in _ENCLOSING.get(opening, "")
        self.atoms: dict[int, Box] = {}
        self.lines: dict[int, Row] = {}

    def __repr__(self) -> str:
        return f"Sign({self.text!r}, {self.element!r})"


class Box:
    """An immutable sign with the rows inside it and the scripts around it.

    ``symbol`` is the number of the written symbol in its formula; the nodes of the box in both
    trees have the same number. ``scripts`` are rows, in the order of writing; the ``edge`` of each
    is its position. Fences and tables have a ``closer``, the number of the closing sign (-1 if
    none is written), and tables have ``columns``. A shared box has a ``leaf`` if its sign is the
    same node in both trees: a letter or a number. ``plain`` is the SLT label of a box with only a
    sign, "" for a space, and None for any other box.
    """

    __slots__ = ("closer", "columns", "leaf", "plain", "rows", "scripts", "sign", "symbol")

    def __init__(
        self,
        sign: Sign,
        symbol: int,
        rows: tuple[Row, ...] = (),
        scripts: tuple[Row, ...] = (),
        closer: int = -1,
        columns: int = 0,
        leaf: Tree | None = None,
    ) -> None:
        self.sign: Final = sign
        self.symbol: Final = symbol
        self.rows: Final = rows
        self.scripts: Final = scripts
        self.closer: Final = closer
        self.columns: Final = columns
        self.leaf: Final = leaf
        self.plain: Final = None if scripts or sign.kind != ATOM else sign.layout

    def __repr__(self) -> str:
        return f"Box({self.sign!r}, {self.symbol})"

    def with_scripts(self, scripts: tuple[Row, ...]) -> Box:
        """Return the same box with other scripts."""
        return Box(self.sign, self.symbol, self.rows, scripts, self.closer, self.columns, self.leaf)


def shared_atom(sign: Sign, symbol: int) -> Box:
    """Return a box with only a sign of the tables; formulas share boxes of low symbol numbers.

    Boxes and trees are immutable, so that all formulas that begin with x can share its box. A
    look-up in ``sign.atoms`` takes a fifth of the time of creating a box.
    """
    box = sign.atoms.get(symbol)
    if box is None:
        if symbol >= _MAX_SHARED:
            return Box(sign, symbol)
        label = sign.layout
        leaf = Tree(label, (), (), symbol) if label == sign.operand else None
        box = sign.atoms[symbol] = Box(sign, symbol, (), (), -1, 0, leaf)
    return box


class Row:
    """A complete line: its ``boxes``, left to right.

    ``number`` is the index of the row in the list of all rows of its formula, and of its trees;
    -1 for a row of one atom, which is not listed. A script has an ``edge``, the SLT edge from its
    box: ``a`` above right, ``b`` below right, ``o`` over, ``u`` under, ``c`` above left, ``d``
    below left. The content of enclosing brackets may have ``w``, within: its SLT can be divided at
    commas at once. Rows do not change after the formula has been read.
    """

    __slots__ = ("boxes", "edge", "number")

    def __init__(self, boxes: list[Box], number: int, edge: str = "") -> None:
        self.boxes: Final = boxes
        self.number: Final = number
        self.edge: Final = edge

    def at(self, edge: str) -> Row:
        """Return the same row as a script in another position."""
        return Row(self.boxes, self.number, edge)


def shared_row(sign: Sign, symbol: int) -> Row:
    """Return a row of one `shared_atom`."""
    row = sign.lines.get(symbol)
    if row is None:
        row = Row([shared_atom(sign, symbol)], -1)
        if symbol < _MAX_SHARED:
            sign.lines[symbol] = row
    return row


def shared_script(sign: Sign, symbol: int, edge: str, known: dict[int, Row]) -> Row:
    """Return a shared row of a script; ``known`` has those with the same sign and edge."""
    row = known.get(symbol)
    if row is None:
        row = Row([shared_atom(sign, symbol)], -1, edge)
        if symbol < _MAX_SHARED:
            known[symbol] = row
    return row


def add_row(boxes: list[Box], rows: list[Row]) -> Row:
    """Create a row of boxes and append it to the list of rows."""
    row = Row(boxes, len(rows))
    rows.append(row)
    return row
