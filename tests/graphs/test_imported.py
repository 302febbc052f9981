"""Imported graphs: read in every form, joined, stored by id, or refused with a clear error."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError, MathSetuError
from mathsetu.graphs import Source
from mathsetu.graphs.graph import Graph, Part
from mathsetu.graphs.imported import ImportedGraphs, Parses, parser_sentences, with_formulas
from mathsetu.graphs.penman import Record, read_penman, write_penman
from mathsetu.graphs.penman.mathamr import mathamr_rows, read_mathamr
from mathsetu.graphs.penman.records import block_of, records_in

# The form of public collections of AMR: comments alone first, several comments in a line.
BLOCKS = """\
# A small collection of graphs, written for this test
# generated today

# ::id own.1 ::date 2026-01-01 ::annotator us ::preferred
# ::snt Every even number is the sum of two primes .
# ::save-date Thu Jan 1, 2026 ::file own_1.txt
(s / sum-01~e.6
      :ARG0 (n / number :mod (e / every) :ARG1-of (e2 / even-03))
      :ARG1 (p / prime :quant 2))

# ::id own.2
# ::snt Nobody knows .
(k / know-01 :polarity -
   :ARG0 (p / person :mod (e / every)))
"""
# The dialect of MathAMR: roles in lower case, trees beside MATH, no space before '(', odd symbols.
DIALECT = """(m / multi-sentence
      :snt1 (f / find-01
            :arg1 (v / value-01
                  :arg1 (s / string-entity
                        :value MATH
 :math (V1 / 𝑐)
                        :arg0-of (c2 / contain-01
                              :polarity -
                              :arg1 (s2 / string-entity
                                    :value MATH
 :math (O1 / interval$C-O$$ :op0(O2 / minus :op0(N1 / 1)) :op1(W1 / )))))))
      :snt2 (n / name
            :op1 MATH
 :math (E1 /  :op0(U1 / eq :op0(V2 / ") :op0(V3 / $))) :mod (a / all)))"""


def lines(text):
    return enumerate(text.splitlines(keepends=True), start=1)


def test_blocks_of_public_collections_are_read_with_their_ids_and_sentences():
    records = list(records_in(lines(BLOCKS), "own.txt"))
    assert [(record.id, record.sentence) for record in records] == [
        ("own.1", "Every even number is the sum of two primes ."),
        ("own.2", "Nobody knows ."),
    ]
    assert records[0].graph.labels[0] == "sum-01"
    assert "even-03" in records[0].graph.labels


def test_an_unreadable_graph_is_named_with_its_line_and_the_others_are_read():
    text = BLOCKS.replace(":quant 2))", ":quant 2)")
    with pytest.raises(InputError, match=r"own.txt line 4: no graph can be read"):
        list(records_in(lines(text), "own.txt"))
    errors = []
    assert [one.id for one in records_in(lines(text), "own.txt", errors.append)] == ["own.2"]
    assert len(errors) == 1


def test_the_dialect_of_mathamr_is_converted_to_our_graphs():
    graph = read_mathamr(DIALECT)
    assert graph.is_connected()
    assert [part.id for part in graph.formulas] == ["FORMULA_0", "FORMULA_1", "FORMULA_2"]
    assert len(graph.sentences) == 2
    assert "O!interval(C-O)" in graph.labels
    assert {"V!c", "W!", "E!", 'V!"', "V!$"} < {*graph.labels}
    assert {":ARG0", ":ARG1", ":opt", ":0", ":1", ":op1", ":mod"} < {*graph.relations}
    assert not any(relation.startswith(":arg") for relation in graph.relations)
    [interval] = [part for part in graph.formulas if part.id == "FORMULA_1"]
    found = [graph.labels[node] for node in interval.nodes]
    assert found == ["O!interval(C-O)", "O!minus", "N!1", "W!"]


def test_a_table_of_the_dialect_is_read_row_by_row():
    quoted = DIALECT.replace('"', '""')
    table = f'B.1\t"{quoted}"\nB.2\n"B.3"\t"(a / and :op1 (b"\nB.4\t(z / zero)\n'
    errors = []
    found = list(mathamr_rows(enumerate(table.splitlines(), start=1), "topics.tsv", errors.append))
    assert [record.id for record in found] == ["B.1", "B.4"]
    assert len(found[0].graph.formulas) == 3
    second = DIALECT.count("\n") + 2
    assert f"topics.tsv line {second}: no graph can be read (1 columns" in str(errors[0])
    assert len(errors) == 2


def test_a_file_keeps_graphs_and_the_ids_of_their_formulas(tmp_path):
    graph = read_penman("(s / solve-01 :ARG1 (f / FORMULA_0 :opt (x / V!x)))", {"FORMULA_0": "q_7"})
    with ImportedGraphs(tmp_path / "graphs.sqlite", write=True) as graphs:
        assert graphs.write([Record("7", graph), Record("a b", Graph(["prove-01"]))]) == 2
        assert graphs.write([Record("7", graph)]) == 1
        assert (len(graphs), list(graphs)) == (2, ["7", "a b"])
    with ImportedGraphs(tmp_path / "graphs.sqlite") as graphs:
        back = graphs.get("7")
        assert back.formula_map == {"FORMULA_0": "q_7"}
        assert write_penman(back) == write_penman(graph)
        assert graphs.get("8") is None


def test_invalid_files_and_graphs_without_ids_or_in_pieces_are_refused(tmp_path):
    (tmp_path / "no.sqlite").write_text("nothing")
    for name in ("no.sqlite", "missing.sqlite"):
        with pytest.raises(InputError, match="holds no imported graphs"):
            ImportedGraphs(tmp_path / name)
    with sqlite3.connect(tmp_path / "view.sqlite") as other:
        other.execute("CREATE VIEW imported AS SELECT 'a' AS id, '(a / b)' AS penman")
    with pytest.raises(InputError, match="its tables are not those"):
        ImportedGraphs(tmp_path / "view.sqlite")
    with pytest.raises(InputError, match="is not a regular file"):
        ImportedGraphs(tmp_path)
    with ImportedGraphs(tmp_path / "graphs.sqlite", write=True) as graphs:
        with pytest.raises(InputError, match="has no id"):
            graphs.write([Record("1", Graph(["prove-01"])), Record("", Graph(["prove-01"]))])
        with pytest.raises(InputError, match="if it is connected"):
            graphs.write([Record("2", Graph(["prove-01", "solve-01"]))])
        assert len(graphs) == 0


def test_graphs_of_sentences_are_joined_and_missing_ones_built_from_terms():
    source = Source("Solve $x^2=2$. Nobody knows. Is $y$ prime?")
    first, second, _ = parser_sentences(source)
    assert first == "Solve FORMULA_0 ."
    parses = Parses(
        [
            Record("7.1", read_penman("(s / solve-01 :ARG1 (f / formula_0))"), first),
            Record("7.2", read_penman("(k / know-01 :polarity -)"), second),
        ]
    )
    builder = parses.builder()
    graph = builder.build(source)
    assert builder.failures["sentences"] == 1
    assert {"solve-01", "know-01", "prime-number"} < {*graph.labels}
    assert [part.id for part in graph.formulas] == ["0", "1"]
    assert {"U!eq", "V!y"} < {*graph.labels}
    assert graph.is_connected()


def test_a_graph_of_a_whole_post_gets_the_trees_of_its_formulas_once():
    source = Source("Solve $x^2=2$ and $y$.")
    bare = read_penman("(s / solve-01 :ARG1 (f / FORMULA_0))")
    whole = with_formulas(bare, source)
    assert whole.formula_map == {"FORMULA_0": "0", "FORMULA_1": "1"}
    assert whole.relations.count(":opt") == 2
    assert with_formulas(whole, source).relations.count(":opt") == 2
    assert whole.is_connected()


@given(st.text(alphabet=' ()/:"$\t\nMATHopVN01abc-', max_size=80))
def test_any_text_is_read_as_the_dialect_or_refused(text):
    try:
        graph = read_mathamr(text)
    except MathSetuError:
        return
    assert graph.is_connected()
    again = next(iter(records_in(lines(block_of(Record("1", graph))), "x")))
    assert sorted(again.graph.labels) == sorted(graph.labels)


def test_a_graph_without_formulas_is_written_and_read_unchanged():
    graph = Graph(["prove-01", "theorem"], [0], [":ARG1"], [1])
    graph.sentences.append(Part(0, [0, 1]))
    [record] = records_in(lines(block_of(Record("7", graph, "Prove  it."))), "x")
    assert (record.id, record.sentence) == ("7", "Prove it.")
    assert record.graph.labels == graph.labels
