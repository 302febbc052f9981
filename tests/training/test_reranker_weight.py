"""The weight of a reranker: from a small forum to a model in the default recipe."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from mathsetu.collections import jsonl
from mathsetu.errors import InputError
from mathsetu.library import Library, build_library
from mathsetu.ranking.rerank import Rerank
from mathsetu.records import Judgment, Post, Query
from mathsetu.training.reranker_weight import WEIGHTS, choose_weight
from tests.command import Mathsetu
from tests.light import LIGHT

SUBJECTS = "primes circles series matrices limits groups integrals triangles".split()
# A word that marks good answers in this forum; no part of a recipe uses it.
GOOD = "therefore"


def forum() -> tuple[list[Post], list[Query], list[Judgment]]:
    """Threads with a good and a poor answer each; the poor one repeats the question."""
    posts, queries, judgments = [], [], []
    for number, subject in enumerate(SUBJECTS):
        asked = f"What is known of {subject}?"
        good = f"About {subject}: {GOOD} it follows."
        poor = f"What is known of {subject}, what is known of {subject}?"
        for kind, body, votes in (("good", good, 60), ("poor", poor, 0)):
            posts.append(
                Post(f"{subject}-{kind}", body, title=asked, question=asked, language="en",
                     tags=(subject,), kind="answer", score=votes, thread_id=subject)
            )  # fmt: skip
        queries.append(Query(f"q{number}", f"known of {subject}", language="en"))
        judgments += [
            Judgment(f"q{number}", f"{subject}-good", 3),
            Judgment(f"q{number}", f"{subject}-poor", 0),
        ]
    return posts, queries, judgments


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("forum") / "library"
    build_library(folder, forum()[0], LIGHT, processes=1)
    return Library(folder)


class Knowing:
    """A model that has learned what a good answer is."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        subject = question.split()[-1]
        return [float(GOOD in text) + 2 * (subject in text) for text in texts]


class Guessing:
    """A model that has learned nothing."""

    def __init__(self) -> None:
        self._chance = random.Random(1)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [self._chance.random() for _ in texts]


SETTINGS = Rerank("none", depth=20, tiers=())


def test_a_useful_model_gets_a_weight_and_improves_held_out_topics(library: Library) -> None:
    _, queries, judgments = forum()
    found = choose_weight(library, queries, judgments, SETTINGS, Knowing())
    assert found.weight > 0
    assert found.topics == len(queries)
    assert set(found.gains) == set(WEIGHTS)
    assert found.gains[found.weight] == max(found.gains.values())
    assert found.aside > found.without == found.gains[0.0]


def test_a_useless_model_gets_no_weight(library: Library) -> None:
    _, queries, _ = forum()
    judgments = [
        Judgment(query.id, f"{subject}-poor", 3)
        for query, subject in zip(queries, SUBJECTS, strict=True)
    ]
    found = choose_weight(library, queries, judgments, SETTINGS, Guessing())
    assert found.weight == 0
    assert found.aside == found.without == 1


def test_a_weight_cannot_be_chosen_without_judged_topics(library: Library) -> None:
    with pytest.raises(InputError, match="no topic has a judgment"):
        choose_weight(
            library, [Query("z", "primes")], [Judgment("q0", "x", 1)], SETTINGS, Knowing()
        )


@pytest.mark.thorough
def test_a_model_trained_on_a_forum_is_used_in_the_default_recipe(
    tmp_path: Path, mathsetu: Mathsetu
) -> None:
    pytest.importorskip("sentence_transformers")
    from tests.encoders.tiny import make_cross_encoder

    posts, queries, judgments = forum()
    jsonl.write_posts(tmp_path / "posts.jsonl", posts)
    jsonl.write_queries(tmp_path / "topics.jsonl", queries)
    lines = [f"{one.query_id} 0 {one.id} {one.grade}" for one in judgments]
    (tmp_path / "qrels.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    start = make_cross_encoder(tmp_path / "start")
    named = ["posts.jsonl", "topics.jsonl", "qrels.txt"]
    mathsetu("train", "cross-encoder", *named, "made", "--model", str(start), "--epochs", "2",
             "--max-tokens", "48", "--batch", "4")  # fmt: skip
    mathsetu("index", "plain.library", "posts.jsonl")
    told = mathsetu("train", "weight", "plain.library", *named[1:], "made/model", "--max-tokens",
                    "48", "--depth", "20", "--json")  # fmt: skip
    weighed = json.loads(told.out)
    assert weighed["weight"] in WEIGHTS
    assert weighed["topics"] == len(queries)
    chosen = weighed["settings"] or [
        "rerank.model=made/model", "rerank.weight=0.1", "rerank.tiers=[]", "rerank.depth=20",
        "rerank.max_tokens=48",
    ]  # fmt: skip
    given = [part for line in chosen for part in ("--set", line)]
    mathsetu("index", "ranked.library", "posts.jsonl", *given)
    with Library("plain.library") as plain, Library("ranked.library") as ranked:
        assert ranked.recipe.rerank is not None
        before, after = (one.search("known of primes", 5) for one in (plain, ranked))
    # The scores by rank are unchanged; only the posts change places.
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before])
    for hit in after:
        assert "rerank" in {reason.part for reason in hit.reasons}
        assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)
