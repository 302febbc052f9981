"""The loss: InfoNCE, in which each question must find its own answer in the batch by MaxSim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mathsetu.encoders.graph.batch import GraphBatch, ReadyGraph
from mathsetu.encoders.graph.network import GraphNetwork
from mathsetu.graphs.virtual import FORMULA

# Shorter formulas ("x", "n+1") are too common to compare.
_SHORTEST_FORMULA = 6


@dataclass(frozen=True)
class GraphPair:
    """The graphs of a question, of its answer, and of hard negatives."""

    question: ReadyGraph
    answer: ReadyGraph
    negatives: tuple[ReadyGraph, ...] = ()


@dataclass(frozen=True)
class Weights:
    """The weights of the parts of the loss.

    Attributes:
        beta: The share of MaxSim; the rest is the loss of the document vectors.
        formulas: The weight of the loss for formulas that occur in both question and answer.
    """

    beta: float = 0.3
    formulas: float = 0.0


@dataclass(frozen=True)
class Padded:
    """The vectors of graphs, padded to the graph with most vectors.

    Attributes:
        vectors: One matrix per graph.
        mask: Which rows are not padding.
    """

    vectors: Tensor
    mask: Tensor

    @property
    def documents(self) -> Tensor:
        """The document vector of each graph: its last row that is not padding."""
        last = self.mask.sum(dim=1) - 1
        return self.vectors[torch.arange(len(last), device=last.device), last]


def padded(vectors: Tensor, counts: Sequence[int]) -> Padded:
    """Split stacked rows into one padded matrix per graph.

    >>> padded(torch.ones(3, 2), [1, 2]).mask.tolist()
    [[True, False], [True, True]]
    """
    sizes = torch.tensor(counts, device=vectors.device)
    along = torch.arange(max(counts), device=vectors.device)[None]
    mask = along < sizes[:, None]
    # One look-up for all graphs; padding takes the first row, which the mask hides.
    places = torch.where(mask, (sizes.cumsum(0) - sizes)[:, None] + along, 0)
    together = vectors.index_select(0, places.flatten())
    return Padded(together.view(*places.shape, -1), mask)


def maxsim(questions: Padded, answers: Padded) -> Tensor:
    """Return MaxSim of each question and answer, divided by the number of question vectors.

    >>> one = padded(torch.eye(2), [2])
    >>> maxsim(one, padded(torch.eye(2), [1, 1])).tolist()
    [[0.5, 0.5]]
    """
    cosines = torch.einsum("imk,jnk->ijmn", questions.vectors, answers.vectors)
    cosines = cosines.masked_fill(~answers.mask[None, :, None], -torch.inf)
    best = cosines.amax(dim=3).masked_fill(~questions.mask[:, None], 0.0)
    return best.sum(dim=2) / questions.mask.sum(dim=1)[:, None]


def pair_loss(network: GraphNetwork, pairs: Sequence[GraphPair], weights: Weights) -> Tensor:
    """Return InfoNCE over a batch; hard negatives are added to the answers of all questions."""
    answers = [pair.answer for pair in pairs]
    answers += [negative for pair in pairs for negative in pair.negatives]
    graphs = [*(pair.question for pair in pairs), *answers]
    batch = GraphBatch.of(graphs)
    with torch.autocast(network.device.type, torch.bfloat16, network.device.type == "cuda"):
        vectors = network(batch)
    counts = batch.counts.tolist()
    middle = sum(counts[: len(pairs)])
    asked = padded(vectors[:middle], counts[: len(pairs)])
    told = padded(vectors[middle:], counts[len(pairs) :])
    own = torch.arange(len(pairs), device=vectors.device)
    temperature = network.log_temperature.exp()
    loss = torch.zeros((), device=vectors.device)
    if weights.beta > 0:
        scores = maxsim(asked, told)
        loss = loss + weights.beta * functional.cross_entropy(scores / temperature, own)
    if weights.beta < 1:
        cosines = asked.documents @ told.documents.T
        loss = loss + (1 - weights.beta) * functional.cross_entropy(cosines / temperature, own)
    if weights.formulas > 0:
        loss = loss + weights.formulas * _formula_loss(vectors, graphs, len(pairs), temperature)
    return loss


def _formula_loss(
    vectors: Tensor, graphs: Sequence[ReadyGraph], questions: int, temperature: Tensor
) -> Tensor:
    """Return InfoNCE of formulas: one of a question must find itself among those of answers.

    The id of a formula is its LaTeX here, so equal formulas have the same id.
    """
    places: list[dict[str, int]] = []
    start = 0
    for graph in graphs:
        rows = [start + place for place in range(len(graph.kinds)) if graph.kinds[place] == FORMULA]
        places.append(dict(zip(graph.formulas, rows, strict=False)))
        start += len(graph.virtual)
    chosen = [
        next((name for name in asked if len(name) >= _SHORTEST_FORMULA and name in told), None)
        for asked, told in zip(places[:questions], places[questions:], strict=False)
    ]
    wanted = [(asked[name], name) for asked, name in zip(places, chosen, strict=False) if name]
    if not wanted:
        return torch.zeros((), device=vectors.device)
    known = [(row, name) for told in places[questions:] for name, row in told.items()]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(n for _, n in known))}
    asked_for = torch.tensor([numbers[name] for _, name in wanted], device=vectors.device)
    there = torch.tensor([numbers[name] for _, name in known], device=vectors.device)
    same = asked_for[:, None] == there[None]
    scores = vectors[[row for row, _ in wanted]] @ vectors[[row for row, _ in known]].T
    scores = scores / temperature
    # The formula may occur in several answers; finding one occurrence is enough.
    right = scores.masked_fill(~same, -torch.inf).logsumexp(dim=1)
    return (scores.logsumexp(dim=1) - right).mean()
