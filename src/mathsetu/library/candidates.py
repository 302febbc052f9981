"""Candidates for a question from all parts of a recipe, with the score of each part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.deadline import Clock
from mathsetu.errors import InputError
from mathsetu.intake.question import Question
from mathsetu.ranking.hybrid import adapted, order, shares
from mathsetu.recipes.parts import is_silent
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import Reply, Retriever, Scored, distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Allowed = NDArray[np.bool_] | None

# The kind of parts that index the names in formulas as terms.
_NAMING = "lexical"
#: Gives a reason for the post at a place, or None.
Remark = Callable[[int], Reason | None]


class RecipeReply:
    """The result of a recipe for one question: the posts found, best first, with their reasons.

    Attributes:
        question: The question.
        numbers: The numbers of the posts, best first.
        scores: The scores of the posts.
        totals: The scores before calibration, by which the posts are ordered.
        added: For each part its share of the score of each post.
        said: For each part its raw score of each post, before normalisation and weighting.
        silent: The parts that find nothing to search for in the question.
        replies: The replies of the parts, which give the reasons.
        remarks: Give the reasons of fusion and reranking for the post at a place.
        is_close: Whether the best post is close to the question; True without a calibration.
    """

    def __init__(
        self,
        question: Question,
        numbers: NDArray[np.int64],
        scores: Numbers,
        added: dict[str, Numbers],
        replies: dict[str, Reply],
        *,
        said: dict[str, Numbers] | None = None,
        silent: frozenset[str] = frozenset(),
        totals: Numbers | None = None,
        remarks: tuple[Remark, ...] = (),
        is_close: bool = True,
    ) -> None:
        self.question, self.numbers, self.scores = question, numbers, scores
        self.added, self.replies, self.remarks = added, replies, remarks
        self.said, self.silent, self.is_close = said or {}, silent, is_close
        self.totals = scores if totals is None else totals

    def shares(self, place: int) -> tuple[Reason, ...]:
        """The share of each part in the score of one post."""
        added = {name: float(part[place]) for name, part in self.added.items()}
        return tuple(Reason(name, share) for name, share in added.items() if share > 0)

    def reasons(self, place: int, post: Post) -> tuple[Reason, ...]:
        """The reasons of the parts, then of fusion and reranking, then notes on the query.

        Args:
            place: The place of the post.
            post: The post; an answer completed from its question.
        """
        number = int(self.numbers[place])
        parts = (
            replace(
                self.replies[share.part].reason(number, post), part=share.part, score=share.score
            )
            for share in self.shares(place)
        )
        remarks = (remark(place) for remark in self.remarks)
        return (*parts, *(remark for remark in remarks if remark), *self.question.notes)

    def ordered(
        self,
        places: Sequence[int],
        scores: Sequence[float] | Numbers | None = None,
        remark: Remark | None = None,
    ) -> RecipeReply:
        """The posts at some places, in that order, optionally with new scores and a remark."""
        wanted = np.array(places, dtype=np.int64)
        moved = [partial(_at, remark=one, places=wanted.tolist()) for one in self.remarks]
        return RecipeReply(
            self.question,
            self.numbers[wanted],
            self.scores[wanted] if scores is None else np.array(scores, dtype=np.float64),
            {name: part[wanted] for name, part in self.added.items()},
            self.replies,
            said={name: part[wanted] for name, part in self.said.items()},
            silent=self.silent,
            totals=self.totals[wanted] if scores is None else None,
            remarks=(*moved, *([remark] if remark else [])),
            is_close=self.is_close,
        )

    def with_posts(self, numbers: Sequence[int]) -> RecipeReply:
        """The posts followed by others that have score 0 from every part."""
        nothing = np.zeros(len(numbers))
        return RecipeReply(
            self.question,
            np.concatenate([self.numbers, np.array(numbers, dtype=np.int64)]),
            np.concatenate([self.scores, nothing]),
            {name: np.concatenate([part, nothing]) for name, part in self.added.items()},
            self.replies,
            said={name: np.concatenate([part, nothing]) for name, part in self.said.items()},
            silent=self.silent,
            totals=np.concatenate([self.totals, nothing]),
            remarks=self.remarks,
            is_close=self.is_close,
        )

    def with_share(self, part: str, shares: Sequence[float], reply: Reply) -> RecipeReply:
        """Add a share to the scores of the first posts and sort again.

        Args:
            part: The name of the share.
            shares: The share of each post, from the first on.
            reply: Gives the reasons for the share.
        """
        added = np.zeros(len(self.numbers))
        added[: len(shares)] = shares
        totals = self.scores + added
        self.added, self.replies = {**self.added, part: added}, {**self.replies, part: reply}
        order = np.argsort(-totals.round(9), kind="stable")
        return self.ordered(order.tolist(), _falling(totals[order]))

    def rescored(self, scores: Numbers, threshold: float) -> RecipeReply:
        """The posts with new scores; the shares of the parts keep their proportions.

        Args:
            scores: The new scores.
            threshold: If the best score is below this, no post is close to the question.
        """
        scale = np.divide(scores, self.scores, out=np.zeros_like(scores), where=self.scores != 0)
        return RecipeReply(
            self.question,
            self.numbers,
            scores,
            {name: part * scale for name, part in self.added.items()},
            self.replies,
            said=self.said,
            silent=self.silent,
            totals=self.totals,
            remarks=self.remarks,
            is_close=bool(scores.max(initial=0) >= threshold),
        )


def _falling(scores: Numbers) -> Numbers:
    """Make scores non-increasing: remove rounding errors by which a later score is larger.

    >>> _falling(np.array([0.5, 0.2, 0.2 + 1e-12])).tolist()
    [0.5, 0.2, 0.2]
    """
    fallen: Numbers = np.minimum.accumulate(scores)
    return fallen


def _at(place: int, remark: Remark, places: list[int]) -> Reason | None:
    return remark(places[place])


def chosen_weights(recipe: Recipe, asked: Mapping[str, float] | None = None) -> dict[str, float]:
    """The weight of each part: as requested, or else as in the recipe.

    Parts that are not named get weight 0. Requested weights are normalised to sum 1.
    """
    if asked is None:
        return dict(recipe.ranking.weights)
    known = ", ".join(recipe.members)
    for part, weight in asked.items():
        if part not in recipe.members:
            raise InputError(
                f"weights: {part!r} is not a part of the recipe {recipe.name} (parts: {known})"
            )
        if not 0 <= weight < float("inf"):
            raise InputError(f"weights: {part} is {weight:g}; a weight cannot be less than 0")
    total = sum(asked.values())
    if not 0 < total < float("inf"):
        raise InputError(f"weights: at least one part must count (parts: {known})")
    return {part: asked.get(part, 0.0) / total for part in recipe.ranking.weights}


def weighted_sum(
    recipe: Recipe,
    parts: Mapping[str, Retriever],
    questions: Sequence[Question],
    depth: int,
    *,
    allowed: Allowed,
    weights: dict[str, float],
    clock: Clock,
    also: int | None = None,
) -> Iterator[RecipeReply]:
    """Score the candidates of each question by the weighted sum of the parts' scores.

    Args:
        recipe: The recipe; it names the parts that retrieve candidates.
        parts: The retrievers of the parts, by name.
        questions: The questions.
        depth: How many candidates each part may retrieve.
        allowed: The posts that may be found; None for all.
        weights: The weight of each part (`chosen_weights`).
        clock: The time limit; parts that do not finish in time are left out.
        also: A post that is added to the candidates even if no part retrieves it.
    """
    counting = [part for part in weights if weights[part]]
    retrieving = [part for part in recipe.ranking.candidates_from if weights[part]] or counting
    panel = _PartReplies(parts, questions)
    found: dict[str, list[Scored]] = {}
    for place, part in enumerate(retrieving):
        search = partial(panel.best, part, depth, allowed)
        # One share of the time is reserved for the later steps: reranking and reasons.
        scored = clock.attempt(part, search, len(retrieving) - place + 1)
        if scored is not None:
            found[part] = scored
    for place, question in enumerate(questions):
        lists = {part: scored[place] for part, scored in found.items()}
        silent = {name for name in weights if is_silent(recipe.parts[name], question)}
        if silent.issuperset(lists):
            # The retrieving parts have nothing to search for: the other parts retrieve instead.
            others: dict[str, Scored] = {}
            for part in counting:
                if part not in silent and part not in clock.unfinished:
                    search_one = partial(panel.best_of_one, part, place, depth, allowed)
                    one = clock.attempt(part, search_one)
                    if one is not None:
                        others[part] = one
            lists = others or lists
        elif not any(len(lists[part].numbers) for part in lists if part not in silent):
            # A single letter has no structure to match, but is indexed as a term (a name).
            named = {
                part
                for part in silent.intersection(lists)
                if recipe.parts[part]["kind"] == _NAMING and len(lists[part].numbers)
            }
            silent = set(weights) - named if named else silent
        numbers = _listed(lists)
        if also is not None and also not in numbers:
            # No part retrieved the post, so every part has to score it.
            numbers, asked = distinct(np.append(numbers, also)), np.array([also])
        else:
            asked = np.empty(0, np.int64)
        scores: dict[str, Numbers] = {}
        for part, weight in weights.items():
            scores[part] = np.zeros(len(numbers))
            if part in lists:
                scores[part][np.searchsorted(numbers, lists[part].numbers)] = lists[part].scores
            wanted = asked if part in lists else numbers
            if weight and len(wanted) and part not in clock.unfinished:
                given = clock.attempt(part, partial(panel.scores, part, place, wanted))
                if given is not None:
                    scores[part][np.searchsorted(numbers, wanted)] = given
        own = weights
        if recipe.ranking.adaptive:
            own = adapted(weights, frozenset({*silent, *clock.unfinished}))
        ranking = recipe.ranking
        added = shares(scores, own, ranking.normalise, ranking.full_scores)
        leading = np.sort(order(added, numbers)[: ranking.rescored])
        if len(leading):
            for part in (part for part in lists if part not in clock.unfinished):
                exact = clock.attempt(part, partial(panel.scores, part, place, numbers[leading]))
                if exact is not None:
                    scores[part][leading] = exact
            added = shares(scores, own, ranking.normalise, ranking.full_scores)
        added_up = _combine(question, numbers, scores, own, added, panel.replies(place))
        added_up.silent = frozenset(silent)
        yield added_up


def _combine(
    question: Question,
    numbers: NDArray[np.int64],
    scores: dict[str, Numbers],
    weights: dict[str, float],
    parts: dict[str, Numbers],
    replies: dict[str, Reply],
) -> RecipeReply:
    """The weighted sum of the scores of the parts."""
    places = order(parts, numbers)
    # Drop posts that were found only by parts with weight 0.
    found = np.any([scores[part] != 0 for part in parts if weights[part]], axis=0)
    places = places[found[places]]
    added = {name: part[places] for name, part in parts.items()}
    total = _falling(sum(added.values(), start=np.zeros(len(places))))
    said = {name: part[places] for name, part in scores.items()}
    return RecipeReply(question, numbers[places], total, added, replies, said=said)


class _PartReplies:
    """The parts of a recipe; each answers all questions in one call, on first use."""

    def __init__(self, parts: Mapping[str, Retriever], questions: Sequence[Question]) -> None:
        self._parts, self._questions = parts, questions
        self._asked: dict[str, Sequence[Reply]] = {}

    def best(self, part: str, k: int, allowed: Allowed) -> list[Scored]:
        """The best posts for each question."""
        return [reply.best(k, allowed) for reply in self._replies(part)]

    def best_of_one(self, part: str, place: int, k: int, allowed: Allowed) -> Scored:
        """The best posts for one question."""
        return self._replies(part)[place].best(k, allowed)

    def scores(self, part: str, place: int, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of a part for given posts and one question."""
        return self._replies(part)[place].scores(numbers)

    def replies(self, place: int) -> dict[str, Reply]:
        """The replies to one question of all parts that were used."""
        return {part: replies[place] for part, replies in self._asked.items()}

    def _replies(self, part: str) -> Sequence[Reply]:
        if part not in self._asked:
            self._asked[part] = self._parts[part].ask(self._questions)
        return self._asked[part]


def _listed(lists: Mapping[str, Scored]) -> NDArray[np.int64]:
    none = np.empty(0, np.int64)
    return distinct(np.concatenate([none, *(scored.numbers for scored in lists.values())]))
