"""Fits a graph model to pairs of graphs and saves the best one in the form that search opens."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch

from mathsetu.encoders.graph.batch import GraphBatch
from mathsetu.encoders.graph.files import ModelFiles, save_model
from mathsetu.encoders.graph.network import GraphNetwork
from mathsetu.encoders.graph.settings import GraphModel
from mathsetu.errors import InputError
from mathsetu.graphs.vocabulary import Vocabulary
from mathsetu.training.checkpoints import State
from mathsetu.training.graph.loss import GraphPair, Weights, pair_loss
from mathsetu.training.loop import Fit, Progress, Task, fit


@dataclass(frozen=True, kw_only=True)
class GraphFit(Fit):
    """The settings of training a graph model, in addition to those of `Fit`.

    Attributes:
        minimum_rate: The learning rate at the end of the cosine schedule.
        beta: The share of MaxSim in the loss; the rest is the loss of the document vectors.
        formulas: The weight of the loss for formulas that occur in both question and answer.
        node_masking: The share of nodes that are masked.
        edge_dropout: The share of edges that are dropped.
        temperature: The initial value of the learned temperature.

    >>> [round(GraphFit(warmup=0.0).share(step, 3), 2) for step in range(3)]
    [1.0, 0.51, 0.02]
    """

    epochs: int = 7
    batch: int = 32
    learning_rate: float = 5e-4
    warmup: float = 0.02
    weight_decay: float = 1e-3
    patience: int = 3
    minimum_rate: float = 1e-5
    beta: float = 0.3
    formulas: float = 0.0
    node_masking: float = 0.1
    edge_dropout: float = 0.1
    temperature: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("node_masking", "edge_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name):g}; it must be from 0 to below 1")
        if not 0 <= self.beta <= 1 or self.formulas < 0:
            raise InputError("beta must be from 0 to 1, and formulas at least 0")
        if not self.temperature > 0:
            raise InputError(f"temperature is {self.temperature:g}; it must be more than 0")

    def share(self, step: int, steps: int) -> float:
        """Return the share of the learning rate at a step: linear warm-up, then cosine decay."""
        rising = self.warmup * steps
        if step + 1 <= rising:
            return (step + 1) / rising
        done = (step - rising) / max(1.0, steps - rising - 1)
        low = min(1.0, self.minimum_rate / self.learning_rate)
        return low + (1 - low) * (1 + math.cos(math.pi * min(1.0, done))) / 2


def train_graph_model(
    choices: GraphModel,
    vocabulary: Vocabulary,
    pairs: Sequence[GraphPair],
    validation: Sequence[GraphPair],
    folder: Path,
    settings: GraphFit | None = None,
    progress: Progress | None = None,
) -> State:
    """Train a graph model; save the best one and its vocabulary in ``folder/model``.

    A second call with the same arguments resumes an interrupted training.

    Args:
        choices: The size and kind of the model.
        vocabulary: The types of nodes and relations of its graphs.
        pairs: Graphs of questions and of their answers.
        validation: Held-out pairs for early stopping.
        folder: The folder for checkpoints and the model.
        settings: The training settings.
        progress: Called with the current phase and the number of items done.
    """
    settings = settings or GraphFit()
    torch.manual_seed(settings.seed)
    network = new_network(choices, vocabulary, settings)
    weights = Weights(settings.beta, settings.formulas)

    def save(place: Path) -> None:
        save_model(place, ModelFiles(choices, vocabulary, weights_of(network)))

    def shuffled(number: int) -> list[Sequence[GraphPair]]:
        random = np.random.default_rng([settings.seed, number])
        order = random.permutation(len(pairs))
        return _batches([pairs[place] for place in order.tolist()], settings.batch)

    task = Task(
        network,
        settings.optimizer(network),
        shuffled,
        lambda batch: pair_loss(network, batch, weights),
        _identity(choices, vocabulary, pairs, settings),
        _batches(validation, settings.batch),
        save,
    )
    return fit(task, settings, folder, progress)


def new_network(choices: GraphModel, vocabulary: Vocabulary, settings: GraphFit) -> GraphNetwork:
    """Return an untrained network on the device for training."""
    network = GraphNetwork(
        choices,
        len(vocabulary.node_types),
        len(vocabulary.relation_types),
        settings.node_masking,
        settings.edge_dropout,
        settings.temperature,
    )
    network.to(settings.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    return network


def reading(network: GraphNetwork) -> Callable[[GraphBatch], np.typing.NDArray[np.float32]]:
    """Return a function that encodes graphs with the current weights, without gradients."""

    def vectors(batch: GraphBatch) -> np.typing.NDArray[np.float32]:
        before = network.training
        network.eval()
        with torch.no_grad():
            found: np.typing.NDArray[np.float32] = network(batch).cpu().numpy()
        network.train(before)
        return found

    return vectors


def weights_of(network: GraphNetwork) -> dict[str, np.typing.NDArray[np.float32]]:
    """Return the weights that search needs, as numpy arrays."""
    return {
        name: value.detach().float().cpu().numpy()
        for name, value in network.state_dict().items()
        if name != "log_temperature"
    }


def _batches(pairs: Sequence[GraphPair], size: int) -> list[Sequence[GraphPair]]:
    """Return batches in order; drop an incomplete last batch unless it is the only one."""
    found = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    return found[:-1] if len(found) > 1 and len(found[-1]) < size else found


def _identity(
    choices: GraphModel, vocabulary: Vocabulary, pairs: Sequence[GraphPair], settings: GraphFit
) -> str:
    """Return a digest of settings, vocabulary and pairs that identifies a training."""
    about = [asdict(choices), asdict(settings), vocabulary.node_types, vocabulary.relation_types]
    digest = sha256(json.dumps(about, sort_keys=True).encode())
    for pair in pairs:
        for graph in (pair.question, pair.answer, *pair.negatives):
            digest.update(graph.nodes.tobytes())
    return digest.hexdigest()
