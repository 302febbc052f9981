"""Vocabulary, tensors and their store."""

import sqlite3
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.graphs import (
    FormulaTrees,
    Graph,
    GraphTensors,
    Part,
    TensorStore,
    TypeCounts,
    VirtualNodes,
    Vocabulary,
    build_graph,
    tensors,
)
from mathsetu.graphs.vocabulary import PADDING, RESERVED, UNKNOWN
from mathsetu.records import Formula

TEXT = "Show that $x^2+1=0$ has no real root. Is $x$ a complex number?"


def counted(*labels: str) -> TypeCounts:
    counts = TypeCounts()
    for label in labels:
        counts.add(Graph([label]))
    return counts


def sample(virtual: VirtualNodes | None = None) -> tuple[Graph, Vocabulary, GraphTensors]:
    formulas = [Formula("q_1", "x^2+1=0"), Formula("q_2", "x")]
    graph = build_graph(TEXT, formulas=formulas, maker="terms")
    counts = TypeCounts()
    counts.add(graph)
    vocabulary = counts.vocabulary(seen_numbers=1)
    return graph, vocabulary, tensors(graph, vocabulary, virtual or VirtualNodes())


def test_a_number_that_occurs_five_times_has_its_own_type() -> None:
    vocabulary = counted(*["N!7"] * 5, *["N!1729"] * 4, *["2.5"] * 4).vocabulary()
    assert vocabulary.node_types[vocabulary.node("N!7")] == "N!7"
    assert vocabulary.node_types[vocabulary.node("N!1729")] == "[UNKNUM_INT]"
    assert vocabulary.node_types[vocabulary.node("2.5")] == "[UNKNUM_DEC]"
    assert vocabulary.node_types[vocabulary.node("3/4")] == "[UNKNUM_RAT]"


def test_the_most_frequent_types_are_kept() -> None:
    counts = counted("ring", "ring", "field", "field", "field", "group", "zebra")
    vocabulary = counts.vocabulary(largest=len(RESERVED) + 3)
    assert vocabulary.node_types[len(RESERVED) :] == ("field", "ring", "group")
    assert vocabulary.node("zebra") == UNKNOWN


def test_inflected_forms_fonts_and_addresses_share_a_type() -> None:
    vocabulary = counted("integral", "V!x", "https://example.org").vocabulary()
    assert vocabulary.node("integrals") == vocabulary.node("integral") != UNKNOWN
    assert vocabulary.node("V!𝑥") == vocabulary.node("V!x") != UNKNOWN
    assert vocabulary.node("www.example.net") == vocabulary.node("[URL]")
    assert vocabulary.node("V!ℝ") == UNKNOWN


def test_placeholders_with_any_number_share_a_type() -> None:
    vocabulary = counted("FORMULA_0").vocabulary()
    assert vocabulary.node("FORMULA_17") == vocabulary.node("FORMULA_0") != UNKNOWN


def test_counts_of_parts_add_up_to_those_of_the_whole() -> None:
    first, second = counted("ring", "ring"), counted("field", "ring")
    first.update(second)
    assert first.nodes == counted("ring", "ring", "field", "ring").nodes


def test_a_saved_vocabulary_is_loaded_unchanged(tmp_path: Path) -> None:
    _, vocabulary, _ = sample()
    vocabulary.save(tmp_path / "vocabulary.json")
    loaded = Vocabulary.load(tmp_path / "vocabulary.json")
    assert loaded.node_types == vocabulary.node_types
    assert loaded.relation_types == vocabulary.relation_types


@pytest.mark.parametrize("content", ["", "[]", '{"nodes": [1], "relations": []}', '{"nodes": []}'])
def test_a_file_that_is_not_a_vocabulary_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "vocabulary.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"vocabulary.json: is not a graph vocabulary"):
        Vocabulary.load(path)


def test_every_edge_has_its_inverse_with_a_type_of_its_own() -> None:
    graph, vocabulary, arrays = sample()
    triples = set(zip(*arrays.edges.tolist(), arrays.relations.tolist(), strict=True))
    assert {(target, source, relation ^ 1) for source, target, relation in triples} == triples
    source, relation, target = next(graph.edges())
    assert (source, target, vocabulary.relation(relation)) in triples
    assert (target, source, vocabulary.relation(relation + "*")) in triples
    assert vocabulary.relation(relation) != vocabulary.relation(relation + "*")


