"""Ranks posts according to a recipe: a weighted sum or a fusion, then a reranker.

If a recipe fuses several systems, each system is ranked as a separate recipe first. Posts that
contain the query as it is written get a higher score, and scores are calibrated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.deadline import Clock
from mathsetu.intake.question import Question
from mathsetu.library.backend import Posts
from mathsetu.library.candidates import RecipeReply, weighted_sum
from mathsetu.library.exact_matches import EXACT, ExactReply
from mathsetu.ranking.hybrid import Calibration
from mathsetu.ranking.rerank import Rerank, Reranker
from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Hit, Reason, Run
from mathsetu.retrieval.base import Reply, Retriever

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.retrieval.formula import FormulaReply
    from mathsetu.retrieval.lexical import LexicalReply

    Numbers = NDArray[np.float64]
    Allowed = NDArray[np.bool_] | None

#: The name in `Answer.unfinished` when the reranker did not finish in time.
RERANKING = "reranking"
# Top posts examined for exact matches: by default, for queries of formulas or few words only (where
# scores tell less), and for posts that may have all words of a short query.
_EXACT_DEPTH, _SHORT_EXACT_DEPTH, _WORDS_EXACT_DEPTH = 20, 50, 100
# Kinds of parts that encode words instead of looking them up; the least share of known words in a
# query, by letters, for their scores to be reliable.
_ENCODING_KINDS, _MIN_KNOWN = frozenset({"meaning", "dense"}), 0.25
# Posts that are examined for all words of a query, and the number of top posts they are chosen
# from: a long post with all words does not rank first, as each word counts little in it.
_MAX_POSTS_READ, _WORDS_DEPTH = 20, 200
# Top posts that are examined for all larger formulas of a query.
_FORMULA_DEPTH = 3


@dataclass(frozen=True)
class Scope:
    """Which posts may be found, how many, and in what time.

    Attributes:
        k: The number of posts wanted for each question.
        allowed: The posts that may be found; None for all.
        clock: The time limit.
        also: A post that is ranked even if no part finds it.
    """

    k: int
    allowed: Allowed
    clock: Clock
    also: int | None = None


class Ranker:
    """Ranks posts according to one recipe.

    Args:
        recipe: The recipe.
        parts: The retrievers of its parts, by name; others are ignored.
        posts: The posts of the library.
    """

    def __init__(self, recipe: Recipe, parts: Mapping[str, Retriever], posts: Posts) -> None:
        self.recipe = recipe
        self._parts = parts
        self._posts = posts

    def rank(
        self, questions: Sequence[Question], scope: Scope, weights: dict[str, float]
    ) -> Iterator[RecipeReply]:
        """Rank the posts for each question.

        Args:
            questions: The questions.
            scope: Which posts may be found, and how many.
            weights: The weight of each part, or of each system.
        """
        rank = self._fused if self.recipe.ranking.fuse else self._weighed
        settings, choices = self.recipe.rerank, self.recipe.ranking
        # A calibration is valid only for the recipe's own weights and with all parts finished.
        learned = choices.calibration if weights == choices.weights else None
        for ranked in rank(questions, scope, weights):
            if choices.exact and len(ranked.numbers):
                ranked = scope.clock.attempt(EXACT, partial(self._exact, ranked)) or ranked
            if learned and not scope.clock.unfinished:
                ranked = ranked.rescored(self._chances(ranked, learned), learned.threshold)
            if settings is not None and len(ranked.numbers):
                read = partial(self._reranked, ranked, settings)
                ranked = scope.clock.attempt(RERANKING, read) or ranked
            yield ranked

    def _chances(self, ranked: RecipeReply, learned: Calibration) -> Numbers:
        """The calibrated scores of the posts found.

        If too few words of the query are known, the scores of encoders are guesses and are set to
        0. A post with all words of the query counts as close to it, because in a small library,
        where every word is frequent, the scores of words do not show that.
        """
        levels = {name: float(part.max(initial=0)) for name, part in ranked.said.items()}
        scores = learned.scores(ranked.totals, levels, ranked.silent)
        if scores.max(initial=0) >= learned.threshold and not self._knows_words(ranked.question):
            guesses = (
                name for name in levels if self.recipe.parts[name]["kind"] in _ENCODING_KINDS
            )
            levels |= dict.fromkeys(guesses, 0.0)
            scores = learned.scores(ranked.totals, levels, ranked.silent)
        if scores.max(initial=0) < learned.threshold and self._contains_query(ranked):
            scores = learned.scores(ranked.totals, levels, ranked.silent, contains_query=True)
        return scores

    def _knows_words(self, question: Question) -> bool:
        """Whether enough of a question's words are known in its language or occur in posts."""
        from mathsetu.languages.vocabulary import known_share  # not needed to open a library
        from mathsetu.retrieval.lexical import LexicalRetriever

        indexes = [part for part in self._parts.values() if isinstance(part, LexicalRetriever)]

        def is_used(terms: list[str]) -> bool:
            return any(index.has(terms) for index in indexes)

        return known_share(question.words, question.languages, is_used) >= _MIN_KNOWN

    def _contains_query(self, ranked: RecipeReply) -> bool:
        """Whether a post contains the question: as written, all its words, or all its formulas.

        All words are searched for in the posts with the best word scores. A formula may be part of
        a larger one in the post, and with other letters.
        """
        if EXACT in ranked.added and ranked.added[EXACT].any():
            return True
        for name, formulas in _formulas(ranked).items():
            first = np.argsort(-ranked.said[name], kind="stable")[:_FORMULA_DEPTH]
            if any(map(formulas.holds_all, ranked.numbers[first].tolist())):
                return True
        for name, reply in _lexical(ranked).items():
            order = np.argsort(-ranked.said[name], kind="stable")
            likely = filter(reply.may_match_all, ranked.numbers[order[:_WORDS_DEPTH]].tolist())
            numbers = list(islice(likely, _MAX_POSTS_READ))
            posts = self._posts.posts(numbers)
            return any(reply.shortest_passage(posts[number]) for number in numbers)
        return False

    def depth(self, k: int) -> int:
        """The number of candidates from each part when ``k`` posts are wanted."""
        ranking, rerank = self.recipe.ranking, self.recipe.rerank
        return max(k, ranking.candidates, rerank.depth if rerank else 0)

    def _exact(self, ranked: RecipeReply) -> RecipeReply:
        """Raise the scores of posts that contain the query as it is written."""
        exact = ExactReply(ranked.question, next(iter(_lexical(ranked).values()), None))
        if not exact.is_needed:
            return ranked
        weight = self.recipe.ranking.exact * exact.strength
        depth = _SHORT_EXACT_DEPTH if exact.is_short else _EXACT_DEPTH
        first = ranked.numbers[:_WORDS_EXACT_DEPTH].tolist()
        likely = first[:depth] + list(filter(exact.may_have_words, first[depth:]))
        posts = self._posts.lazy_posts(likely)
        shares = [
            weight * exact.share(number, posts[number]) if number in posts else 0.0
            for number in first
        ]
        return ranked.with_share(EXACT, shares, exact) if any(shares) else ranked

    def _weighed(
        self, questions: Sequence[Question], scope: Scope, weights: dict[str, float]
    ) -> Iterator[RecipeReply]:
        return weighted_sum(
            self.recipe,
            self._parts,
            questions,
            self.depth(scope.k),
            allowed=scope.allowed,
            weights=weights,
            clock=scope.clock,
            also=scope.also,
        )

    def _fused(
        self, questions: Sequence[Question], scope: Scope, weights: dict[str, float]
    ) -> Iterator[RecipeReply]:
        from mathsetu.ranking.fusion import fuse  # most recipes do not fuse

        ranking = self.recipe.ranking
        counting = {name: weight for name, weight in weights.items() if weight}
        method = self.recipe.fusion(counting)
        deeper = replace(scope, k=max(scope.k, ranking.candidates))
        members = [Ranker(self.recipe.member(name), self._parts, self._posts) for name in counting]
        rankings = [
            member.rank(questions, deeper, member.recipe.ranking.weights) for member in members
        ]
        for question, *lists in zip(questions, *rankings, strict=True):
            # A member of several parts ranks the union of their candidates; its run is cut at k.
            cut = (_first(ranked, deeper) for ranked in lists)
            named = dict(zip(counting, cut, strict=True))
            # Fusion breaks ties by post ids: so the order is the same as for fused run files.
            found = dict.fromkeys(n for one in named.values() for n in one.numbers.tolist())
            ids = self._posts.ids(list(found))
            runs = [_as_run(name, ranked, ids) for name, ranked in named.items()]
            [hits] = fuse(runs, method, max(1, len(found))).rankings.values()
            numbers = {post_id: number for number, post_id in ids.items()}
            order = [numbers[hit.id] for hit in hits]
            scores = np.array([hit.score for hit in hits], dtype=np.float64)
            yield _fused_reply(question, named, order, scores, str(ranking.fuse["method"]))

    def _reranked(self, ranked: RecipeReply, settings: Rerank) -> RecipeReply:
        top = ranked.numbers[: settings.depth].tolist()
        posts = self._posts.posts(top)
        texts = [candidate_text(posts[number], settings.fields, settings.text) for number in top]
        asked = question_text(ranked.question.marked_query, settings.text)
        found = Reranker(settings).rerank(asked, texts, ranked.scores.tolist())
        # Calibrated scores stay at their places; only the posts move.
        is_calibrated = ranked.scores is not ranked.totals
        scores = ranked.scores.tolist() if is_calibrated else found.scores

        def remark(place: int) -> Reason | None:
            old = found.order[place]
            if old >= found.reached:
                return Reason("rerank", scores[place] - float(ranked.scores[old]), "not read")
            detail = f"rank {old + 1} before reranking with {settings.model}, {place + 1} after"
            return Reason("rerank", scores[place] - float(ranked.scores[old]), detail)

        return ranked.ordered(found.order, scores, remark)


