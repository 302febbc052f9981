"""Finds the terms of a language in running text: longest match first, in linear time.

Terms and text are compared after analysis, so that inflected forms match. If a term has several
words other than stop words, its stop words are skipped: "limit of a function" matches "limit of the
function". Otherwise stop words must match: "in the same way" does not match every "way".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from mathsetu.languages.glossary.concepts import Concept
from mathsetu.languages.glossary.tokens import Token, has_tones, tokenize
from mathsetu.languages.normalise import fold, normalise
from mathsetu.languages.stem_collisions import is_stem_collision
from mathsetu.languages.table import language as row_of

_HALF_SPACE = "\u200c"
_HANGUL = re.compile("[\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A span of a text and its possible concepts, most likely first."""

    start: int
    end: int
    concepts: tuple[Concept, ...]


@dataclass(slots=True)
class _Node:
    """A node in the trie of terms; ``meanings`` are the forms that end here."""

    children: dict[str, _Node] = field(default_factory=dict)
    meanings: list[_Meaning] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Meaning:
    concept: Concept
    form: str
    rank: int  # 0 for the usual term of the concept, then its synonyms
    collisions: int  # how many of its words are listed as stem collisions


class ReadText:
    """A text analysed in one language: its words, and the terms that begin at each of them.

    Lookups are cached, since the text may be translated into many languages.
    """

    def __init__(self, matcher: Matcher, text: str) -> None:
        self.text, self.tokens = text, tokenize(text, matcher.language)
        self._matcher = matcher
        self._found: dict[int, tuple[TermMatch | None, int]] = {}

    def match_at(self, first: int) -> tuple[TermMatch | None, int]:
        """Return the longest term that begins at a token, or None, and the next token."""
        if first not in self._found:
            self._found[first] = self._matcher.match_at(self.text, self.tokens, first)
        return self._found[first]


class Matcher:
    """Finds the terms of one language, with all their forms.

    >>> forms = {"en": ("prime number", "primes"), "cs": ("prvočíslo",)}
    >>> matcher = Matcher([Concept("prime-number", "number-theory", forms)], "en")
    >>> [(match.start, match.end) for match in matcher.match("Prime numbers and a prime $p$")]
    [(0, 13), (20, 25)]
    """

    def __init__(self, concepts: Iterable[Concept], language: str) -> None:
        self.language = language
        self._root = _Node()
        # Forms without tone marks, for texts typed without any.
        self._toneless = _Node() if row_of(language).spaces_syllables else self._root
        for concept in concepts:
            for rank, form in enumerate(concept.forms.get(language, ())):
                self._add(form, concept, form, rank, self._root)
                if _HALF_SPACE in form:
                    self._add(form.replace(_HALF_SPACE, " "), concept, "", rank, self._root)
                if self._toneless is not self._root:
                    self._add(fold(form), concept, form, rank, self._toneless)

    def match(self, text: str) -> list[TermMatch]:
        """Return the terms in a marked text, from left to right, not overlapping."""
        return [match for match, _, _ in self.match_tokens(text, tokenize(text, self.language))]

    def match_tokens(self, text: str, tokens: Sequence[Token]) -> list[tuple[TermMatch, int, int]]:
        """Return the terms as `match` does, each with its first token and the one after it."""
        matches: list[tuple[TermMatch, int, int]] = []
        first = 0
        while first < len(tokens):
            match, after = self.match_at(text, tokens, first)
            if match is not None:
                matches.append((match, first, after))
            first = after
        return matches

    def match_at(
        self, text: str, tokens: Sequence[Token], first: int
    ) -> tuple[TermMatch | None, int]:
        """Return the longest term that begins at a token, or None, and the next token."""
        root = self._toneless
        if root is not self._root and has_tones(text, self.language):
            root = self._root
        after, meanings = self._without_collisions(
            text, tokens, first, *_longest(root, tokens, first)
        )
        if not meanings and after > first + 1:
            # "kleine Quadrate" is not "kleinste Quadrate", but its first word is a term.
            one = _longest(root, [tokens[first]], 0)[1]
            after, meanings = self._without_collisions(text, tokens, first, first + 1, one)
        is_one = after == first + 1
        if not meanings or (is_one and not _may_begin(root, text, tokens, first)):
            return None, first + 1
        start, end = tokens[first].start, tokens[after - 1].end
        return TermMatch(start, end, _likeliest(meanings, text[start:end])), after

    def _without_collisions(
        self, text: str, tokens: Sequence[Token], first: int, after: int, meanings: list[_Meaning]
    ) -> tuple[int, list[_Meaning]]:
        """Return the end of a form, and its meanings with as many stem collisions as the text."""
        if meanings:
            count = self._collisions(text, tokens[first:after])
            meanings = [meaning for meaning in meanings if meaning.collisions == count]
        return after, meanings

    def _collisions(self, text: str, tokens: Sequence[Token]) -> int:
        """Return how many words are listed as stem collisions."""
        return sum(is_stem_collision(text[one.start : one.end], self.language) for one in tokens)

    def _add(self, written: str, concept: Concept, form: str, rank: int, root: _Node) -> None:
        tokens = tokenize(written, self.language)
        meaning = _Meaning(concept, form, rank, self._collisions(written, tokens))
        _insert(root, tokens, meaning)
        counting = [token for token in tokens if not token.is_stop]
        if 1 < len(counting) < len(tokens):
            _insert(root, counting, meaning)


