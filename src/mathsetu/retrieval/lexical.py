"""Search by words: BM25+ or TF-IDF over analysed terms, with fields and translation of terms."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake import MarkedText, PostFacts, Question
from mathsetu.languages.analyze import analyze, tokenize
from mathsetu.languages.glossary import Expanded, Glossary, is_presentable
from mathsetu.languages.normalise import fold, normalise
from mathsetu.languages.sentences import clauses
from mathsetu.languages.stem_collisions import is_stem_collision
from mathsetu.markup import plain_words
from mathsetu.plain_files import open_plain
from mathsetu.records import Evidence, Post, Reason
from mathsetu.retrieval.base import Fields, Scored, WrittenSegment, check_fields, check_weights
from mathsetu.retrieval.postings import Postings, PostingsBuilder, merge_posts
from mathsetu.retrieval.weighting import (
    Scheme,
    Wanted,
    WeighedQuery,
    WeightedIndex,
    WithoutExtremes,
    make_scheme,
    write_impacts,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class _Translation(NamedTuple):
    """Words of a question as read in a language, one translation of them, and its terms.

    For the words themselves, the translation (``form``) is empty, and the terms are their own. A
    translation is complete if it says all that the words say, as far as is known.
    """

    asked: str
    language: str
    form: str
    terms: tuple[str, ...]
    is_complete: bool = True


class ShortestPassage(NamedTuple):
    """A short passage of a post: its length in words, and quotes of it.

    Each field of the post is quoted separately, because fields do not continue each other. A
    passage is a term if its words, at least two, translate all words of the question together.
    """

    words: int
    quotes: tuple[str, ...]
    is_term: bool = False


#: The places in a post where a match begins and ends, and the word of the question.
_Met = tuple[int, int, str]
# A reason names this many words at most, and no translation of a lower weight, which may match by
# chance.
_SHOWN, _LIKELY = 8, 0.15
# Posts whose words are cached, and the most words of a post that are read for a reason.
_REMEMBERED, _WORDS_READ = 2_000, 20_000
# The most words of a query that is expanded with other forms of its concepts.
_SHORT = 8
# The most words of a quote that is extended to show the question's words in full.
_LONGEST_QUOTE = 20
# The most characters of formulas between quoted words; longer formulas are left out.
_LONGEST_GAP = 80
# A call or an index in code, whose names are separate words.
_CODE = re.compile(r"\w[(\[{]\w{2}")
_JOINT = re.compile(r"(?<=\w)[^\w'’-]+(?=\w)")
# The place of the first tag among the texts of a post, after title, body and question.
_FIRST_TAG = 3
# Tags are often English in posts of other languages, so they are read in English, too.
_TAGS_LANGUAGE = "en"
_BRACKETS = {"(": ")", "[": "]"}
_PUNCTUATION = ".,;:!?()[]\"'«»“”„।،؛؟"
# The separator of terms, which no term contains.
_BETWEEN = "\0"
_LATEX_TOKEN = re.compile(r"[^\W_]+")
_ANALYSES = ("languages", "porter", "snowball")


@dataclass(frozen=True)
class LexicalSettings:
    """The settings of a lexical index.

    Attributes:
        scheme: How frequencies become scores: ``{"name": "bm25+", "k1": 1.2}`` or a TF-IDF
            scheme in SMART notation, ``{"name": "lnc"}``.
        fields: The fields of a post that are read, each with the weight of a word in it.
        analysis: ``languages`` (each text by its own language's chain), or one chain for all:
            ``porter`` or ``snowball`` for English as in the papers.
        formula_tokens: The weight of names and numbers in a query's formulas, relative to its
            words; 0 leaves them out of the index.
        query_title: The additional weight of the words in a query's title, if the query also has a
            text.
        translate: Whether the glossary translates a query's words into the posts' languages.
        stop_words: Whether stop words are left out.
        min_posts: Terms in fewer posts are ignored.
        max_share: Terms in a larger share of the posts are ignored.
    """

    scheme: dict[str, Any] = field(default_factory=lambda: {"name": "bm25+"})
    fields: Fields = field(default_factory=lambda: {"title": 1, "body": 1, "question": 1})
    analysis: str = "languages"
    formula_tokens: float = 1.0
    query_title: float = 0.0
    translate: bool = True
    stop_words: bool = True
    min_posts: int = 0
    max_share: float = 1.0

    def __post_init__(self) -> None:
        make_scheme(self.scheme)
        if self.min_posts < 0:
            raise InputError(f"min_posts is {self.min_posts}; it cannot be less than 0")
        if not 0 < self.max_share <= 1:
            raise InputError(f"max_share is {self.max_share:g}; it must be above 0 and at most 1")
        check_fields(self.fields, ("title", "body", "question", "tags"))
        check_weights(self.fields)
        if self.analysis not in _ANALYSES:
            raise InputError(f"analysis is {self.analysis!r} (known: {', '.join(_ANALYSES)})")
        for name in ("formula_tokens", "query_title"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise InputError(f"{name} is {value:g}; it cannot be less than 0")

    @property
    def without_extremes(self) -> bool:
        """Whether rare or frequent terms are ignored."""
        return self.min_posts > 1 or self.max_share < 1

    def weighting(self) -> Scheme:
        """The weighting scheme of the terms."""
        scheme = make_scheme(self.scheme)
        if not self.without_extremes:
            return scheme
        return WithoutExtremes(scheme, self.min_posts, self.max_share)


def formula_tokens(latex: str) -> list[str]:
    r"""The names and numbers in a formula; the formula index covers signs and layout.

    A name is the same term in a formula and in a sentence ("sin", "det").

    >>> formula_tokens(r"\frac{x}{12} + x")
    ['frac', 'x', '12', 'x']
    """
    return _LATEX_TOKEN.findall(latex.lower())


def post_terms(facts: PostFacts, settings: LexicalSettings) -> dict[str, float]:
    """The terms of a post, each with its frequency weighted by field.

    >>> from mathsetu.intake import read_post
    >>> from mathsetu.records import Post
    >>> post = Post(id="1", title="Sums", body="A sum of $x$", language="en")
    >>> post_terms(read_post(post), LexicalSettings())
    {'sum': 2.0, 'x': 1.0}
    """
    frequencies: Counter[str] = Counter()
    for name, weight in settings.fields.items():
        text = _tags(facts) if name == "tags" else facts.texts[name]
        terms = _word_terms(text.words, facts.language, settings)
        if name == "tags" and facts.language != _TAGS_LANGUAGE:
            as_tags = _word_terms(text.words, _TAGS_LANGUAGE, settings)
            terms += (Counter(as_tags) - Counter(terms)).elements()
        if settings.formula_tokens:
            for latex in text.formulas:
                terms += formula_tokens(latex)
        for term in terms:
            frequencies[term] += weight  # type: ignore[assignment]
    return {term: float(count) for term, count in frequencies.items()}


def _tags(facts: PostFacts) -> MarkedText:
    return MarkedText(" ".join(facts.post.tags).replace("-", " "))


def _word_terms(text: str, language: str, settings: LexicalSettings) -> list[str]:
    if settings.analysis == "languages":
        return analyze(text, language, stop_words=settings.stop_words)
    return analyze(text, "en", stemmer=settings.analysis, stop_words=settings.stop_words)


class LexicalBuilder:
    """Builds one segment."""

    reader = None

    merges_on_disk = True

    def __init__(self, settings: LexicalSettings) -> None:
        self._settings = settings
        self._postings = PostingsBuilder()
        self._languages: Counter[str] = Counter()

    def prepare(self, facts: PostFacts) -> tuple[str, dict[str, float]]:
        """The language of a post and its terms."""
        return facts.language, post_terms(facts, self._settings)

    def add(self, prepared: tuple[str, dict[str, float]]) -> None:
        """Add the next post."""
        language, terms = prepared
        self._languages[language] += 1
        self._postings.add(terms)

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._postings.write(folder)
        self._finish(folder)

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one."""
        for source in sources:
            self._languages.update(source.languages)
        merge_posts(sources, folder)
        self._finish(folder)

    def _finish(self, folder: Path) -> None:
        write_impacts(folder, self._settings.weighting())
        counts = dict(sorted(self._languages.items()))
        (folder / "languages.json").write_text(json.dumps(counts) + "\n", encoding="utf-8")


class LexicalRetriever:
    """Answers questions by words."""

    formula_finder = None
    heat_mapper = None

    def __init__(self, folders: Sequence[Path], settings: LexicalSettings) -> None:
        self.settings = settings
        self.index = WeightedIndex([Postings(folder) for folder in folders], settings.weighting())
        self.index.impacts  # noqa: B018 - mapped now: a rebuild may remove the files
        self.posts = self.index.collection.documents
        spoken = {code for folder in folders for code in _read_languages(folder) if code}
        #: The languages of the posts.
        self.languages = sorted(spoken)

    def has(self, terms: Sequence[str]) -> bool:
        """Whether any post has any of the terms."""
        return any(segment.document_counts(terms).any() for segment in self.index.segments)

    def ask(self, questions: Sequence[Question]) -> list[LexicalReply]:
        """Answer several questions."""
        return [LexicalReply(self, question) for question in questions]


class LexicalReply:
    """Scores posts for one question by their words."""

    def __init__(self, retriever: LexicalRetriever, question: Question) -> None:
        self._index, self._settings = retriever.index, retriever.settings
        self._languages = retriever.languages
        self._question = question
        self._said: dict[str, dict[str, list[_Translation]]] = {}
        self._translation_cache: dict[tuple[str, str], list[_Translation]] = {}
        self._expansions: dict[tuple[str, str], list[Expanded]] = {}

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts."""
        return self._weighed.best(k, allowed)

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of given posts."""
        return self._weighed.scores(numbers)

    def reason(self, number: int, post: Post) -> Reason:
        """The words that a post shares with the question, those with the largest share first.

        Each is given in the form that the post has, the question's form if the post has that. The
        evidence lists other forms of the post at the end. Terms that match in formulas only are
        not words, and are not named.
        """
        shares = self._weighed.parts(number)
        ranked = sorted(zip(shares, self.wanted, strict=True), key=lambda pair: -pair[0])
        text = _read_words(post, self._settings)
        found = (
            self._evidence(term, post.language, text)
            for share, term in ranked
            if share > 0 and self.wanted[term] >= _LIKELY and term in text.first
        )
        forms = [evidence for evidence in found if evidence]
        met = dict.fromkeys(first for first, *_ in forms)
        others = dict.fromkeys(chain.from_iterable(others for _, *others in forms))
        return Reason("words", float(sum(shares)), _in_words(met), tuple(met | others))

    def may_match_all(self, number: int) -> bool:
        """Whether a post has terms for all words of the question; fast, with false positives.

        A word matches by its own terms or by those of its translations into any language. Words
        that are translated together must match at least as many terms as there are words, or all
        those of a shorter translation, such as Zwischenwertsatz for intermediate value theorem.
        """
        shares = zip(self._weighed.parts(number), self.wanted, strict=True)
        there = {term for share, term in shares if share > 0}
        return any(
            bool(words)
            and all(
                any(len(there & terms) >= least for terms, least in terms_of_word)
                for terms_of_word in words
            )
            for words in self._terms_of_words
        )

    def is_inflection_of_query(self, found: str, language: str) -> bool:
        """Whether words of a post are those of the question in the same order, up to inflection."""
        if any(word[-1] in _PUNCTUATION for word in found.split()[:-1]):
            return False
        terms = _word_terms(found, language, self._settings)
        words = self._words_of(self._question)
        return any(
            terms == _word_terms(words, one, self._settings) for one in self._question.languages
        )

    @property
    def word_count(self) -> int:
        """The number of words of the question, without stop words."""
        return max(map(len, self._terms_of_words), default=0)

    @cached_property
    def _terms_of_words(self) -> list[list[list[tuple[set[str], int]]]]:
        """For each reading of the question, the sets of terms that may match each of its words.

        Each set comes with the number of its terms that must match.
        """
        words, readings = self._words_of(self._question), []
        for language in self._question.languages:
            read = ((word, _word_terms(word, language, self._settings)) for word in tokenize(words))
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
            set(_word_terms(form, target, self._settings))
            for found in Glossary.load().match(asked, language)
            if (found.start, found.end) == (0, len(asked))
            for concept in found.concepts
            for target in self._languages
            if target != language
            for form in concept.forms.get(target, ())
        )
        return [form for form in forms if 0 < len(form) < count]

    def shortest_passage(self, post: Post) -> ShortestPassage | None:
        """The shortest passage of a post that has all words of the question.

        Complete translations of words count as these words. None if the post does not have all.
        """
        text = _read_words(post, self._settings)
        found = []
        for asked_in in self._question.languages:
            sayings = self._translations_of(asked_in, post.language)
            met, wanted = self._met_in(text, post.language, sayings)
            if span := _shortest(met, wanted):
                found.append((span, met, sayings, asked_in != post.language))
        if not found:
            return None
        (first, last), met, sayings, is_translated = min(
            found, key=lambda one: one[0][1] - one[0][0]
        )
        count = last - first + 1
        is_whole = all(one[:2] == (first, last) for one in met if first <= one[0] <= last)
        is_term = is_translated and first < last and is_whole
        # "Abelian" alone matches "abelian group", but if "group" is near, both are quoted.
        own = self._met_in(text, post.language, [one for one in sayings if not one.form])
        whole = _shortest(*own)
        if whole and whole[0] <= first and last <= whole[1] < whole[0] + _LONGEST_QUOTE:
            first, last = whole
        within = (one for one in met if first <= one[0] <= last)
        fields = (list(own) for _, own in groupby(within, lambda one: text.field_of(one[0])))
        quotes = (text.between(own[0][0], max(end for _, end, _ in own)) for own in fields)
        return ShortestPassage(count, tuple(quotes), is_term)

    def _met_in(
        self, text: _Words, language: str, sayings: Iterable[_Translation]
    ) -> tuple[list[_Met], set[str]]:
        """The matches of the question's words in a post, in order, and the set of all its words."""
        met: list[_Met] = []
        wanted: dict[str, tuple[str, ...]] = {}
        for asked, _, form, terms, is_complete in sayings:
            if not form and terms:
                wanted[asked] = terms
            # Where no spaces separate words, a translation of one pair of letters says little.
            is_part = not is_complete or (bool(form) and len(wanted.get(asked, ())) > 1)
            if terms and not is_part:
                for first, last in _spans_of(form or asked, terms, language, text, not form):
                    met += ((first, last, word) for word in tokenize(asked))
        if not any(map(str.isalpha, "".join(wanted))):
            return [], set()
        return _longest_met(one for one in met if one[2] in wanted), set(wanted)

    def _evidence(self, term: str, language: str, text: _Words) -> list[Evidence]:
        """The question's words that a term of a post matches, with each form found in the post."""
        said = self._terms_for(language).get(term, [])
        # First the question's own word, then a complete translation, then a part of one.
        for one in sorted(said, key=lambda one: bool(one.form)):
            if forms := self._forms_of(one, language, text):
                return [self._met(one, found) for found in forms]
        # If the question is in the language of the post, parts of translations from another reading
        # match by chance: "identity", read as Czech, is translated to "algebraic identity".
        is_own = language in self._question.languages
        for one in said:
            if not one.form or not is_own:
                part = self._word_with(term, one.form, language) if one.form else one.asked
                if found := _said_in(part, [term], language, text, not one.form):
                    by_itself = self._met_by_itself(one, term, language, text)
                    return [by_itself or self._met(one, found)]
        # A part of a translation. Names in formulas are not words, and a word that has this meaning
        # in another language only ("númer" for a numerator) matches by chance.
        if said or is_own or term in self._in_formulas:
            return []
        if not (asked := self._asked_for(language).get(term, "")):
            return []
        is_same = term in _word_terms(asked, language, self._settings)
        found = text.span([term])
        return [Evidence("word", asked, found, "" if is_same else found)]

    def _forms_of(self, said: _Translation, language: str, text: _Words) -> list[str]:
        """The forms in which a post has words or a translation, the requested form first."""
        forms: dict[str, str] = {}
        wanted = said.form or said.asked
        for span in _spans_of(wanted, said.terms, language, text, not said.form):
            found = text.between(*span)
            forms.setdefault(found.casefold(), found)
        wanted = fold(normalise(wanted))
        ordered = sorted(forms.values(), key=lambda form: fold(normalise(form)) != wanted)
        # Where no spaces separate words, whole clauses match, which are not forms of the words.
        others = (
            form
            for form in ordered[1:_SHOWN]
            if len(_word_terms(form, language, self._settings)) <= len(said.terms)
        )
        return [*ordered[:1], *others]

    def _met(self, said: _Translation, found: str) -> Evidence:
        return Evidence("word", self._spellings.get(said.asked, said.asked), found, said.form)

    def _met_by_itself(
        self, said: _Translation, term: str, language: str, text: _Words
    ) -> Evidence | None:
        """The one of several words whose own translation has the term and is in the post."""
        words = tokenize(said.asked)
        for word in words if said.form and len(words) > 1 else ():
            for one in self._translations(word, said.language, language):
                found = _said_in(one.form, one.terms, language, text)
                if found and term in one.terms:
                    return self._met(one, found)
        return None

    def _word_with(self, term: str, form: str, language: str) -> str:
        """The word of a translation that has a term; "" where there is none."""
        terms_of = partial(_word_terms, language=language, settings=self._settings)
        return next((word for word in tokenize(form) if term in terms_of(word)), "")

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """The question's words as written, by their tokens."""
        written = (word.strip(_PUNCTUATION) for word in self._words_of(self._question).split())
        return {read[0]: word for word in written if len(read := tokenize(word)) == 1}

    @cached_property
    def _in_formulas(self) -> frozenset[str]:
        tokens = (formula_tokens(latex) for latex in self._question.formulas)
        return frozenset(chain.from_iterable(tokens))

    @cached_property
    def _weighed(self) -> WeighedQuery:
        return self._index.weigh(self.wanted, self._translated)

    def _asked_for(self, post_language: str) -> dict[str, str]:
        """The terms into which the question is translated, each with the words it is from."""
        words, asked = self._words_of(self._question), {}
        if self._is_translating:
            for language in self._question.languages:
                for one in Glossary.load().expand_into(words, language, [post_language]):
                    if is_presentable(one.term, one.weight):
                        asked[one.term] = words[one.pieces[0].start : one.pieces[0].end]
        return asked

    def _terms_for(self, post_language: str) -> dict[str, list[_Translation]]:
        """The terms that match in posts of a language, with the question's words for each."""
        if post_language not in self._said:
            said: dict[str, list[_Translation]] = {}
            for language in self._question.languages:
                for one in self._translations_of(language, post_language):
                    for term in one.terms:
                        said.setdefault(term, []).append(one)
            self._said[post_language] = said
        return self._said[post_language]

    def _translations_of(self, language: str, target: str) -> list[_Translation]:
        """The question's words as read in one language, and their translations into another."""
        # Needed for every post that is explained, and the same for all posts of its language.
        if (language, target) not in self._translation_cache:
            words, settings = self._words_of(self._question), self._settings
            own = {word: tuple(_word_terms(word, language, settings)) for word in tokenize(words)}
            said = [_Translation(word, language, "", terms) for word, terms in own.items()]
            if settings.translate:
                said += self._translations(words, language, target)
            self._translation_cache[language, target] = said
        return self._translation_cache[language, target]

    def _translations(self, words: str, language: str, target: str) -> Iterator[_Translation]:
        """The translations of words from one language into another."""
        glossary = Glossary.load()
        terms_of = partial(_word_terms, language=target, settings=self._settings)
        known: list[range] = []
        for found in glossary.match(words, language):
            asked = words[found.start : found.end]
            for concept in found.concepts:
                for form in concept.forms.get(target, ()):
                    known.append(range(found.start, found.end))
                    yield _Translation(asked, language, form, tuple(terms_of(form)))
        learned = list(glossary.learned(words, language, target))
        pieces = Counter((start, end) for start, end, _ in learned)
        for start, end, forms in learned:
            # The second learned translation is often a word that is merely near the first, such
            # as "triangle" for "right angle", and a compound says more than one of its pieces.
            is_certain = pieces[start, end] == 1 and not any(start in term for term in known)
            for place, form in enumerate(forms):
                is_complete = is_certain and place == 0
                terms = tuple(terms_of(form))
                yield _Translation(words[start:end], language, form, terms, is_complete)

    @cached_property
    def wanted(self) -> Wanted:
        """The weighted query terms, in the languages of the posts."""
        settings, question = self._settings, self._question
        weights = self._wanted_of(question)
        if settings.query_title and question.title:
            for term, weight in self._wanted_of(question.title).items():
                weights[term] = weights.get(term, 0.0) + settings.query_title * weight
        if settings.formula_tokens:
            for latex in question.formulas:
                for token in formula_tokens(latex):
                    weights[token] = weights.get(token, 0.0) + settings.formula_tokens
        return weights

    @cached_property
    def _translated(self) -> dict[str, list[tuple[str, ...]]]:
        """The terms of translations, with the terms that they translate, if posts have those."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for language in self._question.languages:
            if self._is_translating and language in self._languages:
                for one in self._expanded(self._words_of(self._question), language):
                    terms = (piece.terms for piece in one.pieces)
                    found.setdefault(one.term, []).extend(terms)
        return found

    @property
    def _is_translating(self) -> bool:
        return self._settings.translate and self._settings.analysis == "languages"

    def _words_of(self, question: Question) -> str:
        """The words of a question; if they are translated, without translations in brackets."""
        return question.words_without_glosses if self._is_translating else question.words

    def _wanted_of(self, question: Question) -> dict[str, float]:
        """The weighted terms of a question's words, read in each of its possible languages."""
        weights: dict[str, float] = {}
        for language in question.languages:
            for term, weight in self._wanted_in(self._words_of(question), language):
                weights[term] = max(weights.get(term, 0.0), weight)
        if weights and len(self._words_of(question).split()) == 1:
            # No other word confirms an unlikely translation of a single word.
            least = _LIKELY * max(weights.values())
            weights = {term: weight for term, weight in weights.items() if weight >= least}
        return weights

    def _wanted_in(self, words: str, language: str) -> Iterator[tuple[str, float]]:
        """The weighted terms of words as read in one language."""
        settings, translating = self._settings, self._is_translating
        is_spoken = language in self._languages
        if not translating or is_spoken or not self._languages:
            yield from Counter(_word_terms(words, language, settings)).items()
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
            if evenly and len(words.split()) <= _SHORT:
                other_forms = Glossary.load().other_forms(words, language)
            self._expansions[words, language] = [*expanded, *other_forms]
        return self._expansions[words, language]


