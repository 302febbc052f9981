"""The hybrid score: λ·text + (1-λ)·math, ties to the leading part, weights by query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.ranking.hybrid import NORMALISATIONS, adapted, order, shares

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
def test_candidates_come_by_score_then_by_the_leading_part_then_by_number(
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


def test_with_all_weight_on_one_part_its_order_is_the_order() -> None:
    scores = {"text": np.array([3.0, 1.0, 2.0]), "math": np.array([0.0, 9.0, 1.0])}
    parts = shares(scores, {"text": 1.0, "math": 0.0}, "minmax")
    assert order(parts, np.arange(3)).tolist() == [0, 2, 1]


def test_no_candidates_have_an_order_too() -> None:
    assert order({"text": np.array([])}, np.array([], dtype=np.int64)).tolist() == []


@given(
    weights=st.dictionaries(st.sampled_from("abcd"), st.floats(0.01, 1), min_size=1),
    silent=st.frozensets(st.sampled_from("abcd")),
)
def test_silent_parts_leave_their_weight_to_the_others(
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


def test_weights_stay_when_every_part_is_silent() -> None:
    weights = {"words": 0.7, "formulas": 0.3}
    assert adapted(weights, frozenset({"words", "formulas"})) == weights
    assert adapted({"words": 1.0, "formulas": 0.0}, frozenset({"words"})) == {
        "words": 1.0,
        "formulas": 0.0,
    }
