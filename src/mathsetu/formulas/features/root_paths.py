"""Leaf-to-root paths of the operator tree (Approach0).

Each leaf gives the beginnings of its path to the root, one operator longer each time:
``r:V!x0/O!SUP``, ``r:V!x0/O!SUP/U!plus``. Where the order of operands matters, the operand's
position stands before the operator; before a commutative operator it does not. Capital ``R:``
paths have the leaf abstracted, and two operators at least: one alone says too little.
"""

from __future__ import annotations

from mathsetu.formulas.features.flat import Operators


def paths(operators: Operators) -> list[str]:
    """Beginnings of leaf-to-root paths of up to three operators.

    >>> from mathsetu.formulas.notation import read_tree
    >>> paths(Operators(read_tree("[U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!y]]")))[:4]
    ['r:V!y/U!plus', 'r:V!x0/O!SUP', 'r:V!x0/O!SUP/U!plus', 'R:V0/O!SUP/U!plus']
    """
    labels, parents, steps = operators.labels, operators.parents, operators.steps
    # For each operator the ways on from it: to its parent, and to its grandparent.
    above: list[list[str]] = [[]]
    for place in range(1, len(labels)):
        step = steps[place]
        ways = [f"{step}/{labels[parents[place]]}"]
        if upper := above[parents[place]]:
            ways.append(step + upper[0])
        above.append(ways)
    terms: list[str] = []
    for way, kind, place, _ in operators.tips:
        terms.append(f"r:{way}/{labels[place]}")
        for rest in above[place]:
            terms.append(f"r:{way}{rest}")
            terms.append(f"R:{kind}{rest}")
    return terms or ["r:" + labels[0]]
