r"""Writes graphs in Penman notation that every reader accepts.

Variables are a letter and a number, never derived from labels. A label with special characters is
quoted, because symbols of formulas have broken published graphs.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from mathsetu.errors import InputError
from mathsetu.graphs.graph import COREFERENCE, Graph

#: Relations that end in ``-of`` but are not inverse relations.
ENDS_IN_OF = frozenset({":consist-of", ":prep-on-behalf-of", ":prep-out-of"})
#: Escapes of characters inside quotes.
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = str.maketrans(ESCAPES)
_PLAIN = re.compile(r"[A-Za-z0-9_!+*=<>|.%&$@^'-]+|[^\W\d_][\w-]*")
_CONSTANT = re.compile(r"[-+]|interrogative|imperative|expressive|\d+(?:\.\d+)?")
_INDENT = "  "
# Maximum indentation, because the text of a long chain would otherwise be mostly blanks.
_DEEPEST = 100
# The relation, the other node, and whether that node is written out here or only mentioned.
_Child = tuple[str, int, bool]


def write_penman(graph: Graph) -> str:
    """Return one graph in Penman notation, as `read_penman` reads it.

    >>> graph = Graph(["solve-01", "V!(", "-"], [0, 0], [":ARG1", ":polarity"], [1, 2])
    >>> print(write_penman(graph))
    (n0 / solve-01
      :ARG1 (n1 / "V!(")
      :polarity -)

    Raises:
        InputError: When the graph is not connected.
    """
    children = _layout(graph)
    degrees = [0] * len(graph.labels)
    for source, target in zip(graph.sources, graph.targets, strict=True):
        degrees[source] += 1
        degrees[target] += 1
    return "".join(_pieces(graph, children, degrees))


def _pieces(graph: Graph, children: list[list[_Child]], degrees: list[int]) -> Iterator[str]:
    """Yield the text in pieces, with a stack of open nodes instead of recursion."""
    yield f"(n{graph.root} / {_written(graph.labels[graph.root])}"
    opened = [iter(children[graph.root])]
    while opened:
        following = next(opened[-1], None)
        if following is None:
            opened.pop()
            yield ")"
            continue
        relation, node, is_first = following
        yield f"\n{_INDENT * min(len(opened), _DEEPEST)}{relation} "
        label = graph.labels[node]
        if not is_first:
            yield f"n{node}"
        elif degrees[node] == 1 and _CONSTANT.fullmatch(label):
            yield label
        else:
            yield f"(n{node} / {_written(label)}"
            opened.append(iter(children[node]))


def _layout(graph: Graph) -> list[list[_Child]]:
    """Return the children to write under each node.

    Each node is written as near to the root as possible, so that a node shared by several
    sentences does not pull one sentence into another. Edges between equal formulas are not
    followed. Nodes that are reached only against the direction of an edge are written with
    ``-of``.
    """
    outgoing, incoming = _edges_by_node(graph)
    children: list[list[_Child]] = [[] for _ in graph.labels]
    seen = [False] * len(graph.labels)
    waiting = deque[int]()
    inverted = deque[int]()

    def see(node: int) -> None:
        seen[node] = True
        waiting.append(node)

    if graph.labels:
        see(graph.root)
    while waiting or inverted:
        if waiting:
            node = waiting.popleft()
            inverted.append(node)
            for edge in outgoing[node]:
                target = graph.targets[edge]
                children[node].append((graph.relations[edge], target, not seen[target]))
                if not seen[target]:
                    see(target)
            continue
        node = inverted.popleft()
        for edge in incoming[node]:
            source = graph.sources[edge]
            if not seen[source]:
                outgoing[source].remove(edge)
                children[node].append((graph.relations[edge] + "-of", source, True))
                see(source)
    if not graph.labels or not all(seen):
        raise InputError("a graph can only be written if it is connected")
    for source, relation, target in graph.edges():
        if relation == COREFERENCE:
            children[source].append((relation, target, False))
    return children


def _edges_by_node(graph: Graph) -> tuple[list[list[int]], list[list[int]]]:
    """Return the outgoing and incoming edges of each node, without those between equal formulas."""
    outgoing: list[list[int]] = [[] for _ in graph.labels]
    incoming: list[list[int]] = [[] for _ in graph.labels]
    for edge, (source, relation, target) in enumerate(graph.edges()):
        if relation != COREFERENCE:
            outgoing[source].append(edge)
            incoming[target].append(edge)
    return outgoing, incoming


def _written(label: str) -> str:
    return label if _PLAIN.fullmatch(label) else f'"{label.translate(_ESCAPED)}"'
