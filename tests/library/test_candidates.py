"""Candidates for a question from all parts of a recipe, and their scores after reordering."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mathsetu.deadline import Clock
from mathsetu.errors import InputError
from mathsetu.intake.question import Question
from mathsetu.library.candidates import RecipeReply, chosen_weights, weighted_sum
from mathsetu.records import Post, Query, Reason
from mathsetu.retrieval.base import Scored
from tests.light import LIGHT

QUESTION = Question(Query("1", "prime numbers $x^2$", language="en"))


class Part:
    """A part with fixed scores, whatever the question; it retrieves only the listed posts."""

    def __init__(self, said: dict[int, float], listed: Sequence[int] | None = None) -> None:
        self.said, self.listed = said, list(said if listed is None else listed)
        self.asked: list[list[int]] = []
        self.depths: list[int] = []

    def ask(self, questions: Sequence[Question]) -> list["Part"]:
        return [self] * len(questions)

    def best(self, k: int, allowed: object = None) -> Scored:
        self.depths.append(k)
        numbers = np.array(sorted(self.listed), dtype=np.int64)
        return Scored(numbers, np.array([self.said[n] for n in numbers.tolist()], dtype=np.float32))

    def scores(self, numbers: Any) -> Any:
        self.asked.append(numbers.tolist())
        return np.array([self.said.get(n, 0.0) for n in numbers.tolist()], dtype=np.float32)

    def reason(self, number: int, post: Post) -> Reason:
        return Reason("own", 9.0, f"post {number}")


def ranked(words: Part, formulas: Part, question: Question = QUESTION, **more: Any) -> RecipeReply:
    ranking = replace(LIGHT.ranking, normalise="none", adaptive=False, **more.pop("ranking", {}))
    recipe = replace(LIGHT, ranking=ranking)
    weights = more.pop("weights", {"words": 0.6, "formulas": 0.4})
    [reply] = weighted_sum(
        recipe,
        {"words": words, "formulas": formulas},  # type: ignore[dict-item]
        [question],
        7,
        allowed=None,
        weights=weights,
        clock=Clock(),
        **more,
    )
    return reply


def test_scores_of_all_parts_add_up() -> None:
    words, formulas = Part({1: 1.0, 2: 0.5}), Part({2: 1.0, 5: 0.5})
    reply = ranked(words, formulas)
    assert reply.numbers.tolist() == [2, 1, 5]
    assert reply.scores.tolist() == pytest.approx([0.7, 0.6, 0.2])
    assert words.depths == formulas.depths == [7]
    assert reply.added["words"].tolist() == pytest.approx([0.3, 0.6, 0.0])
    assert reply.said["formulas"].tolist() == pytest.approx([1.0, 0.0, 0.5])
    assert reply.silent == frozenset()


def test_only_the_chosen_parts_find_candidates_but_all_parts_score_them() -> None:
    words, formulas = Part({1: 1.0, 2: 0.5}), Part({2: 1.0, 5: 0.5})
    reply = ranked(words, formulas, ranking={"candidates_from": ("words",)})
    assert reply.numbers.tolist() == [2, 1]
    assert formulas.depths == []
    assert formulas.asked == [[1, 2]]
    assert words.asked == []


def test_a_requested_post_is_scored_although_no_part_retrieves_it() -> None:
    words, formulas = Part({1: 1.0, 9: 0.1}, [1]), Part({9: 0.2}, [])
    reply = ranked(words, formulas, also=9)
    assert reply.numbers.tolist() == [1, 9]
    assert words.asked == [[9]]
    assert reply.scores.tolist() == pytest.approx([0.6, 0.14])
    words = Part({1: 1.0})
    ranked(words, Part({}), also=1)
    assert words.asked == []


def test_only_the_top_posts_are_rescored() -> None:
    words = Part({1: 1.0, 2: 0.9, 3: 0.1})
    ranked(words, Part({}), ranking={"rescored": 2})
    assert words.asked == [[1, 2]]
    ranked(words, Part({}), ranking={"rescored": 0})
    assert words.asked == [[1, 2]]


def test_a_part_without_weight_is_not_asked() -> None:
    words, formulas = Part({1: 1.0}), Part({2: 1.0})
    reply = ranked(words, formulas, weights={"words": 1.0, "formulas": 0.0})
    assert reply.numbers.tolist() == [1]
    assert formulas.depths == formulas.asked == []


def test_other_parts_find_candidates_if_the_chosen_part_has_nothing_to_search_for() -> None:
    words, formulas = Part({1: 1.0}), Part({2: 1.0})
    only_words = Question(Query("1", "prime numbers", language="en"))
    reply = ranked(words, formulas, only_words, ranking={"candidates_from": ("formulas",)})
    assert reply.numbers.tolist() == [1]
    assert reply.silent == {"formulas"}
    assert words.depths == [7]


def test_a_letter_is_searched_for_as_a_name_only_if_no_other_part_finds_anything() -> None:
    letter = Question(Query("1", "$x$", language="en"))
    recipe = replace(LIGHT, parts={**LIGHT.parts, "trees": {"kind": "formula"}})

    def silent(formulas: Part) -> frozenset[str]:
        parts = {"words": Part({1: 1.0}), "formulas": formulas, "trees": Part({})}
        [reply] = weighted_sum(
            recipe,
            parts,  # type: ignore[arg-type]
            [letter],
            7,
            allowed=None,
            weights=dict.fromkeys(parts, 1.0),
            clock=Clock(),
        )
        return reply.silent

    assert silent(Part({})) == {"formulas", "trees"}
    assert silent(Part({2: 1.0})) == {"words"}


def reply() -> RecipeReply:
    return RecipeReply(
        QUESTION,
        np.array([7, 8, 9]),
        np.array([0.6, 0.5, 0.0]),
        {"words": np.array([0.6, 0.0, 0.0]), "formulas": np.array([0.0, 0.5, 0.0])},
        {"words": Part({}), "formulas": Part({})},  # type: ignore[dict-item]
        said={"words": np.array([1.0, 0.0, 0.0])},
        silent=frozenset({"x"}),
        remarks=(lambda place: Reason("rank", 0.0, str(place)) if place else None,),
    )


def test_only_parts_that_add_to_the_score_of_a_post_give_reasons() -> None:
    post = Post("a", "b")
    assert reply().shares(0) == (Reason("words", 0.6),)
    assert reply().shares(2) == ()
    assert reply().reasons(0, post) == (Reason("words", 0.6, "post 7"),)
    assert reply().reasons(1, post) == (
        Reason("formulas", 0.5, "post 8"),
        Reason("rank", 0.0, "1"),
    )


def test_reordered_posts_keep_their_scores_and_reasons() -> None:
    moved = reply().ordered([2, 0])
    assert (moved.numbers.tolist(), moved.scores.tolist()) == ([9, 7], [0.0, 0.6])
    assert moved.totals.tolist() == [0.0, 0.6]
    assert moved.added["words"].tolist() == [0.0, 0.6]
    assert moved.said["words"].tolist() == [0.0, 1.0]
    assert (moved.silent, moved.is_close) == ({"x"}, True)
    assert moved.reasons(0, Post("a", "b")) == (Reason("rank", 0.0, "2"),)
    shown = reply().ordered([1, 0], [5.0, 4.0], lambda place: Reason("new", 1.0, str(place)))
    assert shown.scores.tolist() == shown.totals.tolist() == [5.0, 4.0]
    assert shown.reasons(0, Post("a", "b"))[1:] == (
        Reason("rank", 0.0, "1"),
        Reason("new", 1.0, "0"),
    )


def test_appended_posts_have_no_scores() -> None:
    more = reply().with_posts([3, 4])
    assert more.numbers.tolist() == [7, 8, 9, 3, 4]
    assert more.scores.tolist() == more.totals.tolist() == [0.6, 0.5, 0.0, 0.0, 0.0]
    assert more.said["words"].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert more.shares(4) == ()


def test_an_added_share_reorders_the_top_posts() -> None:
    part = Part({})
    more = reply().with_share("exact", [0.0, 0.2], part)  # type: ignore[arg-type]
    assert more.numbers.tolist() == [8, 7, 9]
    assert more.scores.tolist() == pytest.approx([0.7, 0.6, 0.0])
    assert more.added["exact"].tolist() == [0.2, 0.0, 0.0]


def test_rescaled_scores_keep_the_proportions_of_the_shares() -> None:
    other = reply().rescored(np.array([0.3, 0.1, 0.2]), 0.3)
    assert other.scores.tolist() == [0.3, 0.1, 0.2]
    assert other.totals.tolist() == [0.6, 0.5, 0.0]
    assert other.added["words"].tolist() == pytest.approx([0.3, 0.0, 0.0])
    assert other.is_close
    assert not reply().rescored(np.array([0.3, 0.1, 0.2]), 0.31).is_close


def test_weights_default_to_the_recipe_and_given_weights_are_normalised() -> None:
    assert chosen_weights(LIGHT) == LIGHT.ranking.weights
    assert chosen_weights(LIGHT, {"formulas": 3.0, "words": 1.0}) == {
        "words": 0.25,
        "formulas": 0.75,
    }
    assert chosen_weights(LIGHT, {"words": 5}) == {"words": 1.0, "formulas": 0.0}
    for asked, problem in (
        ({"colour": 1.0}, "weights: 'colour' is not a part of the recipe light"),
        ({"words": -0.5}, "weights: words is -0.5; a weight cannot be less than 0"),
        ({"words": float("inf")}, "weights: words is inf; a weight cannot"),
        ({"words": 0.0}, "weights: at least one part must count"),
        ({"words": 1.7e308, "formulas": 1.7e308}, "weights: at least one part must count"),
    ):
        with pytest.raises(InputError, match=problem):
            chosen_weights(LIGHT, asked)
