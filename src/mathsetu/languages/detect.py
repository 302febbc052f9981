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
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, log

from mathsetu.languages.analyze import tokenize, words
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.table import FURTHER, LANGUAGES, ROWS, language, romanised_words
from mathsetu.languages.transliterate import roman_key
from mathsetu.languages.vocabulary import (
    EXACT,
    LATIN,
    LEARNED,
    STEM,
    approximate_weight_in,
    further_terms_of,
    is_exact_term,
    is_in_terms,
    known,
    terms_of,
    weight_in,
)

# Scripts that are used by only one living language, or almost only one.
_BY_SCRIPT = {
    "Armn": "hy", "Geor": "ka", "Grek": "el", "Gujr": "gu", "Guru": "pa", "Hang": "ko",
    "Hani": "zh", "Hebr": "he", "Jpan": "ja", "Khmr": "km", "Knda": "kn", "Laoo": "lo",
    "Mlym": "ml", "Mymr": "my", "Orya": "or", "Sinh": "si", "Taml": "ta", "Telu": "te",
    "Thai": "th",
}  # fmt: skip
# Prior weights of the languages of the table; other languages have 1. Croatian is the sum of three
# languages: it also serves Bosnian and Serbian in Latin letters.
_ADVANTAGE_OF_OURS = 8.0
_ADVANTAGE = (
    dict.fromkeys(FURTHER, 2.0)
    | dict.fromkeys(LANGUAGES, _ADVANTAGE_OF_OURS)
    | {"en": 16.0, "hi": 12.0, "hr": 8.0 / 3, "ru": 3.0}
)
_SERVED_BY = {"bs": "hr", "sr": "hr"}
# Languages that are also typed in Latin letters, Hindi first.
_ROMANISED = tuple(row.code for row in ROWS.values() if row.romanised)
# Prior factors of the language of the page and of those of the library.
_PAGE_FACTOR, _LIBRARY_FACTOR = 4.0, 8.0
_SERVED_SCRIPTS = {
    script: tuple(row.code for row in LANGUAGES.values() if row.script == script)
    for script in ("Latn", "Deva", "Arab")
}
# Texts of at most this many words are first looked up in the vocabularies.
_FEW_WORDS = 8
# At most this many unknown words are attributed to our languages of their script.
_FEW_UNKNOWN_WORDS = 3
# Minimum lead in votes that decides for a language.
_CLEAR = 2.0
_MOSTLY, _MORE_THAN_HALF = 0.8, 0.6
# Penalty for a word that a language does not know, and the minimum probability of a language from
# the model.
_UNKNOWN, _MIN_CHANCE = 3.0, 1e-9
# Advantage of our languages over close relatives: Spanish queries are more frequent than Catalan.
_OWN_ADVANTAGE = 1.0
_CLEAR_LOG_ODDS = log(20)
_VOTE = 4.0
_PUNCTUATION = " \t\n.,;:?!¿¡\"'()…।؟،"
# Letters that a language does not have. Accents may be omitted, but are not added.
_ALIEN = {
    "hr": re.compile("[áéíóúýěřůťďňñ]", re.IGNORECASE),
    "cs": re.compile("[ćđñ]", re.IGNORECASE),
    "es": re.compile("[ěřůťďňćđčšžý]", re.IGNORECASE),
    "en": re.compile("[ěřůťďňćđčšžýñ]", re.IGNORECASE),
    "ru": re.compile("[іїєґ]"),
    "uk": re.compile("[ыэёъ]"),
    "bg": re.compile("[ыэёіїєґ]"),
}
# Further languages that queries may be in; the model has many more, too many for a few words.
_MAJOR = frozenset(FURTHER) | frozenset("sl da nb no fi et lt lv he".split())
_MIN_MAJOR_PROBABILITY = 0.3
_CAPITALISED = re.compile(r"\b[^\W\d_a-z]\w*")
# Letters that our languages of a script do not have.
_FOREIGN_LETTERS = {
    "Latn": re.compile("[äößçğşłåøãõêâîôûàèìòùľĺŕœæățșąężźőạảấầẩẫậắằặẹẻẽếềểệỉịọỏốồổộớờởợụủứừửựỳ]"),
    "Deva": re.compile("ळ"),
    "Arab": re.compile("[ٹڈڑںےھہةى]|(?:^| )(?:ال|أ|إ)"),
}
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
# Added to the log odds of a language for each function word that our languages do not have.
_FURTHER_WORD = 1.5
# This many such function words decide alone; fewer decide only if the model agrees.
_ENOUGH_WORDS = 2
# Added to the log odds for each function word of Hindi or Nepali.
_FUNCTION_WORD = 1.5
_NEPALI_ENDING = re.compile("..(?:हरू|हरु|लाई|बाट|संग|को|ले|नुहोस्|ंछ|ंछन्|न्छ|न्छन्|एका|उने|दैन|एर)$|...मा$")
# Endings of Marathi that Hindi and Nepali do not have, and the letter that both lack.
_MARATHI = re.compile("..(?:च्या|साठी|मध्ये|ांना|ण्याची|ण्याचे|णारे|णारी|णारा|लेल्या|तील|ांची|ांचे|ांचा)$|ळ")
_CONDITION = frozenset("यदि अगर तो जब कि जो".split())
# Texts in other languages often quote English at length, but rarely vice versa. Therefore, a text
# whose opening is clearly in another language is in that language.
_OPENING = 80
_SURE_PROBABILITY = 0.95  # the other language, or Hindi in Latin letters
_MIXED = 0.6
_SHORT = 300
# English words that are rare in other languages; two of them in one text decide.
_PLAIN_ENGLISH = frozenset("the of and that how what which with does are this from by".split())
# Number of characters that is sufficient for detection.
_ENOUGH = 4000
_NAME = re.compile(r"\bQZ ?\d+")
# A word has two letters; one letter is a variable, except in scripts not used for variables.
_LONG_WORD = re.compile(r"[^\W\d_]{2}|[\u0900-\u0eff\u1000-\u10ff\u1780-\u17ff\u3040-\uffdc]")


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
    plain = _NAME.sub(" ", text[:_ENOUGH]).strip(_PUNCTUATION)
    script = dominant_script(plain)
    if override:
        return Detected(language(override).code, 1.0, script)
    if not _LONG_WORD.search(plain):
        return Detected("", 0.0, "")
    if script in _BY_SCRIPT:
        return Detected(_BY_SCRIPT[script], 0.99, script)
    tokens = tokenize(plain)
    romanised = _romanised(tokens) if script == "Latn" else ("", 0.0)
    if romanised[1] >= _SURE_PROBABILITY:
        return Detected(*romanised, script)
    if (by_function_words := _by_function_words(plain, script, tokens)) is not None:
        return Detected(by_function_words, _SURE_PROBABILITY, script)
    found = _by_words(plain, script, tokens, romanised, prior)
    return _with_expected(found, plain, tokens, prior) if len(tokens) <= _FEW_WORDS else found


