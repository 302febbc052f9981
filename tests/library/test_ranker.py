"""Posts are ranked according to a recipe."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mathsetu.deadline import Clock
from mathsetu.library import ranker as module
from mathsetu.library.ranker import Ranker, Scope
from mathsetu.ranking.hybrid import Calibration
from mathsetu.records import Reason
from tests.library.stored import Posts, question, ranked
from tests.light import LIGHT


def ranker(posts: Posts) -> Ranker:
    return Ranker(LIGHT, {}, posts)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "looked_into"), [("prime", 50), ("all of the prime numbers", 20)])
def test_only_the_top_posts_are_examined_for_exact_matches(text: str, looked_into: int) -> None:
    posts = Posts({}, {looked_into - 1: text, looked_into: text})
    reply = ranked({number: 1.0 - number / 1000 for number in range(120)}, text)
    found = Ranker(replace(LIGHT, ranking=replace(LIGHT.ranking, exact=0.5)), {}, posts)._exact(
        reply
    )  # type: ignore[arg-type]
    assert posts.read == [list(range(looked_into))]
    assert found.numbers.tolist()[0] == looked_into - 1
    assert found.added["exact"].tolist()[0] == pytest.approx(2.0)
    nothing = ranked({1: 1.0}, "$x$")
    assert Ranker(LIGHT, {}, posts)._exact(nothing) is nothing  # type: ignore[arg-type]


def test_parts_retrieve_at_least_the_candidates_of_the_recipe() -> None:
    recipe = replace(LIGHT, ranking=replace(LIGHT.ranking, candidates=30))
    made = Ranker(recipe, {}, Posts({}))  # type: ignore[arg-type]
    assert (made.depth(5), made.depth(50)) == (30, 50)


def test_a_member_of_a_fusion_contributes_at_most_k_posts() -> None:
    reply = ranked({1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6})
    scope = Scope(2, None, Clock())
    assert module._first(reply, scope).numbers.tolist() == [1, 2]
    assert module._first(reply, replace(scope, also=4)).numbers.tolist() == [1, 2, 4]
    assert module._first(reply, replace(scope, also=1)).numbers.tolist() == [1, 2]
    assert module._first(reply, replace(scope, k=4)) is reply


def test_a_fused_post_names_its_ranks_and_its_shares_add_up() -> None:
    first, second = ranked({1: 0.9, 2: 0.8}), ranked({2: 0.5, 3: 0.0})
    second.added = {"formulas": second.scores}
    scores = np.array([0.4, 0.2, 0.1])
    both = module._fused_reply(
        question("prime"), {"words": first, "formulas": second}, [2, 1, 3], scores, "rrf"
    )
    assert both.numbers.tolist() == [2, 1, 3]
    assert both.added["words"] + both.added["formulas"] == pytest.approx([0.4, 0.2, 0.0])
    assert both.added["words"][0] == pytest.approx(0.4 * 0.8 / 1.3)
    assert [both.remarks[0](place) for place in range(3)] == [
        Reason("rrf", 0.0, "ranks: words 2, formulas 1"),
        Reason("rrf", 0.0, "ranks: words 1"),
        Reason("rrf", 0.1, "ranks: formulas 2"),
    ]


class Learned(Calibration):
    """A calibration that gives low scores if the levels of all parts are low."""

    threshold = 0.5

    def __init__(self) -> None:
        pass

    def scores(
        self, totals: Any, levels: Any, silent: frozenset[str], *, contains_query: bool = False
    ) -> Any:
        return totals * (2.0 if contains_query else 1.0) * min(1.0, 0.1 + sum(levels.values()))


@pytest.mark.parametrize(
    ("best", "known", "said", "scores"),
    [
        (0.9, True, False, [0.9]),
        (0.4, True, False, [0.2]),
        (0.4, True, True, [0.4]),
        (0.9, False, False, [0.09]),
    ],
)
def test_calibrated_scores_depend_on_unknown_words_and_complete_matches(
    monkeypatch: pytest.MonkeyPatch, best: float, known: bool, said: bool, scores: list[float]
) -> None:
    table = {"words": {"kind": "meaning"}}
    made = Ranker(replace(LIGHT, parts=table), {}, Posts({}))  # type: ignore[arg-type]
    monkeypatch.setattr(made, "_knows_words", lambda question: known)
    monkeypatch.setattr(made, "_contains_query", lambda ranked: said)
    assert made._chances(ranked({1: best}), Learned()) == pytest.approx(scores)


def test_an_exact_match_counts_as_containing_the_query() -> None:
    made = ranker(Posts({}))
    reply = ranked({1: 0.9})
    assert not made._contains_query(reply)
    reply.added = {"exact": np.array([0.0])}
    assert not made._contains_query(reply)
    reply.added = {"exact": np.array([0.1])}
    assert made._contains_query(reply)


def test_a_post_with_all_formulas_counts_as_containing_the_query(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reply = ranked({1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6})
    reply.said = {"formulas": np.ones(4)}
    for holding, expected in ((3, True), (4, False)):  # only the first three are examined
        formulas = SimpleNamespace(holds_all=lambda number, one=holding: number == one)
        monkeypatch.setattr(module, "_formulas", lambda _, own=formulas: {"formulas": own})
        assert ranker(Posts({}))._contains_query(reply) is expected
