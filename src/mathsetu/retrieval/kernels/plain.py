"""The inner loops of search in numpy, for machines without a C compiler.

Every function takes the same arguments as its namesake in `_compiled.c` and fills the same arrays
with the same bits; `mathsetu.retrieval.kernels` checks the arguments of both. Arrays as long as the
collection cost memory here, but make numpy fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Frequencies = NDArray[np.uint8] | Floats
    Allowed = NDArray[np.bool_] | None

# Vectors processed at once: few enough for the cache of a core.
_ROWS = 2048


def best_by_impact(
    documents: NDArray[np.int32],
    impacts: NDArray[np.uint8],
    ranges: NDArray[np.int64],
    weights: Floats,
    count: int,
    allowed: Allowed,
    floor: float,
    numbers: NDArray[np.int64],
    scores: Floats,
) -> int:
    """Fill in the best documents by impact; return how many there are."""
    sums = np.zeros(count, dtype=np.float32)
    with np.errstate(all="ignore"):
        for (begin, end), weight in zip(_lists(documents, ranges, count), weights, strict=True):
            # A list has each document once, so that no addition is lost here.
            sums[documents[begin:end]] += weight * impacts[begin:end].astype(np.float32)
    return _fill_best(sums, allowed, floor, numbers, scores)


def gather(
    documents: NDArray[np.int32],
    values: Frequencies,
    ranges: NDArray[np.int64],
    wanted: NDArray[np.int64],
    found: Frequencies,
) -> int:
    """Fill in the values of some documents in each list, 0 where they are missing."""
    found[...] = 0
    for row, (begin, end) in enumerate(ranges.tolist()):
        places, there = _places(documents[begin:end], wanted)
        found[row, there] = values[begin:end][places]
    return len(wanted)


def best_by_overlap(
    documents: NDArray[np.int32],
    frequencies: Frequencies,
    ranges: NDArray[np.int64],
    counts: Floats,
    rarities: Floats,
    masses: Floats,
    mass: float,
    bounds: Floats | None,
    allowed: Allowed,
    floor: float,
    numbers: NDArray[np.int64],
    scores: Floats,
) -> int:
    """Fill in the best formulas by shared features; return how many there are."""
    sums = np.zeros(len(masses), dtype=np.float32)
    lists = _lists(documents, ranges, len(masses))
    with np.errstate(all="ignore"):
        for (begin, end), most, rarity in zip(lists, counts, rarities, strict=True):
            part = frequencies[begin:end].astype(np.float32, copy=False)
            sums[documents[begin:end]] += rarity * np.minimum(part, most)
        return _fill_best(_likeness(sums, masses, mass), allowed, floor, numbers, scores)


def overlaps_of(
    documents: NDArray[np.int32],
    frequencies: Frequencies,
    ranges: NDArray[np.int64],
    counts: Floats,
    rarities: Floats,
    masses: Floats,
    mass: float,
    wanted: NDArray[np.int64],
    scores: Floats,
) -> int:
    """Fill in the scores of `best_by_overlap` for given formulas."""
    sums = np.zeros(len(wanted), dtype=np.float32)
    with np.errstate(all="ignore"):
        for (begin, end), most, rarity in zip(ranges.tolist(), counts, rarities, strict=True):
            places, there = _places(documents[begin:end], wanted)
            part = frequencies[begin:end][places].astype(np.float32, copy=False)
            sums[there] += rarity * np.minimum(part, most)
        scores[...] = _likeness(sums, masses[wanted], mass)
    return len(wanted)


def best_posts(
    posts: NDArray[np.int32],
    ranges: NDArray[np.int64],
    likenesses: Floats,
    groups: NDArray[np.int64],
    weights: Floats,
    count: int,
    allowed: Allowed,
    floor: float,
    numbers: NDArray[np.int64],
    scores: Floats,
) -> int:
    """Fill in the best posts, given the formulas found; return how many there are."""
    sums = np.zeros(count, dtype=np.float32)
    lists = list(_lists(posts, ranges, count))
    with np.errstate(all="ignore"):
        for first, last, weight in zip(groups[:-1].tolist(), groups[1:], weights, strict=True):
            own = np.zeros(count, dtype=np.float32)
            for (begin, end), likeness in zip(
                lists[first:last], likenesses[first:last], strict=True
            ):
                found = posts[begin:end]
                own[found] = np.maximum(own[found], likeness)
            sums += weight * own
    return _fill_best(sums, allowed, floor, numbers, scores)


def nearest_signs(
    signs: NDArray[np.uint64],
    query: NDArray[np.uint64],
    ranges: NDArray[np.int64],
    below: int,
    numbers: NDArray[np.int64],
    distances: NDArray[np.int32],
) -> int:
    """Fill in the rows nearest by Hamming distance, ascending; return how many there are."""
    looked_at = np.zeros(len(signs), dtype=np.bool_)
    for begin, end in ranges.tolist():
        looked_at[begin:end] = True
    rows = np.flatnonzero(looked_at)
    bits = np.empty(len(rows), dtype=np.int32)
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        bits[part] = _set_bits(signs[rows[part]] ^ query)
    nearer = bits < below
    rows, bits = rows[nearer], bits[nearer]
    chosen = np.arange(len(rows))
    wanted = len(numbers)
    if wanted < len(rows):
        limit = np.partition(bits, wanted)[wanted]
        nearer, equal = bits < limit, np.flatnonzero(bits == limit)
        # Of rows at the same distance, the first.
        nearer[equal[: wanted - np.count_nonzero(nearer)]] = True
        chosen = np.flatnonzero(nearer)
    numbers[: len(chosen)], distances[: len(chosen)] = rows[chosen], bits[chosen]
    return len(chosen)


def integer_dots(
    rows: NDArray[np.int8],
    wanted: NDArray[np.int64],
    query: NDArray[np.int16],
    sums: NDArray[np.int64],
) -> int:
    """Fill in the dot products of some rows with a query, in integers."""
    # 64-bit floats hold these products and their sums exactly, in any order of addition.
    exact = query.astype(np.float64)
    for start in range(0, len(wanted), _ROWS):
        part = slice(start, start + _ROWS)
        # Not `@`: its threads keep spinning after a product, which costs more than they save.
        sums[part] = np.einsum("ij,j->i", rows[wanted[part]].astype(np.float64), exact)
    return len(wanted)


def _lists(
    documents: NDArray[np.int32], ranges: NDArray[np.int64], count: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges, after checking that the documents of each ascend and are in range."""
    for begin, end in ranges.tolist():
        own = documents[begin:end]
        if len(own) and (own[0] < 0 or own[-1] >= count or (own[1:] <= own[:-1]).any()):
            raise ValueError("documents: those of a term must rise and lie in their range")
        yield begin, end


