"""Tiered reranking: no candidate is lost or leaves its slice, and the time limit holds."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.ranking.rerank import TIERS, Rerank, Reranker
from mathsetu.ranking.rerank.tiers import in_tiers, score_in_time, slices

# Integers: differences that are too small for a float would cause ties.
logits = st.lists(st.integers(-999, 999).map(float), max_size=150)
bounds = st.lists(st.integers(1, 160), unique=True, max_size=9).map(sorted).map(tuple)


class Echo:
    """Returns each text as a number, and records the sizes of its batches."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.batches.append(len(texts))
        return [float(text) for text in texts]


@given(bounds, st.integers(0, 200))
def test_slices_cover_every_place_once_in_order(ends: tuple[int, ...], length: int) -> None:
    assert [place for one in slices(ends, length) for place in one] == list(range(length))


def test_the_bounds_of_the_paper_divide_125_candidates_into_eight_slices() -> None:
    assert [len(one) for one in slices(TIERS, 125)] == [3, 4, 5, 4, 4, 30, 50, 25]


@given(logits, st.lists(st.floats(-9, 9), max_size=20), bounds)
def test_every_candidate_stays_in_its_slice_and_slices_are_sorted(
    read: list[float], tail: list[float], ends: tuple[int, ...]
) -> None:
    old = [float(-place) for place in range(len(read))] + sorted(tail, reverse=True)
    found = in_tiers(read, old, ends)
    assert sorted(found.order) == list(range(len(old)))
    for places in slices(ends, len(read)):
        inside = found.order[places.start : places.stop]
        assert sorted(inside) == list(places)
        assert [read[place] for place in inside] == sorted(map(read.__getitem__, places))[::-1]


@given(
    st.lists(st.floats(-1e6, 1e6), max_size=99),
    st.lists(st.floats(-9, 9), max_size=20),
    bounds,
    st.floats(0.01, 1),
)
def test_scores_never_rise_and_their_integer_part_counts_the_slices_below(
    read: list[float], tail: list[float], ends: tuple[int, ...], weight: float
) -> None:
    old = [1.0 / (place + 1) for place in range(len(read))] + sorted(tail, reverse=True)
    scores = in_tiers(read, old, ends, weight).scores
    assert list(scores) == pytest.approx(sorted(scores, reverse=True), abs=1e-9)
    cut = slices(ends, len(read))
    for below, places in zip(range(len(cut), 0, -1), cut, strict=True):
        assert all(below <= scores[place] <= below + 1 + 1e-9 for place in places)
    assert all(0 <= score <= 1 for score in scores[len(read) :])


def test_weight_mixes_the_model_s_score_with_the_old_one() -> None:
    read, old = [0.0, 1.0, 0.8], [9.0, 5.0, 1.0]
    assert in_tiers(read, old, (), weight=1.0).order == (1, 2, 0)
    assert in_tiers(read, old, (), weight=0.5).order == (1, 0, 2)
    assert in_tiers(read, old, (), weight=0.1).order == (0, 1, 2)


@given(st.integers(0, 60), st.integers(0, 60), bounds)
def test_candidates_that_were_not_read_keep_their_old_order(
    reached: int, more: int, ends: tuple[int, ...]
) -> None:
    read = [float(place) for place in range(reached)]
    found = in_tiers(read, [-float(place) for place in range(reached + more)], ends)
    assert found.reached == reached
    assert found.order[reached:] == tuple(range(reached, reached + more))


def test_equal_scores_keep_their_order() -> None:
    assert in_tiers([1.0, 1.0, 1.0], [3.0, 2.0, 1.0], ()).order == (0, 1, 2)


def test_depth_limits_how_many_candidates_are_read() -> None:
    model = Echo()
    reranker = Reranker(Rerank("echo", depth=2, tiers=()), model)
    found = reranker.rerank("?", ["1", "2", "3"], [3.0, 2.0, 1.0])
    assert (found.order, found.reached, model.batches) == ((1, 0, 2), 2, [2])


