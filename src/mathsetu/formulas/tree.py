"""The tree type of symbol layout trees (SLT) and operator trees (OPT)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

#: Operand positions as Tangent writes them: digits, capitals, small letters.
POSITIONS: Final = tuple("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
#: The order in which Tangent writes the edges of a node of a symbol layout tree.
EDGE_ORDER: Final = "nabcdouwe"


class Tree:
    """An immutable node with its sub-trees; several trees may share it.

    ``label`` is a Tangent label (``V!x``, ``N!2``, ``U!plus``, ``+``), ``edges`` are the names
    of the edges to the children (``n a b o u c d w e`` in an SLT, operand positions in an OPT),
    and ``symbol`` is the number of the written symbol of the node (-1 for a node without one,
    such as an invisible product). The symbol number links the SLT, the OPT and the displayed
    MathML of one formula.

    >>> Tree("V!x", (Tree("N!2"),), ("a",))
    Tree('V!x', a=Tree('N!2'))
    """

    __slots__ = ("children", "edges", "label", "symbol")

    def __init__(
        self,
        label: str,
        children: tuple[Tree, ...] = (),
        edges: tuple[str, ...] = (),
        symbol: int = -1,
    ) -> None:
        self.label: Final = label
        self.children: Final = children
        self.edges: Final = edges
        self.symbol: Final = symbol

    def __repr__(self) -> str:
        written: list[str] = []
        pending: list[Tree | str] = [self]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                written.append(item)
                continue
            written.append(f"Tree({item.label!r}")
            pending.append(")")
            for edge, child in zip(reversed(item.edges), reversed(item.children), strict=True):
                pending += (child, f", {edge}=")
        return "".join(written)

    def __eq__(self, other: object) -> bool:
        """Whether all labels and edges are equal; symbol numbers are ignored."""
        if not isinstance(other, Tree):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            a, b = stack.pop()
            if a.label != b.label or tuple(a.edges) != tuple(b.edges):
                return False
            if len(a.children) != len(b.children):
                return False
            stack.extend(zip(a.children, b.children, strict=True))
        return True

    def __hash__(self) -> int:
        return hash((self.label, tuple(self.edges), tuple(c.label for c in self.children)))

    def walk(self) -> Iterator[Tree]:
        """Yield every node, parents first, without recursion (formulas can be very deep)."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))
