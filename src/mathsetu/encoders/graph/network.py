"""The relational graph network, in torch: pre-norm residual R-GCN layers and a projection head.

A layer adds to each node the messages of its neighbours. A message is the neighbour's state times
the matrix of their relation, which is a mixture of a few basis matrices, plus a learned vector of
the relation. Finally, the states of the nodes that represent a graph are projected and normalised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathsetu.encoders.graph.batch import FIRST_VIRTUAL, GraphBatch
from mathsetu.encoders.graph.settings import GraphModel
from mathsetu.graphs.virtual import DOCUMENT
from mathsetu.graphs.vocabulary import MASK

#: The size of queries and keys of attention.
ATTENTION = 16
# Edges per block, which are multiplied by the same matrix.
_BLOCK = 128
# The approximation of GELU that numpy can compute almost exactly.
_GELU = "tanh"


@dataclass(frozen=True)
class Edges:
    """The edges of a batch, in blocks of one relation; padding of a block has weight 0.

    Attributes:
        sources: The source node of each edge.
        targets: The target node of each edge.
        relations: The relation of each block.
        weights: The weight of each edge.
    """

    sources: Tensor
    targets: Tensor
    relations: Tensor
    weights: Tensor


class GraphNetwork(nn.Module):
    """Computes vectors of length one for the nodes that represent graphs.

    Args:
        choices: The size and kind of the network.
        nodes: The number of node types.
        relations: The number of relation types.
        node_masking: The share of nodes that are masked in training.
        edge_dropout: The share of edges that are dropped in training.
        temperature: The initial value of the learned temperature of the loss.
    """

    def __init__(
        self,
        choices: GraphModel,
        nodes: int,
        relations: int,
        node_masking: float = 0.1,
        edge_dropout: float = 0.1,
        temperature: float = 0.05,
    ) -> None:
        super().__init__()
        self.choices = choices
        self.node_masking, self.edge_dropout = node_masking, edge_dropout
        hidden = choices.hidden
        self.embedding = nn.Parameter(torch.empty(nodes, hidden))
        nn.init.normal_(self.embedding, std=hidden**-0.5)
        self.start = nn.Parameter(torch.zeros(DOCUMENT + 1, hidden))
        if choices.graphs.virtual.initialisation == "random":
            nn.init.xavier_uniform_(self.start)
        kinds = {"projected": 1, "typed-projected": DOCUMENT + 1}
        count = kinds.get(choices.graphs.virtual.initialisation, 0)
        self.start_projections = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(count))
        self.features = nn.Linear(choices.features, hidden) if choices.features else None
        self.layers = nn.ModuleList(_Layer(choices, relations) for _ in range(choices.layers))
        self.first = nn.Linear(hidden, hidden)
        self.first_norm = nn.LayerNorm(hidden)
        self.second = nn.Linear(hidden, choices.projection)
        self.second_norm = nn.LayerNorm(choices.projection)
        self.log_temperature = nn.Parameter(torch.tensor(temperature).log())

    @property
    def device(self) -> torch.device:
        """The device of the network."""
        return self.embedding.device

    def forward(self, batch: GraphBatch) -> Tensor:
        """Return one row per node that represents a graph of the batch, in order."""
        arrays = {name: self._here(getattr(batch, name)) for name in _ARRAYS}
        nodes, added = arrays["nodes"], self._here(batch.added)
        edges = self._edges(batch, added)
        if self.training:
            hidden = torch.rand(len(nodes), device=self.device) < self.node_masking
            nodes = torch.where(hidden & (added < 0), MASK, nodes)
        state = functional.embedding(nodes, self.embedding)
        if self.features is not None and len(batch.features):
            rows = arrays["feature_rows"]
            known = (rows >= 0) & (added < 0)
            told = self.features(arrays["features"]).index_select(0, rows.clamp(min=0))
            state = state + torch.where(known[:, None], told, 0.0)
        state = self._started(state, added, edges)
        for layer in self.layers:
            state = layer(state, edges)
        found = functional.gelu(
            self.first_norm(self.first(state[arrays["virtual"]])), approximate=_GELU
        )
        return functional.normalize(self.second_norm(self.second(found)).float(), dim=1)

    def _edges(self, batch: GraphBatch, added: Tensor) -> Edges:
        """Return the edges of a batch in blocks; edges dropped in training get weight 0."""
        numbers, relations = batch.blocks(_BLOCK)
        places = self._here(numbers)
        there = (places >= 0).flatten()
        places = places.clamp(min=0).flatten()
        sources = self._here(batch.sources)[places]
        targets = self._here(batch.targets)[places]
        weights = torch.where(there, self._here(batch.weights)[places], 0.0)
        if self.training:
            # Edges of virtual nodes are never dropped, since the output depends on them.
            fixed = (added[sources] >= 0) | (added[targets] >= 0)
            kept = torch.rand(len(weights), device=self.device) >= self.edge_dropout
            scaled = torch.where(kept, weights / (1 - self.edge_dropout), 0.0)
            weights = torch.where(fixed, weights, scaled)
        return Edges(sources, targets, self._here(relations), weights)

    def _here(self, array: Any) -> Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def _started(self, state: Tensor, added: Tensor, edges: Edges) -> Tensor:
        """Return the states of nodes with those of virtual nodes initialised."""
        way = self.choices.graphs.virtual.initialisation
        virtual = added >= 0
        state = torch.where(virtual[:, None], 0.0, state)
        if way == "zero":
            return state
        if way in ("zero-embedding", "random"):
            own = self.start[added.clamp(min=0)]
            return state + torch.where(virtual[:, None], own, 0.0)
        present = edges.weights > 0
        sources, targets = edges.sources[present], edges.targets[present]
        # Formulas and sentences get the mean of their nodes; then the document gets the mean of its
        # neighbours.
        for kinds in ((0, 1), (DOCUMENT,)):
            wanted = torch.isin(added, torch.tensor(kinds, device=added.device))
            told = wanted[targets] & ~wanted[sources] & ((added[sources] < 0) | (kinds != (0, 1)))
            sums = torch.zeros_like(state).index_add(0, targets[told], state[sources[told]])
            counts = torch.zeros_like(state[:, :1]).index_add(
                0, targets[told], torch.ones_like(state[:, :1])[targets[told]]
            )
            mean = self._projected(sums / counts.clamp(min=1), added)
            state = torch.where(wanted[:, None], mean, state)
        return state

    def _projected(self, mean: Tensor, added: Tensor) -> Tensor:
        if not len(self.start_projections):
            return mean
        if len(self.start_projections) == 1:
            found: Tensor = self.start_projections[0](mean)
            return found
        for kind, projection in enumerate(self.start_projections):
            mean = torch.where((added == kind)[:, None], projection(mean), mean)
        return mean


class _Layer(nn.Module):
    """One message-passing layer."""

    def __init__(self, choices: GraphModel, relations: int) -> None:
        super().__init__()
        hidden = choices.hidden
        self.norm = nn.LayerNorm(hidden)
        self.own = nn.Linear(hidden, hidden)
        self.bases = nn.Parameter(torch.empty(choices.bases, hidden, hidden))
        for basis in self.bases:
            nn.init.xavier_uniform_(basis)
        self.mixture = nn.Parameter(torch.empty(relations, choices.bases))
        nn.init.normal_(self.mixture, std=choices.bases**-0.5)
        self.edges = nn.Parameter(torch.zeros(relations, hidden))
        self.attention = choices.aggregation == "attention"
        if self.attention:
            self.asks = nn.Linear(hidden, ATTENTION, bias=False)
            self.offers = nn.Linear(hidden, ATTENTION, bias=False)
            self.prefers = nn.Parameter(torch.zeros(relations))

    def forward(self, state: Tensor, edges: Edges) -> Tensor:
        normed = self.norm(state)
        weights = self._attention(normed, edges) if self.attention else edges.weights
        matrices = torch.einsum("rb,bhk->rhk", self.mixture, self.bases)
        matrices = matrices.index_select(0, edges.relations)
        heard = self.own(normed)
        told = normed.index_select(0, edges.sources).view(len(edges.relations), _BLOCK, -1)
        told = torch.bmm(told.to(heard.dtype), matrices.to(heard.dtype))
        told = (told + self.edges[edges.relations][:, None]).flatten(0, 1) * weights[:, None]
        heard = heard.float().index_add(0, edges.targets, told.float())
        return state + functional.gelu(heard, approximate=_GELU)

    def _attention(self, normed: Tensor, edges: Edges) -> Tensor:
        """Return weights of edges that sum to one for each target."""
        asked, offered = self.asks(normed).float(), self.offers(normed).float()
        # The backward pass of `index_select`, unlike that of indexing, does not sort.
        asked = asked.index_select(0, edges.targets)
        offered = offered.index_select(0, edges.sources)
        scores = (asked * offered).sum(dim=1) / ATTENTION**0.5
        scores = scores + self.prefers[edges.relations].repeat_interleave(_BLOCK)
        scores = scores.masked_fill(edges.weights == 0, -torch.inf)
        highest = torch.zeros(len(normed), device=normed.device)
        highest = highest.scatter_reduce(0, edges.targets, scores.detach(), "amax")
        powers = (scores - highest[edges.targets]).exp()
        sums = torch.zeros(len(normed), device=normed.device).index_add(0, edges.targets, powers)
        return powers / sums.index_select(0, edges.targets).clamp(min=1e-12)


_ARRAYS = ("nodes", "virtual", "features", "feature_rows")
assert FIRST_VIRTUAL > MASK
