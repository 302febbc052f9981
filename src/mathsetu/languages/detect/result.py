"""The result of language detection, prior knowledge, and confidences that several steps use."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from mathsetu.languages.table import FURTHER, LANGUAGES

# Prior weights of the languages of the table; other languages have 1. Croatian is the sum of three
# languages: it also serves Bosnian and Serbian in Latin letters.
_ADVANTAGE_OF_OURS = 8.0
_ADVANTAGE = (
    dict.fromkeys(FURTHER, 2.0)
    | dict.fromkeys(LANGUAGES, _ADVANTAGE_OF_OURS)
    | {"en": 16.0, "hi": 12.0, "hr": 8.0 / 3, "ru": 3.0}
)
# Prior factors of the language of the page and of those of the library.
_PAGE_FACTOR, _LIBRARY_FACTOR = 4.0, 8.0
SERVED_SCRIPTS = {
    script: tuple(row.code for row in LANGUAGES.values() if row.script == script)
    for script in ("Latn", "Deva", "Arab")
}
# Confidences of a language that most words are in, and of a certain one.
MOSTLY = 0.8
SURE = 0.95
# The minimum probability of a language from the model.
MIN_CHANCE = 1e-9
# A lead in log odds that is clear.
CLEAR_LOG_ODDS = log(20)
# Texts of at most this many words are first looked up in the vocabularies.
FEW_WORDS = 8
PUNCTUATION = " \t\n.,;:?!¿¡\"'()…।؟،"
# Added to the log odds for each function word of Hindi or Nepali.
FUNCTION_WORD_ODDS = 1.5
# Only texts of up to this many characters are decided by function words or known words alone.
SHORT_TEXT = 300


@dataclass(frozen=True, slots=True)
class Detected:
    """A language (its code, "" for a text without words), the confidence, and the script.

    ``likely`` lists all likely languages of an ambiguous text, most likely first; it is empty if
    the language is certain.
    """

    language: str
    confidence: float
    script: str
    likely: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prior:
    """Prior knowledge of the language of a text.

    Attributes:
        page: The language of the page or program in which the text was typed.
        library: The languages of the posts to search.
    """

    page: str = ""
    library: frozenset[str] = frozenset()

    def weight(self, code: str) -> float:
        """Return the prior weight of a language."""
        expected = self.expects(code)
        # A language of the page or library gets at least the advantage of our languages.
        least = _ADVANTAGE_OF_OURS if expected > 1 else 1.0
        return max(_ADVANTAGE.get(code, 1.0), least) * expected

    def expects(self, code: str) -> float:
        """Return the factor of page and library for a language; 1 if neither has it."""
        expected = _PAGE_FACTOR if code == self.page else 1.0
        held = _LIBRARY_FACTOR if code in self.library else 1.0
        return expected * held

    def further(self, script: str) -> tuple[str, ...]:
        """Return the further languages of page and library in a script."""
        codes = sorted({self.page, *self.library} & FURTHER.keys())
        return tuple(code for code in codes if FURTHER[code].script == script)


NO_PRIOR = Prior()
