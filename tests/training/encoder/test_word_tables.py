"""Tables of words, learned from parallel text and word lists."""

import gzip
import json
import lzma
from collections.abc import Iterable
from pathlib import Path

import pytest

from mathsetu.languages.learned import LearnedWords
from mathsetu.training.encoder.sources import translations
from mathsetu.training.encoder.word_tables import term_table, write_word_tables
from tests.training.encoder.command import call

PAIRS = [
    ("The red house", "červený dům"),
    ("a red fish", "červená ryba"),
    ("the fish in the house", "ryby v domě"),
    ("two houses", "dva domy"),
]


def raw_texts(folder: Path, language: str, pairs: Iterable[tuple[str, str]]) -> Path:
    """A folder of raw texts with each pair three times, made distinct by numbers."""
    folder.mkdir(exist_ok=True)
    path = folder / f"parallel.en-{language}.tsv.xz"
    with lzma.open(path, "wt", encoding="utf-8") as file:
        for number in range(3):
            file.writelines(f"{one} {number}\t{two} {number}\ttatoeba\n" for one, two in pairs)
    return folder


def table_in(folder: Path, name: str) -> LearnedWords:
    return LearnedWords(gzip.decompress((folder / f"{name}.tsv.gz").read_bytes()).decode())


def test_a_table_is_written_for_each_direction(tmp_path: Path) -> None:
    counts = write_word_tables(raw_texts(tmp_path, "cs", PAIRS), ["cs"], [], tmp_path)
    assert set(counts) == {"en-cs", "cs-en"}
    table = table_in(tmp_path, "cs-en")
    assert len(table.terms()) == counts["cs-en"]
    # The forms of a word are one term (ryba, ryby), unless the vowel changes (dům, domě).
    assert table.translations("ryb")[0][0] == "fish"
    # The most frequent form is written.
    assert table_in(tmp_path, "en-cs").translations("fish")[0][0] in ("ryba", "ryby")


def test_the_same_texts_give_the_same_files(tmp_path: Path) -> None:
    source = raw_texts(tmp_path / "raw", "cs", PAIRS)
    for name in ("one", "two"):
        write_word_tables(source, ["cs"], [], tmp_path / name)
    first, second = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_word_lists_are_used_in_both_directions(tmp_path: Path) -> None:
    raw = raw_texts(tmp_path, "cs", PAIRS)
    (raw / "dict").mkdir()
    with lzma.open(raw / "dict" / "words-en-cs.tsv.xz", "wt", encoding="utf-8") as file:
        file.write("shelf\tregál\nshelf\tregál\n")
    write_word_tables(raw, ["cs"], [], tmp_path)
    assert table_in(tmp_path, "cs-en").translations("regal")[0][0] == "shelf"
    assert table_in(tmp_path, "en-cs").translations("shelf")[0][0] == "regál"


def test_stop_words_are_not_translations() -> None:
    pairs = [("ryba", "the fish")] * 4 + [("dům", "the house")] * 4
    lines = term_table(pairs, [], "cs", "en")
    assert lines
    assert all("\tthe\t" not in line for line in lines)


def test_words_with_the_same_stem_are_not_confused() -> None:
    pairs = [("Äquator", "the equator")] * 4 + [("Gleichung", "an equation")] * 4
    lines = term_table(pairs, [], "de", "en")
    said = [line.split("\t")[:2] for line in lines]
    assert said == [["aquator", "equator"], ["gleichung", "equation"]]


