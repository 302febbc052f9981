"""Instances of the formulas found: each id once, and the best of those that look the same."""

from pathlib import Path

import numpy as np
import pytest

from mathsetu.intake.posts import LazyPost
from mathsetu.intake.question import Question
from mathsetu.library import Library, build_library, formula_instances
from mathsetu.library.formula_instances import FormulaInstance, distinct_instances, found_instances
from mathsetu.records import Formula, Hit, Post, Query
from mathsetu.retrieval.base import FormulaMatch
from tests.light import LIGHT

POSTS = [
    Post("a", "first $x^2$ and again $x^2$"),
    Post("b", "removed $x^2$"),
    Post("c", "listed", formulas=(Formula("f1", "y"), Formula("f2", "x^2", post_id="d"))),
    Post("d", "$y$", title="$x^2$", question="$y$"),
]


class Found:
    """An index that has found x^2 in four posts, then y in two; and the posts."""

    def __init__(self) -> None:
        self.matches = [FormulaMatch(1, "x^2", "x^2", 0.9), FormulaMatch(2, "x^2", "y", 0.5)]

    def formulas_for(
        self, question: Question, k: int, allowed: object = None
    ) -> list[FormulaMatch]:
        return self.matches[:k]

    def posts_with(self, formula: int) -> np.ndarray:
        return np.array([0, 1, 2, 3] if formula == 1 else [2, 3])

    def not_removed(self, numbers: np.ndarray) -> np.ndarray:
        return numbers[numbers != 1]

    def lazy_posts(self, numbers: list[int]) -> dict[int, LazyPost]:
        return {number: LazyPost.of(POSTS[number]) for number in numbers}


def instances(**options: object) -> list[tuple[str, str, float]]:
    found = Found()
    question = Question(Query("1", "$x^2$"))
    given = {"every": True, "allowed": None, **options}
    every = found_instances(found, found, question, 9, **given)  # type: ignore[arg-type]
    return [(one.formula.id, one.formula.post_id, round(one.score, 3)) for one in every]


def test_every_instance_is_returned_once_with_its_post() -> None:
    assert instances() == [
        ("a:body:0", "a", 0.9), ("a:body:1", "a", 0.9), ("f2", "d", 0.9), ("d:title:0", "d", 0.9),
        ("f1", "c", 0.5), ("d:question:0", "d", 0.5), ("d:body:0", "d", 0.5),
    ]  # fmt: skip
    assert instances(every=False) == [("a:body:0", "a", 0.9), ("f1", "c", 0.5)]


def test_only_instances_in_allowed_posts_are_returned() -> None:
    allowed = np.array([False, True, True, False])
    assert instances(allowed=allowed) == [("f2", "d", 0.9), ("f1", "c", 0.5)]


def test_the_text_around_formulas_changes_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(numbers: np.ndarray) -> np.ndarray:
        return np.where(numbers == 3, 0.6, 0.0)

    assert instances(every=False, context=said) == [
        ("d:title:0", "d", 1.5),
        ("d:question:0", "d", 1.1),
    ]
    # The context of the other formulas is not scored, and they follow these.
    monkeypatch.setattr(formula_instances, "_CONTEXTS_SCORED", 1)
    assert instances(every=False, context=said) == [("d:title:0", "d", 1.5), ("f1", "c", 0.5)]


def test_a_match_may_name_its_instance() -> None:
    found = Found()
    found.matches = [FormulaMatch(1, "x^2", "anything", 0.9, "f2")]
    every = found_instances(found, found, Question(Query("1", "$x$")), 9, None, every=True)  # type: ignore[arg-type]
    assert [one.hit for one in every] == [Hit("f2", 0.9, "d")]


def test_formulas_that_differ_only_in_spacing_or_final_punctuation_are_one_match(
    tmp_path: Path,
) -> None:
    bodies = ("$x^2+y^2=z^2$", "Here $x^{2}+y^2=z^2.$", r"So $x^2 + y^2 = z^2\,,$", "$y^2+x^2$")
    posts = [Post(str(n), body, language="en") for n, body in enumerate(bodies)]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    with Library(tmp_path / "library") as library:
        first, second = library.formulas("a^2+b^2=c^2", k=2)
        assert set(library.posts_with(first, 5)) == {"0", "1", "2"}
        assert library.posts_with(first, 2) == ("0", "1")
        assert library.posts_with(second, 5) == ("3",)


def test_the_context_of_at_most_two_hundred_formulas_is_scored() -> None:
    found = Found()
    found.matches = [FormulaMatch(2, "x", "y", 0.5)] * 199 + [FormulaMatch(1, "x", "x^2", 0.4)]
    asked: list[int] = []

    def said(numbers: np.ndarray) -> np.ndarray:
        asked.append(len(numbers))
        return np.zeros(len(numbers))

    question = Question(Query("1", "$x$"))
    list(found_instances(found, found, question, 300, None, every=False, context=said))  # type: ignore[arg-type]
    assert len(asked) == 200
    found.matches += found.matches[:1]
    list(found_instances(found, found, question, 300, None, every=False, context=said))  # type: ignore[arg-type]
    assert len(asked) == 400


def test_only_the_best_of_formulas_that_look_the_same_is_returned() -> None:
    formulas = [
        Formula("1", "x^2", visual_id="v"), Formula("2", "y", visual_id="v"), Formula("3", "x^2"),
        Formula("4", "x^{2}"), Formula("5", "z"),
    ]  # fmt: skip
    found = [FormulaInstance(one, 1.0) for one in formulas]
    assert [one.formula.id for one in distinct_instances(found, 9)] == ["1", "3", "5"]
    seen: list[str] = []

    def watched() -> object:
        for one in found:
            seen.append(one.formula.id)
            yield one

    best = distinct_instances(watched(), 2)  # type: ignore[arg-type]
    assert [one.formula.id for one in best] == ["1", "3"]
    assert seen == ["1", "2", "3"]
    table = {"1": "w", "5": "w", "3": "u"}
    assert [one.formula.id for one in distinct_instances(found, 9, table)] == ["1", "2", "3", "4"]
    broken = [
        FormulaInstance(Formula(str(n), latex), 1.0) for n, latex in enumerate(("{x", "{ x", "{y"))
    ]
    assert [one.formula.id for one in distinct_instances(broken, 9)] == ["0", "2"]
