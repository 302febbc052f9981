"""One directed graph for a post: what its sentences mean, and how its formulas are built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: The concept of a node whose ``:snt1``, ``:snt2``, … are sentences, or chunks of sentences.
SENTENCES = "multi-sentence"
#: What the placeholder of the first formula is called; the others count on.
PLACEHOLDER = "FORMULA_"
#: What joins a formula to the one before it that is written alike.
COREFERENCE = ":coref"


class Part(NamedTuple):
    """Some nodes of a graph that belong together: those of a formula, or those of a sentence.

    ``root`` is the node that stands for them (a formula's placeholder, a sentence's head) and
    ``nodes`` are what a virtual node is joined to. ``id`` is the formula's id, empty for a
    sentence.
    """

    root: int
    nodes: Sequence[int]
    id: str = ""


@dataclass(slots=True)
class Graph:
    """Labelled nodes, named edges, a root, and which nodes belong to which formula and sentence.

    Edges are kept in three lists of equal length, since posts have many hundreds. The order of
    ``formulas`` and of ``sentences`` is that of the text.

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
        """Add a node, and give its number."""
        self.labels.append(label)
        return len(self.labels) - 1

    def add_edge(self, source: int, relation: str, target: int) -> None:
        """Add an edge between two nodes."""
        self.sources.append(source)
        self.relations.append(relation)
        self.targets.append(target)

    def edges(self) -> Iterator[tuple[int, str, int]]:
        """Every edge as source, relation, target."""
        return zip(self.sources, self.relations, self.targets, strict=True)

    @property
    def formula_map(self) -> dict[str, str]:
        """The id of the formula behind each placeholder.

        >>> graph = Graph(["FORMULA_0", "V!x"], [0], [":opt"], [1])
        >>> graph.formulas.append(Part(0, [1], "q_7"))
        >>> graph.formula_map
        {'FORMULA_0': 'q_7'}
        """
        return {self.labels[part.root]: part.id for part in self.formulas}

    def is_connected(self) -> bool:
        """Whether every node can be reached from the root, in whatever direction edges point.

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
