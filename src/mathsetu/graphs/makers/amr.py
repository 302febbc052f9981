"""Sentence graphs from an AMR parser: amrlib's, or any that turns sentences into Penman.

The parser receives formulas as words (``FORMULA_0``). It may change them to lower case, put them
into quotes or names, repeat them or drop them. Words that are still recognised become placeholders
again; the builder attaches the other formulas to the root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError, NotationError
from mathsetu.graphs.graph import COREFERENCE, PLACEHOLDER, Graph
from mathsetu.graphs.makers.sentence_maker import SentenceGraph
from mathsetu.graphs.penman.reading import read_penman
from mathsetu.graphs.text import NAME, placeholder
from mathsetu.models import require

#: Sentences to graphs in Penman notation; None or an empty string where parsing failed.
AmrParser = Callable[[Sequence[str]], Sequence[str | None]]

_PLACEHOLDER = re.compile(r"formula[\s_-]*([0-9]{1,9})(?:-\d\d)?", re.IGNORECASE)
_NAME_PART = re.compile(r":op\d+")
_BATCH = 32


class AmrMaker:
    """Makes graphs with an AMR parser.

    Args:
        parser: The parser.

    >>> def parser(sentences):
    ...     return ["(s / solve-01 :ARG1 (f / formula_0) :polarity -)" for _ in sentences]
    >>> (made,) = AmrMaker(parser).make(["Do not solve QZ1."])
    >>> made.graph.labels
    ['solve-01', 'FORMULA_0', '-']
    """

    name = "amr"

    def __init__(self, parser: AmrParser) -> None:
        self._parser = parser

    def make(self, sentences: Sequence[str]) -> list[SentenceGraph | None]:
        """Return one graph per sentence, or None if the output of the parser is not usable."""
        written = self._parser([NAME.sub(placeholder, sentence) for sentence in sentences])
        if len(written) != len(sentences):
            raise InputError(
                f"the AMR parser gave {len(written)} graphs for {len(sentences)} sentences"
            )
        return [_sentence_graph(text) for text in written]


def _sentence_graph(text: str | None) -> SentenceGraph | None:
    """Read one graph; return None if it is missing, malformed or not connected."""
    if not text or not text.strip():
        return None
    try:
        graph = read_penman(text)
    except NotationError:
        return None
    _restore_placeholders(graph)
    graph.formulas, graph.sentences = [], []
    if not graph.is_connected():
        return None
    return SentenceGraph(graph, _names(graph))


def _restore_placeholders(graph: Graph) -> None:
    """Restore placeholder labels; a second node of a formula gets an edge to the first."""
    first: dict[str, int] = {}
    for node, label in enumerate(graph.labels):
        found = _PLACEHOLDER.fullmatch(label)
        if found is None:
            continue
        name = f"{PLACEHOLDER}{int(found[1])}"
        if name in first:
            graph.labels[node] = PLACEHOLDER.rstrip("_")
            graph.add_edge(node, COREFERENCE, first[name])
        else:
            graph.labels[node] = name
            first[name] = node


def _names(graph: Graph) -> set[int]:
    """Return the leaf nodes that are parts of names, such as ``:op1 "Euler"`` of a ``name``."""
    heads = set(graph.sources)
    return {
        target
        for source, relation, target in graph.edges()
        if graph.labels[source] == "name" and _NAME_PART.fullmatch(relation) and target not in heads
    }


def amrlib_model() -> Path | None:
    """Return the folder of the parser that amrlib loads by default, or None if it does not exist.

    amrlib keeps its models inside its package folder, the parser as ``model_stog``.
    """
    found = find_spec("amrlib")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "data" / "model_stog"
    return folder if folder.is_dir() else None


@cache
def amrlib_parser(folder: str = "") -> AmrParser:
    """Load the parser of amrlib.

    Args:
        folder: The folder of the model; amrlib's default folder if empty.

    Raises:
        MissingExtra: When amrlib is not installed.
        InputError: When there is no model.
    """
    amrlib = require("amrlib", "graphs from an AMR parser", "amr")
    where = Path(folder) if folder else amrlib_model()
    if where is None or not where.is_dir():
        raise InputError(
            f"{where or 'amrlib'}: there is no AMR parser; download a sentence-to-graph model of "
            "amrlib into its folder data/model_stog, or name its folder"
        )
    try:
        model: Any = amrlib.load_stog_model(model_dir=str(where), batch_size=_BATCH)
    except Exception as error:  # amrlib and its dependencies may raise anything
        raise InputError(f"{where}: amrlib cannot load it ({error})") from None

    def parse(sentences: Sequence[str]) -> Sequence[str | None]:
        graphs: Sequence[str | None] = model.parse_sents(list(sentences), add_metadata=False)
        return graphs

    return parse
