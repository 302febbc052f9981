"""Ranks posts as a recipe says: a weighted sum or a fusion, then a reranker.

A recipe of several systems is ranked by ranking each of them as a recipe of its own. Posts that
hold the query as it is written are put above their like, scores are calibrated, and posts in the
asker's language come first where that is wanted.
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
from mathsetu.formulas.exact import exactly, is_telling
from mathsetu.intake.posts import Glance
from mathsetu.intake.question import Question
from mathsetu.languages.phrases import Phrase, as_heading, phrases
from mathsetu.library.backend import Posts
from mathsetu.library.candidates import RecipeReply, weighted_sum
from mathsetu.library.store import Heading
from mathsetu.ranking.hybrid import Calibration, own_first
from mathsetu.ranking.rerank import Rerank, Reranker
from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.recipes.schema import Recipe
from mathsetu.records import BETWEEN_TITLES, Evidence, Hit, Post, Reason, Run
from mathsetu.retrieval.base import Comparing, Reply, Retriever, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.retrieval.formula import FormulaReply
    from mathsetu.retrieval.lexical import LexicalReply

    Numbers = NDArray[np.float64]
    Allowed = NDArray[np.bool_] | None

#: What an answer calls unfinished when there was no time for a reranker.
RERANKING = "reranking"
#: The share of a score for what a post holds as it was asked for; a reason for another order.
EXACT, LANGUAGE = "exact", "language"
#: How the reason begins where a post has all words of a question, but not as they were written.
TOGETHER = "all words together: "
# Posts from the top that are looked into for what they hold as it was asked for: more where little
# is asked for, which says less of a post; and deeper those that have all words of a short query.
# And those among which the asker's language is looked for.
_LOOKED_INTO, _LOOKED_INTO_FOR_LITTLE, _LOOKED_INTO_FOR_WORDS, _LANGUAGE_DEPTH = 20, 50, 100, 100
# So much more counts what is written as it was asked for where that tells most (`telling`).
_NOTHING_ELSE = 4.0
# What the whole question counts where it is the title of a post, or the last heading in it.
_TITLE = 2.0
# Formulas of a query that are looked for as they are written, the longest ones.
_FORMULAS = 5
# Kinds of parts that read words without looking any up; how much of a query, by its letters, must
# be known words for them to tell anything.
_GUESSING, _LEAST_KNOWN = frozenset({"meaning", "dense"}), 0.25
# Posts that are looked into for all words of a query, and among how many they are chosen: a long
# post that has all of them is not among the first, as each word counts little in it.
_SAID_BY, _SAID_AMONG = 20, 200
# Posts that are looked into for all larger formulas of a query.
_HELD_AMONG = 3
# All words of a short query (of so many words) among so few words of a post count, whatever their
# order: a share of what the phrase does, less for two or three, which may be there by chance, and
# up to so much more the less is between them. In their order, with other endings, they count as
# four words do.
_SHORT, _TOGETHER, _ADJACENT = 8, 20, 0.2
_APART, _FEW_APART = 0.7, {2: 0.4, 3: 0.55}
# Posts in different languages are versions of one another when their vectors are as near as this,
# and so many of their formulas are the same (Jaccard), at least two.
_SAME_MEANING, _SAME_FORMULAS, _LEAST_FORMULAS = 0.85, 0.6, 2


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
        posts: The posts by their numbers.
    """

    def __init__(self, recipe: Recipe, parts: Mapping[str, Retriever], posts: Posts) -> None:
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
        settings, choices = self.recipe.rerank, self.recipe.ranking
        # A calibration is true of the recipe's own weights, and of all its parts.
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
        """The calibrated scores of what was found.

        What an encoder reads into words that nobody knows is a guess, and tells nothing. A post
        that has all words of the query is close to it: in a small library, where every word is
        frequent, what the words are worth does not tell so.
        """
        levels = {name: float(part.max(initial=0)) for name, part in ranked.said.items()}
        scores = learned.scores(ranked.totals, levels, ranked.silent)
        if scores.max(initial=0) >= learned.threshold and not self._knows_words(ranked.question):
            guesses = (name for name in levels if self.recipe.parts[name]["kind"] in _GUESSING)
            levels |= dict.fromkeys(guesses, 0.0)
            scores = learned.scores(ranked.totals, levels, ranked.silent)
        if scores.max(initial=0) < learned.threshold and self._is_said(ranked):
            scores = learned.scores(ranked.totals, levels, ranked.silent, is_said=True)
        return scores

    def _knows_words(self, question: Question) -> bool:
        """Whether enough of a question's words are known, to its language or to the posts."""
        from mathsetu.languages.vocabulary import known_share  # not when a library is opened
        from mathsetu.retrieval.lexical import LexicalRetriever

        indexes = [part for part in self._parts.values() if isinstance(part, LexicalRetriever)]

        def is_used(terms: list[str]) -> bool:
            return any(index.has(terms) for index in indexes)

        return known_share(question.words, question.languages, is_used) >= _LEAST_KNOWN

    def _is_said(self, ranked: RecipeReply) -> bool:
        """Whether a post has what is asked for: as it is written, all words, or all formulas.

        All words are looked for in the posts that have most of them. A formula may be a part of one
        of the post, with other letters.
        """
        if EXACT in ranked.added and ranked.added[EXACT].any():
            return True
        for name, formulas in _formulas(ranked).items():
            first = np.argsort(-ranked.said[name], kind="stable")[:_HELD_AMONG]
            if any(map(formulas.holds_all, ranked.numbers[first].tolist())):
                return True
        for name, reply in _lexical(ranked).items():
            order = np.argsort(-ranked.said[name], kind="stable")
            likely = filter(reply.may_say_all, ranked.numbers[order[:_SAID_AMONG]].tolist())
            numbers = list(islice(likely, _SAID_BY))
            posts = self._posts.posts(numbers)
            return any(reply.narrowest(posts[number]) for number in numbers)
        return False

    def depth(self, k: int) -> int:
        """How many posts each part may find when ``k`` are wanted."""
        ranking, rerank = self.recipe.ranking, self.recipe.rerank
        return max(k, ranking.candidates, rerank.depth if rerank else 0)

    def preferring(
        self,
        ranked: RecipeReply,
        language: str,
        strength: float,
        depth: int,
        *,
        is_filtered: bool = False,
    ) -> RecipeReply:
        """The posts as someone wants them who prefers a language.

        Versions of a post are judged together, and the one in that language stands first; it is
        looked up in the post's thread where no part has found it. A post that moves up is shown
        with the score of the best one that it is put above, so that scores fall along the list. The
        difference is the language's share, and the reasons say so.

        Args:
            ranked: The posts.
            language: What is preferred.
            strength: How much (`own_first`).
            depth: How many posts are wanted; no fewer are looked at.
            is_filtered: Whether some posts must not be found, so that none is looked up.
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
        order = own_first(scores, totals, is_own, groups, sizes, strength)
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
        """For each of the first posts the place of the first version of it in any language.

        Versions are posts in different languages that share a thread, in which no language has two
        posts and none is an answer, or whose meaning and formulas are nearly the same. An answer is
        no version of a question.
        """
        numbers = ranked.numbers[:depth]
        headings = self._posts.headings(numbers.tolist())
        seen = [headings[number] for number in numbers.tolist()]
        return self._groups(ranked, numbers, seen, self._threads(seen))

    def _threads(self, posts: Iterable[Heading]) -> dict[str, dict[int, str]]:
        """The threads of versions among those of posts: the numbers and languages of their posts.

        The posts of a discussion, or the sections of a document, are no versions.
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
        """For each post the place of the first version of it among them."""
        first = list(range(len(seen)))
        near = self._near(ranked, numbers, [heading.language for heading in seen])
        mentioned = {place for pair in near for place in pair}
        posts = self._posts.glances(numbers[sorted(mentioned)].tolist())
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
        """The places of two posts each, in different languages, that mean nearly the same."""
        comparing = [one for one in ranked.replies.values() if isinstance(one, Comparing)]
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
        """Posts that hold the query as it is written, above those that do not, all else equal."""
        exact = ExactReply(ranked.question, next(iter(_lexical(ranked).values()), None))
        if not exact.asks:
            return ranked
        weight = self.recipe.ranking.exact * exact.telling
        depth = _LOOKED_INTO_FOR_LITTLE if exact.asks_little else _LOOKED_INTO
        first = ranked.numbers[:_LOOKED_INTO_FOR_WORDS].tolist()
        likely = first[:depth] + list(filter(exact.may_have_words, first[depth:]))
        posts = self._posts.glances(likely)
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
            # A member of several parts ranks all that any of them found; its own run would not.
            cut = (_first(ranked, deeper) for ranked in lists)
            named = dict(zip(counting, cut, strict=True))
            # Ties are drawn or broken by the ids of posts: so they are as in a fusion of run files.
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
        # Calibrated scores stay what they are at each place; it is the posts that move.
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
    """What posts hold of a question as it is written: its formulas, and its words as a phrase.

    Args:
        question: The question.
        lexical: What the words of posts say to it, where a part does; finds words that stand
            together, but not as a phrase.
    """

    def __init__(self, question: Question, lexical: LexicalReply | None = None) -> None:
        self._question = question
        # Many words, and those beside formulas, are together by chance or not at all.
        is_short = lexical is not None and not question.formulas
        self._lexical = lexical if is_short and len(question.words.split()) <= _SHORT else None

    @property
    def asks(self) -> bool:
        """Whether the question has anything to look for."""
        return bool(self._formulas or self._phrases or self._heading)

    @property
    def asks_little(self) -> bool:
        """Whether nothing else is asked for than formulas, or a few words."""
        return not self._question.words.strip() or self._word_count < _NOTHING_ELSE

    @property
    def telling(self) -> float:
        """How much more it tells of a post that it has what is asked for as it is written.

        Most where nothing else is asked for than formulas, or one word: what is like a formula may
        be a fragment of it, which is more like a short one than a longer one that holds it, and
        the meaning of a word by itself is vague. And most where it is four words or more, which
        are not together by chance; two words may be.
        """
        count = self._word_count
        if count > _SHORT:
            return 1.0
        return max(_NOTHING_ELSE / max(1, count), min(float(count), _NOTHING_ELSE))

    @cached_property
    def _word_count(self) -> int:
        """How many words are asked for; beside formulas they are never few."""
        count = len(self._question.words.split())
        return count if not self._question.formulas else count and _SHORT + 1

    @cached_property
    def _heading(self) -> str:
        """The whole question as the title of a post would have it; "" where it has formulas."""
        return "" if self._question.formulas else as_heading(self._question.words)

    @cached_property
    def _formulas(self) -> list[str]:
        longest_first = sorted(self._question.formulas, key=len, reverse=True)
        return list(islice(filter(is_telling, longest_first), _FORMULAS))

    @cached_property
    def _phrases(self) -> list[Phrase]:
        return phrases(self._question.texts, self._question.language)

    def may_have_words(self, number: int) -> bool:
        """Whether a post may have all words of a short question; quick."""
        lexical = self._lexical
        return lexical is not None and lexical.word_count > 1 and lexical.may_say_all(number)

    def share(self, number: int, post: Glance) -> float:
        """How much of the question a post holds: as it is written, or else its words together."""
        return self.held(post)[0] or self._together(number, post)[0]

    def held(self, post: Glance) -> tuple[float, list[Evidence]]:
        """How much of the question a post holds as it is written, and what.

        That is 1 for all of it, and `_TITLE` where it is the title.
        """
        if title := self._as_title(post):
            return _TITLE, [Evidence("word", self._question.words.strip(), title)]
        whole = float(len(self._formulas) + len(self._phrases))
        total = 0.0
        found: list[Evidence] = []
        if not whole:
            return 0.0, found
        for latex in self._formulas:
            share, own = exactly(latex, post)
            if own:
                total += share
                found.append(Evidence("formula", latex, own))
        for phrase in self._phrases:
            if own := _as_said(phrase, post):
                total += 1
                found.append(Evidence("word", phrase.text, own))
        return total / whole, found

    def _together(self, number: int, post: Glance) -> tuple[float, tuple[str, ...]]:
        """How much all words of the question count among a few of a post, and the latter.

        Their order does not matter, and translations count as well.
        """
        if self._lexical is None or not self.may_have_words(number):
            return 0.0, ()
        own = self._lexical.narrowest(post.post)
        if own is None or own.words > _TOGETHER:
            return 0.0, ()
        count = self._lexical.word_count
        language = post.post.language
        if len(own.quotes) == 1 and self._lexical.is_asked_for(own.quotes[0], language):
            is_title = self._lexical.is_asked_for(_last_heading(post), language)
            return (_APART + _ADJACENT) * (_TITLE if is_title else 1.0), own.quotes
        share = _FEW_APART.get(count, _APART) + _ADJACENT * min(count / own.words, 1.0)
        return share, own.quotes

    def _as_title(self, post: Glance) -> str:
        """The title of a post, or the last heading in it, where it is the whole question."""
        # Few have all words, and only the titles of these are read.
        if not self._heading or not Phrase(self._heading).words_are_in(post.lower):
            return ""
        title = _last_heading(post)
        return title if as_heading(title) == self._heading else ""

    def best(self, k: int, allowed: Allowed = None) -> Scored:
        """Nothing: only what others have found is looked into."""
        return Scored(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Nothing, without the posts."""
        return np.zeros(len(numbers), dtype=np.float32)

    def reason(self, number: int, post: Post) -> Reason:
        """What the post holds as it is written."""
        share, found = self.held(Glance.of(post))
        if not found:
            # Which word is which, the part that looks up words tells.
            share, quotes = self._together(number, Glance.of(post))
            return Reason(EXACT, share, TOGETHER + ", ".join(f"“{one}”" for one in quotes))
        told = (f"${one.found}$" if one.kind == "formula" else f"“{one.found}”" for one in found)
        # One formula of a post may hold several of the question.
        named = ", ".join(dict.fromkeys(told))
        return Reason(EXACT, share, f"as written: {named}", tuple(found))


def _lexical(ranked: RecipeReply) -> dict[str, LexicalReply]:
    """What the parts that look up words said to a question."""
    from mathsetu.retrieval.lexical import LexicalReply

    return {
        name: reply
        for name, reply in ranked.replies.items()
        if isinstance(reply, LexicalReply) and name in ranked.said
    }


def _formulas(ranked: RecipeReply) -> dict[str, FormulaReply]:
    """What the parts that match formulas said to a question."""
    from mathsetu.retrieval.formula import FormulaReply

    return {
        name: reply
        for name, reply in ranked.replies.items()
        if isinstance(reply, FormulaReply) and name in ranked.said
    }


def _are_in_languages(thread: Mapping[int, str]) -> bool:
    """Whether no language has two posts of a thread."""
    spoken = [language for language in thread.values() if language]
    return len(set(spoken)) == len(spoken)


def _looked_up(
    ranked: RecipeReply,
    threads: Mapping[str, Mapping[int, str]],
    language: str,
    known: AbstractSet[int],
) -> tuple[RecipeReply, list[int]]:
    """The posts with versions in a language that their threads name, and the places of these.

    Args:
        ranked: The posts.
        threads: Those of their threads that are versions of a post.
        language: The language.
        known: Posts that need not be looked up.
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
    """Whether two posts are in two languages, and both or neither of them are answers."""
    in_two_languages = post.language and other.language and post.language != other.language
    return bool(in_two_languages) and post.is_answer == other.is_answer


def _last_heading(post: Glance) -> str:
    """The title of a post, or the last heading in it."""
    return post.written["title"].rpartition(BETWEEN_TITLES)[2]


def _as_said(phrase: Phrase, post: Glance) -> str:
    """A phrase as a post has it, outside its formulas; "" where it does not."""
    # Few have it, and only these are taken apart.
    if not phrase.words_are_in(post.lower) or not phrase.is_in(post.evened):
        return ""
    spans = (span for text in post.texts for span in text.spans if span.kind == "text")
    return next(filter(None, (phrase.found_in(span.content) for span in spans)), "")


def _have_same_formulas(post: Glance, other: Glance) -> bool:
    ours, theirs = post.plain_formulas, other.plain_formulas
    shared = len(ours & theirs)
    return shared >= _LEAST_FORMULAS and shared >= _SAME_FORMULAS * len(ours | theirs)


def _first(ranked: RecipeReply, scope: Scope) -> RecipeReply:
    """As many of the posts as are wanted, and the one that is ranked in any case."""
    numbers = ranked.numbers.tolist()
    if len(numbers) <= scope.k:
        return ranked
    asked = [place for place in range(scope.k, len(numbers)) if numbers[place] == scope.also]
    return ranked.ordered([*range(scope.k), *asked])


def _as_run(name: str, ranked: RecipeReply, ids: Mapping[int, str]) -> Run:
    """A ranking as fusion reads it."""
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
    """The fused ranking, with what the members' parts said and where each member had a post."""
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

    # What the parts said has to add up to the fused score; what none of them said is the fusion's.
    whole = sum(added.values(), start=np.zeros(len(order)))
    scale = np.divide(scores, whole, out=np.zeros_like(scores), where=whole > 0)
    added = {part: values * scale for part, values in added.items()}

    def remark(place: int) -> Reason:
        shown = ", ".join(f"{name} {rank}" for name, rank in ranks[place].items())
        own = 0.0 if whole[place] > 0 else float(scores[place])
        return Reason(method, own, f"ranks: {shown}")

    numbers = np.array(order, dtype=np.int64)
    return RecipeReply(question, numbers, scores, added, replies, remarks=(remark,))