def _by_words(
    plain: str, script: str, tokens: list[str], romanised: tuple[str, float], prior: Prior
) -> Detected:
    """Detect the language by vocabularies if the text is short, then by the model."""
    if script in _SERVED_SCRIPTS and len(tokens) <= _FEW_WORDS:
        if script == "Latn" and romanised[0] in ("", "hi") and _is_mostly_hindi(tokens, prior):
            return Detected("hi", _MOSTLY, script)
        looked_up = (
            _further(plain, script, tokens, prior)
            or _foreign(plain, script, tokens, prior)
            or _in_few_words(plain, script, tokens, romanised, prior)
        )
        if looked_up is not None:
            return looked_up
    if script == "Cyrl" and len(tokens) <= _FEW_WORDS:
        in_cyrillic = _in_cyrillic(plain, tokens, prior)
        if in_cyrillic is not None:
            return in_cyrillic
    if script == "Latn" and (alone := _only_known_to(plain, tokens)):
        return Detected(alone, _SURE_PROBABILITY, script)
    best, confidence = _by_model(plain, script, tokens, prior)
    if romanised[1] > confidence:
        return Detected(*romanised, script)
    opening = " ".join(plain.split())[:_OPENING]
    if best == "en" and len(opening) == _OPENING:
        first, sure = _by_model(opening, script, [], prior)
        if first != "en" and first in LANGUAGES and sure >= _SURE_PROBABILITY:
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
    is_name = is_single and not is_term and _CAPITALISED.match(text) is not None
    letters = _FOREIGN_LETTERS.get(found.script)
    has_letters = letters is not None and letters.search(text.lower()) is not None
    odds = _model_odds(text, found.script, prior) if is_unexpected or has_letters else {}
    # The model knows no typed Hindi, and little of a few words; a single word may be borrowed.
    is_certain = len(counting) > 1 and (
        (found.language == "hi" and found.script == "Latn")
        or any(min(known_to[code]) >= EXACT for code in languages)
    )
    highest = max((odds[code] for code in languages if code in odds), default=log(_MIN_CHANCE))

    def joins(code: str) -> bool:
        is_near = most - likelihood[code] < _CLEAR_LOG_ODDS
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
    return len(words) <= _FEW_WORDS and dominant_script(plain) not in _BY_SCRIPT


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


