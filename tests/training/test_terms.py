"""Terms of further languages are found in word lists and in parallel text."""

import lzma
from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.languages.glossary import Concept
from mathsetu.languages.glossary.further import FOLDER_VARIABLE, read_table
from mathsetu.training.terms import TermFinder, TermForms, confirms, write_terms

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


def test_parallel_text_gives_a_term_where_word_lists_have_another_meaning(raw: Path) -> None:
    [triangle, *_] = TermFinder(raw, "de").find(CONCEPTS)
    assert triangle.concept == "triangle"
    assert triangle.forms[0] == "Dreieck"
    assert "p" in triangle.sources


def test_a_word_list_gives_terms_but_not_in_other_scripts_or_with_signs(raw: Path) -> None:
    found = {one.concept: one for one in TermFinder(raw, "de").find(CONCEPTS)}
    assert found["sum"] == TermForms("sum", ("Summe",), "t")


def test_everyday_words_must_be_confirmed_by_parallel_text(raw: Path) -> None:
    assert "bank" not in {one.concept for one in TermFinder(raw, "de").find(CONCEPTS)}


@pytest.mark.thorough
def test_written_tables_can_be_read(raw: Path, tmp_path: Path) -> None:
    count = write_terms(raw, "de", tmp_path / "tables")
    terms = read_table(tmp_path / "tables" / "de.tsv", "de")
    assert len(terms) == count
    assert terms["triangle"].forms[0] == "Dreieck"
    assert not terms["triangle"].is_reviewed


def test_a_language_without_its_own_table_is_refused(raw: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'es' has no table"):
        write_terms(raw, "es", tmp_path)


def test_a_term_from_one_weak_source_must_be_confirmed(raw: Path) -> None:
    text = [("A very small value", "Ein sehr kleinster Wert", "test")] * 6
    (raw / "parallel.en-de.tsv.xz").write_bytes(
        lzma.compress(
            "".join("\t".join(row) + str(n) + "\n" for n, row in enumerate(text)).encode()
        )
    )
    small = Concept("small", "discourse", {"en": ("small",)})
    found = {one.concept: one for one in TermFinder(raw, "de").find([small])}
    assert "small" not in found or "Wert" not in found["small"].forms[0]


def test_every_word_of_a_term_must_mean_a_word_of_the_concept() -> None:
    shortest = Concept("shortest", "discourse", {"en": ("shortest", "short")})
    assert confirms("kürzeste", shortest, "de")
    assert confirms("kürzeste Route", shortest, "de") is False
    assert confirms("xqzwv", shortest, "de") is None


def test_every_word_of_the_concept_must_be_translated() -> None:
    equation = Concept("linear-equation", "algebra", {"en": ("linear equation",)})
    assert confirms("lineare Gleichung", equation, "de")
    assert confirms("lineare Funktion", equation, "de") is False


def test_a_script_without_spaces_has_terms_of_one_or_more_characters(tmp_path: Path) -> None:
    sentences = [
        ("Draw a triangle here", "在这里画一个三角形"),
        ("The triangle is large", "三角形很大"),
        ("This triangle has a point", "这个三角形有一个点"),
        ("Every triangle has an area", "每个三角形都有面积"),
        ("The area of a triangle", "三角形的面积"),
        ("The side of a triangle", "三角形的边"),
        ("A point lies on paper", "纸上有点"),
        ("Mark that point now", "现在标出那个点"),
        ("One point is missing", "少了点"),
        ("The house is large", "房子很大"),
    ]
    rows = "".join(f"{english}\t{other}\ttest\n" for english, other in sentences)
    (tmp_path / "parallel.en-zh.tsv.xz").write_bytes(lzma.compress(rows.encode()))
    concepts = [
        Concept("triangle", "geometry", {"en": ("triangle",)}),
        Concept("point", "geometry", {"en": ("point",)}),
    ]
    found = {one.concept: one.forms[0] for one in TermFinder(tmp_path, "zh").find(concepts)}
    assert found == {"triangle": "三角形", "point": "点"}


def test_one_syllable_may_confirm_a_vietnamese_term() -> None:
    theorem = Concept("theorem", "logic", {"en": ("theorem",)})
    assert confirms("định lý", theorem, "vi")
    assert confirms("con chó", theorem, "vi") is False


@pytest.mark.thorough
def test_a_revised_table_drops_wrong_terms_and_keeps_the_rest(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "de.tsv").write_text(
        "concept\tforms\tsources\n"
        "greatest\tgemeinsamen Teiler\tp\n"
        "sum\tSumme\tw\n"
        "circle\tKringel\ttw\n"
        "line\tLinie\treviewed\n",
        encoding="utf-8",
    )
    monkeypatch.setenv(FOLDER_VARIABLE, str(own))
    write_terms(raw, "de", tmp_path / "tables", revise=True)
    terms = read_table(tmp_path / "tables" / "de.tsv", "de")
    assert "greatest" not in terms
    assert (terms["sum"].forms, terms["sum"].sources) == (("Summe",), "w")
    assert terms["circle"].forms == ("Kringel",)
    assert terms["line"].is_reviewed
    assert terms["triangle"].forms[0] == "Dreieck"  # it was missing
