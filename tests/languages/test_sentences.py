"""Posts are split into sentences and clauses, and no text is lost."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.languages.sentences import clauses, sentences
from tests.timing import assert_grows_at_most

PIECES = st.sampled_from(
    ["QZ1", "word", "e.g.", "A.", "5!", ". ", "? ", "।", "؟ ", "…", "。", "\n", "\n\n", "- ", "1. ",
     ",", " ", "संख्या"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(10, 50))
def test_the_joined_sentences_are_the_text(text: str, longest: int) -> None:
    assert "".join(sentences(text, longest)) == text


@given(st.text() | st.lists(PIECES, max_size=60).map("".join))
def test_the_joined_sentences_and_the_joined_clauses_of_any_text_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text
    assert "".join(clauses(text)) == text


@pytest.mark.parametrize(
    "ends",
    [". ", ".) ", "! ", "? ", "… ", "; ", ": ", "؟ ", "؛ ", "। ", "।", "。", "；", "\n\n", "\n- "],
)
@pytest.mark.parametrize("after", ["Numbers", "numbers", "संख्या"])
def test_a_clause_ends_at_a_stop(ends: str, after: str) -> None:
    assert "".join(clauses(f"primes{ends}{after}")[1:]).endswith(after)


@pytest.mark.parametrize(
    "text",
    [
        "the St. Petersburg paradox",
        "the theorem of Prof. Smith",
        "a number, i.e. an integer",
        "3.5 metres",
        "an equation of 2. order",
        "5! permutations and n! orders",
        "L. Euler",
        "prime\nnumbers",
        "at 10:30, in 3:1",
    ],
)
def test_a_clause_does_not_end_at_an_abbreviation_or_a_number(text: str) -> None:
    assert clauses(text) == [text]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is even. It is prime.", 2),
        ("Is QZ1 even? Yes! Good.", 3),
        ("Sea QZ1 par. ¿Es primo? Sí.", 3),
        ("क्या QZ1 सम है? हाँ। सिद्ध कीजिए।", 3),
        ("آیا QZ1 زوج است؟ بله. ثابت کنید.", 3),
        ("这是偶数。那是素数！", 2),
        ("First part\n\nSecond part", 2),
        ("Show:\n- one\n- two", 3),
        ("He said “It is even.” Then he left.", 2),
        ("Pi is about 3.14 and e is 2.71.", 1),
        ("Use a group, e.g. Q or Z, cf. Lang.", 1),
        ("See Fig. 3 and Thm. 4 of Prof. Novak.", 1),
        ("By J. Smith and P. Erdős.", 1),
        ("Např. Pythagorova věta, tzv. Velká.", 1),
        ("There are 5! ways and n! others.", 1),
        ("1. Prove it.", 1),
        ("The case ... is open. Wait.", 2),
        ("What is it?) it goes on", 1),
    ],
)
def test_a_text_is_split_into_the_right_number_of_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count, sentences(text)


def test_a_long_sentence_is_cut_at_a_comma() -> None:
    text = "a word " * 10 + "and so on, " + "then more " * 5
    assert sentences(text, 100)[0].endswith("on, ")


def test_a_long_sentence_without_commas_is_cut_at_a_space() -> None:
    assert sentences("word " * 30, 52)[0] == "word " * 10


def test_a_script_without_spaces_is_cut_between_letters() -> None:
    assert [len(piece) for piece in sentences("数" * 250, 100)] == [100, 100, 50]


def test_masks_are_never_cut() -> None:
    text = "ใ" * 95 + "QZ12345678" + "ใ" * 20
    assert any("QZ12345678" in piece for piece in sentences(text, 100))


@pytest.mark.thorough
@pytest.mark.parametrize("unit", [". ", "a. ", "word ", "x", "数", ", ", "\n", "!?", "e.g. "])
def test_splitting_takes_linear_time(unit: str) -> None:
    small, large = (partial(sentences, unit * (size // len(unit))) for size in (20_000, 200_000))
    assert_grows_at_most(20, small, large)
