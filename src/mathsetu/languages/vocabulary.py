"""Looks up which languages know a word: in the glossary, function words and learned words.

A detection model for whole texts is not reliable for a single word: it classifies "polynomial" as
Welsh. The vocabularies of this package are more reliable.

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

#: Our languages in Latin script.
LATIN: Final = tuple(row.code for row in LANGUAGES.values() if row.script == "Latn")
#: Weights of a word in a language: a function word, a word of a term, one without its accents,
#: another form of such a word, or a learned word.
_FUNCTION, EXACT, _FOLDED, STEM, LEARNED = 5.0, 4.0, 3.0, 2.0, 1.0

_SHORTEST_STEM = 4
_ELISION = re.compile(r"(?<=\bl)['’](?=\w)")
_WORD = re.compile(r"\w+")


def terms_of(text: str, codes: Iterable[str]) -> tuple[str, ...]:
    """Return the languages in which a text is a term of the glossary.

    Compare the exact spelling; if no language matches, the normalised spelling (Hindi and Nepali
    spell the same words differently); if none matches, the spelling without accents.

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


def is_exact_term(text: str, code: str) -> bool:
    """Whether a text is a term of a language in this exact spelling.

    >>> is_exact_term("Número primo", "es"), is_exact_term("numero primo", "es")
    (True, False)
    """
    return _plain(text) in _written_terms(code)


def further_terms_of(text: str, script: str) -> tuple[str, ...]:
    """Return the further languages of a script in which a text is a term in this spelling.

    >>> further_terms_of("Kettenregel", "Latn"), further_terms_of("primse", "Latn")
    (('de',), ())
    """
    plain = _plain(text)
    codes = (row.code for row in FURTHER.values() if row.script == script)
    return tuple(code for code in codes if plain in _written_terms(code))


def known(word: str, codes: Iterable[str]) -> dict[str, float]:
    """Return the languages that know a word best, with its weight in them.

    The word must come from `tokenize`. Further languages may be among the codes.
    """
    weights = {code: weight for code in codes if (weight := weight_in(word, code))}
    best = max(weights.values(), default=0.0)
    return {code: weight for code, weight in weights.items() if weight == best}


@lru_cache(maxsize=1 << 12)
def weight_in(word: str, code: str) -> float:
    """Return the weight of a word from `tokenize` in a language; 0 if it is unknown.

    >>> weight_in("normes", "fr") > weight_in("xnormes", "fr")
    True
    """
    if word in ROWS[code].stop_words:
        return _FUNCTION
    if word in _words(code):
        return EXACT
    if code == "en" and not word.isascii():
        return 0.0  # English has no accents: équation is not a misspelling of its word
    folded = fold(word)
    if folded in _folded_words(code):
        return _FOLDED
    terms = analyze(word, code)
    # A short stem may match by chance.
    if terms and all(
        len(term) >= _SHORTEST_STEM and term in _stems(code, term.isascii()) for term in terms
    ):
        return STEM
    return LEARNED if terms and all(_is_learned(term, code) for term in terms) else 0.0


def approximate_weight_in(word: str, code: str) -> float:
    """Return the weight of a word in a language in Latin script, approximate if it is further.

    For further languages, only function words, words of terms and learned words are looked up;
    stems would take too long for so many languages.

    >>> approximate_weight_in("matrice", "fr") > approximate_weight_in("matrice", "en")
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
    """Whether a word from `tokenize` occurs in a term of one of these languages.

    >>> is_in_terms("prime", LATIN), is_in_terms("welche", LATIN)
    (True, False)
    """
    return any(word in _words(code) for code in codes)


def known_share(text: str, codes: Iterable[str], is_used: Callable[[list[str]], bool]) -> float:
    """Return the share of the letters of a text that are in known words; 1 without letters.

    A word is known if a vocabulary of a language has it (for further languages, their terms) or if
    the searched posts use it. Numbers are not words. In scripts without spaces, pairs of letters
    are looked up.

    Args:
        text: The text, without formulas.
        codes: The languages that it may be in; English is always added.
        is_used: Whether a post has one of the given terms.

    >>> known_share("prime qwertz 42", ["en"], lambda terms: False)
    0.45454545454545453
    >>> known_share("equação quadrática", ["pt"], lambda terms: False)
    1.0
    >>> known_share("Kugeldreieck qwertzkugelig", ["de"], lambda terms: False)
    0.48
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
                or _is_compound(piece, code)
                for code in likely
            ):
                found += count
    return found / letters if letters else 1.0


def _is_compound(word: str, code: str) -> bool:
    """Whether a word consists of two known words, as Kugeldreieck of Kugel and Dreieck."""
    parts = Glossary.load().learned(word, code, "en") if ROWS[code].joins_words else ()
    return len(list(parts)) > 1


def _pieces(token: str, code: str) -> list[str]:
    return analyze(token, code) if UNSPACED.search(token) else [token]


def _is_learned(term: str, code: str) -> bool:
    """Whether a term is a learned word, and not only its own translation."""
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
    words = frozenset(word for form in _terms(code) for word in form.split())
    if code != "en":
        return words
    # In English, L'Hôpital is also typed lhopital.
    joined = (_ELISION.sub("", term) for term in _written_terms(code) if _ELISION.search(term))
    return words.union(*map(tokenize, joined))


@cache
def _folded_words(code: str) -> frozenset[str]:
    folded = frozenset(map(fold, _words(code)))
    return folded | frozenset(map(fold, ROWS[code].stop_words))


@cache
def _stems(code: str, ascii_only: bool) -> frozenset[str]:
    """Return the stems of a language's words; ``ascii_only`` reduces the work in other scripts."""
    words: Iterable[str] = _words(code)
    if ascii_only and ROWS[code].script != "Latn":
        words = filter(str.isascii, words)
    return frozenset(term for word in words for term in analyze(word, code))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _spelling(text: str) -> str:
    return " ".join(tokenize(text))
