"""Tiered reranking: a ranking is divided into slices, and each slice is reranked separately.

A candidate can rise to the top of its slice and no further, so a model with occasional large errors
does little harm at the top. The bounds are those of the MIRMU paper's improved base system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic

#: Where the slices of the paper end.
TIERS = (3, 7, 12, 16, 20, 50, 100, 125)


@dataclass(frozen=True, slots=True)
class Reranked:
    """A new order of candidates.

    Attributes:
        order: The old places of the candidates, best first.
        scores: Their new scores, in the new order, never increasing. A score is the number of
            slices below, plus a place between the worst (0) and the best (1) of the slice.
        reached: How many candidates, from the top, the model has read. The others keep their order.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...]
    reached: int


def slices(bounds: Sequence[int], length: int) -> list[range]:
    """The places of each slice; those beyond the last bound are one more slice.

    >>> slices((3, 7), 9)
    [range(0, 3), range(3, 7), range(7, 9)]
    >>> slices((3, 7), 5)
    [range(0, 3), range(3, 5)]
    """
    ends = [0, *(bound for bound in bounds if bound < length), length]
    return [range(start, end) for start, end in pairwise(ends) if start < end]


def in_tiers(
    read: Sequence[float], scores: Sequence[float], bounds: Sequence[int], weight: float = 1.0
) -> Reranked:
    """Order the candidates that a model has read, slice by slice; ties keep their order.

    Args:
        read: The model's scores of the candidates that it has read, from the top.
        scores: The old scores of all candidates, best first.
        bounds: Where slices end.
        weight: The model's share in a new score; the rest is the old score's. Both scores are
            scaled to the worst (0) and the best (1) of the slice.

    >>> in_tiers([0.0, 2.0, 1.0, 3.0], [9, 8, 7, 6, 5], bounds=(2,)).order
    (1, 0, 3, 2, 4)
    >>> in_tiers([0.0, 2.0, 1.0], [9, 8, 7], bounds=(), weight=0.5).scores
    (1.75, 1.5, 1.25)
    """
    order: list[int] = []
    new: list[float] = []
    cut = slices(bounds, len(read))
    for below, places in zip(range(len(cut), 0, -1), cut, strict=True):
        model = _between_0_and_1([read[place] for place in places])
        old = _between_0_and_1([scores[place] for place in places])
        both = [weight * m + (1 - weight) * o for m, o in zip(model, old, strict=True)]
        best_first = sorted(range(len(places)), key=lambda place: -both[place])
        order += [places[place] for place in best_first]
        new += [below + both[place] for place in best_first]
    rest = range(len(read), len(scores))
    order += rest
    new += _between_0_and_1([scores[place] for place in rest])
    return Reranked(tuple(order), tuple(new), reached=len(read))


def score_in_time(
    read: Callable[[Sequence[str]], Sequence[float]],
    texts: Sequence[str],
    batch: int,
    seconds: float = 0.0,
    clock: Callable[[], float] = monotonic,
) -> list[float]:
    """The model's scores of as many texts, from the top, as the time limit allows.

    The first batch is always read; another one starts only if it would end in time even when it is
    as slow as the slowest so far. With 0 seconds there is no limit.

    >>> ticks = iter([0.0, 1.0, 2.0])
    >>> score_in_time(lambda texts: [1.0] * len(texts), "abcdefg", 2, 2.5, lambda: next(ticks))
    [1.0, 1.0, 1.0, 1.0]
    """
    if not seconds:
        return list(read(texts)) if texts else []
    started = before = clock()
    slowest = 0.0
    found: list[float] = []
    for start in range(0, len(texts), batch):
        if start and before - started + slowest > seconds:
            break
        found += read(texts[start : start + batch])
        now = clock()
        slowest, before = max(slowest, now - before), now
    return found


def _between_0_and_1(scores: Sequence[float]) -> list[float]:
    if not scores:
        return []
    best, worst = max(scores), min(scores)
    return [(score - worst) / (best - worst) if best > worst else 0.0 for score in scores]
