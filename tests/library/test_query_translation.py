"""Queries are checked and translated before the search."""

import pytest

from mathsetu.errors import InputError
from mathsetu.intake.question import Question
from mathsetu.library.query_translation import (
    LONGEST_QUERY,
    check_asks,
    check_readable,
    check_translation,
    prepare,
)
from mathsetu.recipes.schema import Preparation
from mathsetu.records import Query


def question(text: str, language: str = "en") -> Question:
    return Question(Query("7", text, language=language))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" \n ", "the query is empty"),
        ("?!", "the query has neither words nor a formula"),
        ("the of", "the query has no formula and only stop words"),
    ],
)
def test_an_empty_query_or_one_with_only_stop_words_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"^{problem}$"):
        check_asks(question(text))


@pytest.mark.parametrize("text", ["prime", "the $x$", "$x$", "the prime"])
def test_a_query_with_one_word_or_one_formula_is_accepted(text: str) -> None:
    check_asks(question(text))


def test_too_long_queries_and_invalid_characters_are_refused() -> None:
    check_readable(question("x" * LONGEST_QUERY))
    problem = r"^query 7 has 100,001 characters; at most 100,000 can be searched for$"
    with pytest.raises(InputError, match=problem):
        check_readable(question("x" * (LONGEST_QUERY + 1)))
    with pytest.raises(InputError, match=r"^the query has 100,001"):
        check_readable(Question(Query("", "x" * (LONGEST_QUERY + 1))))
    with pytest.raises(InputError, match="query 7 contains an invalid character"):
        check_readable(question("x\ud800"))


def test_only_queries_in_other_languages_are_translated() -> None:
    asked = [
        question("समाकल", "hi"),
        question("integral"),
        question("$x^2$", ""),
        Question(Query("8", "integrál", title="součet", language="cs")),
        question("योग", "hi"),
    ]
    assert prepare(asked, Preparation()) == asked
    first, second, third, fourth, fifth = prepare(asked, Preparation(translate="English"))
    assert (second, third) == (asked[1], asked[2])
    assert (first.text, first.language) == ("integral", "en")
    assert (fourth.query.title, fourth.query.text) == ("sum", "integral")
    assert fourth.notes[0].detail == "translated from cs by glossary: sum integral"
    assert fourth.notes[0].score == 0.0
    assert fifth.text == "sum"
    check_translation(asked, Preparation())
    check_translation(asked, Preparation(translate="en"))
