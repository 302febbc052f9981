"""Exact matches: posts that contain a question's formulas or words as they are written."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.formulas.exact import exact_score, is_informative
from mathsetu.intake.posts import LazyPost
from mathsetu.intake.question import Question
from mathsetu.languages.phrases import Phrase, as_heading, phrases
from mathsetu.markup import formula_in_markdown
from mathsetu.records import BETWEEN_TITLES, Evidence, Post, Reason
from mathsetu.retrieval.base import Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.retrieval.lexical import LexicalReply

#: The name of reasons for an exact match.
EXACT = "exact"
#: The start of the reason if a post has all words of a question close together, not as a phrase.
TOGETHER = "all words together: "
# The largest factor for an exact match (`ExactReply.strength`).
_MAX_STRENGTH = 4.0
# The share if the whole question is the title of a post, or the last heading in its title.
_TITLE_SHARE = 2.0
# Formulas of a query that are searched for as written, the longest first.
_MAX_FORMULAS = 5
# Proximity: all words of a short query (at most _MAX_WORDS) within _MAX_SPAN words of a post count
# in any order. They get _APART of the share of a phrase (_FEW_APART for two or three words, which
# may be close by chance), and up to _ADJACENT more the closer they are. Words in the order of the
# query but with other endings, and a term that translates all of them together, get
# _APART + _ADJACENT.
_MAX_WORDS, _MAX_SPAN, _ADJACENT = 8, 20, 0.2
_APART, _FEW_APART = 0.7, {2: 0.4, 3: 0.55}


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
        self._lexical = lexical if is_short and len(question.words.split()) <= _MAX_WORDS else None

    @property
    def is_needed(self) -> bool:
        """Whether the question has anything to match exactly."""
        return bool(self._formulas or self._phrases or self._heading)

    @property
    def is_short(self) -> bool:
        """Whether the question has only formulas, or only a few words."""
        return not self._question.words.strip() or self._word_count < _MAX_STRENGTH

    @property
    def strength(self) -> float:
        """The factor for exact matches: how much they say about the relevance of a post.

        It is largest for questions of formulas only, because similarity prefers a fragment of a
        formula to a longer formula that contains it, and for one word, whose meaning is vague. It
        is also largest for four to eight words, which are not adjacent by chance as two may be.
        """
        count = self._word_count
        if count > _MAX_WORDS:
            return 1.0
        return max(_MAX_STRENGTH / max(1, count), min(float(count), _MAX_STRENGTH))

    @cached_property
    def _word_count(self) -> int:
        """The number of words; words with formulas never count as few."""
        count = len(self._question.words.split())
        return count if not self._question.formulas else count and _MAX_WORDS + 1

    @cached_property
    def _heading(self) -> str:
        """The whole question normalised for a comparison with titles; "" if it has formulas."""
        return "" if self._question.formulas else as_heading(self._question.words)

    @cached_property
    def _formulas(self) -> list[str]:
        longest_first = sorted(self._question.formulas, key=len, reverse=True)
        return list(islice(filter(is_informative, longest_first), _MAX_FORMULAS))

    @cached_property
    def _phrases(self) -> list[Phrase]:
        return phrases(self._question.texts, self._question.language)

    def may_have_words(self, number: int) -> bool:
        """Whether a post may have all words of a short question; a fast test."""
        lexical = self._lexical
        return lexical is not None and lexical.word_count > 0 and lexical.may_match_all(number)

    def share(self, number: int, post: LazyPost) -> float:
        """How much of the question a post contains: as written, or else its words in proximity."""
        return self.share_contained(post)[0] or self._proximity(number, post)[0]

    def share_contained(self, post: LazyPost) -> tuple[float, list[Evidence]]:
        """How much of the question a post contains as written, with the matches.

        This is 1 for all of it, and `_TITLE_SHARE` if it is the title.
        """
        if title := self._as_title(post):
            return _TITLE_SHARE, [Evidence("word", self._question.words.strip(), title)]
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
            if own := _written_phrase(phrase, post):
                total += 1
                found.append(Evidence("word", phrase.text, own))
        return total / whole, found

    def _proximity(self, number: int, post: LazyPost) -> tuple[float, tuple[str, ...]]:
        """The share for all words of the question in proximity, and the quotes of the post.

        Words match in any order, and so do their translations. Of a single word, only a translation
        of several words counts: "prime", nombre premier.
        """
        if self._lexical is None or not self.may_have_words(number):
            return 0.0, ()
        own = self._lexical.shortest_passage(post.post)
        if own is None or own.words > _MAX_SPAN:
            return 0.0, ()
        count = self._lexical.word_count
        language = post.post.language
        is_one = len(own.quotes) == 1 and count > 1
        if is_one and self._lexical.is_inflection_of_query(own.quotes[0], language):
            is_title = self._lexical.is_inflection_of_query(_last_heading(post), language)
            return (_APART + _ADJACENT) * (_TITLE_SHARE if is_title else 1.0), own.quotes
        if own.is_term:
            is_title = as_heading(_last_heading(post)) in map(as_heading, own.quotes)
            return (_APART + _ADJACENT) * (_TITLE_SHARE if is_title else 1.0), own.quotes
        if count == 1:
            return 0.0, ()  # scored by the lexical part
        share = _FEW_APART.get(count, _APART) + _ADJACENT * min(count / own.words, 1.0)
        return share, own.quotes

    def _as_title(self, post: LazyPost) -> str:
        """The title of a post, or the last heading in it, if it is the whole question; else ""."""
        # Few posts have all words; only their titles are read.
        if not self._heading or not Phrase(self._heading).words_are_in(post.lower):
            return ""
        title = _last_heading(post)
        return title if as_heading(title) == self._heading else ""

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
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
            share, quotes = self._proximity(number, LazyPost.of(post))
            return Reason(EXACT, share, TOGETHER + ", ".join(f"“{one}”" for one in quotes))
        told = (
            formula_in_markdown(one.found) if one.kind == "formula" else f"“{one.found}”"
            for one in found
        )
        # One formula of a post may contain several of the question.
        named = ", ".join(dict.fromkeys(told))
        return Reason(EXACT, share, f"as written: {named}", tuple(found))


def _last_heading(post: LazyPost) -> str:
    """The title of a post, or the last heading in the title."""
    return post.written["title"].rpartition(BETWEEN_TITLES)[2]


def _written_phrase(phrase: Phrase, post: LazyPost) -> str:
    """A phrase as it is written in a post, outside formulas; "" if the post does not have it."""
    # Few posts have it; only these are split into spans.
    if not phrase.words_are_in(post.lower) or not phrase.is_in(post.normalised):
        return ""
    spans = (span for text in post.texts for span in text.spans if span.kind == "text")
    return next(filter(None, (phrase.found_in(span.content) for span in spans)), "")
