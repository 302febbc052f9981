"""Tables of words, learned from a prepared folder."""

import gzip
import lzma
from pathlib import Path

import pytest

from mathsetu.training.encoder.sources import translations
from mathsetu.training.encoder.word_tables import term_table, word_table, write_word_tables
from tests.training.encoder.command import call

PAIRS = [
    ("The red house", "červený dům"),
    ("a red fish", "červená ryba"),
    ("the fish in the house", "ryby v domě"),
    ("two houses", "dva domy"),
]


def prepared(folder: Path) -> Path:
    folder.mkdir()
    with lzma.open(folder / "parallel.tsv.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"cs\t\t{english}\t{other}\n" for english, other in PAIRS * 3)
    return folder


def test_a_table_has_terms_on_one_side_and_words_on_the_other(tmp_path: Path) -> None:
    counts = write_word_tables(prepared(tmp_path / "prepared"), tmp_path / "tables")
    assert set(counts) == {"en-cs", "cs-en"}
    table = gzip.decompress((tmp_path / "tables" / "cs-en.tsv.gz").read_bytes()).decode()
    assert len(table.splitlines()) == counts["cs-en"]
    # All forms of a word are one term: ryba and ryby, dům and domě are not (its vowel changes).
    [fish] = [line for line in table.splitlines() if line.startswith("ryb\t")]
    assert fish.split("\t")[1] == "fish"


def test_the_same_texts_give_the_same_files(tmp_path: Path) -> None:
    source = prepared(tmp_path / "prepared")
    for name in ("one", "two"):
        write_word_tables(source, tmp_path / name)
    first, second = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_stop_words_are_no_translations() -> None:
    lines = word_table([("ryba", "the fish")] * 4 + [("dům", "the house")] * 4, "cs", "en")
    assert lines
    assert all("\tthe\t" not in line for line in lines)


def test_the_command_writes_tables_and_says_how_many_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("words", prepared(tmp_path / "prepared"), tmp_path / "tables") == 0
    assert "cs-en" in capsys.readouterr().out
    assert (tmp_path / "tables" / "en-cs.tsv.gz").exists()


def test_a_folder_that_was_not_prepared_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("words", tmp_path, tmp_path / "tables") != 0
    assert "mathsetu train encoder prepare" in capsys.readouterr().err
    assert not (tmp_path / "tables").exists()


def test_a_damaged_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = prepared(tmp_path / "prepared")
    damaged = source / "parallel.tsv.xz"
    damaged.write_bytes(damaged.read_bytes()[:40])
    assert call("words", source, tmp_path / "tables") != 0
    assert "parallel.tsv.xz: is damaged" in capsys.readouterr().err
    assert not (tmp_path / "tables").exists()


def test_forms_of_one_word_are_one_translation() -> None:
    pairs = [("they walk", "sie gehen"), ("he walked", "er gehend"), ("walking now", "gehen nun")]
    [line] = [line for line in term_table(pairs * 4, [], "de") if line.startswith("geh\t")]
    _, word, chance = line.rstrip().split("\t")[:3]
    assert word == "walk"
    assert int(chance) > 90


def test_a_word_list_counts_as_two_sentences() -> None:
    assert not [line for line in term_table([], [("shelf", "Regal")], "de") if "shelf" in line]
    assert [line for line in term_table([], [("shelf", "Regal")] * 2, "de") if "shelf" in line]


def test_vietnamese_words_have_several_syllables_and_keep_their_tones() -> None:
    pairs = [("a big school", "trường học lớn"), ("a big dog", "chó lớn")] * 6
    table = term_table(pairs, [("school", "trường học"), ("school", "trường học")], "vi")
    terms = {line.split("\t")[0]: line.split("\t")[1] for line in table}
    assert terms["trường học"] == "school"
    assert terms["chó"] == "dog"
    assert "trường" not in terms


def test_syllables_that_keep_together_are_a_word() -> None:
    filler = [(f"word{number}", f"tiếng{number}") for number in range(300)]
    pairs = [*[("a student", "sinh viên")] * 9, *filler]
    table = term_table(pairs, [], "vi")
    assert "sinh viên" in {line.split("\t")[0] for line in table}


def test_tables_of_further_languages_lead_to_english(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    with lzma.open(raw / "parallel.en-de.tsv.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"a dog number {n}\tein Hund Nummer {n}\ttatoeba\n" for n in range(9))
    assert call("words", raw, tmp_path / "tables", "--languages", "de") == 0
    assert "de-en" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["de-en.tsv.gz"]


def test_short_chinese_translations_are_not_dropped(tmp_path: Path) -> None:
    rows = [
        ("The triangle is very large today", "三角形很大", "test"),
        ("The triangle is very large now", "x", "test"),
    ]
    with lzma.open(tmp_path / "parallel.en-zh.tsv.xz", "wt", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in rows)
    assert [pair.other for pair in translations(tmp_path, "zh")] == ["三角形很大"]
