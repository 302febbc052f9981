from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.numbers import number_value, value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2", 2),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("½", Fraction(1, 2)),
        ("1⅓", Fraction(4, 3)),
        ("10,000", 10000),
        ("१२", 12),
        ("۰٫۵", Fraction(1, 2)),
    ],
)
def test_written_numbers_have_a_value(written: str, meant: Fraction):
    assert number_value(written) == meant


@pytest.mark.parametrize("written", ["", ".", "1,2", "x", "1.2.3", "²"])
def test_other_text_has_no_value(written: str):
    assert number_value(written) is None


def test_very_long_numbers_have_no_value():
    assert number_value("1" * 100_000) is None


@given(st.text())
def test_any_text_has_no_value_or_a_value_of_at_least_zero(written: str):
    assert number_value(written) is None or number_value(written) >= 0


def test_fractions_and_negations_have_values_but_sums_do_not():
    one, two = Fraction(1), Fraction(2)
    assert value("O!divide", [one, two]) == Fraction(1, 2)
    assert value("O!minus", [two]) == -2
    assert value("O!divide", [one, Fraction(0)]) is None
    assert value("O!divide", [one, None]) is None
    assert value("U!plus", [one, two]) is None
    assert value("O!minus", [two, one]) is None
