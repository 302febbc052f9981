"""Compound and duplicate tuples of the layout tree (Tangent-L).

``c:V!x an`` says that x has something above right and something next to it. ``d:V!x a nn``
says that x stands twice, and which ways lead from the nearest common symbol to both. The
abstract ``D:`` leaves the name out: it finds ``t^2+t`` by ``x^2+x``.
"""

from __future__ import annotations

from mathsetu.formulas.features.flat import Layout

#: Duplicates further apart than this many edges say little and give no tuple.
REACH = 10


def compounds(layout: Layout) -> list[str]:
    """Symbols with several edges, and which.

    >>> from mathsetu.formulas.notation import read_tree
    >>> compounds(Layout(read_tree("[V!x[+[N!1]],a[N!2]]")))
    ['c:V!x an']
    """
    return [f"c:{node.label} {''.join(sorted(node.edges))}" for node in layout.forks]


def duplicates(layout: Layout) -> list[str]:
    """Variables that stand again: the ways to each two neighbours, with and without the name.

    >>> from mathsetu.formulas.notation import read_tree
    >>> duplicates(Layout(read_tree("[V!x[+[V!x]],a[N!2]]")))
    ['d:V!x  nn', 'D: nn']
    """
    labels, parents, edges = layout.labels, layout.parents, layout.edges
    last: dict[str, int] = {}
    terms: list[str] = []
    for second in [place for place, kind in enumerate(layout.kinds) if kind == "V"]:
        label = labels[second]
        first = last.get(label)
        last[label] = second
        if first is None:
            continue
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
                ways = f"{first_way} {second_way}"
                terms.append(f"d:{label} {ways}")
                terms.append("D:" + ways)
                break
    return terms
