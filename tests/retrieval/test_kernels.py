"""The inner loops: the compiled ones and numpy give the same bits, and both check their input."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.retrieval import kernels
from mathsetu.retrieval.kernels import plain

try:
    COMPILED: ModuleType | None = import_module("mathsetu.retrieval.kernels._compiled")
except ImportError:
    COMPILED = None
WAYS = [plain] if COMPILED is None else [plain, COMPILED]
needs_compiled = pytest.mark.skipif(COMPILED is None, reason="the inner loops are not compiled")

seeds = st.integers(0, 2**32 - 1)
# Around the block sizes of the compiled loops.
counts = st.sampled_from([0, 1, 3, 50, 127, 128, 129, 16_384, 16_385, 40_000, 65_536, 65_537])
sizes = st.sampled_from([0, 1, 2, 10, 600, 10**6])


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__.rpartition(".")[2])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Each implementation in turn."""
    monkeypatch.setattr(kernels, "_loops", request.param)
    chosen: ModuleType = request.param
    return chosen


def run(way: ModuleType, call: Callable[[], Any]) -> Any:
    """Call with one implementation; return an error in place of a result."""
    before = kernels._loops
    kernels._loops = way
    try:
        return call()
    except (TypeError, ValueError) as error:
        return error
    finally:
        kernels._loops = before


def assert_same(call: Callable[[], Any]) -> Any:
    """Both implementations must give the same bits or the same error; return the result."""
    results = [run(way, call) for way in WAYS]
    first = results[0]
    for other in results[1:]:
        if isinstance(first, Exception):
            assert (type(first), str(first)) == (type(other), str(other))
            continue
        ours, theirs = (one if isinstance(one, tuple) else (one,) for one in (first, other))
        for mine, yours in zip(ours, theirs, strict=True):
            assert mine.dtype == yours.dtype
            assert mine.shape == yours.shape
            assert mine.tobytes() == yours.tobytes()
    return first


class Drawn:
    """Random lists of postings, made from a seed."""

    def __init__(self, seed: int, count: int, terms: int, values: type = np.uint8) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.count, self.terms = count, terms
        parts = [np.flatnonzero(rng.random(count) < rng.random() ** 3) for _ in range(terms)]
        self.documents = np.concatenate([np.zeros(0), *parts]).astype(np.int32)
        ends = np.cumsum([0, *map(len, parts)])
        self.ranges = np.stack([ends[:-1], ends[1:]], axis=1)
        # Few values, so that there are ties.
        self.values = rng.integers(0, 4, len(self.documents)).astype(values)
        self.weights = rng.integers(0, 4, terms).astype(np.float32) / np.float32(3)

    @property
    def allowed(self) -> Any:
        """Which documents may be found; None for all."""
        return self.rng.random(self.count) < 0.3 if self.rng.random() < 0.5 else None

    def some(self, most: int) -> Any:
        """Some documents, in order."""
        return np.unique(self.rng.integers(0, self.count, min(most, self.count)))

    def sums(self) -> list[np.float32]:
        """The sum over the terms of each document, computed one by one."""
        sums = [np.float32(0)] * self.count
        for (begin, end), weight in zip(self.ranges.tolist(), self.weights, strict=True):
            for document, value in zip(
                self.documents[begin:end].tolist(), self.values[begin:end], strict=True
            ):
                sums[document] = sums[document] + weight * np.float32(value)
        return sums


def best_of(scores: list[np.float32], k: int, allowed: Any) -> tuple[list[int], list[float]]:
    """The best documents, found by sorting all of them."""
    ranked = sorted(
        (-float(score), number)
        for number, score in enumerate(scores)
        if score > 0 and (allowed is None or allowed[number])
    )[:k]
    return [number for _, number in ranked], [-score for score, _ in ranked]


# ---- Words ------------------------------------------------------------------------------------


@given(seeds, counts, st.integers(0, 6), sizes, st.sampled_from([0.0, 1.0]))
def test_compiled_loops_and_numpy_find_the_same_best_documents(
    seed: int, count: int, terms: int, k: int, floor: float
) -> None:
    drawn = Drawn(seed, count, terms)
    allowed = drawn.allowed
    assert_same(
        lambda: kernels.best_by_impact(
            drawn.documents, drawn.values, drawn.ranges, drawn.weights, count, k, allowed, floor
        )
    )


@given(seeds, st.integers(0, 60), st.integers(0, 5), st.integers(0, 70))
def test_the_best_documents_have_the_highest_sums_and_ties_go_to_the_lower_number(
    seed: int, count: int, terms: int, k: int
) -> None:
    drawn = Drawn(seed, count, terms)
    allowed = drawn.allowed
    numbers, scores = assert_same(
        lambda: kernels.best_by_impact(
            drawn.documents, drawn.values, drawn.ranges, drawn.weights, count, k, allowed
        )
    )
    assert (numbers.tolist(), scores.tolist()) == best_of(drawn.sums(), k, allowed)


def test_equal_scores_across_blocks_keep_the_lowest_numbers(way: ModuleType) -> None:
    documents = np.arange(50_000, dtype=np.int32)
    impacts = np.ones(50_000, dtype=np.uint8)
    impacts[[40_000, 45_000]] = 2
    ranges, weights = np.array([[0, 50_000]]), np.ones(1, dtype=np.float32)
    numbers, scores = kernels.best_by_impact(documents, impacts, ranges, weights, 50_000, 5)
    assert numbers.tolist() == [40_000, 45_000, 0, 1, 2]
    assert scores.tolist() == [2, 2, 1, 1, 1]


