"""From runs and judgments to figures: thresholds, groups, visual ids, and irregular runs."""

import pytest

from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, Measure, Results, evaluate, grouped
from mathsetu.evaluation.rankings import in_order
from mathsetu.records import Hit, Judgment, Run


def judged(**topics: dict[str, int]) -> Judgments:
    return Judgments(topics)


def run_of(**topics: dict[str, float]) -> Run:
    return Run("r", {topic: tuple(Hit(*item) for item in s.items()) for topic, s in topics.items()})


def value(results: Results, text: str, topic: str = "A") -> float:
    return results.values[Measure.parse(text)][topic]


def figures(run: Run, judgments: Judgments, *texts: str) -> list[float]:
    measures = [Measure.parse(text) for text in texts]
    results = evaluate(run, judgments, measures)
    return [results.mean(measure) for measure in measures]


def test_the_lowest_relevant_grade_is_two_if_grades_go_up_to_three() -> None:
    run = run_of(A={"x": 3.0, "y": 2.0, "z": 1.0})
    graded = judged(A={"x": 1, "y": 2, "z": 3})
    assert figures(run, graded, "P@2", "MRR", "P(rel=1)@2") == [0.5, 0.5, 1.0]
    binary = judged(A={"x": 1, "y": 0, "z": 0})
    assert figures(run, binary, "MRR") == [1.0]


def test_the_threshold_can_be_given() -> None:
    run = run_of(A={"x": 3.0, "y": 2.0})
    measures = [Measure("MRR")]
    results = evaluate(run, judged(A={"x": 2, "y": 3}), measures, relevant_from=3)
    assert (results.mean(measures[0]), results.relevant_from) == (0.5, 3)


def test_ndcg_does_not_depend_on_the_threshold() -> None:
    run = run_of(A={"low": 2.0, "high": 1.0})
    topics = judged(A={"low": 1, "high": 3})
    measure = Measure("nDCG")
    one, two = (evaluate(run, topics, [measure], relevant_from=n).mean(measure) for n in (1, 3))
    assert one == two == pytest.approx((1 + 3 / 1.5849625) / (3 + 1 / 1.5849625))


def test_prime_measures_remove_unjudged_hits_first() -> None:
    run = run_of(A={"?": 9.0, "??": 8.0, "x": 7.0})
    assert figures(run, judged(A={"x": 1}), "P@1", "P'@1", "MRR", "MRR'") == [0, 1, 1 / 3, 1]


def test_negative_grades_mean_not_judged() -> None:
    run = run_of(A={"pooled": 2.0, "x": 1.0})
    topics = judged(A={"pooled": -1, "x": 1})
    assert figures(run, topics, "MRR'", "Judged@2", "bpref") == [1.0, 0.5, 1.0]


def test_hits_are_ranked_by_score_and_equal_scores_by_descending_id() -> None:
    hits = [Hit("10", 1.0), Hit("9", 1.0), Hit("b", 5.0), Hit("é", 1.0)]
    assert in_order(hits) == ["b", "é", "9", "10"]


def test_a_judged_topic_without_hits_scores_zero_and_is_reported() -> None:
    results = evaluate(run_of(A={"x": 1.0}, C={}), judged(A={"x": 1}, B={"x": 1}, C={"x": 1}),
                       [Measure("MRR")])  # fmt: skip
    assert results.mean(Measure("MRR")) == pytest.approx(1 / 3)
    assert results.irregularities.missing == ("B", "C")
    assert "2 judged topics have no hits and count as 0" in next(results.irregularities.messages())


def test_topics_without_judgments_are_left_out_and_reported() -> None:
    results = evaluate(run_of(A={"x": 1.0}, Z={"x": 1.0}), judged(A={"x": 1}), [Measure("MRR")])
    assert results.topics == ("A",)
    assert "Z" in next(results.irregularities.messages())


def test_the_best_rank_of_a_repeated_hit_counts_and_the_topic_is_reported() -> None:
    hits = (Hit("x", 1.0), Hit("y", 2.0), Hit("x", 3.0))
    results = evaluate(Run("r", {"A": hits}), judged(A={"y": 1}), [Measure("MRR")])
    assert value(results, "MRR") == 0.5
    assert results.irregularities.repeated == ("A",)
    assert "trec_eval refuses" in next(results.irregularities.messages())


def test_a_regular_run_has_no_irregularities() -> None:
    results = evaluate(run_of(A={"x": 1.0}), judged(A={"x": 1}), [Measure("MRR")])
    assert list(results.irregularities.messages()) == []


def test_formulas_are_judged_by_visual_id_and_the_first_of_each_counts() -> None:
    """f1 and f2 look the same, so f3 is second; f4 has no visual id and takes no place."""
    run = run_of(A={"f4": 5.0, "f1": 4.0, "f2": 3.0, "f3": 2.0})
    visual_ids = {"f1": "v1", "f2": "v1", "f3": "v2"}
    measures = [Measure("MRR"), Measure("P", 2)]
    results = evaluate(run, judged(A={"v2": 1}), measures, visual_ids=visual_ids)
    assert [results.mean(measure) for measure in measures] == [0.5, 0.5]
    assert results.irregularities.unmapped == 1
    assert "without a known visual id" in next(results.irregularities.messages())


def test_judgments_that_contradict_each_other_are_refused() -> None:
    same = Judgment("A", "x", 1)
    assert Judgments.of([same, same]).grades == {"A": {"x": 1}}
    with pytest.raises(InputError, match="x is judged twice for A, 1 and 2"):
        Judgments.of([same, Judgment("A", "x", 2)])


def test_an_empty_list_of_judgments_is_refused() -> None:
    with pytest.raises(InputError, match="no judgments"):
        Judgments.of([])


def test_topics_without_relevant_posts_can_be_left_out() -> None:
    topics = judged(A={"x": 3}, B={"x": 1})
    assert list(topics.answerable(2).grades) == ["A"]
    with pytest.raises(InputError, match="no topic has a judgment of 4 or more"):
        topics.answerable(4)


def test_groups_partition_the_topics() -> None:
    groups = grouped(["A", "B", "C"], {"A": "en", "C": "en", "X": "hi", "B": ""})
    assert groups == {"en": ["A", "C"], "(none)": ["B"]}