def _further(text: str, script: str, tokens: list[str], prior: Prior) -> Detected | None:
    """Return a further language that the function words of a text indicate, else None."""
    own = {code: _count_indicators(code, script, tokens) for code in _own_words(script)}
    found = {code: count for code, count in own.items() if count}
    if not found:
        return None
    every = {
        code: max(count, len(_stop_tokens(code).intersection(tokens)))
        for code, count in found.items()
    }
    best = max(found, key=lambda code: (every[code] * prior.expects(code), found[code], code))
    ours = max(len(_stop_tokens(code).intersection(tokens)) for code in _SERVED_SCRIPTS[script])
    if every[best] < ours:
        return None
    is_ahead = every[best] > ours and found[best] >= _ENOUGH_WORDS
    if is_ahead and list(every.values()).count(every[best]) == 1:
        return Detected(best, _MOSTLY, script)
    odds = _model_odds(text, script, prior)
    likeliest = max(odds, key=lambda code: (odds[code], code), default="")
    return Detected(best, _MOSTLY, script) if likeliest == best else None


def _foreign(text: str, script: str, tokens: list[str], prior: Prior) -> Detected | None:
    """Return a language outside ours that letters or function words indicate, else None."""
    hits = {code: len(words.intersection(tokens)) for code, words in _foreign_words().items()}
    best = max(hits, key=lambda code: (hits[code], code), default="")
    strange = [token for token in tokens if _FOREIGN_LETTERS[script].search(token)]
    codes = _SERVED_SCRIPTS[script]
    if strange and script == "Latn":
        # A name among words of ours is no evidence: Gödel's theorem, Hölder's inequality.
        is_ours = any(known(token, codes) for token in tokens if token not in strange)
        names = frozenset(tokenize(" ".join(_CAPITALISED.findall(text))))
        strange = [
            token
            for token in strange
            if max(known(token, codes).values(), default=0.0) < EXACT
            and not (is_ours and token in names)
        ]
    has_letters = bool(strange) or (
        script != "Latn" and _FOREIGN_LETTERS[script].search(text) is not None
    )
    if not has_letters and not (best and hits[best]):
        return None
    ranked = _model()(text)
    ranked.sort(key=lambda one: -one[1] * prior.weight(one[0]))
    for code, probability in ranked:
        if code in _MAJOR and (not hits or not hits[best] or hits.get(code) == hits[best]):
            return Detected(code, round(max(float(probability), 0.5), 2), script)
    return Detected(best, 0.5, script) if best and hits[best] else None


def _in_few_words(
    text: str, script: str, tokens: list[str], romanised: tuple[str, float], prior: Prior
) -> Detected | None:
    """Detect the language of a short text by vocabularies; None if they do not decide."""
    served = (code for code in _SERVED_SCRIPTS[script] if not _alien(text, code))
    codes = (*served, *prior.further(script))
    if not codes:
        return None
    term = text.strip(_PUNCTUATION)
    found = terms_of(term, codes)
    if found and not is_exact_term(term, found[0]):
        # The exact spelling may be a term of another language, or one of ours without accents.
        expected = (code for code in prior.further(script) if _has_words(code, tokens))
        theirs = tuple(dict.fromkeys((*further_terms_of(term, script), *expected)))
        found = (*theirs, *found) if term.isascii() or not theirs else theirs
    if found:
        return _among(found, script, prior)
    strongest = 0.0
    votes = dict.fromkeys(codes, 0.0)
    everywhere = set(codes)
    unknown: list[str] = []
    counting = [token for token in tokens if len(token) > 1 and not token.isdigit()]
    for token in counting:
        languages = known(token, codes)
        if not languages:
            unknown.append(token)
            continue
        everywhere &= languages.keys()
        for code, weight in languages.items():
            votes[code] += weight / len(languages)
            strongest = max(strongest, weight)
    if unknown and (found := further_terms_of(term, script)):
        return _among(found, script, prior)
    if script == "Latn" and (further := _further_by_words(text, counting, prior)) is not None:
        return further
    if script == "Deva":
        hindi, nepali = _hindi_and_nepali(tokens)
        votes["hi"] += _FUNCTION_WORD * len(hindi)
        votes["ne"] += _FUNCTION_WORD * len(nepali)
        if bool(hindi) != bool(nepali):
            everywhere &= {"hi" if hindi else "ne"}
    if 0 < strongest <= LEARNED and len(counting) <= _FEW_UNKNOWN_WORDS:
        return _by_learned_words(text, script, votes, prior)
    if not unknown and len(everywhere) == 1 and counting:
        return Detected(everywhere.pop(), _SURE_PROBABILITY, script)
    if not unknown and everywhere and counting:
        return _among(tuple(code for code in codes if code in everywhere), script, prior)
    if len(unknown) == len(counting):
        return _in_unknown_words(text, script, counting, romanised, prior)
    best, *others = sorted(codes, key=lambda code: (-votes[code], -prior.weight(code)))
    second = max((votes[code] for code in others), default=0.0)
    # At least half of the words must be known, because foreign sentences share some words.
    if votes[best] - second >= _CLEAR and 2 * len(unknown) <= len(counting):
        return Detected(best, _MOSTLY, script)
    return None


