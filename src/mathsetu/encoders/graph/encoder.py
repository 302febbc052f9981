"""Encodes texts by their graphs, with a trained model and without torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mathsetu.encoders import load_encoder
from mathsetu.encoders.graph.batch import Features, GraphBatch, ReadyGraph
from mathsetu.encoders.graph.files import ModelFiles, load_model
from mathsetu.encoders.graph.runtime import NumpyNetwork
from mathsetu.graphs.build import GraphBuilder, Source
from mathsetu.graphs.graph import PLACEHOLDER, Graph
from mathsetu.graphs.tensors import GraphTensors, tensors
from mathsetu.graphs.virtual import VIRTUAL_LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# Nodes per batch.
_BATCH = 4096
# Most labels in the cache of vectors.
_CACHE_SIZE = 1 << 17


class TextEncoder(Protocol):
    """Encodes texts, as a source of node features."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        ...


@dataclass(frozen=True)
class Encoded:
    """The vectors of one text.

    Attributes:
        vectors: One row of length one for each formula, each sentence, and, last, the document.
        kinds: The kind of each row: 0 formula, 1 sentence, 2 document.
        formulas: The ids of the formulas, in order.
    """

    vectors: Vectors
    kinds: NDArray[np.int8]
    formulas: tuple[str, ...]


class LabelVectors:
    """Caches initial node vectors from an encoder of texts; each label is encoded once.

    Symbols of formulas and placeholders have no meaning for an encoder of texts and get no vector.
    """

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self.forget()

    def forget(self) -> None:
        """Start a new table; existing graphs keep the old one."""
        self._rows: dict[str, int] = {}
        self._table: list[NDArray[np.float16]] = []

    def __len__(self) -> int:
        """Return the number of labels in the cache."""
        return len(self._rows)

    def __call__(self, labels: Sequence[str]) -> Features:
        """Return the initial vectors of nodes with these labels."""
        new = [label for label in dict.fromkeys(labels) if label not in self._rows]
        spoken = [label for label in new if _is_word(label)]
        self._rows.update(dict.fromkeys(new, -1))
        if spoken:
            words = [label.replace("-", " ") for label in spoken]
            for label, vector in zip(spoken, self._encoder.encode(words), strict=True):
                if vector.any():
                    self._rows[label] = len(self._table)
                    self._table.append(vector.astype(np.float16))
        rows = np.array([self._rows[label] for label in labels], dtype=np.int32)
        return Features(rows, self._table)


def _is_word(label: str) -> bool:
    symbol = "!" in label or label.startswith(PLACEHOLDER) or label in VIRTUAL_LABELS
    return not symbol and any(character.isalpha() for character in label)


class GraphEncoder:
    """Encodes texts with a model of `mathsetu train graph`.

    Args:
        files: The model.
        features: The source of initial node vectors, if the model needs them (default: the
            encoder that the model names).
    """

    def __init__(self, files: ModelFiles, features: TextEncoder | None = None) -> None:
        self._files, self._given = files, features
        self._network = NumpyNetwork(files.choices, files.weights)
        self._builder = GraphBuilder(files.choices.graphs.sentences)

    @classmethod
    def load(cls, folder: Path) -> GraphEncoder:
        """Open the model of a folder."""
        return cls(load_model(folder))

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        return self._files.choices.projection

    @property
    def sentences(self) -> str:
        """The maker of sentence graphs that the model was trained with."""
        return self._files.choices.graphs.sentences

    def tensors(self, sources: Sequence[Source]) -> list[GraphTensors]:
        """Return the graphs of texts in the form that the model reads."""
        return self._tensors(self._builder.build_many(sources))

    def encode(self, sources: Sequence[Source]) -> list[Encoded]:
        """Return the vectors of each text."""
        return self.encode_graphs(self.tensors(sources))

    def encode_made(self, graphs: Sequence[Graph]) -> list[Encoded]:
        """Return the vectors of graphs that were built elsewhere."""
        return self.encode_graphs(self._tensors(graphs))

    def _tensors(self, graphs: Iterable[Graph]) -> list[GraphTensors]:
        choices = self._files.choices.graphs
        return [
            tensors(graph, self._files.vocabulary, choices.virtual, choices.trees)
            for graph in graphs
        ]

    def encode_graphs(self, graphs: Iterable[GraphTensors]) -> list[Encoded]:
        """Return the vectors of each graph."""
        found: list[Encoded] = []
        batch: list[GraphTensors] = []
        size = 0
        for graph in graphs:
            if batch and size + len(graph.nodes) > _BATCH:
                found += self._batch(batch)
                batch, size = [], 0
            batch.append(graph)
            size += len(graph.nodes)
        return found + self._batch(batch) if batch else found

    def _batch(self, graphs: Sequence[GraphTensors]) -> list[Encoded]:
        if self._features and len(self._features) > _CACHE_SIZE:
            self._features.forget()
        ready = [
            ReadyGraph.of(graph, self._features(graph.labels) if self._features else None)
            for graph in graphs
        ]
        batch = GraphBatch.of(ready)
        vectors = self._network(batch)
        parts = np.split(vectors, np.cumsum(batch.counts)[:-1])
        return [
            Encoded(part, graph.kinds, graph.formulas)
            for part, graph in zip(parts, graphs, strict=True)
        ]

    @cached_property
    def _features(self) -> LabelVectors | None:
        choices = self._files.choices
        if not choices.features:
            return None
        if self._given is not None:
            return LabelVectors(self._given)
        return LabelVectors(load_encoder(choices.features_from))
