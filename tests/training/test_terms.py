"""Terms of further languages are found in word lists and in parallel text."""

import lzma
from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.languages.glossary import Concept
from mathsetu.languages.glossary.further import read_table
from mathsetu.training.terms import Found, TermFinder, write_terms

PAIRS = [
    ("The triangle has three sides", "Das Dreieck hat drei Seiten"),
    ("Draw a triangle on paper", "Zeichne ein Dreieck auf Papier"),
    ("This triangle is large", "Dieses Dreieck ist groß"),
    ("Every triangle has an area", "Jedes Dreieck hat eine Fläche"),
    ("A triangle and a circle", "Ein Dreieck und ein Kreis"),
    ("The house is large", "Das Haus ist groß"),
    ("We draw a house", "Wir zeichnen ein Haus"),
]
CONCEPTS = [
    Concept("triangle", "geometry", {"en": ("triangle", "triangles")}),
    Concept("sum", "arithmetic", {"en": ("sum", "total")}),
    Concept("bank", "discourse", {"en": ("bank",)}),
]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    def write(name: str, rows: list[tuple[str, ...]]) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lzma.compress("".join("\t".join(row) + "\n" for row in rows).encode()))

    write("parallel.en-de.tsv.xz", [(english, other, "test") for english, other in PAIRS])
    write("dict/terms-en-de.tsv.xz", [("Sum", "Summe"), ("sum", "Summe ..."), ("total", "Gesamt")])
    write("dict/words-en-de.tsv.xz", [("triangle", "Triangel"), ("bank", "Bank"), ("sum", "сумма")])
    return tmp_path


def test_text_proposes_a_term_where_lists_mean_something_else(raw: Path) -> None:
    [triangle, *_] = TermFinder(raw, "de").find(CONCEPTS)
    assert triangle.concept == "triangle"
    assert triangle.forms[0] == "Dreieck"
    assert "p" in triangle.sources


def test_a_list_is_taken_where_there_is_no_text_but_not_other_scripts_or_signs(raw: Path) -> None:
    found = {one.concept: one for one in TermFinder(raw, "de").find(CONCEPTS)}
    assert found["sum"] == Found("sum", ("Summe",), "t")


def test_everyday_words_need_text_that_agrees(raw: Path) -> None:
    assert "bank" not in {one.concept for one in TermFinder(raw, "de").find(CONCEPTS)}


def test_tables_are_written_as_they_are_read(raw: Path, tmp_path: Path) -> None:
    count = write_terms(raw, "de", tmp_path / "tables")
    terms = read_table(tmp_path / "tables" / "de.tsv", "de")
    assert len(terms) == count
    assert terms["triangle"].forms[0] == "Dreieck"
    assert not terms["triangle"].is_reviewed


def test_a_language_without_a_table_of_its_own_is_refused(raw: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'es' has no table"):
        write_terms(raw, "es", tmp_path)