def _has_words(code: str, tokens: list[str]) -> bool:
    """Whether all words of a text occur, exactly as written, in terms or among function words."""
    return all(weight_in(token, code) >= EXACT for token in tokens)


def _further_by_words(text: str, counting: list[str], prior: Prior) -> Detected | None:
    """Return an unexpected further language that knows the words better than ours, else None."""
    ours = (*LATIN, *prior.further("Latn"))
    own = {code: [approximate_weight_in(token, code) for token in counting] for code in ours}
    # Skip words that one of ours knows; English words occur in texts of all languages.
    if not counting or min(own["en"]) >= LEARNED or max(map(min, own.values())) >= STEM:
        return None
    theirs = {
        code: [approximate_weight_in(token, code) for token in counting]
        for code, row in FURTHER.items()
        if row.script == "Latn" and code not in ours
    }
    votes = {
        code: sum(weight or -_UNKNOWN for weight in weights) / len(counting)
        for code, weights in (own | theirs).items()
    }
    if max(votes[code] for code in theirs) < max(votes[code] for code in own):
        return None
    chances = dict(_model()(text))
    odds = {
        code: vote
        + log(max(float(chances.get(code, 0.0)), _MIN_CHANCE) * prior.weight(code))
        + _OWN_ADVANTAGE * (code in own)
        for code, vote in votes.items()
    }
    best, second, *_ = sorted(odds, key=lambda code: (-odds[code], code))
    if best in own or 2 * sum(map(bool, theirs[best])) < len(counting):
        return None
    is_near = odds[best] - odds[second] < _CLEAR_LOG_ODDS
    return Detected(best, _MOSTLY, "Latn", (best, second) if is_near else ())


def _in_cyrillic(text: str, tokens: list[str], prior: Prior) -> Detected | None:
    """Return the further language in Cyrillic script that knows the words of a short text best.

    None if no language knows any of them.
    """
    counting = [token for token in tokens if len(token) > 1 and not token.isdigit()]
    known_to = {
        code: [approximate_weight_in(token, code) for token in counting]
        for code, row in FURTHER.items()
        if row.script == "Cyrl" and not _alien(text.lower(), code)
    }
    if not any(map(any, known_to.values())):
        return None
    chances = dict(_model()(text))
    odds = {
        code: sum(weight or -_UNKNOWN for weight in own) / len(counting)
        + log(max(float(chances.get(code, 0.0)), _MIN_CHANCE) * prior.weight(code))
        for code, own in known_to.items()
    }
    best, *others = sorted(odds, key=lambda code: (-odds[code], code))
    near = tuple(
        code for code in others if odds[best] - odds[code] < _CLEAR_LOG_ODDS and any(known_to[code])
    )
    return Detected(best, _MOSTLY, "Cyrl", (best, *near) if near else ())


