r"""Detects the language of short texts with many formulas.

Formulas and code are removed first. If the script does not determine the language, a small naive
Bayes model does (py3langid: a compressed numpy file, read without pickle). The languages of the
table get a prior advantage, so that a title of four words is not classified as Galician, but clear
evidence for another language wins. Two cases that the model does not cover are added: Hindi versus
Nepali, by function words and endings, and languages typed in Latin letters, such as Hindi.

A text of a few words is first looked up in the vocabularies: a single term of the glossary
decides. A text that several languages share gets all of them (`Detected.likely`), ordered by the
prior: the languages of the library and of the page.

>>> detect(r"Dokažte, že $\sqrt{2}$ je iracionální číslo").language
'cs'
>>> detect("samakalan ka maan gyat karo")
Detected(language='hi', confidence=0.99, script='Latn', likely=())
>>> detect("polynomial").language, detect("vektor").likely
('en', ('cs', 'hr'))
>>> detect("vektor", prior=Prior(page="hr")).likely
('hr', 'cs')
"""

from __future__ import annotations

import re
from math import log

from mathsetu.languages.analyze import tokenize, words
from mathsetu.languages.detect.few_words import (
    CAPITALISED,
    FOREIGN_LETTERS,
    by_vocabularies,
    cyrillic_language,
    foreign_language,
    further_language,
    only_known_to,
)
from mathsetu.languages.detect.function_words import by_function_words
from mathsetu.languages.detect.latin_letters import is_mostly_hindi, romanised_language
from mathsetu.languages.detect.model import by_model, model_odds
from mathsetu.languages.detect.result import (
    CLEAR_LOG_ODDS,
    FEW_WORDS,
    MIN_CHANCE,
    MOSTLY,
    NO_PRIOR,
    PUNCTUATION,
    SERVED_SCRIPTS,
    SURE,
    Detected,
    Prior,
)
from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.table import LANGUAGES, ROWS, language
from mathsetu.languages.vocabulary import (
    EXACT,
    approximate_weight_in,
    weight_in,
)

__all__ = [
    "NO_PRIOR",
    "Detected",
    "Prior",
    "detect",
    "detect_in_words",
    "is_too_short",
    "language_in_document",
]

# Scripts that are used by only one living language, or almost only one.
_BY_SCRIPT = {
    "Armn": "hy", "Geor": "ka", "Grek": "el", "Gujr": "gu", "Guru": "pa", "Hang": "ko",
    "Hani": "zh", "Hebr": "he", "Jpan": "ja", "Khmr": "km", "Knda": "kn", "Laoo": "lo",
    "Mlym": "ml", "Mymr": "my", "Orya": "or", "Sinh": "si", "Taml": "ta", "Telu": "te",
    "Thai": "th",
}  # fmt: skip
# Texts in other languages often quote English at length, but rarely vice versa. Therefore, a text
# whose opening is clearly in another language is in that language.
_OPENING = 80
# The confidence in the language of an opening.
_MIXED = 0.6
# Number of characters that is sufficient for detection.
_ENOUGH = 4000
_NAME = re.compile(r"\bQZ ?\d+")
# A word has two letters; one letter is a variable, except in scripts not used for variables.
_LONG_WORD = re.compile(r"[^\W\d_]{2}|[\u0900-\u0eff\u1000-\u10ff\u1780-\u17ff\u3040-\uffdc]")


def detect(text: str, override: str = "", prior: Prior = NO_PRIOR) -> Detected:
    """Detect the language of a marked text.

    Args:
        text: Text that may contain formulas.
        override: The language stated by the user; it wins, with full confidence.
        prior: Prior knowledge of the language.

    >>> detect("$x^2$"), detect("limite", override="fr").language
    (Detected(language='', confidence=0.0, script='', likely=()), 'fr')
    """
    return detect_in_words(words(text[: 4 * _ENOUGH]), override, prior)


def detect_in_words(text: str, override: str = "", prior: Prior = NO_PRIOR) -> Detected:
    """Detect the language as `detect` does, for a text without formulas."""
    plain = _NAME.sub(" ", text[:_ENOUGH]).strip(PUNCTUATION)
    script = dominant_script(plain)
    if override:
        return Detected(language(override).code, 1.0, script)
    if not _LONG_WORD.search(plain):
        return Detected("", 0.0, "")
    if script in _BY_SCRIPT:
        return Detected(_BY_SCRIPT[script], 0.99, script)
    tokens = tokenize(plain)
    romanised = romanised_language(tokens) if script == "Latn" else ("", 0.0)
    if romanised[1] >= SURE:
        return Detected(*romanised, script)
    if (certain := by_function_words(plain, script, tokens)) is not None:
        return Detected(certain, SURE, script)
    found = _by_words(plain, script, tokens, romanised, prior)
    return _with_expected(found, plain, tokens, prior) if len(tokens) <= FEW_WORDS else found


