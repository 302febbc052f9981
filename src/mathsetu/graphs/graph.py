"""The meaning graph of a post: one directed graph of its sentences and formula trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: The label of a node whose ``:snt1``, ``:snt2``, … edges lead to sentences or chunks of them.
SENTENCES = "multi-sentence"
#: The label of a placeholder is this and the number of the formula, counted from 0.
PLACEHOLDER = "FORMULA_"
#: The relation from a formula to the previous formula with the same LaTeX.
COREFERENCE = ":coref"


class Part(NamedTuple):
    """The nodes of one formula or of one sentence in a graph.

    ``root`` is the node that represents them (the placeholder of a formula, the head of a
    sentence), and ``nodes`` are the nodes that a virtual node is joined to. ``id`` is the id of
    the formula, empty for a sentence.
    """

    root: int
    nodes: Sequence[int]
    id: str = ""


@dataclass(slots=True)
class Graph:
    """Labelled nodes, named edges, a root, and which nodes belong to which formula and sentence.

    Edges are kept in three lists of equal length, since a post has many hundreds of edges.
    ``formulas`` and ``sentences`` are in text order.

    >>> graph = Graph(["solve-01", "FORMULA_0"], [0], [":ARG1"], [1])
    >>> list(graph.edges())
    [(0, ':ARG1', 1)]
    >>> graph.is_connected()
    True
    """

    labels: list[str] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    root: int = 0
    formulas: list[Part] = field(default_factory=list)
    sentences: list[Part] = field(default_factory=list)

    def add_node(self, label: str) -> int:
        """Add a node and return its number."""
        self.labels.append(label)
        return len(self.labels) - 1

    def add_edge(self, source: int, relation: str, target: int) -> None:
        """Add an edge between two nodes."""
        self.sources.append(source)
        self.relations.append(relation)
        self.targets.append(target)

    def edges(self) -> Iterator[tuple[int, str, int]]:
        """Iterate over the edges as (source, relation, target)."""
        return zip(self.sources, self.relations, self.targets, strict=True)

    @property
    def formula_map(self) -> dict[str, str]:
        """The formula id of each placeholder.

        >>> graph = Graph(["FORMULA_0", "V!x"], [0], [":opt"], [1])
        >>> graph.formulas.append(Part(0, [1], "q_7"))
        >>> graph.formula_map
        {'FORMULA_0': 'q_7'}
        """
        return {self.labels[part.root]: part.id for part in self.formulas}

    def is_connected(self) -> bool:
        """Whether the graph is connected if the direction of edges is ignored.

        >>> Graph(["solve-01", "equation"]).is_connected()
        False
        """
        if not self.labels:
            return False
        groups = list(range(len(self.labels)))

        def group_of(node: int) -> int:
            while groups[node] != node:
                groups[node] = groups[groups[node]]
                node = groups[node]
            return node

        count = len(groups)
        for source, target in zip(self.sources, self.targets, strict=True):
            first, second = group_of(source), group_of(target)
            if first != second:
                groups[second] = first
                count -= 1
        return count == 1