def test_without_a_time_limit_all_candidates_are_read_at_once() -> None:
    model = Echo()
    Reranker(Rerank("echo", batch=2), model).rerank("?", ["1"] * 7, [0.0] * 7)
    assert model.batches == [7]


def test_a_batch_that_would_exceed_the_time_limit_is_not_started() -> None:
    now = 0.0

    def slow(texts: Sequence[str]) -> list[float]:
        nonlocal now
        now += 1.0
        return [float(text) for text in texts]

    read = score_in_time(slow, ["1", "2", "3", "4", "5", "6", "7"], 2, 3.5, lambda: now)
    assert (read, now) == ([1, 2, 3, 4, 5, 6], 3.0)


def test_the_first_batch_is_read_even_if_the_time_limit_is_too_short() -> None:
    found = Reranker(Rerank("echo", batch=2, seconds=1e-9, tiers=()), Echo()).rerank(
        "?", ["1", "2", "3", "4"], [4.0, 3.0, 2.0, 1.0]
    )
    assert (found.order, found.reached) == ((1, 0, 2, 3), 2)


def test_no_candidates_give_no_order_and_load_no_model() -> None:
    found = Reranker(Rerank("./no-such-folder")).rerank("?", [], [])
    assert (found.order, found.scores, found.reached) == ((), (), 0)


def test_a_model_that_gives_nan_is_refused() -> None:
    class Broken:
        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            return [math.nan for _ in texts]

    with pytest.raises(InputError, match="not numbers"):
        Reranker(Rerank("broken"), Broken()).rerank("?", ["a"], [1.0])


def test_each_text_needs_a_score() -> None:
    with pytest.raises(ValueError, match="2 texts and 1 scores"):
        Reranker(Rerank("echo"), Echo()).rerank("?", ["1", "2"], [1.0])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kind": "oracle"}, "unknown kind 'oracle'"),
        ({"depth": 0}, "depth is 0"),
        ({"batch": -1}, "batch is -1"),
        ({"max_tokens": 7}, "max_tokens is 7"),
        ({"seconds": -1.0}, "seconds is -1"),
        ({"seconds": math.nan}, "seconds is nan"),
        ({"seconds": math.inf}, "seconds is inf"),
        ({"weight": 0.0}, "weight is 0"),
        ({"weight": 1.1}, "weight is 1.1"),
        ({"text": "html"}, "text is 'html'"),
        ({"fields": ("title", "tags")}, "fields has 'tags'"),
        ({"tiers": (3, 3)}, "must increase"),
        ({"tiers": (0, 3)}, "must increase"),
    ],
)
def test_invalid_settings_are_refused_by_name(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Rerank("model", **wrong)  # type: ignore[arg-type]


def test_the_smallest_settings_are_allowed() -> None:
    smallest = Rerank("model", depth=1, batch=1, max_tokens=8, weight=0.01, tiers=(1,))
    assert (smallest.depth, smallest.batch, smallest.tiers) == (1, 1, (1,))


def test_texts_are_needed_only_for_candidates_within_the_depth() -> None:
    reranker = Reranker(Rerank("echo", depth=2, tiers=()), Echo())
    assert reranker.rerank("?", ["1", "2"], [3.0, 2.0, 1.0]).order == (1, 0, 2)
    with pytest.raises(ValueError, match="1 texts and 3 scores"):
        reranker.rerank("?", ["1"], [3.0, 2.0, 1.0])


def test_an_empty_ranking_has_no_slices() -> None:
    assert slices((3, 7), 0) == []


def test_a_recipe_that_names_only_a_model_gets_these_settings() -> None:
    assert Rerank("model") == Rerank(
        "model",
        kind="cross-encoder",
        depth=100,
        tiers=(3, 7, 12, 16, 20, 50, 100, 125),
        batch=32,
        max_tokens=512,
        seconds=0.0,
        weight=1.0,
        fields=("title", "question", "body"),
        text="marked",
    )