@given(seeds, counts, st.integers(0, 5), st.sampled_from([np.uint8, np.float32]))
def test_gathered_values_are_those_of_the_postings(
    seed: int, count: int, terms: int, kind: type
) -> None:
    drawn = Drawn(seed, count, terms, kind)
    wanted = drawn.some(300) if count else np.zeros(0, dtype=np.int64)
    found = assert_same(lambda: kernels.gather(drawn.documents, drawn.values, drawn.ranges, wanted))
    assert found.dtype == kind
    for row, (begin, end) in zip(found.tolist(), drawn.ranges.tolist(), strict=True):
        own = dict(zip(drawn.documents[begin:end].tolist(), drawn.values[begin:end], strict=True))
        assert row == [own.get(number, 0) for number in wanted.tolist()]


# ---- Formulas ---------------------------------------------------------------------------------


def formula(seed: int, count: int, terms: int, kind: type) -> tuple[Drawn, tuple[Any, ...]]:
    drawn = Drawn(seed, count, terms, kind)
    wanted = drawn.rng.integers(1, 4, terms).astype(np.float32)
    # The mass of a formula is at least that of the query features in it.
    masses = drawn.rng.integers(0, 5, count).astype(np.float32)
    owners = np.repeat(np.arange(terms), np.diff(drawn.ranges)[:, 0])
    np.add.at(masses, drawn.documents, drawn.weights[owners] * drawn.values.astype(np.float32))
    mass = float(wanted @ drawn.weights) if terms else 0.0
    given_ = (drawn.documents, drawn.values, drawn.ranges, wanted, drawn.weights, masses, mass)
    return drawn, given_


@given(
    seeds,
    counts,
    st.integers(0, 12),
    sizes,
    st.sampled_from([np.uint8, np.float32]),
    st.sampled_from([0.0, 0.2, 0.6]),
    st.booleans(),
)
def test_compiled_loops_and_numpy_find_the_same_best_formulas(
    seed: int, count: int, terms: int, k: int, kind: type, floor: float, bounded: bool
) -> None:
    drawn, asked = formula(seed, count, terms, kind)
    allowed, bounds = drawn.allowed, kernels.mass_bounds(asked[5]) if bounded else None
    numbers, scores = assert_same(
        lambda: kernels.best_by_overlap(*asked, k, bounds, allowed, floor)
    )
    assert (scores > np.float32(floor)).all()
    order = np.argsort(numbers)
    alone = assert_same(lambda: kernels.overlaps_of(*asked, numbers[order]))
    assert alone.tobytes() == scores[order].tobytes()


@given(seeds, st.integers(0, 60), st.integers(0, 5), st.integers(0, 70))
def test_the_similarity_of_formulas_is_twice_the_shared_mass_over_both_masses(
    seed: int, count: int, terms: int, k: int
) -> None:
    drawn, asked = formula(seed, count, terms, np.uint8)
    _, _, ranges, wanted, rarities, masses, mass = asked
    shared = [np.float32(0)] * count
    for (begin, end), most, rarity in zip(ranges.tolist(), wanted, rarities, strict=True):
        for place in range(begin, end):
            number = int(drawn.documents[place])
            both = min(np.float32(drawn.values[place]), most)
            shared[number] = shared[number] + rarity * both
    least = np.float32(1e-9)
    scores = [
        np.float32(2) * own / max(heavy + np.float32(mass), least)
        for own, heavy in zip(shared, masses, strict=True)
    ]
    numbers, found = assert_same(lambda: kernels.best_by_overlap(*asked, k))
    assert (numbers.tolist(), found.tolist()) == best_of(scores, k, None)


def test_the_shortcut_for_common_features_does_not_change_the_best_formulas() -> None:
    """With many formulas and many features, as in a real search."""
    rng = np.random.default_rng(3)
    count, shares = 60_000, [0.001, 0.003, 0.01, 0.05, 0.2, 0.5, 0.8]
    lists = [np.flatnonzero(rng.random(count) < share) for share in shares]
    documents = np.concatenate(lists).astype(np.int32)
    ends = np.cumsum([0, *map(len, lists)])
    ranges, wanted = np.stack([ends[:-1], ends[1:]], axis=1), np.ones(len(shares), np.float32)
    rarities = np.log(1 / np.array(shares)).astype(np.float32)
    frequencies = rng.integers(1, 4, len(documents)).astype(np.uint8)
    masses = rng.random(count, dtype=np.float32)
    np.add.at(masses, documents, np.repeat(rarities, np.diff(ends)) * frequencies)
    asked = (documents, frequencies, ranges, wanted, rarities, masses, float(rarities.sum()))
    for k in (1, 10, 500):
        numbers, _ = assert_same(lambda k=k: kernels.best_by_overlap(*asked, k))
        assert len(numbers) == k


