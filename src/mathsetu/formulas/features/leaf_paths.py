"""Leaf-to-leaf paths of the operator tree.

Two leaves and the way between them over their nearest common operator, which stands directly
above one of them at least: ``l:V!x0/O!SUP~U!plus~V!y``. Leaves at the same height stand in
alphabetical order, so that x+y and y+x give the same terms; where the order of operands matters
their positions are part of the way. Capital ``L:`` paths have variables and numbers abstracted,
and end in ``=`` where both leaves are the same.
"""

from __future__ import annotations

from itertools import combinations

from mathsetu.formulas.features.flat import Operators

#: The most leaves of one operator that are joined with others.
BREADTH = 5


def leaves(operators: Operators) -> list[str]:
    """Leaf-to-leaf paths, named and abstracted.

    >>> from mathsetu.formulas.notation import read_tree
    >>> leaves(Operators(read_tree("[O!SUP,0[V!x],1[N!2]]")))
    ['l:N!21~O!SUP~V!x0', 'L:N1~O!SUP~V0']
    """
    labels, parents = operators.labels, operators.parents
    below: list[list[tuple[str, str, int, str]]] = [[] for _ in labels]
    for tip in operators.tips:
        below[tip[2]].append(tip)
    terms: list[str] = []
    for place, tips in enumerate(below):
        if not tips:
            continue
        if len(tips) > 1:
            tips.sort()
            del tips[BREADTH:]
            middle = f"~{labels[place]}~"
            for (way, kind, _, leaf), (other_way, other_kind, _, other) in combinations(tips, 2):
                terms.append(f"l:{way}{middle}{other_way}")
                same = "=" if leaf == other else ""
                terms.append(f"L:{kind}{middle}{other_kind}{same}")
        # An operator stands before those below it, so the leaves above are in order already.
        if place and (upper := below[parents[place]]):
            middle = f"{operators.steps[place]}~{labels[parents[place]]}~"
            for way, kind, _, leaf in tips:
                for other_way, other_kind, _, other in upper:
                    terms.append(f"l:{way}{middle}{other_way}")
                    same = "=" if leaf == other else ""
                    terms.append(f"L:{kind}{middle}{other_kind}{same}")
    return terms
