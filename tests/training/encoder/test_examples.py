"""Stage 2: examples with the same meaning in two languages, determined by a seed."""

import random
import re
from importlib import resources
from pathlib import Path
from string import Formatter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.training import encoder
from mathsetu.training.encoder.code_switching import Lexicon, make_lexicon
from mathsetu.training.encoder.examples import (
    Amounts,
    Example,
    Packed,
    StageFiles,
    Work,
    example_texts,
    learn_tokenizer,
    pack_examples,
    read_prepared,
)
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.prepare import prepare
from mathsetu.training.encoder.sources import LANGUAGES
from mathsetu.training.encoder.tokenizer import load_tokenizer, train_tokenizer
from tests.training.encoder.raw import make_raw, write_lines

pytestmark = pytest.mark.thorough

FEW = Amounts(joined=60, swapped=70, templates=80)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("examples")
    prepare(make_raw(place / "raw"), [], place / "prepared", 5)
    return place / "prepared"


@pytest.fixture(scope="module")
def prepared(folder: Path) -> StageFiles:
    return read_prepared(folder)


@pytest.fixture(scope="module")
def tokenizer(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("work")
    learn_tokenizer(folder, work, 500, FEW, 1)
    return work / "tokenizer.json"


def of_kind(prepared: StageFiles, kind: str, seed: int = 1) -> list[Example]:
    return [example for example in example_texts(prepared, FEW, seed) if example.kind == kind]


def test_the_requested_numbers_of_examples_are_made(prepared: StageFiles) -> None:
    pairs = sum(map(len, prepared.pairs.values()))
    kinds = [example.kind for example in example_texts(prepared, FEW)]
    assert len(kinds) == pairs + 60 + 70 + 80
    made = {kind: kinds.count(kind) for kind in ("joined", "swapped", "templates")}
    assert made == {"joined": 60, "swapped": 70, "templates": 80}


def test_the_same_seed_gives_the_same_examples_and_another_seed_others(
    prepared: StageFiles,
) -> None:
    first, again = (list(example_texts(prepared, FEW, seed=3)) for _ in range(2))
    assert first == again
    assert list(example_texts(prepared, FEW, seed=4)) != first


def test_the_number_of_processes_does_not_change_the_examples(
    prepared: StageFiles, tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathsetu.training.encoder.examples._PORTION", 25)
    work = Work(prepared, tokenizer, tokenizer, limit=24, seed=3)
    heard: list[int] = []

    def packed(processes: int) -> Packed:
        return pack_examples(work, FEW, processes, heard.append)

    one, two = packed(1), packed(2)
    for name in ("english", "other", "teacher"):
        alone, shared = getattr(one, name), getattr(two, name)
        assert (alone.tokens == shared.tokens).all()
        assert (alone.ends == shared.ends).all()
        assert alone.lengths().max() == 24
    assert heard[-1] == len(one.english) == len(one.other) == len(one.teacher)
    assert heard == sorted(heard[: len(heard) // 2]) * 2


@pytest.mark.parametrize("kind", ["joined", "templates"])
def test_both_sides_of_an_example_have_the_same_formulas(prepared: StageFiles, kind: str) -> None:
    examples = of_kind(prepared, kind)
    for example in examples:
        assert sorted(FORMULA.findall(example.english)) == sorted(FORMULA.findall(example.other))
    assert any(FORMULA.search(example.english) for example in examples)


def test_every_language_has_examples_of_each_kind(prepared: StageFiles) -> None:
    for kind in ("swapped", "templates"):
        assert {example.language for example in of_kind(prepared, kind)} == set(LANGUAGES)
    assert {example.language for example in of_kind(prepared, "joined")} == set(prepared.pairs)


def test_most_examples_with_swapped_words_differ_from_the_english_text(
    prepared: StageFiles,
) -> None:
    examples = of_kind(prepared, "swapped")
    changed = sum(example.english != example.other for example in examples)
    assert changed > 0.9 * len(examples)


words = st.sampled_from(["prime number", "Is", "cat", "sum", "of", ",", "?", "\n"])
formulas = st.text(st.characters(exclude_characters="$"), max_size=12).map(lambda f: f"${f}$")


@given(st.lists(st.one_of(words, formulas, st.just("$$ prime number $$"))), st.integers(0, 9))
def test_swaps_do_not_change_formulas(parts: list[str], seed: int) -> None:
    lexicon = Lexicon({"prime number": ("primo",), "is": ("es",), "sum": ("suma", "adición")})
    # Separated, so that neighbours do not form one formula with two dollars.
    text = " ".join(parts)
    swapped = lexicon.swap(text, random.Random(seed), share=1.0)
    assert FORMULA.findall(swapped) == FORMULA.findall(text)
    prose = FORMULA.sub(" ", swapped)
    assert "prime number" not in prose
    assert "Is" not in prose


def test_the_longest_known_phrase_is_swapped_as_a_whole() -> None:
    lexicon = Lexicon({"prime": ("primero",), "prime number": ("número primo",)})
    chance = random.Random(1)
    assert lexicon.swap("A Prime Number, a prime", chance, 1.0) == "A número primo, a primero"
    assert lexicon.swap("A Prime Number", chance, 0.0) == "A Prime Number"


def test_the_glossary_takes_precedence_over_dictionaries() -> None:
    entries = [("prime number", "otra cosa"), ("cat", "gato, gata; minino"), ("dog", "can 2")]
    phrases = make_lexicon("es", entries).phrases
    assert "otra cosa" not in phrases["prime number"]
    assert phrases["cat"] == ("gato", "gata", "minino")
    assert "dog" not in phrases
    # Hindi has no articles, Spanish has.
    assert make_lexicon("hi", []).phrases["the"] == ("",)
    assert "the" not in phrases


def template_rows() -> list[list[str]]:
    table = resources.files(encoder) / "templates.tsv"
    return [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]


def test_every_template_exists_in_every_language() -> None:
    header, *rows = template_rows()
    assert header == ["en", *LANGUAGES]
    assert all(len(row) == len(header) and all(map(str.strip, row)) for row in rows)
    assert len({row[0] for row in rows}) == len(rows)


@pytest.mark.parametrize("row", template_rows()[1:], ids=lambda row: row[0])
def test_a_template_has_the_same_slots_in_every_language(row: list[str]) -> None:
    slots = [sorted(name for _, name, _, _ in Formatter().parse(cell) if name) for cell in row]
    assert all(found == slots[0] for found in slots)
    assert set(slots[0]) <= {"f", "g", "t", "u"}


@given(st.lists(st.lists(st.integers(0, 65_535), max_size=6), max_size=8))
def test_packs_keep_every_text(rows: list[list[int]]) -> None:
    pack = Pack.of(rows)
    assert len(pack) == len(rows)
    assert texts_of(pack) == rows
    order = np.arange(len(rows))[::-1]
    assert texts_of(pack.take(order)) == rows[::-1]
    assert texts_of(Pack.join([pack, pack])) == rows * 2


def texts_of(pack: Pack) -> list[list[int]]:
    return [
        pack.tokens[start:end].tolist()
        for start, end in zip(pack.ends[:-1], pack.ends[1:], strict=True)
    ]


def test_saved_packs_are_loaded_unchanged(tmp_path: Path) -> None:
    Pack.of([[5, 6], [], [7]]).save(tmp_path / "pack.npz")
    assert texts_of(Pack.load(tmp_path / "pack.npz")) == [[5, 6], [], [7]]


def test_the_tokenizer_normalises_spellings_and_has_tokens_for_latex() -> None:
    texts = ["the fraction \\frac{a}{b} of numbers", "عدد یک کتاب", "x^2 + y_n = 12"] * 4
    tokenizer = train_tokenizer(texts, 300)

    def tokens(text: str) -> list[str]:
        return list(tokenizer.encode(text).tokens)

    assert tokens("The  FRACTION") == tokens("the fraction")
    assert tokens("$\\left( x \\right)$") == tokens("( x )")
    assert any("\\frac" in token for token in tokens("\\frac{a}{b}"))
    assert any(token.endswith("^2") for token in tokens("x^2"))
    assert tokens("كتاب") == tokens("کتاب")
    assert tokenizer.token_to_id("[PAD]") == 0
    assert tokens("") == []


@pytest.mark.parametrize(("largest", "bytes_each"), [(65_535, 2), (65_536, 4)])
def test_tokens_take_four_bytes_only_if_two_do_not_suffice(largest: int, bytes_each: int) -> None:
    pack = Pack.of([[1, largest], [7]])
    assert pack.tokens.itemsize == bytes_each
    assert texts_of(pack) == [[1, largest], [7]]


def test_a_folder_that_was_not_prepared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no parallel\.tsv\.xz; run 'mathsetu train enc"):
        read_prepared(tmp_path)


def test_examples_need_english_questions_with_formulas(folder: Path, tmp_path: Path) -> None:
    for name in ("parallel.tsv.xz", "lexicon.json.xz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    write_lines(tmp_path / "answered.jsonl.xz", ['["¿Cuánto es $2+2$?", "Cuatro", "es"]'])
    with pytest.raises(InputError, match="English questions with formulas"):
        read_prepared(tmp_path)


def test_a_file_that_is_not_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"tokenizer\.json: is not a tokenizer"):
        load_tokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(InputError, match="there is no such file; make the examples first"):
        load_tokenizer(tmp_path / "nowhere.json")