@pytest.mark.parametrize("heavy", [0.2, 1, 3])
@pytest.mark.parametrize("ties", [False, True])
def test_skipping_formulas_by_their_mass_does_not_change_the_best_formulas(
    heavy: float, ties: bool
) -> None:
    """With formulas in the order of their masses, which are read from the middle."""
    rng = np.random.default_rng(4)
    count, shares = 100_000, [0.002, 0.01, 0.05, 0.2, 0.5]
    inside = np.stack([rng.random(count) < share for share in shares])
    rarities = np.ones(5, np.float32) if ties else np.log(1 / np.array(shares)).astype(np.float32)
    others = rng.integers(0, 12, count) if ties else 20 * rng.random(count)
    masses = (rarities @ inside + others).astype(np.float32)
    order = np.argsort(masses, kind="stable")
    masses, inside = masses[order], inside[:, order]
    lists = [np.flatnonzero(row) for row in inside]
    documents, ends = np.concatenate(lists).astype(np.int32), np.cumsum([0, *map(len, lists)])
    ranges, ones = np.stack([ends[:-1], ends[1:]], axis=1), np.ones(5, np.float32)
    frequencies, mass = np.ones(len(documents), np.uint8), heavy * float(rarities.sum())
    asked = (documents, frequencies, ranges, ones, rarities, masses, mass)
    bounds = kernels.mass_bounds(masses)
    allowed = rng.random(count) < 0.5
    for k in (1, 40, 3_000):
        for may in (None, allowed):
            call = partial(kernels.best_by_overlap, *asked, k, allowed=may)
            numbers, scores = assert_same(lambda call=call: call(bounds=bounds))
            everything = call()
            assert len(numbers) == k
            assert numbers.tolist() == everything[0].tolist()
            assert scores.tobytes() == everything[1].tobytes()


@pytest.mark.parametrize("misleading", [False, True])
def test_reading_a_sample_first_does_not_change_the_best_formulas(
    misleading: bool,
) -> None:
    """There are enough formulas for a sample, which may have better ones than the rest."""
    rng = np.random.default_rng(6)
    block, count, shares = 16_384, 820_000, [0.002, 0.004, 0.02]
    inside = np.stack([rng.random(count) < share for share in shares])
    if misleading:
        inside[:2] &= np.arange(count) // block % 16 == 0
    lists = [np.flatnonzero(row) for row in inside]
    documents, ends = np.concatenate(lists).astype(np.int32), np.cumsum([0, *map(len, lists)])
    ranges, ones = np.stack([ends[:-1], ends[1:]], axis=1), np.ones(3, np.float32)
    rarities = np.log(1 / np.array(shares)).astype(np.float32)
    masses = np.sort(rng.random(count, dtype=np.float32)) + np.float32(rarities.sum())
    frequencies = np.ones(len(documents), np.uint8)
    asked = (documents, frequencies, ranges, ones, rarities, masses, float(rarities.sum()))
    bounds = kernels.mass_bounds(masses)
    for k in (1, 400, 6_000):
        numbers, _ = assert_same(lambda k=k: kernels.best_by_overlap(*asked, k, bounds))
        assert len(numbers) == k


def test_the_shortcut_for_common_words_does_not_change_the_best_documents() -> None:
    rng = np.random.default_rng(5)
    count, shares = 100_000, [0.0005, 0.002, 0.01, 0.1, 0.5, 0.9]
    lists = [np.flatnonzero(rng.random(count) < share) for share in shares]
    documents, ends = np.concatenate(lists).astype(np.int32), np.cumsum([0, *map(len, lists)])
    ranges = np.stack([ends[:-1], ends[1:]], axis=1)
    impacts = rng.integers(1, 256, len(documents)).astype(np.uint8)
    weights = np.log(1 / np.array(shares)).astype(np.float32)
    for k in (1, 30, 2_000):
        numbers, _ = assert_same(
            lambda k=k: kernels.best_by_impact(documents, impacts, ranges, weights, count, k)
        )
        assert len(numbers) == k


def test_a_formula_whose_mass_is_nan_or_infinite_is_not_found(way: ModuleType) -> None:
    documents, ranges = np.arange(4, dtype=np.int32), np.array([[0, 4]])
    values, one = np.ones(4, dtype=np.uint8), np.ones(1, dtype=np.float32)
    masses = np.array([np.nan, 1, np.inf, -1], dtype=np.float32)
    numbers, _ = kernels.best_by_overlap(documents, values, ranges, one, one, masses, 1, 9)
    assert numbers.tolist() == [3, 1]


def test_a_formula_whose_frequency_is_nan_or_infinite_is_not_found(way: ModuleType) -> None:
    documents, ranges = np.arange(3, dtype=np.int32), np.array([[0, 3]])
    values, one = np.array([np.nan, 1, -np.inf], np.float32), np.ones(1, dtype=np.float32)
    masses = np.ones(3, dtype=np.float32)
    numbers, _ = kernels.best_by_overlap(documents, values, ranges, one, one, masses, 1, 9)
    assert numbers.tolist() == [1]


@given(seeds, counts, st.integers(0, 12), st.integers(1, 4), sizes)
def test_a_post_gets_the_best_formula_of_each_group(
    seed: int, count: int, formulas: int, groups: int, k: int
) -> None:
    drawn = Drawn(seed, count, formulas)
    likenesses = drawn.rng.integers(0, 5, formulas).astype(np.float32) / np.float32(7)
    ends = np.sort(drawn.rng.integers(0, formulas + 1, groups + 1))
    ends[0], ends[-1] = 0, formulas
    weights = drawn.rng.random(groups, dtype=np.float32)
    allowed = drawn.allowed
    found = assert_same(
        lambda: kernels.best_posts(
            drawn.documents, drawn.ranges, likenesses, ends, weights, count, k, allowed
        )
    )
    if count > 200:
        return
    totals = [np.float32(0)] * count
    for first, last, weight in zip(ends[:-1], ends[1:], weights, strict=True):
        best = [np.float32(0)] * count
        for (begin, end), likeness in zip(
            drawn.ranges[first:last].tolist(), likenesses[first:last], strict=True
        ):
            for post in drawn.documents[begin:end].tolist():
                best[post] = max(best[post], likeness)
        totals = [total + weight * own for total, own in zip(totals, best, strict=True)]
    assert (found[0].tolist(), found[1].tolist()) == best_of(totals, k, allowed)


