"""The interface of makers of sentence graphs, and the graph of one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mathsetu.graphs.graph import Graph


@dataclass(slots=True)
class SentenceGraph:
    """The meaning graph of one sentence.

    The placeholders of the graph (``FORMULA_0``) have no trees yet. ``names`` are the nodes of
    proper names; a name that a post repeats gets one node.
    """

    graph: Graph = field(default_factory=Graph)
    names: set[int] = field(default_factory=set)


class SentenceMaker(Protocol):
    """Turns sentences of one language into graphs."""

    @property
    def name(self) -> str:
        """The name of the maker in options and in model cards."""
        ...

    def make(self, sentences: Sequence[str]) -> list[SentenceGraph | None]:
        """Return one graph per sentence with masked formulas (QZ1, …), or None if it failed."""
        ...
