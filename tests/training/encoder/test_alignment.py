"""Alignment of words with their translations in parallel text."""

from __future__ import annotations

import random

from mathsetu.training.encoder.alignment import align_terms, align_words, words_of

_WORDS = {
    "number": "संख्या",
    "prime": "अभाज्य",
    "even": "सम",
    "sum": "योग",
    "product": "गुणनफल",
    "is": "है",
    "find": "ज्ञात",
}


def sentences(count: int) -> list[tuple[str, str]]:
    """Random English words with their translations in another order."""
    chance = random.Random(3)
    pairs = []
    for _ in range(count):
        chosen = chance.sample(sorted(_WORDS), 4)
        other = [_WORDS[word] for word in chosen]
        chance.shuffle(other)
        pairs.append((" ".join(chosen), " ".join(other)))
    return pairs


def test_every_word_is_aligned_with_its_translation_in_any_order() -> None:
    found = align_words(sentences(200))
    assert {word: forms[0][0] for word, forms in found.items()} == _WORDS
    assert all(forms[0][1] > 0.5 for forms in found.values())


def test_a_word_with_two_translations_has_both_with_the_usual_one_first() -> None:
    pairs = [("number", "संख्या")] * 8 + [("number", "संख्याओं")] * 4 + sentences(60)
    forms = dict(align_words(pairs)["number"])
    assert list(forms)[:2] == ["संख्या", "संख्याओं"]
    assert forms["संख्या"] > forms["संख्याओं"]


def test_a_word_that_occurs_only_twice_is_not_aligned() -> None:
    assert "lemma" not in align_words([("lemma", "प्रमेयिका")] * 2 + sentences(40))


def test_nothing_is_aligned_without_pairs_or_with_formulas_alone() -> None:
    assert align_words([]) == {}
    assert align_words([("$x^2$", "$x^2$")] * 9) == {}


def test_words_keep_their_marks_and_half_spaces() -> None:
    assert words_of("می\u200cشود، संख्याएँ $a$ Don't") == ["می\u200cشود", "संख्याएँ", "don't"]


def test_terms_are_aligned_where_both_directions_agree() -> None:
    pairs = [(["hund"], ["dog"], 1.0), (["hund", "bellt"], ["dog", "bark"], 1.0)] * 4
    found = align_terms(pairs, 0.05, 1.0)
    assert [term for term, _ in found["hund"]] == ["dog"]
    assert found["bellt"][0][0] == "bark"
    assert all(0 < chance <= 1 for forms in found.values() for _, chance in forms)


def test_a_pair_may_have_a_weight_above_1() -> None:
    seldom = align_terms([(["haus"], ["house"], 1.0)], 0.05, 1.5)
    assert seldom == {}
    assert align_terms([(["haus"], ["house"], 2.0)], 0.05, 1.5)["haus"][0][0] == "house"


def test_without_terms_nothing_is_aligned() -> None:
    assert align_terms([], 0.05, 1.0) == {}
    assert align_terms([([], ["house"], 1.0), (["x"] * 99, ["y"], 1.0)], 0.05, 0.1) == {}
