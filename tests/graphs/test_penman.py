"""Penman notation: graphs are written and read unchanged, and graphs of others are read."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError, NotationError
from mathsetu.graphs import Graph, build_graph
from mathsetu.graphs.penman import Record, read_penman, read_records, write_penman, write_records

# The released form of MathAMR+: AMR with placeholders, each with an operator and a layout tree.
RELEASED = """
# ::id 2810
(m / multi-sentence
    :snt1 (h / have-03
        :ARG0 (i / i)
        :ARG1 (s / set
            :mod (FORMULA_0 / FORMULA_0
                :opt (o0 / U!plus :0 (o1 / V!x) :1 (o2 / N!1))
                :slt (s0 / V!x :n (s1 / + :n (s2 / N!1))))))
    :snt2 (h2 / have-03~e.4
        :polarity -
        :ARG0 s
        :ARG1 (b / bind-01 :ARG1-of (g / great-02 :degree~e.7 (m2 / most)))
        :quant 2 :op1 "Q(x)")
    :math (FORMULA_1 / FORMULA_1 :slt (z / M!()1x1 :w (z1 / V!a:b)) :opt (z2 / V!()))
"""


def contents(graph: Graph) -> tuple[Any, ...]:
    """Everything about a graph that does not depend on how its nodes are numbered."""
    return (
        Counter((graph.labels[s], name, graph.labels[t]) for s, name, t in graph.edges()),
        Counter(graph.labels),
        graph.labels[graph.root],
        [(part.id, Counter(graph.labels[node] for node in part.nodes)) for part in graph.formulas],
        [Counter(graph.labels[node] for node in part.nodes) for part in graph.sentences],
    )


def test_the_released_form_of_mathamr_is_read() -> None:
    graph = read_penman(RELEASED, {"FORMULA_0": "q_17"})
    assert graph.is_connected()
    assert graph.formula_map == {"FORMULA_0": "q_17", "FORMULA_1": "FORMULA_1"}
    assert [len(part.nodes) for part in graph.formulas] == [6, 3]
    first, second = graph.sentences
    assert graph.labels[first.root] == graph.labels[second.root] == "have-03"
    assert {"set", "great-02", "-", "2", "Q(x)"} <= {graph.labels[node] for node in second.nodes}
    assert "V!x" not in {graph.labels[node] for node in first.nodes}


def test_inverted_relations_are_reversed_unless_they_only_look_inverted() -> None:
    graph = read_penman("(a / ring :ARG1-of (b / study-01) :consist-of (c / element))")
    assert set(graph.edges()) == {(1, ":ARG1", 0), (0, ":consist-of", 2)}


def test_a_variable_may_be_mentioned_before_its_node() -> None:
    graph = read_penman("(a / and :op1 b :op2 (c / like-01 :ARG0 (b / boy)))")
    assert graph.labels == ["and", "like-01", "boy"]


AWKWARD = ["V!(", "M!()1x1", "V!:", "a/b", 'T!"', "T!a b", "\\", "", "~e.1", "#", "n0"]


@pytest.mark.parametrize("label", AWKWARD)
def test_awkward_symbols_are_written_and_read_unchanged(label: str) -> None:
    graph = Graph(["solve-01", label, label], [0, 1], [":ARG1", ":0"], [1, 2])
    assert contents(read_penman(write_penman(graph)))[:3] == contents(graph)[:3]


@pytest.mark.parametrize("symbol", ["V!(", "V!()", "f(x)", "M!()1x1"])
def test_brackets_in_symbols_are_distinguished_from_those_that_close_nodes(symbol: str) -> None:
    graph = read_penman(f"(a / solve-01 :ARG1 (b / {symbol}))")
    assert graph.labels == ["solve-01", symbol]


@given(
    st.lists(st.text(max_size=6), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.sampled_from([":ARG0", ":n", ":consist-of"]))),
)
def test_any_connected_graph_is_written_and_read_unchanged(
    labels: list[str], edges: list[tuple[int, str]]
) -> None:
    graph = Graph(["root", *labels])
    for node, (other, relation) in enumerate(edges[: len(labels)], start=1):
        graph.add_edge(node, relation, min(other, node - 1))
    for node in range(len(edges[: len(labels)]) + 1, len(graph.labels)):
        graph.add_edge(node - 1, ":op1", node)
    assert contents(read_penman(write_penman(graph)))[:3] == contents(graph)[:3]


@pytest.mark.parametrize(
    "text",
    [
        r"Show that $\{r \mid r^2>2\}$ has no infimum. Is $r$ rational? Ask Zorn. Zorn knows $r$.",
        'One sentence with $f(x)=[x]$ and "quotes".',
        "यदि $x$ सम है, तो $x^2$ सम है। सिद्ध करें।",
    ],
)
def test_built_graphs_are_written_and_read_with_formulas_and_sentences(text: str) -> None:
    graph = build_graph(text, "hi" if "सिद्ध" in text else "en", maker="terms")
    assert contents(read_penman(write_penman(graph), graph.formula_map)) == contents(graph)


def test_a_disconnected_graph_is_not_written() -> None:
    with pytest.raises(InputError, match="if it is connected"):
        write_penman(Graph(["a", "b"]))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "begins with"),
        ("(a / b", "'\\)' expected"),
        ("(a / b))", "nothing may follow"),
        ("(a / b (c / d))", "a relation"),
        ("(a / b c)", "a relation"),
        ("(a / )", "a concept expected"),
        ('(a / b :op1 "c)', "a name expected"),
    ],
)
def test_invalid_notation_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(NotationError, match=problem):
        read_penman(text)


@given(st.text(alphabet='()/:ab" \n#~', max_size=40))
def test_reading_ends_in_a_graph_or_a_clear_error(text: str) -> None:
    with suppress(NotationError):
        assert read_penman(text).labels


@pytest.mark.thorough
def test_a_very_deep_graph_can_be_written_and_read() -> None:
    graph = Graph(["V!x"] * 20_000)
    for node in range(1, 20_000):
        graph.add_edge(node - 1, ":n", node)
    written = write_penman(graph)
    assert len(written) < 250 * 20_000, "mostly blanks"
    assert len(read_penman(written).labels) == 20_000


def test_files_of_graphs_are_written_and_read_unchanged(tmp_path: Path) -> None:
    graph = build_graph("Is $x$ or $x$ prime? Yes.", maker="terms")
    path = tmp_path / "graphs.penman"
    write_records(path, [Record("7", graph), Record("a b\n", graph)])
    records = list(read_records(path))
    assert [record.id for record in records] == ["7", "a b\n"]
    assert contents(records[1].graph) == contents(graph)


def test_graphs_in_json_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    row = {"post_id": 2810, "penman": RELEASED, "formula_map": {"FORMULA_0": "q_17"}}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (record,) = read_records(path)
    assert (record.id, record.graph.formula_map["FORMULA_0"]) == ("2810", "q_17")


BROKEN = ['{"id": 1}\n', "{\n", '{"graph": "(a"}\n', "# ::id 1\nnothing\n", '{"a":' + "[" * 100_000]


@pytest.mark.parametrize("content", BROKEN)
def test_a_file_without_a_graph_is_refused_with_the_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "graphs.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"graphs.txt line 1: no graph can be read"):
        list(read_records(path))
