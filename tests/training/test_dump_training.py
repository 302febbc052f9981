"""Training from the files of a dump: which pairs the commands use."""

import json
import lzma
from pathlib import Path

import pytest

from mathsetu.collections.formats import open_posts
from mathsetu.collections.threads import with_questions
from mathsetu.library import Library, build_library
from mathsetu.training.pairs import unlike_negatives
from mathsetu.training.similar import similar_posts
from tests.command import Mathsetu
from tests.dump import THREADS, Dump, make_dump
from tests.light import LIGHT, LIGHT_TOML

PAIRS = 5
FEW = ["--epochs", "1", "--batch", "4"]


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    return make_dump(tmp_path / "dump")


def card(folder: str) -> str:
    return (Path(folder) / "model" / "README.md").read_text(encoding="utf-8")


def test_negatives_are_answers_of_other_threads(dump: Dump, tmp_path: Path) -> None:
    posts = list(with_questions(open_posts(dump / "Posts.xml")))
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    known = {post.id: post for post in posts}
    similar = similar_posts(Library(tmp_path / "library"), known)
    asked = known[dump.posts["primes accepted"]]
    wrong = unlike_negatives(asked, similar(asked), count=3)
    others = {post.body for post in posts if post.kind == "answer" and post.tags != asked.tags}
    assert len(wrong) == 3
    assert {pair.text for pair in wrong} <= others
    assert wrong[0].question.startswith("What is known of prime numbers?")


@pytest.mark.parametrize("choice", ["votes", "accepted"])
@pytest.mark.parametrize("kind", ["cross-encoder", "bi-encoder"])
def test_an_encoder_learns_from_the_threads_of_a_dump(
    mathsetu: Mathsetu, dump: Dump, tmp_path: Path, kind: str, choice: str
) -> None:
    pytest.importorskip("sentence_transformers")
    from tests.encoders.tiny import make_model

    options = [*FEW, "--model", str(make_model(tmp_path / "tiny")), "--max-tokens", "16"]
    if kind == "cross-encoder":
        (tmp_path / "light.toml").write_text(LIGHT_TOML, encoding="utf-8")
        recipe = ("--recipe", str(tmp_path / "light.toml"), "--processes", "1")
        assert mathsetu("index", tmp_path / "library", dump / "Posts.xml", *recipe).code == 0
        options += ["--library", str(tmp_path / "library")]
    options += ["--accepted"] if choice == "accepted" else []
    files = [dump / name for name in ("Posts.xml", "topics-task1.xml", "qrels-task1.txt")]
    shown = mathsetu("train", kind, *files, dump / "out", *options, "--json")
    assert shown.code == 0, shown.err
    assert json.loads(shown.out)["kept"] == 1
    chosen = "that askers accepted" if choice == "accepted" else "with 50 votes or more"
    assert f"{len(THREADS)} answers {chosen}" in card(dump / "out")


@pytest.mark.parametrize("accepted", [False, True])
@pytest.mark.parametrize("beside", [False, True])
def test_a_graph_model_learns_from_the_threads_of_a_dump(
    mathsetu: Mathsetu, dump: Dump, tmp_path: Path, beside: bool, accepted: bool
) -> None:
    """From the threads alone, or together with the pairs of a folder."""
    pytest.importorskip("torch")
    small = ["--hidden", "8", "--layers", "1", "--bases", "2", "--processes", "1", *FEW]
    options = [*small, "--negatives", "1", *(["--accepted"] if accepted else [])]
    source, pairs = dump / "Posts.xml", len(THREADS) if accepted else 2 * len(THREADS)
    if beside:
        options += ["--threads", source]
        source, pairs = str(pairs_of(tmp_path / "data")), pairs + PAIRS
    shown = mathsetu("train", "graph", source, dump / "out", *options, "--json")
    assert shown.code == 0, shown.err
    assert 0 <= json.loads(shown.out)["reciprocal_rank"] <= 1
    # One pair in ten is held out.
    assert f"{pairs - max(1, round(pairs / 10))} pairs" in card(dump / "out")


def test_a_dump_without_accepted_answers_is_refused(mathsetu: Mathsetu, dump: Dump) -> None:
    pytest.importorskip("torch")
    posts = Path(dump / "Posts.xml")
    text = posts.read_text(encoding="utf-8").replace("AcceptedAnswerId", "Other")
    posts.write_text(text, encoding="utf-8")
    message = mathsetu.refuses("train", "graph", posts, dump / "out", "--accepted")
    assert "has no accepted answers with their questions to learn from" in message


def pairs_of(folder: Path) -> Path:
    """A folder with pairs in the form of training data."""
    folder.mkdir()
    with lzma.open(folder / "qa.jsonl.xz", "wt", encoding="utf-8") as file:
        for number in range(PAIRS):
            row = {
                "q": f"What is the value of {number} plus {number}?",
                "a": f"It is {2 * number}, as everybody can see who counts to {number} twice.",
                "src": "tests",
                "lang": "en",
                "kind": "qa",
            }
            file.write(json.dumps(row) + "\n")
    return folder
