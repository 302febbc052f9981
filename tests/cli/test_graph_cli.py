"""``mathsetu graph``: compares a query with a post, and builds, exports and imports graphs."""

import gzip
import json
import lzma
from pathlib import Path

import pytest
from click.testing import CliRunner

from mathsetu.cli.graph import command
from mathsetu.collections.jsonl import write_posts
from mathsetu.graphs.build import GraphBuilder
from mathsetu.graphs.imported import ImportedGraphs
from mathsetu.graphs.penman import read_penman, read_records, write_penman
from mathsetu.intake.posts import read_post
from mathsetu.library import Library, build_library
from mathsetu.library.graph_files import post_source
from mathsetu.recipes import load_recipe
from tests.encoders.tiny_graph import POSTS, make_graph_library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return make_graph_library(tmp_path_factory.mktemp("graphs"))


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)])


def test_compare_names_the_matching_parts_and_draws_them(library, tmp_path):
    found = run("compare", library, r"Why is it $\frac13$?", "1", "--write", tmp_path / "map.svg")
    assert found.exit_code == 0, found.output
    assert r"$\frac13$ ~" in found.output
    assert found.output.splitlines()[-1].startswith("MaxSim 0.")
    assert (tmp_path / "map.svg").read_text(encoding="utf-8").startswith("<svg")


def test_compare_as_json_has_a_cosine_for_every_pair(library):
    found = json.loads(run("compare", library, "even numbers", "2", "--json").output)
    assert len(found["cosines"]) == len(found["query"])
    assert all(len(row) == len(found["post"]) for row in found["cosines"])


def test_an_unknown_post_and_a_library_without_graphs_are_reported(library, tmp_path):
    assert "there is no post '9'" in str(run("compare", library, "even", "9").exception)
    build_library(tmp_path / "words", POSTS, "msm-bm25", processes=1)
    found = run("upload", tmp_path / "words", "http://127.0.0.1:9")
    assert "has no graph index" in str(found.exception)


@pytest.fixture
def posts(tmp_path):
    write_posts(tmp_path / "posts.jsonl", POSTS)
    return tmp_path / "posts.jsonl"


def penman_of(path):
    return {record.id: write_penman(record.graph) for record in read_records(path)}


def expected(fields=("title", "question", "body")):
    found = {}
    for post in POSTS:
        graph = GraphBuilder("terms").build(post_source(read_post(post), fields))
        # Reading numbers the nodes in the order in which they are written.
        found[post.id] = write_penman(read_penman(write_penman(graph)))
    return found


def test_build_writes_the_graphs_that_an_index_uses(posts, tmp_path):
    target = tmp_path / "graphs.penman"
    found = run("build", posts, target, "--sentences", "terms")
    assert (found.exit_code, found.output) == (0, f"{target}: 3 graphs\n")
    assert penman_of(target) == expected()
    run("build", posts, target, "--sentences", "terms", "--fields", "body")
    assert penman_of(target) == expected(["body"]) != expected()


def test_export_writes_the_graphs_of_a_library(library, tmp_path):
    found = run("export", library, tmp_path / "graphs.penman.gz", "--json")
    assert json.loads(found.output)["graphs"] == 3
    with gzip.open(tmp_path / "graphs.penman.gz", "rb") as packed:
        (tmp_path / "graphs.penman").write_bytes(packed.read())
    assert penman_of(tmp_path / "graphs.penman") == expected()