# ---- Vectors ----------------------------------------------------------------------------------


@pytest.mark.thorough
@given(
    seeds,
    st.sampled_from([0, 1, 50, 9000]),
    st.integers(0, 70),
    sizes,
    st.booleans(),
    st.sampled_from([None, 0, 1, 3, 5000]),
)
def test_the_nearest_rows_differ_in_the_fewest_sign_bits(
    seed: int, rows: int, words: int, k: int, some: bool, below: int | None
) -> None:
    rng = np.random.default_rng(seed)
    # Few bits, so that many rows are equally far.
    signs = rng.integers(0, 8, (rows, words), dtype=np.uint64) << np.uint64(58)
    query = rng.integers(0, 8, words, dtype=np.uint64) << np.uint64(58)
    ranges = np.sort(rng.integers(0, rows + 1, 6)).reshape(-1, 2) if some else None
    numbers, distances = assert_same(lambda: kernels.nearest_signs(signs, query, k, ranges, below))
    looked_at = np.arange(rows)
    if ranges is not None:
        looked_at = np.concatenate([np.arange(*pair) for pair in ranges.tolist()])
    bits = np.unpackbits((signs[looked_at] ^ query).view(np.uint8), axis=1).sum(axis=1, dtype=int)
    pairs = sorted(zip(bits.tolist(), looked_at.tolist(), strict=True))
    expected = [pair for pair in pairs if below is None or pair[0] < below][:k]
    assert sorted(zip(distances.tolist(), numbers.tolist(), strict=True)) == expected
    assert (np.diff(numbers) > 0).all()


def test_later_rows_that_are_nearer_replace_earlier_ones(way: ModuleType) -> None:
    signs = np.zeros((30_000, 2), dtype=np.uint64)
    signs[:, 0] = (np.uint64(1) << (np.arange(30_000)[::-1] // 500).astype(np.uint64)) - np.uint64(
        1
    )
    numbers, distances = kernels.nearest_signs(signs, np.zeros(2, dtype=np.uint64), 700)
    assert numbers.tolist() == [*range(29_000, 29_200), *range(29_500, 30_000)]
    assert distances.tolist() == [1] * 200 + [0] * 500


def test_bits_are_counted_by_older_numpy_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    words = np.array([[0, 2**64 - 1], [0b1011, 1 << 63], [0, 0]], dtype=np.uint64)
    assert plain._set_bits(words).tolist() == [64, 4, 0]


def test_every_bit_of_a_long_vector_counts(way: ModuleType) -> None:
    signs = np.full((1, 1000), 2**64 - 1, dtype=np.uint64)
    _, distances = kernels.nearest_signs(signs, np.zeros(1000, dtype=np.uint64), 1)
    assert distances.tolist() == [64_000]


@given(seeds, st.integers(1, 30), st.sampled_from([0, 1, 7, 16, 33, 384, 1024, 1025, 3000]))
def test_int8_products_equal_those_of_the_vectors_up_to_rounding(
    seed: int, rows: int, dimensions: int
) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-128, 128, (rows, dimensions), dtype=np.int8)
    scales = rng.random(rows, dtype=np.float32)
    query = rng.normal(size=dimensions).astype(np.float32)
    wanted = rng.integers(0, rows, 20)
    found = assert_same(lambda: kernels.int8_dots(vectors, scales, wanted, query))
    exact = (vectors.astype(np.float64) @ query.astype(np.float64)) * scales
    steps = np.abs(vectors.astype(int)).sum(axis=1) * scales * np.abs(query).max(initial=0) / 32512
    assert (np.abs(found - exact[wanted]) <= steps[wanted] * 1.001 + 1e-6).all()


def test_the_largest_products_do_not_overflow(way: ModuleType) -> None:
    rows = np.full((1, 5000), -128, dtype=np.int8)
    query = np.full(5000, -1, dtype=np.float32)
    found = kernels.int8_dots(rows, np.ones(1, dtype=np.float32), np.zeros(1, np.int64), query)
    assert found.tolist() == [640_000.0]


def test_a_query_of_zeros_has_products_of_zero(way: ModuleType) -> None:
    rows, scales = np.ones((2, 3), dtype=np.int8), np.ones(2, dtype=np.float32)
    found = kernels.int8_dots(rows, scales, np.arange(2), np.zeros(3, dtype=np.float32))
    assert found.tolist() == [0, 0]


