r"""Reads MathAMR (Mansouri et al., CIKM 2022), the dialect of Penman that MathAMR+ comes from.

Roles are in lower case (``:arg0``). A formula is a constant ``MATH`` followed by its operator
tree, ``:value MATH :math (U1 / eq :op0(V1 / x) :op0(N1 / 2))``; the letter of a variable in the
tree gives the kind of the symbol. Symbols may be empty, a quotation mark or a bracket, which
strict readers reject. The result is a graph in our form: a placeholder for each formula, with its
tree at ``:opt`` and the labels of our formula parser.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mathsetu.errors import InputError, NotationError, RowError
from mathsetu.formulas.labels import normalise_label
from mathsetu.graphs.graph import PLACEHOLDER, Graph
from mathsetu.graphs.penman.reading import read_penman
from mathsetu.graphs.penman.records import Record
from mathsetu.graphs.penman.writing import write_penman
from mathsetu.graphs.representations import OPERATORS

# The beginning of a symbol's node, up to the symbol: its kind and number.
_SYMBOL = re.compile(r"\(([A-Z])([0-9]{1,6}) / ?")
_ROLE = re.compile(r":arg(\d+)")
_OPERAND = re.compile(r":op(\d+)")
# Brackets are written as dollars, because a bracket would close a node.
_BRACKETS = re.compile(r"\$(\w-\w)\$\$")
_FORMULA = "MATH"
_MATH = ":math"


def read_mathamr(text: str) -> Graph:
    """Read one graph.

    >>> graph = read_mathamr("(s / solve-01 :arg1 (e / string-entity :value MATH "
    ...     ":math (U1 / eq :op0(V1 / x) :op0(N1 / 2))))")
    >>> graph.labels
    ['solve-01', 'string-entity', 'FORMULA_0', 'U!eq', 'V!x', 'N!2']
    >>> graph.relations
    [':ARG1', ':value', ':opt', ':0', ':0']

    Raises:
        NotationError: When the text is malformed; the message gives the position.
        InputError: When the graph is not connected.
    """
    # Put the kind into the label, so that no label is empty or only a bracket.
    read = read_penman(_SYMBOL.sub(r"(\1\2 / \1!", text))
    trees = {
        edge: target for edge, (_, relation, target) in enumerate(read.edges()) if relation == _MATH
    }
    inside = _below(read, trees.values())
    graph = Graph(root=read.root)
    for node, label in enumerate(read.labels):
        graph.add_node(_symbol(label) if node in inside else label)
    formulas = _placeholders(read, graph, trees)
    for edge, (source, relation, target) in enumerate(read.edges()):
        if edge in formulas:
            graph.add_edge(formulas[edge], OPERATORS, target)
        elif source in inside:
            graph.add_edge(source, _OPERAND.sub(r":\1", relation), target)
        else:
            graph.add_edge(source, _ROLE.sub(r":ARG\1", relation), target)
    # Writing and reading again assigns the nodes to formulas and sentences.
    return read_penman(write_penman(graph))


def _placeholders(read: Graph, graph: Graph, trees: dict[int, int]) -> dict[int, int]:
    """Map the edge to each tree to a placeholder: the sibling constant ``MATH``, or a new node."""
    waiting: dict[int, deque[int]] = {}
    for source, _, target in read.edges():
        if read.labels[target] == _FORMULA:
            waiting.setdefault(source, deque()).append(target)
    found: dict[int, int] = {}
    for number, edge in enumerate(trees):
        source = read.sources[edge]
        label = f"{PLACEHOLDER}{number}"
        if waiting.get(source):
            node = waiting[source].popleft()
            graph.labels[node] = label
        else:
            node = graph.add_node(label)
            graph.add_edge(source, _MATH, node)
        found[edge] = node
    return found


def _below(graph: Graph, roots: Iterable[int]) -> set[int]:
    """Return the nodes of the trees with these roots."""
    children: dict[int, list[int]] = {}
    for source, _, target in graph.edges():
        children.setdefault(source, []).append(target)
    found: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += children.get(node, ())
    return found


def _symbol(label: str) -> str:
    return normalise_label(_BRACKETS.sub(r"(\1)", label))


def mathamr_rows(
    lines: Iterable[tuple[int, str]], path: str | Path, bad: Callable[[RowError], None]
) -> Iterator[Record]:
    """Read the graphs of a tab-separated table with an id and a graph in each row.

    Args:
        lines: The lines with their numbers.
        path: The path of the table, for messages.
        bad: Called for each graph that cannot be read.
    """
    rows = csv.reader((f"{line}\n" for _, line in lines), delimiter="\t")
    first = 1
    while True:
        try:
            row = next(rows)
            if len(row) != 2:
                raise ValueError(f"{len(row)} columns instead of an id and a graph")
            yield Record(row[0], read_mathamr(row[1]))
        except StopIteration:
            return
        except (InputError, NotationError, ValueError, csv.Error) as error:
            bad(RowError(path, first, f"no graph can be read ({error})"))
        first = rows.line_num + 1
