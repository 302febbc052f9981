"""Terms of the operator tree: leaf-to-root paths and leaf-to-leaf paths.

Leaf-to-root paths (Approach0) are the prefixes of the path from a leaf towards the root, with one
to three operators: ``r:V!x0/O!SUP``, ``r:V!x0/O!SUP/U!plus``. The operand's position precedes an
operator unless the operator is commutative. Capital ``R:`` paths have the leaf abstracted and at
least two operators, because one says too little.

Leaf-to-leaf paths are two leaves and the path between them over their nearest common operator,
which is the parent of at least one of them: ``l:V!x0/O!SUP~U!plus~V!y``. Leaves at the same height
are in alphabetical order, so that x+y and y+x give the same terms. Capital ``L:`` paths have
variables and numbers abstracted, and end in ``=`` if both leaves are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from mathsetu.formulas.features.label_cache import ABSTRACT, COMMUTATIVE, SHAPE
from mathsetu.formulas.tree import Tree

#: Maximum number of leaves of one operator in leaf-to-leaf paths.
BREADTH: Final = 5

# A leaf: its label with its position (if order matters), the same abstracted, the label alone.
_Leaf = tuple[str, str, str]
# An operator with the path up from it: its own step (/U!plus, or /U!plus1 with its position), the
# label of its parent, the path from the parent on, and the leaves of the parent.
_Operator = tuple[Tree, str, str, str, Sequence[_Leaf]]


def operator_terms(tree: Tree) -> list[str]:
    """Return the terms of an operator tree: leaf-to-root paths, then leaf-to-leaf paths.

    >>> from mathsetu.formulas.notation import read_tree
    >>> operator_terms(read_tree("[U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!y]]"))[:4]
    ['r:V!y/U!plus', 'r:V!x0/O!SUP', 'r:V!x0/O!SUP/U!plus', 'R:V0/O!SUP/U!plus']
    >>> operator_terms(read_tree("[O!SUP,0[V!x],1[N!2]]"))[-2:]
    ['l:N!21~O!SUP~V!x0', 'L:N1~O!SUP~V0']
    """
    # One breadth-first walk for both families. Each operator is listed with the data of the path
    # up from it, so that nothing is looked up again.
    operators: list[_Operator] = [(tree, "", "", "", ())]
    to_root: list[str] = []
    to_leaf: list[str] = []
    for node, step, parent, onward, above in operators:
        label = node.label
        near = f"{step}/{parent}" if step else ""
        below: list[_Leaf] = []
        if COMMUTATIVE[label]:
            for child in node.children:
                name = SHAPE[child.label]
                if child.children:
                    # The loop also visits the operators appended here.
                    operators.append((child, "/" + name, label, near, below))
                else:
                    below.append((name, ABSTRACT[name], name))
        else:
            # A strict zip would take a sixth of the time of this loop.
            for child, edge in zip(node.children, node.edges):  # noqa: B905
                name = SHAPE[child.label]
                if child.children:
                    operators.append((child, f"/{name}{edge}", label, near, below))
                else:
                    below.append((name + edge, ABSTRACT[name] + edge, name))
        if not below:
            continue
        far = step + onward if onward else ""
        for way, kind, _ in below:
            to_root.append(f"r:{way}/{label}")
            if near:
                to_root.append(f"r:{way}{near}")
                to_root.append(f"R:{kind}{near}")
                if far:
                    to_root.append(f"r:{way}{far}")
                    to_root.append(f"R:{kind}{far}")
        if len(below) > 1:
            below.sort()
            if len(below) > BREADTH:
                del below[BREADTH:]
            middle = f"~{label}~"
            for (way, kind, leaf), (other_way, other_kind, other) in combinations(below, 2):
                to_leaf.append(f"l:{way}{middle}{other_way}")
                same = "=" if leaf == other else ""
                to_leaf.append(f"L:{kind}{middle}{other_kind}{same}")
        if above:
            middle = f"{step}~{parent}~"
            for way, kind, leaf in below:
                for other_way, other_kind, other in above:
                    to_leaf.append(f"l:{way}{middle}{other_way}")
                    same = "=" if leaf == other else ""
                    to_leaf.append(f"L:{kind}{middle}{other_kind}{same}")
    if not to_root:
        to_root.append("r:" + SHAPE[tree.label])
    to_root += to_leaf
    return to_root