def _by_learned_words(
    text: str, script: str, votes: dict[str, float], prior: Prior
) -> Detected | None:
    """Decide by learned words, which contain errors, together with the model."""
    odds = _model_odds(text, script, prior)
    floor = min(odds.values(), default=0.0)
    weighed = {code: odds.get(code, floor) + _VOTE * vote for code, vote in votes.items()}
    best = max(weighed, key=lambda code: (weighed[code], code))
    near = [code for code in weighed if weighed[best] - weighed[code] < _CLEAR_LOG_ODDS]
    near = [code for code in near if votes[code] or code == best]
    near.sort(key=lambda code: -weighed[code])
    total = sum(exp(value - weighed[best]) for value in weighed.values())
    likely = tuple(near) if len(near) > 1 else ()
    return Detected(best, round(1 / total, 2), script, likely)


def _alien(text: str, code: str) -> bool:
    """Whether a text has letters that a language does not have."""
    pattern = _ALIEN.get(code)
    return pattern is not None and pattern.search(text) is not None


def _among(codes: tuple[str, ...], script: str, prior: Prior) -> Detected:
    """Return the languages that share a text, most likely first."""
    ordered = tuple(sorted(codes, key=lambda code: (-prior.weight(code), code)))
    if len(ordered) == 1:
        return Detected(ordered[0], _SURE_PROBABILITY, script)
    total = sum(map(prior.weight, ordered))
    share = min(prior.weight(ordered[0]) / total, 1 / len(ordered))
    return Detected(ordered[0], round(share, 2) - 0.01, script, ordered)


def _in_unknown_words(
    text: str, script: str, counting: list[str], romanised: tuple[str, float], prior: Prior
) -> Detected | None:
    """Decide for unknown words: they may be romanised Hindi, or in another language."""
    if script == "Latn":
        typed, sure = romanised
        long = [token for token in counting if len(token) > 3]
        if typed or (long and all(token in typed_hindi() for token in long)):
            return Detected(typed or "hi", max(sure, _MOSTLY), script)
    if len(counting) > _FEW_UNKNOWN_WORDS:
        return None
    ours = (*_SERVED_SCRIPTS[script], *prior.further(script))
    odds = _model_odds(text, script, prior)
    served = sorted((code for code in ours if code in odds), key=lambda code: -odds[code])
    code, probability = max(
        _model()(text), key=lambda one: one[1] * prior.expects(one[0]) * (one[0] not in ours)
    )
    if code in _MAJOR and probability >= _MIN_MAJOR_PROBABILITY / prior.expects(code):
        return Detected(code, round(float(probability), 2), script, (code, *served[:1]))
    if not served:
        served = sorted(ours, key=lambda code: -prior.weight(code))
        return Detected(served[0], 0.3, script, tuple(served))
    near = tuple(code for code in served if odds[served[0]] - odds[code] < _CLEAR_LOG_ODDS)
    total = sum(exp(odds[code] - odds[served[0]]) for code in served)
    return Detected(served[0], round(1 / total, 2), script, near if len(near) > 1 else ())


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


def _is_mostly_hindi(tokens: list[str], prior: Prior) -> bool:
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
    enough = _MORE_THAN_HALF if is_expected else _MOSTLY
    return bool(own) and covered > most and covered >= enough * len(counting)


def _is_international(word: str) -> bool:
    """Whether a word occurs in terms of English and of another of our languages in Latin script."""
    others = (code for code in LATIN if code != "en")
    return is_in_terms(word, ("en",)) and is_in_terms(word, others)


def _by_function_words(text: str, script: str, tokens: list[str]) -> str | None:
    """Return the language that function words determine, without loading vocabularies and model.

    Only for short texts, since a long text may quote another language. None if not certain.
    """
    if len(text) > _SHORT:
        return None
    if script == "Latn" and len(_PLAIN_ENGLISH.intersection(tokens)) > 1:
        return None if _not_english().intersection(tokens) else "en"
    if script == "Deva":
        hindi, nepali = _hindi_and_nepali(tokens)
        if hindi and not nepali and not _count_indicators("mr", script, tokens):
            return "hi"
    return None


def _only_known_to(text: str, tokens: list[str]) -> str:
    """Return the only language that knows every word of a short text, else an empty string."""
    if len(text) > _SHORT:
        return ""
    knowing = [code for code, words in _known_words().items() if words.issuperset(tokens)]
    return knowing[0] if len(knowing) == 1 and len(tokens) > 1 else ""


