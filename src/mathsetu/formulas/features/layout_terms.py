"""Terms of the layout tree: symbol pairs, compound tuples and duplicate tuples.

Symbol pairs (Tangent, Tangent-L) are two symbols and the path from the first to the second, of one
or two edges: ``p:V!x a N!2`` for x². A symbol with no next symbol gives an end mark, so that ``x``
alone and the ``x`` in ``x+1`` differ. Capital ``P:`` pairs are adjacent symbols, with variables and
numbers abstracted.

Compound tuples (Tangent-L) have the edges of a symbol: ``c:V!x an`` is an x with a superscript and
a next symbol. Duplicate tuples (Tangent-L) record a repeated variable: ``d:V!x a nn`` has its name
x and the paths from the nearest common symbol to both occurrences. The abstract ``D:`` omits the
name, so that ``x^2+x`` finds ``t^2+t``.
"""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.features.label_cache import ABSTRACT, IN_ORDER, SHAPE
from mathsetu.formulas.tree import Tree

#: Duplicates more than this many edges apart say little and give no tuple.
REACH: Final = 10


def layout_terms(tree: Tree) -> list[str]:
    """Return the terms of a layout tree: pairs, end marks, compounds, duplicates.

    >>> from mathsetu.formulas.notation import read_tree
    >>> layout_terms(read_tree("[V!x[+[V!x]],a[N!2]]"))[:4]
    ['p:V!x n +', 'P:V n +', 'p:V!x a N!2', 'P:V a N']
    >>> layout_terms(read_tree("[V!x[+[V!x]],a[N!2]]"))[-3:]
    ['c:V!x an', 'd:V!x  nn', 'D: nn']
    """
    # One breadth-first walk for all families: parallel lists are several times faster to read than
    # nodes, and a symbol precedes its children.
    nodes = [tree]
    parents = [-1]  # for each symbol the place of its parent,
    edges = [""]  # and the edge from it
    labels: list[str] = []
    kinds: list[str] = []
    last: dict[str, int] = {}  # the last place of each variable
    terms: list[str] = []
    ends: list[str] = []
    compounds: list[str] = []
    duplicates: list[str] = []
    for place, node in enumerate(nodes):
        label = SHAPE[node.label]
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
            # The loop also visits the nodes appended here.
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
    """Return the paths from the nearest common symbol to two others; "" if they are far apart."""
    first_way = second_way = ""
    for _ in range(REACH):
        # A symbol precedes those below it, so the later one is never above the other.
        if first > second:
            first_way = edges[first] + first_way
            first = parents[first]
        else:
            second_way = edges[second] + second_way
            second = parents[second]
        if first == second:
            return f"{first_way} {second_way}"
    return ""
