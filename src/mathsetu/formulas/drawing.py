"""Draw formula trees as SVG, standalone or embedded in a page.

An operator tree is drawn from the root down. A symbol layout tree is drawn like the formula:
the symbols of a line side by side, with scripts above and below them. Nodes are light cards with
dark text and lines are grey, so that both are legible on light and dark pages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from mathsetu.formulas.mathml.escape import escape_text
from mathsetu.formulas.tree import Tree

_BEGINNING = '<svg xmlns="http://www.w3.org/2000/svg" class="formula-tree" role="img"'
_NODE_HEIGHT = 26
_GAP = 14  # between neighbours on a line
_LEVEL = 58  # from one level to the next
_INSET = 8  # from the left side of a card to the line that leads inside
_MARGIN = 12
_LONGEST = 24  # characters shown of a label; the tooltip has the whole label

# The signs shown for operators; letters, numbers and names are shown unchanged.
_SIGNS_OF = ("O", "U", "C", "F")
_SIGNS = {
    "plus": "+",
    "minus": "−",
    "times": "×",
    "divide": "÷",
    "eq": "=",
    "neq": "≠",
    "lt": "<",
    "gt": ">",
    "leq": "≤",
    "geq": "≥",
    "in": "∈",
    "not": "¬",
    "and": ",",
    "form-seq": ",",
    "forall": "∀",
    "subset": "⊆",
    "prsubset": "⊂",
    "prsuperset": "⊃",
    "SUP": "□ⁿ",
    "SUB": "□ₙ",
    "root": "√",
    "int": "∫",
    "sum": "∑",
    "product": "∏",
    "limit": "lim",
    "infinity": "∞",
    "abs": "|□|",
    "norm": "‖□‖",
    "factorial": "!",
    "percent": "%",
    "matrix": "[□]",
    "cases": "{□",
}
# An operator with scripts (such as a sum), applied to its argument.
_APPLIED = "…(…)"
_SIZE = re.compile(r"M!M-(\d+)x(\d+)")

_STYLE = (
    ".formula-tree text{font:14px 'STIX Two Text','Cambria Math',serif;text-anchor:middle;"
    "dominant-baseline:central;fill:#1c2430}"
    ".formula-tree rect{fill:#eef1f5;stroke:#8a94a3}"
    ".formula-tree .leaf{fill:#dcebfb;stroke:#6b93c0}"
    ".formula-tree .matched{fill:#ffd666;stroke:#c2410c;stroke-width:2.5}"
    ".formula-tree line,.formula-tree path{fill:none;stroke:#8a8f98;stroke-width:1.3}"
)


class _Block:
    """A node with the arranged blocks of its children: a rectangle.

    ``left``, ``right``, ``up`` and ``down`` are the distances from the centre of the node to the
    sides. ``parts`` are the blocks of the children, each with its edge and its position relative
    to the centre; ``inside`` is the one that the node encloses.
    """

    __slots__ = ("down", "inside", "left", "node", "parts", "right", "up")

    def __init__(self, node: Tree) -> None:
        self.node = node
        self.left = self.right = _width(node.label) / 2
        self.up = self.down = _NODE_HEIGHT / 2
        self.parts: list[tuple[str, _Block, float, float]] = []
        self.inside: _Block | None = None

    def put(self, edge: str, part: _Block, x: float, y: float) -> None:
        self.parts.append((edge, part, x, y))
        self.left = max(self.left, part.left - x)
        self.right = max(self.right, part.right + x)
        self.up = max(self.up, part.up - y)
        self.down = max(self.down, part.down + y)


def draw_operator_tree(tree: Tree, matched: Iterable[Tree] = ()) -> str:
    """Draw an operator tree as SVG, with the ``matched`` nodes coloured.

    >>> tree = Tree("U!plus", (Tree("V!x"), Tree("N!1")), ("0", "1"))
    >>> svg = draw_operator_tree(tree, matched=[tree.children[0]])
    >>> svg.count("<rect"), svg.count('class="matched"')
    (3, 1)
    """
    return _svg(_arrange(tree, _arrange_operands), matched)


def draw_layout_tree(tree: Tree, matched: Iterable[Tree] = ()) -> str:
    """Draw a symbol layout tree as SVG, with the ``matched`` nodes coloured.

    >>> draw_layout_tree(Tree("V!x", (Tree("N!2"),), ("a",))).count("<rect")
    2
    """
    return _svg(_arrange(tree, _arrange_line), matched)


def _arrange(tree: Tree, arrange: Callable[[_Block, list[_Block]], None]) -> _Block:
    blocks: dict[int, _Block] = {}
    for node in reversed(list(tree.walk())):
        block = blocks[id(node)] = _Block(node)
        arrange(block, [blocks[id(child)] for child in node.children])
    return blocks[id(tree)]


def _arrange_operands(block: _Block, operands: list[_Block]) -> None:
    width = sum(part.left + part.right for part in operands) + _GAP * (len(operands) - 1)
    x = -width / 2
    for edge, part in zip(block.node.edges, operands, strict=True):
        block.put(edge, part, x + part.left, _LEVEL)
        x += part.left + part.right + _GAP


def _arrange_line(block: _Block, parts: list[_Block]) -> None:
    around = dict(zip(block.node.edges, parts, strict=True))
    half = _width(block.node.label) / 2
    for before, middle, after, side in (("c", "o", "a", -1), ("d", "u", "b", 1)):
        left, right = -half, half
        if middle in around:
            part = around[middle]
            _put_beside(block, middle, part, 0.0, side)
            left, right = min(left, -part.left - _GAP), max(right, part.right + _GAP)
        if after in around:
            _put_beside(block, after, around[after], right + around[after].left, side)
        if before in around:
            _put_beside(block, before, around[before], left - around[before].right, side)
    if "w" in around:
        # Below all scripts, to the right of the line that leads down to it.
        part = around["w"]
        y = block.down + _LEVEL - _NODE_HEIGHT + part.up
        block.inside = part
        block.put("w", part, _GAP + _INSET - half + part.left, y)
    for edge, gap in (("n", _GAP), ("e", 2 * _GAP)):
        if edge in around:
            block.put(edge, around[edge], block.right + gap + around[edge].left, 0)


def _put_beside(block: _Block, edge: str, part: _Block, x: float, side: int) -> None:
    reach = part.down if side < 0 else part.up
    block.put(edge, part, x, side * (_LEVEL - _NODE_HEIGHT / 2 + reach))


def is_drawing(text: str) -> bool:
    """Whether a text begins like a drawing of this module."""
    return text.startswith(_BEGINNING)


def _svg(root: _Block, matched: Iterable[Tree]) -> str:
    coloured = {id(node) for node in matched}
    lines: list[str] = []
    cards: list[str] = []
    pending: list[tuple[_Block, float, float]] = [(root, root.left + _MARGIN, root.up + _MARGIN)]
    while pending:
        block, x, y = pending.pop()
        cards.append(_card(block.node, x, y, id(block.node) in coloured))
        for edge, part, dx, dy in block.parts:
            if part is block.inside:
                lines.append(_bent_edge(block.node, x, y, x + dx, y + dy))
            else:
                lines.append(_edge(edge, x, y, x + dx, y + dy))
            pending.append((part, x + dx, y + dy))
    width = root.left + root.right + 2 * _MARGIN
    height = root.up + root.down + 2 * _MARGIN
    return (
        f"{_BEGINNING} "
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f"<style>{_STYLE}</style>{''.join(lines)}{''.join(cards)}</svg>"
    )


def _card(node: Tree, x: float, y: float, is_matched: bool) -> str:
    kind = ' class="matched"' if is_matched else "" if node.children else ' class="leaf"'
    width = _width(node.label)
    return (
        f"<g><title>{escape_text(node.label)}</title>"
        f'<rect{kind} x="{x - width / 2:.1f}" y="{y - _NODE_HEIGHT / 2:.1f}" '
        f'width="{width:.1f}" height="{_NODE_HEIGHT}" rx="7"/>'
        f'<text x="{x:.1f}" y="{y:.1f}">{escape_text(_shown(node.label))}</text></g>'
    )


def _edge(edge: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw an edge as an unlabelled line: the positions show the order and the kind of edge."""
    if edge == "e" and y1 == y2:
        # The next cell is on the same line: draw the edge low, behind the cards between them.
        y1 = y2 = y1 + _NODE_HEIGHT / 2 - 6
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _bent_edge(node: Tree, x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw the edge to the enclosed block: down from the left side of the card, then right."""
    x = x1 - _width(node.label) / 2 + _INSET
    return f'<path d="M{x:.1f} {y1:.1f}V{y2:.1f}H{x2:.1f}"/>'


def _shown(label: str) -> str:
    """Return the text of a card, with familiar signs; the tooltip has the label itself.

    >>> [_shown(label) for label in ("V!x", "U!times", "+!O!SUB", "M!M-2x3", "O!superset")]
    ['x', '×', '…(…)', '2×3', 'superset']
    """
    kind, mark, name = label.partition("!")
    if kind == "+" and mark:
        return _APPLIED
    if kind in _SIGNS_OF and name in _SIGNS:
        return _SIGNS[name]
    if size := _SIZE.fullmatch(label):
        return f"{size[1]}×{size[2]}"
    text = name if mark and name and len(kind) == 1 else label
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _width(label: str) -> float:
    """Estimate the width of a card: combining marks have none, wide letters about double."""
    width = 0.0
    for character in _shown(label):
        if not unicodedata.combining(character):
            width += 16 if unicodedata.east_asian_width(character) in "WF" else 8.5
    return max(width + 14, _NODE_HEIGHT)
