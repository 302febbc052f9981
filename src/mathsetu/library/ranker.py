"""Ranks posts according to a recipe: a weighted sum or a fusion, then a reranker.

If a recipe fuses several systems, each system is ranked as a separate recipe first. Posts that
contain the query as it is written get a higher score, scores are calibrated, and posts in the
user's language are preferred if requested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.deadline import Clock, check_time
from mathsetu.formulas.exact import exact_score, is_informative
from mathsetu.intake.posts import LazyPost
from mathsetu.intake.question import Question
from mathsetu.languages.phrases import Phrase, as_heading, phrases
from mathsetu.library.backend import Posts
from mathsetu.library.candidates import RecipeReply, weighted_sum
from mathsetu.library.store import Heading
from mathsetu.markup import formula_in_markdown
from mathsetu.ranking.hybrid import Calibration, order_by_language
from mathsetu.ranking.rerank import Rerank, Reranker
from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.recipes.schema import Recipe
from mathsetu.records import BETWEEN_TITLES, Evidence, Hit, Post, Reason, Run
from mathsetu.retrieval.base import ComparableReply, Reply, Retriever, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.retrieval.formula import FormulaReply
    from mathsetu.retrieval.lexical import LexicalReply

    Numbers = NDArray[np.float64]
    Allowed = NDArray[np.bool_] | None

#: The name in `Answer.unfinished` when the reranker did not finish in time.
RERANKING = "reranking"
#: Names of reasons: the share of a score for an exact match; a new order by language.
EXACT, LANGUAGE = "exact", "language"
#: The start of the reason if a post has all words of a question close together, not as a phrase.
TOGETHER = "all words together: "
# Top posts examined for exact matches: by default, for queries of formulas or few words only (where
# scores tell less), and for posts that may have all words of a short query. Last, the top posts
# that are reordered by language.
_LOOKED_INTO, _LOOKED_INTO_FOR_LITTLE, _LOOKED_INTO_FOR_WORDS, _LANGUAGE_DEPTH = 20, 50, 100, 100
# The largest factor for an exact match (`ExactReply.strength`).
_NOTHING_ELSE = 4.0
# The share if the whole question is the title of a post, or the last heading in its title.
_TITLE = 2.0
# Formulas of a query that are searched for as written, the longest first.
_FORMULAS = 5
# Kinds of parts that encode words instead of looking them up; the least share of known words in a
# query, by letters, for their scores to be reliable.
_GUESSING, _MIN_KNOWN = frozenset({"meaning", "dense"}), 0.25
# Posts that are examined for all words of a query, and the number of top posts they are chosen
# from: a long post with all words does not rank first, as each word counts little in it.
_SAID_BY, _SAID_AMONG = 20, 200
# Top posts that are examined for all larger formulas of a query.
_HELD_AMONG = 3
# Proximity: all words of a short query (at most _SHORT words) within _TOGETHER words of a post
# count in any order. They get _APART of the share of a phrase (_FEW_APART for two or three words,
# which may be close by chance), and up to _ADJACENT more the closer they are. Words in the order
# of the query but with other endings, and a term that translates all of them together, get
# _APART + _ADJACENT.
_SHORT, _TOGETHER, _ADJACENT = 8, 20, 0.2
_APART, _FEW_APART = 0.7, {2: 0.4, 3: 0.55}
# Posts in different languages are versions of one another from this cosine of their vectors and
# this Jaccard index of their formulas, with at least so many formulas in common.
_SAME_MEANING, _SAME_FORMULAS, _MIN_FORMULAS = 0.85, 0.6, 2


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
            guesses = (name for name in levels if self.recipe.parts[name]["kind"] in _GUESSING)
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
            first = np.argsort(-ranked.said[name], kind="stable")[:_HELD_AMONG]
            if any(map(formulas.holds_all, ranked.numbers[first].tolist())):
                return True
        for name, reply in _lexical(ranked).items():
            order = np.argsort(-ranked.said[name], kind="stable")
            likely = filter(reply.may_match_all, ranked.numbers[order[:_SAID_AMONG]].tolist())
            numbers = list(islice(likely, _SAID_BY))
            posts = self._posts.posts(numbers)
            return any(reply.shortest_passage(posts[number]) for number in numbers)
        return False

    def depth(self, k: int) -> int:
        """The number of candidates from each part when ``k`` posts are wanted."""
        ranking, rerank = self.recipe.ranking, self.recipe.rerank
        return max(k, ranking.candidates, rerank.depth if rerank else 0)

    def prefer_language(
        self,
        ranked: RecipeReply,
        language: str,
        strength: float,
        depth: int,
        *,
        is_filtered: bool = False,
    ) -> RecipeReply:
        """Reorder the posts for a user who prefers a language.

        Versions of a post are scored together, and the version in that language is ranked first.
        If no part has found that version, it is looked up in the thread of the post. A post that
        moves up gets the highest score of the posts below it, so that scores do not increase along
        the list. The difference is stated as the share of the language in the reasons.

        Args:
            ranked: The posts.
            language: The preferred language.
            strength: The strength of the preference (`order_by_language`).
            depth: The number of posts wanted; at least as many are examined.
            is_filtered: Whether a filter applies; then no versions are looked up.
        """
        without = ranked
        first = ranked.numbers[: max(depth, _LANGUAGE_DEPTH)].tolist()
        headings = self._posts.headings(first)
        threads = self._threads(headings.values())
        places = list(range(len(first)))
        if not is_filtered:
            ranked, further = _looked_up(ranked, threads, language, set(first))
            headings |= self._posts.headings(ranked.numbers[further].tolist())
            places += further
        looked_at = ranked.numbers[places]
        seen = [headings[number] for number in looked_at.tolist()]
        is_own = [heading.language == language for heading in seen]
        if not strength or all(is_own) or not any(is_own):
            return without
        groups = self._groups(ranked, looked_at, seen, threads)
        sizes = {
            group: len(threads[seen[group].thread_id])
            for group in set(groups)
            if seen[group].thread_id in threads
        }
        totals, scores = ranked.totals[places], ranked.scores[places]
        order = order_by_language(scores, totals, is_own, groups, sizes, strength)
        is_rest = np.ones(len(ranked.numbers), dtype=np.bool_)
        is_rest[places] = False
        before = [*(places[place] for place in order), *np.flatnonzero(is_rest).tolist()]
        own = ranked.scores[before]
        shown = np.maximum.accumulate(own[::-1])[::-1]
        spoken = [is_own[place] for place in order]
        counts = Counter(groups)
        has_versions = [max(counts[group], sizes.get(group, 0)) > 1 for group in groups]

        def remark(place: int) -> Reason | None:
            old = before[place]
            if old <= place and shown[place] == own[place]:
                return None
            if place < len(spoken) and spoken[place]:
                why = f"in the language of the query ({language})"
            elif place < len(order) and has_versions[order[place]]:
                why = "judged together with its versions in other languages"
            else:
                why = "those above it were judged together with their versions"
            was_found = old < len(without.numbers)
            rank = f"rank {old + 1} otherwise" if was_found else "a version of what was found"
            return Reason(LANGUAGE, float(shown[place] - own[place]), f"{why}: {rank}")

        return ranked.ordered(before, shown, remark)

    def versions(self, ranked: RecipeReply, depth: int) -> list[int]:
        """For each of the first posts the place of its first version in any language.

        Versions are posts in different languages that share a thread in which no language has two
        posts and no post is an answer, or posts with nearly the same meaning and formulas. An
        answer is never a version of a question.
        """
        numbers = ranked.numbers[:depth]
        headings = self._posts.headings(numbers.tolist())
        seen = [headings[number] for number in numbers.tolist()]
        return self._groups(ranked, numbers, seen, self._threads(seen))

    def _threads(self, posts: Iterable[Heading]) -> dict[str, dict[int, str]]:
        """The threads of posts whose members are versions: the languages of posts by number.

        The posts of a discussion and the sections of a document are not versions.
        """
        names = dict.fromkeys(post.thread_id for post in posts if post.thread_id)
        known = self._posts.threads(names) if names else {}
        alike = {name: thread for name, thread in known.items() if _are_in_languages(thread)}
        several = [number for thread in alike.values() if len(thread) > 1 for number in thread]
        headings = self._posts.headings(several).values()
        answered = {heading.thread_id for heading in headings if heading.is_answer}
        return {name: thread for name, thread in alike.items() if name not in answered}

    def _groups(
        self,
        ranked: RecipeReply,
        numbers: NDArray[np.int64],
        seen: Sequence[Heading],
        threads: Mapping[str, Mapping[int, str]],
    ) -> list[int]:
        """For each post the place of its first version among them."""
        first = list(range(len(seen)))
        near = self._near(ranked, numbers, [heading.language for heading in seen])
        mentioned = {place for pair in near for place in pair}
        posts = self._posts.lazy_posts(numbers[sorted(mentioned)].tolist())
        same: dict[int, list[int]] = {}
        for other, place in near:
            check_time()
            if _have_same_formulas(posts[int(numbers[place])], posts[int(numbers[other])]):
                same.setdefault(place, []).append(other)
        begun: dict[str, int] = {}
        for place, heading in enumerate(seen):
            thread = heading.thread_id
            same_thread = [begun.setdefault(thread, place)] if thread in threads else []
            for other in same_thread + sorted(same.get(place, ())):
                if other < place and _can_be_versions(heading, seen[first[other]]):
                    first[place] = first[other]
                    break
        return first

    @staticmethod
    def _near(
        ranked: RecipeReply, numbers: NDArray[np.int64], languages: Sequence[str]
    ) -> list[tuple[int, int]]:
        """Pairs of places of posts in different languages with nearly the same meaning."""
        comparing = [one for one in ranked.replies.values() if isinstance(one, ComparableReply)]
        spoken = Counter(filter(None, languages)).most_common()
        if not comparing or len(spoken) < 2:
            return []
        means = comparing[0].means(numbers)
        compared = np.zeros(0, dtype=np.int64)
        found: list[tuple[int, int]] = []
        for code, _ in spoken:
            own = np.flatnonzero([language == code for language in languages])
            cosines = np.einsum("ij,kj->ik", means[own], means[compared])
            pairs = np.argwhere(cosines >= _SAME_MEANING)
            both = np.stack([own[pairs[:, 0]], compared[pairs[:, 1]]], axis=1)
            found += map(tuple, np.sort(both, axis=1).tolist())
            compared = np.append(compared, own)
        return found

    def _exact(self, ranked: RecipeReply) -> RecipeReply:
        """Raise the scores of posts that contain the query as it is written."""
        exact = ExactReply(ranked.question, next(iter(_lexical(ranked).values()), None))
        if not exact.is_needed:
            return ranked
        weight = self.recipe.ranking.exact * exact.strength
        depth = _LOOKED_INTO_FOR_LITTLE if exact.is_short else _LOOKED_INTO
        first = ranked.numbers[:_LOOKED_INTO_FOR_WORDS].tolist()
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
            yield _together(question, named, order, scores, str(ranking.fuse["method"]))

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


class ExactReply:
    """Scores exact matches of a question: its formulas, and its words as a phrase.

    Args:
        question: The question.
        lexical: The reply of a lexical part, if any; finds words that are close together, but not
            as a phrase.
    """

    def __init__(self, question: Question, lexical: LexicalReply | None = None) -> None:
        self._question = question
        # Many words, or words with formulas, are close together by chance or not at all.
        is_short = lexical is not None and not question.formulas
        self._lexical = lexical if is_short and len(question.words.split()) <= _SHORT else None

    @property
    def is_needed(self) -> bool:
        """Whether the question has anything to match exactly."""
        return bool(self._formulas or self._phrases or self._heading)

    @property
    def is_short(self) -> bool:
        """Whether the question has only formulas, or only a few words."""
        return not self._question.words.strip() or self._word_count < _NOTHING_ELSE

    @property
    def strength(self) -> float:
        """The factor for exact matches: how much they say about the relevance of a post.

        It is largest for questions of formulas only, because similarity prefers a fragment of a
        formula to a longer formula that contains it, and for one word, whose meaning is vague. It
        is also largest for four to eight words, which are not adjacent by chance as two may be.
        """
        count = self._word_count
        if count > _SHORT:
            return 1.0
        return max(_NOTHING_ELSE / max(1, count), min(float(count), _NOTHING_ELSE))

    @cached_property
    def _word_count(self) -> int:
        """The number of words; words with formulas never count as few."""
        count = len(self._question.words.split())
        return count if not self._question.formulas else count and _SHORT + 1

    @cached_property
    def _heading(self) -> str:
        """The whole question normalised for a comparison with titles; "" if it has formulas."""
        return "" if self._question.formulas else as_heading(self._question.words)

    @cached_property
    def _formulas(self) -> list[str]:
        longest_first = sorted(self._question.formulas, key=len, reverse=True)
        return list(islice(filter(is_informative, longest_first), _FORMULAS))

    @cached_property
    def _phrases(self) -> list[Phrase]:
        return phrases(self._question.texts, self._question.language)

    def may_have_words(self, number: int) -> bool:
        """Whether a post may have all words of a short question; a fast test."""
        lexical = self._lexical
        return lexical is not None and lexical.word_count > 1 and lexical.may_match_all(number)

    def share(self, number: int, post: LazyPost) -> float:
        """How much of the question a post contains: as written, or else its words in proximity."""
        return self.share_contained(post)[0] or self._together(number, post)[0]

    def share_contained(self, post: LazyPost) -> tuple[float, list[Evidence]]:
        """How much of the question a post contains as written, with the matches.

        This is 1 for all of it, and `_TITLE` if it is the title.
        """
        if title := self._as_title(post):
            return _TITLE, [Evidence("word", self._question.words.strip(), title)]
        whole = float(len(self._formulas) + len(self._phrases))
        total = 0.0
        found: list[Evidence] = []
        if not whole:
            return 0.0, found
        for latex in self._formulas:
            share, own = exact_score(latex, post)
            if own:
                total += share
                found.append(Evidence("formula", latex, own))
        for phrase in self._phrases:
            if own := _as_said(phrase, post):
                total += 1
                found.append(Evidence("word", phrase.text, own))
        return total / whole, found

    def _together(self, number: int, post: LazyPost) -> tuple[float, tuple[str, ...]]:
        """The share for all words of the question in proximity, and the quotes of the post.

        Words match in any order, and so do their translations.
        """
        if self._lexical is None or not self.may_have_words(number):
            return 0.0, ()
        own = self._lexical.shortest_passage(post.post)
        if own is None or own.words > _TOGETHER:
            return 0.0, ()
        count = self._lexical.word_count
        language = post.post.language
        if len(own.quotes) == 1 and self._lexical.is_inflection_of_query(own.quotes[0], language):
            is_title = self._lexical.is_inflection_of_query(_last_heading(post), language)
            return (_APART + _ADJACENT) * (_TITLE if is_title else 1.0), own.quotes
        if own.is_term:
            is_title = as_heading(_last_heading(post)) in map(as_heading, own.quotes)
            return (_APART + _ADJACENT) * (_TITLE if is_title else 1.0), own.quotes
        share = _FEW_APART.get(count, _APART) + _ADJACENT * min(count / own.words, 1.0)
        return share, own.quotes

    def _as_title(self, post: LazyPost) -> str:
        """The title of a post, or the last heading in it, if it is the whole question; else ""."""
        # Few posts have all words; only their titles are read.
        if not self._heading or not Phrase(self._heading).words_are_in(post.lower):
            return ""
        title = _last_heading(post)
        return title if as_heading(title) == self._heading else ""

    def best(self, k: int, allowed: Allowed = None) -> Scored:
        """Return no posts: only the posts found by the parts are examined."""
        return Scored(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return zeros: exact matches cannot be scored without the posts."""
        return np.zeros(len(numbers), dtype=np.float32)

    def reason(self, number: int, post: Post) -> Reason:
        """The matches of the post."""
        share, found = self.share_contained(LazyPost.of(post))
        if not found:
            # The reason of the lexical part tells which word matches which.
            share, quotes = self._together(number, LazyPost.of(post))
            return Reason(EXACT, share, TOGETHER + ", ".join(f"“{one}”" for one in quotes))
        told = (
            formula_in_markdown(one.found) if one.kind == "formula" else f"“{one.found}”"
            for one in found
        )
        # One formula of a post may contain several of the question.
        named = ", ".join(dict.fromkeys(told))
        return Reason(EXACT, share, f"as written: {named}", tuple(found))


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


