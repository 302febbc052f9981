"""Learns word translations from parallel text.

Dictionaries have one form of a word and no function words. Parallel text has inflected forms, and
translations of "of", "such that" and "hence". Words are aligned as in IBM model 1 (Brown et al.,
1993): in each of several rounds, every word of a translation is distributed over the words of its
original by the current probabilities.

`align_terms` is for tables that search reads: it weights a pair by how much both directions of the
alignment agree on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Chances = NDArray[np.float64]

_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
# Vowel signs, marks and the Persian half-space are parts of words.
_MARKS = (
    "\u0900-\u0963\u064b-\u0655\u0981-\u09e3\u0a01-\u0a75\u0a81-\u0ae3\u0b82-\u0bd7\u0c00-\u0c63"
)
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}\u0e31-\u0e4e\u200c\u200d'-])*")
_LONGEST = 40
_ROUNDS = 5
# Fewest co-occurrences of a word and its translation.
_MIN_SEEN = 3
# Least probability of a translation given the word, and of the word given the translation.
_MIN_SHARES = (0.04, 0.04)
_MAX_FORMS = 8
# Weight of an alignment to no word, because not every word has a translation.
_NOTHING = 1e-4

#: The terms of a text, the terms of its translation, and the weight of the pair.
TermPair = tuple[Sequence[str], Sequence[str], float]


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without its formulas.

    >>> words_of("Is $n^2$ the Square of a number?")
    ['is', 'the', 'square', 'of', 'a', 'number']
    """
    return _WORD.findall(without_formulas(text).lower())


def without_formulas(text: str) -> str:
    """Return a text with its formulas replaced by blanks.

    >>> without_formulas("the roots of $x^2$")
    'the roots of  '
    """
    return _FORMULA.sub(" ", text)


def align_words(
    pairs: Iterable[tuple[str, str]], least: tuple[float, float] = _MIN_SHARES
) -> Mapping[str, tuple[tuple[str, float], ...]]:
    """Return words of the first texts with translations and their probabilities, best first.

    Args:
        pairs: Texts with their translations; the code calls the first text English.
        least: Least probability of a translation given the word, and the reverse.

    >>> pairs = [("a prime", "primo"), ("a number", "número"), ("prime number", "número primo")]
    >>> align_words(pairs * 4)["prime"][0][0]
    'primo'
    """
    links = _links(pairs)
    if links is None:
        return {}
    english, other = np.divmod(links.kinds, len(links.other_words))
    there, back = links.learn(english, links.other), links.learn(other, links.english)
    sure = (there >= least[0]) & (back >= least[1]) & (links.seen >= _MIN_SEEN)
    found: dict[str, list[tuple[str, float]]] = {}
    for place in np.flatnonzero(sure).tolist():
        word = links.other_words[other[place]]
        forms = found.setdefault(links.english_words[english[place]], [])
        forms.append((word, float(there[place])))
    return {
        word: tuple(sorted(forms, key=lambda form: (-form[1], form[0]))[:_MAX_FORMS])
        for word, forms in found.items()
    }


