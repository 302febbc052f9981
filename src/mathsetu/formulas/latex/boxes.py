r"""The layout of a formula: signs in boxes, boxes in rows.

The parser reads LaTeX into rows. Everything else is made from them: the symbol layout tree
(`layout`), the operator tree (`operators`) and the displayed MathML.

    Row    what stands on one line: boxes, left to right
    Box    one thing on a line: a sign, with the rows inside it and the scripts around it
    Sign   what is written in a box; shared by all boxes that show the same

What ``Box.rows`` holds depends on ``Box.sign.kind``:

    ATOM      nothing: a letter, number, operator, text or space
    FRACTION  numerator, denominator (no line where ``sign.text`` is empty, as in ``\atop``)
    ROOT      radicand, and the degree where one is written
    FENCE     what is between ``sign.opening`` and ``sign.closing`` (either may be empty)
    TABLE     the cells, row by row; ``Box.columns`` of them in each row; fences as in FENCE
    GROUP     one row that counts as a unit: ``{a+b}``, ``\boxed{x}``, text with formulas inside
    ACCENT    one row, with ``sign.text`` drawn above it (or below: ``sign.below``)
    PHANTOM   one row that takes room and is not seen
"""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.tree import Tree

# Kinds of box. Final, one by one, so that the compiler puts in the numbers.
ATOM: Final = 0
FRACTION: Final = 1
ROOT: Final = 2
FENCE: Final = 3
TABLE: Final = 4
GROUP: Final = 5
ACCENT: Final = 6
PHANTOM: Final = 7

# Roles: what part a box plays in its row when the row is read as an expression. The numbers are
# ordered: up to TEXT are operands and nothing but operands, from ADDITION on are signs that end a
# term, and each of these binds no more than those before it.
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


class Sign:
    """What one written sign is called, how it looks, and how it behaves.

    ``text`` is what is displayed; ``element`` the MathML element it is displayed in (``mi``,
    ``mn``, ``mo``, ``mtext``, ``mspace``); ``layout`` its label in the SLT; ``operand`` and
    ``operator`` its labels in the OPT when it stands alone and when it is applied to operands.
    ``limits`` tells that scripts stand above and below in displayed formulas; ``high`` and
    ``low`` are the SLT edges to its scripts.
    """

    __slots__ = (
        "below",
        "closing",
        "element",
        "high",
        "kind",
        "layout",
        "limits",
        "low",
        "opening",
        "operand",
        "operator",
        "role",
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
            operand = "W!"  # a space alone is nothing where something should be
        self.operand = "V!" + text if operand is None else operand
        self.operator = (
            ("F!" + text if operand is None else operand) if operator is None else operator
        )
        self.kind = kind
        self.limits = limits
        stands_over = limits or element == "mo"
        self.high = "o" if stands_over else "a"
        self.low = "u" if stands_over else "b"
        self.below = below
        self.opening = opening
        self.closing = closing

    def __repr__(self) -> str:
        return f"Sign({self.text!r}, {self.element!r})"


class Box(Tree):
    """A sign with the rows inside it and the scripts around it.

    A box is at the same time the node of the symbol layout tree that it becomes: the SLT is
    the layout with its links filled in. ``symbol`` numbers the written symbols of a formula; the
    OPT node that comes from a box carries the same number. ``scripts`` are rows, in the order of
    writing; the ``edge`` of each says where it stands. Fences and tables have a ``closer``, the
    number of the closing sign (-1 where none is written), and tables have ``columns``. The links
    to other nodes are there once `layout` has made the tree.
    """

    __slots__ = ("closer", "columns", "rows", "scripts", "sign")

    closer: int
    columns: int

    def __init__(self, sign: Sign, symbol: int, rows: tuple[Row, ...] = ()) -> None:
        self.label = sign.layout
        self.symbol = symbol
        self.sign = sign
        self.rows = rows
        self.scripts: tuple[Row, ...] = ()

    def __repr__(self) -> str:
        is_linked = hasattr(self, "edges")
        return super().__repr__() if is_linked else f"Box({self.sign!r}, {self.symbol})"


class Row:
    """A line that has been read to its end: its ``boxes``, left to right.

    A script has an ``edge``, the SLT edge from its box: ``a`` above right, ``b`` below right,
    ``o`` over, ``u`` under, ``c`` above left, ``d`` below left. ``slt`` and ``opt`` are the trees
    of this row once they have been made.
    """

    __slots__ = ("boxes", "edge", "opt", "slt")

    edge: str
    slt: Tree
    opt: Tree

    def __init__(self, boxes: list[Box]) -> None:
        self.boxes = boxes
