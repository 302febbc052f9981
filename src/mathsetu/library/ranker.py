"""Ranks posts as a recipe says: a weighted sum or a fusion, then a reranker.

A recipe of several systems is ranked by ranking each of them as a recipe of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.deadline import Clock
from mathsetu.intake.question import Question
from mathsetu.library.candidates import RecipeReply, weighted_sum
from mathsetu.ranking.rerank import Rerank, Reranker
from mathsetu.ranking.rerank.texts import candidate_text, question_text
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Hit, Post, Reason, Run
from mathsetu.retrieval.base import Reply, Retriever

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Allowed = NDArray[np.bool_] | None

#: What an answer calls unfinished when there was no time for a reranker.
RERANKING = "reranking"


@dataclass(frozen=True)
class Scope:
    """What may be found, and how much of it.

    Attributes:
        k: How many posts are wanted for each question.
        allowed: Which posts may be found; None for all.
        clock: Says how long it may take.
        also: A post that is ranked, found or not.
    """

    k: int
    allowed: Allowed
    clock: Clock
    also: int | None = None


class Ranker:
    """Ranks posts as one recipe says.

    Args:
        recipe: The recipe.
        parts: Its parts by name; those of other recipes may be among them.
        posts: Gives posts by their numbers, for the reranker to read.
    """

    def __init__(
        self,
        recipe: Recipe,
        parts: Mapping[str, Retriever],
        posts: Callable[[Sequence[int]], Mapping[int, Post]],
    ) -> None:
        self.recipe = recipe
        self._parts = parts
        self._posts = posts

    def rank(
        self, questions: Sequence[Question], scope: Scope, weights: dict[str, float]
    ) -> Iterator[RecipeReply]:
        """All posts that each question finds, as deep as asked for where there are as many.

        Args:
            questions: What is asked.
            scope: Which posts may be found, and how many.
            weights: What each part, or each system, counts.
        """
        rank = self._fused if self.recipe.ranking.fuse else self._weighed
        settings = self.recipe.rerank
        for ranked in rank(questions, scope, weights):
            if settings is None or not len(ranked.numbers):
                yield ranked
            else:
                read = partial(self._reranked, ranked, settings)
                yield scope.clock.attempt(RERANKING, read) or ranked

    def _weighed(
        self, questions: Sequence[Question], scope: Scope, weights: dict[str, float]
    ) -> Iterator[RecipeReply]:
        ranking, rerank = self.recipe.ranking, self.recipe.rerank
        return weighted_sum(
            self.recipe,
            self._parts,
            questions,
            max(scope.k, ranking.candidates, rerank.depth if rerank else 0),
            allowed=scope.allowed,
            weights=weights,
            clock=scope.clock,
            also=scope.also,
        )

    def _fused(
        self, questions: Sequence[Question], scope: Scope, weights: dict[str, float]
    ) -> Iterator[RecipeReply]:
        from mathsetu.ranking.fusion import fuse  # here, because most recipes fuse nothing

        ranking = self.recipe.ranking
        counting = {name: weight for name, weight in weights.items() if weight}
        method = self.recipe.fusion(counting)
        deeper = replace(scope, k=max(scope.k, ranking.candidates))
        members = [Ranker(self.recipe.member(name), self._parts, self._posts) for name in counting]
        rankings = [
            member.rank(questions, deeper, member.recipe.ranking.weights) for member in members
        ]
        for question, *lists in zip(questions, *rankings, strict=True):
            named = dict(zip(counting, lists, strict=True))
            runs = [_as_run(name, ranked) for name, ranked in named.items()]
            depth = max(1, sum(len(ranked.numbers) for ranked in lists))
            [hits] = fuse(runs, method, depth).rankings.values()
            yield _together(question, named, hits, str(ranking.fuse["method"]))

    def _reranked(self, ranked: RecipeReply, settings: Rerank) -> RecipeReply:
        top = ranked.numbers[: settings.depth].tolist()
        posts = self._posts(top)
        texts = [candidate_text(posts[number], settings.fields, settings.text) for number in top]
        asked = question_text(ranked.question.marked_query, settings.text)
        found = Reranker(settings).rerank(asked, texts, ranked.scores.tolist())

        def remark(place: int) -> Reason | None:
            old = found.order[place]
            if old >= found.reached:
                return None
            detail = f"place {old + 1} before {settings.model} read it, {place + 1} after"
            return Reason("rerank", found.scores[place], detail)

        return ranked.ordered(found.order, found.scores, remark)


def _as_run(name: str, ranked: RecipeReply) -> Run:
    """A ranking as fusion reads it; the number of a post is its id, so earlier posts win ties."""
    pairs = zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)
    hits = tuple(Hit(str(number), score) for number, score in pairs)
    return Run(name, {ranked.question.query.id: hits})


def _together(
    question: Question, members: Mapping[str, RecipeReply], hits: Sequence[Hit], method: str
) -> RecipeReply:
    """The fused ranking, with what the members' parts said and where each member had a post."""
    numbers = np.array([int(hit.id) for hit in hits], dtype=np.int64)
    places = {number: place for place, number in enumerate(numbers.tolist())}
    added: dict[str, Numbers] = {}
    replies: dict[str, Reply] = {}
    ranks: list[dict[str, int]] = [{} for _ in hits]
    for name, ranked in members.items():
        own = [places[number] for number in ranked.numbers.tolist()]
        for rank, place in enumerate(own, start=1):
            ranks[place][name] = rank
        for part, values in ranked.added.items():
            given = np.zeros(len(hits))
            given[own] = values
            added[part] = np.maximum(added[part], given) if part in added else given
        replies |= ranked.replies

    def remark(place: int) -> Reason:
        shown = ", ".join(f"{name} {rank}" for name, rank in ranks[place].items())
        return Reason(method, hits[place].score, f"ranks: {shown}")

    scores = np.array([hit.score for hit in hits], dtype=np.float64)
    return RecipeReply(question, numbers, scores, added, replies, remarks=(remark,))
