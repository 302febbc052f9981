"""A query's words as weighted terms of another language, for lexical search.

A word in the glossary becomes the terms of its translations. The terms of the usual translation
have weight 1, those of all synonyms together `SYNONYMS`. An ambiguous word divides its weight among
its concepts. Words of discourse ("find", "question") are weighted by `DISCOURSE`. A one-word term
shares its weight with its learned translations (`languages.learned`), since the usual term of its
concept is often not what the word means in context: Croatian "dobiti" is "profit" in the glossary,
but "to get" in a question. A term of several words is rarely ambiguous. A word outside the glossary
becomes its learned translations, weighted by their probabilities. If there are none, it becomes the
term that co-occurs with it in longer terms of the glossary: Czech "majorizovaná" occurs in "věta o
majorizované konvergenci", whose translations have "dominated". Any other word stays unchanged,
since names and symbols are the same in many languages.

Terms found by a program and not reviewed (`further.py`) are sometimes wrong, so they have less
weight relative to learned translations. Unknown German, Dutch and Swedish words are split into
known parts: "Mathematikbuch" is "Mathematik" and "Buch". Vietnamese words have several syllables.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from mathsetu.languages.analyze import UNSPACED, analyze
from mathsetu.languages.glossary.concepts import Concept
from mathsetu.languages.glossary.further import further_terms
from mathsetu.languages.glossary.matching import Matcher, ReadText, TermMatch
from mathsetu.languages.glossary.tokens import LONGEST_WORD, Token, has_tones
from mathsetu.languages.learned import LearnedWords
from mathsetu.languages.normalise import normalise
from mathsetu.languages.stem_collisions import is_stem_collision
from mathsetu.languages.table import FURTHER
from mathsetu.languages.table import language as row_of

# Chosen on the public CrossMath topics; the result is flat around them.
SYNONYMS = 0.5
DISCOURSE = 0.5
PART = 0.5
OTHER_FORMS = 0.25
# Minimum Dice coefficient, over shared concepts, of two terms that co-occur.
TOGETHER = 0.4
# Minimum length of a part of a compound, and the linking elements between two parts.
SHORTEST_PART = 4
JOINTS = ("", "s", "n", "en", "es", "er", "e")
# Weights of terms relative to learned words: terms of one word, and of several words, which are
# more reliable; reviewed terms, and unreviewed terms.
REVIEWED_WEIGHT, REVIEWED_LONG_WEIGHT = 0.4, 1.0
UNREVIEWED_WEIGHT, UNREVIEWED_LONG_WEIGHT = 0.3, 0.5
# Minimum probability of a learned word that is shown as a translation.
MIN_SHOWN_PROBABILITY = 0.3
# A learned word above this probability overrules an unreviewed term of one word.
OVERRULES = 0.5


# An article or preposition of one letter before a vowel, as in French "règle de l'Hôpital".
_ELIDED = re.compile(r"\b[^\W\d_]['’](?=\w)")
# English words that are not stop words, since they affect the meaning of a statement.
_DECIDING = frozenset("all any every some no not if only more less".split())


def is_presentable(word: str, chance: float) -> bool:
    """Whether a learned translation is reliable enough to be shown to the user.

    Words such as "all" and "if" are frequent in sentences, so they co-occur with any word.

    >>> is_presentable("give", 0.18), is_presentable("if", 0.19), is_presentable("if", 0.9)
    (True, False, True)
    """
    return chance >= MIN_SHOWN_PROBABILITY or word not in _DECIDING


#: Learned translations of a word, with their probabilities.
Learned = tuple[tuple[str, float], ...]


class Piece(NamedTuple):
    """One or more words of a text that are translated together.

    Attributes:
        start: The start of the words in the text.
        end: The end of the words.
        terms: Their terms from the analyzer of the source language; stop words have none.
        concepts: Their possible concepts in the glossary, most likely first.
        learned: The learned translations of each word, with their probabilities.
        places: The start and end of each of these words.
    """

    start: int
    end: int
    terms: tuple[str, ...]
    concepts: tuple[Concept, ...]
    learned: tuple[Learned, ...]
    places: tuple[tuple[int, int], ...]


class Expanded(NamedTuple):
    """A term of the target, its weight, and the pieces of the text that it translates."""

    term: str
    weight: float
    pieces: list[Piece]


class TermsOfConcepts:
    """The terms of all forms of each concept in one language."""

    def __init__(self, concepts: Sequence[Concept], language: str) -> None:
        self._concepts = concepts
        self.language = language

    def __getitem__(self, place: int) -> frozenset[str]:
        forms = self._concepts[place].forms.get(self.language, ())
        return frozenset(term for form in forms for term in analyze(form, self.language))

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Map each term to the positions of the concepts that have it."""
        places: dict[str, list[int]] = {}
        for place in range(len(self._concepts)):
            for term in self[place]:
                places.setdefault(term, []).append(place)
        return places

    def places_of_form(self, terms: Sequence[str]) -> Iterator[int]:
        """Yield the positions of the concepts that have a form with exactly these terms."""
        for place in self.places.get(terms[0], ()):
            forms = self._concepts[place].forms[self.language]
            if any(analyze(form, self.language) == list(terms) for form in forms):
                yield place


