"""Selects the formula trees of a graph: both, one of them, or none.

Graphs are built once with both trees; the trees that an experiment leaves out are removed here.
"""

from __future__ import annotations

from typing import Literal, get_args

from mathsetu.errors import InputError
from mathsetu.graphs.graph import Graph, Part

FormulaTrees = Literal["both", "opt", "slt", "none"]
OPERATORS, LAYOUT = ":opt", ":slt"
_LEFT_OUT: dict[FormulaTrees, frozenset[str]] = {
    "both": frozenset(),
    "opt": frozenset({LAYOUT}),
    "slt": frozenset({OPERATORS}),
    "none": frozenset({OPERATORS, LAYOUT}),
}


def with_trees(graph: Graph, trees: FormulaTrees) -> Graph:
    """Return a copy of a graph with only these formula trees.

    Placeholders stay, since they keep sentences connected. With ``none``, the list of formulas is
    empty, so that no node represents a formula.

    >>> graph = Graph(["FORMULA_0", "V!x", "V!y"], [0, 0], [":opt", ":slt"], [1, 2])
    >>> graph.formulas.append(Part(0, [1, 2], "q_7"))
    >>> with_trees(graph, "slt").labels
    ['FORMULA_0', 'V!y']
    """
    if trees not in get_args(FormulaTrees):
        known = ", ".join(get_args(FormulaTrees))
        raise InputError(f"formula trees {trees!r} are not known (known: {known})")
    dropped = _below(graph, _LEFT_OUT[trees])
    kept = [node for node in range(len(graph.labels)) if node not in dropped]
    numbers = {node: number for number, node in enumerate(kept)}
    copy = Graph([graph.labels[node] for node in kept], root=numbers[graph.root])
    for source, relation, target in graph.edges():
        if source in numbers and target in numbers:
            copy.add_edge(numbers[source], relation, numbers[target])

    def moved(part: Part) -> Part:
        nodes = [numbers[node] for node in part.nodes if node in numbers]
        return Part(numbers[part.root], nodes, part.id)

    copy.sentences = [moved(part) for part in graph.sentences]
    if trees != "none":
        copy.formulas = [moved(part) for part in graph.formulas]
    return copy


def _below(graph: Graph, relations: frozenset[str]) -> set[int]:
    """Return the nodes of formulas that are reached only by these relations."""
    inside = {node for part in graph.formulas for node in part.nodes}
    children: dict[int, list[int]] = {}
    pending: list[int] = []
    kept: list[int] = []
    for source, relation, target in graph.edges():
        if target not in inside:
            continue
        if relation in relations:
            pending.append(target)
        elif source in inside:
            children.setdefault(source, []).append(target)
        else:
            kept.append(target)
    return _reached(pending, children) - _reached(kept, children)


def _reached(starts: list[int], children: dict[int, list[int]]) -> set[int]:
    """Return the nodes reachable from the start nodes, including these."""
    seen = set(starts)
    pending = list(seen)
    while pending:
        following = [node for node in children.get(pending.pop(), ()) if node not in seen]
        seen.update(following)
        pending += following
    return seen
