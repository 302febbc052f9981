"""The trained graph network in numpy, for search without torch.

It computes the same as `network.py` in evaluation mode; a test compares them. Two versions are
needed because the core install has no torch, and training needs gradients, which numpy does not
have. Here the matrix of a relation is mixed from the bases on first use and cached, and all edges
of a relation are multiplied at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.encoders.graph.batch import GraphBatch
from mathsetu.encoders.graph.products import product
from mathsetu.encoders.graph.settings import GraphModel
from mathsetu.graphs.virtual import DOCUMENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float32]

_SMALL = 1e-5


class NumpyNetwork:
    """Computes vectors of length one for the nodes that represent graphs.

    Args:
        choices: The size and kind of the network.
        weights: Its weights, by their names in the torch network.
    """

    def __init__(self, choices: GraphModel, weights: Mapping[str, Numbers]) -> None:
        self._choices, self._weights = choices, weights
        self._matrices: dict[tuple[int, int], Numbers] = {}

    def __call__(self, batch: GraphBatch) -> Numbers:
        """Return one row per node that represents a graph of the batch, in order."""
        added = batch.added
        state = self._weights["embedding"][batch.nodes]
        if self._choices.features and len(batch.features):
            known = (batch.feature_rows >= 0) & (added < 0)
            state[known] += self._linear("features", batch.features)[batch.feature_rows[known]]
        state = self._started(state, added, batch)
        # Edges are sorted by relation, with a second order by target.
        edges = _Edges(batch, len(state))
        for number in range(self._choices.layers):
            state = self._layer(number, state, edges)
        found = self._norm("first_norm", self._linear("first", state[batch.virtual]))
        found = self._norm("second_norm", self._linear("second", _gelu(found)))
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        unit: Numbers = found / np.maximum(lengths, 1e-12)
        return unit

    def _started(self, state: Numbers, added: Integers, batch: GraphBatch) -> Numbers:
        way = self._choices.graphs.virtual.initialisation
        virtual = added >= 0
        state[virtual] = 0.0
        if way == "zero":
            return state
        if way in ("zero-embedding", "random"):
            state[virtual] = self._weights["start"][added[virtual]]
            return state
        sources, targets = batch.sources, batch.targets
        for kinds in ((0, 1), (DOCUMENT,)):
            wanted = np.isin(added, kinds)
            told = wanted[targets] & ~wanted[sources]
            if kinds == (0, 1):
                told &= added[sources] < 0
            sums = np.zeros_like(state)
            np.add.at(sums, targets[told], state[sources[told]])
            counts = np.bincount(targets[told], minlength=len(state))
            mean = sums[wanted] / np.maximum(counts[wanted], 1)[:, None]
            state[wanted] = self._projected(mean.astype(np.float32), added[wanted])
        return state

    def _projected(self, mean: Numbers, kinds: Integers) -> Numbers:
        way = self._choices.graphs.virtual.initialisation
        if way == "projected":
            return self._linear("start_projections.0", mean)
        if way == "typed-projected":
            for kind in range(DOCUMENT + 1):
                own = kinds == kind
                mean[own] = self._linear(f"start_projections.{kind}", mean[own])
        return mean

    def _layer(self, number: int, state: Numbers, edges: _Edges) -> Numbers:
        name = f"layers.{number}"
        normed = self._norm(f"{name}.norm", state)
        told = np.empty((len(edges.sources), self._choices.hidden), dtype=np.float32)
        vectors = self._weights[f"{name}.edges"]
        for relation, here in edges.relations():
            told[here] = product(normed[edges.sources[here]], self._matrix(number, relation))
            told[here] += vectors[relation]
        weights = edges.weights
        if self._choices.aggregation == "attention":
            weights = self._attention(name, normed, edges)
        heard = self._linear(f"{name}.own", normed)
        edges.add_to(heard, told * weights[:, None])
        return state + _gelu(heard)

    def _attention(self, name: str, normed: Numbers, edges: _Edges) -> Numbers:
        asked = product(normed, self._weights[f"{name}.asks.weight"].T)
        offered = product(normed, self._weights[f"{name}.offers.weight"].T)
        scores = np.einsum("ij,ij->i", asked[edges.targets], offered[edges.sources])
        scores = scores / asked.shape[1] ** 0.5
        scores += self._weights[f"{name}.prefers"][edges.types]
        return edges.shares(scores)

    def _matrix(self, layer: int, relation: int) -> Numbers:
        matrix = self._matrices.get((layer, relation))
        if matrix is None:
            mixture = self._weights[f"layers.{layer}.mixture"][relation]
            matrix = np.tensordot(mixture, self._weights[f"layers.{layer}.bases"], axes=1)
            self._matrices[layer, relation] = matrix
        return matrix

    def _linear(self, name: str, values: Numbers) -> Numbers:
        made = product(values, self._weights[f"{name}.weight"].T)
        return made + self._weights[f"{name}.bias"]

    def _norm(self, name: str, values: Numbers) -> Numbers:
        centred = values - values.mean(axis=1, keepdims=True)
        spread = np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + _SMALL)
        scaled: Numbers = centred / spread * self._weights[f"{name}.weight"]
        return scaled + self._weights[f"{name}.bias"]


class _Edges:
    """The edges of a batch, sorted by relation."""

    def __init__(self, batch: GraphBatch, nodes: int) -> None:
        order = np.argsort(batch.relations, kind="stable")
        self.sources, self.targets = batch.sources[order], batch.targets[order]
        self.types, self.weights = batch.relations[order], batch.weights[order]
        self._by_target = np.argsort(self.targets, kind="stable")
        counts = np.bincount(self.targets, minlength=nodes)
        self._heard = np.flatnonzero(counts)
        self._counts = counts[self._heard]
        self._starts = (np.cumsum(counts) - counts)[self._heard]

    def relations(self) -> list[tuple[int, slice]]:
        """Return each relation with the slice of its edges."""
        types, starts = np.unique(self.types, return_index=True)
        ends = [*starts[1:].tolist(), len(self.types)]
        return [
            (relation, slice(start, end))
            for relation, start, end in zip(types.tolist(), starts.tolist(), ends, strict=True)
        ]

    def shares(self, scores: Numbers) -> Numbers:
        """Return the softmax of the edges' scores over the edges of each target."""
        if not len(scores):
            return scores
        together = scores[self._by_target]
        highest = np.maximum.reduceat(together, self._starts)
        powers = np.exp(together - np.repeat(highest, self._counts))
        sums = np.add.reduceat(powers, self._starts)
        found = np.empty_like(scores)
        found[self._by_target] = powers / np.repeat(sums, self._counts)
        return found

    def add_to(self, nodes: Numbers, told: Numbers) -> None:
        """Add the messages of the edges to their target nodes."""
        if len(told):
            nodes[self._heard] += np.add.reduceat(told[self._by_target], self._starts, axis=0)


def _gelu(values: Numbers) -> Numbers:
    inner = np.float32(0.7978845608) * (values + np.float32(0.044715) * values**3)
    found: Numbers = np.float32(0.5) * values * (1 + np.tanh(inner))
    return found
