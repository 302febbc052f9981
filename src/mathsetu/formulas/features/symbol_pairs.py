"""Symbol pairs of the layout tree (Tangent, Tangent-L).

A pair is two symbols and the way from the first to the second, of one or two edges:
``p:V!x a N!2`` for x². A symbol with nothing next to it gives an end mark, so that ``x`` alone
and the ``x`` in ``x+1`` differ. Capital ``P:`` pairs are of neighbours, with variables and
numbers abstracted.
"""

from __future__ import annotations

from mathsetu.formulas.features.flat import Layout


def pairs(layout: Layout) -> list[str]:
    """Symbol pairs with a window of two edges, end marks, and abstract pairs of neighbours.

    >>> from mathsetu.formulas.notation import read_tree
    >>> pairs(Layout(read_tree("[V!x[+[N!1]],a[N!2]]")))[:4]
    ['p:V!x n +', 'P:V n +', 'p:V!x a N!2', 'P:V a N']
    """
    labels, kinds = layout.labels, layout.kinds
    parents, edges = layout.parents, layout.edges
    terms: list[str] = []
    last = dict.fromkeys(range(len(labels)))
    for place in range(1, len(labels)):
        label, edge, parent = labels[place], edges[place], parents[place]
        terms.append(f"p:{labels[parent]} {edge} {label}")
        terms.append(f"P:{kinds[parent]} {edge} {kinds[place]}")
        if parent:
            terms.append(f"p:{labels[parents[parent]]} {edges[parent]}{edge} {label}")
        if edge == "n":
            last.pop(parent, None)
    terms += [f"p:{labels[place]} $" for place in last]
    return terms
