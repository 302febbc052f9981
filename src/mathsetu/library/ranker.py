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
from mathsetu.library.candidates import Candidates, find_candidates
from mathsetu.ranking.hybrid import order, shares
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
class Search:
    """What is asked.

    Attributes:
        questions: The questions.
        k: How many posts are wanted for each.
        allowed: Which posts may be found; None for all.
        clock: Says how long it may take.
        also: A post that is ranked, found or not.
    """

    questions: Sequence[Question]
    k: int
    allowed: Allowed
    clock: Clock
    also: int | None = None


@dataclass(frozen=True)
class Ranked:
    """The posts that a question finds.

    Attributes:
        question: The question.
        numbers: The posts, best first.
        scores: Their scores.
        added: What each part adds to the score of each post.
        replies: The parts' replies, which know the reasons.
        remarks: What fusion and reranking say about a post, by its place here.
    """

    question: Question
    numbers: NDArray[np.int64]
    scores: Numbers
    added: dict[str, Numbers]
    replies: dict[str, Reply]
    remarks: tuple[Callable[[int], Reason | None], ...] = ()

    def ordered(self, places: Sequence[int], scores: Sequence[float]) -> Ranked:
        """The same posts in another order, with other scores."""
        wanted = np.array(places, dtype=np.int64)
        moved = tuple(
            partial(_at, remark=remark, places=wanted.tolist()) for remark in self.remarks
        )
        return Ranked(
            self.question,
            self.numbers[wanted],
            np.array(scores, dtype=np.float64),
            {name: part[wanted] for name, part in self.added.items()},
            self.replies,
            moved,
        )


def _at(place: int, remark: Callable[[int], Reason | None], places: list[int]) -> Reason | None:
    return remark(places[place])


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

    def rank(self, search: Search, weights: dict[str, float]) -> Iterator[Ranked]:
        """All posts that each question finds, as deep as asked for where there are as many.

        Args:
            search: What is asked, and of which posts.
            weights: What each part, or each system, counts.
        """
        rank = self._fused if self.recipe.ranking.fuse else self._weighed
        settings = self.recipe.rerank
        for ranked in rank(search, weights):
            if settings is None or not len(ranked.numbers):
                yield ranked
            else:
                read = partial(self._reranked, ranked, settings)
                yield search.clock.attempt(RERANKING, read) or ranked

    def _weighed(self, search: Search, weights: dict[str, float]) -> Iterator[Ranked]:
        ranking, rerank = self.recipe.ranking, self.recipe.rerank
        candidates = find_candidates(
            self.recipe,
            self._parts,
            search.questions,
            max(search.k, ranking.candidates, rerank.depth if rerank else 0),
            allowed=search.allowed,
            weights=weights,
            clock=search.clock,
            also=search.also,
        )
        return (_added_up(found, ranking.normalise) for found in candidates)

    def _fused(self, search: Search, weights: dict[str, float]) -> Iterator[Ranked]:
        from mathsetu.ranking.fusion import fuse  # here, because most recipes fuse nothing

        ranking = self.recipe.ranking
        counting = {name: weight for name, weight in weights.items() if weight}
        method = self.recipe.fusion(counting)
        deeper = replace(search, k=max(search.k, ranking.candidates))
        members = [Ranker(self.recipe.member(name), self._parts, self._posts) for name in counting]
        rankings = [member.rank(deeper, member.recipe.ranking.weights) for member in members]
        for question, *lists in zip(search.questions, *rankings, strict=True):
            named = dict(zip(counting, lists, strict=True))
            runs = [_as_run(name, ranked) for name, ranked in named.items()]
            depth = max(1, sum(len(ranked.numbers) for ranked in lists))
            [hits] = fuse(runs, method, depth).rankings.values()
            yield _together(question, named, hits, str(ranking.fuse["method"]))

    def _reranked(self, ranked: Ranked, settings: Rerank) -> Ranked:
        top = ranked.numbers[: settings.depth].tolist()
        posts = self._posts(top)
        texts = [candidate_text(posts[number], settings.fields, settings.text) for number in top]
        asked = question_text(ranked.question.query, settings.text)
        found = Reranker(settings).rerank(asked, texts, ranked.scores.tolist())

        def remark(place: int) -> Reason | None:
            old = found.order[place]
            if old >= found.reached:
                return None
            detail = f"place {old + 1} before {settings.model} read it, {place + 1} after"
            return Reason("rerank", found.scores[place], detail)

        moved = ranked.ordered(found.order, found.scores)
        return replace(moved, remarks=(*moved.remarks, remark))


def _added_up(candidates: Candidates, normalise: str) -> Ranked:
    """The weighted sum of what the parts say."""
    scores, weights, numbers = candidates.scores, candidates.weights, candidates.numbers
    parts = shares(scores, weights, normalise)
    places = order(parts, numbers)
    # What only a part without any weight here has found is not found.
    found = np.any([scores[part] != 0 for part in parts if weights[part]], axis=0)
    places = places[found[places]]
    added = {name: part[places] for name, part in parts.items()}
    total = sum(added.values(), start=np.zeros(len(places)))
    return Ranked(candidates.question, numbers[places], total, added, candidates.replies)


def _as_run(name: str, ranked: Ranked) -> Run:
    """A ranking as fusion reads it; the number of a post is its id, so earlier posts win ties."""
    pairs = zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)
    hits = tuple(Hit(str(number), score) for number, score in pairs)
    return Run(name, {ranked.question.query.id: hits})


def _together(
    question: Question, members: Mapping[str, Ranked], hits: Sequence[Hit], method: str
) -> Ranked:
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
    return Ranked(question, numbers, scores, added, replies, (remark,))