class Expander:
    """Turns words of one language into terms of another.

    >>> forms = {"en": ("prime number", "primes"), "cs": ("prvočíslo",)}
    >>> concepts = [Concept("prime-number", "number-theory", forms)]
    >>> czech, english = (TermsOfConcepts(concepts, code) for code in ("cs", "en"))
    >>> expanded = Expander(Matcher(concepts, "cs"), czech, english).expand("Prvočísla a Zagier")
    >>> [term for term, _ in expanded]
    ['prime', 'number', 'zagier']
    """

    def __init__(self, matcher: Matcher, source: TermsOfConcepts, target: TermsOfConcepts) -> None:
        self._matcher = matcher
        self._source_terms, self._target_terms = source, target
        self._source, self._target = source.language, target.language
        self._row = row_of(self._source)
        # Caches for concepts, for terms of the source and for words of the target.
        self._translations: dict[str, dict[str, float]] = {}
        self._parts: dict[str, str] = {}
        self._analyzed: dict[str, list[str]] = {}

    def expand(self, text: str, *, evenly: bool = False) -> list[tuple[str, float]]:
        """Return the weighted terms, in text order.

        With ``evenly``, the usual translation of a term has no more weight than the words of the
        text.
        """
        return [(one.term, one.weight) for one in self.expand_read(self.read(text), evenly=evenly)]

    def read(self, text: str) -> ReadText:
        """Analyse a marked text, for this target and all others."""
        return ReadText(self._matcher, text)

    def expand_read(self, read: ReadText, *, evenly: bool = False) -> list[Expanded]:
        """Expand an analysed text; return each term with the pieces that it translates."""
        weights: defaultdict[str, float] = defaultdict(float)
        pieces: defaultdict[str, list[Piece]] = defaultdict(list)
        for piece in self.pieces(read):
            for term, weight in self._weighed(read.text, piece, evenly):
                weights[term] += weight
                pieces[term].append(piece)
        return [Expanded(term, weight, pieces[term]) for term, weight in weights.items()]

    def other_forms(self, read: ReadText) -> list[Expanded]:
        """Return terms of other forms of the concepts in a text, in the language of the text."""
        weights: defaultdict[str, float] = defaultdict(float)
        pieces: defaultdict[str, list[Piece]] = defaultdict(list)
        for piece in self.pieces(read):
            for concept in piece.concepts:
                if concept.area == "discourse":
                    continue
                for term, weight in self._translation(concept).items():
                    if term not in piece.terms:
                        weights[term] += OTHER_FORMS * weight / len(piece.concepts)
                        pieces[term].append(piece)
        return [Expanded(term, weight, pieces[term]) for term, weight in weights.items()]

    def pieces(self, read: ReadText) -> Iterator[Piece]:
        """Yield the words of a marked text, those of one term together, without stop words."""
        text, tokens = read.text, read.tokens
        table = LearnedWords.load(self._source, self._target)
        if self._row.spaces_syllables and not has_tones(text, self._source):
            table = table.toneless
        place = first = 0
        while first < len(tokens):
            match, after = read.match_at(first)
            if match is not None and not any(self._translation(one) for one in match.concepts):
                match = None
            word = self._word(text, tokens, first, table)
            if word is not None and (match is None or word > after):
                yield from self._unmatched(text, tokens[place:first], table)
                key = _syllables(text, tokens[first:word])
                said = tuple(table.translations(key))
                start, end = tokens[first].start, tokens[word - 1].end
                yield Piece(start, end, (key,), (), (said,), ((start, end),))
                place = first = word
            elif match is not None:
                yield from self._unmatched(text, tokens[place:first], table)
                yield self._matched(text, match, tokens[first:after], table)
                place = first = after
            else:
                first += 1
        yield from self._unmatched(text, tokens[place:], table)

    def _word(
        self, text: str, tokens: Sequence[Token], first: int, table: LearnedWords
    ) -> int | None:
        """Return the end of the longest word of several syllables that begins here, if any."""
        if not self._row.spaces_syllables:
            return None
        last = first + 1
        while last < min(first + LONGEST_WORD, len(tokens)) and tokens[last].follows:
            last += 1
        for after in range(last, first + 1, -1):
            if _syllables(text, tokens[first:after]) in table:
                return after
        return None

    def _matched(
        self, text: str, match: TermMatch, tokens: Sequence[Token], table: LearnedWords
    ) -> Piece:
        """Return a glossary term, with learned translations of its words if they have weight."""
        places = [
            (term, (token.start, token.end))
            for token in tokens
            if not token.is_stop
            for term in token.terms
        ]
        terms = tuple(term for term, _ in places)
        if self._share(match.concepts, terms) == 1.0:
            places = []
        elif self._row.spaces_syllables and (whole := _syllables(text, tokens)) in table:
            places = [(whole, (match.start, match.end))]
        learned = tuple(tuple(table.translations(key)) for key, _ in places)
        where = tuple(place for _, place in places)
        return Piece(match.start, match.end, terms, match.concepts, learned, where)

    def _share(self, concepts: Sequence[Concept], terms: Sequence[str]) -> float:
        """Return the weight of the glossary relative to learned words."""
        if all(map(self._is_read, concepts)):
            return REVIEWED_WEIGHT if len(terms) == 1 else REVIEWED_LONG_WEIGHT
        return UNREVIEWED_WEIGHT if len(terms) == 1 else UNREVIEWED_LONG_WEIGHT

    def _is_read(self, concept: Concept) -> bool:
        """Whether the source term of a concept is reviewed."""
        if self._source not in FURTHER:
            return True
        term = further_terms(self._source).get(concept.id)
        return term is not None and term.is_reviewed

    def _unmatched(
        self, text: str, tokens: Sequence[Token], table: LearnedWords
    ) -> Iterator[Piece]:
        """Yield the words that are not terms of the glossary."""
        for token in _whole(text, tokens, self._source):
            if token.is_stop:
                continue
            learned = [
                tuple(table.translations(part))
                for term in token.terms
                for part in self._split_compound(term, table)
            ]
            if is_stem_collision(text[token.start : token.end], self._source):
                learned = [self._without_terms(token.terms, said) for said in learned]
            places = ((token.start, token.end),) * len(learned)
            yield Piece(token.start, token.end, token.terms, (), tuple(learned), places)

    def _without_terms(self, stems: Sequence[str], said: Learned) -> Learned:
        """Remove learned words that translate the glossary terms with these stems."""
        places = self._source_terms.places_of_form(stems)
        of_terms = {term for place in places for term in self._target_terms[place]}
        return tuple(one for one in said if of_terms.isdisjoint(analyze(one[0], self._target)))

    def _split_compound(self, term: str, table: LearnedWords) -> Sequence[str]:
        """Split a compound of two known words; return any other word unchanged."""
        if not self._row.joins_words or len(term) < 2 * SHORTEST_PART or term in table:
            return (term,)
        # Try the middle first: of two splits, the one with longer parts is more likely.
        cuts = range(SHORTEST_PART, len(term) - SHORTEST_PART + 1)
        for cut in sorted(cuts, key=lambda cut: abs(2 * cut - len(term))):
            if (tail := term[cut:]) not in table:
                continue
            for joint in JOINTS:
                head = term[: cut - len(joint)] if term[:cut].endswith(joint) else ""
                stems = analyze(head, self._source) if len(head) >= SHORTEST_PART else []
                if len(stems) == 1 and stems[0] in table:
                    return stems[0], tail
        return (term,)

    def _weighed(self, text: str, piece: Piece, evenly: bool) -> Iterator[tuple[str, float]]:
        """Yield the terms of the target for a piece, with their weights."""
        if not piece.terms and all(concept.area == "discourse" for concept in piece.concepts):
            return  # only stop words: Spanish "una" is an article, rarely "one"
        learned = self._learned(piece)
        known = [terms for concept in piece.concepts if (terms := self._translation(concept))]
        if known:
            # Learned words take a share by their probability; the glossary keeps the rest.
            rest = 1 - self._share(piece.concepts, piece.terms)
            share = 1 - rest * min(1.0, sum(learned.values()))
            for translation in known:
                usual = list(translation.values()).count(max(translation.values()))
                even = min(1.0, max(1, len(piece.terms)) / usual) if evenly else 1.0
                for term, weight in translation.items():
                    yield term, even * share * weight / len(known)
            yield from ((term, rest * weight) for term, weight in learned.items())
            return
        written = text[piece.start : piece.end]
        parts = [part for term in piece.terms if (part := self._part(term))]
        if parts and not learned and not is_stem_collision(written, self._source):
            yield from ((part, PART) for part in parts)
            return
        own = analyze(written, self._target)
        # A word that is its own translation is a name, or common to both languages.
        if any(term in learned for term in own) or not learned:
            learned = dict.fromkeys(own, 1.0)
        yield from learned.items()

    def gloss(self, text: str) -> str:
        """Translate the words of a marked text into the target, and keep everything else."""
        parts: list[str] = []
        place = 0
        for piece in self.pieces(self.read(text)):
            if said := self._best_translation(piece):
                # In a script without spaces, the translation would merge with its neighbours.
                said = f" {said} " if UNSPACED.match(text, piece.start) else said
                parts += [text[place : piece.start], said]
                place = piece.end
        return "".join([*parts, text[place:]])

    def _best_translation(self, piece: Piece) -> str:
        """Return the best translation of a piece, or an empty string."""
        best = [max(said, key=lambda one: one[1]) for said in piece.learned if said]
        term = next((term for one in piece.concepts if (term := one.term(self._target))), "")
        is_read = all(map(self._is_read, piece.concepts))
        if term and (is_read or len(piece.terms) > 1 or not best or best[0][1] <= OVERRULES):
            return term
        learned = self._learned(piece)
        if term and any(own in learned for own in analyze(term, self._target)):
            return term
        is_whole = len(best) == len(piece.learned)
        likely = best and is_whole and all(chance >= MIN_SHOWN_PROBABILITY for _, chance in best)
        return " ".join(word for word, _ in best) if likely else ""

    def _translation(self, concept: Concept) -> dict[str, float]:
        """Return the weighted terms of a concept in the target language."""
        known = self._translations.get(concept.id)
        if known is None:
            share = DISCOURSE if concept.area == "discourse" else 1.0
            usual, *synonyms = map(self._analyze, concept.forms.get(self._target, ("",)))
            known = dict.fromkeys(usual, share)
            others = {term for terms in synonyms for term in terms} - set(known)
            known |= {term: share * SYNONYMS / len(others) for term in sorted(others)}
            self._translations[concept.id] = known
        return known

    def _analyze(self, form: str) -> list[str]:
        """Return the terms of a form without elided articles: a letter would match anywhere."""
        return analyze(_ELIDED.sub("", form), self._target)

    def _learned(self, piece: Piece) -> dict[str, float]:
        """Return the terms of the learned translations of a piece, with their weights."""
        weights: defaultdict[str, float] = defaultdict(float)
        for word, chance in (said for one in piece.learned for said in one):
            if word not in self._analyzed:
                self._analyzed[word] = self._analyze(word)
            for translated in self._analyzed[word]:
                weights[translated] += chance
        return dict(weights)

    def _part(self, term: str) -> str:
        """Return the target term that co-occurs most with a source term, or an empty string."""
        # A letter stays unchanged: the words next to it in longer terms do not translate it.
        is_letter = len(term) == 1 and term.isascii()
        places = () if is_letter else self._source_terms.places.get(term, ())
        if not places or term in self._parts:
            return self._parts.get(term, "")
        together = Counter(other for place in places for other in self._target_terms[place])
        shares = (
            (2 * count / (len(places) + len(self._target_terms.places[other])), other)
            for other, count in together.items()
        )
        share, best = max(shares, default=(0.0, ""))
        self._parts[term] = best if share >= TOGETHER else ""
        return self._parts[term]


def _whole(text: str, tokens: Sequence[Token], language: str) -> Iterator[Token]:
    """Yield words; characters of scripts without spaces are combined to the analyzer's pairs."""
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


def _syllables(text: str, tokens: Sequence[Token]) -> str:
    """Join syllables to a key of the tables of languages with spaces between syllables."""
    return " ".join(normalise(text[token.start : token.end]) for token in tokens)


def _is_unspaced(text: str, token: Token) -> bool:
    return token.end - token.start == 1 and UNSPACED.match(text, token.start) is not None
