"""Records: they cannot be changed, and every way to make one gives an equal record."""

import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace

import pytest

from mathsetu.records import Evidence, Formula, Hit, Post, Reason

FORMULA = Formula("q_4", "x^2", post_id="4", where="title", start=3)
POST = Post("4", "body", tags=("limits",), score=-2, formulas=(FORMULA,))


@pytest.mark.parametrize("record", [FORMULA, POST])
def test_every_way_to_make_a_record_gives_an_equal_record(record: Formula | Post) -> None:
    kind = type(record)
    values = {part.name: getattr(record, part.name) for part in fields(record)}
    for again in (
        kind(*values.values()),
        kind(**values),
        replace(record),
        pickle.loads(pickle.dumps(record)),
    ):
        assert again == record
        assert hash(again) == hash(record)
        assert type(again) is kind
    assert list(asdict(record)) == [part.name for part in fields(record)]


@pytest.mark.parametrize("record", [FORMULA, POST])
def test_a_record_cannot_be_changed(record: Formula | Post) -> None:
    with pytest.raises(FrozenInstanceError):
        record.id = "5"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del record.id


@pytest.mark.parametrize("record", [FORMULA, POST])
def test_omitted_fields_have_the_defaults_of_the_class(record: Formula | Post) -> None:
    kind = type(record)
    shown = inspect.signature(kind).parameters
    assert list(shown) == [part.name for part in fields(kind)]
    made = kind("1", "x")
    for name, parameter in list(shown.items())[2:]:
        assert getattr(made, name) == parameter.default
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        kind("1")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        kind("1", "x", colour="red")  # type: ignore[call-arg]


def test_an_answer_without_a_title_is_shown_with_its_question() -> None:
    post = Post("4", "Two. " + "More. " * 60, question="What is $1+1$?")
    word = Reason("words", 1.0, evidence=(Evidence("word", "what", "What"),))
    for hit in (Hit("4", 1.0, post=post), Hit("4", 1.0, reasons=(word,), post=post)):
        assert hit.snippet.startswith("What is $1+1$?\nTwo. More.")
    assert Hit("4", 1.0, post=replace(post, title="Sums")).snippet.startswith("Two. More.")
    assert Hit("4", 1.0, post=replace(post, body="")).snippet == "What is $1+1$?"


def test_an_answer_that_was_found_by_its_question_is_shown_with_it() -> None:
    post = Post("4", "Two. " + "More. " * 60, title="Sums", question="What is $1+1$?")
    formula = Reason("formulas", 1.0, evidence=(Evidence("formula", "1+x", "1+1"),))
    hit = Hit("4", 1.0, reasons=(formula,), post=post)
    assert hit.snippet.startswith("What is $1+1$?\nTwo. More.")
    word = Reason("words", 1.0, evidence=(Evidence("word", "more", "More"),))
    assert Hit("4", 1.0, reasons=(word,), post=post).snippet.startswith("Two. More.")


def test_a_printed_hit_shows_prices_without_backslashes() -> None:
    post = Post("4", r"It costs \$5.", title=r"For \$5", language="en")
    assert str(Hit("4", 1.0, post=post)) == "For $5  [en] 1.000  4\n  It costs $5."