@given(seeds, st.integers(0, 20), st.integers(1, 200))
def test_signs_are_packed_so_that_distances_count_differing_signs(
    seed: int, rows: int, dimensions: int
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(rows + 1, dimensions))
    signs = kernels.sign_bits(vectors)
    assert signs.shape == (rows + 1, -(-dimensions // 64))
    _, distances = assert_same(lambda: kernels.nearest_signs(signs, signs[0], rows + 1))
    assert distances.tolist() == ((vectors > 0) != (vectors[0] > 0)).sum(axis=1).tolist()


# ---- Invalid input ----------------------------------------------------------------------------


@given(
    st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 40_000), max_size=40),
    st.sampled_from([0, 1, 100, 40_000]),
)
def test_documents_out_of_order_or_out_of_range_are_refused(numbers: list[int], count: int) -> None:
    documents = np.array(numbers, dtype=np.int32)
    values, ranges = np.ones(len(numbers), dtype=np.uint8), np.array([[0, len(numbers)]])
    one = np.ones(1, dtype=np.float32)
    masses, groups = np.ones(count, dtype=np.float32), np.array([0, 1])
    good = sorted({number for number in numbers if 0 <= number < count}) == numbers
    for call in (
        lambda: kernels.best_by_impact(documents, values, ranges, one, count, 5),
        lambda: kernels.best_by_overlap(documents, values, ranges, one, one, masses, 1, 5),
        lambda: kernels.best_posts(documents, ranges, one, groups, one, count, 5),
    ):
        found = assert_same(call)
        assert isinstance(found, ValueError) != good
    # A binary search in such a list may miss documents, but does no harm.
    wanted = np.unique(np.abs(documents.astype(np.int64))) % max(count, 1)
    wanted = np.unique(wanted[:count])
    for way in WAYS:
        run(way, lambda: kernels.gather(documents, values, ranges, wanted))
        run(
            way,
            lambda: kernels.overlaps_of(documents, values, ranges, one, one, masses, 1, wanted),
        )


@given(seeds, st.integers(0, 400), st.sampled_from(["first", "last", "swap", "twice"]))
def test_one_invalid_document_among_many_is_refused(seed: int, at: int, what: str) -> None:
    count = 40_000
    rng = np.random.default_rng(seed)
    documents = np.sort(rng.choice(count, 5000, replace=False)).astype(np.int32)
    place = at * 12
    if what == "first":
        documents[place] = -1
    elif what == "last":
        documents[place] = count
    elif what == "swap":
        documents[[place, place + 1]] = documents[[place + 1, place]]
    else:
        documents[place] = documents[place + 1]
    values, one = np.ones(5000, dtype=np.uint8), np.ones(1, dtype=np.float32)
    found = assert_same(
        lambda: kernels.best_by_impact(documents, values, np.array([[0, 5000]]), one, count, 9)
    )
    assert isinstance(found, ValueError)


GOOD: dict[str, Any] = {
    "documents": np.array([0, 1, 2], dtype=np.int32),
    "impacts": np.ones(3, dtype=np.uint8),
    "ranges": np.array([[0, 3]]),
    "weights": np.ones(1, dtype=np.float32),
    "count": 3,
    "k": 2,
    "allowed": np.ones(3, dtype=np.bool_),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("documents", np.array([0, 1, 2])),
        ("documents", np.array([0, 1, 2], dtype=">i4")),
        ("documents", np.zeros((3, 1), dtype=np.int32)),
        ("documents", np.zeros(6, dtype=np.int32)[::2]),
        ("documents", [0, 1, 2]),
        ("documents", None),
        ("impacts", np.ones(3, dtype=np.int8)),
        ("impacts", np.ones(2, dtype=np.uint8)),
        ("ranges", np.array([[0, 4]])),
        ("ranges", np.array([[-1, 3]])),
        ("ranges", np.array([[2, 1]])),
        ("ranges", np.array([[-(2**63), 2**63 - 1]])),
        ("ranges", np.array([[0, 3, 3]])),
        ("ranges", np.array([0, 3])),
        ("ranges", np.array([[0, 3], [0, 3]])),
        ("ranges", np.array([[0.0, 3.0]])),
        ("weights", np.ones(1)),
        ("weights", np.ones(2, dtype=np.float32)),
        ("weights", np.full(1, np.nan, dtype=np.float32)),
        ("weights", np.full(1, np.inf, dtype=np.float32)),
        ("count", -1),
        ("count", 2),
        ("count", 2**31),
        ("k", -1),
        ("allowed", np.ones(2, dtype=np.bool_)),
        ("allowed", np.ones(3, dtype=np.uint8)),
    ],
)
def test_invalid_arguments_are_refused(way: ModuleType, name: str, value: Any) -> None:
    kernels.best_by_impact(**GOOD)
    with pytest.raises((TypeError, ValueError)):
        kernels.best_by_impact(**{**GOOD, name: value})


def unaligned(kind: str, size: int) -> Any:
    """An array that begins at an odd address, as in a forged file."""
    return np.zeros(size * 8 + 1, dtype=np.uint8)[1 : 1 + size * np.dtype(kind).itemsize].view(kind)


def test_unaligned_arrays_are_refused(way: ModuleType) -> None:
    with pytest.raises(TypeError, match="aligned"):
        kernels.best_by_impact(**{**GOOD, "documents": unaligned("i4", 3)})


