"""The statistical model of languages (py3langid), with prior weights and function words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, log

from mathsetu.languages.detect.function_words import count_indicators, hindi_and_nepali, indicators
from mathsetu.languages.detect.result import FUNCTION_WORD_ODDS, Prior

_SERVED_BY = {"bs": "hr", "sr": "hr"}
# Added to the log odds of a language for each function word that our languages do not have.
_FURTHER_WORD = 1.5


def by_model(text: str, script: str, tokens: list[str], prior: Prior) -> tuple[str, float]:
    """Return the most likely language and its share of the odds."""
    odds = model_odds(text, script, prior)
    if script == "Deva":
        _weigh_devanagari(odds, tokens)
    for code in indicators(script).keys() & odds.keys():
        odds[code] += _FURTHER_WORD * count_indicators(code, script, tokens)
    if not odds:
        return "", 0.0
    best = max(odds, key=lambda code: (odds[code], code))
    total = sum(exp(value - odds[best]) for value in odds.values())
    return best, round(1 / total, 2)


def model_odds(text: str, script: str, prior: Prior) -> dict[str, float]:
    """Return the log odds of languages: probabilities of the model times prior weights."""
    odds: dict[str, float] = {}
    for code, probability in language_model()(text):
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
    for code, found in zip(("hi", "ne"), hindi_and_nepali(tokens), strict=True):
        odds[code] = odds.get(code, floor) + FUNCTION_WORD_ODDS * len(found)


@cache
def language_model() -> Callable[[str], list[tuple[str, float]]]:
    """Return the model, which ranks languages by probability; loading takes half a second."""
    from py3langid.langid import (  # type: ignore[import-untyped]
        MODEL_FILE,
        LanguageIdentifier,
    )

    rank: Callable[[str], list[tuple[str, float]]]
    rank = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).rank
    return rank
