"""The comparisons of the MathAMR+ thesis, and of what goes beyond it, as lists of variants.

The first variant of an experiment is the one that the others are compared with; everything but
what the experiment is about stays as it is there.
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

#: How deep posts are ranked, and how many candidates a first look hands on unless said otherwise.
DEPTH = 1000
_BETAS = (1.0, 0.7, 0.5, 0.3, 0.0)
# The thesis takes 5,000 and 1,000 candidates of 33,771 posts; these are as many of ours.
_DEPTHS = (DEPTH, 500, 100)
_FORMULA_SHARE = 0.2


@dataclass(frozen=True)
class Variant:
    """One row of an experiment's table.

    Attributes:
        name: What it is called there.
        model: The size and kind of the model, and the graphs it reads; where nodes start with the
            vectors of an encoder, `with_features` completes it.
        fit: How it is trained.
        negatives: How many hard negatives each pair brings along.
        strategy: How posts are searched with it, as `mathsetu.retrieval.maxsim` knows it.
        depth: How many candidates the first look of a strategy hands on.
    """

    name: str
    model: GraphModel
    fit: GraphFit
    negatives: int = 0
    strategy: str = STRATEGIES[0]
    depth: int = DEPTH


def experiments(model: GraphModel, fit: GraphFit) -> dict[str, list[Variant]]:
    """All experiments, around one model and one way of training it.

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
            # Trained on the document vector alone and searched by it, as in table 4.9.
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
    """A variant that has been trained once.

    Attributes:
        network: With what it has learned in the end.
        epoch_seconds: How long an epoch took.
        parameters: How many numbers were learned.
        memory: The most GPU memory in use, in bytes; 0 without one.
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
    """Train a variant from a seed and keep its best epoch."""
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
    # The temperature is only needed for training and is not kept.
    network.load_state_dict(found, strict=False)
