"""The table of languages: one row each, and everything a row names exists."""

import unicodedata

import pytest

from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.stem import stemmer
from mathsetu.languages.table import LANGUAGES, language, romanised_words


def test_the_seven_languages_are_there() -> None:
    assert set(LANGUAGES) == {"en", "hi", "es", "cs", "hr", "fa", "ne"}


@pytest.mark.parametrize("row", LANGUAGES.values(), ids=lambda row: row.code)
def test_every_part_that_a_row_names_exists(row) -> None:
    assert stemmer(row.stemmer)("a")
    assert len(row.stop_words) > 100
    assert row.nllb.endswith(f"_{row.script}")
    assert row.mbart.startswith(f"{row.code}_")
    assert dominant_script(row.own_name) == row.script


@pytest.mark.parametrize("row", LANGUAGES.values(), ids=lambda row: row.code)
def test_stop_words_are_written_in_the_script_and_case_of_the_language(row) -> None:
    for word in row.stop_words:
        assert dominant_script(word) == row.script, word
        assert word == unicodedata.normalize("NFC", word).lower()


def test_only_persian_is_written_from_right_to_left() -> None:
    assert [row.code for row in LANGUAGES.values() if row.direction == "rtl"] == ["fa"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("HI", "hi"),
        ("es-MX", "es"),
        ("hrv_Latn", "hr"),
        ("cs_CZ", "cs"),
        ("فارسی", "fa"),
        (" ne ", "ne"),
    ],
)
def test_a_language_is_known_by_many_names(name: str, code: str) -> None:
    assert language(name) is LANGUAGES[code]


def test_a_language_without_a_row_has_no_stemmer_and_no_stop_words() -> None:
    german = language("de")
    assert (german.code, german.stemmer, german.stop_words) == ("de", "none", frozenset())


def test_only_a_romanised_language_has_words_in_latin_letters() -> None:
    assert all(word.isascii() for word in romanised_words("hi"))
    assert not romanised_words("fa")


def test_words_of_romanised_hindi_are_not_function_words_of_the_latin_languages() -> None:
    taken = {
        word
        for row in LANGUAGES.values()
        if row.script == "Latn"
        for word in row.stop_words
        if len(word) > 2
    }
    assert not romanised_words("hi") & taken
