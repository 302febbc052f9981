"""Stages of a recipe before and after its parts: translation, fusion, systems, reranking."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.intake.question import Question
from mathsetu.library import Library, build_library
from mathsetu.library.candidates import RecipeReply
from mathsetu.own_models import register
from mathsetu.ranking.fusion import IBC, RRF, CombSUM, Fusion, fuse
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Post, Query, Reason

PLAIN = """
name = "plain"
description = "Words and formulas"
[parts.words]
kind = "lexical"
[parts.formulas]
kind = "formula"
[ranking]
weights = { words = 0.6, formulas = 0.4 }
"""
ENSEMBLE = """
name = "two"
description = "Two ways to weigh words, and formulas"
[parts.bm25]
kind = "lexical"
[parts.tfidf]
kind = "lexical"
scheme = { name = "ltn" }
[parts.formulas]
kind = "formula"
[systems.words]
weights = { bm25 = 0.5, tfidf = 0.5 }
normalise = "none"
[systems.both]
weights = { bm25 = 0.7, formulas = 0.3 }
[ranking]
fuse = { method = "rrf", k = 10 }
"""
HINDI = "समाकल $\\int_0^\\infty \\frac{\\sin x}{x}dx$ का मान"


@pytest.fixture(scope="module")
def queries() -> list[Query]:
    return list(sampler.queries())[::10]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries") / "plain"
    build_library(folder, list(sampler.posts())[::3], parse_recipe(PLAIN, "plain"), processes=1)
    return folder


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("libraries") / "ensemble"
    build_library(folder, list(sampler.posts())[::3], parse_recipe(ENSEMBLE, "two"), processes=1)
    return Library(folder)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("setting", "method"),
    [
        ("{method='rrf', k=60}", RRF(60)),
        ("{method='ibc', depth=500, seed=3}", IBC(500, 3)),
        ("{method='combsum', normalisation='minmax'}", CombSUM("minmax")),
    ],
)
def test_a_fusion_of_parts_equals_the_fusion_of_their_runs(
    plain: Path, queries: list[Query], setting: str, method: Fusion
) -> None:
    fused = Library(plain, [f"ranking.fuse={setting}", "ranking.weights={}"]).run(queries, 400)
    alone = [
        Library(plain, [f"ranking.weights={weights}", "ranking.adaptive=false"]).run(queries, 500)
        for weights in ("{words=1.0, formulas=0.0}", "{words=0.0, formulas=1.0}")
    ]
    expected = fuse(alone, method, 400)
    for query in queries:
        ours, theirs = fused.rankings[query.id], expected.rankings[query.id]
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs])
        # Also ties, which are broken or drawn by the ids of posts.
        assert [hit.id for hit in ours] == [hit.id for hit in theirs]


def test_a_fused_hit_names_its_ranks(plain: Path) -> None:
    library = Library(plain, ["ranking.fuse={method='rrf'}"])
    hit = library.search(HINDI, 1)[0]
    assert [reason.part for reason in hit.reasons] == ["words", "formulas", "rrf"]
    assert hit.reasons[-1].detail.startswith("ranks: words ")
    assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)
    assert library.explain(HINDI, hit.id) == hit


@pytest.mark.thorough
def test_a_reason_names_the_translation_of_a_query(plain: Path) -> None:
    library = Library(plain, ["query.translate=en"])
    hit = library.search(HINDI, 1)[0]
    assert hit.reasons[-1].part == "query"
    assert hit.reasons[-1].detail.startswith("translated from hi by glossary: integral")
    assert "\\int_0^\\infty \\frac{\\sin x}{x}dx" in hit.reasons[-1].detail
    english = library.search("the integral of $\\frac{\\sin x}{x}$", 1)[0]
    assert "query" not in {reason.part for reason in english.reasons}


@pytest.mark.thorough
def test_a_run_in_several_languages_answers_each_query_as_if_it_were_alone(plain: Path) -> None:
    library = Library(plain, ["query.translate=en"])
    mixed = [query for query in sampler.queries() if query.language in ("hi", "en", "cs")][:12]
    together = library.run(mixed, 5)
    for query in mixed:
        assert together.rankings[query.id] == library.run([query], 5).rankings[query.id]


@pytest.mark.thorough
def test_the_systems_of_an_ensemble_are_fused(ensemble: Library, queries: list[Query]) -> None:
    fused = ensemble.run(queries, 50)
    recipe = ensemble.recipe
    runs = [
        ensemble.with_recipe(recipe.member(name)).run(queries, 500, name=name)
        for name in recipe.systems
    ]
    expected = fuse(runs, RRF(10), 50)
    for query in queries:
        ours = [hit.score for hit in fused.rankings[query.id]]
        assert ours == pytest.approx([hit.score for hit in expected.rankings[query.id]])


@pytest.mark.thorough
def test_weights_select_systems_of_an_ensemble(ensemble: Library) -> None:
    chosen = ensemble.answer(HINDI, 10, weights={"words": 1.0}).hits
    alone = ensemble.with_recipe(ensemble.recipe.member("words")).search(HINDI, 10)
    assert [hit.id for hit in chosen] == [hit.id for hit in alone]
    with pytest.raises(InputError, match="'bm25' is not a part of the recipe two"):
        ensemble.answer(HINDI, 10, weights={"bm25": 1.0})


@pytest.mark.thorough
def test_a_regression_needs_its_coefficients(ensemble: Library) -> None:
    learned = "{words=[0.1, 0.5, 0.2], both=[0.1, 0.2, 0.2]}"
    needed = "ranking.fuse={method='rbc'}"
    with pytest.raises(InputError, match="rbc needs coefficients, which are learned"):
        Library(ensemble.folder, [needed]).search(HINDI, 3)
    given = f"ranking.fuse={{method='rbc', coefficients={learned}}}"
    assert len(Library(ensemble.folder, [given]).search(HINDI, 3)) == 3


def test_settings_of_a_library_are_checked_when_it_is_opened(plain: Path) -> None:
    with pytest.raises(InputError, match="unknown setting 'models'"):
        Library(plain, ["query.models=x"])


def test_an_ensemble_keeps_its_recipe_on_the_disk(ensemble: Library) -> None:
    assert Library(ensemble.folder).recipe == parse_recipe(ENSEMBLE, "two")


CANDIDATES = """
name = "candidates"
description = "Words find candidates, formulas only score them"
[parts.words]
kind = "lexical"
formula_tokens = 0
[parts.formulas]
kind = "formula"
[ranking]
weights = { words = 0.6, formulas = 0.4 }
candidates_from = ["words"]
"""
THREE_POSTS = [
    Post(id="circle", body="The area of a circle is $\\pi r^2$.", language="en"),
    Post(id="square", body="The area of a square is $a^2$.", language="en"),
    Post(id="primes", body="There are infinitely many primes.", language="en"),
]


def test_other_parts_find_candidates_if_the_chosen_part_has_nothing_to_search_for(
    tmp_path: Path,
) -> None:
    recipe = parse_recipe(CANDIDATES, "tests")
    build_library(tmp_path / "library", THREE_POSTS, recipe, processes=1)
    library = Library(tmp_path / "library")
    by_formula = library.search("$\\pi r^2$", 3)
    assert by_formula[0].id == "circle"
    assert by_formula[0].score == pytest.approx(1.0)
    # If the query has words, formulas find no candidates.
    assert {hit.id for hit in library.search("primes $\\pi r^2$", 3)} == {"primes"}
    # If no part has anything to search for, nothing is found and nothing fails.
    assert len(library.search("$$", 3)) == 0


class Longest:
    """A reranker that prefers long texts."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]


