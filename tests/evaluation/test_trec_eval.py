"""Every measure gives what ir-measures and trec_eval give."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.evaluation import Judgments, Measure, evaluate, parse_measures
from mathsetu.evaluation.measures import KINDS, SETS
from mathsetu.records import Hit, Run
from tests.evaluation import synthetic

RECORDED: list[dict[str, list[float]]] = json.loads(synthetic.VALUES.read_text())


def ours(seed: int) -> dict[str, list[float]]:
    judgments, rankings = synthetic.case(seed)
    run = Run(
        "synthetic", {t: tuple(Hit(*item) for item in s.items()) for t, s in rankings.items()}
    )
    measures = parse_measures(synthetic.MEASURES)
    results = evaluate(run, Judgments(judgments), measures, relevant_from=1)
    return {str(m): [*results.of(m, judgments), results.mean(m)] for m in measures}


def comparable(seed: int) -> list[str]:
    """All measures; without Judged if there are equal scores, which ir-measures orders the other
    way round for Judged, while we keep one order."""
    names = list(synthetic.MEASURES)
    return [n for n in names if not (synthetic.ties(seed) and n.startswith("Judged"))]


@pytest.mark.parametrize("seed", range(50))
def test_every_measure_equals_what_trec_eval_gave_on_a_synthetic_run(seed: int) -> None:
    mine = ours(seed)
    for name in comparable(seed):
        assert mine[name] == pytest.approx(RECORDED[seed][name], abs=1e-6), name


@given(st.integers(min_value=50, max_value=100_000))
def test_every_measure_equals_ir_measures_where_it_is_installed(seed: int) -> None:
    pytest.importorskip("pytrec_eval")
    mine, theirs = ours(seed), synthetic.by_ir_measures(seed)
    for name in comparable(seed):
        assert mine[name] == pytest.approx(theirs[name], abs=1e-6), name


@pytest.mark.parametrize(("name", "elsewhere"), synthetic.MEASURES.items())
def test_a_measure_knows_its_name_in_ir_measures(name: str, elsewhere: str) -> None:
    assert Measure.parse(name).in_ir_measures(relevant_from=1) == elsewhere


def test_every_kind_of_measure_and_every_set_is_checked() -> None:
    checked = {Measure.parse(name).name for name in synthetic.MEASURES}
    checked.add("nDCGmed")  # by the test below
    assert checked == set(KINDS)
    assert {Measure.parse(name).name for names in SETS.values() for name in names} <= checked


@pytest.mark.parametrize("seed", range(10))
def test_ndcgmed_is_ndcg_of_grades_that_are_one_lower(seed: int) -> None:
    judgments, rankings = synthetic.case(seed)
    run = Run(
        "synthetic", {t: tuple(Hit(*item) for item in s.items()) for t, s in rankings.items()}
    )
    lower = {
        topic: {name: max(grade - 1, 0) for name, grade in grades.items()}
        for topic, grades in judgments.items()
    }
    for suffix in ("", "@5", "'", "'@10"):
        own = Measure.parse(f"nDCGmed{suffix}")
        usual = Measure.parse(f"nDCG{suffix}")
        found = evaluate(run, Judgments(judgments), [own], relevant_from=1).of(own, judgments)
        expected = evaluate(run, Judgments(lower), [usual], relevant_from=1).of(usual, judgments)
        assert found == pytest.approx(expected)


def test_ndcgmed_knows_its_gains_in_ir_measures() -> None:
    name = Measure.parse("nDCGmed'@10").in_ir_measures(relevant_from=2)
    assert name == "nDCG(gains={0:0,1:0,2:1,3:2},judged_only=True)@10"


def test_the_synthetic_runs_contain_irregular_cases() -> None:
    """They have unjudged hits, topics without hits, and topics without anything relevant."""
    cases: list[Any] = [synthetic.case(seed) for seed in range(50)]
    assert any(set(judged) - set(run) for judged, run in cases)
    assert any(not any(grades.values()) for judged, _ in cases for grades in judged.values())
    assert any(set(run[topic]) - set(judged[topic]) for judged, run in cases for topic in run)
