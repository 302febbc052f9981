"""Turns pairs of texts into pairs of graphs, with a store on disk so that work can be resumed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mathsetu.encoders import load_encoder
from mathsetu.encoders.graph.batch import ReadyGraph
from mathsetu.encoders.graph.encoder import LabelVectors
from mathsetu.encoders.graph.settings import GraphChoices, GraphModel
from mathsetu.graphs.build import Source
from mathsetu.graphs.store import TensorStore
from mathsetu.graphs.vocabulary import Vocabulary
from mathsetu.markup import split
from mathsetu.records import Formula
from mathsetu.training.graph.loss import GraphPair
from mathsetu.training.graph.prepare import count_types, prepare_graphs
from mathsetu.training.graph.text_pairs import TextPair
from mathsetu.training.loop import Progress

# Most nodes of a graph for training: a single post of 10,000 nodes would outweigh its batch.
_LARGEST = 1500
# Most vectors of a graph for training, for the same reason.
_MAX_VECTORS = 64


@dataclass(frozen=True)
class PairGraphSettings:
    """How graphs are built.

    Attributes:
        choices: Which graphs are built.
        vocabulary: The types of nodes and relations.
        features: Returns the initial vectors of nodes.
        processes: Worker processes (default: one per core).
        progress: Called with the current phase and the number of items done.
    """

    choices: GraphChoices
    vocabulary: Vocabulary
    features: LabelVectors | None = None
    processes: int = 0
    progress: Progress | None = None


def with_features(choices: GraphModel) -> tuple[GraphModel, LabelVectors | None]:
    """Return the model with the size of its node features set, and the source of these.

    >>> with_features(GraphModel(features_from="mathsetu"))[0].features
    384
    """
    if not choices.features_from:
        return choices, None
    encoder = load_encoder(choices.features_from)
    return replace(choices, features=encoder.dimensions), LabelVectors(encoder)


def source_of(text: str, language: str) -> Source:
    """Return a text as input for graphs; formulas with the same LaTeX have the same id.

    >>> [formula.id for formula in source_of("Is $x + 1$ odd?", "en").formulas]
    ['x+1']
    """
    written = (span.content for span in split(text) if span.kind == "formula")
    return Source(text, language, [Formula("".join(one.split()), one) for one in written])


def vocabulary_of(
    pairs: Sequence[TextPair],
    choices: GraphChoices,
    processes: int = 0,
    progress: Progress | None = None,
) -> Vocabulary:
    """Return the vocabulary of the most frequent types in the graphs of the pairs."""
    sources = (source for pair in pairs for source in _sources(pair))
    return count_types(sources, choices, processes, progress).vocabulary()


def graph_pairs(
    pairs: Sequence[TextPair],
    making: PairGraphSettings,
    store: Path,
    negatives: Sequence[tuple[int, ...]] = (),
) -> list[GraphPair]:
    """Return the pairs as graphs, without those that are too large for training.

    Args:
        pairs: The pairs of texts.
        making: How graphs are built.
        store: The file of graphs; graphs that it has are not built again.
        negatives: For each pair the numbers of pairs whose answers are its hard negatives.
    """
    graphs = text_graphs([source for pair in pairs for source in _sources(pair)], making, store)
    questions, answers = graphs[::2], graphs[1::2]
    found = []
    for number, (question, answer) in enumerate(zip(questions, answers, strict=True)):
        wrong = [answers[other] for other in (negatives[number] if negatives else ())]
        if fits(question, answer):
            found.append(GraphPair(question, answer, tuple(filter(fits, wrong))))
    return found


def text_graphs(
    texts: Sequence[Source], making: PairGraphSettings, store: Path
) -> list[ReadyGraph]:
    """Return the graphs of texts; build and store those that are missing."""
    named = ((str(number), text) for number, text in enumerate(texts))
    store.parent.mkdir(parents=True, exist_ok=True)
    prepare_graphs(
        named, store, making.vocabulary, making.choices, making.processes, making.progress
    )
    with TensorStore(store) as stored:
        found = dict(_ready(stored, making.features))
    return [found[str(number)] for number in range(len(texts))]


def _ready(store: TensorStore, features: LabelVectors | None) -> Iterator[tuple[str, ReadyGraph]]:
    for name, graph in store.items():
        yield name, ReadyGraph.of(graph, features(graph.labels) if features else None)


def fits(*graphs: ReadyGraph) -> bool:
    """Whether graphs are small enough for training and have a vector."""
    return all(
        len(graph.nodes) <= _LARGEST and 0 < len(graph.virtual) <= _MAX_VECTORS for graph in graphs
    )


def _sources(pair: TextPair) -> list[Source]:
    first, second = pair.languages
    return [source_of(pair.question, first), source_of(pair.answer, second)]
