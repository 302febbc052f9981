"""Code switching: replaces words of English mathematics with words of another language.

The words come from the glossary, from dictionaries, and from parallel text (`alignment`). Words
that none of them has are sometimes spelled phonetically. The word order stays English, but the
terms are right, so the model learns the terms of languages with little parallel mathematics.
Formulas do not change.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mathsetu.languages.glossary.concepts import read_concepts
from mathsetu.training.encoder.phonetic_spelling import SCRIPTS, spell_phonetically

#: Nepali has no dictionary here; terms missing from the glossary are taken from Hindi.
BORROWED = {"ne": "hi"}
_LONGEST_PHRASE = 4
_FORMULA = re.compile(r"(\$\$.*?\$\$|\$[^$]*\$)", re.DOTALL)
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]+(?:['-][A-Za-z]+)*")
# Most of our languages have no articles.
_ARTICLES = {"the": ("",), "a": ("",), "an": ("",)}
_WITH_ARTICLES = frozenset({"es"})
# Dictionary entries are often remarks; a usable word has only letters of its script.
_SCRIPTS = {
    "hi": re.compile(r"[\u0900-\u097f\u200d -]{1,30}"),
    "fa": re.compile(r"[\u0600-\u06ff\u200c -]{1,30}"),
}
_LATIN = re.compile(r"[^\W\d_\u0370-\uffff]+(?:[ -][^\W\d_\u0370-\uffff]+){0,2}")
_MAX_FORMS = 4
# Copies of a learned form with probability 1 among the forms to choose from.
_WEIGHT = 8
# Shares of unknown and of known words that are spelled phonetically.
_UNKNOWN_SOUNDED = 0.5
_KNOWN_SOUNDED = 0.03
_SHORTEST_SOUNDED = 4

#: Translations of each word with their probabilities.
Learned = Mapping[str, Sequence[tuple[str, float]]]


@dataclass(frozen=True)
class Lexicon:
    """The translations of English phrases in another language.

    If ``script`` is given, some words are spelled phonetically in it.

    >>> lexicon = Lexicon({"prime number": ("primo",), "is": ("es",)})
    >>> lexicon.swap("Is $n$ a prime number?", random.Random(1), share=1.0)
    'es $n$ a primo?'
    """

    phrases: Mapping[str, tuple[str, ...]]
    script: str = ""

    def swap(self, text: str, chance: random.Random, share: float = 0.85) -> str:
        """Replace a share of the known phrases of a text, the longest ones first."""
        parts = _FORMULA.split(text)
        # Every second part is a formula, which stays.
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
            pieces += prose[end:start], self._said(prose[start:stop], forms, chance, share)
            end = stop
            place += size
        return "".join(pieces) + prose[end:]

    def _said(
        self, phrase: str, forms: tuple[str, ...], chance: random.Random, share: float
    ) -> str:
        if chance.random() >= share:
            return phrase
        often = _KNOWN_SOUNDED if forms else _UNKNOWN_SOUNDED
        long = len(phrase) >= _SHORTEST_SOUNDED and " " not in phrase
        if self.script and long and chance.random() < often:
            return spell_phonetically(phrase, self.script, chance)
        return chance.choice(forms) if forms else phrase

    def _longest(
        self, prose: str, words: list[re.Match[str]], place: int
    ) -> tuple[int, tuple[str, ...]]:
        for size in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
            phrase = prose[words[place].start() : words[place + size - 1].end()].lower()
            forms = self.phrases.get(phrase)
            if forms:
                return size, forms
        return 1, ()


def make_lexicon(
    language: str, entries: Iterable[tuple[str, str]], learned: Learned | None = None
) -> Lexicon:
    """Build a lexicon from the glossary, a dictionary, and words learned from parallel text.

    The dictionary adds words that the glossary lacks. Learned words add forms to both, since they
    include inflected forms and function words.

    >>> make_lexicon("es", [("integral", "?"), ("cat", "gato")]).phrases["cat"]
    ('gato',)
    """
    phrases: dict[str, tuple[str, ...]] = {}
    for concept in read_concepts():
        # The usual term three times, so that other forms are chosen less often.
        forms = concept.forms.get(language, ())
        weighted = tuple(forms[:1]) * 3 + tuple(forms[1:])
        for english in concept.forms["en"]:
            if weighted and forms != ("",):
                phrases[english.lower()] = phrases.get(english.lower(), ()) + weighted
    if language not in _WITH_ARTICLES:
        phrases.update(_ARTICLES)
    script = _SCRIPTS.get(BORROWED.get(language, language), _LATIN)
    for word, forms in _from_dictionary(entries, script).items():
        phrases.setdefault(word, forms)
    for word, shares in (learned or {}).items():
        if _swappable(word) and word not in _ARTICLES:
            known = [
                form
                for other, share in shares
                if script.fullmatch(other)
                for form in [other] * max(1, round(_WEIGHT * share))
            ]
            phrases[word] = phrases.get(word, ()) + tuple(known)
    return Lexicon(
        {word: forms for word, forms in phrases.items() if forms}, SCRIPTS.get(language, "")
    )


def _from_dictionary(
    entries: Iterable[tuple[str, str]], script: re.Pattern[str]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for english, others in entries:
        known = found.setdefault(english.lower(), [])
        for other in re.split(r"[,;،]", others):
            usable = script.fullmatch(other.strip()) and _swappable(english.lower())
            if usable and len(known) < _MAX_FORMS:
                known.append(other.strip())
    return {word: tuple(forms) for word, forms in found.items() if forms}


def _swappable(word: str) -> bool:
    """Whether a word can be replaced; a single letter is a symbol, unless it is "a" or "I"."""
    return len(word) > 1 or word in ("a", "i")
