"""The settings of a graph model, which are saved with it and needed to load it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from mathsetu.errors import InputError
from mathsetu.graphs.representations import FormulaTrees
from mathsetu.graphs.virtual import VirtualNodes

Aggregation = Literal["mean", "attention"]


@dataclass(frozen=True)
class GraphChoices:
    """The kind of graphs that a model reads: the kind that it was trained on.

    Attributes:
        sentences: The maker of sentence graphs: ``terms``, ``dependency`` or ``amr``.
        trees: The trees of formulas: ``both``, ``opt``, ``slt`` or ``none``.
        virtual: The virtual nodes, their edges, and their initial vectors.
    """

    sentences: str = "terms"
    trees: FormulaTrees = "both"
    virtual: VirtualNodes = field(default_factory=VirtualNodes)


@dataclass(frozen=True)
class GraphModel:
    """The size and kind of a relational graph network.

    Attributes:
        hidden: The size of a node's vector in the layers.
        projection: The size of the output vectors.
        layers: The number of message-passing layers.
        bases: The number of basis matrices from which those of the relations are mixed.
        aggregation: ``mean`` of the messages of each relation, or weighted by ``attention``.
        features: The size of the initial node vectors from another encoder; 0 for none.
        features_from: The model of that encoder, for `mathsetu.encoders.load_encoder`.
        graphs: The kind of graphs that it reads.

    >>> GraphModel(layers=0)
    Traceback (most recent call last):
    mathsetu.errors.InputError: layers is 0; it must be at least 1
    """

    hidden: int = 96
    projection: int = 32
    layers: int = 4
    bases: int = 16
    aggregation: Aggregation = "mean"
    features: int = 0
    features_from: str = ""
    graphs: GraphChoices = field(default_factory=GraphChoices)

    def __post_init__(self) -> None:
        for name in ("hidden", "projection", "layers", "bases"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.features < 0:
            raise InputError(f"features is {self.features}; it must be at least 0")
        if self.aggregation not in get_args(Aggregation):
            known = ", ".join(get_args(Aggregation))
            raise InputError(f"aggregation is {self.aggregation!r} (known: {known})")
