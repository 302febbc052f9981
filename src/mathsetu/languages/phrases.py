"""Phrases of a query that occur in a text word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mathsetu.languages.analyze import analyze

# A phrase has at least this many terms, and at most this many words; longer text is not a phrase.
_MIN_TERMS, _MAX_WORDS = 2, 10
_PUNCTUATION = ".,;:!?¿¡()[]\"'«»“”„।،؛؟"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sequence of words; white space and case do not matter.

    >>> Phrase("Infinitely many primes").found_in("There are infinitely  many primes.")
    'infinitely many primes'
    >>> Phrase("many primes").found_in("primes, many")
    ''
    """

    text: str

    def words_are_in(self, lower: str) -> bool:
        """Whether a lower-case text contains all its words; a fast test before the others."""
        return all(word in lower for word in _plain_words(self.text))

    def is_in(self, normalised: str) -> bool:
        """Whether a normalised text contains the phrase, perhaps inside longer words."""
        return _normalised_phrase(self.text) in normalised

    def found_in(self, text: str) -> str:
        """Return the phrase as written in a text; an empty string if it does not occur."""
        found = _pattern(self.text).search(text)
        return " ".join(found[0].split()) if found else ""


def normalise_phrase(text: str) -> str:
    r"""Return a text in lower case with single spaces, for a first search of phrases.

    >>> normalise_phrase("Infinitely  many\nprimes")
    'infinitely many primes'
    """
    return " ".join(text.lower().split())


def as_heading(text: str) -> str:
    """Normalise a heading: lower case, single spaces, no punctuation around it.

    >>> as_heading("  Binomial theorem? ") == as_heading("binomial Theorem")
    True
    """
    return normalise_phrase(text).strip(f"{_PUNCTUATION} ")


@lru_cache(maxsize=64)
def _plain_words(phrase: str) -> list[str]:
    """Return the words without punctuation, longest first, since long words are rarest."""
    return sorted(filter(str.isalnum, phrase.lower().split()), key=len, reverse=True)


_normalised_phrase = lru_cache(maxsize=64)(normalise_phrase)


@lru_cache(maxsize=64)
def _pattern(phrase: str) -> re.Pattern[str]:
    # Words contain no white space, so that one pass over the text is sufficient.
    between = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){between}(?!\w)", re.IGNORECASE)


def phrases(texts: Sequence[str], language: str) -> list[Phrase]:
    """Return the texts between the formulas of a query that can be phrases.

    A single word is a phrase only if it is the whole query.

    >>> phrases(["Infinitely many primes?", "the sum of"], "en")
    [Phrase(text='Infinitely many primes')]
    >>> phrases(["primes"], "en"), phrases(["of primes"], "en"), phrases(["the"], "en")
    ([Phrase(text='primes')], [], [])
    """
    found = []
    for text in texts:
        words = text.strip(f"{_PUNCTUATION} \n").split()
        least = 1 if len(texts) == len(words) == 1 else _MIN_TERMS
        if len(words) <= _MAX_WORDS and len(analyze(text, language)) >= least:
            found.append(Phrase(" ".join(words)))
    return found
