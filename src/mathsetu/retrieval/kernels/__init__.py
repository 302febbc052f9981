"""The inner loops of search: sums over postings, and distances of vectors.

Each loop exists twice, compiled (`_compiled.c`) and in numpy (`plain.py`), with bit-identical
results. The choice is made once, at import: the compiled loops if they were built (installation
builds them if there is a C compiler), unless ``MATHSETU_KERNELS=numpy`` is set.

Postings are one long array of documents and one of values; ``ranges`` has a row for each term of a
query, with the begin and the end of its list. A list has each document once, in ascending order.
Arguments are checked: TypeError for an array of the wrong type or shape (a mistake of the caller),
ValueError for invalid values (a damaged or malicious file). The best come first, ties go to the
lower number, and only scores above zero count.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.retrieval.kernels import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Frequencies = NDArray[np.uint8] | Floats
    Ranges = NDArray[np.int64]
    Allowed = NDArray[np.bool_] | None
    Found = tuple[NDArray[np.int64], Floats]

__all__ = [
    "best_by_impact",
    "best_by_overlap",
    "best_posts",
    "gather",
    "int8_dots",
    "is_compiled",
    "mass_bounds",
    "nearest_signs",
    "overlaps_of",
    "ranges_of",
    "sign_bits",
]

# A query's numbers are rounded to integers up to this: 127 * 128, see `loops.h`.
_LARGEST = 16_256
_MAX_DOCUMENTS = int(np.iinfo(np.int32).max)
# Documents in a block: `BLOCK` of `loops.h`.
_BLOCK = 16_384


def _choose() -> Any:
    if os.environ.get("MATHSETU_KERNELS") != "numpy":
        try:
            return import_module("mathsetu.retrieval.kernels._compiled")
        except ImportError:
            pass
    return plain


_loops = _choose()


def is_compiled() -> bool:
    """Whether the compiled loops are in use, not those in numpy."""
    return _loops is not plain


def ranges_of(starts: NDArray[np.int64], rows: NDArray[np.int64]) -> Ranges:
    """The ranges of some lists, given the starts of all lists; row -1 means an empty list.

    >>> ranges_of(np.array([0, 2, 5]), np.array([1, -1])).tolist()
    [[2, 5], [0, 0]]
    """
    if len(rows) and not -1 <= rows.min() <= rows.max() < len(starts) - 1:
        raise ValueError("rows: there is no such list")
    ranges = np.zeros((len(rows), 2), dtype=np.int64)
    there = rows >= 0
    ranges[there, 0], ranges[there, 1] = starts[rows[there]], starts[rows[there] + 1]
    return ranges


def best_by_impact(
    documents: NDArray[np.int32],
    impacts: NDArray[np.uint8],
    ranges: Ranges,
    weights: Floats,
    count: int,
    k: int,
    allowed: Allowed = None,
    floor: float = 0,
) -> Found:
    """The best documents for some terms, by the sum of each term's weight times its impact.

    Args:
        documents: The documents of all terms.
        impacts: The impact of the term in each of these documents, in 256 steps.
        ranges: The range of each query term's list.
        weights: The weight of each query term.
        count: How many documents the collection has.
        k: How many documents to return.
        allowed: Which documents may be found.
        floor: Only scores above this count.

    >>> documents = np.array([0, 2, 1, 2], dtype=np.int32)
    >>> impacts = np.array([200, 10, 50, 50], dtype=np.uint8)
    >>> ranges, weights = np.array([[0, 2], [2, 4]]), np.array([1, 2], dtype=np.float32)
    >>> numbers, scores = best_by_impact(documents, impacts, ranges, weights, 3, k=2)
    >>> numbers.tolist(), scores.tolist()
    ([0, 2], [200.0, 110.0])
    """
    _check_lists(documents, ranges)
    _check_array("impacts", impacts, np.uint8, len(documents))
    _check_finite("weights", weights, len(ranges))
    numbers, scores = _room(count, k, allowed, floor)
    found = _loops.best_by_impact(
        documents, impacts, ranges, weights, count, allowed, floor, numbers, scores
    )
    return _cut(numbers, scores, found)


def gather(
    documents: NDArray[np.int32], values: Frequencies, ranges: Ranges, wanted: NDArray[np.int64]
) -> NDArray[Any]:
    """The values of some documents in each list, a row for each list; 0 where they are missing.

    Lists are searched, not scanned, so a list that does not ascend is not detected, and its
    documents may be missed.

    >>> documents = np.array([0, 2, 1, 2], dtype=np.int32)
    >>> values = np.array([4, 5, 6, 7], dtype=np.uint8)
    >>> gather(documents, values, np.array([[0, 2], [2, 4]]), np.array([1, 2])).tolist()
    [[0, 5], [6, 7]]
    """
    _check_lists(documents, ranges)
    _check_frequencies("values", values, len(documents))
    _check_wanted(wanted, _MAX_DOCUMENTS)
    found = np.empty((len(ranges), len(wanted)), dtype=values.dtype)
    _loops.gather(documents, values, ranges, wanted, found)
    return found


def best_by_overlap(
    documents: NDArray[np.int32],
    frequencies: Frequencies,
    ranges: Ranges,
    counts: Floats,
    rarities: Floats,
    masses: Floats,
    mass: float,
    k: int,
    bounds: Floats | None = None,
    allowed: Allowed = None,
    floor: float = 0,
) -> Found:
    """The formulas most similar to one formula, by the features that they share (Dice).

    Args:
        documents: The formulas that have each feature.
        frequencies: How often they have it.
        ranges: The range of the list of each query feature.
        counts: How often the query has each feature.
        rarities: The weight of each feature. Fastest if rare features come first.
        masses: For each formula of the collection, its total feature weight, or an upper bound.
        mass: The total feature weight of the query.
        k: How many formulas to return.
        bounds: The `mass_bounds` of the masses. Fastest if formulas are in ascending order of mass.
        allowed: Which formulas may be found.
        floor: Only scores above this count.

    >>> documents = np.array([0, 1, 1], dtype=np.int32)
    >>> frequencies = np.array([2, 1, 3], dtype=np.uint8)
    >>> ranges, ones = np.array([[0, 2], [2, 3]]), np.ones(2, dtype=np.float32)
    >>> masses = np.array([2, 4], dtype=np.float32)
    >>> numbers, scores = best_by_overlap(
    ...     documents, frequencies, ranges, ones, ones, masses, mass=2, k=5)
    >>> numbers.tolist(), scores.round(2).tolist()
    ([1, 0], [0.6700000166893005, 0.5])
    """
    _check_formula(documents, frequencies, ranges, counts, rarities, masses, mass)
    if bounds is not None:
        _check_array("bounds", bounds, np.float32, -(-len(masses) // _BLOCK), dimensions=2)
    numbers, scores = _room(len(masses), k, allowed, floor)
    found = _loops.best_by_overlap(
        documents, frequencies, ranges, counts, rarities, masses, mass, bounds, allowed, floor,
        numbers, scores,
    )  # fmt: skip
    return _cut(numbers, scores, found)


def mass_bounds(masses: Floats) -> Floats:
    """The smallest and the largest mass in each block of formulas.

    >>> mass_bounds(np.array([3, 1, 2], dtype=np.float32)).tolist()
    [[1.0, 3.0]]
    """
    _check_array("masses", masses, np.float32)
    starts = np.arange(0, len(masses), _BLOCK)
    if not len(starts):
        return np.zeros((0, 2), dtype=np.float32)
    lightest = np.minimum.reduceat(masses, starts)
    return np.stack([lightest, np.maximum.reduceat(masses, starts)], axis=1)


def overlaps_of(
    documents: NDArray[np.int32],
    frequencies: Frequencies,
    ranges: Ranges,
    counts: Floats,
    rarities: Floats,
    masses: Floats,
    mass: float,
    wanted: NDArray[np.int64],
) -> Floats:
    """The scores of `best_by_overlap` for given formulas, whose numbers must be ascending.

    >>> documents = np.array([0, 1, 1], dtype=np.int32)
    >>> frequencies = np.array([2, 1, 3], dtype=np.uint8)
    >>> ranges, ones = np.array([[0, 2], [2, 3]]), np.ones(2, dtype=np.float32)
    >>> masses = np.array([2, 4], dtype=np.float32)
    >>> overlaps_of(documents, frequencies, ranges, ones, ones, masses, 2, np.array([0])).tolist()
    [0.5]
    """
    _check_formula(documents, frequencies, ranges, counts, rarities, masses, mass)
    _check_wanted(wanted, len(masses))
    scores = np.empty(len(wanted), dtype=np.float32)
    _loops.overlaps_of(
        documents, frequencies, ranges, counts, rarities, masses, mass, wanted, scores
    )
    return scores


def best_posts(
    posts: NDArray[np.int32],
    ranges: Ranges,
    likenesses: Floats,
    groups: NDArray[np.int64],
    weights: Floats,
    count: int,
    k: int,
    allowed: Allowed = None,
    floor: float = 0,
) -> Found:
    """The best posts, given the formulas that were found for each formula of a query.

    The formulas found for one query formula form a group. In each group a post gets the similarity
    of its best formula, or 0; its score is the weighted sum over the groups.

    Args:
        posts: The posts of all formulas.
        ranges: The ranges of the posts of each formula that was found, group by group.
        likenesses: The similarity of each of these formulas to its query formula.
        groups: Where each group begins among them, and where the last one ends.
        weights: The weight of each group.
        count: How many posts there are.
        k: How many posts to return.
        allowed: Which posts may be found.
        floor: Only scores above this count.

    >>> posts, ranges = np.array([0, 1, 1, 1], dtype=np.int32), np.array([[0, 2], [2, 3], [3, 4]])
    >>> likenesses = np.array([0.5, 0.75, 1], dtype=np.float32)
    >>> groups, weights = np.array([0, 2, 3]), np.array([0.5, 0.5], dtype=np.float32)
    >>> numbers, scores = best_posts(posts, ranges, likenesses, groups, weights, 2, k=2)
    >>> numbers.tolist(), scores.tolist()
    ([1, 0], [0.875, 0.25])
    """
    _check_lists(posts, ranges)
    _check_finite("likenesses", likenesses, len(ranges))
    _check_finite("weights", weights)
    _check_array("groups", groups, np.int64, len(weights) + 1)
    if groups[0] != 0 or groups[-1] != len(ranges) or (groups[1:] < groups[:-1]).any():
        raise ValueError("groups: must rise from 0 to the number of formulas")
    numbers, scores = _room(count, k, allowed, floor)
    found = _loops.best_posts(
        posts, ranges, likenesses, groups, weights, count, allowed, floor, numbers, scores
    )
    return _cut(numbers, scores, found)


def sign_bits(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """One bit for each number of each vector: whether it is above zero.

    >>> sign_bits(np.array([[0.5, -1, 2]])).tolist()
    [[5]]
    """
    rows, dimensions = vectors.shape
    whole = np.zeros((rows, -(-dimensions // 64) * 64), dtype=np.bool_)
    whole[:, :dimensions] = vectors > 0
    packed = np.packbits(whole, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def nearest_signs(
    signs: NDArray[np.uint64],
    query: NDArray[np.uint64],
    k: int,
    ranges: Ranges | None = None,
    below: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows whose sign bits are nearest to a query's, and their Hamming distances.

    Rows are in ascending order, because the vectors themselves are read next. Of rows at the same
    distance, the first are taken.

    Args:
        signs: A row of bits for each vector (`sign_bits`).
        query: The bits of the query.
        k: How many rows to return.
        ranges: The ranges of rows to compare, ascending and without overlap; None for all rows.
        below: Only rows at a smaller distance count.

    >>> signs = np.array([[0b111], [0b001], [0b011]], dtype=np.uint64)
    >>> numbers, distances = nearest_signs(signs, np.array([0b111], dtype=np.uint64), k=2)
    >>> numbers.tolist(), distances.tolist()
    ([0, 2], [0, 1])
    """
    _check_array("signs", signs, np.uint64, dimensions=2)
    _check_array("query", query, np.uint64, signs.shape[1])
    if ranges is None:
        ranges = np.array([[0, len(signs)]])
    _check_ranges(ranges, len(signs))
    if (ranges[1:, 0] < ranges[:-1, 1]).any():
        raise ValueError("ranges: must rise and not overlap")
    rows = int((ranges[:, 1] - ranges[:, 0]).sum())
    numbers = np.empty(_at_most(k, rows), dtype=np.int64)
    distances = np.empty(len(numbers), dtype=np.int32)
    most = 64 * signs.shape[1] + 1
    below = most if below is None else min(below, most)
    if below < 0:
        raise ValueError(f"below must be at least 0, not {below}")
    found = _loops.nearest_signs(signs, query, ranges, below, numbers, distances)
    return numbers[:found], distances[:found]


