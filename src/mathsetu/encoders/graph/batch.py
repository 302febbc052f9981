"""Several graphs as one: what a network reads at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.graphs.tensors import GraphTensors
from mathsetu.graphs.virtual import DOCUMENT, VIRTUAL_LABELS
from mathsetu.graphs.vocabulary import RESERVED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float32]

#: The type of the virtual node of a formula; those of a sentence and a document follow it.
FIRST_VIRTUAL = RESERVED.index(VIRTUAL_LABELS[0])
# A collection has few relations; target and relation of an edge become one number.
_RELATIONS = 1 << 16


@dataclass(frozen=True)
class Features:
    """Vectors of another encoder that the nodes of a graph start with.

    Attributes:
        rows: For each node the number of its vector, -1 where it has none.
        table: The vectors; many graphs share one table, since they share most of their words.
    """

    rows: NDArray[np.int32]
    table: Sequence[NDArray[np.float16]]


@dataclass(frozen=True)
class ReadyGraph:
    """One graph with the weights of its edges, worked out once however often it is read.

    Attributes:
        nodes: The type of each node.
        sources: Where each edge begins.
        targets: Where it ends.
        relations: Its type.
        weights: One divided by how many edges of its type end at the same node.
        virtual: The nodes that represent the graph, the document last.
        kinds: What each of them stands for.
        formulas: The ids of those that stand for formulas.
        features: Vectors of another encoder that its nodes start with.
    """

    nodes: NDArray[np.int32]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    relations: NDArray[np.int32]
    weights: Numbers
    virtual: NDArray[np.int32]
    kinds: NDArray[np.int8]
    formulas: tuple[str, ...]
    features: Features | None = None

    @classmethod
    def of(cls, graph: GraphTensors, features: Features | None = None) -> ReadyGraph:
        """Work out the weights of a graph's edges."""
        sources, targets = graph.edges
        key = targets.astype(np.int64) * _RELATIONS + graph.relations
        _, which, counts = np.unique(key, return_inverse=True, return_counts=True)
        weights = (1.0 / counts[which]).astype(np.float32)
        return cls(
            graph.nodes,
            sources,
            targets,
            graph.relations,
            weights,
            graph.virtual,
            graph.kinds,
            graph.formulas,
            features,
        )


@dataclass(frozen=True)
class GraphBatch:
    """Graphs side by side; nodes are numbered through, and no edge leads from one to another.

    Attributes are those of `ReadyGraph`, laid end to end; ``counts`` says how many nodes
    represent each graph. ``features`` has each vector that nodes start with once, and
    ``feature_rows`` the number of each node's, -1 where it has none.
    """

    nodes: Integers
    sources: Integers
    targets: Integers
    relations: Integers
    weights: Numbers
    virtual: Integers
    kinds: Integers
    counts: Integers
    features: Numbers
    feature_rows: Integers

    @classmethod
    def of(cls, graphs: Sequence[ReadyGraph]) -> GraphBatch:
        """Lay graphs side by side.

        >>> one = GraphTensors(*(np.array(part, np.int32) for part in (
        ...     [12, 13], [[0, 1], [1, 0]], [4, 5], [1])), np.array([2], np.int8), (), ("a", "b"))
        >>> batch = GraphBatch.of([ReadyGraph.of(one), ReadyGraph.of(one)])
        >>> batch.sources.tolist(), batch.virtual.tolist()
        ([0, 1, 2, 3], [1, 3])
        """
        sizes = np.array([len(graph.nodes) for graph in graphs])
        offsets = np.cumsum(sizes) - sizes
        edges = np.repeat(offsets, [len(graph.sources) for graph in graphs])
        counts = np.array([len(graph.virtual) for graph in graphs])
        return cls(
            _joined([graph.nodes for graph in graphs]),
            _joined([graph.sources for graph in graphs]) + edges,
            _joined([graph.targets for graph in graphs]) + edges,
            _joined([graph.relations for graph in graphs]),
            np.concatenate([graph.weights for graph in graphs]),
            _joined([graph.virtual for graph in graphs]) + np.repeat(offsets, counts),
            _joined([graph.kinds for graph in graphs]),
            counts,
            *_features(graphs),
        )

    @property
    def added(self) -> Integers:
        """For each node which kind of virtual node was added as it, -1 for the graph's own."""
        kinds = self.nodes - FIRST_VIRTUAL
        return np.where((kinds >= 0) & (kinds <= DOCUMENT), kinds, -1)

    def blocks(self, size: int) -> tuple[Integers, Integers]:
        """Edges in blocks of one relation each, so that a block is multiplied by one matrix.

        Args:
            size: How many edges a block has.

        Returns:
            For each block its edges by number, -1 where there are too few, and its relation.
        """
        # Short numbers are sorted in one pass over them.
        order = np.argsort(self.relations.astype(np.uint16), kind="stable")
        counts = np.bincount(self.relations)
        relations = np.flatnonzero(counts)
        counts = counts[relations]
        needed = -(-counts // size)
        # Every edge goes to its place in its relation, moved by what fills up the blocks before.
        filled = np.cumsum(needed * size - counts) - (needed * size - counts)
        places = np.full((int(needed.sum()), size), -1, dtype=np.int64)
        places.reshape(-1)[np.arange(len(order)) + np.repeat(filled, counts)] = order
        return places, np.repeat(relations, needed)


def _features(graphs: Sequence[ReadyGraph]) -> tuple[Numbers, Integers]:
    """The different vectors that nodes start with, and which of them each node has."""
    tables = [graph.features.table for graph in graphs if graph.features]
    if not tables:
        nodes = sum(len(graph.nodes) for graph in graphs)
        return np.zeros((0, 0), dtype=np.float32), np.full(nodes, -1)
    if any(table is not tables[0] for table in tables) or len(tables) < len(graphs):
        raise ValueError("graphs that go together must have their features from one table")
    rows = _joined([graph.features.rows for graph in graphs if graph.features])
    numbers, places = np.unique(rows, return_inverse=True)
    # -1 sorts before all others.
    missing = int(numbers[0] < 0) if len(numbers) else 0
    vectors = [tables[0][number] for number in numbers[missing:].tolist()]
    found = np.stack(vectors).astype(np.float32) if vectors else np.zeros((0, 0), np.float32)
    return found, places - missing


def _joined(arrays: Sequence[NDArray[np.int32]] | Sequence[NDArray[np.int8]]) -> Integers:
    return np.concatenate(arrays).astype(np.int64)
