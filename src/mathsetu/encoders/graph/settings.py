"""What a graph model is made of; it is saved with the model and needed to read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from mathsetu.errors import InputError
from mathsetu.graphs.representations import FormulaTrees
from mathsetu.graphs.virtual import VirtualNodes

Aggregation = Literal["mean", "attention"]


@dataclass(frozen=True)
class GraphChoices:
    """Which graphs a model reads: those it was trained on and no others.

    Attributes:
        sentences: What makes the graphs of sentences: ``terms``, ``dependency`` or ``amr``.
        trees: Which trees of formulas there are: ``both``, ``opt``, ``slt`` or ``none``.
        virtual: Which virtual nodes there are, how they are joined, and how they start.
    """

    sentences: str = "terms"
    trees: FormulaTrees = "both"
    virtual: VirtualNodes = field(default_factory=VirtualNodes)


@dataclass(frozen=True)
class GraphModel:
    """The size and kind of a relational graph network.

    Attributes:
        hidden: The size of a node's vector between layers.
        projection: The size of the vectors that come out and are compared.
        layers: How many times messages are passed.
        bases: From how many matrices those of all relations are mixed.
        aggregation: ``mean`` of the messages of each relation, or weighted by ``attention``.
        features: The size of another encoder's vectors that nodes start with; 0 for none.
        features_from: The encoder that gives them, as `mathsetu.encoders.load_encoder` knows it.
        graphs: Which graphs it reads.

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