def _read_languages(folder: Path) -> list[str]:
    """The languages of a segment's posts."""
    path = folder / "languages.json"
    try:
        with open_plain(path) as file:
            counts = json.load(file)
        return [str(code) for code in dict(counts)]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise DamagedLibrary(path, f"is damaged ({error})") from error


@dataclass(frozen=True)
class _Words:
    """The words of a post; no phrase crosses a formula or the end of a clause or a field.

    Attributes:
        words: All words in order.
        places: For each term, in order, the place of its word.
        terms: The terms, each between separators.
        first: Each term with the place of the first word that has it.
        fields: The places at which the fields begin.
        gaps: For the place of a word, the text between it and the word before, if not a space.
    """

    words: list[str]
    places: list[int]
    terms: str
    first: dict[str, int]
    fields: list[int]
    gaps: dict[int, str]

    def spans(self, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the places of the first and the last word of terms that follow each other."""
        wanted, place, passed, number = _joined(terms), -1, 0, 0
        while terms and (place := self.terms.find(wanted, place + 1)) >= 0:
            number += self.terms.count(_BETWEEN, passed, place)
            passed = place
            yield self.places[number], self.places[number + len(terms) - 1]

    def span(self, terms: Sequence[str]) -> str:
        """The first words in the post whose terms follow each other so; "" if there are none."""
        return next((self.between(*span) for span in self.spans(terms)), "")

    def between(self, first: int, last: int) -> str:
        """The words from one place of a field to another, with the formulas between them."""
        further = range(first + 1, last + 1)
        rest = (self.gaps.get(place, " ") + self.words[place] for place in further)
        return _quoted(self.words[first] + "".join(rest))

    def field_of(self, place: int) -> int:
        """The number of the field that the word at a place is in, counted from 1."""
        return bisect_right(self.fields, place)


def _cut(chunk: str) -> Iterator[tuple[str, str]]:
    """Split text without spaces into words, each with the characters that join it to the last one.

    Only code has several words: brackets at the end of a word, as in "root(s)", are part of it.

    >>> list(_cut("np.quantile(medians,")), list(_cut("root(s)"))
    ([('', 'np'), ('.', 'quantile'), ('(', 'medians,')], [('', 'root(s)')])
    """
    if not _CODE.search(chunk):
        yield "", chunk
        return
    start, joint = 0, ""
    for found in _JOINT.finditer(chunk):
        yield joint, chunk[start : found.start()]
        start, joint = found.end(), found[0]
    yield joint, chunk[start:]


def _spans_of(
    said: str, terms: Sequence[str], language: str, text: _Words, is_own: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the places where a post has a translation, or, if ``is_own``, a word of the question.

    Words with the stems of the translation do not match if they are a glossary term for another
    concept: "diagonal" is not "diagonalization". A word of the question matches all its
    derivations, but not a word whose stem collides with it: "equator" is not "equation".
    """
    for first, last in text.spans(terms):
        found = text.between(first, last)
        is_other = (
            is_stem_collision(said, language) != is_stem_collision(found, language)
            if is_own
            else bool(said) and _mean_different(said, found, language)
        )
        if not is_other:
            yield first, last


def _said_in(
    said: str, terms: Sequence[str], language: str, text: _Words, is_own: bool = False
) -> str:
    """The words of a post that match a translation or a word of the question; "" if none do."""
    spans = _spans_of(said, terms, language, text, is_own)
    return next((text.between(*span) for span in spans), "")


@lru_cache(maxsize=1 << 14)  # called for every post that is explained
def _mean_different(form: str, found: str, language: str) -> bool:
    return Glossary.load().mean_different(form, found, language)


def _longest_met(met: Iterable[_Met]) -> list[_Met]:
    """The matches in order, without those inside a longer match of the same word.

    >>> _longest_met([(3, 3, "a"), (2, 3, "a"), (3, 3, "b"), (5, 5, "a")])
    [(2, 3, 'a'), (3, 3, 'b'), (5, 5, 'a')]
    """
    reached: dict[str, int] = {}
    kept: list[_Met] = []
    for first, last, word in sorted(met, key=lambda one: (one[0], -one[1])):
        if last > reached.get(word, -1):
            reached[word] = last
            kept.append((first, last, word))
    return sorted(kept)


def _shortest(met: Sequence[_Met], wanted: AbstractSet[str]) -> tuple[int, int] | None:
    """The shortest range of places in which all words occur.

    Args:
        met: The matches of the words, in order.
        wanted: The words.

    >>> _shortest([(0, 0, "a"), (7, 8, "b"), (9, 9, "a")], {"a", "b"})
    (7, 9)
    """
    counts: Counter[str] = Counter()
    best: tuple[int, int] | None = None
    start = 0
    for _, end, word in met:
        counts[word] += 1
        while counts[met[start][2]] > 1:
            counts[met[start][2]] -= 1
            start += 1
        first = met[start][0]
        if len(counts) == len(wanted) and (best is None or end - first < best[1] - best[0]):
            best = first, end
    return best


def _quoted(text: str) -> str:
    """Strip the punctuation around words, but close the brackets that they open.

    >>> _quoted("(see"), _quoted("theorem (Euler):"), _quoted("print(det(A)))")
    ('see', 'theorem (Euler)', 'print(det(A))')
    """
    cut = text.strip(_PUNCTUATION)
    rest = text[text.index(cut) + len(cut) :]
    for opening, closing in _BRACKETS.items():
        missing = cut.count(opening) - cut.count(closing)
        if missing > 0 and rest.startswith(closing * missing):
            return cut + closing * missing
    return cut


def _joined(terms: Sequence[str]) -> str:
    return _BETWEEN + _BETWEEN.join(terms) + _BETWEEN


def _read_words(post: Post, settings: LexicalSettings) -> _Words:
    own = ((text, post.language) for text in (post.title, post.body, post.question))
    tags = [tag.replace("-", " ") for tag in post.tags]
    # Only an analysis by languages reads them differently.
    is_by_language = settings.analysis == "languages"
    languages = dict.fromkeys((post.language, _TAGS_LANGUAGE) if is_by_language else ("",))
    read = ((tag, language) for language in languages for tag in tags)
    return _read_texts((*own, *read), settings.analysis)


@lru_cache(maxsize=_REMEMBERED)  # good posts are found repeatedly
def _read_texts(texts: tuple[tuple[str, str], ...], analysis: str) -> _Words:
    """The words of texts, each given with the language that it is read in."""
    words: list[str] = []
    places: list[int] = []
    terms: list[str] = []
    first: dict[str, int] = {}
    fields: list[int] = []
    gaps: dict[int, str] = {}
    for number, (text, language) in enumerate(texts):
        is_further_tag = number > _FIRST_TAG  # the tags are one field
        gap = ", " if is_further_tag else ""
        if not is_further_tag:
            fields.append(len(words))
        for span in MarkedText(text).spans:
            if span.kind != "text":
                shown = " ".join(span.content.split())
                gap += f"${shown}$" if span.kind == "formula" and len(gap) < _LONGEST_GAP else "…"
                continue
            for clause in clauses(plain_words(span.content)):
                own = list(islice(clause.split(), _WORDS_READ - len(words)))
                if own:
                    gap += " " if clause[0].isspace() else ""
                    gaps[len(words)] = gap if len(gap) <= _LONGEST_GAP else " … "
                    gap = ""
                for joint, word in chain.from_iterable(map(_cut, own)):
                    if joint:
                        gaps[len(words)] = joint
                    for term in _terms_of_word(word, language, analysis):
                        first.setdefault(term, len(words))
                        places.append(len(words))
                        terms.append(term)
                    words.append(word)
                gap += " " if clause[-1].isspace() else ""
                # An empty term, which matches nothing, ends phrases at a clause or a formula.
                places.append(len(words))
                terms.append("")
    return _Words(words, places, _joined(terms), first, fields, gaps)


@lru_cache(maxsize=1 << 16)
def _terms_of_word(word: str, language: str, analysis: str) -> tuple[str, ...]:
    return tuple(_word_terms(word, language, LexicalSettings(analysis=analysis)))


def _in_words(met: Iterable[Evidence]) -> str:
    """Describe the matches: the question's words, and the post's where they differ."""
    shown: dict[str, list[str]] = {}
    for one in met:
        shown.setdefault(one.asked, []).append(one.found)
    told = (
        found if fold(normalise(found)) == fold(normalise(asked)) else f"{asked} → {found}"
        for asked, words in shown.items()
        for found in [", ".join(words)]
    )
    return "; ".join(islice(told, _SHOWN))
