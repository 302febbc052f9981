"""Normalisations of scores: bounds, order, and candidates that were not found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.ranking.hybrid import NORMALISATIONS, minmax, ranks, shares

# Scores of the engine have single precision, so smaller differences do not exist.
SCORES = st.lists(st.floats(0, 1e6, width=32).map(lambda x: round(x, 3)), max_size=30).map(np.array)
NAMES = st.sampled_from(sorted(NORMALISATIONS))


@given(scores=SCORES, name=NAMES)
def test_the_order_is_kept_and_ties_stay_ties(scores: np.ndarray, name: str) -> None:
    scaled = NORMALISATIONS[name](scores)
    differences = np.sign(np.subtract.outer(scores, scores))
    assert np.array_equal(np.sign(np.subtract.outer(scaled, scaled)), differences)


@given(scores=SCORES, name=st.sampled_from(["minmax", "rank"]))
def test_the_best_candidate_gets_one_and_candidates_not_found_get_zero(
    scores: np.ndarray, name: str
) -> None:
    scaled = NORMALISATIONS[name](scores)
    assert np.array_equal(scaled == 0, scores == 0)
    assert len(scaled) == len(scores)
    if np.any(scores > 0):
        assert scaled.max() == 1


@given(scores=SCORES, factor=st.floats(0.01, 100))
def test_minmax_and_ranks_do_not_depend_on_the_scale(scores: np.ndarray, factor: float) -> None:
    np.testing.assert_allclose(minmax(scores * factor), minmax(scores))
    np.testing.assert_allclose(ranks(scores * factor), ranks(scores))


@given(scores=st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=20).map(np.array))
def test_minmax_of_negative_scores_lies_between_zero_and_one(scores: np.ndarray) -> None:
    scaled = minmax(scores)
    assert np.all((scaled >= 0) & (scaled <= 1))
    assert np.all(np.diff(scaled[np.argsort(scores, kind="stable")]) >= 0)


@pytest.mark.parametrize("name", sorted(NORMALISATIONS))
def test_no_candidates_give_no_scores(name: str) -> None:
    assert NORMALISATIONS[name](np.array([])).tolist() == []


def test_none_leaves_scores_unchanged() -> None:
    assert NORMALISATIONS["none"](np.array([0.25, -0.5])).tolist() == [0.25, -0.5]


@given(scores=SCORES, full=st.floats(0.001, 1e6))
def test_scores_below_the_full_score_count_in_proportion_to_it(
    scores: np.ndarray, full: float
) -> None:
    scaled = minmax(scores, full)
    if scores.max(initial=0) >= full:
        np.testing.assert_allclose(scaled, minmax(scores))
    else:
        np.testing.assert_allclose(scaled, scores / full)


def test_a_full_score_applies_only_to_minmax_and_to_its_own_part() -> None:
    scores = {"text": np.array([4.0, 2.0]), "math": np.array([0.1, 0.2])}
    weights = {"text": 0.5, "math": 0.5}
    parts = shares(scores, weights, "minmax", {"math": 0.4})
    assert parts["text"].tolist() == [0.5, 0.25]
    assert parts["math"].tolist() == [0.125, 0.25]
    assert shares(scores, weights, "none", {"math": 0.4})["math"].tolist() == [0.05, 0.1]