def _lexical(ranked: RecipeReply) -> dict[str, LexicalReply]:
    """The replies of the lexical parts, by part."""
    from mathsetu.retrieval.lexical import LexicalReply

    return {
        name: reply
        for name, reply in ranked.replies.items()
        if isinstance(reply, LexicalReply) and name in ranked.said
    }


def _formulas(ranked: RecipeReply) -> dict[str, FormulaReply]:
    """The replies of the formula parts, by part."""
    from mathsetu.retrieval.formula import FormulaReply

    return {
        name: reply
        for name, reply in ranked.replies.items()
        if isinstance(reply, FormulaReply) and name in ranked.said
    }


def _first(ranked: RecipeReply, scope: Scope) -> RecipeReply:
    """The first ``k`` posts, and the post that is always ranked."""
    numbers = ranked.numbers.tolist()
    if len(numbers) <= scope.k:
        return ranked
    asked = [place for place in range(scope.k, len(numbers)) if numbers[place] == scope.also]
    return ranked.ordered([*range(scope.k), *asked])


def _as_run(name: str, ranked: RecipeReply, ids: Mapping[int, str]) -> Run:
    """A ranking as input for fusion."""
    pairs = zip(ranked.numbers.tolist(), ranked.scores.tolist(), strict=True)
    hits = tuple(Hit(ids[number], score) for number, score in pairs)
    return Run(name, {ranked.question.query.id: hits})


