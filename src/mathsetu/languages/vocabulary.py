"""Which languages know a word: by the glossary, by function words, and by learned words.

A language model for whole texts is lost with a single word: it calls "polynomial" Welsh. What the
tables of this package know of a word says more.

>>> known("polynomial", LATIN), known("vektor", LATIN)
({'en': 4.0}, {'cs': 4.0, 'hr': 4.0})
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Final

from mathsetu.languages.analyze import UNSPACED, analyze, tokenize
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.learned import LearnedWords
from mathsetu.languages.normalise import fold
from mathsetu.languages.table import FURTHER, LANGUAGES, ROWS

#: The languages of the table by their scripts.
LATIN: Final = tuple(row.code for row in LANGUAGES.values() if row.script == "Latn")
# What it says for a language that it has a word: as a function word, as a term, without its
# accents, as another form of a term, or somewhere in parallel text.
_FUNCTION, EXACT, _FOLDED, STEM, LEARNED = 5.0, 4.0, 3.0, 2.0, 1.0

_SHORTEST_STEM = 4
_WORD = re.compile(r"\w+")


def terms_of(text: str, codes: Iterable[str]) -> tuple[str, ...]:
    """The languages in which a text is a term of the glossary.

    Just as it is written if there are any, else by its normal spelling (Hindi and Nepali spell the
    same words differently), else without accents.

    >>> terms_of("Número primo", LATIN), terms_of("numero primo", LATIN), terms_of("vector", LATIN)
    (('es',), ('es',), ('en', 'es'))
    """
    written = _spelling(text)
    codes = tuple(codes)
    plain = _plain(text)
    as_written = tuple(code for code in codes if plain in _written_terms(code))
    if as_written:
        return as_written
    exact = tuple(code for code in codes if written in _terms(code))
    folded = fold(written)
    return exact or tuple(code for code in codes if folded in _folded_terms(code))


def is_written_so(text: str, code: str) -> bool:
    """Whether a text, as it is written, is a term of a language.

    >>> is_written_so("Número primo", "es"), is_written_so("numero primo", "es")
    (True, False)
    """
    return _plain(text) in _written_terms(code)


def further_terms_of(text: str, script: str) -> tuple[str, ...]:
    """The languages that are not served in full in which a text, as it is written, is a term.

    >>> further_terms_of("Kettenregel", "Latn"), further_terms_of("primse", "Latn")
    (('de',), ())
    """
    plain = _plain(text)
    codes = (row.code for row in FURTHER.values() if row.script == script)
    return tuple(code for code in codes if plain in _written_terms(code))


def known(word: str, codes: Iterable[str]) -> dict[str, float]:
    """The languages that know a word, with how well they do; only those that know it best.

    The word is one that `tokenize` gave. Languages that are not served in full may be among those
    that are looked up.
    """
    weights = {code: weight for code in codes if (weight := weight_in(word, code))}
    best = max(weights.values(), default=0.0)
    return {code: weight for code, weight in weights.items() if weight == best}


@lru_cache(maxsize=1 << 12)
def weight_in(word: str, code: str) -> float:
    """How well a language knows a word that `tokenize` gave.

    >>> weight_in("normes", "fr") > weight_in("xnormes", "fr")
    True
    """
    if word in ROWS[code].stop_words:
        return _FUNCTION
    if word in _words(code):
        return EXACT
    if code == "en" and not word.isascii():
        return 0.0  # it writes no accents: équation is no careless spelling of its word
    folded = fold(word)
    if folded in _folded_words(code):
        return _FOLDED
    terms = analyze(word, code)
    # A short stem is soon met by chance.
    if terms and all(
        len(term) >= _SHORTEST_STEM and term in _stems(code, term.isascii()) for term in terms
    ):
        return STEM
    return LEARNED if terms and all(_is_learned(term, code) for term in terms) else 0.0


def quick_weight_in(word: str, code: str) -> float:
    """How well a language in Latin letters knows a word, one that is not served in full roughly.

    Of these only the words of terms count, function words, and those of parallel text: what the
    endings of so many languages may mean would take too long to look up.

    >>> quick_weight_in("matrice", "fr") > quick_weight_in("matrice", "en")
    True
    """
    if code in LANGUAGES:
        return weight_in(word, code)
    if word in FURTHER[code].stop_words:
        return _FUNCTION
    if word in _written_words(code):
        return EXACT
    if fold(word) in _folded_written_words(code):
        return _FOLDED
    table, terms = LearnedWords.load(code, "en"), analyze(word, code)
    is_learned = all((said := table.translations(term)) and said[0][0] != term for term in terms)
    return LEARNED if terms and is_learned else 0.0


def is_in_terms(word: str, codes: Iterable[str]) -> bool:
    """Whether a word, as `tokenize` gives it, is written in a term of some languages.

    >>> is_in_terms("prime", LATIN), is_in_terms("welche", LATIN)
    (True, False)
    """
    return any(word in _words(code) for code in codes)


def known_share(text: str, codes: Iterable[str], is_used: Callable[[list[str]], bool]) -> float:
    """How much of a text, by its letters, is words that somebody knows; 1 where there is no letter.

    Known is what the tables of a language know, of one that is not served in full what its terms
    have, and what is used in the posts that are searched. Numbers are no words. Where nothing parts
    words, pairs of letters are looked up.

    Args:
        text: The text, without formulas.
        codes: The languages that it may be in; English words are met in all of them.
        is_used: Whether a post has one of some terms.

    >>> known_share("prime qwertz 42", ["en"], lambda terms: False)
    0.45454545454545453
    >>> known_share("equação quadrática", ["pt"], lambda terms: False)
    1.0
    """
    likely = [code for code in dict.fromkeys((*codes, "en")) if code in ROWS]
    letters = found = 0
    for token in tokenize(text):
        for piece in _pieces(token, likely[0]):
            count = sum(map(str.isalpha, piece))
            letters += count
            if count and any(
                weight_in(piece, code) >= (LEARNED if code in LANGUAGES else STEM)
                or is_used(analyze(piece, code))
                for code in likely
            ):
                found += count
    return found / letters if letters else 1.0


def _pieces(token: str, code: str) -> list[str]:
    return analyze(token, code) if UNSPACED.search(token) else [token]


def _is_learned(term: str, code: str) -> bool:
    """Whether parallel text has a term, and not as a word of the other language."""
    for other in LANGUAGES:
        if (code == "en") == (other != "en"):
            translations = LearnedWords.load(code, other).translations(term)
            if translations and fold(translations[0][0]) != term:
                return True
    return False


@cache
def _written_terms(code: str) -> frozenset[str]:
    forms = (form for concept in Glossary.load() for form in concept.forms.get(code, ()))
    return frozenset(map(_plain, forms))


@cache
def _written_words(code: str) -> frozenset[str]:
    return frozenset(word for term in _written_terms(code) for word in _WORD.findall(term))


@cache
def _folded_written_words(code: str) -> frozenset[str]:
    return frozenset(map(fold, _written_words(code)))


@cache
def _terms(code: str) -> frozenset[str]:
    forms = (form for concept in Glossary.load() for form in concept.forms.get(code, ()))
    return frozenset(map(_spelling, forms))


@cache
def _folded_terms(code: str) -> frozenset[str]:
    return frozenset(map(fold, _terms(code)))


@cache
def _words(code: str) -> frozenset[str]:
    return frozenset(word for form in _terms(code) for word in form.split())


@cache
def _folded_words(code: str) -> frozenset[str]:
    folded = frozenset(map(fold, _words(code)))
    return folded | frozenset(map(fold, ROWS[code].stop_words))


@cache
def _stems(code: str, ascii_only: bool) -> frozenset[str]:
    """The stems of a language's words; those in ASCII are of few words of other scripts."""
    words: Iterable[str] = _words(code)
    if ascii_only and ROWS[code].script != "Latn":
        words = filter(str.isascii, words)
    return frozenset(term for word in words for term in analyze(word, code))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _spelling(text: str) -> str:
    return " ".join(tokenize(text))
