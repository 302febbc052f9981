"""A line of boxes.

It has a file of its own because this is the one class of the parser that cannot be compiled: the
compiler makes no classes from ``list``, and anything else is slower without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathsetu.formulas.tree import Tree

if TYPE_CHECKING:
    from mathsetu.formulas.latex.boxes import Box


class Row(list["Box"]):
    """Boxes on one line, left to right.

    ``slt`` and ``opt`` are the trees of this row once they have been made.
    """

    __slots__ = ("opt", "slt")

    slt: Tree
    opt: Tree
