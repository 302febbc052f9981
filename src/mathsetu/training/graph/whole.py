"""From pairs of texts to a trained graph model with its card, in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from mathsetu.encoders.graph.files import load_model
from mathsetu.encoders.graph.runtime import NumpyNetwork
from mathsetu.encoders.graph.settings import GraphModel
from mathsetu.graphs.vocabulary import Vocabulary
from mathsetu.training.card import Card, add_figures, save_with_card
from mathsetu.training.graph.fit import GraphFit, new_network, reading, train_graph_model
from mathsetu.training.graph.graphs import Making, graph_pairs, vocabulary_of, with_features
from mathsetu.training.graph.negatives import hard_negatives
from mathsetu.training.graph.texts import TextPair, split_pairs
from mathsetu.training.graph.validation import found_answers
from mathsetu.training.loop import Progress

# The share of the pairs that is kept aside, and the most pairs that this needs to be.
_ASIDE, _MOST_ASIDE = 0.1, 2000


@dataclass(frozen=True)
class WholeFit:
    """How a training went.

    Attributes:
        history: Training and validation loss of each epoch.
        trained: Mean reciprocal rank of the answers kept aside.
        untrained: The same with the weights that training started from.
    """

    history: Sequence[dict[str, float]]
    trained: float
    untrained: float


def train_from_texts(
    pairs: Sequence[TextPair],
    choices: GraphModel,
    settings: GraphFit,
    folder: Path,
    negatives: int = 0,
    *,
    same_tag: bool = False,
    processes: int = 0,
    progress: Progress | None = None,
) -> WholeFit:
    """Build the graphs of pairs and train a model on them.

    Graphs and checkpoints are kept in the folder, so that the same call goes on where it was
    stopped; the model and its card end up in ``folder/model``.
    """
    aside = max(1, min(_MOST_ASIDE, round(len(pairs) * _ASIDE)))
    learn, check = split_pairs(pairs, aside, settings.seed)
    choices, features = with_features(choices)
    vocabulary = _vocabulary(learn, choices, folder, processes, progress)
    making = Making(choices.graphs, vocabulary, features, processes, progress)
    wrong = hard_negatives(learn, negatives, same_tag) if negatives else ()
    ready = graph_pairs(learn, making, folder / "learn.sqlite", wrong)
    kept = graph_pairs(check, making, folder / "check.sqlite")
    torch.manual_seed(settings.seed)
    start = reading(new_network(choices, vocabulary, settings))
    untrained = found_answers(start, kept).reciprocal_rank
    state = train_graph_model(choices, vocabulary, ready, kept, folder, settings, progress)
    languages = sorted({language for pair in pairs for language in pair.languages})
    data = f"Question-answer pairs in {', '.join(languages)}."
    card = Card("graph encoder", "random weights", "InfoNCE of MaxSim", data, settings)
    save_with_card(state, card, folder, len(ready))
    files = load_model(folder / "model")
    found = found_answers(NumpyNetwork(files.choices, files.weights), kept)
    about = f"{len(kept):,} pairs kept aside"
    figures = {"MRR": found.reciprocal_rank, "MRR before training": untrained}
    add_figures(folder / "model", about, figures)
    return WholeFit(state.history, found.reciprocal_rank, untrained)


def _vocabulary(
    pairs: Sequence[TextPair],
    choices: GraphModel,
    folder: Path,
    processes: int,
    progress: Progress | None,
) -> Vocabulary:
    """The vocabulary of a training, counted once."""
    path = folder / "vocabulary.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary_of(pairs, choices.graphs, processes, progress).save(path)
    return Vocabulary.load(path)