def test_other_invalid_arguments_are_refused(way: ModuleType) -> None:
    documents, ranges = GOOD["documents"], GOOD["ranges"]
    values, one = GOOD["impacts"], GOOD["weights"]
    masses = np.ones(3, dtype=np.float32)
    with pytest.raises(ValueError, match="wanted"):
        kernels.gather(documents, values, ranges, np.array([2, 1]))
    with pytest.raises(ValueError, match="wanted"):
        kernels.overlaps_of(documents, values, ranges, one, one, masses, 1, np.array([3]))
    with pytest.raises(ValueError, match="mass"):
        kernels.best_by_overlap(documents, values, ranges, one, one, masses, float("nan"), 1)
    with pytest.raises(ValueError, match="mass"):
        kernels.best_by_overlap(documents, values, ranges, one, one, masses, 1e300, 1)
    for wanted in ([0, 1, 3], [0, 2, 1], [1, 1], [-1, 0]):
        with pytest.raises(ValueError, match="wanted"):
            kernels.overlaps_of(documents, values, ranges, one, one, masses, 1, np.array(wanted))
    for groups in ([0, 2], [1, 1], [0, -1, 1], [0], [0, 1, 2], [0, 2, 1]):
        weights = np.ones(max(len(groups) - 1, 1), dtype=np.float32)
        with pytest.raises(ValueError, match="groups"):
            kernels.best_posts(documents, ranges, one, np.array(groups), weights, 3, 1)
    signs = np.zeros((3, 2), dtype=np.uint64)
    for wrong in ([[0, 2], [1, 3]], [[1, 2], [0, 1]], [[0, 4]], [[0, 1], [1, 3], [2, 3]]):
        with pytest.raises(ValueError, match="ranges"):
            kernels.nearest_signs(signs, signs[0], 1, np.array(wrong))
    with pytest.raises(ValueError, match="query"):
        kernels.nearest_signs(signs, np.zeros(1, dtype=np.uint64), 1)
    rows, query = np.zeros((3, 4), dtype=np.int8), np.zeros(4, dtype=np.float32)
    for wanted in ([3], [-1]):
        with pytest.raises(ValueError, match="wanted"):
            kernels.int8_dots(rows, masses, np.array(wanted), query)
    with pytest.raises(TypeError, match="rows"):
        kernels.int8_dots(rows.astype(np.int16), masses, np.array([0]), query)
    with pytest.raises(ValueError, match="scales"):
        kernels.int8_dots(rows, one, np.array([0]), query)
    with pytest.raises(ValueError, match="query"):
        kernels.int8_dots(rows, masses, np.array([0]), query + np.float32(np.nan))
    for row in (1, -2):
        with pytest.raises(ValueError, match="rows"):
            kernels.ranges_of(np.array([0, 2]), np.array([row]))


def good_calls() -> dict[str, dict[str, Any]]:
    """Valid arguments of each function, by their names."""
    lists = {"documents": GOOD["documents"], "ranges": GOOD["ranges"]}
    one, three, masses = GOOD["weights"], GOOD["impacts"], np.ones(3, dtype=np.float32)
    features = {**lists, "frequencies": three, "counts": one, "rarities": one, "masses": masses}
    rows, wanted, signs = np.ones((3, 4), dtype=np.int8), np.array([0, 2]), np.array([[1], [2]])
    return {
        "best_by_impact": GOOD,
        "gather": {**lists, "values": three, "wanted": wanted},
        "best_by_overlap": {
            **features, "mass": 1.0, "k": 2, "bounds": np.ones((1, 2), dtype=np.float32),
            "allowed": GOOD["allowed"],
        },
        "overlaps_of": {**features, "mass": 1.0, "wanted": wanted},
        "best_posts": {
            "posts": GOOD["documents"], "ranges": GOOD["ranges"], "likenesses": one,
            "groups": np.array([0, 1]), "weights": one, "count": 3, "k": 2,
        },
        "mass_bounds": {"masses": masses},
        "nearest_signs": {
            "signs": signs.astype(np.uint64), "query": np.ones(1, dtype=np.uint64), "k": 1,
            "ranges": np.array([[0, 2]]),
        },
        "int8_dots": {
            "rows": rows, "scales": masses, "wanted": wanted, "query": np.ones(4, dtype=np.float32),
        },
    }  # fmt: skip


@pytest.mark.parametrize("function", good_calls())
def test_every_array_of_the_wrong_type_is_refused_by_its_name(
    way: ModuleType, function: str
) -> None:
    given_ = good_calls()[function]
    getattr(kernels, function)(**given_)
    arrays = [name for name, value in given_.items() if isinstance(value, np.ndarray)]
    assert arrays
    for name in arrays:
        said = "documents" if name == "posts" else name
        with pytest.raises(TypeError, match=f"^{said}: .* needed, not float16"):
            getattr(kernels, function)(**{**given_, name: given_[name].astype(np.float16)})


def test_arrays_that_are_not_contiguous_are_refused(way: ModuleType) -> None:
    between = np.arange(6, dtype=np.int32)[::2]
    with pytest.raises(TypeError, match="one after the other"):
        kernels.best_by_impact(**{**GOOD, "documents": between, "count": 5, "allowed": None})


def test_a_formula_with_the_largest_mass_in_32_bits_can_be_searched_for(way: ModuleType) -> None:
    given_ = {**good_calls()["best_by_overlap"], "mass": float(np.finfo(np.float32).max)}
    numbers, _ = kernels.best_by_overlap(**given_)
    assert numbers.tolist() == [0, 1]


def test_light_formulas_get_the_same_similarity_as_heavy_ones(way: ModuleType) -> None:
    quarter = np.full(1, 0.25, dtype=np.float32)
    given_ = {**good_calls()["best_by_overlap"], "rarities": quarter, "mass": 0.25}
    _, scores = kernels.best_by_overlap(**{**given_, "masses": np.full(3, 0.25, np.float32)})
    assert scores.tolist() == [1, 1]


def test_rows_that_differ_in_exactly_the_limit_of_bits_are_left_out(way: ModuleType) -> None:
    signs = np.array([[0b111], [0b001], [0b011]], dtype=np.uint64)
    query = np.array([0b111], dtype=np.uint64)
    numbers, _ = kernels.nearest_signs(signs, query, 3, below=2)
    assert numbers.tolist() == [0, 2]


