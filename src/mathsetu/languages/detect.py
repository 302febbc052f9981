r"""The language of a short text that is full of formulas.

Formulas and code are taken out first. Then the script decides as far as it can; what it leaves open
goes to a small naive Bayes model (py3langid: a compressed numpy file, read without pickle). The
languages of the table have an advantage there, so that a title of four words is not called
Galician, but clear evidence for another language wins. Two things the model cannot do are added:
Hindi against Nepali by function words and endings, and Hindi typed in Latin letters.

>>> detect(r"Dokažte, že $\sqrt{2}$ je iracionální číslo").language
'cs'
>>> detect("samakalan ka maan gyat karo")
Detected(language='hi', confidence=0.99, script='Latn')
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, log

from mathsetu.languages.analyze import tokenize, words
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.table import LANGUAGES, language, romanised_words

# Scripts that one living language uses, or nearly so.
_BY_SCRIPT = {
    "Armn": "hy", "Geor": "ka", "Grek": "el", "Gujr": "gu", "Guru": "pa", "Hang": "ko",
    "Hani": "zh", "Hebr": "he", "Jpan": "ja", "Khmr": "km", "Knda": "kn", "Laoo": "lo",
    "Mlym": "ml", "Mymr": "my", "Orya": "or", "Sinh": "si", "Taml": "ta", "Telu": "te",
    "Thai": "th",
}  # fmt: skip
# How much likelier than others the languages of the table are before any evidence. Croatian is the
# sum of three: its parts serve its close relatives in Latin letters too.
_ADVANTAGE = dict.fromkeys(LANGUAGES, 8.0) | {"en": 16.0, "hi": 12.0, "hr": 8.0 / 3}
_SERVED_BY = {"bs": "hr", "sr": "hr"}
# What one function word of Hindi or Nepali adds to the logarithm of the odds.
_FUNCTION_WORD = 1.5
_NEPALI_ENDING = re.compile("..(?:हरू|हरु|लाई|बाट|संग|को|ले|नुहोस्|ंछ|ंछन्|न्छ|न्छन्|एका|उने|दैन|एर)$|...मा$")
# People quote English at length inside their own language, hardly ever the other way round: a text
# that opens clearly in another language is in that language, whatever follows.
_OPENING = 80
_SURE = 0.95  # the other language, or Hindi in Latin letters
_MIXED = 0.6
_SHORT = 300
# Words that stand in hardly any sentence of another language, two of them in none.
_PLAIN_ENGLISH = frozenset("the of and that how what which with does are this from by".split())
# Characters that settle the matter; a longer text only takes longer.
_ENOUGH = 4000
_NAME = re.compile(r"\bQZ ?\d+")
# Two letters make a word; one is a variable, except in scripts that variables are not taken from.
_LONG_WORD = re.compile(r"[^\W\d_]{2}|[\u0900-\u0eff\u1000-\u10ff\u1780-\u17ff\u3040-\uffdc]")


@dataclass(frozen=True, slots=True)
class Detected:
    """A language (its code, "" when there were no words), how sure we are, and the script."""

    language: str
    confidence: float
    script: str


def detect(text: str, override: str = "") -> Detected:
    """Tell the language of a marked text.

    Args:
        text: Text that may hold formulas.
        override: What the user says the language is; it wins, with full confidence.

    >>> detect("$x^2$"), detect("limite", override="fr").language
    (Detected(language='', confidence=0.0, script=''), 'fr')
    """
    return detect_in_words(words(text[: 4 * _ENOUGH]), override)


def detect_in_words(text: str, override: str = "") -> Detected:
    """As `detect`, for a text whose formulas were taken out already."""
    plain = _NAME.sub(" ", text[:_ENOUGH])
    script = dominant_script(plain)
    if override:
        return Detected(language(override).code, 1.0, script)
    if not _LONG_WORD.search(plain):
        return Detected("", 0.0, "")
    if script in _BY_SCRIPT:
        return Detected(_BY_SCRIPT[script], 0.99, script)
    tokens = tokenize(plain)
    romanised = _romanised_hindi(tokens) if script == "Latn" else 0.0
    if romanised >= _SURE:
        return Detected("hi", romanised, script)
    if (plainly := _plainly(plain, script, tokens)) is not None:
        return Detected(plainly, _SURE, script)
    best, confidence = _by_model(plain, script, tokens)
    if romanised > confidence:
        return Detected("hi", romanised, script)
    opening = " ".join(plain.split())[:_OPENING]
    if best == "en" and len(opening) == _OPENING:
        first, sure = _by_model(opening, script, [])
        if first != "en" and first in LANGUAGES and sure >= _SURE:
            return Detected(first, _MIXED, script)
    return Detected(best, confidence, script)


def _plainly(text: str, script: str, tokens: list[str]) -> str | None:
    """What a few words say beyond doubt, without the model, which takes half a second to load.

    Only short texts: a long one may quote another language.
    """
    if len(text) > _SHORT:
        return None
    if script == "Latn":
        if len(_PLAIN_ENGLISH.intersection(tokens)) > 1:
            return None if _not_english().intersection(tokens) else "en"
        # "infinitely many primes": every word is known to one language and to no other.
        known = [code for code, words in _known_words().items() if words.issuperset(tokens)]
        return known[0] if len(known) == 1 and len(tokens) > 1 else None
    if script == "Deva":
        hindi, nepali = _hindi_and_nepali(tokens)
        if hindi and not nepali:
            return "hi"
    return None


def _by_model(text: str, script: str, tokens: list[str]) -> tuple[str, float]:
    """The likeliest language and its share of the odds."""
    odds = _model_odds(text, script)
    if script == "Deva":
        _weigh_devanagari(odds, tokens)
    if not odds:
        return "", 0.0
    best = max(odds, key=lambda code: (odds[code], code))
    total = sum(exp(value - odds[best]) for value in odds.values())
    return best, round(1 / total, 2)


def _model_odds(text: str, script: str) -> dict[str, float]:
    """Logarithms of what the model gives each language, with the advantage of ours."""
    odds: dict[str, float] = {}
    for code, probability in _model()(text):
        # Three letters: small languages that short texts are mistaken for. Latin: the words of
        # mathematics (supremum, calculus, lemma) are full of it, but nobody asks in it.
        if len(code) > 2 or code == "la" or probability < 1e-12:
            continue
        ours = _SERVED_BY.get(code, code) if script == "Latn" else code
        odds[ours] = odds.get(ours, 0.0) + _ADVANTAGE.get(ours, 1.0) * probability
    return {code: log(value) for code, value in odds.items()}


def _weigh_devanagari(odds: dict[str, float], tokens: list[str]) -> None:
    """Add what function words and endings say about Hindi and Nepali to the odds."""
    floor = min(odds.values(), default=0.0)
    for code, found in zip(("hi", "ne"), _hindi_and_nepali(tokens), strict=True):
        odds[code] = odds.get(code, floor) + _FUNCTION_WORD * len(found)


def _hindi_and_nepali(tokens: list[str]) -> tuple[list[str], list[str]]:
    """The words that speak for Hindi, and those that speak for Nepali."""
    hindi, nepali = _function_words()
    return [token for token in tokens if token in hindi], [
        token
        for token in tokens
        if token in nepali or (token not in hindi and _NEPALI_ENDING.search(token))
    ]


def _romanised_hindi(tokens: list[str]) -> float:
    """How sure it is that Latin letters spell Hindi; 0 when they do not."""
    known = romanised_words("hi").intersection(tokens)
    count = len([token for token in tokens if token in known])
    if not known or count < len([token for token in tokens if len(token) > 1]) / 5:
        return 0.0
    # Short ones such as "ka" and "ke" are words of other languages too.
    if len(known) == 1 or max(map(len, known)) < 3:
        return 0.5
    return round(1 - 0.4 / 3.0 ** len(known), 2)


@cache
def _known_words() -> dict[str, frozenset[str]]:
    """The words of the glossary and the function words, for the languages in Latin letters."""
    codes = [row.code for row in LANGUAGES.values() if row.script == "Latn"]
    forms = {
        code: " ".join(form for concept in Glossary.load() for form in concept.forms.get(code, ()))
        for code in codes
    }
    return {code: frozenset(tokenize(forms[code])) | LANGUAGES[code].stop_words for code in codes}


@cache
def _not_english() -> frozenset[str]:
    """Function words of the table's other languages in Latin letters."""
    others = (row.stop_words for row in LANGUAGES.values() if row.script == "Latn")
    return frozenset().union(*others) - LANGUAGES["en"].stop_words


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    """The function words that only Hindi has, and those that only Nepali has."""
    hindi, nepali = (
        {token for word in LANGUAGES[code].stop_words for token in tokenize(word)}
        for code in ("hi", "ne")
    )
    return frozenset(hindi - nepali), frozenset(nepali - hindi)


@cache
def _model() -> Callable[[str], list[tuple[str, float]]]:
    """Ranks languages by probability. Loading takes half a second, so it waits until needed."""
    from py3langid.langid import (  # type: ignore[import-untyped]
        MODEL_FILE,
        LanguageIdentifier,
    )

    rank: Callable[[str], list[tuple[str, float]]]
    rank = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).rank
    return rank