def test_words_frequent_in_mathematics_are_likelier_translations(tmp_path: Path) -> None:
    # "Character" is more frequent in the pairs, "sign" in mathematics.
    pairs = [("znak", "character")] * 6 + [("znak", "sign")] * 5
    [line] = term_table(pairs, [], "hr", "en")
    assert line.split("\t")[1::2] == ["character", "sign"]
    said = {"sign": 90, "charact": 10}
    [line] = term_table(pairs, [], "hr", "en", said)
    word, chance, other, rest = line.rstrip().split("\t")[1:]
    assert (word, other) == ("sign", "character")
    # 5/11 x .9/(5/11) and 6/11 x .1/(6/11), which sum to 1.
    assert (int(chance), int(rest)) == (90, 10)
    raw = raw_texts(tmp_path, "hr", [("a character", "znak"), ("the sign", "znak")])
    with lzma.open(raw / "qa.jsonl.xz", "wt", encoding="utf-8") as file:
        row = {"q": "What is the sign of x?", "a": "The sign is 1.", "src": "", "lang": "en"}
        file.write(json.dumps(row) + "\n")
    write_word_tables(raw, ["hr"], [], tmp_path)
    assert table_in(tmp_path, "hr-en").translations("znak")[0][0] == "sign"
    # The table from English has only words that occur in mathematics.
    assert table_in(tmp_path, "en-hr").terms() == ["sign"]
    # Texts that must stay unseen do not count for the frequency of a word.
    row["q"] = "What is the sign of x if it is larger than its own square?"
    with lzma.open(raw / "qa.jsonl.xz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    write_word_tables(raw, ["hr"], [row["q"]], tmp_path)
    chances = [chance for _, chance in table_in(tmp_path, "hr-en").translations("znak")]
    assert chances[0] == pytest.approx(chances[1], abs=0.02)


@pytest.mark.thorough
def test_nepali_is_also_learned_from_hindi_converted_to_near_nepali(tmp_path: Path) -> None:
    raw = raw_texts(tmp_path, "ne", [("a book", "किताब")])
    with lzma.open(raw / "parallel.en-hi.tsv.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"the triangle {n}\tत्रिभुज {n}\tncert\n" for n in range(4))
    write_word_tables(raw, ["ne"], [], tmp_path)
    table = table_in(tmp_path, "ne-en")
    assert "triangle" in {word for term in table.terms() for word, _ in table.translations(term)}
    assert "book" in {word for term in table.terms() for word, _ in table.translations(term)}


def test_the_command_writes_tables_and_lists_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = raw_texts(tmp_path / "raw", "cs", PAIRS)
    assert call("words", raw, tmp_path / "tables", "--languages", "cs") == 0
    assert "cs-en" in capsys.readouterr().out
    assert (tmp_path / "tables" / "en-cs.tsv.gz").exists()


def test_the_error_names_a_damaged_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = raw_texts(tmp_path / "raw", "cs", PAIRS)
    damaged = source / "parallel.en-cs.tsv.xz"
    damaged.write_bytes(damaged.read_bytes()[:40])
    assert call("words", source, tmp_path / "tables", "--languages", "cs") != 0
    assert "parallel.en-cs.tsv.xz: cannot be read" in capsys.readouterr().err
    assert not (tmp_path / "tables").exists()


def test_forms_of_one_word_are_one_translation() -> None:
    pairs = [("sie gehen", "they walk"), ("er gehend", "he walked"), ("gehen nun", "walking now")]
    lines = term_table(pairs * 4, [], "de", "en")
    [line] = [line for line in lines if line.startswith("geh\t")]
    _, word, chance = line.rstrip().split("\t")[:3]
    assert word == "walk"
    assert int(chance) > 90


def test_an_entry_of_a_word_list_alone_is_used_only_if_it_occurs_twice() -> None:
    assert not term_table([], [("Regal", "shelf")], "de", "en")
    assert [
        line.split("\t")[1] for line in term_table([], [("Regal", "shelf")] * 2, "de", "en")
    ] == ["shelf"]


def test_vietnamese_words_have_several_syllables_and_keep_their_tones() -> None:
    pairs = [("trường học lớn", "a big school"), ("chó lớn", "a big dog")] * 6
    table = term_table(pairs, [("trường học", "school"), ("trường học", "school")], "vi", "en")
    terms = {line.split("\t")[0]: line.split("\t")[1] for line in table}
    assert terms["trường học"] == "school"
    assert terms["chó"] == "dog"
    assert "trường" not in terms


def test_syllables_that_always_occur_together_are_one_word() -> None:
    filler = [(f"tiếng{number}", f"word{number}") for number in range(300)]
    pairs = [*[("sinh viên", "a student")] * 9, *filler]
    table = term_table(pairs, [], "vi", "en")
    assert "sinh viên" in {line.split("\t")[0] for line in table}


def test_further_languages_have_only_tables_to_english(
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
