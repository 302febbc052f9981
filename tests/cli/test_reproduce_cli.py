"""``mathsetu reproduce``, from files to figures."""

import json
from pathlib import Path

import pytest

from mathsetu.collections.jsonl import write_posts, write_queries
from mathsetu.records import Query
from tests.command import Mathsetu
from tests.encoders.tiny_graph import POSTS, make_graph_model


@pytest.fixture
def files(mathsetu: Mathsetu, tmp_path: Path) -> list[str]:
    mathsetu("sampler", "export", tmp_path)
    return [str(tmp_path / name) for name in ("posts.jsonl", "queries.jsonl", "judgments.txt")]


def test_figures_come_as_json_and_the_library_is_used_again(
    mathsetu: Mathsetu, files: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "library"
    asked = ("msm-sum", *files, "--library", str(folder), "--json")
    first = mathsetu("reproduce", *asked)
    assert first.code == 0
    done = json.loads(first.out)
    assert done["recipe"] == "msm-sum"
    assert {figure["language"] for figure in done["figures"]} >= {"en", "hi", "cs"}
    manifest = (folder / "manifest.json").stat()
    assert mathsetu("reproduce", *asked) == first
    assert (folder / "manifest.json").stat().st_mtime_ns == manifest.st_mtime_ns


def test_a_table_says_what_differs(mathsetu: Mathsetu, files: list[str]) -> None:
    shown = mathsetu("reproduce", "msm-sum", *files, "--set", "parts.bm25.scheme.k1=2.5")
    assert shown.code == 0
    assert "parts.bm25.scheme.k1 is 2.5, not 1.5" in shown.out
    assert "the paper has no figures for them" in shown.out


def test_graphs_are_measured_as_the_thesis_does_with_answers_alone(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    model = make_graph_model(tmp_path / "model", [post.body for post in POSTS])
    write_posts(tmp_path / "posts.jsonl", POSTS)
    write_queries(tmp_path / "topics.jsonl", [Query("A.301", "Is $x^2-2$ even?", language="en")])
    (tmp_path / "qrels.txt").write_text("A.301 0 3 3\nA.301 0 1 0\n")
    files = [str(tmp_path / name) for name in ("posts.jsonl", "topics.jsonl", "qrels.txt")]
    settings = (f"parts.graph.model={model}", "parts.graph.fields=['body']")
    shown = mathsetu("reproduce", "mathamr-plus", *files, "--json",
                     *(word for one in settings for word in ("--set", one)))  # fmt: skip
    done = json.loads(shown.out)
    papers = {figure["measure"]: figure["paper"] for figure in done["figures"]}
    assert papers == {"nDCG'": 0.334, "MAP'": 0.108, "P'@10": 0.236, "bpref": 0.163}
    assert any("parts.graph.fields is ['body']" in line for line in done["differences"])


def test_wrong_input_is_one_line(mathsetu: Mathsetu, files: list[str]) -> None:
    posts, topics, qrels = files
    for arguments, message in (
        (("magic", posts, topics, qrels), "unknown recipe 'magic'"),
        (("mirmu", posts, topics, qrels), "models/mirmu-roberta-large: no such folder"),
        (("msm-sum", posts, posts, qrels), "holds posts"),
        (("msm-sum", topics, topics, qrels), "holds queries"),
        (("msm-sum", posts, topics, topics), "holds queries"),
        (("msm-sum", posts, topics, qrels, "--set", "ranking.k=x"), "must be a whole number"),
    ):
        assert message in mathsetu.refuses("reproduce", *arguments)