def _fill_best(
    sums: Floats, allowed: Allowed, floor: float, numbers: NDArray[np.int64], scores: Floats
) -> int:
    """Fill in the highest scores above a floor; ties go to the lower number."""
    k = len(numbers)
    there = sums > np.float32(floor)
    if allowed is not None:
        there &= allowed
    found = np.flatnonzero(there)
    values = sums[found]
    if 0 < k < len(found):
        # Keep all ties with the k-th score; the sort below prefers lower numbers.
        keep = values >= np.partition(values, len(values) - k)[len(values) - k]
        found, values = found[keep], values[keep]
    order = np.argsort(-values, kind="stable")[:k]
    numbers[: len(order)], scores[: len(order)] = found[order], values[order]
    return len(order)


def _places(
    documents: NDArray[np.int32], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places in a list of those wanted documents that it has, and which these are."""
    if not len(documents):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    places = np.searchsorted(documents, wanted)
    there = np.flatnonzero(np.take(documents, places, mode="clip") == wanted)
    return places[there], there


def _likeness(sums: Floats, masses: Floats, mass: float) -> Floats:
    least = np.float32(1e-9)
    likeness: Floats = 2 * sums / np.maximum(masses + np.float32(mass), least)
    return likeness


def _set_bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits are set in each row."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))
    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
    return np.asarray(table[words.view(np.uint8)].sum(axis=1, dtype=np.int64))
