"""Defines the experiments of the MathAMR+ thesis, and further ones, as lists of variants.

The first variant of an experiment is its baseline. The others differ from it only in the property
that the experiment is about.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import torch

from mathsetu.encoders.builtin import NAME as BUILTIN
from mathsetu.encoders.graph.files import load_model
from mathsetu.encoders.graph.network import GraphNetwork
from mathsetu.encoders.graph.settings import GraphModel
from mathsetu.graphs.representations import FormulaTrees
from mathsetu.graphs.virtual import Auxiliary, Initialisation, Structure, VirtualNodes
from mathsetu.graphs.vocabulary import Vocabulary
from mathsetu.retrieval.maxsim import STRATEGIES
from mathsetu.training.graph.fit import GraphFit, new_network, train_graph_model
from mathsetu.training.graph.loss import GraphPair

#: How deep posts are ranked, and the default number of first-stage candidates.
DEPTH = 1000
_BETAS = (1.0, 0.7, 0.5, 0.3, 0.0)
# The thesis uses 5,000 and 1,000 candidates of 33,771 posts; these are the same shares of ours.
_DEPTHS = (DEPTH, 500, 100)
_FORMULA_SHARE = 0.2


@dataclass(frozen=True)
class Variant:
    """One row of an experiment's table.

    Attributes:
        name: Its name in the table.
        model: The size and kind of the model, and the graphs that it reads; `with_features`
            completes it if nodes are initialised with the vectors of an encoder.
        fit: The training settings.
        negatives: The number of hard negatives of each pair.
        strategy: The retrieval strategy, as in `mathsetu.retrieval.maxsim`.
        depth: The number of candidates from the first stage of a strategy.
    """

    name: str
    model: GraphModel
    fit: GraphFit
    negatives: int = 0
    strategy: str = STRATEGIES[0]
    depth: int = DEPTH


def experiments(model: GraphModel, fit: GraphFit) -> dict[str, list[Variant]]:
    """Define all experiments for a model and its training.

    >>> tables = experiments(GraphModel(), GraphFit())
    >>> [variant.name for variant in tables["formulas"]]
    ['both', 'opt', 'slt', 'none']
    """
    return {
        "formulas": [
            Variant(name, _with_trees(model, name), fit) for name in get_args(FormulaTrees)
        ],
        "structure": [
            Variant(name, _with_virtual(model, structure=name), fit)
            for name in reversed(get_args(Structure))
        ]
        + [
            # Trained and searched with the document vector only, as in table 4.9.
            Variant(
                "global, single vector",
                _with_virtual(model, structure="global"),
                replace(fit, beta=0.0),
                strategy="single",
            )
        ],
        "connectivity": [
            Variant(name, _with_virtual(model, auxiliary=name), fit) for name in get_args(Auxiliary)
        ],
        "initialisation": [
            Variant(name, _with_virtual(model, initialisation=name), fit)
            for name in get_args(Initialisation)
        ],
        "retrieval": [
            Variant("exact", model, fit),
            *(
                Variant(f"document, {depth}", model, fit, strategy="document", depth=depth)
                for depth in _DEPTHS
            ),
            Variant("single", model, fit, strategy="single"),
        ],
        "loss": [
            Variant(f"beta {beta:g}, {name}", model, replace(fit, beta=beta), 0, strategy, depth)
            for beta in _BETAS
            for name, strategy, depth in (
                ("exact", "exact", DEPTH),
                ("document", "document", _DEPTHS[-1]),
                ("single", "single", DEPTH),
            )
        ],
        "beyond": [
            Variant("as in the thesis", model, fit),
            Variant("attention", replace(model, aggregation="attention"), fit),
            Variant("formula pairs", model, replace(fit, formulas=_FORMULA_SHARE)),
            Variant("hard negatives", model, fit, negatives=1),
        ],
        "features": [
            Variant("learned", model, fit),
            Variant("from the built-in encoder", replace(model, features_from=BUILTIN), fit),
        ],
    }


def _with_trees(model: GraphModel, trees: FormulaTrees) -> GraphModel:
    return replace(model, graphs=replace(model.graphs, trees=trees))


def _with_virtual(model: GraphModel, **changes: str) -> GraphModel:
    virtual: VirtualNodes = replace(model.graphs.virtual, **changes)  # type: ignore[arg-type]
    return replace(model, graphs=replace(model.graphs, virtual=virtual))


@dataclass(frozen=True)
class Trained:
    """A trained variant.

    Attributes:
        network: The network with its final weights.
        epoch_seconds: The time of an epoch.
        parameters: The number of trained parameters.
        memory: Peak GPU memory in bytes; 0 without a GPU.
        losses: Training and validation loss of each epoch.
    """

    network: GraphNetwork
    epoch_seconds: float
    parameters: int
    memory: int
    losses: Sequence[dict[str, float]]


def train_variant(
    variant: Variant,
    vocabulary: Vocabulary,
    pairs: Sequence[GraphPair],
    validation: Sequence[GraphPair],
    seed: int,
) -> Trained:
    """Train a variant with a seed, and keep its best epoch."""
    settings = replace(variant.fit, seed=seed)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    with TemporaryDirectory() as folder:
        state = train_graph_model(
            variant.model, vocabulary, pairs, validation, Path(folder), settings
        )
        seconds = (time.perf_counter() - started) / max(1, len(state.history))
        network = new_network(variant.model, vocabulary, settings)
        _load(network, Path(folder) / "model")
    memory = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    parameters = sum(weight.numel() for weight in network.parameters())
    return Trained(network, seconds, parameters, memory, state.history)


def _load(network: GraphNetwork, folder: Path) -> None:
    weights = load_model(folder).weights
    found = {name: torch.from_numpy(weight) for name, weight in weights.items()}
    # The temperature is only used in training and is not saved.
    network.load_state_dict(found, strict=False)
