"""The glossary: concepts of mathematics with their terms, and the tools on them.

Seven languages have terms for every concept, written by hand. Others have terms for the most
frequent concepts, found by a program (`further.py`).

>>> glossary = Glossary.load()
>>> glossary["prime-number"].term("cs")
'prvočíslo'
>>> text = "Dokažte, že součet prvočísel konverguje."
>>> [text[match.start : match.end] for match in glossary.match(text, "cs")]
['Dokažte', 'součet', 'prvočísel', 'konverguje']
>>> glossary.gloss(text, "cs", "en")
'Prove, že sum prime number convergence.'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from mathsetu.languages.analyze import UNSPACED
from mathsetu.languages.glossary.concepts import Concept, read_concepts
from mathsetu.languages.glossary.expansion import (
    Expanded,
    Expander,
    TermsOfConcepts,
    is_presentable,
)
from mathsetu.languages.glossary.matching import Matcher, TermMatch
from mathsetu.languages.glossary.search import Index
from mathsetu.languages.stem_collisions import is_stem_collision

__all__ = ["Concept", "Expanded", "Glossary", "TermMatch", "is_presentable"]

# Languages that capitalise all nouns: a capital does not mark the beginning of a sentence.
_CAPITAL_NOUNS = frozenset({"de"})


class Glossary:
    """Concepts and the tools on them; each tool is created on first use."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._concepts = {concept.id: concept for concept in concepts}
        self._matchers: dict[str, Matcher] = {}
        self._terms: dict[str, TermsOfConcepts] = {}
        self._expanders: dict[tuple[str, str], Expander] = {}
        self._index: Index | None = None

    @classmethod
    def load(cls) -> Glossary:
        """Return the shipped glossary, read once."""
        return _shipped()

    def __getitem__(self, concept_id: str) -> Concept:
        return self._concepts[concept_id]

    def __iter__(self) -> Iterator[Concept]:
        return iter(self._concepts.values())

    def __len__(self) -> int:
        return len(self._concepts)

    def match(self, text: str, language: str) -> list[TermMatch]:
        """Return the terms in a marked text, from left to right: longest first, not overlapping.

        >>> glossary = Glossary.load()
        >>> [match.concepts[0].id for match in glossary.match("Suma de números primos", "es")]
        ['sum', 'prime-number']
        """
        return self._matcher(language).match(text)

    def mean_different(self, one: str, other: str, language: str) -> bool:
        """Whether two expressions are terms of different concepts, or only one is a collision.

        Stems cannot decide: "diagonal" and "diagonalization" share a stem, and so do "equation"
        and "equator", which is not a term of mathematics (`stem_collisions.py`).

        >>> glossary = Glossary.load()
        >>> glossary.mean_different("diagonalization", "diagonal", "en")
        True
        >>> glossary.mean_different("diagonalization", "diagonalizable", "en")
        False
        >>> glossary.mean_different("equation", "equator", "en")
        True
        """
        if is_stem_collision(one, language) != is_stem_collision(other, language):
            return True
        meant, also_meant = self._meanings(one, language), self._meanings(other, language)
        return bool(meant and also_meant) and meant.isdisjoint(also_meant)

    def _meanings(self, text: str, language: str) -> set[str]:
        """Return the ids of the concepts that have this text as a form."""
        matches = self.match(text, language)
        is_whole = len(matches) == 1 and matches[0].end - matches[0].start == len(text)
        return {concept.id for concept in matches[0].concepts} if is_whole else set()

    def expand(
        self, text: str, source: str, target: str, *, evenly: bool = False
    ) -> list[tuple[str, float]]:
        """Return the words of a marked text as weighted terms of another language.

        A translation with more words than the original gets more total weight, unless ``evenly``.

        >>> Glossary.load().expand("número primo de Zagier", "es", "en")[0]
        ('prime', 1.0)
        """
        return self._expander(source, target).expand(text, evenly=evenly)

    def expand_into(
        self, text: str, source: str, targets: Iterable[str], *, evenly: bool = False
    ) -> Iterator[Expanded]:
        """Expand as `expand` does into several languages; the text is analysed once.

        >>> one, *_ = Glossary.load().expand_into("número primo", "es", ["cs"])
        >>> one.term, one.weight, one.pieces[0].terms
        ('prvocisl', 1.0, ('numer', 'prim'))
        """
        read = None
        for expander in (self._expander(source, target) for target in targets):
            read = read or expander.read(text)
            yield from expander.expand_read(read, evenly=evenly)

    def other_forms(self, text: str, language: str) -> list[Expanded]:
        """Return the weighted terms of other forms of the concepts in a marked text.

        >>> [one.term for one in Glossary.load().other_forms("symmetric", "en")]
        ['symmetri']
        """
        expander = self._expander(language, language)
        return expander.other_forms(expander.read(text))

    def learned(self, text: str, source: str, target: str) -> Iterator[tuple[int, int, list[str]]]:
        """Yield the words of a marked text with their learned translations.

        >>> for start, end, said in Glossary.load().learned("Mathematikbuch", "de", "en"):
        ...     print(start, end, said)
        0 14 ['mathematical', 'math', 'mathematician']
        0 14 ['book']
        """
        expander = self._expander(source, target)
        for piece in expander.pieces(expander.read(text)):
            for (start, end), said in zip(piece.places, piece.learned, strict=True):
                if words := [word for word, chance in said if is_presentable(word, chance)]:
                    yield start, end, words

    def _expander(self, source: str, target: str) -> Expander:
        pair = (source, target)
        if pair not in self._expanders:
            terms = self._terms_in(source), self._terms_in(target)
            self._expanders[pair] = Expander(self._matcher(source), *terms)
        return self._expanders[pair]

    def gloss(self, text: str, source: str, target: str) -> str:
        """Translate the terms in a marked text, and keep everything else.

        >>> Glossary.load().gloss("Halla la derivada de $x^2$", "es", "en")
        'Find la derivative de $x^2$'
        """
        parts: list[str] = []
        place = 0
        for match in self.match(text, source):
            term = next((term for c in match.concepts if (term := c.term(target))), "")
            if term:
                capital = text[match.start].isupper() and source not in _CAPITAL_NOUNS
                shown = term[0].upper() + term[1:] if capital else term
                # In a script without spaces, the term would merge with its neighbours.
                if UNSPACED.match(text, match.start):
                    shown = f" {shown} "
                parts += [text[place : match.start], shown]
                place = match.end
        return "".join([*parts, text[place:]])

    def gloss_words(self, text: str, source: str, target: str) -> str:
        """Gloss as `gloss` does, and also translate words learned from parallel text.

        >>> Glossary.load().gloss_words("Finde die Summe der Bücher", "de", "en")
        'find die sum der book'
        """
        return self._expander(source, target).gloss(text)

    def search(self, words: str) -> list[Concept]:
        """Return the concepts with a form that contains these words, or words with these prefixes.

        Accents, case and language do not matter; exact forms come before longer ones.

        >>> [concept.id for concept in Glossary.load().search("prvocisl")][:1]
        ['prime-number']
        """
        if self._index is None:
            self._index = Index(self)
        return self._index.search(words)

    def _terms_in(self, language: str) -> TermsOfConcepts:
        if language not in self._terms:
            self._terms[language] = TermsOfConcepts(list(self), language)
        return self._terms[language]

    def _matcher(self, language: str) -> Matcher:
        if language not in self._matchers:
            self._matchers[language] = Matcher(self, language)
        return self._matchers[language]


@cache
def _shipped() -> Glossary:
    return Glossary(read_concepts())