CALIBRATION = """
[ranking.calibration]
half = { words = 1.0, formulas = 1.0 }
close = { bias = 1.0 }
relevant = { score = 2.0 }
"""


@pytest.mark.parametrize("calibration", ["", CALIBRATION])
def test_a_reranker_reorders_the_top_hits_and_names_their_former_ranks(
    tmp_path: Path, calibration: str
) -> None:
    register("longest", reranker=Longest())
    bodies = ["Primes, primes.", "Primes, primes and integers.", "Primes, fields, rings, groups."]
    posts = [Post(str(place), body, language="en") for place, body in enumerate(bodies, 1)]
    recipe = parse_recipe(PLAIN + calibration, "plain")
    build_library(tmp_path / "l", posts, recipe, processes=1)
    library = Library(tmp_path / "l")
    before = library.search("primes", 3)
    assert [hit.id for hit in before] == ["1", "2", "3"]
    reranked = '[rerank]\nmodel = "object:longest"\ndepth = 2\ntiers = []\n'
    library = library.with_recipe(parse_recipe(PLAIN + calibration + reranked, "reranked"))
    hits = library.search("primes", 3)
    assert [hit.id for hit in hits] == ["2", "1", "3"]
    reasons = [reason for hit in hits for reason in hit.reasons if reason.part == "rerank"]
    assert [reason.detail for reason in reasons[:2]] == [
        "rank 2 before reranking with object:longest, 1 after",
        "rank 1 before reranking with object:longest, 2 after",
    ]
    scores = [hit.score for hit in hits]
    old = {hit.id: hit.score for hit in before}
    moved = [hit.score - old[hit.id] for hit in hits]
    assert [reason.score for reason in reasons] == pytest.approx(moved)
    if calibration:
        # Calibrated scores stay at their ranks.
        assert scores == [hit.score for hit in before]
    else:
        assert scores == [2.0, 1.0, 0.0]
    assert reasons[2].detail == "not read"


def test_reasons_stay_with_their_post_when_the_order_changes() -> None:
    def place_before(place: int) -> Reason:
        return Reason("rerank", 0.0, f"at place {place}")

    reply = RecipeReply(Question(Query("", "x")), np.arange(3), np.array([3.0, 2.0, 1.0]), {}, {})
    moved = reply.ordered([0, 1, 2], remark=place_before).ordered([2, 0, 1])
    assert [moved.reasons(place, Post("", ""))[0].detail for place in range(3)] == [
        "at place 2",
        "at place 0",
        "at place 1",
    ]