def _insert(node: _Node, tokens: Iterable[Token], meaning: _Meaning) -> None:
    for token in tokens:
        for term in token.terms:
            node = node.children.setdefault(term, _Node())
    node.meanings.append(meaning)


def _longest(root: _Node, tokens: Sequence[Token], first: int) -> tuple[int, list[_Meaning]]:
    """Return the end and the meanings of the longest form that begins at a token."""
    begun = _follow(root, tokens[first].terms)
    if begun is None:
        return first, []  # no term begins with this word, as with most
    nodes = [begun]
    after, meanings = (first + 1, begun.meanings) if begun.meanings else (first, [])
    for place in range(first + 1, len(tokens)):
        token = tokens[place]
        if not token.follows:
            break
        following = [node for at in nodes if (node := _follow(at, token.terms)) is not None]
        for node in following:
            if node.meanings:
                after, meanings = place + 1, node.meanings
        # A stop word may be part of a form or separate its parts.
        nodes = following + nodes if token.is_stop else following
        if not nodes:
            break
    return after, meanings


def _may_begin(root: _Node, text: str, tokens: Sequence[Token], first: int) -> bool:
    """Whether a Korean term of one syllable may begin here; other terms may begin anywhere.

    Long words often contain such a syllable. It is a term only at the beginning of a word or after
    other terms: the 합 (sum) of 합을 and 무한합.
    """
    start = first
    if not _HANGUL.match(text, tokens[first].start):
        return True
    while start and tokens[start - 1].end == tokens[start].start:
        start -= 1
    while start < first:
        start, meanings = _longest(root, tokens, start)
        if not meanings:
            return False
    return start == first


def _follow(node: _Node, terms: Iterable[str]) -> _Node | None:
    for term in terms:
        following = node.children.get(term)
        if following is None:
            return None
        node = following
    return node


def _likeliest(meanings: Sequence[_Meaning], written: str) -> tuple[Concept, ...]:
    """Return the concepts with this exact spelling, else all; usual terms before synonyms."""
    if len(meanings) == 1:
        return (meanings[0].concept,)
    spelling = _spelling(written)
    exact = [meaning for meaning in meanings if _spelling(meaning.form) == spelling]
    ranked = sorted(exact or meanings, key=lambda meaning: meaning.rank)
    return tuple({meaning.concept.id: meaning.concept for meaning in ranked}.values())


@lru_cache(maxsize=1 << 14)
def _spelling(text: str) -> str:
    return " ".join(fold(normalise(text)).split())
