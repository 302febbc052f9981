"""The two trees of a formula as nodes and edges, computed once for each distinct formula.

The relations are those of Tangent. In the layout tree they give the position of a symbol
(``:n`` next, ``:a`` above, ``:b`` below, …), in the operator tree the position of an operand
(``:0``, ``:1``, …). All operands of a commutative operator have position ``:0``, so that x+y and
y+x give the same graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mathsetu.errors import NotationError
from mathsetu.formulas.labels import is_commutative, normalise
from mathsetu.formulas.mathml.read import read_content, read_presentation
from mathsetu.formulas.notation import read_tree
from mathsetu.formulas.parse import parse_once
from mathsetu.formulas.tree import Tree
from mathsetu.graphs.graph import Graph, Part
from mathsetu.graphs.representations import LAYOUT, OPERATORS
from mathsetu.records import Formula

# Formulas in the cache: about 50 MB, at 27 nodes per formula on average.
_CACHE_SIZE = 1 << 14
_COMMUTATIVE = ":0"


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes and edges numbered from 0; ``roots`` holds each tree's root and the relation to it."""

    labels: tuple[str, ...]
    sources: tuple[int, ...]
    relations: tuple[str, ...]
    targets: tuple[int, ...]
    roots: tuple[tuple[str, int], ...]


def attach_formula(graph: Graph, placeholder: int, formula: Formula) -> None:
    """Attach the trees of a formula to its placeholder, and add it to the graph's formulas.

    >>> graph = Graph(["FORMULA_0"])
    >>> attach_formula(graph, 0, Formula("q_1", "x^2"))
    >>> graph.labels
    ['FORMULA_0', 'O!SUP', 'V!x', 'N!2', 'V!x', 'N!2']
    >>> graph.relations
    [':0', ':1', ':a', ':opt', ':slt']
    """
    if formula.latex.strip():
        nodes = _from_latex(formula.latex)
    else:
        nodes = _from_trees(formula.opt, formula.slt, formula.mathml)
    first = len(graph.labels)
    graph.labels += nodes.labels
    graph.sources += [first + node for node in nodes.sources]
    graph.targets += [first + node for node in nodes.targets]
    graph.relations += nodes.relations
    for relation, root in nodes.roots:
        graph.add_edge(placeholder, relation, first + root)
    graph.formulas.append(Part(placeholder, range(first, len(graph.labels)), formula.id))


@lru_cache(maxsize=_CACHE_SIZE)
def _from_latex(latex: str) -> _Nodes:
    parsed = parse_once(latex)
    return _flat([(OPERATORS, parsed.opt), (LAYOUT, parsed.slt)])


def _from_trees(opt: str, slt: str, mathml: str) -> _Nodes:
    """Return the trees supplied by the collection, for a formula without LaTeX."""
    found: list[tuple[str, Tree]] = []
    for relation, given, read in (
        (OPERATORS, opt, read_content),
        (LAYOUT, slt, read_presentation),
    ):
        try:
            tree = read_tree(given) if given else read(mathml) if mathml else None
        except NotationError:
            continue  # one tree is better than no formula
        if tree is not None:
            found.append((relation, normalise(tree)))
    return _flat(found)


def _flat(trees: list[tuple[str, Tree]]) -> _Nodes:
    """Flatten trees to lists, without recursion because formulas can be very deep."""
    labels: list[str] = []
    sources: list[int] = []
    relations: list[str] = []
    targets: list[int] = []
    roots: list[tuple[str, int]] = []
    for relation, tree in trees:
        roots.append((relation, len(labels)))
        labels.append(tree.label)
        pending = [(len(labels) - 1, tree)]
        while pending:
            number, node = pending.pop()
            first = len(labels)
            children = node.children
            labels += [child.label for child in children]
            sources += [number] * len(children)
            targets += range(first, len(labels))
            if relation == OPERATORS and is_commutative(node.label):
                relations += [_COMMUTATIVE] * len(children)
            else:
                relations += [":" + edge for edge in node.edges]
            pending += [item for item in enumerate(children, first) if item[1].children]
    return _Nodes(tuple(labels), tuple(sources), tuple(relations), tuple(targets), tuple(roots))
