"""Significance tests, bootstrap intervals and comparisons of runs."""

import random
from math import atan, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.evaluation import Measure, Results, compare
from mathsetu.evaluation.plots import means_panel, results_panels
from mathsetu.evaluation.reports import results_table
from mathsetu.evaluation.significance import (
    bonferroni,
    bootstrap_intervals,
    paired_t_test,
    student_tail,
    wins_ties_losses,
)

MEASURE = Measure("MAP")


# Twice the upper tail of Student's t, as scipy 1.17 gives it.
@pytest.mark.parametrize(
    ("statistic", "freedom", "p"),
    [
        (0.0, 5, 1.0),
        (0.01, 2, 0.992929108958201),
        (0.5, 1, 0.7048327646991335),
        (1.0, 1000, 0.31755241808467227),
        (2.0, 3, 0.13932596855884305),
        (2.5, 76, 0.01457473772965258),
        (6.0, 149, 1.4353099817064216e-08),
        (12.0, 40, 7.824171304255982e-15),
    ],
)
def test_the_tail_of_students_t_is_exact(statistic: float, freedom: int, p: float) -> None:
    assert student_tail(statistic, freedom) == pytest.approx(p, rel=1e-9)


@given(st.floats(0, 1e6), st.integers(1, 10_000))
def test_the_tail_is_a_probability_and_falls_as_t_grows(statistic: float, freedom: int) -> None:
    nearer, farther = student_tail(statistic, freedom), student_tail(statistic + 1, freedom)
    assert 0 <= farther <= nearer <= 1


@pytest.mark.parametrize("differences", [[], [0.5], [0.0, 0.0, 0.0]])
def test_p_is_one_for_too_few_or_zero_differences(differences: list[float]) -> None:
    assert paired_t_test(differences) == 1.0


def test_the_test_is_two_sided() -> None:
    differences = [0.1, 0.4, 0.2, 0.3]
    assert paired_t_test(differences) == paired_t_test([-value for value in differences]) < 0.05


def test_two_topics_are_enough_for_a_test() -> None:
    # t = 0.2 / 0.1 = 2 with one degree of freedom, whose tail is 1 - 2 atan(t) / pi.
    assert paired_t_test([0.1, 0.3]) == pytest.approx(1 - 2 * atan(2) / pi)
    assert paired_t_test([0.3]) == 1.0


def test_p_is_zero_for_a_constant_difference() -> None:
    assert paired_t_test([0.25, 0.25, 0.25]) == 0.0


def test_bonferroni_multiplies_and_stops_at_one() -> None:
    assert bonferroni(0.01, 45) == pytest.approx(0.45)
    assert bonferroni(0.1, 45) == 1.0


def test_a_difference_by_rounding_is_a_tie() -> None:
    assert str(wins_ties_losses([0.1 + 0.2 - 0.3, 0.5, -0.5])) == "1/1/1"


@pytest.mark.thorough
def test_the_bootstrap_is_reproducible_and_its_interval_contains_the_mean() -> None:
    chance = random.Random(3).random
    columns = [[chance() for _ in range(60)], [chance() + 1 for _ in range(60)]]
    first, again = (bootstrap_intervals(columns, seed=7) for _ in range(2))
    assert first == again != bootstrap_intervals(columns, seed=8)
    for column, interval in zip(columns, first, strict=True):
        assert interval.low < sum(column) / 60 < interval.high


def test_intervals_and_p_do_not_depend_on_the_order_of_the_judgments() -> None:
    chance = random.Random(11).random
    measures = [Measure("MAP"), Measure("MRR")]
    values = [
        {measure: {f"A.{n}": chance() for n in range(20)} for measure in measures} for _ in "ab"
    ]
    listed = [Results(name, 1, own) for name, own in zip("ab", values, strict=True)]
    turned = [
        Results(one.run, 1, {m: dict(reversed(own.items())) for m, own in one.values.items()})
        for one in listed
    ]
    assert listed[0].topics != turned[0].topics
    for table in (results_table, lambda one: results_panels(one, measures[1])[0]):
        assert table(listed[0]) == table(turned[0])
    differences, means = zip(
        *(
            (compared.differences, means_panel({"all": compared}, measures[1]))
            for compared in map(compare, (listed, turned))
        ),
        strict=True,
    )
    assert differences[0] == differences[1]
    assert means[0] == means[1]


