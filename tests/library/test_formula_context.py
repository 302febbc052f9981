"""The words around a formula as a signal in the search for formulas."""

from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.library import Library, build_library
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Formula, Post, Query

RECIPE = """
name = "around"
description = "Formulas, and the words around them."
[parts.formulas]
kind = "formula"
[parts.words]
kind = "lexical"
[ranking]
weights = { formulas = 1.0, words = 0.0 }
"""
POSTS = [
    Post("circle", "A circle around the origin is $x^2+y^2=r^2$.", language="en"),
    Post("triangle", "In a right triangle it is $a^2+b^2=c^2$.", language="en"),
    Post("again", "One more circle: $a^2+b^2=c^2$.", language="en"),
    Post("sum", "The triangle numbers are $n(n+1)/2$.", language="en"),
]
SQUARES = Formula("q", "p^2+q^2=s^2")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    place = tmp_path_factory.mktemp("context") / "library"
    build_library(place, POSTS, parse_recipe(RECIPE, "tests"), processes=1)
    return Library(place)


def found(library: Library, text: str, *, every: bool = False) -> list[tuple[str, float]]:
    query = Query("B.1", text, formulas=(SQUARES,), language="en")
    instances = library.formula_instances(query, 10, every=every)
    return [(one.hit.post_id, one.score) for one in instances]


def around(library: Library) -> Library:
    return Library(library.folder, ["ranking.formula_context={words=0.05}"])


def test_without_formula_context_only_formulas_count(library: Library) -> None:
    wanted = found(library, "$p^2+q^2=s^2$")
    for words in ("circle", "right triangle"):
        assert found(library, f"{words}: $p^2+q^2=s^2$") == wanted


def test_the_words_around_similar_formulas_decide_their_order(library: Library) -> None:
    for words, post in (("circle around the origin", "circle"), ("right triangle", "triangle")):
        ranked = found(around(library), f"{words} $p^2+q^2=s^2$")
        assert ranked[0][0] == post
        scores = [score for _, score in ranked]
        assert scores == sorted(scores, reverse=True)


def test_of_identical_formulas_the_one_with_the_best_context_is_returned(
    library: Library,
) -> None:
    for words, post in (("one more circle", "again"), ("right triangle", "triangle")):
        asked = f"{words} $p^2+q^2=s^2$"
        [given] = {one for one, _ in found(around(library), asked)} & {"again", "triangle"}
        assert given == post
        assert {"again", "triangle"} < {one for one, _ in found(around(library), asked, every=True)}


def test_formula_context_does_not_change_a_query_without_words(library: Library) -> None:
    alone = "$p^2+q^2=s^2$"
    assert found(around(library), alone) == found(library, alone)


@pytest.mark.parametrize(
    ("setting", "problem"),
    [("{meaning=1}", "which is not a part"), ("{words=-1}", "none below 0")],
)
def test_invalid_weights_are_refused(library: Library, setting: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Library(Path(library.folder), [f"ranking.formula_context={setting}"])