def test_graphs_of_a_parser_are_imported_joined_and_used_by_an_index(library, posts, tmp_path):
    sentences = tmp_path / "sentences.txt"
    assert "4 sentences" in run("build", posts, sentences, "--for-parser").output
    blocks = sentences.read_text(encoding="utf-8").split("\n\n")
    # The output of a parser that fails for every second sentence.
    parsed = [f"{block}\n(s / state-01 :ARG1 (f / formula_0))" for block in blocks[::2] if block]
    (tmp_path / "parsed.txt").write_text("\n\n".join(parsed), encoding="utf-8")
    target = tmp_path / "graphs.sqlite"
    found = run("import", tmp_path / "parsed.txt", target, "--posts", posts)
    assert found.exit_code == 0, found.exception
    assert f"{target}: 3 graphs" in found.output
    assert "sentences have the graph of their terms" in found.output
    with ImportedGraphs(target) as graphs:
        labels = {name: graphs.get(name).labels for name in graphs}
    assert all("state-01" in labels[name] for name in ("1", "2"))
    with Library(library) as opened:
        settings = [f"parts.graph.model={opened.recipe.parts['graph']['model']}",
                    f"parts.graph.graphs={target}"]  # fmt: skip
    recipe = load_recipe("mathamr-plus", settings)
    build_library(tmp_path / "imported", POSTS, recipe, processes=1)
    run("export", tmp_path / "imported", tmp_path / "again.penman")
    assert "state-01" in penman_of(tmp_path / "again.penman")["1"]
    with Library(tmp_path / "imported") as other, Library(library) as plain:
        assert {hit.id for hit in other.search("Why is it an integral?")} <= {"1", "2", "3"}
        own, theirs = (one.heat_map("even numbers", "1")[2] for one in (other, plain))
        assert own.tolist() != theirs.tolist()


def test_import_reports_bad_graphs_and_skips_them_with_skip_bad(tmp_path):
    (tmp_path / "bad.penman").write_text("# ::id 1\n(a / and\n\n# ::id 2\n(b / bound-01)\n")
    found = run("import", tmp_path / "bad.penman", tmp_path / "graphs.sqlite")
    assert "bad.penman line 1: no graph can be read" in str(found.exception)
    found = run("import", tmp_path / "bad.penman", tmp_path / "graphs.sqlite", "--skip-bad")
    assert "1 graph, 1 bad row or file skipped" in found.output
    assert "fields has 'tags'" in str(run("build", "x", "y", "--fields", "tags").exception)
    assert "holds runs" in str(run("build", run_file(tmp_path), "y").exception)


def run_file(folder):
    (folder / "some.run").write_text("A.1 Q0 7 1 2.5 own\n")
    return folder / "some.run"


@pytest.mark.shared
@pytest.mark.thorough
def test_public_amr_graphs_are_imported(shared_data: Path, tmp_path):
    if not (shared_data / "amr").is_dir():
        pytest.skip("the public AMR graphs are not beside the repository")
    target = tmp_path / "graphs.sqlite"
    counts = {}
    for path in sorted((shared_data / "amr").glob("amr-*")):
        found = json.loads(run("import", path, target, "--skip-bad", "--json").output)
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            wanted = sum(line.startswith("# ::id ") for line in lines)
        # Two of the files are cut off in the middle of their last graph.
        assert (found["graphs"] + found["skipped"], found["skipped"] <= 1) == (wanted, True)
        counts[path.name] = found["graphs"]
    assert counts["amr-bank-struct-v3.0.txt.xz"] == 1562
    with ImportedGraphs(target) as graphs:
        prince = graphs.get("lpp_1943.2")
        assert prince.labels[prince.root] == "see-01"
        assert len(graphs) > 3400


@pytest.mark.shared
@pytest.mark.thorough
def test_the_graphs_of_mathamr_are_imported_with_their_formulas(shared_data: Path, tmp_path):
    path = shared_data / "amr" / "mathamr-topics.tsv.xz"
    if not path.exists():
        pytest.skip("the graphs of MathAMR are not beside the repository")
    found = run("import", path, tmp_path / "graphs.sqlite", "--json")
    assert json.loads(found.output)["graphs"] == 185
    with lzma.open(path, "rt", encoding="utf-8") as file:
        trees = file.read().count(":math")
    with ImportedGraphs(tmp_path / "graphs.sqlite") as graphs:
        known = [graphs.get(name) for name in graphs]
        assert sum(len(graph.formulas) for graph in known) == trees
        assert "U!eq" in graphs.get("B.1").labels
        assert all(graph.is_connected() for graph in known)