def test_mass_bounds_are_those_of_blocks_of_16_384_formulas() -> None:
    """The compiled loops rely on this size."""
    bounds = kernels.mass_bounds(np.arange(16_385, dtype=np.float32))
    assert bounds.tolist() == [[0, 16_383], [16_384, 16_384]]
    assert kernels.mass_bounds(np.zeros(0, dtype=np.float32)).shape == (0, 2)


def test_a_sign_bit_is_set_above_zero_and_the_65th_is_in_the_second_word() -> None:
    assert kernels.sign_bits(np.array([[0.0, 1.0, -1.0]])).tolist() == [[0b010]]
    assert kernels.sign_bits(np.ones((1, 65))).tolist() == [[2**64 - 1, 1]]


def test_a_query_of_small_numbers_keeps_its_precision(way: ModuleType) -> None:
    rows, scales = np.array([[100]], dtype=np.int8), np.array([0.01], dtype=np.float32)
    found = kernels.int8_dots(rows, scales, np.array([0]), np.array([0.001], dtype=np.float32))
    assert found.tolist() == pytest.approx([0.001], rel=1e-4)


def test_the_compiled_loops_are_chosen_unless_the_user_asks_for_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MATHSETU_KERNELS", raising=False)
    assert kernels._choose() is WAYS[-1]
    monkeypatch.setenv("MATHSETU_KERNELS", "numpy")
    assert kernels._choose() is plain


def raw_calls() -> dict[str, list[Any]]:
    """Valid arguments of each compiled function."""
    lists = [np.array([0, 1, 2], dtype=np.int32), np.ones(3, dtype=np.uint8), np.array([[0, 3]])]
    one, masses = np.ones(1, dtype=np.float32), np.ones(3, dtype=np.float32)
    numbers = np.zeros(2, dtype=np.int64)
    best = [np.ones(3, dtype=np.bool_), 0.0, numbers, np.zeros(2, dtype=np.float32)]
    wanted, signs = np.array([0, 2]), np.zeros((3, 2), dtype=np.uint64)
    rows, query = np.ones((3, 4), dtype=np.int8), np.ones(4, dtype=np.int16)
    posts, _, ranges = lists
    return {
        "best_by_impact": [*lists, one, 3, *best],
        "gather": [*lists, wanted, np.zeros((1, 2), dtype=np.uint8)],
        "best_by_overlap": [*lists, one, one, masses, 1.0, np.ones((1, 2), np.float32), *best],
        "overlaps_of": [*lists, one, one, masses, 1.0, wanted, np.zeros(2, dtype=np.float32)],
        "best_posts": [posts, ranges, one, np.array([0, 1]), one, 3, *best],
        "nearest_signs": [signs, signs[0], ranges, 129, numbers, np.zeros(2, dtype=np.int32)],
        "integer_dots": [rows, wanted, query, np.zeros(2, dtype=np.int64)],
    }


def wrong_things() -> st.SearchStrategy[Any]:
    kinds = ["i4", "i8", "u1", "f4", "u8", "i1", "i2", "?", "f8", ">i4", "<i8"]
    fills = [0, 1, 2, 3, 100]
    arrays = st.builds(
        lambda kind, shape, fill: np.full(shape, fill, dtype=kind),
        st.sampled_from(kinds),
        st.lists(st.integers(0, 4), max_size=3).map(tuple),
        st.sampled_from(fills),
    )
    numbers = st.integers(-3, 5) | st.sampled_from([2**31, 2**62, -(2**63), 2**70])
    extreme = st.builds(
        lambda value, shape: np.full(shape, value),
        st.sampled_from([-(2**63), -1, 3, 2**31, 2**63 - 1]),
        st.sampled_from([(1, 2), (2,), (3,), (1,)]),
    )
    return arrays | extreme | numbers | st.sampled_from([None, "text", b"bytes", 0.5])


@needs_compiled
@given(st.data())
def test_arbitrary_arguments_do_not_crash_the_compiled_loops(
    data: st.DataObject,
) -> None:
    name = data.draw(st.sampled_from(sorted(raw_calls())))
    function, arguments = getattr(COMPILED, name), raw_calls()[name]
    assert function(*arguments) == 2
    for place in data.draw(st.sets(st.integers(0, len(arguments) - 1), min_size=1, max_size=3)):
        arguments[place] = data.draw(wrong_things())
    with contextlib.suppress(TypeError, ValueError, OverflowError, BufferError):
        function(*arguments)
    with pytest.raises(TypeError):
        function(*arguments[1:])