def _by_words(
    plain: str, script: str, tokens: list[str], romanised: tuple[str, float], prior: Prior
) -> Detected:
    """Detect the language by vocabularies if the text is short, then by the model."""
    if script in SERVED_SCRIPTS and len(tokens) <= FEW_WORDS:
        if script == "Latn" and romanised[0] in ("", "hi") and is_mostly_hindi(tokens, prior):
            return Detected("hi", MOSTLY, script)
        looked_up = (
            further_language(plain, script, tokens, prior)
            or foreign_language(plain, script, tokens, prior)
            or by_vocabularies(plain, script, tokens, romanised, prior)
        )
        if looked_up is not None:
            return looked_up
    if script == "Cyrl" and len(tokens) <= FEW_WORDS:
        in_cyrillic = cyrillic_language(plain, tokens, prior)
        if in_cyrillic is not None:
            return in_cyrillic
    if script == "Latn" and (alone := only_known_to(plain, tokens)):
        return Detected(alone, SURE, script)
    best, confidence = by_model(plain, script, tokens, prior)
    if romanised[1] > confidence:
        return Detected(*romanised, script)
    opening = " ".join(plain.split())[:_OPENING]
    if best == "en" and len(opening) == _OPENING:
        first, sure = by_model(opening, script, [], prior)
        if first != "en" and first in LANGUAGES and sure >= SURE:
            return Detected(first, _MIXED, script)
    return Detected(best, confidence, script)


def _with_expected(found: Detected, text: str, tokens: list[str], prior: Prior) -> Detected:
    """Add further languages of page and library that also know the words of a short text.

    Only `FURTHER` languages are considered, because the others were already looked up. A language
    is added if it knows all words, and knows them nearly as well as the languages found, or one
    word better, or if the prior does not expect the languages found. In the last case, or if the
    text has letters that our languages do not have, a language that the model prefers is added,
    too, unless it knows no word and the languages found know all. A single capitalised word may be
    a name, so it may be in every language, unless it is a term of an expected one, except English.
    """
    languages = found.likely or (found.language,)
    expected = prior.further(found.script)
    counting = [token for token in tokens if len(token) > 1 and not token.isdigit()]
    if not expected or not counting:
        return found
    further = [code for code in expected if code not in languages]
    known_to = {
        code: [weight_in(token, code) if code in ROWS else 0.0 for token in counting]
        for code in (*languages, *further)
    }
    likelihood = {code: sum(own) + log(prior.weight(code)) for code, own in known_to.items()}
    most = max(likelihood[code] for code in languages)
    is_unexpected = all(prior.expects(code) == 1 for code in languages)
    is_single = len(counting) == 1
    is_term = is_single and any(
        known_to[code][0] >= EXACT and code != "en" and prior.expects(code) > 1
        for code in languages
    )
    is_name = is_single and not is_term and CAPITALISED.match(text) is not None
    letters = FOREIGN_LETTERS.get(found.script)
    has_letters = letters is not None and letters.search(text.lower()) is not None
    odds = model_odds(text, found.script, prior) if is_unexpected or has_letters else {}
    # The model knows no typed Hindi, and little of a few words; a single word may be borrowed.
    is_certain = len(counting) > 1 and (
        (found.language == "hi" and found.script == "Latn")
        or any(min(known_to[code]) >= EXACT for code in languages)
    )
    highest = max((odds[code] for code in languages if code in odds), default=log(MIN_CHANCE))

    def joins(code: str) -> bool:
        is_near = most - likelihood[code] < CLEAR_LOG_ODDS
        is_better = any(
            all(known_to[other][place] < own for other in languages)
            for place, own in enumerate(known_to[code])
        )
        knows_enough = all(known_to[code]) and (is_near or is_better or is_unexpected)
        is_preferred = odds.get(code, highest) > highest and (any(known_to[code]) or not is_certain)
        return knows_enough or is_preferred or is_name

    joining = list(filter(joins, further))
    likely = [*languages, *joining]
    is_known = any(all(known_to[code]) for code in languages)
    if len(likely) == 1 or (is_known and not joining):
        return found
    likely.sort(key=lambda code: (prior.expects(code) == 1, -likelihood[code], code))
    return Detected(likely[0], found.confidence, found.script, tuple(likely))


def is_too_short(text: str) -> bool:
    """Whether a text without formulas is too short to determine its language.

    >>> is_too_short("Gauss, Jordan: 2, 3, 5, 7, 11, 13, 17, 19")
    True
    >>> is_too_short("是的，由归纳法可得")
    False
    """
    # A script of only one language determines it, however short the text is.
    plain = text[:_ENOUGH]
    words = [token for token in tokenize(plain) if _LONG_WORD.search(token)]
    return len(words) <= FEW_WORDS and dominant_script(plain) not in _BY_SCRIPT


def language_in_document(text: str, document: str) -> str:
    """Return the language of a few words, without formulas, in a document of a known language.

    It is that of the document, unless the words are in another script or another language knows
    more of them.

    >>> language_in_document("Lemma", "de"), language_in_document("Sea un triángulo", "de")
    ('de', 'es')
    """
    found = detect_in_words(text, prior=Prior(document, frozenset({document})))
    if not found.language:
        return document
    if found.script != language(document).script:
        return found.language
    tokens = [token for token in tokenize(text) if len(token) > 1 and not token.isdigit()]
    theirs, own = (
        sum(bool(approximate_weight_in(token, code)) for token in tokens) if code in ROWS else 0
        for code in (document, found.language)
    )
    return document if theirs >= own else found.language
