"""The terms of a question: its words in each likely language, their translations and weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Final, NamedTuple

from mathsetu.intake import Question
from mathsetu.languages.analyze import tokenize
from mathsetu.languages.glossary import Expanded, Glossary, is_presentable
from mathsetu.retrieval.lexical_terms import LexicalSettings, formula_tokens, text_terms
from mathsetu.retrieval.post_words import PUNCTUATION
from mathsetu.retrieval.weighting import Wanted

#: Translations of a lower weight may match by chance: reasons do not name them.
MIN_WEIGHT: Final = 0.15
# The most words of a query that is expanded with other forms of its concepts.
_MAX_EXPANDED = 8


class Translation(NamedTuple):
    """Words of a question as read in a language, one translation of them, and its terms.

    For the words themselves, the translation (``form``) is empty, and the terms are their own. A
    translation is complete if it says all that the words say, as far as is known.
    """

    asked: str
    language: str
    form: str
    terms: tuple[str, ...]
    is_complete: bool = True


class QueryTerms:
    """The terms of one question.

    Args:
        question: The question.
        settings: The settings of the index.
        languages: The languages of the posts.
    """

    def __init__(
        self, question: Question, settings: LexicalSettings, languages: Sequence[str]
    ) -> None:
        self.question, self.settings = question, settings
        self._languages = languages
        self._by_term: dict[str, dict[str, list[Translation]]] = {}
        self._translation_cache: dict[tuple[str, str], list[Translation]] = {}
        self._expansions: dict[tuple[str, str], list[Expanded]] = {}

    @cached_property
    def weights(self) -> Wanted:
        """The weighted query terms, in the languages of the posts."""
        settings, question = self.settings, self.question
        weights = self._weights_of(question)
        if settings.query_title and question.title:
            for term, weight in self._weights_of(question.title).items():
                weights[term] = weights.get(term, 0.0) + settings.query_title * weight
        if settings.formula_tokens:
            for latex in question.formulas:
                for token in formula_tokens(latex):
                    weights[token] = weights.get(token, 0.0) + settings.formula_tokens
        return weights

    @cached_property
    def translated(self) -> dict[str, list[tuple[str, ...]]]:
        """The terms of translations, with the terms that they translate, if posts have those."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for language in self.question.languages:
            if self._is_translating and language in self._languages:
                for one in self._expanded(self._words_of(self.question), language):
                    terms = (piece.terms for piece in one.pieces)
                    found.setdefault(one.term, []).extend(terms)
        return found

    @property
    def word_count(self) -> int:
        """The number of words of the question, without stop words."""
        return max(map(len, self.terms_of_words), default=0)

    @cached_property
    def terms_of_words(self) -> list[list[list[tuple[set[str], int]]]]:
        """For each reading of the question, the sets of terms that may match each of its words.

        Each set comes with the number of its terms that must match.
        """
        words, readings = self._words_of(self.question), []
        for language in self.question.languages:
            read = ((word, text_terms(word, language, self.settings)) for word in tokenize(words))
            found = {word: [(set(own), 1)] for word, own in read if own}
            translated: dict[str, set[str]] = {}
            for one in self._expanded(words, language) if self._is_translating else ():
                for piece in one.pieces:
                    asked = words[piece.start : piece.end]
                    translated.setdefault(asked, set()).add(one.term)
            for asked, terms in translated.items():
                together = [word for word in tokenize(asked) if word in found]
                matches = [(terms, len(together))]
                if len(together) > 1:
                    forms = self._shorter_forms(asked, len(together), language)
                    matches += [(form, len(form)) for form in forms]
                for word in together:
                    found[word] += matches
            readings.append(list(found.values()))
        return readings

    def _shorter_forms(self, asked: str, count: int, language: str) -> list[set[str]]:
        """The terms of translations of a glossary term that have fewer words than it."""
        forms = (
            set(text_terms(form, target, self.settings))
            for found in Glossary.load().match(asked, language)
            if (found.start, found.end) == (0, len(asked))
            for concept in found.concepts
            for target in self._languages
            if target != language
            for form in concept.forms.get(target, ())
        )
        return [form for form in forms if 0 < len(form) < count]

    def is_inflection(self, found: str, language: str) -> bool:
        """Whether words of a post are those of the question in the same order, up to inflection."""
        if any(word[-1] in PUNCTUATION for word in found.split()[:-1]):
            return False
        terms = text_terms(found, language, self.settings)
        words = self._words_of(self.question)
        return any(
            terms == text_terms(words, one, self.settings) for one in self.question.languages
        )

    @cached_property
    def spellings(self) -> dict[str, str]:
        """The question's words as written, by their tokens."""
        written = (word.strip(PUNCTUATION) for word in self._words_of(self.question).split())
        return {read[0]: word for word in written if len(read := tokenize(word)) == 1}

    @cached_property
    def formula_names(self) -> frozenset[str]:
        """The names and numbers in the question's formulas."""
        tokens = (formula_tokens(latex) for latex in self.question.formulas)
        return frozenset(chain.from_iterable(tokens))

    def translations_into(self, language: str, target: str) -> list[Translation]:
        """The question's words as read in one language, and their translations into another."""
        # Needed for every post that is explained, and the same for all posts of its language.
        if (language, target) not in self._translation_cache:
            words, settings = self._words_of(self.question), self.settings
            own = {word: tuple(text_terms(word, language, settings)) for word in tokenize(words)}
            found = [Translation(word, language, "", terms) for word, terms in own.items()]
            if settings.translate:
                found += self.translations_of(words, language, target)
                found += self._untranslated(found, own, language, target)
            self._translation_cache[language, target] = found
        return self._translation_cache[language, target]

    def translations_of(self, words: str, language: str, target: str) -> Iterator[Translation]:
        """The translations of words from one language into another."""
        glossary = Glossary.load()
        terms_of = partial(text_terms, language=target, settings=self.settings)
        known: list[range] = []
        for found in glossary.match(words, language):
            asked = words[found.start : found.end]
            for concept in found.concepts:
                for form in concept.forms.get(target, ()):
                    known.append(range(found.start, found.end))
                    yield Translation(asked, language, form, tuple(terms_of(form)))
        learned = list(glossary.learned(words, language, target))
        pieces = Counter((start, end) for start, end, _ in learned)
        for start, end, forms in learned:
            # The second learned translation is often a word that is merely near the first, such
            # as "triangle" for "right angle", and a compound says more than one of its pieces.
            longer = (term for term in known if term != range(start, end))
            is_certain = pieces[start, end] == 1 and not any(start in term for term in longer)
            for place, form in enumerate(forms):
                is_complete = is_certain and place == 0
                terms = tuple(terms_of(form))
                yield Translation(words[start:end], language, form, terms, is_complete)

    def _untranslated(
        self,
        found: Sequence[Translation],
        own: Mapping[str, tuple[str, ...]],
        language: str,
        target: str,
    ) -> Iterator[Translation]:
        """Words without a translation, such as names, analysed as words of another language.

        Their terms may differ there: d'Alembert is *alembert* in French, *dalembert* in English.
        """
        translated = {token for one in found if one.form for token in tokenize(one.asked)}
        for chunk in self._words_of(self.question).split():
            asked = [token for token in tokenize(chunk) if own.get(token)]
            terms = tuple(text_terms(chunk, target, self.settings))
            if len(asked) == 1 and asked[0] not in translated and terms != own[asked[0]]:
                yield Translation(asked[0], language, chunk.strip(PUNCTUATION), terms)

    def translations_by_term(self, post_language: str) -> dict[str, list[Translation]]:
        """The terms that match in posts of a language, with the question's words for each."""
        if post_language not in self._by_term:
            found: dict[str, list[Translation]] = {}
            for language in self.question.languages:
                for one in self.translations_into(language, post_language):
                    for term in one.terms:
                        found.setdefault(term, []).append(one)
            self._by_term[post_language] = found
        return self._by_term[post_language]

    def words_of_expansions(self, post_language: str) -> dict[str, str]:
        """The terms into which the question is translated, each with the words it is from."""
        words, asked = self._words_of(self.question), {}
        if self._is_translating:
            for language in self.question.languages:
                for one in Glossary.load().expand_into(words, language, [post_language]):
                    if is_presentable(one.term, one.weight):
                        asked[one.term] = words[one.pieces[0].start : one.pieces[0].end]
        return asked

    @property
    def _is_translating(self) -> bool:
        return self.settings.translate and self.settings.analysis == "languages"

    def _words_of(self, question: Question) -> str:
        """The words of a question; if they are translated, without translations in brackets."""
        return question.words_without_glosses if self._is_translating else question.words

    def _weights_of(self, question: Question) -> dict[str, float]:
        """The weighted terms of a question's words, read in each of its possible languages."""
        weights: dict[str, float] = {}
        for language in question.languages:
            for term, weight in self._weights_in(self._words_of(question), language):
                weights[term] = max(weights.get(term, 0.0), weight)
        if weights and len(self._words_of(question).split()) == 1:
            # No other word confirms an unlikely translation of a single word.
            least = MIN_WEIGHT * max(weights.values())
            weights = {term: weight for term, weight in weights.items() if weight >= least}
        return weights

    def _weights_in(self, words: str, language: str) -> Iterator[tuple[str, float]]:
        """The weighted terms of words as read in one language."""
        settings, translating = self.settings, self._is_translating
        is_spoken = language in self._languages
        if not translating or is_spoken or not self._languages:
            yield from Counter(text_terms(words, language, settings)).items()
        if translating:
            yield from ((one.term, one.weight) for one in self._expanded(words, language))

    def _expanded(self, words: str, language: str) -> list[Expanded]:
        """The translations of words into the posts' other languages, and their other forms."""
        if (words, language) not in self._expansions:
            others = [target for target in self._languages if target != language]
            # Posts in the question's own language have one term for each of its words.
            evenly = language in self._languages
            expanded = Glossary.load().expand_into(words, language, others, evenly=evenly)
            other_forms: list[Expanded] = []
            # A long text contains several forms of its words itself.
            if evenly and len(words.split()) <= _MAX_EXPANDED:
                other_forms = Glossary.load().other_forms(words, language)
            self._expansions[words, language] = [*expanded, *other_forms]
        return self._expansions[words, language]
