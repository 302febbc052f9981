"""The language of a few words, looked up in the vocabularies."""

from __future__ import annotations

import re
from functools import cache
from math import exp, log

from mathsetu.languages.analyze import tokenize
from mathsetu.languages.detect.function_words import (
    count_indicators,
    foreign_words,
    hindi_and_nepali,
    indicators,
    stop_tokens,
)
from mathsetu.languages.detect.latin_letters import typed_hindi
from mathsetu.languages.detect.model import language_model, model_odds
from mathsetu.languages.detect.result import (
    CLEAR_LOG_ODDS,
    FUNCTION_WORD_ODDS,
    MIN_CHANCE,
    MOSTLY,
    PUNCTUATION,
    SERVED_SCRIPTS,
    SHORT_TEXT,
    SURE,
    Detected,
    Prior,
)
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.table import FURTHER, LANGUAGES
from mathsetu.languages.vocabulary import (
    EXACT,
    LATIN,
    LEARNED,
    STEM,
    approximate_weight_in,
    further_terms_of,
    is_exact_term,
    known,
    terms_of,
    weight_in,
)

# At most this many unknown words are attributed to our languages of their script.
_FEW_UNKNOWN_WORDS = 3
# Minimum lead in votes that decides for a language.
_CLEAR = 2.0
# Penalty for a word that a language does not know.
_UNKNOWN = 3.0
# Advantage of our languages over close relatives: Spanish queries are more frequent than Catalan.
_OWN_ADVANTAGE = 1.0
_VOTE = 4.0
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
# Letters that our languages of a script do not have.
FOREIGN_LETTERS = {
    "Latn": re.compile("[äößçğşłåøãõêâîôûàèìòùľĺŕœæățșąężźőạảấầẩẫậắằặẹẻẽếềểệỉịọỏốồổộớờởợụủứừửựỳ]"),
    "Deva": re.compile("ळ"),
    "Arab": re.compile("[ٹڈڑںےھہةى]|(?:^| )(?:ال|أ|إ)"),
}
CAPITALISED = re.compile(r"\b[^\W\d_a-z]\w*")
# This many such function words decide alone; fewer decide only if the model agrees.
_ENOUGH_WORDS = 2


def by_vocabularies(
    text: str, script: str, tokens: list[str], romanised: tuple[str, float], prior: Prior
) -> Detected | None:
    """Detect the language of a short text by vocabularies; None if they do not decide."""
    served = (code for code in SERVED_SCRIPTS[script] if not _alien(text, code))
    codes = (*served, *prior.further(script))
    if not codes:
        return None
    term = text.strip(PUNCTUATION)
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
        hindi, nepali = hindi_and_nepali(tokens)
        votes["hi"] += FUNCTION_WORD_ODDS * len(hindi)
        votes["ne"] += FUNCTION_WORD_ODDS * len(nepali)
        if bool(hindi) != bool(nepali):
            everywhere &= {"hi" if hindi else "ne"}
    if 0 < strongest <= LEARNED and len(counting) <= _FEW_UNKNOWN_WORDS:
        return _by_learned_words(text, script, votes, prior)
    if not unknown and len(everywhere) == 1 and counting:
        return Detected(everywhere.pop(), SURE, script)
    if not unknown and everywhere and counting:
        return _among(tuple(code for code in codes if code in everywhere), script, prior)
    if len(unknown) == len(counting):
        return _in_unknown_words(text, script, counting, romanised, prior)
    best, *others = sorted(codes, key=lambda code: (-votes[code], -prior.weight(code)))
    second = max((votes[code] for code in others), default=0.0)
    # At least half of the words must be known, because foreign sentences share some words.
    if votes[best] - second >= _CLEAR and 2 * len(unknown) <= len(counting):
        return Detected(best, MOSTLY, script)
    return None


def further_language(text: str, script: str, tokens: list[str], prior: Prior) -> Detected | None:
    """Return a further language that the function words of a text indicate, else None."""
    own = {code: count_indicators(code, script, tokens) for code in indicators(script)}
    found = {code: count for code, count in own.items() if count}
    if not found:
        return None
    every = {
        code: max(count, len(stop_tokens(code).intersection(tokens)))
        for code, count in found.items()
    }
    best = max(found, key=lambda code: (every[code] * prior.expects(code), found[code], code))
    ours = max(len(stop_tokens(code).intersection(tokens)) for code in SERVED_SCRIPTS[script])
    if every[best] < ours:
        return None
    is_ahead = every[best] > ours and found[best] >= _ENOUGH_WORDS
    if is_ahead and list(every.values()).count(every[best]) == 1:
        return Detected(best, MOSTLY, script)
    odds = model_odds(text, script, prior)
    likeliest = max(odds, key=lambda code: (odds[code], code), default="")
    return Detected(best, MOSTLY, script) if likeliest == best else None


