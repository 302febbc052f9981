"""Which words of a question a post has: as themselves, as a translation, and close together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from itertools import chain, groupby, islice
from typing import NamedTuple

from mathsetu.languages.analyze import tokenize
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.normalise import fold, normalise
from mathsetu.languages.stem_collisions import is_stem_collision
from mathsetu.records import Evidence, Post
from mathsetu.retrieval.lexical_terms import text_terms
from mathsetu.retrieval.post_words import PostWords, read_words
from mathsetu.retrieval.query_terms import QueryTerms, Translation

#: The places in a post where a match begins and ends, and the word of the question.
_Match = tuple[int, int, str]
# The most words that a reason names, and the most forms of one word.
_MAX_SHOWN = 8
# The most words of a quote that is extended to show the question's words in full.
_MAX_QUOTE = 20


class ShortestPassage(NamedTuple):
    """A short passage of a post: its length in words, and quotes of it.

    Each field of the post is quoted separately, because fields do not continue each other. A
    passage is a term if its words, at least two or a hyphenated one, translate all words of the
    question together.
    """

    words: int
    quotes: tuple[str, ...]
    is_term: bool = False


class WordEvidence:
    """Finds the words of a question in posts.

    Args:
        terms: The terms of the question.
    """

    def __init__(self, terms: QueryTerms) -> None:
        self._terms = terms
        self._question, self._settings = terms.question, terms.settings

    def found(
        self, ranked: Iterable[str], post: Post
    ) -> tuple[dict[Evidence, None], dict[Evidence, None]]:
        """The matches of terms in a post, and further forms of the same words.

        Each match is given in the form that the post has, the question's form if the post has
        that. Terms that match in formulas only are not words, and are not named.
        """
        text = read_words(post, self._settings)
        found = (self._evidence(term, post.language, text) for term in ranked if term in text.first)
        forms = [evidence for evidence in found if evidence]
        matches = dict.fromkeys(first for first, *_ in forms)
        return matches, dict.fromkeys(chain.from_iterable(others for _, *others in forms))

    def shortest_passage(self, post: Post) -> ShortestPassage | None:
        """The shortest passage of a post that has all words of the question.

        Complete translations of words count as these words. None if the post does not have all.
        """
        text = read_words(post, self._settings)
        found = []
        for asked_in in self._question.languages:
            translations = self._terms.translations_into(asked_in, post.language)
            matches, wanted = self._matches_in(text, post.language, translations)
            if span := _shortest_range(matches, wanted):
                found.append((span, matches, translations, asked_in != post.language))
        if not found:
            return None
        (first, last), matches, translations, is_translated = min(
            found, key=lambda one: one[0][1] - one[0][0]
        )
        count = last - first + 1
        is_whole = all(one[:2] == (first, last) for one in matches if first <= one[0] <= last)
        # A hyphenated word has several terms, too: sous-groupe.
        has_several = (
            first < last or len(text_terms(text.words[first], post.language, self._settings)) > 1
        )
        is_term = is_translated and has_several and is_whole
        # "Abelian" alone matches "abelian group", but if "group" is near, both are quoted.
        own = self._matches_in(text, post.language, [one for one in translations if not one.form])
        whole = _shortest_range(*own)
        if whole and whole[0] <= first and last <= whole[1] < whole[0] + _MAX_QUOTE:
            first, last = whole
        within = (one for one in matches if first <= one[0] <= last)
        fields = (list(own) for _, own in groupby(within, lambda one: text.field_of(one[0])))
        quotes = (text.between(own[0][0], max(end for _, end, _ in own)) for own in fields)
        return ShortestPassage(count, tuple(quotes), is_term)

    def _matches_in(
        self, text: PostWords, language: str, translations: Iterable[Translation]
    ) -> tuple[list[_Match], set[str]]:
        """The matches of the question's words in a post, in order, and the set of all its words."""
        matches: list[_Match] = []
        wanted: dict[str, tuple[str, ...]] = {}
        for asked, _, form, terms, is_complete in translations:
            if not form and terms:
                wanted[asked] = terms
            # Where no spaces separate words, a translation of one pair of letters says little.
            is_part = not is_complete or (bool(form) and len(wanted.get(asked, ())) > 1)
            if terms and not is_part:
                for first, last in _places_of(form or asked, terms, language, text, not form):
                    matches += ((first, last, word) for word in tokenize(asked))
        if not any(map(str.isalpha, "".join(wanted))):
            return [], set()
        return _longest_matches(one for one in matches if one[2] in wanted), set(wanted)

    def _evidence(self, term: str, language: str, text: PostWords) -> list[Evidence]:
        """The question's words that a term of a post matches, with each form found in the post."""
        translations = self._terms.translations_by_term(language).get(term, [])
        # First the question's own word, then a complete translation, then a part of one.
        for one in sorted(translations, key=lambda one: bool(one.form)):
            if forms := self._forms_found(one, language, text):
                return [self._as_evidence(one, found) for found in forms]
        # If the question is in the language of the post, parts of translations from another reading
        # match by chance: "identity", read as Czech, is translated to "algebraic identity".
        is_own = language in self._question.languages
        for one in translations:
            if not one.form or not is_own:
                part = self._word_of_term(term, one.form, language) if one.form else one.asked
                if found := _first_match(part, [term], language, text, not one.form):
                    by_itself = self._match_of_one_word(one, term, language, text)
                    return [by_itself or self._as_evidence(one, found)]
        # A part of a translation. Names in formulas are not words, and a word that has this meaning
        # in another language only ("númer" for a numerator) matches by chance.
        if translations or is_own or term in self._terms.formula_names:
            return []
        if not (asked := self._terms.words_of_expansions(language).get(term, "")):
            return []
        is_same = term in text_terms(asked, language, self._settings)
        found = text.span([term])
        return [Evidence("word", asked, found, "" if is_same else found)]

    def _forms_found(self, translation: Translation, language: str, text: PostWords) -> list[str]:
        """The forms in which a post has words or a translation, the requested form first."""
        forms: dict[str, str] = {}
        wanted = translation.form or translation.asked
        for span in _places_of(wanted, translation.terms, language, text, not translation.form):
            found = text.between(*span)
            forms.setdefault(found.casefold(), found)
        wanted = fold(normalise(wanted))
        ordered = sorted(forms.values(), key=lambda form: fold(normalise(form)) != wanted)
        # Where no spaces separate words, whole clauses match, which are not forms of the words.
        others = (
            form
            for form in ordered[1:_MAX_SHOWN]
            if len(text_terms(form, language, self._settings)) <= len(translation.terms)
        )
        return [*ordered[:1], *others]

    def _as_evidence(self, translation: Translation, found: str) -> Evidence:
        asked = self._terms.spellings.get(translation.asked, translation.asked)
        is_name = translation.form == asked  # analysed as a word of another language
        return Evidence("word", asked, found, "" if is_name else translation.form)

    def _match_of_one_word(
        self, translation: Translation, term: str, language: str, text: PostWords
    ) -> Evidence | None:
        """The one of several words whose own translation has the term and is in the post."""
        words = tokenize(translation.asked)
        for word in words if translation.form and len(words) > 1 else ():
            for one in self._terms.translations_of(word, translation.language, language):
                found = _first_match(one.form, one.terms, language, text)
                if found and term in one.terms:
                    return self._as_evidence(one, found)
        return None

    def _word_of_term(self, term: str, form: str, language: str) -> str:
        """The word of a translation that has a term; "" where there is none."""
        terms_of = partial(text_terms, language=language, settings=self._settings)
        return next((word for word in tokenize(form) if term in terms_of(word)), "")