def int8_dots(
    rows: NDArray[np.int8], scales: Floats, wanted: NDArray[np.int64], query: Floats
) -> Floats:
    """The dot products of some vectors, quantised to int8, with a query.

    The query is rounded to 15-bit integers, whose error is a hundredth of that of the quantised
    vectors. Products are computed in integers, so that every machine gives the same result.

    Args:
        rows: All vectors.
        scales: The scale factor of each vector.
        wanted: The numbers of the vectors to use, in any order.
        query: The query's vector.

    >>> rows, scales = np.array([[100, 0], [60, 80]], dtype=np.int8), np.full(2, 0.01, np.float32)
    >>> query = np.array([0.6, 0.8], dtype=np.float32)
    >>> int8_dots(rows, scales, np.array([1, 0]), query).round(3).tolist()
    [1.0, 0.6000000238418579]
    """
    _check_array("rows", rows, np.int8, dimensions=2)
    _check_array("scales", scales, np.float32, len(rows))
    _check_array("wanted", wanted, np.int64)
    _check_finite("query", query, rows.shape[1])
    if len(wanted) and not 0 <= wanted.min() <= wanted.max() < len(rows):
        raise ValueError("wanted: its numbers must lie in their range")
    largest = float(np.abs(query).max(initial=0))
    unit = largest / _LARGEST or 1.0
    whole = np.clip(np.rint(query / unit), -_LARGEST, _LARGEST).astype(np.int16)
    sums = np.empty(len(wanted), dtype=np.int64)
    _loops.integer_dots(rows, wanted, whole, sums)
    return np.asarray(sums * unit * scales[wanted], dtype=np.float32)


