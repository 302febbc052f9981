"""The sentence of a passage that a reason quotes."""

from __future__ import annotations

import numpy as np
import pytest

from mathsetu.encoders.builtin import FAST, BuiltinEncoder
from mathsetu.retrieval.passages import Quotations, _span_of, passages

SENTENCES = [
    "The sum of two even numbers is even. ",
    "Every bounded sequence has a convergent subsequence. ",
    "A triangle with a right angle obeys $a^2 + b^2 = c^2$. ",
    "The derivative of a constant is zero. ",
    "There are infinitely many primes.",
]


@pytest.fixture(scope="module")
def encoder() -> BuiltinEncoder:
    return BuiltinEncoder()


def quotations(encoder: BuiltinEncoder, text: str, passage: int = 0, size: int = 128) -> Quotations:
    return Quotations(encoder, FAST, text, passage, size, 4)


def quoted(encoder: BuiltinEncoder, quotations: Quotations, question: str) -> str:
    rows = encoder.tokens([question])
    return quotations.nearest(
        encoder.encode_tokens(rows)[0], lambda: np.asarray(encoder.mean_token_vectors(rows)[0])
    )


@pytest.mark.parametrize(
    ("question", "place"),
    [("Is an even number plus an even number even?", 0),
     ("convergence of a subsequence", 1),
     ("right-angled triangles", 2),
     ("derivatives of constants", 3),
     ("how many prime numbers are there", 4)],
)  # fmt: skip
def test_the_sentence_that_matches_the_question_is_quoted(
    encoder: BuiltinEncoder, question: str, place: int
) -> None:
    found = quoted(encoder, quotations(encoder, "".join(SENTENCES)), question)
    assert found == SENTENCES[place].strip()


@pytest.mark.parametrize(
    ("begin", "end"),
    [("$$", "$$"), ("\\[", "\\]"), *((f"\\begin{{{name}}}", f"\\end{{{name}}}") for name in
                                     ("equation", "align*"))],
)  # fmt: skip
def test_no_quotation_cuts_a_formula(encoder: BuiltinEncoder, begin: str, end: str) -> None:
    display = f"{begin} {' + '.join('abcdefgh' * 9)} = 0 . {end}"
    text = f"A sum of coefficients vanishes: {display} {SENTENCES[4]}"
    long = quotations(encoder, text, size=512)
    assert quoted(encoder, long, "sum of coefficients") == "A sum of coefficients vanishes: …"
    assert quoted(encoder, long, "prime numbers") == SENTENCES[4]
    short = f"A sum vanishes: {begin} a + b = 0. {end}"
    assert quoted(encoder, quotations(encoder, short), "sum") == short


def test_two_sentences_are_encoded_for_a_question_and_none_twice(
    encoder: BuiltinEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = quotations(encoder, "".join(SENTENCES))
    question = encoder.encode_tokens(encoder.tokens(["prime numbers"]))[0]
    glance = encoder.mean_token_vectors(encoder.tokens(["prime numbers"]))[0]
    read: list[int] = []
    encode = encoder.encode_tokens
    monkeypatch.setattr(
        encoder, "encode_tokens", lambda rows, how: [read.append(len(rows)), encode(rows, how)][1]
    )
    first = text.nearest(question, lambda: glance)
    assert read == [2]
    assert text.nearest(question, lambda: glance) == first
    assert read == [2]


def test_two_sentences_or_fewer_are_not_preselected(encoder: BuiltinEncoder) -> None:
    def glance() -> np.ndarray:
        raise AssertionError("nobody asked")

    vector = encoder.encode([SENTENCES[4]])[0]
    assert quotations(encoder, "").nearest(vector, glance) == ""
    assert quotations(encoder, " \n ").nearest(vector, glance) == ""
    assert quotations(encoder, SENTENCES[0]).nearest(vector, glance) == SENTENCES[0].strip()
    two = quotations(encoder, SENTENCES[3] + SENTENCES[4])
    assert two.nearest(vector, glance) == SENTENCES[4]


def test_only_the_passage_or_the_beginning_of_the_text_is_quoted(encoder: BuiltinEncoder) -> None:
    text = "".join(SENTENCES)
    size = max(len(row) for row in encoder.tokens(SENTENCES)) + 2
    last = len(passages(encoder.tokens([text])[0], size, 4)) - 1
    at_the_end = quotations(encoder, text, passage=last, size=size)
    assert quoted(encoder, at_the_end, SENTENCES[4]) == SENTENCES[4]
    assert quoted(encoder, at_the_end, SENTENCES[1]) != SENTENCES[1].strip()
    # The passage after the last one is the title, with which the text begins.
    behind = quotations(encoder, text, passage=last + 1, size=size)
    assert quoted(encoder, behind, SENTENCES[4]) == SENTENCES[0].strip()


def test_a_long_sentence_is_cut_and_its_formulas_stay_whole(encoder: BuiltinEncoder) -> None:
    formula = "$" + " + ".join(f"x_{n}^2" for n in range(40)) + "$"
    found = quoted(encoder, quotations(encoder, f"We look at {formula} " + "again " * 60), "sums")
    assert found.count("$") in (0, 2)
    assert len(found) < len(formula) + 200


@pytest.mark.parametrize(("before", "is_quoted"), [(11, True), (12, False)])
def test_only_the_first_twelve_sentences_of_a_passage_are_compared(
    encoder: BuiltinEncoder, before: int, is_quoted: bool
) -> None:
    text = "".join(f"Set {number} is open. " for number in range(before)) + SENTENCES[4]
    found = quoted(encoder, quotations(encoder, text), "how many prime numbers are there")
    assert (found == SENTENCES[4]) == is_quoted


def test_the_place_of_a_passage_is_that_of_its_tokens() -> None:
    places = [(0, 3), (5, 7), (9, 11), (12, 14), (15, 16)]
    assert [_span_of(places, number, 2, 3) for number in range(3)] == [(0, 7), (9, 14), (15, 16)]
