"""Measures are values that print as they are typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.evaluation import Measure, parse_measures


@pytest.mark.parametrize(
    "text",
    ["P@10", "P'@10", "MAP", "MAP'", "nDCG", "nDCG@10", "nDCG'", "nDCG'@10", "MRR", "R@100", "R",
     "nDCGmed", "nDCGmed'@10", "bpref", "P(rel=2)@5", "P'(rel=2)@10", "bpref(rel=3)", "Judged@10"],
)  # fmt: skip
def test_a_measure_prints_as_it_was_typed(text: str) -> None:
    assert str(Measure.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [("ndcg@10", "nDCG@10"), ("ap", "MAP"), ("RR", "MRR"), ("recall@5", "R@5"), ("P’@1", "P'@1"),
     (" BPREF ", "bpref"), ("nDCG′", "nDCG'")],
)  # fmt: skip
def test_other_spellings_are_understood(text: str, printed: str) -> None:
    assert str(Measure.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("F1", "unknown measure 'F1'"),
        ("", "unknown measure ''"),
        (
            "arqmath",
            "'arqmath' is a set of measures; give one measure, such as one of: nDCG', MAP'",
        ),
        ("P", "write for example P@10"),
        ("P@0", "below 1"),
        ("bpref@10", "takes no cut-off"),
        ("bpref'", "no prime form"),
        ("Judged'@10", "no prime form"),
        ("nDCG(rel=2)", "binary measures"),
        ("P(rel=0)@10", "rel= must be at least 1"),
        ("P@10@10", "unknown measure"),
        ("P@99999999999", "unknown measure"),
    ],
)
def test_an_invalid_measure_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        Measure.parse(text)
    assert problem in str(error.value)


@given(st.text(max_size=20))
def test_any_text_is_a_measure_or_refused_and_a_measure_survives_printing(text: str) -> None:
    try:
        measure = Measure.parse(text)
    except InputError:
        return
    assert Measure.parse(str(measure)) == measure


def test_every_cutoff_adds_the_share_of_judged_hits() -> None:
    assert [*map(str, parse_measures(["P@5", "nDCG@10", "P@10", "P@5"]))] == [
        "P@5", "nDCG@10", "P@10", "Judged@5", "Judged@10",
    ]  # fmt: skip
    assert [*map(str, parse_measures(["MAP"]))] == ["MAP", "Judged@10"]


def test_sets_contain_the_measures_that_the_labs_report() -> None:
    assert [*map(str, parse_measures(["ARQMath"]))] == ["nDCG'", "MAP'", "P'@10", "Judged@10"]
    assert [*map(str, parse_measures(["clmir"]))] == ["P@10", "MAP", "nDCG", "Judged@10"]
    assert [*map(str, parse_measures(["crossmath"]))] == ["nDCGmed'@10", "P'@10", "Judged@10"]