def _by_model(text: str, script: str, tokens: list[str], prior: Prior) -> tuple[str, float]:
    """Return the most likely language and its share of the odds."""
    odds = _model_odds(text, script, prior)
    if script == "Deva":
        _weigh_devanagari(odds, tokens)
    for code in _own_words(script).keys() & odds.keys():
        odds[code] += _FURTHER_WORD * _count_indicators(code, script, tokens)
    if not odds:
        return "", 0.0
    best = max(odds, key=lambda code: (odds[code], code))
    total = sum(exp(value - odds[best]) for value in odds.values())
    return best, round(1 / total, 2)


def _model_odds(text: str, script: str, prior: Prior) -> dict[str, float]:
    """Return the log odds of languages: probabilities of the model times prior weights."""
    odds: dict[str, float] = {}
    for code, probability in _model()(text):
        # Three-letter codes are small languages, to which short texts are misclassified. Latin is
        # skipped because it shares many words of mathematics (supremum, calculus, lemma).
        if len(code) > 2 or code == "la" or probability < 1e-12:
            continue
        ours = _SERVED_BY.get(code, code) if script == "Latn" else code
        odds[ours] = odds.get(ours, 0.0) + prior.weight(ours) * probability
    return {code: log(value) for code, value in odds.items()}


def _weigh_devanagari(odds: dict[str, float], tokens: list[str]) -> None:
    """Add the evidence of function words and endings for Hindi and Nepali to the odds."""
    floor = min(odds.values(), default=0.0)
    for code, found in zip(("hi", "ne"), _hindi_and_nepali(tokens), strict=True):
        odds[code] = odds.get(code, floor) + _FUNCTION_WORD * len(found)


def _hindi_and_nepali(tokens: list[str]) -> tuple[list[str], list[str]]:
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


def _romanised(tokens: list[str]) -> tuple[str, float]:
    """Return the romanised language of a text in Latin letters, and the confidence.

    Hindi wins a tie, but a text with a word that only the Urdu list has is Urdu, because Urdu
    shares the function words of Hindi.
    """
    best, sure = "", 0.0
    for code in _ROMANISED:
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


@cache
def _known_words() -> dict[str, frozenset[str]]:
    """Return glossary words and function words of our languages in Latin letters."""
    codes = [row.code for row in LANGUAGES.values() if row.script == "Latn"]
    forms = {
        code: " ".join(form for concept in Glossary.load() for form in concept.forms.get(code, ()))
        for code in codes
    }
    return {code: frozenset(tokenize(forms[code])) | LANGUAGES[code].stop_words for code in codes}


@cache
def _foreign_words() -> dict[str, frozenset[str]]:
    """Map further languages to their words in `_FOREIGN_WORDS`; *das* belongs to two."""
    listed = frozenset().union(*_FOREIGN_WORDS.values())
    return {
        code: listed.intersection(_FOREIGN_WORDS.get(code, frozenset()) | _stop_tokens(code))
        for code in FURTHER
    }


@cache
def _not_english() -> frozenset[str]:
    """Return the function words of our other languages in Latin letters."""
    others = (row.stop_words for row in LANGUAGES.values() if row.script == "Latn")
    return frozenset().union(*others) - LANGUAGES["en"].stop_words


@cache
def _stop_tokens(code: str) -> frozenset[str]:
    """Return the tokenised function words of a language, without single letters."""
    listed = language(code).stop_words
    return frozenset(token for word in listed for token in tokenize(word) if len(token) > 1)


@cache
def _own_words(script: str) -> dict[str, frozenset[str]]:
    """Return the function words of further languages in a script that ours do not have."""
    stopped = (_stop_tokens(code) for code in _SERVED_SCRIPTS.get(script, ()))
    taken = frozenset().union(*stopped, *map(romanised_words, _ROMANISED))
    return {
        row.code: _stop_tokens(row.code) - taken
        for row in FURTHER.values()
        if row.script == script and row.has_stop_words
    }


def _count_indicators(code: str, script: str, tokens: list[str]) -> int:
    """Count the words of a text that indicate a further language rather than one of ours."""
    ours = _SERVED_SCRIPTS.get(script, ())
    words = _own_words(script)[code].intersection(tokens)
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
def _model() -> Callable[[str], list[tuple[str, float]]]:
    """Return the model, which ranks languages by probability; loading takes half a second."""
    from py3langid.langid import (  # type: ignore[import-untyped]
        MODEL_FILE,
        LanguageIdentifier,
    )

    rank: Callable[[str], list[tuple[str, float]]]
    rank = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).rank
    return rank