def _fused_reply(
    question: Question,
    members: Mapping[str, RecipeReply],
    order: Sequence[int],
    scores: Numbers,
    method: str,
) -> RecipeReply:
    """The fused ranking, with the shares of the members' parts and each post's ranks."""
    places = {number: place for place, number in enumerate(order)}
    added: dict[str, Numbers] = {}
    replies: dict[str, Reply] = {}
    ranks: list[dict[str, int]] = [{} for _ in order]
    for name, ranked in members.items():
        own = [places[number] for number in ranked.numbers.tolist()]
        for rank, place in enumerate(own, start=1):
            ranks[place][name] = rank
        for part, values in ranked.added.items():
            given = np.zeros(len(order))
            given[own] = values
            added[part] = np.maximum(added[part], given) if part in added else given
        replies |= ranked.replies

    # Scale the shares of the parts to sum to the fused score; without shares, it is the fusion's.
    whole = sum(added.values(), start=np.zeros(len(order)))
    scale = np.divide(scores, whole, out=np.zeros_like(scores), where=whole > 0)
    added = {part: values * scale for part, values in added.items()}

    def remark(place: int) -> Reason:
        shown = ", ".join(f"{name} {rank}" for name, rank in ranks[place].items())
        own = 0.0 if whole[place] > 0 else float(scores[place])
        return Reason(method, own, f"ranks: {shown}")

    numbers = np.array(order, dtype=np.int64)
    return RecipeReply(question, numbers, scores, added, replies, remarks=(remark,))