def _check_array(
    name: str, array: NDArray[Any], kind: Any, length: int | None = None, dimensions: int = 1
) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name}: an array is needed, not {type(array).__name__}")
    if array.dtype != kind or array.ndim != dimensions:
        needed = f"{np.dtype(kind).name} of {dimensions} dimensions"
        raise TypeError(f"{name}: {needed} needed, not {array.dtype} of {array.ndim}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise TypeError(f"{name}: its values must lie one after the other, and aligned")
    if length is not None and len(array) != length:
        raise ValueError(f"{name}: {len(array)} values where {length} belong")


def _check_finite(name: str, array: Floats, length: int | None = None) -> None:
    _check_array(name, array, np.float32, length)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: holds a value that is not a number")


def _check_frequencies(name: str, array: Frequencies, length: int) -> None:
    kind = np.uint8 if getattr(array, "dtype", None) == np.uint8 else np.float32
    _check_array(name, array, kind, length)


def _check_ranges(ranges: Ranges, length: int) -> None:
    _check_array("ranges", ranges, np.int64, dimensions=2)
    if ranges.shape[1] != 2:
        raise TypeError("ranges: each needs a begin and an end")
    begins, ends = ranges[:, 0], ranges[:, 1]
    if len(ranges) and (begins.min() < 0 or ends.max() > length or (begins > ends).any()):
        raise ValueError("ranges: one lies outside of its array")


def _check_lists(documents: NDArray[np.int32], ranges: Ranges) -> None:
    _check_array("documents", documents, np.int32)
    _check_ranges(ranges, len(documents))


def _check_wanted(wanted: NDArray[np.int64], limit: int) -> None:
    _check_array("wanted", wanted, np.int64)
    if len(wanted) and (wanted[0] < 0 or wanted[-1] >= limit or (wanted[1:] <= wanted[:-1]).any()):
        raise ValueError("wanted: its numbers must rise and lie in their range")


def _check_formula(
    documents: NDArray[np.int32],
    frequencies: Frequencies,
    ranges: Ranges,
    counts: Floats,
    rarities: Floats,
    masses: Floats,
    mass: float,
) -> None:
    _check_lists(documents, ranges)
    _check_frequencies("frequencies", frequencies, len(documents))
    _check_finite("counts", counts, len(ranges))
    _check_finite("rarities", rarities, len(ranges))
    _check_array("masses", masses, np.float32)
    if not abs(mass) <= float(np.finfo(np.float32).max):
        raise ValueError("mass: is not a number that 32 bits hold")


def _at_most(k: int, count: int) -> int:
    if k < 0:
        raise ValueError(f"k must be at least 0, not {k}")
    return min(k, count)


def _room(count: int, k: int, allowed: Allowed, floor: float) -> Found:
    """New arrays for the numbers and scores of the best."""
    if not 0 <= floor <= float(np.finfo(np.float32).max):
        raise ValueError(f"floor must be a number from 0 on, not {floor}")
    if not 0 <= count <= _MAX_DOCUMENTS:
        raise ValueError(f"count must be from 0 to {_MAX_DOCUMENTS}, not {count}")
    if allowed is not None:
        _check_array("allowed", allowed, np.bool_, count)
    size = _at_most(k, count)
    return np.empty(size, dtype=np.int64), np.empty(size, dtype=np.float32)


def _cut(numbers: NDArray[np.int64], scores: Floats, found: int) -> Found:
    """Cut the arrays to what was found, as copies, so that unused memory is freed."""
    if found == len(numbers):
        return numbers, scores
    return numbers[:found].copy(), scores[:found].copy()
