"""Terms of the layout tree: symbol pairs, compound tuples and duplicate tuples.

Symbol pairs (Tangent, Tangent-L) are two symbols and the way from the first to the second, of one
or two edges: ``p:V!x a N!2`` for x². A symbol with nothing next to it gives an end mark, so that
``x`` alone and the ``x`` in ``x+1`` differ. Capital ``P:`` pairs are of neighbours, with variables
and numbers abstracted.

Compound tuples (Tangent-L): ``c:V!x an`` says that x has something above right and something next
to it. Duplicate tuples (Tangent-L): ``d:V!x a nn`` says that the variable x stands twice, and which
ways lead from the nearest common symbol to both. The abstract ``D:`` leaves the name out: it finds
``t^2+t`` by ``x^2+x``.
"""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.features.label_cache import ABSTRACT, IN_ORDER
from mathsetu.formulas.tree import Tree

#: Duplicates further apart than this many edges say little and give no tuple.
REACH: Final = 10


def layout_terms(tree: Tree) -> list[str]:
    """The terms of a layout tree: pairs, end marks, compounds, duplicates.

    >>> from mathsetu.formulas.notation import read_tree
    >>> layout_terms(read_tree("[V!x[+[V!x]],a[N!2]]"))[:4]
    ['p:V!x n +', 'P:V n +', 'p:V!x a N!2', 'P:V a N']
    >>> layout_terms(read_tree("[V!x[+[V!x]],a[N!2]]"))[-3:]
    ['c:V!x an', 'd:V!x  nn', 'D: nn']
    """
    # One walk for all families, level by level: lists that grow together are several times faster
    # to read than nodes, and a symbol stands before those attached to it.
    nodes = [tree]
    parents = [-1]  # for each symbol the place of the one that it is attached to,
    edges = [""]  # and the edge between them
    labels: list[str] = []
    kinds: list[str] = []
    last: dict[str, int] = {}  # where each variable stood last
    terms: list[str] = []
    ends: list[str] = []
    compounds: list[str] = []
    duplicates: list[str] = []
    for place, node in enumerate(nodes):
        label = node.label
        kind = ABSTRACT[label]
        labels.append(label)
        kinds.append(kind)
        if place:
            parent = parents[place]
            edge = edges[place]
            terms.append(f"p:{labels[parent]} {edge} {label}")
            terms.append(f"P:{kinds[parent]} {edge} {kind}")
            if parent:
                terms.append(f"p:{labels[parents[parent]]} {edges[parent]}{edge} {label}")
        children = node.children
        if children:
            # The loop goes on over what is appended here.
            nodes += children
            below = node.edges
            edges += below
            if len(children) == 1:
                parents.append(place)
            else:
                parents += [place] * len(children)
                compounds.append(f"c:{label} {IN_ORDER[''.join(below)]}")
            if "n" not in below:
                ends.append(f"p:{label} $")
        else:
            ends.append(f"p:{label} $")
        if kind == "V":
            if label in last:
                ways = _ways(last[label], place, parents, edges)
                if ways:
                    duplicates.append(f"d:{label} {ways}")
                    duplicates.append("D:" + ways)
            last[label] = place
    terms += ends
    terms += compounds
    terms += duplicates
    return terms


def _ways(first: int, second: int, parents: list[int], edges: list[str]) -> str:
    """The ways from the nearest common symbol to two others; nothing where they are far apart."""
    first_way = second_way = ""
    for _ in range(REACH):
        # A symbol stands before those below it: the later is never above the other.
        if first > second:
            first_way = edges[first] + first_way
            first = parents[first]
        else:
            second_way = edges[second] + second_way
            second = parents[second]
        if first == second:
            return f"{first_way} {second_way}"
    return ""