def _places_of(
    phrase: str, terms: Sequence[str], language: str, text: PostWords, is_own: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the places where a post has a translation, or, if ``is_own``, a word of the question.

    Words with the stems of the translation do not match if they are a glossary term for another
    concept: "diagonal" is not "diagonalization". A word of the question matches all its
    derivations, but not a word whose stem collides with it: "equator" is not "equation".
    """
    for first, last in text.spans(terms):
        found = text.between(first, last)
        is_other = (
            is_stem_collision(phrase, language) != is_stem_collision(found, language)
            if is_own
            else bool(phrase) and _has_other_meaning(phrase, found, language)
        )
        if not is_other:
            yield first, last


def _first_match(
    phrase: str, terms: Sequence[str], language: str, text: PostWords, is_own: bool = False
) -> str:
    """The words of a post that match a translation or a word of the question; "" if none do."""
    spans = _places_of(phrase, terms, language, text, is_own)
    return next((text.between(*span) for span in spans), "")


@lru_cache(maxsize=1 << 14)  # called for every post that is explained
def _has_other_meaning(form: str, found: str, language: str) -> bool:
    return Glossary.load().mean_different(form, found, language)


def _longest_matches(matches: Iterable[_Match]) -> list[_Match]:
    """The matches in order, without those inside a longer match of the same word.

    >>> _longest_matches([(3, 3, "a"), (2, 3, "a"), (3, 3, "b"), (5, 5, "a")])
    [(2, 3, 'a'), (3, 3, 'b'), (5, 5, 'a')]
    """
    reached: dict[str, int] = {}
    kept: list[_Match] = []
    for first, last, word in sorted(matches, key=lambda one: (one[0], -one[1])):
        if last > reached.get(word, -1):
            reached[word] = last
            kept.append((first, last, word))
    return sorted(kept)


def _shortest_range(matches: Sequence[_Match], wanted: AbstractSet[str]) -> tuple[int, int] | None:
    """The shortest range of places in which all words occur.

    Args:
        matches: The matches of the words, in order.
        wanted: The words.

    >>> _shortest_range([(0, 0, "a"), (7, 8, "b"), (9, 9, "a")], {"a", "b"})
    (7, 9)
    """
    counts: Counter[str] = Counter()
    best: tuple[int, int] | None = None
    start = 0
    for _, end, word in matches:
        counts[word] += 1
        while counts[matches[start][2]] > 1:
            counts[matches[start][2]] -= 1
            start += 1
        first = matches[start][0]
        if len(counts) == len(wanted) and (best is None or end - first < best[1] - best[0]):
            best = first, end
    return best


def describe(matches: Iterable[Evidence]) -> str:
    """Describe the matches: the question's words, and the post's where they differ."""
    shown: dict[str, list[str]] = {}
    for one in matches:
        shown.setdefault(one.asked, []).append(one.found)
    told = (
        found if fold(normalise(found)) == fold(normalise(asked)) else f"{asked} → {found}"
        for asked, words in shown.items()
        for found in [", ".join(words)]
    )
    return "; ".join(islice(told, _MAX_SHOWN))
