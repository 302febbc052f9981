"""Trains a graph model with its card from pairs of texts or imported graphs, in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from mathsetu.collections.files import read_lines
from mathsetu.encoders.graph.batch import ReadyGraph
from mathsetu.encoders.graph.files import load_model
from mathsetu.encoders.graph.runtime import NumpyNetwork
from mathsetu.encoders.graph.settings import GraphModel
from mathsetu.errors import InputError, RowError
from mathsetu.graphs.graph import Graph
from mathsetu.graphs.imported import ImportedGraphs
from mathsetu.graphs.tensors import tensors
from mathsetu.graphs.vocabulary import TypeCounts, Vocabulary
from mathsetu.training.card import Card, add_figures, save_with_card
from mathsetu.training.graph.fit import GraphFit, new_network, reading, train_graph_model
from mathsetu.training.graph.graphs import (
    PairGraphSettings,
    fits,
    graph_pairs,
    vocabulary_of,
    with_features,
)
from mathsetu.training.graph.loss import GraphPair
from mathsetu.training.graph.negatives import hard_negatives
from mathsetu.training.graph.text_pairs import TextPair, split_pairs
from mathsetu.training.graph.validation import found_answers
from mathsetu.training.loop import Progress

# The share of pairs that is held out for validation, and the most such pairs.
_HELD_OUT_SHARE, _MAX_HELD_OUT = 0.1, 2000
# Fewest pairs for training.
_MIN_PAIRS = 4


@dataclass(frozen=True)
class TrainingResult:
    """The results of a training.

    Attributes:
        history: Training and validation loss of each epoch.
        trained: The mean reciprocal rank of the held-out answers.
        untrained: The same with the initial weights.
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
) -> TrainingResult:
    """Build the graphs of pairs and train a model on them.

    Graphs and checkpoints are stored in the folder, so that the same call resumes an interrupted
    training. The model and its card are saved in ``folder/model``.
    """
    learn, check = split_pairs(pairs, _held_out_count(pairs), settings.seed)
    choices, features = with_features(choices)
    vocabulary = _vocabulary(learn, choices, folder, processes, progress)
    making = PairGraphSettings(choices.graphs, vocabulary, features, processes, progress)
    wrong = hard_negatives(learn, negatives, same_tag) if negatives else ()
    ready = graph_pairs(learn, making, folder / "learn.sqlite", wrong)
    kept = graph_pairs(check, making, folder / "check.sqlite")
    languages = sorted({language for pair in pairs for language in pair.languages})
    data = f"Question-answer pairs in {', '.join(languages)}."
    return _trained(_Job(choices, vocabulary, ready, kept, data), settings, folder, progress)


def train_from_imported(
    pairs: Sequence[tuple[str, str]],
    graphs: Path,
    choices: GraphModel,
    settings: GraphFit,
    folder: Path,
    *,
    progress: Progress | None = None,
) -> TrainingResult:
    """Train a model on imported graphs.

    Args:
        pairs: The ids of questions and of their answers.
        graphs: The file that `mathsetu graph import` wrote.
        choices: The size and kind of the model.
        settings: The training settings.
        folder: The folder for checkpoints; the model is saved in ``folder/model``.
        progress: Called with the current phase and the number of items done.
    """
    choices, features = with_features(choices)
    with ImportedGraphs(graphs) as store:
        whole = {name: store.get(name) for pair in pairs for name in pair}
    there = [pair for pair in pairs if all(whole[name] is not None for name in pair)]
    if len(there) < _MIN_PAIRS:
        raise InputError(
            f"{graphs}: has the graphs of {len(there):,} of {len(pairs):,} pairs; "
            f"at least {_MIN_PAIRS} are needed"
        )
    learn, check = split_pairs(there, _held_out_count(there), settings.seed)
    counts = TypeCounts()
    for name in dict.fromkeys(name for pair in learn for name in pair):
        counts.add(whole[name] or Graph())
    vocabulary = counts.vocabulary()
    virtual, trees = choices.graphs.virtual, choices.graphs.trees

    def ready(name: str) -> ReadyGraph:
        arrays = tensors(whole[name] or Graph(), vocabulary, virtual, trees)
        return ReadyGraph.of(arrays, features(arrays.labels) if features else None)

    made = {name: ready(name) for pair in there for name in pair}
    both = [
        [GraphPair(made[one], made[other]) for one, other in some if fits(made[one], made[other])]
        for some in (learn, check)
    ]
    data = f"Pairs of graphs that were imported: {len(there):,}."
    job = _Job(choices, vocabulary, both[0], both[1], data)
    return _trained(job, settings, folder, progress)


def read_id_pairs(path: Path) -> list[tuple[str, str]]:
    """Read pairs of ids: each line has that of a question, a tab, and that of its answer."""
    found = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            problem = "the id of a question, a tab and the id of its answer are expected"
            raise RowError(path, number, problem)
        found.append((parts[0].strip(), parts[1].strip()))
    return found


@dataclass(frozen=True)
class _Job:
    """A model to train, with its training and validation pairs."""

    choices: GraphModel
    vocabulary: Vocabulary
    learn: Sequence[GraphPair]
    check: Sequence[GraphPair]
    data: str


def _trained(
    job: _Job, settings: GraphFit, folder: Path, progress: Progress | None
) -> TrainingResult:
    """Train, write the card, and measure the model before and after training."""
    choices, vocabulary, kept = job.choices, job.vocabulary, job.check
    torch.manual_seed(settings.seed)
    start = reading(new_network(choices, vocabulary, settings))
    untrained = found_answers(start, kept).reciprocal_rank
    state = train_graph_model(choices, vocabulary, job.learn, kept, folder, settings, progress)
    card = Card("graph encoder", "random weights", "InfoNCE of MaxSim", job.data, settings)
    save_with_card(state, card, folder, len(job.learn))
    files = load_model(folder / "model")
    found = found_answers(NumpyNetwork(files.choices, files.weights), kept)
    about = f"{len(kept):,} pairs held out"
    figures = {"MRR": found.reciprocal_rank, "MRR before training": untrained}
    add_figures(folder / "model", about, figures)
    return TrainingResult(state.history, found.reciprocal_rank, untrained)


def _held_out_count(pairs: Sequence[object]) -> int:
    """Return the number of pairs to hold out."""
    return max(1, min(_MAX_HELD_OUT, round(len(pairs) * _HELD_OUT_SHARE)))


def _vocabulary(
    pairs: Sequence[TextPair],
    choices: GraphModel,
    folder: Path,
    processes: int,
    progress: Progress | None,
) -> Vocabulary:
    """Load the vocabulary of a training; count it if there is none yet."""
    path = folder / "vocabulary.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary_of(pairs, choices.graphs, processes, progress).save(path)
    return Vocabulary.load(path)
