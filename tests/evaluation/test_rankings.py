"""What is said of a run beside its figures."""

from mathsetu.evaluation.judgments import Judgments
from mathsetu.evaluation.rankings import judged_rankings
from mathsetu.records import Hit, Judgment, Run


def test_a_topic_without_anything_relevant_is_not_called_unjudged() -> None:
    judged = Judgments.of([Judgment("A.1", "7", 3), Judgment("A.2", "7", 0)])
    run = Run("r", {topic: (Hit("7", 1.0),) for topic in ("A.1", "A.2", "A.3")})
    rankings, oddities = judged_rankings(run, judged.answerable(2))
    assert list(rankings) == ["A.1"]
    assert oddities.unknown == ("A.3",)