@needs_compiled
@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("best_by_impact", 1, np.ones(2, dtype=np.uint8)),
        ("best_by_impact", 2, np.array([[0, 4]])),
        ("best_by_impact", 2, np.array([[-1, 3]])),
        ("best_by_impact", 2, np.array([[3, 2]])),
        ("best_by_impact", 3, np.ones(2, dtype=np.float32)),
        ("best_by_impact", 4, 2),
        ("best_by_impact", 4, -1),
        ("best_by_impact", 4, 2**31),
        ("best_by_impact", 5, np.ones(2, dtype=np.bool_)),
        ("best_by_impact", 7, np.zeros(3, dtype=np.int64)),
        ("gather", 2, np.array([[0, 4]])),
        ("gather", 3, np.array([2, 0])),
        ("gather", 4, np.zeros((1, 1), dtype=np.uint8)),
        ("gather", 4, np.zeros((2, 2), dtype=np.uint8)),
        ("best_by_overlap", 2, np.array([[0, 4]])),
        ("best_by_overlap", 3, np.ones(0, dtype=np.float32)),
        ("best_by_overlap", 4, np.ones(0, dtype=np.float32)),
        ("best_by_overlap", 5, np.ones(2, dtype=np.float32)),
        ("best_by_overlap", 7, np.ones((2, 2), dtype=np.float32)),
        ("best_by_overlap", 7, np.ones((1, 3), dtype=np.float32)),
        ("overlaps_of", 7, np.array([0, 3])),
        ("overlaps_of", 7, np.array([-1, 2])),
        ("overlaps_of", 8, np.zeros(1, dtype=np.float32)),
        ("best_posts", 1, np.array([[0, 4]])),
        ("best_posts", 3, np.array([0, 2])),
        ("best_posts", 3, np.array([-1, 1])),
        ("best_posts", 3, np.array([0])),
        ("nearest_signs", 1, np.zeros(1, dtype=np.uint64)),
        ("nearest_signs", 2, np.array([[0, 4]])),
        ("nearest_signs", 3, -1),
        ("nearest_signs", 5, np.zeros(1, dtype=np.int32)),
        ("integer_dots", 1, np.array([0, 3])),
        ("integer_dots", 1, np.array([-1, 0])),
        ("integer_dots", 2, np.ones(3, dtype=np.int16)),
        ("integer_dots", 2, np.full(4, 20_000, dtype=np.int16)),
        ("integer_dots", 3, np.zeros(1, dtype=np.int64)),
    ],
)
def test_the_compiled_loops_check_bounds_themselves(name: str, place: int, value: Any) -> None:
    arguments = raw_calls()[name]
    arguments[place] = value
    with pytest.raises(ValueError, match=": "):
        getattr(COMPILED, name)(*arguments)


@needs_compiled
def test_the_compiled_loops_do_not_write_into_read_only_arrays() -> None:
    assert COMPILED is not None
    numbers, scores = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.float32)
    numbers.flags.writeable = False
    good = [GOOD[name] for name in ("documents", "impacts", "ranges", "weights", "count")]
    with pytest.raises((BufferError, ValueError)):
        COMPILED.best_by_impact(*good, None, 0.0, numbers, scores)
    assert numbers.tolist() == [0, 0]


@needs_compiled
def test_a_list_that_changes_while_it_is_read_causes_no_crash() -> None:
    assert COMPILED is not None
    count = 200_000
    documents = np.arange(count, dtype=np.int32)
    values, ranges = np.ones(count, dtype=np.uint8), np.array([[0, count]])
    one, stop = np.ones(1, dtype=np.float32), []

    def spoil() -> None:
        rng = np.random.default_rng(1)
        for _ in range(100_000):
            if stop:
                return
            place = rng.integers(0, count, 1000)
            documents[place] = rng.integers(-(2**31), 2**31 - 1, 1000)
            documents[place] = place

    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(spoil)
        try:
            for _ in range(300):
                run(
                    COMPILED,
                    lambda: kernels.best_by_impact(documents, values, ranges, one, count, 10),
                )
        finally:
            stop.append(True)
        changing.result(timeout=60)


# ---- Threads, and which implementation runs ---------------------------------------------------


def test_several_threads_get_the_same_results_as_one(way: ModuleType) -> None:
    drawn = Drawn(3, 100_000, 8)
    queries = [drawn.weights * np.float32(share) for share in (0.5, 1, 2, 3)]

    def search(weights: Any) -> list[bytes]:
        found = kernels.best_by_impact(
            drawn.documents, drawn.values, drawn.ranges, weights, drawn.count, 50
        )
        return [part.tobytes() for part in found]

    alone = [search(weights) for weights in queries]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(search, queries * 5)) == alone * 5


@needs_compiled
def test_other_threads_run_during_the_compiled_loops() -> None:
    assert COMPILED is not None
    signs = np.zeros((1_000_000, 6), dtype=np.uint64)
    ticks, stop = [0], threading.Event()

    def tick() -> None:
        for _ in range(100_000):
            ticks[0] += 1
            time.sleep(0.0001)
            if stop.is_set():
                return

    switch = sys.getswitchinterval()
    thread = threading.Thread(target=tick)
    thread.start()
    # Python does not switch threads now: the other one runs only if the loops release the GIL.
    sys.setswitchinterval(100)
    try:
        before = ticks[0]
        # On a busy machine, the other thread may not get a processor during the first runs.
        for _ in range(1_000):
            run(COMPILED, lambda: kernels.nearest_signs(signs, signs[0], 10))
            if ticks[0] > before:
                break
        after = ticks[0]
    finally:
        sys.setswitchinterval(switch)
        stop.set()
        thread.join(60)
    assert after > before


@pytest.mark.thorough
def test_numpy_is_used_if_the_user_asks_for_it() -> None:
    code = "from mathsetu.retrieval import kernels; print(kernels.is_compiled())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MATHSETU_KERNELS": "numpy"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "False\n", done.stderr


def test_the_compiled_loops_are_used_if_they_were_built() -> None:
    asked_for_numpy = os.environ.get("MATHSETU_KERNELS") == "numpy"
    assert kernels.is_compiled() == (COMPILED is not None and not asked_for_numpy)