@pytest.mark.parametrize(("level", "outside"), [(0.95, 2.5), (0.8, 10.0)])
def test_the_bootstrap_interval_has_the_percentiles_of_its_level(
    level: float, outside: float
) -> None:
    column = np.array([0.0, 0.1, 0.15, 0.4, 0.55, 0.7, 1.0])
    drawn = np.random.default_rng(3).multinomial(7, np.full(7, 1 / 7), size=500) @ column / 7
    [interval] = bootstrap_intervals([list(column)], seed=3, resamples=500, level=level)
    low, high = np.percentile(drawn, [outside, 100 - outside])
    assert [interval.low, interval.high] == pytest.approx([low, high])


@pytest.mark.thorough
def test_the_bootstrap_interval_is_about_two_standard_errors_each_way() -> None:
    chance = random.Random(5).gauss
    column = [chance(0, 1) for _ in range(400)]
    (interval,) = bootstrap_intervals([column])
    assert interval.high - interval.low == pytest.approx(4 * 400**-0.5, rel=0.15)


@pytest.mark.thorough
def test_the_bootstrap_works_with_many_topics() -> None:
    (interval,) = bootstrap_intervals([[0.5] * 30_000], resamples=200)
    assert interval.low == pytest.approx(0.5)


def results(name: str, *values: float) -> Results:
    return Results(name, 1, {MEASURE: {str(n): value for n, value in enumerate(values)}})


WEAK = results("weak", 0.1, 0.2, 0.1, 0.2, 0.1)
LEVEL = results("level", 0.2, 0.1, 0.1, 0.1, 0.2)
STRONG = results("strong", 0.8, 0.9, 0.7, 0.9, 0.8)


def test_runs_are_compared_with_the_first_unless_all_pairs_are_asked_for() -> None:
    pairs = [(d.run, d.other) for d in compare([WEAK, LEVEL, STRONG]).differences]
    assert pairs == [(1, 0), (2, 0)]
    every = compare([WEAK, LEVEL, STRONG], all_pairs=True)
    assert sorted((d.run, d.other) for d in every.differences) == [(1, 0), (2, 0), (2, 1)]


def test_p_is_corrected_for_the_number_of_comparisons() -> None:
    comparison = compare([WEAK, LEVEL, STRONG], all_pairs=True)
    for difference in comparison.differences:
        assert difference.p == min(1.0, 3 * difference.uncorrected)


def test_letters_name_the_runs_that_a_run_is_significantly_above() -> None:
    comparison = compare([WEAK, LEVEL, STRONG], all_pairs=True)
    assert [comparison.below(place, MEASURE) for place in range(3)] == ["", "", "ab"]
    backwards = compare([STRONG, LEVEL, WEAK])
    assert [backwards.below(place, MEASURE) for place in range(3)] == ["bc", "", ""]


def test_wins_and_losses_are_counted_for_the_later_run() -> None:
    difference = compare([STRONG, WEAK]).difference_from_baseline(1, MEASURE)
    assert difference is not None
    assert str(difference.record) == "0/0/5"
    assert difference.mean < 0 > difference.interval.high


def test_a_comparison_can_be_limited_to_some_topics() -> None:
    comparison = compare([WEAK, STRONG], ["0", "1"])
    assert comparison.differences[0].mean == pytest.approx(0.7)


def test_runs_measured_differently_are_not_compared() -> None:
    with pytest.raises(InputError, match="measured differently"):
        compare([WEAK, results("short", 0.5)])
    with pytest.raises(InputError, match="2 to 25 runs"):
        compare([WEAK])
