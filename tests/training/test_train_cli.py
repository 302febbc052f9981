"""``mathsetu train`` as a user meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.collections.jsonl import write_posts, write_queries
from mathsetu.collections.trec import write_qrels
from mathsetu.library import build_library


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from mathsetu.cli import main; main()", "train", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_posts(tmp_path / "posts.jsonl", sampler.posts())
    write_queries(tmp_path / "topics.jsonl", sampler.queries())
    write_qrels(tmp_path / "qrels.txt", list(sampler.judgments())[:40])
    return tmp_path


def files(data: Path) -> list[str]:
    return [str(data / name) for name in ("posts.jsonl", "topics.jsonl", "qrels.txt")]


@pytest.mark.parametrize("kind", ["cross-encoder", "bi-encoder"])
def test_a_model_is_trained_and_said_where_it_is(data: Path, kind: str) -> None:
    pytest.importorskip("sentence_transformers")
    from tests.encoders.tiny import make_model

    base = str(make_model(data / "tiny"))
    build_library(data / "library", sampler.posts(), "default", processes=1)
    few = ["--epochs", "1", "--batch", "4", "--max-tokens", "16", "--validation", "0.5"]
    options = [*few, "--model", base, "--library", str(data / "library"), "--json"]
    shown = run(kind, *files(data), str(data / "out"), *options)
    assert shown.returncode == 0, shown.stderr
    told = json.loads(shown.stdout)
    assert told["kept"] == 1
    assert "validation_loss" in told["epochs"][0]
    assert "qrels.txt" in (data / "out" / "model" / "README.md").read_text(encoding="utf-8")


def test_judgments_in_the_place_of_topics_are_named(data: Path) -> None:
    posts, _, qrels = files(data)
    shown = run("cross-encoder", posts, qrels, qrels, str(data / "out"), "--model", "any")
    assert shown.returncode == 2
    assert "holds judgments, and training needs queries here" in shown.stderr


def test_judgments_of_other_posts_are_named(data: Path) -> None:
    (data / "qrels.txt").write_text("A.1 0 no-such-post 3\nA.2 0 no-such-post 3\n")
    shown = run("cross-encoder", *files(data), str(data / "out"), "--model", "any",
                "--validation", "0.5")  # fmt: skip
    assert shown.returncode == 2
    assert "judges no post" in shown.stderr
