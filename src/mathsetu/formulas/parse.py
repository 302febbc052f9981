"""Entry point of formula parsing: LaTeX to both trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mathsetu.formulas.tree import Tree

if TYPE_CHECKING:
    from mathsetu.formulas.latex.boxes import Row
    from mathsetu.formulas.latex.reader import Layout, ParseWarning


class _Steps:
    """The parsing functions, imported with the first formula: opening a library needs none."""

    __slots__ = ("are_loaded", "build_layout_tree", "build_operator_tree", "read_layout")

    read_layout: Callable[[str], Layout]
    build_layout_tree: Callable[[list[Row]], Tree]
    build_operator_tree: Callable[[list[Row]], Tree]

    def __init__(self) -> None:
        self.are_loaded = False

    def load(self) -> None:
        from mathsetu.formulas.latex.reader import read_layout
        from mathsetu.formulas.layout import build_layout_tree
        from mathsetu.formulas.operators import build_operator_tree

        self.read_layout = read_layout
        self.build_layout_tree = build_layout_tree
        self.build_operator_tree = build_operator_tree
        self.are_loaded = True


_STEPS: Final = _Steps()


class Parsed:
    """A parsed formula.

    ``layout`` is the top row of boxes, ``slt`` the symbol layout tree and ``opt`` the operator
    tree; the trees are built on first access. ``warnings`` tell where the parser had to guess.
    Nodes and boxes of the same written symbol have the same ``symbol`` number. Several threads
    may share an instance: boxes and trees are immutable, and a tree is stored only when it is
    complete (two threads may each build the same tree at the same time).
    """

    __slots__ = ("_opt", "_rows", "_slt", "latex", "layout", "warnings")

    def __init__(
        self, latex: str, layout: Row, rows: list[Row], warnings: tuple[ParseWarning, ...]
    ) -> None:
        self.latex = latex
        self.layout = layout
        self.warnings = warnings
        self._rows = rows
        self._slt: Tree | None = None
        self._opt: Tree | None = None

    @property
    def slt(self) -> Tree:
        """The symbol layout tree.

        >>> parse_latex("a_1").slt
        Tree('V!a', b=Tree('N!1'))
        """
        tree = self._slt
        if tree is None:
            tree = self._slt = _STEPS.build_layout_tree(self._rows)
        return tree

    @property
    def opt(self) -> Tree:
        r"""The operator tree.

        >>> parse_latex(r"\frac{a}{b}").opt == parse_latex("a/b").opt
        True
        """
        tree = self._opt
        if tree is None:
            tree = self._opt = _STEPS.build_operator_tree(self._rows)
        return tree

    def __repr__(self) -> str:
        return f"Parsed({self.latex!r})"


@lru_cache(maxsize=4096)
def parse_once(latex: str) -> Parsed:
    """Parse LaTeX as `parse_latex` does, with a cache of recent formulas.

    A search parses the same formulas to find posts, to explain matches and to show hits.
    """
    return parse_latex(latex)


def parse_latex(latex: str) -> Parsed:
    """Parse LaTeX; any text gives both trees, malformed text with warnings.

    >>> parse_latex("x+1").opt
    Tree('U!plus', 0=Tree('V!x'), 1=Tree('N!1'))
    >>> parse_latex("{x").warnings
    (ParseWarning(position=2, message='{ is not closed'),)
    """
    if not _STEPS.are_loaded:
        _STEPS.load()
    row, rows, warnings = _STEPS.read_layout(latex)
    return Parsed(latex, row, rows, warnings)
