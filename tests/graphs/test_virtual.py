"""Virtual nodes: the hierarchy of the thesis and its alternatives."""

from typing import Any

import pytest

from mathsetu.errors import InputError
from mathsetu.graphs import DOCUMENT, FORMULA, SENTENCE, Graph, VirtualNodes, build_graph
from mathsetu.graphs.representations import FormulaTrees, with_trees
from mathsetu.graphs.virtual import Auxiliary, add_virtual_nodes


@pytest.fixture
def graph() -> Graph:
    return build_graph("Let $x$ and $y$ be odd. Is $z$ even? Yes.", maker="terms")


def joined(graph: Graph, relation: str, choices: VirtualNodes) -> list[tuple[int, int]]:
    edges = add_virtual_nodes(graph, choices).edges
    return [(source, target) for source, name, target in edges if name == relation]


def test_the_document_is_last_after_formulas_and_sentences(graph: Graph) -> None:
    added = add_virtual_nodes(graph, VirtualNodes())
    assert added.kinds == [FORMULA] * 3 + [SENTENCE] * 3 + [DOCUMENT]
    assert added.nodes == list(range(len(graph.labels), len(graph.labels) + 7))


def test_a_formula_node_is_joined_to_both_trees_and_nothing_else(graph: Graph) -> None:
    found = joined(graph, ":virtual_formula", VirtualNodes())
    first = len(graph.labels)
    assert [target for source, target in found if source == first] == list(graph.formulas[0].nodes)
    assert {graph.labels[target] for source, target in found if source == first} == {"V!x"}


def test_a_sentence_node_is_joined_to_the_concepts_of_its_sentence(graph: Graph) -> None:
    found = joined(graph, ":virtual_sentence", VirtualNodes())
    second = len(graph.labels) + 4
    labels = {graph.labels[target] for source, target in found if source == second}
    assert labels == {"sentence", "interrogative", "FORMULA_2", "even"}


def test_the_document_node_is_joined_to_the_other_virtual_nodes_and_the_root(graph: Graph) -> None:
    found = joined(graph, ":virtual_document", VirtualNodes())
    first = len(graph.labels)
    assert {target for _, target in found} == {*range(first, first + 6), graph.root}


def test_a_global_node_is_joined_to_every_node(graph: Graph) -> None:
    added = add_virtual_nodes(graph, VirtualNodes(structure="global"))
    assert [target for _, _, target in added.edges] == list(range(len(graph.labels)))
    roots = [part.root for part in [*graph.formulas, *graph.sentences]]
    assert added.nodes == [*roots, len(graph.labels)]
    assert added.kinds[-1] == DOCUMENT


def test_without_virtual_nodes_placeholders_and_heads_represent_the_post(graph: Graph) -> None:
    added = add_virtual_nodes(graph, VirtualNodes(structure="none"))
    assert added.labels == added.edges == []
    assert [graph.labels[node] for node in added.nodes] == [
        *("FORMULA_0", "FORMULA_1", "FORMULA_2"),
        *("sentence", "sentence", "sentence"),
    ]


@pytest.mark.parametrize(
    ("auxiliary", "expected"),
    [
        ("none", []),
        # Sentence 1, its two formulas, sentence 2, its formula, sentence 3.
        ("sequential", [(3, 0), (0, 1), (1, 4), (4, 2), (2, 5)]),
        ("circular", [(3, 0), (0, 1), (1, 4), (4, 2), (2, 5), (5, 3)]),
    ],
)
def test_auxiliary_edges_follow_the_order_of_the_text(
    graph: Graph, auxiliary: Auxiliary, expected: list[tuple[int, int]]
) -> None:
    first = len(graph.labels)
    found = joined(graph, ":auxiliary_vn", VirtualNodes(auxiliary=auxiliary))
    assert found == [(first + source, first + target) for source, target in expected]


def test_full_auxiliary_edges_join_every_pair_once(graph: Graph) -> None:
    found = joined(graph, ":auxiliary_vn", VirtualNodes(auxiliary="full"))
    assert len(found) == len({frozenset(pair) for pair in found}) == 6 * 5 // 2


@pytest.mark.parametrize(
    "choices",
    [
        {"structure": "some"},
        {"auxiliary": "square"},
        {"initialisation": "ones"},
        {"structure": "none", "auxiliary": "full"},
    ],
)
def test_invalid_choices_are_refused(choices: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="virtual nodes"):
        VirtualNodes(**choices)


@pytest.mark.parametrize(
    ("trees", "roots"),
    [
        ("both", {":opt", ":slt"}),
        ("opt", {":opt"}),
        ("slt", {":slt"}),
        ("none", set()),
    ],
)
def test_trees_that_an_experiment_leaves_out_are_removed(
    trees: FormulaTrees, roots: set[str]
) -> None:
    graph = build_graph("Solve $a+b=1$. Is $a$ odd?", maker="terms")
    copy = with_trees(graph, trees)
    assert copy.is_connected()
    assert {relation for relation in copy.relations if relation in (":opt", ":slt")} == roots
    assert len(copy.formulas) == (0 if trees == "none" else 2)
    assert copy.labels[copy.root] == graph.labels[graph.root]
    words = [label for label in graph.labels if "!" not in label and label not in "=+"]
    assert [label for label in copy.labels if "!" not in label and label not in "=+"] == words
