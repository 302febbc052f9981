"""Languages typed in Latin letters, such as Hindi: recognised by their words and by their sound."""

from __future__ import annotations

from functools import cache

from mathsetu.languages.detect.result import MOSTLY, Prior
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.table import FURTHER, ROWS, romanised_words
from mathsetu.languages.transliterate import roman_key
from mathsetu.languages.vocabulary import (
    EXACT,
    LATIN,
    LEARNED,
    STEM,
    approximate_weight_in,
    is_in_terms,
)

# Languages that are also typed in Latin letters, Hindi first.
ROMANISED = tuple(row.code for row in ROWS.values() if row.romanised)
# The share of words that is enough if the library or page has Hindi.
_MORE_THAN_HALF = 0.6


def romanised_language(tokens: list[str]) -> tuple[str, float]:
    """Return the romanised language of a text in Latin letters, and the confidence.

    Hindi wins a tie, but a text with a word that only the Urdu list has is Urdu, because Urdu
    shares the function words of Hindi.
    """
    best, sure = "", 0.0
    for code in ROMANISED:
        listed = romanised_words(code)
        if code == "ur" and listed.intersection(tokens):
            listed |= romanised_words("hi")
        likely = _how_sure(listed, tokens)
        if likely > sure or (likely and code == "ur" and likely == sure):
            best, sure = code, likely
    return best, sure


def _how_sure(listed: frozenset[str], tokens: list[str]) -> float:
    """Return the confidence that tokens are in the language of these words; 0 if they are not."""
    known = listed.intersection(tokens)
    count = len([token for token in tokens if token in known])
    if not known or count < len([token for token in tokens if len(token) > 1]) / 5:
        return 0.0
    # Short words such as "ka" and "ke" also occur in other languages.
    if len(known) == 1 or max(map(len, known)) < 3:
        return 0.5
    return round(1 - 0.4 / 3.0 ** len(known), 2)


class _TypedHindi:
    """The words of the Hindi glossary, indexed by their sound in Latin letters."""

    def __init__(self) -> None:
        forms = (form for concept in Glossary.load() for form in concept.forms.get("hi", ()))
        words = {word for form in forms for word in form.split()}
        self._keys = set(map(roman_key, words))

    def __contains__(self, word: str) -> bool:
        return roman_key(word) in self._keys


@cache
def typed_hindi() -> _TypedHindi:
    """Return the index of Hindi words by sound, loaded once."""
    return _TypedHindi()


def is_mostly_hindi(tokens: list[str], prior: Prior) -> bool:
    """Whether romanised Hindi covers most words of a text, and more than any other language.

    Its function words also occur in other languages, such as *ka* in Croatian and *ke* in Czech, so
    a term that no other language knows is required, too. If Hindi is a language of the library or
    page, it is sufficient that the term is not a known word of an expected language and not a term
    of another language. Up to half of the words may be international, such as *euler* and *matrix*;
    they count for no language.
    """
    every = [token for token in tokens if len(token) > 1 and not token.isdigit()]
    terms = {token for token in every if token in typed_hindi()}
    hindi = terms | romanised_words("hi").intersection(every)
    counting = [token for token in every if token in hindi or not _is_international(token)]
    if 2 * len(counting) < len(every):
        counting = every
    is_expected = prior.expects("hi") > 1
    if is_expected:
        others = dict.fromkeys(LATIN, EXACT) | dict.fromkeys(prior.further("Latn"), STEM)
        others |= {code: STEM for code in LATIN if code == "en" or prior.expects(code) > 1}
        telling = {word for word in terms if len(word) > 2}
    else:
        others = dict.fromkeys(
            (*LATIN, *(row.code for row in FURTHER.values() if row.script == "Latn")), LEARNED
        )
        telling = {word for word in terms if len(word) > 3}
    known_to = {
        code: {word for word in counting if approximate_weight_in(word, code) >= least}
        for code, least in others.items()
    }
    own = telling.difference(*known_to.values())
    covered = sum(token in hindi for token in counting)
    most = max(sum(token in words for token in counting) for words in known_to.values())
    enough = _MORE_THAN_HALF if is_expected else MOSTLY
    return bool(own) and covered > most and covered >= enough * len(counting)


def _is_international(word: str) -> bool:
    """Whether a word occurs in terms of English and of another of our languages in Latin script."""
    others = (code for code in LATIN if code != "en")
    return is_in_terms(word, ("en",)) and is_in_terms(word, others)
