"""Words learned from parallel text: what the shipped tables hold, and how they are asked."""

import gzip
from pathlib import Path

import pytest

from mathsetu.languages.analyze import analyze
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.learned import FOLDER, LearnedWords
from mathsetu.languages.table import FURTHER, ROWS

TABLES = sorted(FOLDER.glob("*.tsv.gz"))
# Words of school exercises that are no terms of mathematics, and what one of them must be.
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


def test_there_is_a_table_to_english_for_every_other_language_and_from_it_for_six() -> None:
    names = {path.name.removesuffix(".tsv.gz") for path in TABLES}
    both = {pair for code in EVERYDAY for pair in (f"{code}-en", f"en-{code}")}
    assert names == both | {f"{code}-en" for code in FURTHER if code != "th"}


@pytest.mark.thorough
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_every_line_is_a_term_with_words_and_chances(path: Path) -> None:
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


def test_english_words_are_known_in_the_other_languages() -> None:
    assert set(analyze("पानी", "hi")) <= meanings("water", "en", "hi")


def test_a_term_is_found_whole_and_not_as_a_part_of_another() -> None:
    table = LearnedWords("abc\tone\t50\nbc\ttwo\t40\n")
    assert table.translations("bc") == [("two", 0.4)]
    assert table.translations("c") == []
    assert table.translations("") == []


@pytest.mark.parametrize("code", ["../../secret", "a\0b", "x" * 5000, "", "cs-en.tsv.gz"])
def test_a_code_that_names_no_table_opens_no_file(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "secret-en.tsv.gz").write_bytes(gzip.compress(b"voda\twater\t90\n"))
    monkeypatch.setattr("mathsetu.languages.learned.FOLDER", folder)
    for pair in ((code, "en"), ("en", code)):
        assert LearnedWords.load(*pair).translations("voda") == []
    assert Glossary.load().expand("voda", code, "en")


def test_what_the_glossary_knows_comes_from_the_glossary() -> None:
    # A table may say "number" for číslo, too; the glossary's weight of 1 stays.
    assert dict(Glossary.load().expand("prvočíslo", "cs", "en"))["prime"] == 1.0


def test_other_words_weigh_as_much_as_their_translation_is_likely() -> None:
    [(word, chance), *_] = LearnedWords.load("cs", "en").translations(analyze("pes", "cs")[0])
    weights = dict(Glossary.load().expand("pes", "cs", "en"))
    assert weights[analyze(word, "en")[0]] == pytest.approx(chance)
    assert "pes" not in weights


def test_names_and_unknown_words_stay_as_they_are() -> None:
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
