"""The table of languages: its rows, and the components that they name."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.stem import stemmer
from mathsetu.languages.table import FURTHER, LANGUAGES, ROWS, language, romanised_words


def test_the_table_has_seven_languages_with_full_support() -> None:
    assert set(LANGUAGES) == {"en", "hi", "es", "cs", "hr", "fa", "ne"}
    assert {row.grade for row in LANGUAGES.values()} == {"full"}


def test_the_table_has_further_languages_without_full_support() -> None:
    assert set(FURTHER) == set(
        "de fr pt it nl pl ru uk tr ar bn mr ta te ur gu pa zh ja ko id vi el ro hu sv bg sk "
        "ca th".split()
    )
    assert {row.grade for row in FURTHER.values()} <= {"good", "basic"}
    assert not LANGUAGES.keys() & FURTHER.keys()


@pytest.mark.parametrize("row", FURTHER.values(), ids=lambda row: row.code)
def test_every_component_in_the_row_of_a_further_language_exists(row) -> None:
    assert stemmer(row.stemmer)("a")
    assert not row.has_stop_words or len(row.stop_words) > 50
    assert row.code in ("zh", "ja", "ko", "th") or row.has_stop_words
    assert row.nllb
    assert not row.mbart or row.mbart.startswith(f"{row.code}_")
    assert dominant_script(row.own_name) in (row.script, "Hani")


@pytest.mark.parametrize("row", LANGUAGES.values(), ids=lambda row: row.code)
def test_every_component_in_the_row_of_a_language_exists(row) -> None:
    assert stemmer(row.stemmer)("a")
    assert len(row.stop_words) > 100
    assert row.nllb.endswith(f"_{row.script}")
    assert row.mbart.startswith(f"{row.code}_")
    assert dominant_script(row.own_name) == row.script


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.code)
def test_stop_words_are_written_in_the_script_and_case_of_the_language(row) -> None:
    for word in row.stop_words:
        assert dominant_script(word) == row.script, word
        assert word == unicodedata.normalize("NFC", word).lower()


def test_persian_arabic_and_urdu_are_written_from_right_to_left() -> None:
    assert [row.code for row in ROWS.values() if row.direction == "rtl"] == ["fa", "ar", "ur"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("HI", "hi"),
        ("es-MX", "es"),
        ("hrv_Latn", "hr"),
        ("cs_CZ", "cs"),
        ("فارسی", "fa"),
        (" ne ", "ne"),
        ("de-AT", "de"),
        ("French", "fr"),
        ("zho_Hans", "zh"),
        ("Türkçe", "tr"),
        ("العربية", "ar"),
        ("eng", "en"),
        ("fas", "fa"),
        ("ger", "de"),
        ("English - US", "en"),
    ],
)
def test_a_language_is_known_by_many_names(name: str, code: str) -> None:
    assert language(name) is ROWS[code]


@given(
    st.text(max_size=8) | st.from_regex(r"\s?[a-zA-Z]{2,8}\s?[-_]\s?[a-zA-Z]{2}", fullmatch=True)
)
def test_the_code_of_a_language_is_a_name_of_the_same_language(name: str) -> None:
    code = language(name).code
    assert language(code).code == code


def test_a_language_without_a_row_has_no_stemmer_and_no_stop_words() -> None:
    finnish = language("fi")
    assert (finnish.code, finnish.stemmer, finnish.stop_words) == ("fi", "none", frozenset())
    assert finnish.grade == "formulas only"


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