def test_nodes_are_numbered_by_the_vocabulary() -> None:
    graph, vocabulary, arrays = sample()
    assert arrays.labels[: len(graph.labels)] == tuple(graph.labels)
    assert arrays.nodes.tolist() == [vocabulary.node(label) for label in arrays.labels]
    assert PADDING not in arrays.nodes
    assert UNKNOWN not in arrays.nodes
    assert arrays.nodes.dtype == arrays.edges.dtype == arrays.relations.dtype == np.int32


def test_tensors_contain_formula_ids_and_the_kinds_of_virtual_nodes() -> None:
    _, _, arrays = sample()
    assert arrays.formulas == ("q_1", "q_2")
    assert arrays.kinds.tolist() == [0, 0, 1, 1, 2]
    assert arrays.labels[arrays.virtual[-1]] == "VIRTUAL_DOCUMENT"


@pytest.mark.parametrize("structure", ["none", "global", "full"])
@pytest.mark.parametrize("trees", ["both", "opt", "slt", "none"])
def test_tensors_with_all_choices_are_restored_from_bytes(
    structure: str, trees: FormulaTrees
) -> None:
    graph, vocabulary, _ = sample()
    choices = VirtualNodes(structure=structure)  # type: ignore[arg-type]
    arrays = tensors(graph, vocabulary, choices, trees)
    back = GraphTensors.from_bytes(arrays.to_bytes())
    for name in ("nodes", "edges", "relations", "virtual", "kinds"):
        np.testing.assert_array_equal(getattr(back, name), getattr(arrays, name))
        assert getattr(back, name).dtype == getattr(arrays, name).dtype
    assert (back.labels, back.formulas) == (arrays.labels, arrays.formulas)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5), st.text(max_size=5))
def test_tensors_with_any_labels_are_restored_from_bytes(labels: list[str], formula: str) -> None:
    graph = Graph(labels)
    for node in range(1, len(labels)):
        graph.add_edge(0, ":op1", node)
    graph.formulas.append(Part(0, [], formula))
    arrays = tensors(graph, Vocabulary([], []))
    assert GraphTensors.from_bytes(arrays.to_bytes()) == arrays


@given(st.binary(max_size=60), st.integers(0, 200))
def test_damaged_bytes_are_refused_or_give_consistent_tensors(noise: bytes, place: int) -> None:
    good = sample()[2].to_bytes()
    damaged = good[:place] + noise + good[place + len(noise) :]
    with suppress(InputError):
        back = GraphTensors.from_bytes(damaged)
        assert len(back.labels) == len(back.nodes)
        assert back.edges.size == 0 or back.edges.max() < len(back.nodes)


def test_a_store_returns_the_tensors_that_were_written(tmp_path: Path) -> None:
    arrays = sample()[2]
    other = sample(VirtualNodes(structure="global"))[2]
    path = tmp_path / "graphs.sqlite"
    with TensorStore(path, write=True) as store:
        store.write([("b", arrays), ("a", other)])
        store.write([("b", other), ("c", arrays)])
    with TensorStore(path) as store:
        assert (len(store), list(store)) == (3, ["b", "a", "c"])
        assert store["b"] == other
        assert store.many(["c", "a", "c"]) == [arrays, other, arrays]
        assert dict(store.items())["c"] == arrays
        assert "d" not in store
        with pytest.raises(KeyError):
            store["d"]
        with pytest.raises(InputError, match="cannot be written"):
            store.write([("d", arrays)])


def test_a_failed_batch_writes_nothing(tmp_path: Path) -> None:
    def rows() -> object:
        yield "a", b"bytes"
        raise RuntimeError("stopped")

    with TensorStore(tmp_path / "graphs.sqlite", write=True) as store:
        with pytest.raises(RuntimeError):
            store.write_bytes(rows())  # type: ignore[arg-type]
        assert len(store) == 0


def test_a_missing_invalid_or_damaged_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graphs.sqlite"
    with pytest.raises(InputError, match="is not a graph store"):
        TensorStore(path)
    path.write_text("something else", encoding="utf-8")
    with pytest.raises(InputError, match="is not a graph store"):
        TensorStore(path)
    path.unlink()
    with TensorStore(path, write=True) as store:
        store.write([("a", sample()[2])])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE graphs SET tensors = 'text'")
    connection.close()
    with TensorStore(path) as store, pytest.raises(InputError, match="'a' is damaged"):
        store["a"]
