"""``mathsetu graph``: comparing a query with a post, and what is said when it cannot be."""

import json

import pytest
from click.testing import CliRunner

from mathsetu.cli.graph import command
from mathsetu.library import build_library
from tests.encoders.tiny_graph import POSTS, make_graph_library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return make_graph_library(tmp_path_factory.mktemp("graphs"))


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)])


def test_compare_names_the_parts_that_meet_and_draws_them(library, tmp_path):
    found = run("compare", library, r"Why is it $\frac13$?", "1", "--svg", tmp_path / "map.svg")
    assert found.exit_code == 0, found.output
    assert r"$\frac13$ ~" in found.output
    assert found.output.splitlines()[-1].startswith("MaxSim 0.")
    assert (tmp_path / "map.svg").read_text(encoding="utf-8").startswith("<svg")


def test_compare_as_json_has_a_cosine_for_every_pair(library):
    found = json.loads(run("compare", library, "even numbers", "2", "--json").output)
    assert len(found["cosines"]) == len(found["query"])
    assert all(len(row) == len(found["post"]) for row in found["cosines"])


def test_a_post_that_is_not_there_and_a_library_without_graphs_are_named(library, tmp_path):
    assert "there is no post '9'" in str(run("compare", library, "even", "9").exception)
    build_library(tmp_path / "words", POSTS, "msm-bm25", processes=1)
    found = run("upload", tmp_path / "words", "http://127.0.0.1:9")
    assert "has no graph index" in str(found.exception)
