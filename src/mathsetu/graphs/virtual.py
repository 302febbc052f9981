"""Virtual nodes, which summarise a formula, a sentence or a post.

Retrieval compares their vectors. The structure ``full`` adds a node for each formula and each
sentence and one for the document. ``global`` adds only the document node, joined to every node;
placeholders and heads then represent formulas and sentences. ``none`` adds no node.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, get_args

from mathsetu.errors import InputError
from mathsetu.graphs.graph import Graph, Part

Structure = Literal["none", "global", "full"]
Auxiliary = Literal["none", "sequential", "circular", "full"]
#: How a model initialises the vectors of virtual nodes: as zero, fixed or learned; as random and
#: learned; as the mean of the nodes that they are joined to, unchanged, through one learned
#: projection, or through one learned projection per kind.
Initialisation = Literal[
    "zero", "zero-embedding", "random", "mean-pooled", "projected", "typed-projected"
]

#: The kinds of virtual nodes.
FORMULA, SENTENCE, DOCUMENT = 0, 1, 2
VIRTUAL_LABELS = ("VIRTUAL_FORMULA", "VIRTUAL_SENTENCE", "VIRTUAL_DOCUMENT")
VIRTUAL_RELATIONS = (":virtual_formula", ":virtual_sentence", ":virtual_document")
AUXILIARY_RELATION = ":auxiliary_vn"


@dataclass(frozen=True)
class VirtualNodes:
    """The settings of virtual nodes.

    Attributes:
        structure: Which virtual nodes to add.
        auxiliary: Additional edges between the nodes of formulas and sentences: none, each to the
            next in text order, also the last to the first, or all to all.
        initialisation: How a model initialises their vectors; it does not change graphs.

    >>> VirtualNodes(structure="hierarchy")
    Traceback (most recent call last):
    mathsetu.errors.InputError: virtual nodes: structure 'hierarchy' is not known (known: none, \
global, full)
    """

    structure: Structure = "full"
    auxiliary: Auxiliary = "none"
    initialisation: Initialisation = "zero-embedding"

    def __post_init__(self) -> None:
        for name, known in (
            ("structure", get_args(Structure)),
            ("auxiliary", get_args(Auxiliary)),
            ("initialisation", get_args(Initialisation)),
        ):
            if getattr(self, name) not in known:
                raise InputError(
                    f"virtual nodes: {name} {getattr(self, name)!r} is not known "
                    f"(known: {', '.join(known)})"
                )
        if self.auxiliary != "none" and self.structure != "full":
            raise InputError(
                "virtual nodes: auxiliary edges join the nodes of formulas and sentences; "
                "they need structure 'full'"
            )


@dataclass(frozen=True, slots=True)
class Representatives:
    """The virtual nodes and edges to add to a graph, and the nodes that represent it.

    The numbers of new nodes continue those of the graph. ``nodes`` are the representatives, in
    the order formulas, sentences, document, and ``kinds`` are their kinds.
    """

    labels: list[str]
    edges: list[tuple[int, str, int]]
    nodes: list[int]
    kinds: list[int]


def add_virtual_nodes(graph: Graph, choices: VirtualNodes) -> Representatives:
    """Return the nodes and edges that the settings add to a graph; the graph is not changed.

    >>> graph = Graph(["solve-01", "FORMULA_0", "V!x"], [0, 1], [":ARG1", ":opt"], [1, 2])
    >>> graph.formulas, graph.sentences = [Part(1, [2], "q_7")], [Part(0, [0, 1])]
    >>> add_virtual_nodes(graph, VirtualNodes()).labels
    ['VIRTUAL_FORMULA', 'VIRTUAL_SENTENCE', 'VIRTUAL_DOCUMENT']
    """
    kinds = [FORMULA] * len(graph.formulas) + [SENTENCE] * len(graph.sentences)
    parts = [*graph.formulas, *graph.sentences]
    if choices.structure != "full":
        nodes = [part.root for part in parts]
        if choices.structure == "none":
            return Representatives([], [], nodes, kinds)
        document = len(graph.labels)
        relation = VIRTUAL_RELATIONS[DOCUMENT]
        edges = [(document, relation, node) for node in range(document)]
        return Representatives(
            [VIRTUAL_LABELS[DOCUMENT]], edges, [*nodes, document], [*kinds, DOCUMENT]
        )
    first = len(graph.labels)
    document = first + len(parts)
    relation = VIRTUAL_RELATIONS[DOCUMENT]
    edges = []
    for node, (kind, part) in enumerate(zip(kinds, parts, strict=True), start=first):
        edges += [(node, VIRTUAL_RELATIONS[kind], member) for member in part.nodes or (part.root,)]
        edges.append((document, relation, node))
    edges.append((document, relation, graph.root))
    edges += _auxiliary_edges(graph, first, choices.auxiliary)
    kinds.append(DOCUMENT)
    labels = [VIRTUAL_LABELS[kind] for kind in kinds]
    return Representatives(labels, edges, list(range(first, document + 1)), kinds)


def _auxiliary_edges(graph: Graph, first: int, auxiliary: Auxiliary) -> list[tuple[int, str, int]]:
    """Return the edges between the virtual nodes of formulas and sentences, in text order."""
    order = _text_order(graph, first) if auxiliary != "none" else []
    if auxiliary == "full":
        pairs = list(combinations(order, 2))
    else:
        pairs = list(pairwise(order))
        if auxiliary == "circular" and len(order) > 2:
            pairs.append((order[-1], order[0]))
    return [(source, AUXILIARY_RELATION, target) for source, target in pairs]


def _text_order(graph: Graph, first: int) -> list[int]:
    """Return each sentence followed by its formulas; formulas outside sentences come last."""
    waiting = {part.root: first + number for number, part in enumerate(graph.formulas)}
    order: list[int] = []
    for number, part in enumerate(graph.sentences, start=first + len(graph.formulas)):
        order.append(number)
        order += (waiting.pop(node) for node in _members(part) if node in waiting)
    return [*order, *waiting.values()]


def _members(part: Part) -> list[int]:
    return sorted({part.root, *part.nodes})
