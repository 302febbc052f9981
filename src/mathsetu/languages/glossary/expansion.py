"""A query's words as weighted terms of another language, for lexical search.

A word that the glossary knows becomes the terms of its translations: those of the usual term weigh
1, those of all synonyms together `SYNONYMS`; a word that may mean several concepts shares its
weight among them; words of plain discourse ("find", "question") weigh `DISCOURSE` of that. A word
that stands only inside longer terms of the glossary becomes what goes with it there: Czech
"majorizovaná" is known from "věta o majorizované konvergenci", whose translations have "dominated".
A word that the glossary does not have becomes what it was learned to be (`languages.learned`), each
translation weighing as much as it is likely. Any other word stays as it is, since names and symbols
are the same in many languages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby

from mathsetu.languages.analyze import UNSPACED, analyze
from mathsetu.languages.glossary.concepts import Concept
from mathsetu.languages.glossary.matching import Matcher
from mathsetu.languages.glossary.tokens import Token, tokenize
from mathsetu.languages.learned import LearnedWords

# Chosen on the public CrossMath topics; the result is flat around them.
SYNONYMS = 0.5
DISCOURSE = 0.5
PART = 0.5
# Two terms belong together when they are in the same concepts at least this often (Dice).
TOGETHER = 0.4


#: Languages that write a space after every syllable, and what joins two of them in the tables of
#: learned words.
PAIRED = frozenset({"vi"})
PAIR = "-"


class Expander:
    """Turns words of one language into terms of another.

    >>> forms = {"en": ("prime number", "primes"), "cs": ("prvočíslo",)}
    >>> concepts = [Concept("prime-number", "number-theory", forms)]
    >>> Expander(concepts, Matcher(concepts, "cs"), "cs", "en").expand("Prvočísla a Zagier")
    [('prime', 1.0), ('number', 1.0), ('zagier', 1.0)]
    """

    def __init__(
        self, concepts: Sequence[Concept], matcher: Matcher, source: str, target: str
    ) -> None:
        self._concepts = concepts
        self._matcher = matcher
        self._source = source
        self._target = target
        self._translations: dict[str, dict[str, float]] = {}

    def expand(self, text: str) -> list[tuple[str, float]]:
        """The weighted terms, in the order in which the text brings them up."""
        weights: defaultdict[str, float] = defaultdict(float)
        tokens = tokenize(text, self._source)
        place = 0
        for match, first, after in self._matcher.match_tokens(text, tokens):
            self._add_unknown(text, tokens[place:first], weights)
            place = after
            known = [terms for concept in match.concepts if (terms := self._translation(concept))]
            for translation in known:
                for term, weight in translation.items():
                    weights[term] += weight / len(known)
            if not known:
                self._add_unknown(text, tokens[first:after], weights)
        self._add_unknown(text, tokens[place:], weights)
        return list(weights.items())

    def _translation(self, concept: Concept) -> dict[str, float]:
        """The terms of a concept in the target language."""
        known = self._translations.get(concept.id)
        if known is None:
            share = DISCOURSE if concept.area == "discourse" else 1.0
            usual, *synonyms = concept.forms.get(self._target, ("",))
            known = dict.fromkeys(analyze(usual, self._target), share)
            others = {term for form in synonyms for term in analyze(form, self._target)} - set(
                known
            )
            known |= {term: share * SYNONYMS / len(others) for term in sorted(others)}
            self._translations[concept.id] = known
        return known

    def _add_unknown(
        self, text: str, tokens: Sequence[Token], weights: defaultdict[str, float]
    ) -> None:
        """Words that are no term: by their part in longer terms, or as they are."""
        for token in self._paired(_whole(text, tokens, self._source)):
            if token.is_stop:
                continue
            parts = [part for term in token.terms if (part := self._part(term))]
            for part in parts:
                weights[part] += PART
            if parts:
                continue
            own = analyze(text[token.start : token.end], self._target)
            learned = self._learned(token.terms)
            # What is its own translation is a name, or a word that both languages have.
            if any(term in learned for term in own) or not learned:
                learned = dict.fromkeys(own, 1.0)
            for term, weight in learned.items():
                weights[term] += weight

    def _paired(self, tokens: Iterable[Token]) -> Iterator[Token]:
        """Two syllables as one word where they were learned so."""
        if self._source not in PAIRED:
            yield from tokens
            return
        table = LearnedWords.load(self._source, self._target)
        waiting: Token | None = None
        for token in tokens:
            if waiting is not None and token.follows and not waiting.is_stop and not token.is_stop:
                pair = PAIR.join((*waiting.terms, *token.terms))
                if table.translations(pair):
                    yield Token(waiting.start, token.end, (pair,), False, waiting.follows)
                    waiting = None
                    continue
            if waiting is not None:
                yield waiting
            waiting = token
        if waiting is not None:
            yield waiting

    def _learned(self, terms: Sequence[str]) -> dict[str, float]:
        """The terms of what a word's terms have been learned to mean, with their weights."""
        table = LearnedWords.load(self._source, self._target)
        weights: defaultdict[str, float] = defaultdict(float)
        for term in terms:
            for word, chance in table.translations(term):
                for translated in analyze(word, self._target):
                    weights[translated] += chance
        return dict(weights)

    def _part(self, term: str) -> str:
        """The term of the target that a term of the source most often goes with, or nothing."""
        places = self._source_places.get(term, ())
        together = Counter(other for place in places for other in self._target_terms[place])
        shares = (
            (2 * count / (len(places) + self._target_counts[other]), other)
            for other, count in together.items()
        )
        share, best = max(shares, default=(0.0, ""))
        return best if share >= TOGETHER else ""

    @cached_property
    def _source_places(self) -> dict[str, list[int]]:
        """Each source term with the places of the concepts that have it."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, concept in enumerate(self._concepts):
            for term in _terms(concept, self._source):
                places[term].append(place)
        return places

    @cached_property
    def _target_terms(self) -> list[frozenset[str]]:
        return [_terms(concept, self._target) for concept in self._concepts]

    @cached_property
    def _target_counts(self) -> Counter[str]:
        return Counter(term for terms in self._target_terms for term in terms)


def _whole(text: str, tokens: Sequence[Token], language: str) -> Iterator[Token]:
    """Words as they are; characters of scripts without spaces as the analyzer's pairs of them."""
    for is_unspaced, group in groupby(tokens, lambda token: _is_unspaced(text, token)):
        if not is_unspaced:
            yield from group
            continue
        row = list(group)
        start, end = row[0].start, row[-1].end
        for term in analyze(text[start:end], language):
            place = text.find(term, start, end)
            if place >= 0:
                yield Token(place, place + len(term), (term,), False, True)


def _is_unspaced(text: str, token: Token) -> bool:
    return token.end - token.start == 1 and UNSPACED.match(text, token.start) is not None


def _terms(concept: Concept, language: str) -> frozenset[str]:
    forms = concept.forms.get(language, ())
    return frozenset(term for form in forms for term in analyze(form, language))
