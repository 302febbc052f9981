"""English mathematics with its words put into another language through glossary and dictionaries.

The order of the words stays English, but the terms are right: that teaches the terms of languages
in which there is little parallel mathematics. Formulas stay as they are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mathsetu.languages.glossary.concepts import read_concepts

#: Nepali has no dictionary here; what the glossary lacks is said in Hindi, its neighbour.
BORROWED = {"ne": "hi"}
_LONGEST_PHRASE = 4
_FORMULA = re.compile(r"(\$\$.*?\$\$|\$[^$]*\$)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
# Articles have no word of their own in most of our languages.
_ARTICLES = {"the": ("",), "a": ("",), "an": ("",)}
_WITH_ARTICLES = frozenset({"es"})
# What a dictionary calls a translation is often a remark; a word has only letters of its script.
_SCRIPTS = {
    "hi": re.compile(r"[\u0900-\u097f\u200d -]{1,30}"),
    "fa": re.compile(r"[\u0600-\u06ff\u200c -]{1,30}"),
}
_LATIN = re.compile(r"[^\W\d_\u0370-\uffff]+(?:[ -][^\W\d_\u0370-\uffff]+){0,2}")
_MOST_FORMS = 4


@dataclass(frozen=True)
class Lexicon:
    """What English phrases can be called in another language.

    >>> lexicon = Lexicon({"prime number": ("primo",), "is": ("es",)})
    >>> lexicon.swap("Is $n$ a prime number?", random.Random(1), share=1.0)
    'es $n$ a primo?'
    """

    phrases: Mapping[str, tuple[str, ...]]

    def swap(self, text: str, chance: random.Random, share: float = 0.85) -> str:
        """The text with a share of its known phrases replaced, the longest ones first."""
        parts = _FORMULA.split(text)
        # Every second part is a formula.
        parts[::2] = [self._swap_prose(part, chance, share) for part in parts[::2]]
        return "".join(parts)

    def _swap_prose(self, prose: str, chance: random.Random, share: float) -> str:
        words = list(_WORD.finditer(prose))
        pieces: list[str] = []
        end = place = 0
        while place < len(words):
            size, forms = self._longest(prose, words, place)
            start = words[place].start()
            stop = words[place + size - 1].end()
            replaced = forms and chance.random() < share
            pieces += prose[end:start], chance.choice(forms) if replaced else prose[start:stop]
            end = stop
            place += size
        return "".join(pieces) + prose[end:]

    def _longest(
        self, prose: str, words: list[re.Match[str]], place: int
    ) -> tuple[int, tuple[str, ...]]:
        for size in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
            phrase = prose[words[place].start() : words[place + size - 1].end()].lower()
            forms = self.phrases.get(phrase)
            if forms:
                return size, forms
        return 1, ()


def make_lexicon(language: str, entries: Iterable[tuple[str, str]]) -> Lexicon:
    """A lexicon from the glossary and, for what it lacks, the entries of a dictionary.

    >>> make_lexicon("es", [("integral", "?"), ("cat", "gato")]).phrases["cat"]
    ('gato',)
    """
    phrases: dict[str, tuple[str, ...]] = {}
    for concept in read_concepts():
        # The usual term three times: inflected and rare forms are seen, but less often.
        forms = concept.forms.get(language, ())
        weighted = tuple(forms[:1]) * 3 + tuple(forms[1:])
        for english in concept.forms["en"]:
            if weighted and forms != ("",):
                phrases[english.lower()] = phrases.get(english.lower(), ()) + weighted
    if language not in _WITH_ARTICLES:
        phrases.update(_ARTICLES)
    script = _SCRIPTS.get(BORROWED.get(language, language), _LATIN)
    from_dictionary: dict[str, list[str]] = {}
    for english, others in entries:
        word = english.lower()
        if word in phrases:
            continue
        known = from_dictionary.setdefault(word, [])
        for other in re.split(r"[,;،]", others):
            if len(known) < _MOST_FORMS and script.fullmatch(other.strip()):
                known.append(other.strip())
    phrases.update((word, tuple(forms)) for word, forms in from_dictionary.items() if forms)
    return Lexicon(phrases)
