"""Stage 1: which texts are used for training, and which are not."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.training.encoder.nepali import near_nepali
from mathsetu.training.encoder.overlap import Overlap
from mathsetu.training.encoder.prepare import prepare, unseen_texts
from mathsetu.training.encoder.sources import LANGUAGES, PARALLEL, answered, translations
from tests.training.encoder.raw import (
    NUMBERS,
    SENTENCES,
    TOPIC,
    UNSEEN_WORD,
    make_raw,
    read_lines,
    write_lines,
)

pytestmark = pytest.mark.thorough

HELD_OUT = 7


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_raw(tmp_path_factory.mktemp("raw") / "data")


@pytest.fixture(scope="module")
def prepared(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[str]]:
    folder = tmp_path_factory.mktemp("prepared")
    return folder, prepare(raw, [TOPIC], folder, HELD_OUT)


def held_out(folder: Path) -> list[list[str]]:
    lines = (folder / "held-out.hi.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def test_clean_pairs_of_every_language_are_kept(prepared: tuple[Path, Counter[str]]) -> None:
    folder, counts = prepared
    rows = [line.split("\t") for line in read_lines(folder / "parallel.tsv.xz")]
    assert {row[0] for row in rows} == set(LANGUAGES)
    kept = sum(counts[f"{language}: kept"] for language in PARALLEL)
    assert len(rows) == kept + counts["ne: made of Hindi"]
    assert all(english and other for _, _, english, other in rows)
    assert {row[1] for row in rows} == {"m", ""}


def test_nepali_is_made_from_all_hindi_mathematics_and_a_part_of_the_rest(
    prepared: tuple[Path, Counter[str]],
) -> None:
    rows = [line.split("\t") for line in read_lines(prepared[0] / "parallel.tsv.xz")]
    hindi = {english: (mark, other) for name, mark, english, other in rows if name == "hi"}
    nepali = {english: (mark, other) for name, mark, english, other in rows if name == "ne"}
    assert all(text == (hindi[e][0], near_nepali(hindi[e][1])) for e, text in nepali.items())
    mathematics, rest = (
        {english for english, (mark, _) in hindi.items() if mark == wanted} for wanted in ("m", "")
    )
    assert mathematics <= set(nepali)
    assert 0 < len(rest & set(nepali)) < len(rest)


def test_generated_nepali_that_overlaps_a_topic_is_dropped(tmp_path: Path) -> None:
    hindi = "समीकरण के दोनों पक्षों को मेरे लिए बार बार और आसानी से हल कीजिए और फिर से लिखिए।"
    data = make_raw(tmp_path / "raw")
    path = data / "parallel.en-hi.tsv.xz"
    pair = f"Solve both sides of the equation for me, again and again.\t{hindi}\tmathigon"
    write_lines(path, [*read_lines(path), pair])
    prepare(data, [near_nepali(hindi)], tmp_path / "prepared", HELD_OUT)
    kept = [
        line for line in read_lines(tmp_path / "prepared" / "parallel.tsv.xz") if "for me" in line
    ]
    assert [line.split("\t")[0] for line in kept] == ["hi"]


def test_texts_that_share_ten_words_with_a_topic_are_dropped(
    prepared: tuple[Path, Counter[str]],
) -> None:
    folder, counts = prepared
    for name in ("parallel.tsv.xz", "answered.jsonl.xz"):
        assert not any("nine guests" in line for line in read_lines(folder / name))
    assert all(counts[f"{language}: overlaps a topic"] == 1 for language in PARALLEL)
    assert counts["questions: overlaps a topic"] == 1


@pytest.mark.exhaustive
def test_without_topics_the_same_texts_are_kept(raw: Path, tmp_path: Path) -> None:
    counts = prepare(raw, [], tmp_path, HELD_OUT)
    assert not counts["es: overlaps a topic"]
    assert any("nine guests" in line for line in read_lines(tmp_path / "parallel.tsv.xz"))


def test_sources_for_validation_are_never_used(
    raw: Path, prepared: tuple[Path, Counter[str]]
) -> None:
    assert any(UNSEEN_WORD in line for line in read_lines(raw / "parallel.en-hi.tsv.xz"))
    for language in PARALLEL:
        sources = {pair.source for pair in translations(raw, language)}
        assert sources
        assert not sources & {"ntrex", "flores"}
    for file in prepared[0].iterdir():
        text = file.read_text("utf-8") if file.suffix == ".tsv" else str(read_lines(file))
        assert UNSEEN_WORD not in text


def test_interface_texts_with_placeholders_are_dropped(raw: Path) -> None:
    assert not any(pair.source == "debian_mo" for pair in translations(raw, "es"))


def test_held_out_pairs_are_not_used_for_training(
    prepared: tuple[Path, Counter[str]],
) -> None:
    folder, counts = prepared
    pairs = held_out(folder)
    assert len(pairs) == HELD_OUT
    trained = "\n".join(read_lines(folder / "parallel.tsv.xz")).casefold()
    for english, hindi in pairs:
        # Neither with this translation nor with one in another language.
        assert english.casefold() not in trained
        assert hindi.casefold() not in trained
    every_second = len(NUMBERS) * len(SENTENCES["en"]) // 2
    assert counts["hi: near a held-out pair"] >= HELD_OUT
    assert counts["hi: kept"] <= 2 * every_second - HELD_OUT


@pytest.mark.exhaustive
def test_held_out_pairs_do_not_depend_on_the_order_of_texts(
    raw: Path, prepared: tuple[Path, Counter[str]], tmp_path: Path
) -> None:
    turned = tmp_path / "turned"
    make_raw(turned)
    path = turned / "parallel.en-hi.tsv.xz"
    write_lines(path, reversed(read_lines(path)))
    prepare(turned, [TOPIC], tmp_path / "prepared", HELD_OUT)
    assert held_out(tmp_path / "prepared") == held_out(prepared[0])


@pytest.mark.exhaustive
def test_a_question_equal_to_a_held_out_text_is_dropped_even_if_it_is_short(tmp_path: Path) -> None:
    raw = make_raw(tmp_path / "raw")
    prepare(raw, [], tmp_path / "first", 1)
    [[english, _]] = held_out(tmp_path / "first")
    row = {"q": english, "a": "It is so.", "src": "own", "lang": "en"}
    write_lines(raw / "qa.jsonl.xz", [json.dumps(row), *read_lines(raw / "qa.jsonl.xz")])
    counts = prepare(raw, [], tmp_path / "second", 1)
    assert counts["questions: near a held-out pair"] == 1
    kept = "\n".join(read_lines(tmp_path / "second" / "answered.jsonl.xz"))
    assert english not in kept


def test_duplicate_pairs_are_read_once(tmp_path: Path) -> None:
    pair = "Half of the cake is left.\tQueda la mitad del pastel.\ttatoeba"
    other_case = "HALF of the cake is left.\tQueda la mitad del pastel.\ttatoeba"
    write_lines(tmp_path / "parallel.en-es.tsv.xz", [pair, pair, other_case])
    assert len(list(translations(tmp_path, "es"))) == 1


def test_remarks_in_dictionaries_are_not_read_as_words(prepared: tuple[Path, Counter[str]]) -> None:
    [text] = read_lines(prepared[0] / "lexicon.json.xz")
    lexicons = json.loads(text)
    assert set(lexicons) == {*PARALLEL, "ne"}
    assert lexicons["es"]["cake"] == ["pastel"]
    assert lexicons["ne"]["cake"] == lexicons["hi"]["cake"] == ["केक"]
    assert all("guest" not in lexicon for lexicon in lexicons.values())


def test_words_are_learned_from_the_parallel_text(prepared: tuple[Path, Counter[str]]) -> None:
    [text] = read_lines(prepared[0] / "lexicon.json.xz")
    lexicons = json.loads(text)
    # No dictionary of the raw folder has these words.
    assert "equation" in lexicons["es"]
    assert "शेषफल" in lexicons["hi"]["remainder"]
    assert "by" in lexicons["cs"]


@pytest.mark.parametrize("compressed", [False, True])
def test_topics_are_read_from_tables_and_from_json_lines(tmp_path: Path, compressed: bool) -> None:
    suffix, opened = (".gz", gzip.open) if compressed else ("", open)
    table, lines = tmp_path / f"topics.tsv{suffix}", tmp_path / f"queries.jsonl{suffix}"
    with opened(table, "wt", encoding="utf-8") as file:
        file.write(f"A.1\tGuests\t{TOPIC}\n")
    with opened(lines, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"id": 7, "question": TOPIC}) + "\n")
    assert list(unseen_texts([table, lines])) == ["A.1", "Guests", TOPIC, TOPIC]


def test_ten_words_in_a_row_are_an_overlap_and_nine_are_not() -> None:
    words = "one two three four five six seven eight nine ten".split()
    known = Overlap([" ".join(words)])
    assert known.overlaps(f"zero, {' '.join(words).upper()}; eleven!")
    assert not known.overlaps(" ".join(words[:9]))
    assert not known.overlaps(" ".join([*words[:5], "and", *words[5:]]))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["one\ttwo"], "parallel.en-hi.tsv.xz line 1: needs English, translation and source"),
        (["a\tb\tc", "a\tb\tc\td"], "parallel.en-hi.tsv.xz line 2: needs English"),
    ],
)
def test_the_error_for_a_bad_row_names_its_line(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    write_lines(tmp_path / "parallel.en-hi.tsv.xz", lines)
    with pytest.raises(InputError, match=message):
        list(translations(tmp_path, "hi"))


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"q": 1, "a": "x", "lang": "en", "src": "s"}'])
def test_the_error_for_a_bad_question_names_its_line(tmp_path: Path, line: str) -> None:
    write_lines(tmp_path / "qa.jsonl.xz", [line])
    with pytest.raises(InputError, match=r'qa\.jsonl\.xz line 1: needs "q", "a"'):
        list(answered(tmp_path))


def test_damaged_and_missing_files_are_refused(raw: Path, tmp_path: Path) -> None:
    whole = (raw / "parallel.en-es.tsv.xz").read_bytes()
    (tmp_path / "parallel.en-es.tsv.xz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "parallel.en-cs.tsv.xz").write_bytes(b"no archive")
    for language in ("es", "cs", "fa"):
        with pytest.raises(InputError, match=f"en-{language}.tsv.xz: cannot be read"):
            list(translations(tmp_path, language))
    (tmp_path / "topics.jsonl").write_text('{"question": \n', encoding="utf-8")
    with pytest.raises(InputError, match=r"topics\.jsonl line 1: is not JSON"):
        list(unseen_texts([tmp_path / "topics.jsonl"]))
    with pytest.raises(InputError, match=r"nowhere\.tsv: cannot be read"):
        list(unseen_texts([tmp_path / "nowhere.tsv"]))
