"""Candidates of a question from all parts of a recipe, with the scores of each part."""

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

# The kind of parts that know the names in formulas.
_NAMING = "lexical"
#: Says something about a post, by its place.
Remark = Callable[[int], Reason | None]


class RecipeReply:
    """What a recipe says to one question: the posts that it finds, best first, and why.

    Attributes:
        question: The question.
        numbers: The posts, best first.
        scores: Their scores.
        totals: What they are ordered by: the scores, before they were calibrated.
        added: What each part adds to the score of each post.
        said: What each part says of each post, before it is weighed.
        silent: The parts that the question gives nothing to go on.
        replies: The parts' replies, which know the reasons.
        remarks: What fusion and reranking say about a post, by its place here.
        is_close: Whether the best of them is close to what was asked, as far as can be told.
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
        """What each part adds to the score of one post."""
        added = {name: float(part[place]) for name, part in self.added.items()}
        return tuple(Reason(name, share) for name, share in added.items() if share > 0)

    def reasons(self, place: int, post: Post) -> tuple[Reason, ...]:
        """What each part says, then what fusion and reranking did, then how the query was read.

        Args:
            place: Which post.
            post: The post itself, an answer with what its question says.
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
        """The same posts in another order, perhaps with other scores, and a remark on that."""
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
        """The posts with others behind them, of which no part says anything."""
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
        """The posts with something more added to the scores of the first, ordered again.

        Args:
            part: What the share is called.
            shares: What is added to the score of each post, from the first on.
            reply: Knows the reasons for it.
        """
        added = np.zeros(len(self.numbers))
        added[: len(shares)] = shares
        totals = self.scores + added
        self.added, self.replies = {**self.added, part: added}, {**self.replies, part: reply}
        order = np.argsort(-totals.round(9), kind="stable")
        return self.ordered(order.tolist(), _falling(totals[order]))

    def rescored(self, scores: Numbers, threshold: float) -> RecipeReply:
        """The posts with scores on another scale, in which each part keeps its share.

        Args:
            scores: The new scores.
            threshold: Below this, the best of them is not close to what was asked.
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
    """Scores in order, without the last digits by which a later one may be the larger.

    >>> _falling(np.array([0.5, 0.2, 0.2 + 1e-12])).tolist()
    [0.5, 0.2, 0.2]
    """
    fallen: Numbers = np.minimum.accumulate(scores)
    return fallen


def _at(place: int, remark: Remark, places: list[int]) -> Reason | None:
    return remark(places[place])


def chosen_weights(recipe: Recipe, asked: Mapping[str, float] | None = None) -> dict[str, float]:
    """What each part counts: as asked for, or as the recipe says.

    Parts that are not named count nothing; only proportions matter.
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
    """Ask the parts of a recipe, and add up what they say.

    Args:
        recipe: Says which parts find and which only score.
        parts: Its parts by name.
        questions: What is asked.
        depth: How many posts each part may find.
        allowed: Which posts may be found; None for all.
        weights: What each part counts (`chosen_weights`).
        clock: Says how long it may take; parts that are not done by then count nothing.
        also: A post that is among the candidates, found or not.
    """
    counting = [part for part in weights if weights[part]]
    retrieving = [part for part in recipe.ranking.candidates_from if weights[part]] or counting
    panel = _Panel(parts, questions)
    found: dict[str, list[Scored]] = {}
    for place, part in enumerate(retrieving):
        search = partial(panel.best, part, depth, allowed)
        # One share of the time is left for what comes after: reranking, and reasons.
        scored = clock.attempt(part, search, len(retrieving) - place + 1)
        if scored is not None:
            found[part] = scored
    for place, question in enumerate(questions):
        lists = {part: scored[place] for part, scored in found.items()}
        silent = {name for name in weights if is_silent(recipe.parts[name], question)}
        if silent.issuperset(lists):
            # Those that should find candidates have nothing to go on: the others find them.
            others: dict[str, Scored] = {}
            for part in counting:
                if part not in silent and part not in clock.unfinished:
                    search_one = partial(panel.best_of_one, part, place, depth, allowed)
                    one = clock.attempt(part, search_one)
                    if one is not None:
                        others[part] = one
            lists = others or lists
        elif not any(len(lists[part].numbers) for part in lists if part not in silent):
            # A letter alone has no structure, but the terms of posts have it as a name.
            named = {
                part
                for part in silent.intersection(lists)
                if recipe.parts[part]["kind"] == _NAMING and len(lists[part].numbers)
            }
            silent = set(weights) - named if named else silent
        numbers = _listed(lists)
        if also is not None and also not in numbers:
            # Nobody lists it, so everybody is asked about it.
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
        added_up = _added_up(question, numbers, scores, own, added, panel.replies(place))
        added_up.silent = frozenset(silent)
        yield added_up


def _added_up(
    question: Question,
    numbers: NDArray[np.int64],
    scores: dict[str, Numbers],
    weights: dict[str, float],
    parts: dict[str, Numbers],
    replies: dict[str, Reply],
) -> RecipeReply:
    """The weighted sum of what the parts say."""
    places = order(parts, numbers)
    # What only a part without any weight here has found is not found.
    found = np.any([scores[part] != 0 for part in parts if weights[part]], axis=0)
    places = places[found[places]]
    added = {name: part[places] for name, part in parts.items()}
    total = _falling(sum(added.values(), start=np.zeros(len(places))))
    said = {name: part[places] for name, part in scores.items()}
    return RecipeReply(question, numbers[places], total, added, replies, said=said)


class _Panel:
    """The parts of a recipe, each asked once about all questions, when it is first needed."""

    def __init__(self, parts: Mapping[str, Retriever], questions: Sequence[Question]) -> None:
        self._parts, self._questions = parts, questions
        self._asked: dict[str, Sequence[Reply]] = {}

    def best(self, part: str, k: int, allowed: Allowed) -> list[Scored]:
        """The best posts of each question."""
        return [reply.best(k, allowed) for reply in self._replies(part)]

    def best_of_one(self, part: str, place: int, k: int, allowed: Allowed) -> Scored:
        """The best posts of one question."""
        return self._replies(part)[place].best(k, allowed)

    def scores(self, part: str, place: int, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """What a part says of given posts to one question."""
        return self._replies(part)[place].scores(numbers)

    def replies(self, place: int) -> dict[str, Reply]:
        """The replies of all parts that were asked, to one question."""
        return {part: replies[place] for part, replies in self._asked.items()}

    def _replies(self, part: str) -> Sequence[Reply]:
        if part not in self._asked:
            self._asked[part] = self._parts[part].ask(self._questions)
        return self._asked[part]


def _listed(lists: Mapping[str, Scored]) -> NDArray[np.int64]:
    none = np.empty(0, np.int64)
    return distinct(np.concatenate([none, *(scored.numbers for scored in lists.values())]))
