"""The hybrid score: a weighted sum of the scores that the parts of a recipe give a candidate.

The scores of different parts are first normalised to one scale. With two parts the sum is
λ·text + (1-λ)·math of the MIRaCLE paper. Ties go to the candidate that the leading part (the first
one) prefers, then to the earlier post.

On that scale the best candidate is always near 1, whatever the query. A calibration turns scores
into probabilities, which are comparable between queries. A user may also prefer posts in a
language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import exp, isfinite
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def minmax(scores: Numbers, full: float = 0.0) -> Numbers:
    """Scale scores so that the best is 1, not found stays 0, and proportions are kept.

    The scale begins at zero (not found) unless some scores are negative, so that a candidate
    that a part found last still scores more than one that it did not find.

    Args:
        scores: The scores of all candidates.
        full: The least score that becomes 1; a best score below it is weak evidence.

    >>> minmax(np.array([0.0, 2.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    >>> minmax(np.array([0.0, 2.0, 4.0]), full=8.0).tolist()
    [0.0, 0.25, 0.5]
    """
    lowest = min(0.0, float(scores.min(initial=0.0)))
    spread = max(float(scores.max(initial=0.0)), full) - lowest
    return (scores - lowest) / spread if spread else np.zeros_like(scores)


def ranks(scores: Numbers) -> Numbers:
    """Turn scores into ranks, in equal steps from 1 downwards; ties share, zero stays zero.

    >>> ranks(np.array([0.1, 9.0, 0.0, 0.1])).tolist()
    [0.5, 1.0, 0.0, 0.5]
    """
    distinct, places = np.unique(scores, return_inverse=True)
    found = np.count_nonzero(distinct > 0)
    below = len(distinct) - found
    return np.asarray(np.maximum(places - below + 1, 0) / max(found, 1))


def unchanged(scores: Numbers) -> Numbers:
    """Scores that share a scale already, such as cosines and overlaps."""
    return scores


#: The normalisations that a recipe can name.
NORMALISATIONS: dict[str, Callable[[Numbers], Numbers]] = {
    "minmax": minmax,
    "rank": ranks,
    "none": unchanged,
}


def shares(
    scores: Mapping[str, Numbers],
    weights: Mapping[str, float],
    normalisation: str,
    full_scores: Mapping[str, float] | None = None,
) -> dict[str, Numbers]:
    """What each part adds to the hybrid score of each candidate.

    Args:
        scores: The scores of the candidates from each part.
        weights: The weight of each part.
        normalisation: A name of `NORMALISATIONS`.
        full_scores: For some parts, the least score that counts in full (`minmax`).

    >>> scores = {"words": np.array([4.0, 2.0]), "formulas": np.array([0.0, 1.0])}
    >>> parts = shares(scores, {"words": 0.7, "formulas": 0.3}, "minmax")
    >>> {name: part.round(2).tolist() for name, part in parts.items()}
    {'words': [0.7, 0.35], 'formulas': [0.0, 0.3]}
    """
    scale, full = NORMALISATIONS[normalisation], full_scores or {}
    return {
        name: weights[name]
        * (minmax(part, full[name]) if scale is minmax and name in full else scale(part))
        for name, part in scores.items()
    }


def order(parts: Mapping[str, Numbers], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the candidates from best to worst.

    >>> parts = {"words": np.array([0.5, 0.6]), "formulas": np.array([0.5, 0.4])}
    >>> order(parts, np.array([7, 9])).tolist()
    [1, 0]
    """
    total = sum(parts.values(), start=np.zeros(len(numbers)))
    leading = next(iter(parts.values()))
    # Rounded, so that mathematically equal sums are equal here, and the tie rule decides.
    return np.lexsort((numbers, -leading, -total.round(9)))


def adapted(weights: Mapping[str, float], silent: frozenset[str]) -> dict[str, float]:
    """Weights for one query: those of parts without input are shared among the others.

    A query of one formula must not be ranked with 30% of the weight because a recipe expects words.

    >>> adapted({"words": 0.7, "formulas": 0.3}, frozenset({"words"}))
    {'words': 0.0, 'formulas': 1.0}
    """
    speaking = sum(weight for name, weight in weights.items() if name not in silent)
    if not speaking:
        return dict(weights)
    return {name: 0.0 if name in silent else weight / speaking for name, weight in weights.items()}


#: The weights of a calibration that belong to no part: the constant, and the relative score.
BIAS, SCORE = "bias", "score"


@dataclass(frozen=True)
class Calibration:
    """Turns the scores of a query's candidates into probabilities, learned from judged topics.

    The score that a part gives its best candidate (its level) determines how likely the library
    has anything close to the query. How a candidate compares with the best one determines how
    likely it is relevant then. A calibrated score is the product of both probabilities: the
    expected share of relevant hits at this score. The order within a query does not change.

    Attributes:
        half: For each part, the score of a candidate that is half as good as possible; a level is
            scaled to level / (level + half).
        close: Log-odds that something is close: ``bias``, and the weight of each part's level.
        silent: What is added instead for a part that has no input from the query.
        relevant: Log-odds that a candidate is relevant then: ``bias``, the weights of the parts'
            levels, and ``score``, the weight of how far its score is below the best (0 to -1).
        threshold: A best score below this means that nothing is close.

    >>> learned = Calibration(half={"meaning": 0.2}, close={"bias": -9, "meaning": 20},
    ...                       relevant={"bias": 0, "score": 6}, threshold=0.1)
    >>> learned.scores(np.array([0.9, 0.6]), {"meaning": 0.4}, frozenset()).round(2).tolist()
    [0.49, 0.12]
    >>> learned.scores(np.array([0.9, 0.6]), {"meaning": 0.05}, frozenset()).round(2).tolist()
    [0.0, 0.0]
    """

    half: dict[str, float] = field(default_factory=dict)
    close: dict[str, float] = field(default_factory=dict)
    silent: dict[str, float] = field(default_factory=dict)
    relevant: dict[str, float] = field(default_factory=dict)
    threshold: float = 0.0

    def __post_init__(self) -> None:
        for name in ("half", "close", "silent", "relevant"):
            table = getattr(self, name)
            if not all(map(isfinite, table.values())):
                raise InputError(f"calibration.{name} must hold finite numbers")
            for part in table:
                if part not in {*self.half, BIAS, SCORE}:
                    raise InputError(
                        f"calibration.{name} names {part!r}, which is not in calibration.half"
                    )
        if not all(half > 0 for half in self.half.values()):
            raise InputError("calibration.half must hold positive numbers")
        if self.relevant.get(SCORE, 0.0) < 0:
            raise InputError("calibration.relevant.score cannot be negative: it keeps the order")
        if not 0 <= self.threshold < 1:
            raise InputError(f"calibration.threshold is {self.threshold:g}; it must be from 0 to 1")

    def scores(
        self,
        totals: Numbers,
        levels: Mapping[str, float],
        silent: AbstractSet[str],
        *,
        contains_query: bool = False,
    ) -> Numbers:
        """The calibrated scores of candidates, best first.

        Args:
            totals: Their hybrid scores, best first.
            levels: The score that each part gives its best candidate.
            silent: The parts that have no input from the query.
            contains_query: Whether a candidate has all words of the query: something close is then
                at least as likely as not, however frequent the words are.
        """
        if not len(totals):
            return totals
        reached = {
            part: max(levels.get(part, 0.0), 0.0) / (max(levels.get(part, 0.0), 0.0) + half)
            for part, half in self.half.items()
            if part not in silent
        }
        close = self.close.get(BIAS, 0.0) + sum(self.silent.get(part, 0.0) for part in silent)
        close += sum(self.close.get(part, 0.0) * level for part, level in reached.items())
        close = max(close, 0.0) if contains_query else close
        odds = self.relevant.get(BIAS, 0.0)
        odds += sum(self.relevant.get(part, 0.0) * level for part, level in reached.items())
        below = totals / max(float(totals[0]), 1e-9) - 1
        relevant = 1 / (1 + np.exp(-(odds + self.relevant.get(SCORE, 0.0) * below)))
        return np.asarray(relevant * chance(close))


def chance(log_odds: float) -> float:
    """The probability of given log-odds.

    >>> chance(0.0)
    0.5
    """
    return 1 / (1 + exp(-max(min(log_odds, 500.0), -500.0)))


#: The share by which the score of a post in the user's own language is raised.
PREFERENCES = {"off": 0.0, "weak": 0.1, "normal": 0.2, "strong": 1.0}
# How many of a post's versions, the best ones, are scored together; and the usual score of the
# others relative to the best (.85 for CrossMath's right topics, .72 for wrong ones).
_VERSIONS_SCORED, _USUAL_SHARE = 3, 0.8


def preference(name: str) -> float:
    """The strength of a preference by its name.

    >>> preference("much")
    Traceback (most recent call last):
    mathsetu.errors.InputError: own_language is 'much' (known: off, weak, normal, strong)
    """
    if name not in PREFERENCES:
        raise InputError(f"own_language is {name!r} (known: {', '.join(PREFERENCES)})")
    return PREFERENCES[name]


def evidence(totals: Sequence[float], versions: int) -> float:
    """The joint score of a post's versions: half the best one, half the mean of the best three.

    Versions have the same content in different words, so each is another estimate of whether the
    post answers the query. A post that one estimate in six favours is less likely to be the answer
    than one that all of them favour. Hybrid scores are log-odds up to a scale, so their mean
    combines such estimates. If there are fewer than three versions, the missing ones get their
    usual score, so that a post is neither better nor worse off for that.

    Args:
        totals: The hybrid scores of the versions that were found.
        versions: How many versions there are.

    >>> [round(one, 2) for one in (evidence([0.9], 1), evidence([0.9], 6), evidence([0.9] * 3, 6))]
    [0.84, 0.6, 0.9]
    """
    best = sorted(totals, reverse=True)[:_VERSIONS_SCORED]
    there = min(_VERSIONS_SCORED, max(versions, len(totals)))
    together = sum(best) + (_VERSIONS_SCORED - there) * _USUAL_SHARE * best[0]
    return (best[0] + together / _VERSIONS_SCORED) / 2


def order_by_language(
    scores: Numbers,
    totals: Numbers,
    is_own: Sequence[bool],
    groups: Sequence[int],
    sizes: Mapping[int, int],
    strength: float,
) -> list[int]:
    """The order of candidates for a user who prefers a language.

    The versions of a post are scored together (`evidence`). A version in the preferred language
    gets the joint score, raised by the strength; the other versions follow it.

    Args:
        scores: The scores of the candidates.
        totals: Their hybrid scores, of which the scores are an increasing function.
        is_own: Whether each candidate is in that language.
        groups: For each candidate, the place of the first version of the same post.
        sizes: For posts at some places, the number of their versions, if there are more than
            among the candidates.
        strength: A number from `PREFERENCES`.

    >>> alike = np.array([0.9, 0.8, 0.5, 0.4])
    >>> order_by_language(alike, alike, [False, True, False, True], [0, 1, 2, 0], {}, 0.2)
    [3, 1, 0, 2]
    """
    rising = np.argsort(totals, kind="stable")
    # Most posts have no other version; their scores are all scaled by the same factor.
    judged = (evidence([1.0], 1) * totals).tolist()
    found: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        found.setdefault(group, []).append(place)
    for group, places in found.items():
        count = sizes.get(group, 0)
        if len(places) > 1 or count > 1:
            versions = totals[places].tolist()
            together = evidence(versions, count)
            best = max(*versions, 1e-9)
            for place, total in zip(places, versions, strict=True):
                judged[place] = together if is_own[place] else total * together / best
    worth = np.interp(judged, totals[rising], scores[rising])
    worth = np.where(is_own, (1 + strength) * worth, worth).round(9).tolist()
    return sorted(range(len(scores)), key=lambda place: (-worth[place], not is_own[place], place))
