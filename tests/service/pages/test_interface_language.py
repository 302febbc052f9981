"""Texts of the page: complete in all languages; and which language a visitor gets."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.languages.table import LANGUAGES
from mathsetu.service.pages.interface_language import (
    INTERFACE_LANGUAGES,
    interface,
    wanted_language,
)

# Texts that are the same in this language and in English.
SHARED = {
    "es": {"no"},
    "fr": {
        "source",
        "why.score",
        "palette.relations",
        "facets.collections",
        "suggest.label",
        "parts.graph",
    },
    "it": {"no", "place.file"},
    "nl": {"filters", "why.score", "suggest.term"},
}


def places(text: str) -> set[str]:
    """The names of the placeholders of a text."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_the_page_has_at_least_ten_further_languages_marked_as_not_reviewed() -> None:
    further = INTERFACE_LANGUAGES.keys() - LANGUAGES.keys()
    assert len(further) >= 10
    assert all(not interface(code).is_reviewed for code in further)
    assert all(interface(code).is_reviewed for code in LANGUAGES)


@pytest.mark.parametrize("code", INTERFACE_LANGUAGES)
def test_every_language_has_every_text(code: str) -> None:
    assert set(interface(code).texts) == set(interface("en").texts)
    assert all(interface(code).texts.values())


@pytest.mark.parametrize("code", INTERFACE_LANGUAGES)
def test_every_text_has_the_same_placeholders(code: str) -> None:
    english = interface("en").texts
    for key, text in interface(code).texts.items():
        assert places(text) == places(english[key]), key


@pytest.mark.parametrize("code", [code for code in INTERFACE_LANGUAGES if code != "en"])
def test_texts_are_not_left_in_english(code: str) -> None:
    english = interface("en").texts
    same = [key for key, text in interface(code).texts.items() if text == english[key]]
    assert set(same) <= {"took", "preference.normal"} | SHARED.get(code, set())


@pytest.mark.parametrize(
    ("named", "accepted", "wanted"),
    [
        ("fa", "en", "fa"),
        ("", "cs", "cs"),
        ("", "hr-HR,hr;q=0.9,en;q=0.8", "hr"),
        ("", "de,fr;q=0.9", "de"),
        ("", "fi,sv;q=0.9", "en"),
        ("", "fi, ne;q=0.3, hi;q=0.7", "hi"),
        ("klingon", "es-MX", "es"),
    ],
)
def test_the_language_comes_from_the_url_or_else_from_the_browser(
    named: str, accepted: str, wanted: str
) -> None:
    assert wanted_language(named, accepted) == wanted


@given(st.text(), st.text())
def test_any_header_gives_a_language_of_the_page(named: str, accepted: str) -> None:
    assert wanted_language(named, accepted) in INTERFACE_LANGUAGES


def test_numbers_have_the_format_of_the_language() -> None:
    written = {code: interface(code).number(12345.5, decimals=1) for code in ("en", "cs", "fa")}
    assert written == {"en": "12,345.5", "cs": "12\u202f345,5", "fa": "۱۲٬۳۴۵٫۵"}
