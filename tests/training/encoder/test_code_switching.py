"""English mathematics with words of another language."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from mathsetu.training.encoder.code_switching import Lexicon, make_lexicon
from mathsetu.training.encoder.phonetic_spelling import spell_phonetically

_CHANCE = random.Random(1)


def test_learned_words_are_added_to_those_of_the_glossary_and_the_dictionary() -> None:
    learned = {"gcd": [("mcd", 0.5)], "cat": [("gata", 0.9)], "of": [("de", 0.8)]}
    phrases = make_lexicon("es", [("cat", "gato")], learned).phrases
    assert phrases["of"] == ("de",) * 6
    assert phrases["cat"] == ("gato", *("gata",) * 7)
    assert phrases["gcd"][-4:] == ("mcd",) * 4


def test_a_single_letter_is_not_replaced() -> None:
    lexicon = make_lexicon("cs", [("x", "iks"), ("b", "bé")], {"n": [("en", 0.9)]})
    assert lexicon.swap("x b n", _CHANCE, share=1.0) == "x b n"


def test_words_of_another_script_are_not_translations() -> None:
    phrases = make_lexicon("hi", [("cat", "gato")], {"dog": [("dog", 0.9)]}).phrases
    assert "cat" not in phrases
    assert "dog" not in phrases


def test_formulas_and_commands_are_not_replaced_even_in_a_truncated_formula() -> None:
    lexicon = Lexicon({"text": ("पाठ",), "to": ("को",), "is": ("है",)})
    kept = r"$\text{to}$ है $x \to \text{is"
    assert lexicon.swap(r"$\text{to}$ is $x \to \text{is", _CHANCE, share=1.0).startswith(kept[:20])
    assert r"\to" in lexicon.swap(r"is $x \to y", _CHANCE, share=1.0)


def test_unknown_words_are_sometimes_spelled_phonetically() -> None:
    lexicon = Lexicon({}, "persian")
    written = {lexicon.swap("Cantor", random.Random(seed), share=1.0) for seed in range(30)}
    assert "Cantor" in written
    assert "کانتور" in written


def test_languages_in_latin_script_keep_unknown_words() -> None:
    assert Lexicon({}).swap("homeomorphism", _CHANCE, share=1.0) == "homeomorphism"


@given(st.text("abcdefghijklmnopqrstuvwxyzABCXYZ'-", min_size=1, max_size=20), st.integers())
def test_any_word_can_be_spelled_phonetically(word: str, seed: int) -> None:
    chance = random.Random(seed)
    for script, first, last in (
        ("devanagari", "\u0900", "\u097f"),
        ("persian", "\u0600", "\u06ff"),
    ):
        letters = spell_phonetically(word, script, chance)
        assert all(first <= letter <= last for letter in letters)
