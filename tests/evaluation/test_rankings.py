"""Irregularities of a run that are reported beside its figures."""

import pytest

from mathsetu.evaluation.judgments import Judgments
from mathsetu.evaluation.rankings import Irregularities, judged_rankings
from mathsetu.records import Hit, Judgment, Run


def test_a_topic_without_relevant_posts_is_not_reported_as_unjudged() -> None:
    judged = Judgments.of([Judgment("A.1", "7", 3), Judgment("A.2", "7", 0)])
    run = Run("r", {topic: (Hit("7", 1.0),) for topic in ("A.1", "A.2", "A.3")})
    rankings, irregularities = judged_rankings(run, judged.answerable(2))
    assert list(rankings) == ["A.1"]
    assert irregularities.unknown == ("A.3",)


@pytest.mark.parametrize(("count", "ending"), [(5, "A.4"), (6, "A.4 …")])
def test_an_irregularity_names_its_first_five_topics(count: int, ending: str) -> None:
    [message] = Irregularities(missing=tuple(f"A.{n}" for n in range(count))).messages()
    assert message.endswith(f": A.0, A.1, A.2, A.3, {ending}")


def test_a_run_without_judged_hits_is_reported() -> None:
    judged = Judgments.of([Judgment("B.1", "77", 3)])
    hits = (Hit("7:body:0", 1.0), Hit("7:body:1", 0.5))
    _, irregularities = judged_rankings(Run("r", {"B.1": hits}), judged)
    assert "no hit of the run is judged" in "".join(irregularities.messages())
    for run in (Run("r", {}), Run("r", {"B.1": (*hits, Hit("77", 0.1))})):
        _, irregularities = judged_rankings(run, judged)
        assert not irregularities.no_hit_is_judged
