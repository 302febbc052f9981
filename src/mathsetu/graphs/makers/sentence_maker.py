"""What every maker of sentence graphs does, and the graph of one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mathsetu.graphs.graph import Graph


@dataclass(slots=True)
class SentenceGraph:
    """What one sentence means.

    The graph's placeholders (``FORMULA_0``) have no trees yet. ``names`` are nodes for persons
    and things with a name: they are the same node wherever the post repeats the name.
    """

    graph: Graph = field(default_factory=Graph)
    names: set[int] = field(default_factory=set)


class SentenceMaker(Protocol):
    """Turns sentences of one language into graphs."""

    @property
    def name(self) -> str:
        """What it is called in choices and in model cards."""
        ...

    def make(self, sentences: Sequence[str]) -> list[SentenceGraph | None]:
        """The graphs of sentences with hidden formulas (QZ1, …); None where one has failed."""
        ...
