"""Terms of further languages: the shipped tables, and corrected tables in their place."""

import unicodedata
from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.languages.analyze import analyze
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.glossary.further import (
    FOLDER_VARIABLE,
    REVIEWED,
    further_terms,
    read_table,
    table_lines,
)
from mathsetu.languages.table import FURTHER

GLOSSARY = Glossary.load()
# Terms of school mathematics that the table of each language must have.
KNOWN = {
    "de": {"prime-number": "Primzahl", "triangle": "Dreieck", "derivative": "Ableitung"},
    "fr": {"triangle": "triangle", "derivative": "dérivée", "integer": "entier"},
    "it": {"triangle": "triangolo", "sum": "somma"},
    "ru": {"triangle": "треугольник", "integral": "интеграл"},
    "zh": {"prime-number": "素数", "triangle": "三角形"},
    "ar": {"triangle": "مثلث"},
    "bn": {"triangle": "ত্রিভুজ"},
    "th": {"triangle": "สามเหลี่ยม", "prime-number": "จำนวนเฉพาะ"},
    "ur": {"equation": "مساوات", "triangle": "مثلث"},
}


@pytest.mark.thorough
@pytest.mark.parametrize("code", FURTHER)
def test_every_further_language_has_enough_terms_of_known_concepts(code: str) -> None:
    terms = further_terms(code)
    # There are no word lists of Thai: its terms were written by hand.
    assert len(terms) >= (100 if code == "th" else 450)
    assert set(terms) <= {concept.id for concept in GLOSSARY}


@pytest.mark.thorough
@pytest.mark.parametrize("code", FURTHER)
def test_forms_are_normalised_and_have_terms(code: str) -> None:
    for concept, term in further_terms(code).items():
        for form in term.forms:
            assert form == " ".join(unicodedata.normalize("NFC", form).split()), concept
            assert "|" not in form
            assert analyze(form, code, stop_words=False), (concept, form)


@pytest.mark.parametrize("code", FURTHER)
def test_no_shipped_term_is_marked_as_reviewed(code: str) -> None:
    assert not any(term.is_reviewed for term in further_terms(code).values())
    assert {term.sources for term in further_terms(code).values()} <= {
        "t", "w", "p", "tw", "tp", "wp", "twp", "h",
    }  # fmt: skip


@pytest.mark.parametrize("code", KNOWN)
def test_terms_of_school_mathematics_are_in_the_tables(code: str) -> None:
    for concept, wanted in KNOWN[code].items():
        stems = {tuple(analyze(form, code)) for form in GLOSSARY[concept].forms[code]}
        found = {stem for form in stems for stem in form}
        assert set(analyze(wanted, code)) <= found, (concept, GLOSSARY[concept].forms[code])


def test_terms_in_a_sentence_are_translated_to_english() -> None:
    assert GLOSSARY.gloss("Die Ableitung ist eine Funktion", "de", "en") == (
        "Die derivative ist eine function"
    )
    assert "prime number" in GLOSSARY.gloss("求所有素数的和", "zh", "en")
    assert "triangle" in GLOSSARY.gloss("ত্রিভুজ", "bn", "en")


def test_english_terms_are_expanded_to_a_further_language() -> None:
    assert (
        set(analyze("Primzahl", "de")) <= dict(GLOSSARY.expand("prime number", "en", "de")).keys()
    )


def test_terms_of_one_further_language_are_translated_to_another() -> None:
    assert "triangolo" in GLOSSARY.gloss("Dreieck", "de", "it")


@pytest.mark.thorough
def test_a_search_finds_concepts_by_terms_of_further_languages() -> None:
    assert GLOSSARY.search("primzahl")[0].id == "prime-number"


def test_a_written_table_is_read_back_unchanged(tmp_path: Path) -> None:
    terms = further_terms("de")
    path = tmp_path / "de.tsv"
    english = {concept.id: concept.term("en") for concept in GLOSSARY}
    path.write_text("".join(table_lines(terms, "de", english)), encoding="utf-8")
    assert read_table(path, "de") == terms


def test_a_corrected_table_is_used_in_place_of_the_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "de.tsv").write_text(
        f"concept\tforms\tsources\nprime-number\tUrzahl\t{REVIEWED}\n", encoding="utf-8"
    )
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert further_terms("de")["prime-number"].is_reviewed
    assert GLOSSARY["prime-number"].term("de") == "Urzahl"
    assert GLOSSARY["prime-number"].term("fr")
    monkeypatch.delenv(FOLDER_VARIABLE)
    assert GLOSSARY["prime-number"].term("de") == "Primzahl"


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("", "must name the columns"),
        ("concept\tforms\n", "missing: sources"),
        ("concept\tforms\tsources\nsum\tSumme\n", "has 2 columns"),
        ("concept\tforms\tsources\nsum\tсумма\tt\n", "script of German"),
        ("concept\tforms\tsources\nsum\tSumme | Summe\tt\n", "same form twice"),
        ("concept\tforms\tsources\nsum\tSumme | \tt\n", "empty form"),
        ("concept\tforms\tsources\nsum\tS\tt\nsum\tT\tt\n", "there twice"),
        (f"concept\tforms\tsources\nsum\t{'S' * 200}\tt\n", "more than 100 characters"),
    ],
)
def test_a_wrong_table_is_refused_with_the_problem(
    tmp_path: Path, table: str, problem: str
) -> None:
    path = tmp_path / "de.tsv"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_table(path, "de")


@pytest.mark.parametrize("code", ["../de", "xx", "", "de.tsv", "a\0b"])
def test_an_unknown_language_code_has_no_terms(code: str) -> None:
    assert further_terms(code) == {}
