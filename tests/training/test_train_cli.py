"""``mathsetu train`` as a user runs it."""

import json
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.collections.jsonl import write_posts, write_queries
from mathsetu.collections.trec import write_qrels
from mathsetu.library import build_library
from tests.command import Mathsetu


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_posts(tmp_path / "posts.jsonl", sampler.posts())
    write_queries(tmp_path / "topics.jsonl", sampler.queries())
    write_qrels(tmp_path / "qrels.txt", list(sampler.judgments())[:40])
    return tmp_path


def files(data: Path) -> list[str]:
    return [str(data / name) for name in ("posts.jsonl", "topics.jsonl", "qrels.txt")]


@pytest.mark.parametrize("kind", ["cross-encoder", "bi-encoder"])
def test_a_model_is_trained_and_has_a_card(mathsetu: Mathsetu, data: Path, kind: str) -> None:
    pytest.importorskip("sentence_transformers")
    from tests.encoders.tiny import make_model

    base = str(make_model(data / "tiny"))
    build_library(data / "library", sampler.posts(), "default", processes=1)
    few = ["--epochs", "1", "--batch", "4", "--max-tokens", "16", "--validation", "0.5"]
    options = [*few, "--model", base, "--json"]
    if kind == "cross-encoder":
        options += ["--library", str(data / "library")]
    shown = mathsetu("train", kind, *files(data), str(data / "out"), *options)
    assert shown.code == 0, shown.err
    told = json.loads(shown.out)
    assert told["kept"] == 1
    assert "validation_loss" in told["epochs"][0]
    assert "qrels.txt" in (data / "out" / "model" / "README.md").read_text(encoding="utf-8")


def test_judgments_in_place_of_topics_are_refused(mathsetu: Mathsetu, data: Path) -> None:
    posts, _, qrels = files(data)
    shown = mathsetu(
        "train", "cross-encoder", posts, qrels, qrels, str(data / "out"), "--model", "any"
    )
    assert shown.code == 2
    assert "qrels.txt: holds judgments (TREC qrels, four columns), not queries" in shown.err


def test_judgments_of_other_posts_are_refused(mathsetu: Mathsetu, data: Path) -> None:
    (data / "qrels.txt").write_text("A.1 0 no-such-post 3\nA.2 0 no-such-post 3\n")
    shown = mathsetu("train", "cross-encoder", *files(data), str(data / "out"), "--model", "any",
                "--validation", "0.5")  # fmt: skip
    assert shown.code == 2
    assert "judges no post" in shown.err