def align_terms(
    pairs: Iterable[TermPair], least_chance: float, least_count: float
) -> dict[str, list[tuple[str, float]]]:
    """Return terms with translations and their probabilities, best first.

    Each direction distributes every term of one side over the terms of the other. The weight of a
    link is the geometric mean of both directions, so a term that aligns with everything in one
    direction (a stray word of a long sentence) is excluded by the other.

    Args:
        pairs: Texts with their translations.
        least_chance: Least probability of a translation.
        least_count: Least total weight of its links.

    >>> pairs = [(["primo"], ["prime"], 1.0), (["numero", "primo"], ["prime", "number"], 1.0)]
    >>> align_terms(pairs * 3, 0.1, 1.0)["numero"][0][0]
    'number'
    """
    own_terms: dict[str, int] = {}
    other_terms: dict[str, int] = {}
    sides: list[tuple[list[int], list[int], float]] = []
    for own, theirs, times in pairs:
        if own and theirs and max(len(own), len(theirs)) <= _LONGEST:
            sides.append(
                (
                    [own_terms.setdefault(term, len(own_terms)) for term in own],
                    [other_terms.setdefault(term, len(other_terms)) for term in theirs],
                    times,
                )
            )
    if not sides:
        return {}
    kind, own_places, other_places, counted = [], [], [], []
    own_place = other_place = 0
    for one, two, times in sides:
        first, second = np.array(one), np.array(two)
        rows, columns = len(one), len(two)
        kind.append((first[:, None] * len(other_terms) + second).ravel())
        own_places.append(np.repeat(np.arange(rows) + own_place, columns))
        other_places.append(np.tile(np.arange(columns) + other_place, rows))
        counted.append(np.full(rows * columns, times))
        own_place += rows
        other_place += columns
    kinds, number = np.unique(np.concatenate(kind), return_inverse=True)
    own_of, other_of = np.divmod(kinds, len(other_terms))
    times_of = np.concatenate(counted)

    def shares(given: Numbers, shared: Numbers) -> Chances:
        """Return the share of each link among the links of the same ``shared`` place."""
        chances = np.ones(len(kinds))
        share = times_of
        for _ in range(_ROUNDS):
            share = chances[number]
            share /= np.bincount(shared, share)[shared] + _NOTHING
            counts = np.bincount(number, share * times_of, len(kinds))
            chances = counts / np.bincount(given, counts)[given]
        return share

    there = shares(own_of, np.concatenate(other_places))
    back = shares(other_of, np.concatenate(own_places))
    counts = np.bincount(number, np.sqrt(there * back) * times_of, len(kinds))
    chances = counts / np.bincount(own_of, counts)[own_of]
    found: dict[str, list[tuple[str, float]]] = {}
    own_names, other_names = list(own_terms), list(other_terms)
    for place in np.flatnonzero((chances >= least_chance) & (counts >= least_count)).tolist():
        forms = found.setdefault(own_names[own_of[place]], [])
        forms.append((other_names[other_of[place]], float(chances[place])))
    return {
        term: sorted(forms, key=lambda form: (-form[1], form[0])) for term, forms in found.items()
    }


@dataclass(frozen=True)
class _Links:
    """The links of every word of a text to every word of its translation.

    A kind is a pair of words: ``kinds`` has all that occur, ``seen`` their counts, and ``kind`` the
    index of each link's kind. ``english`` and ``other`` are the places that each link joins.
    """

    english_words: list[str]
    other_words: list[str]
    kinds: Numbers
    seen: Numbers
    kind: Numbers
    english: Numbers
    other: Numbers

    def learn(self, given: Numbers, shared: Numbers) -> Chances:
        """Return the probability of each kind of link, given one of its words.

        Args:
            given: The given word of each kind, whose translations are learned.
            shared: The place of each link on the other side; it is distributed over its links.
        """
        chances = np.ones(len(self.kinds))
        for _ in range(_ROUNDS):
            share = chances[self.kind]
            share /= np.bincount(shared, share)[shared]
            counts = np.bincount(self.kind, share, len(self.kinds))
            chances = counts / np.bincount(given, counts)[given]
        return chances


def _links(pairs: Iterable[tuple[str, str]]) -> _Links | None:
    english_words: dict[str, int] = {}
    other_words: dict[str, int] = {}
    sides: list[tuple[list[int], list[int]]] = []
    for english, other in pairs:
        own, theirs = words_of(english), words_of(other)
        if own and theirs and max(len(own), len(theirs)) <= _LONGEST:
            sides.append(
                (
                    [english_words.setdefault(word, len(english_words)) for word in own],
                    [other_words.setdefault(word, len(other_words)) for word in theirs],
                )
            )
    if not sides:
        return None
    kind, english_places, other_places = [], [], []
    english_place = other_place = 0
    for one, two in sides:
        first, second = np.array(one), np.array(two)
        kind.append((first[:, None] * len(other_words) + second).ravel())
        english_places.append(np.repeat(np.arange(len(one)) + english_place, len(two)))
        other_places.append(np.tile(np.arange(len(two)) + other_place, len(one)))
        english_place += len(one)
        other_place += len(two)
    kinds, number, seen = np.unique(np.concatenate(kind), return_inverse=True, return_counts=True)
    return _Links(
        list(english_words),
        list(other_words),
        kinds,
        seen,
        number,
        np.concatenate(english_places),
        np.concatenate(other_places),
    )
