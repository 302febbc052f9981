"""Function words that indicate a language."""

from __future__ import annotations

import re
from functools import cache

from mathsetu.languages.analyze import tokenize
from mathsetu.languages.detect.latin_letters import ROMANISED
from mathsetu.languages.detect.result import SERVED_SCRIPTS, SHORT_TEXT
from mathsetu.languages.table import FURTHER, LANGUAGES, language, romanised_words
from mathsetu.languages.vocabulary import (
    is_in_terms,
)

# Function words of other languages that are not words of ours.
_FOREIGN_WORDS = {
    code: frozenset(words.split())
    for code, words in {
        "de": "der und ist eine einen einer eines wie dass nicht zeige auf werden zwischen ein",
        "fr": "des une est pour dans avec et du au aux cette quelle montrer calculer",
        "it": "il gli di che della delle degli dei nel sono",
        "pt": "uma não são das em ou pela pelo",
        "pl": "się dla oraz czy",
        "nl": "het een voor hoe zijn",
        "ur": "کا کے کریں کیا میں",
    }.items()
}
_NEPALI_ENDING = re.compile("..(?:हरू|हरु|लाई|बाट|संग|को|ले|नुहोस्|ंछ|ंछन्|न्छ|न्छन्|एका|उने|दैन|एर)$|...मा$")
# Endings of Marathi that Hindi and Nepali do not have, and the letter that both lack.
_MARATHI = re.compile("..(?:च्या|साठी|मध्ये|ांना|ण्याची|ण्याचे|णारे|णारी|णारा|लेल्या|तील|ांची|ांचे|ांचा)$|ळ")
_CONDITION = frozenset("यदि अगर तो जब कि जो".split())
# English words that are rare in other languages; two of them in one text decide.
_PLAIN_ENGLISH = frozenset("the of and that how what which with does are this from by".split())


def by_function_words(text: str, script: str, tokens: list[str]) -> str | None:
    """Return the language that function words determine, without loading vocabularies and model.

    Only for short texts, since a long text may quote another language. None if not certain.
    """
    if len(text) > SHORT_TEXT:
        return None
    if script == "Latn" and len(_PLAIN_ENGLISH.intersection(tokens)) > 1:
        return None if _not_english().intersection(tokens) else "en"
    if script == "Deva":
        hindi, nepali = hindi_and_nepali(tokens)
        if hindi and not nepali and not count_indicators("mr", script, tokens):
            return "hi"
    return None


def hindi_and_nepali(tokens: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that indicate Hindi, and those that indicate Nepali."""
    hindi, nepali = _function_words()
    found = [
        token
        for token in tokens
        if token in nepali or (token not in hindi and _NEPALI_ENDING.search(token))
    ]
    # A sentence that ends with this verb is Nepali; in Hindi it occurs in conditions.
    is_nepali = len(tokens) > 1 and tokens[-1] == "हो" and not _CONDITION.intersection(tokens)
    ours = [token for token in tokens if token in hindi]
    return (ours if not is_nepali else []), found + tokens[-1:] * is_nepali


@cache
def _not_english() -> frozenset[str]:
    """Return the function words of our other languages in Latin letters."""
    others = (row.stop_words for row in LANGUAGES.values() if row.script == "Latn")
    return frozenset().union(*others) - LANGUAGES["en"].stop_words


@cache
def stop_tokens(code: str) -> frozenset[str]:
    """Return the tokenised function words of a language, without single letters."""
    listed = language(code).stop_words
    return frozenset(token for word in listed for token in tokenize(word) if len(token) > 1)


@cache
def indicators(script: str) -> dict[str, frozenset[str]]:
    """Return the function words of further languages in a script that ours do not have."""
    stopped = (stop_tokens(code) for code in SERVED_SCRIPTS.get(script, ()))
    taken = frozenset().union(*stopped, *map(romanised_words, ROMANISED))
    return {
        row.code: stop_tokens(row.code) - taken
        for row in FURTHER.values()
        if row.script == script and row.has_stop_words
    }


def count_indicators(code: str, script: str, tokens: list[str]) -> int:
    """Count the words of a text that indicate a further language rather than one of ours."""
    ours = SERVED_SCRIPTS.get(script, ())
    words = indicators(script)[code].intersection(tokens)
    found = {word for word in words if not is_in_terms(word, ours)}
    if code == "mr":
        found.update(filter(_MARATHI.search, tokens))
    return len(found)


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the function words that only Hindi has, and those that only Nepali has."""
    hindi, nepali = (
        {token for word in LANGUAGES[code].stop_words for token in tokenize(word)}
        for code in ("hi", "ne")
    )
    return frozenset(hindi - nepali), frozenset(nepali - hindi)


@cache
def foreign_words() -> dict[str, frozenset[str]]:
    """Map further languages to their words in `_FOREIGN_WORDS`; *das* belongs to two."""
    listed = frozenset().union(*_FOREIGN_WORDS.values())
    return {
        code: listed.intersection(_FOREIGN_WORDS.get(code, frozenset()) | stop_tokens(code))
        for code in FURTHER
    }