def foreign_language(text: str, script: str, tokens: list[str], prior: Prior) -> Detected | None:
    """Return a language outside ours that letters or function words indicate, else None."""
    hits = {code: len(words.intersection(tokens)) for code, words in foreign_words().items()}
    best = max(hits, key=lambda code: (hits[code], code), default="")
    strange = [token for token in tokens if FOREIGN_LETTERS[script].search(token)]
    codes = SERVED_SCRIPTS[script]
    if strange and script == "Latn":
        # A name among words of ours is no evidence: Gödel's theorem, Hölder's inequality.
        is_ours = any(known(token, codes) for token in tokens if token not in strange)
        names = frozenset(tokenize(" ".join(CAPITALISED.findall(text))))
        strange = [
            token
            for token in strange
            if max(known(token, codes).values(), default=0.0) < EXACT
            and not (is_ours and token in names)
        ]
    has_letters = bool(strange) or (
        script != "Latn" and FOREIGN_LETTERS[script].search(text) is not None
    )
    if not has_letters and not (best and hits[best]):
        return None
    ranked = language_model()(text)
    ranked.sort(key=lambda one: -one[1] * prior.weight(one[0]))
    for code, probability in ranked:
        if code in _MAJOR and (not hits or not hits[best] or hits.get(code) == hits[best]):
            return Detected(code, round(max(float(probability), 0.5), 2), script)
    return Detected(best, 0.5, script) if best and hits[best] else None


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
    chances = dict(language_model()(text))
    odds = {
        code: vote
        + log(max(float(chances.get(code, 0.0)), MIN_CHANCE) * prior.weight(code))
        + _OWN_ADVANTAGE * (code in own)
        for code, vote in votes.items()
    }
    best, second, *_ = sorted(odds, key=lambda code: (-odds[code], code))
    if best in own or 2 * sum(map(bool, theirs[best])) < len(counting):
        return None
    is_near = odds[best] - odds[second] < CLEAR_LOG_ODDS
    return Detected(best, MOSTLY, "Latn", (best, second) if is_near else ())


def cyrillic_language(text: str, tokens: list[str], prior: Prior) -> Detected | None:
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
    chances = dict(language_model()(text))
    odds = {
        code: sum(weight or -_UNKNOWN for weight in own) / len(counting)
        + log(max(float(chances.get(code, 0.0)), MIN_CHANCE) * prior.weight(code))
        for code, own in known_to.items()
    }
    best, *others = sorted(odds, key=lambda code: (-odds[code], code))
    near = tuple(
        code for code in others if odds[best] - odds[code] < CLEAR_LOG_ODDS and any(known_to[code])
    )
    return Detected(best, MOSTLY, "Cyrl", (best, *near) if near else ())


def _by_learned_words(
    text: str, script: str, votes: dict[str, float], prior: Prior
) -> Detected | None:
    """Decide by learned words, which contain errors, together with the model."""
    odds = model_odds(text, script, prior)
    floor = min(odds.values(), default=0.0)
    weighed = {code: odds.get(code, floor) + _VOTE * vote for code, vote in votes.items()}
    best = max(weighed, key=lambda code: (weighed[code], code))
    near = [code for code in weighed if weighed[best] - weighed[code] < CLEAR_LOG_ODDS]
    near = [code for code in near if votes[code] or code == best]
    near.sort(key=lambda code: -weighed[code])
    total = sum(exp(value - weighed[best]) for value in weighed.values())
    likely = tuple(near) if len(near) > 1 else ()
    return Detected(best, round(1 / total, 2), script, likely)


def _in_unknown_words(
    text: str, script: str, counting: list[str], romanised: tuple[str, float], prior: Prior
) -> Detected | None:
    """Decide for unknown words: they may be romanised Hindi, or in another language."""
    if script == "Latn":
        typed, sure = romanised
        long = [token for token in counting if len(token) > 3]
        if typed or (long and all(token in typed_hindi() for token in long)):
            return Detected(typed or "hi", max(sure, MOSTLY), script)
    if len(counting) > _FEW_UNKNOWN_WORDS:
        return None
    ours = (*SERVED_SCRIPTS[script], *prior.further(script))
    odds = model_odds(text, script, prior)
    served = sorted((code for code in ours if code in odds), key=lambda code: -odds[code])
    code, probability = max(
        language_model()(text),
        key=lambda one: one[1] * prior.expects(one[0]) * (one[0] not in ours),
    )
    if code in _MAJOR and probability >= _MIN_MAJOR_PROBABILITY / prior.expects(code):
        return Detected(code, round(float(probability), 2), script, (code, *served[:1]))
    if not served:
        served = sorted(ours, key=lambda code: -prior.weight(code))
        return Detected(served[0], 0.3, script, tuple(served))
    near = tuple(code for code in served if odds[served[0]] - odds[code] < CLEAR_LOG_ODDS)
    total = sum(exp(odds[code] - odds[served[0]]) for code in served)
    return Detected(served[0], round(1 / total, 2), script, near if len(near) > 1 else ())


def _among(codes: tuple[str, ...], script: str, prior: Prior) -> Detected:
    """Return the languages that share a text, most likely first."""
    ordered = tuple(sorted(codes, key=lambda code: (-prior.weight(code), code)))
    if len(ordered) == 1:
        return Detected(ordered[0], SURE, script)
    total = sum(map(prior.weight, ordered))
    share = min(prior.weight(ordered[0]) / total, 1 / len(ordered))
    return Detected(ordered[0], round(share, 2) - 0.01, script, ordered)


def _alien(text: str, code: str) -> bool:
    """Whether a text has letters that a language does not have."""
    pattern = _ALIEN.get(code)
    return pattern is not None and pattern.search(text) is not None


def only_known_to(text: str, tokens: list[str]) -> str:
    """Return the only language that knows every word of a short text, else an empty string."""
    if len(text) > SHORT_TEXT:
        return ""
    knowing = [code for code, words in _known_words().items() if words.issuperset(tokens)]
    return knowing[0] if len(knowing) == 1 and len(tokens) > 1 else ""


@cache
def _known_words() -> dict[str, frozenset[str]]:
    """Return glossary words and function words of our languages in Latin letters."""
    codes = [row.code for row in LANGUAGES.values() if row.script == "Latn"]
    forms = {
        code: " ".join(form for concept in Glossary.load() for form in concept.forms.get(code, ()))
        for code in codes
    }
    return {code: frozenset(tokenize(forms[code])) | LANGUAGES[code].stop_words for code in codes}
