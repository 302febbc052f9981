"""The hybrid score: weights, ties, normalisation, calibration, and the language of the user."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.ranking.hybrid import (
    NORMALISATIONS,
    Calibration,
    adapted,
    chance,
    evidence,
    order,
    order_by_language,
    preference,
    shares,
)

SCORE = st.integers(0, 20).map(float)
PAIRS = st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=30)
WEIGHTS = st.integers(0, 10).map(lambda tenths: {"text": tenths / 10, "math": 1 - tenths / 10})


def columns(pairs: list[tuple[float, float]]) -> dict[str, np.ndarray]:
    text, math = zip(*pairs, strict=True)
    return {"text": np.array(text), "math": np.array(math)}


@given(pairs=PAIRS, weights=WEIGHTS, name=st.sampled_from(sorted(NORMALISATIONS)))
def test_a_share_is_the_weight_times_the_normalised_score(
    pairs: list[tuple[float, float]], weights: dict[str, float], name: str
) -> None:
    scores = columns(pairs)
    parts = shares(scores, weights, name)
    for part, share in parts.items():
        np.testing.assert_allclose(share, weights[part] * NORMALISATIONS[name](scores[part]))


@given(pairs=PAIRS, weights=WEIGHTS)
def test_candidates_are_ordered_by_score_then_by_the_leading_part_then_by_number(
    pairs: list[tuple[float, float]], weights: dict[str, float]
) -> None:
    parts = shares(columns(pairs), weights, "minmax")
    numbers = np.arange(100, 100 + len(pairs))
    keys = [
        (-round(float(text + math), 9), -float(text), number)
        for text, math, number in zip(parts["text"], parts["math"], numbers.tolist(), strict=True)
    ]
    assert order(parts, numbers).tolist() == sorted(range(len(keys)), key=keys.__getitem__)


def test_a_tie_goes_to_the_higher_text_similarity() -> None:
    # 0.7 · 0.1 + 0.3 · 1 = 0.7 · 0.4 + 0.3 · 0.3 on paper, but not in floating point.
    scores = {"text": np.array([0.1, 0.4]), "math": np.array([1.0, 0.3])}
    parts = shares(scores, {"text": 0.7, "math": 0.3}, "none")
    assert (parts["text"] + parts["math"]).tolist() == pytest.approx([0.37, 0.37])
    assert order(parts, np.array([1, 2])).tolist() == [1, 0]


def test_a_part_with_all_the_weight_decides_the_order() -> None:
    scores = {"text": np.array([3.0, 1.0, 2.0]), "math": np.array([0.0, 9.0, 1.0])}
    parts = shares(scores, {"text": 1.0, "math": 0.0}, "minmax")
    assert order(parts, np.arange(3)).tolist() == [0, 2, 1]


def test_an_empty_list_of_candidates_has_an_empty_order() -> None:
    assert order({"text": np.array([])}, np.array([], dtype=np.int64)).tolist() == []


@given(
    weights=st.dictionaries(st.sampled_from("abcd"), st.floats(0.01, 1), min_size=1),
    silent=st.frozensets(st.sampled_from("abcd")),
)
def test_the_weights_of_silent_parts_are_shared_among_the_others(
    weights: dict[str, float], silent: frozenset[str]
) -> None:
    total = sum(weights.values())
    weights = {name: weight / total for name, weight in weights.items()}
    new = adapted(weights, silent)
    speaking = [name for name in weights if name not in silent]
    assert list(new) == list(weights)
    assert sum(new.values()) == pytest.approx(1)
    if not speaking:
        assert new == weights
        return
    assert all(new[name] == 0 for name in weights if name in silent)
    for name in speaking:
        assert new[name] / new[speaking[0]] == pytest.approx(weights[name] / weights[speaking[0]])


def test_weights_do_not_change_if_every_part_is_silent() -> None:
    weights = {"words": 0.7, "formulas": 0.3}
    assert adapted(weights, frozenset({"words", "formulas"})) == weights
    assert adapted({"words": 1.0, "formulas": 0.0}, frozenset({"words"})) == {
        "words": 1.0,
        "formulas": 0.0,
    }


@pytest.mark.parametrize(
    ("name", "scores", "expected"),
    [
        ("minmax", [0.0, 0.1, 0.4], [0.0, 0.25, 1.0]),
        ("minmax", [-2.0, 0.0, 2.0], [0.0, 0.5, 1.0]),
        ("minmax", [0.0, 0.0], [0.0, 0.0]),
        ("rank", [-1.0, 0.0, 3.0, 2.0, 2.0], [0.0, 0.0, 1.0, 0.5, 0.5]),
        ("rank", [0.0], [0.0]),
        ("none", [-1.0, 7.0], [-1.0, 7.0]),
    ],
)
def test_scores_are_normalised_to_one_scale(
    name: str, scores: list[float], expected: list[float]
) -> None:
    assert NORMALISATIONS[name](np.array(scores)).tolist() == expected


def test_a_full_score_applies_only_to_its_own_part_and_not_to_ranks() -> None:
    scores = {"text": np.array([1.0, 2.0]), "math": np.array([1.0, 2.0])}
    weights, full = {"text": 0.5, "math": 0.5}, {"math": 4.0}
    parts = shares(scores, weights, "minmax", full)
    assert {name: part.tolist() for name, part in parts.items()} == {
        "text": [0.25, 0.5],
        "math": [0.125, 0.25],
    }
    assert shares(scores, weights, "rank", full)["math"].tolist() == [0.25, 0.5]


CALIBRATION = Calibration(
    half={"words": 2.0, "meaning": 0.5},
    close={"bias": -1.0, "words": 4.0, "meaning": 2.0},
    silent={"words": 0.5, "meaning": -0.25},
    relevant={"bias": 0.5, "words": 1.0, "meaning": -2.0, "score": 3.0},
    threshold=0.1,
)


@pytest.mark.parametrize(
    ("levels", "silent", "contains_query", "expected"),
    [
        # Levels .5 and .75: σ(2.5) for close, then σ(-.5) and σ(-2) for relevant.
        ({"words": 2.0, "meaning": 1.5}, set(), False, [0.348901, 0.110160]),
        ({"words": 2.0, "meaning": 1.5}, set(), True, [0.348901, 0.110160]),
        # A silent part adds its own log-odds and no level: σ(1), then σ(-1) and σ(-2.5).
        ({"words": 2.0, "meaning": 1.5}, {"words"}, False, [0.196612, 0.055457]),
        # Levels of zero or less: σ(-1), then σ(.5) and σ(-1).
        ({}, set(), False, [0.167405, 0.072329]),
        ({"words": -1.0, "meaning": -9.0}, set(), False, [0.167405, 0.072329]),
        # A candidate has all words: the first probability is at least one half.
        ({}, set(), True, [0.311230, 0.134471]),
    ],
)
def test_a_calibrated_score_is_the_product_of_two_probabilities(
    levels: dict[str, float], silent: set[str], contains_query: bool, expected: list[float]
) -> None:
    found = CALIBRATION.scores(np.array([2.0, 1.0]), levels, silent, contains_query=contains_query)
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


def test_an_empty_calibration_gives_every_candidate_a_quarter() -> None:
    assert Calibration().scores(np.array([2.0, 1.0]), {}, set()).tolist() == [0.25, 0.25]
    # A silent part without a learned value adds nothing.
    assert Calibration().scores(np.array([2.0]), {}, {"words"}).tolist() == [0.25]
    assert Calibration(half={"words": 1.0}).scores(
        np.array([2.0]), {"words": 3.0}, set()
    ).tolist() == [0.25]


def test_candidates_without_a_score_have_the_largest_distance_from_the_best() -> None:
    only_score = Calibration(relevant={"score": 2.0})
    found = only_score.scores(np.zeros(2), {}, set())
    assert found.tolist() == pytest.approx([0.059601, 0.059601], abs=1e-6)
    assert CALIBRATION.scores(np.zeros(0), {}, set()).tolist() == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"half": {"words": float("inf")}}, "calibration.half must hold finite numbers"),
        ({"close": {"bias": float("nan")}}, "calibration.close must hold finite numbers"),
        (
            {"silent": {"words": 1.0}},
            "calibration.silent names 'words', which is not in calibration.half",
        ),
        ({"half": {"words": 1.0, "meaning": 0.0}}, "calibration.half must hold positive numbers"),
        ({"relevant": {"score": -0.1}}, "calibration.relevant.score cannot be negative"),
        ({"threshold": 1.0}, "calibration.threshold is 1; it must be from 0 to 1"),
        ({"threshold": -0.1}, "calibration.threshold is -0.1"),
    ],
)
def test_an_invalid_calibration_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Calibration(**settings)


def test_a_calibration_at_its_limits_is_allowed() -> None:
    Calibration(half={"words": 0.01}, relevant={"score": 0.0}, threshold=0.0)


@pytest.mark.parametrize(
    ("log_odds", "expected"), [(0.0, 0.5), (1.0, 0.731059), (-2.0, 0.119203), (1e9, 1.0)]
)
def test_log_odds_give_these_probabilities(log_odds: float, expected: float) -> None:
    assert chance(log_odds) == pytest.approx(expected, abs=1e-6)


def test_the_smallest_probability_is_e_to_the_minus_500() -> None:
    assert chance(-1e9) == pytest.approx(7.1245764e-218)


@pytest.mark.parametrize(
    ("totals", "versions", "expected"),
    [
        ([0.9], 1, 0.84),
        ([0.9], 0, 0.84),  # one version was found, so there is at least one
        ([0.9], 2, 0.72),
        ([0.8, 0.4], 2, 0.706667),
        ([0.9, 0.3, 0.6, 0.1], 4, 0.75),  # the best three
        ([0.3, 0.6, 0.9], 9, 0.75),
    ],
)
def test_the_score_of_versions_is_half_the_best_and_half_the_mean_of_the_best_three(
    totals: list[float], versions: int, expected: float
) -> None:
    assert evidence(totals, versions) == pytest.approx(expected, abs=1e-6)


TOTALS = [1.0, 0.9, 0.5, 0.1]


@pytest.mark.parametrize(
    ("totals", "own", "groups", "sizes", "strength", "expected"),
    [
        (TOTALS, {1}, [0, 1, 2, 3], {}, "off", [0, 1, 2, 3]),
        (TOTALS, {1}, [0, 1, 2, 3], {}, "weak", [0, 1, 2, 3]),
        (TOTALS, {1}, [0, 1, 2, 3], {}, "normal", [1, 0, 2, 3]),
        (TOTALS, {2}, [0, 1, 2, 3], {}, "normal", [0, 1, 2, 3]),
        (TOTALS, {2}, [0, 1, 2, 3], {}, "strong", [2, 0, 1, 3]),
        # One of two versions was found, which lowers the score; one of one does not.
        (TOTALS, {1}, [0, 1, 2, 3], {1: 1}, "normal", [1, 0, 2, 3]),
        (TOTALS, {1}, [0, 1, 2, 3], {1: 2}, "normal", [0, 1, 2, 3]),
        # The version in the user's language gets the joint score; the other one ranks by its own.
        ([1.0, 0.96, 0.5], {2}, [0, 1, 0], {}, "normal", [2, 1, 0]),
        ([1.0, 0.94, 0.5], {2}, [0, 1, 0], {}, "normal", [2, 0, 1]),
        # If both have the same score, the one in the user's language is first.
        ([1.0, 1.0], {1}, [0, 1], {}, "off", [1, 0]),
    ],
)
def test_posts_in_the_language_of_the_user_rank_first_if_their_scores_are_high_enough(
    totals: list[float],
    own: set[int],
    groups: list[int],
    sizes: dict[int, int],
    strength: str,
    expected: list[int],
) -> None:
    scores = np.array(totals)
    is_own = [place in own for place in range(len(totals))]
    assert (
        order_by_language(scores, scores, is_own, groups, sizes, preference(strength)) == expected
    )


def test_preferences_are_compared_on_the_scale_of_the_scores() -> None:
    # The totals are close to each other, but the scores are not: a fifth more is not enough.
    totals, scores = np.array([1.0, 0.9, 0.1]), np.array([0.8, 0.4, 0.0])
    assert order_by_language(scores, totals, [False, True, False], [0, 1, 2], {}, 0.2) == [0, 1, 2]


def test_scores_that_differ_in_the_tenth_digit_are_a_tie() -> None:
    parts = {"text": np.array([0.2, 0.3]), "math": np.array([0.3 + 3e-10, 0.2])}
    assert order(parts, np.array([1, 2])).tolist() == [1, 0]
    parts["math"][0] += 3e-9
    assert order(parts, np.array([1, 2])).tolist() == [0, 1]
