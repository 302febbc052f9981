"""Words learned from parallel text: the shipped tables, and lookups in them."""

import gzip
from pathlib import Path

import pytest

from mathsetu.languages.analyze import analyze
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.learned import FOLDER, LearnedWords
from mathsetu.languages.table import FURTHER, ROWS

TABLES = sorted(FOLDER.glob("*.tsv.gz"))
# Words of school exercises that are not terms of mathematics, and a required translation.
EVERYDAY = {
    "cs": {"jablko": "apple", "škola": "school", "voda": "water"},
    "es": {"manzana": "apple", "escuela": "school", "agua": "water"},
    "fa": {"مدرسه": "school", "آب": "water", "کتاب": "book"},
    "hi": {"विद्यालय": "school", "पानी": "water", "पुस्तक": "book"},
    "hr": {"jabuka": "apple", "škola": "school", "voda": "water"},
    "ne": {"घर": "house", "पुस्तक": "book", "विद्यालय": "school"},
}


def meanings(word: str, source: str, target: str) -> set[str]:
    table = LearnedWords.load(source, target)
    return {
        term
        for own in analyze(word, source)
        for form, _ in table.translations(own)
        for term in analyze(form, target)
    }


def test_every_language_but_thai_has_a_table_to_english_and_six_have_one_from_it() -> None:
    names = {path.name.removesuffix(".tsv.gz") for path in TABLES}
    both = {pair for code in EVERYDAY for pair in (f"{code}-en", f"en-{code}")}
    assert names == both | {f"{code}-en" for code in FURTHER if code != "th"}


@pytest.mark.thorough
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_every_line_has_a_term_with_its_translations_and_sorted_probabilities(path: Path) -> None:
    source, target = path.name.removesuffix(".tsv.gz").split("-")
    assert {source, target} <= set(ROWS)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert len(lines) > 1_000
    terms = [line.split("\t")[0] for line in lines]
    assert terms == sorted(set(terms))
    for line in lines:
        _, *cells = line.split("\t")
        assert 2 <= len(cells) <= 6
        assert all(cells[::2])
        chances = [int(cell) for cell in cells[1::2]]
        assert chances == sorted(chances, reverse=True)
        assert all(5 <= chance <= 100 for chance in chances)


@pytest.mark.parametrize("language", EVERYDAY)
def test_everyday_words_are_known(language: str) -> None:
    wrong = {
        word: meanings(word, language, "en")
        for word, english in EVERYDAY[language].items()
        if not set(analyze(english, "en")) & meanings(word, language, "en")
    }
    assert not wrong


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "word", "english"),
    [
        ("de", "Schule", "school"),
        ("fr", "école", "school"),
        ("ru", "вода", "water"),
        ("el", "νερό", "water"),
        ("ar", "مدرسة", "school"),
        ("zh", "学校", "school"),
        ("vi", "trường học", "school"),
        ("bn", "জল", "water"),
    ],
)
def test_everyday_words_of_further_languages_are_known(
    language: str, word: str, english: str
) -> None:
    assert english in dict(Glossary.load().expand(word, language, "en"))


def test_an_english_word_is_translated_to_hindi() -> None:
    assert set(analyze("पानी", "hi")) <= meanings("water", "en", "hi")


def test_a_term_is_found_only_as_a_whole() -> None:
    table = LearnedWords("abc\tone\t50\nbc\ttwo\t40\n")
    assert table.translations("bc") == [("two", 0.4)]
    assert table.translations("c") == []
    assert table.translations("") == []


@pytest.mark.parametrize("code", ["../../secret", "a\0b", "x" * 5000, "", "cs-en.tsv.gz"])
def test_an_unknown_language_code_opens_no_file(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "secret-en.tsv.gz").write_bytes(gzip.compress(b"voda\twater\t90\n"))
    monkeypatch.setattr("mathsetu.languages.learned.FOLDER", folder)
    for pair in ((code, "en"), ("en", code)):
        assert LearnedWords.load(*pair).translations("voda") == []
    assert Glossary.load().expand("voda", code, "en")


def test_a_term_of_the_glossary_keeps_the_weight_of_the_glossary() -> None:
    # A table may also have "number" for číslo; the weight of the glossary stays 1.
    assert dict(Glossary.load().expand("prvočíslo", "cs", "en"))["prime"] == 1.0


def test_the_weight_of_a_learned_word_is_the_probability_of_its_translation() -> None:
    [(word, chance), *_] = LearnedWords.load("cs", "en").translations(analyze("pes", "cs")[0])
    weights = dict(Glossary.load().expand("pes", "cs", "en"))
    assert weights[analyze(word, "en")[0]] == pytest.approx(chance)
    assert "pes" not in weights


def test_names_and_unknown_words_are_kept() -> None:
    assert Glossary.load().expand("Zagier xqzwv", "cs", "en") == [("zagier", 1.0), ("xqzwv", 1.0)]


@pytest.mark.thorough
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_every_term_of_a_table_is_found_and_no_other(path: Path) -> None:
    table = LearnedWords(gzip.decompress(path.read_bytes()).decode())
    terms = table.terms()
    known = set(terms)
    assert terms == sorted(known)
    for term in [*terms[:20], *terms[:: max(1, len(terms) // 50)], *terms[-20:]]:
        assert table.translations(term)
        assert term + "\x01" in known or not table.translations(term + "\x01")
    assert not table.translations("")
    assert not table.translations("\U0010ffff")
