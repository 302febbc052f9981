"""Phrases of a query that a text has word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mathsetu.languages.analyze import analyze

# A phrase in a query has at least two words that count. What is longer than this is no phrase but a
# text.
_LEAST, _MOST = 2, 10
_PUNCTUATION = ".,;:!?¿¡()[]\"'«»“”„।،؛؟"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that follow each other; blanks and capitals do not matter.

    >>> Phrase("Infinitely many primes").found_in("There are infinitely  many primes.")
    'infinitely many primes'
    >>> Phrase("many primes").found_in("primes, many")
    ''
    """

    text: str

    def words_are_in(self, lower: str) -> bool:
        """Whether a text in small letters has all its words, which is seen at once."""
        return all(word in lower for word in _plain_words(self.text))

    def is_in(self, evened: str) -> bool:
        """Whether a text that was evened out has it, perhaps as parts of longer words."""
        return _evened_phrase(self.text) in evened

    def found_in(self, text: str) -> str:
        """The phrase as a text has it; "" where it does not."""
        found = _pattern(self.text).search(text)
        return " ".join(found[0].split()) if found else ""


def evened(text: str) -> str:
    r"""A text in small letters with single blanks, in which phrases are looked for first.

    >>> evened("Infinitely  many\nprimes")
    'infinitely many primes'
    """
    return " ".join(text.lower().split())


def as_heading(text: str) -> str:
    """A text evened out, without the marks around it: two that give the same are one heading.

    >>> as_heading("  Binomial theorem? ") == as_heading("binomial Theorem")
    True
    """
    return evened(text).strip(f"{_PUNCTUATION} ")


@lru_cache(maxsize=64)
def _plain_words(phrase: str) -> list[str]:
    """Those words that are written alike everywhere, the longest first, which fewest texts have."""
    return sorted(filter(str.isalnum, phrase.lower().split()), key=len, reverse=True)


_evened_phrase = lru_cache(maxsize=64)(evened)


@lru_cache(maxsize=64)
def _pattern(phrase: str) -> re.Pattern[str]:
    # Words have no blanks in them, so that a text is searched in one pass.
    between = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){between}(?!\w)", re.IGNORECASE)


def phrases(texts: Sequence[str], language: str) -> list[Phrase]:
    """What stands between the formulas of a query, where it can be a phrase.

    A word that is all of a query is asked for as it is; beside others it is only one of many.

    >>> phrases(["Infinitely many primes?", "the sum of"], "en")
    [Phrase(text='Infinitely many primes')]
    >>> phrases(["primes"], "en"), phrases(["of primes"], "en"), phrases(["the"], "en")
    ([Phrase(text='primes')], [], [])
    """
    found = []
    for text in texts:
        words = text.strip(f"{_PUNCTUATION} \n").split()
        least = 1 if len(texts) == len(words) == 1 else _LEAST
        if len(words) <= _MOST and len(analyze(text, language)) >= least:
            found.append(Phrase(" ".join(words)))
    return found
