"""Graphs with features, and batches of several graphs for the network."""

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

#: The type of a formula's virtual node; those of sentences and documents follow it.
FIRST_VIRTUAL = RESERVED.index(VIRTUAL_LABELS[0])
# More than the number of relation types, to combine target and relation of an edge in one key.
_RELATIONS = 1 << 16


@dataclass(frozen=True)
class Features:
    """The initial node vectors of a graph, from another encoder.

    Attributes:
        rows: The index of each node's vector, -1 for none.
        table: The vectors, shared by many graphs, since they share most of their words.
    """

    rows: NDArray[np.int32]
    table: Sequence[NDArray[np.float16]]


@dataclass(frozen=True)
class ReadyGraph:
    """A graph with precomputed weights of its edges.

    Attributes:
        nodes: The type of each node.
        sources: The source node of each edge.
        targets: The target node of each edge.
        relations: The type of each edge.
        weights: For each edge, one divided by the number of edges of its type to the same node.
        virtual: The nodes whose vectors represent the graph, the document last.
        kinds: The kind of each of these nodes.
        formulas: The ids of the formulas among them.
        features: The initial node vectors, from another encoder.
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
        """Prepare a graph: compute the weights of its edges."""
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
    """Several graphs as one disconnected graph with consecutive node numbers.

    Attributes are those of `ReadyGraph`, concatenated; ``counts`` is the number of nodes that
    represent each graph. ``features`` has the distinct initial vectors, and ``feature_rows`` the
    index of each node's vector, -1 for none.
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
        """Combine graphs into a batch.

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
        """The kind of each virtual node, -1 for other nodes."""
        kinds = self.nodes - FIRST_VIRTUAL
        return np.where((kinds >= 0) & (kinds <= DOCUMENT), kinds, -1)

    def blocks(self, size: int) -> tuple[Integers, Integers]:
        """Split edges into blocks of one relation each, so that a block needs only one matrix.

        Args:
            size: The number of edges per block.

        Returns:
            The numbers of each block's edges, padded with -1, and the relation of each block.
        """
        # 16-bit integers are sorted fast, by radix sort.
        order = np.argsort(self.relations.astype(np.uint16), kind="stable")
        counts = np.bincount(self.relations)
        relations = np.flatnonzero(counts)
        counts = counts[relations]
        needed = -(-counts // size)
        # The place of an edge in sorted order, plus the padding of the blocks before it.
        filled = np.cumsum(needed * size - counts) - (needed * size - counts)
        places = np.full((int(needed.sum()), size), -1, dtype=np.int64)
        places.reshape(-1)[np.arange(len(order)) + np.repeat(filled, counts)] = order
        return places, np.repeat(relations, needed)


def _features(graphs: Sequence[ReadyGraph]) -> tuple[Numbers, Integers]:
    """Return the distinct initial vectors of nodes, and the index of each node's vector."""
    tables = [graph.features.table for graph in graphs if graph.features]
    if not tables:
        nodes = sum(len(graph.nodes) for graph in graphs)
        return np.zeros((0, 0), dtype=np.float32), np.full(nodes, -1)
    if any(table is not tables[0] for table in tables) or len(tables) < len(graphs):
        raise ValueError("graphs that go together must have their features from one table")
    rows = _joined([graph.features.rows for graph in graphs if graph.features])
    numbers, places = np.unique(rows, return_inverse=True)
    # -1 (no vector) is sorted first.
    missing = int(numbers[0] < 0) if len(numbers) else 0
    vectors = [tables[0][number] for number in numbers[missing:].tolist()]
    found = np.stack(vectors).astype(np.float32) if vectors else np.zeros((0, 0), np.float32)
    return found, places - missing


def _joined(arrays: Sequence[NDArray[np.int32]] | Sequence[NDArray[np.int8]]) -> Integers:
    return np.concatenate(arrays).astype(np.int64)