def _are_in_languages(thread: Mapping[int, str]) -> bool:
    """Whether a thread has at most one post per language."""
    spoken = [language for language in thread.values() if language]
    return len(set(spoken)) == len(spoken)


def _looked_up(
    ranked: RecipeReply,
    threads: Mapping[str, Mapping[int, str]],
    language: str,
    known: AbstractSet[int],
) -> tuple[RecipeReply, list[int]]:
    """Append the versions in a language from the posts' threads; also returns their places.

    Args:
        ranked: The posts.
        threads: The threads of the posts whose members are versions.
        language: The language.
        known: Numbers of posts that are not looked up.
    """
    wanted = [
        number
        for thread in threads.values()
        for number, spoken in thread.items()
        if spoken == language and number not in known
    ]
    if not wanted:
        return ranked, []
    found = {number: place for place, number in enumerate(ranked.numbers.tolist())}
    missing = [number for number in wanted if number not in found]
    found |= {number: len(found) + place for place, number in enumerate(missing)}
    return ranked.with_posts(missing) if missing else ranked, [found[one] for one in wanted]


def _can_be_versions(post: Heading, other: Heading) -> bool:
    """Whether two posts are in different languages, and both or neither are answers."""
    in_two_languages = post.language and other.language and post.language != other.language
    return bool(in_two_languages) and post.is_answer == other.is_answer


def _last_heading(post: LazyPost) -> str:
    """The title of a post, or the last heading in the title."""
    return post.written["title"].rpartition(BETWEEN_TITLES)[2]


def _as_said(phrase: Phrase, post: LazyPost) -> str:
    """A phrase as it is written in a post, outside formulas; "" if the post does not have it."""
    # Few posts have it; only these are split into spans.
    if not phrase.words_are_in(post.lower) or not phrase.is_in(post.normalised):
        return ""
    spans = (span for text in post.texts for span in text.spans if span.kind == "text")
    return next(filter(None, (phrase.found_in(span.content) for span in spans)), "")


def _have_same_formulas(post: LazyPost, other: LazyPost) -> bool:
    ours, theirs = post.plain_formulas, other.plain_formulas
    shared = len(ours & theirs)
    return shared >= _MIN_FORMULAS and shared >= _SAME_FORMULAS * len(ours | theirs)


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


def _together(
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
