"""Data frames of pandas and polars, where they are installed."""

from typing import Any

import pytest

import mathsetu
from mathsetu import Hit, Judgment, Judgments, Query, Run
from mathsetu.errors import InputError, MissingExtra
from mathsetu.integrations import frames
from mathsetu.library import Library

RUN = Run("bm25", {"A.1": (Hit("7", 2.5), Hit("9", 1.0)), "A.2": (Hit("8", 0.5),)})
JUDGED = Judgments.of([Judgment("A.1", "7", 3), Judgment("A.2", "9", 0), Judgment("A.2", "8", 2)])


@pytest.fixture(params=frames.KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


def values(frame: Any, column: str) -> list[object]:
    return list(frame[column])


def test_a_run_is_unchanged_by_a_round_trip(kind: str) -> None:
    frame = mathsetu.to_frame(RUN, kind)
    assert type(frame).__module__.startswith(kind)
    assert list(frame.columns) == ["run", "query_id", "doc_id", "rank", "score"]
    assert values(frame, "rank") == [1, 2, 1]
    assert mathsetu.run_from_frame(frame) == RUN


def test_runs_of_formulas_keep_their_posts(kind: str) -> None:
    run = Run("f", {"B.1": (Hit("f1", 1.0, "7"),)})
    assert mathsetu.run_from_frame(mathsetu.to_frame(run, kind)) == run


def test_judgments_are_unchanged_by_a_round_trip(kind: str) -> None:
    frame = mathsetu.to_frame(JUDGED, kind)
    assert values(frame, "relevance") == [3, 0, 2]
    assert mathsetu.judgments_from_frame(frame) == JUDGED


def test_column_names_of_other_programs_are_accepted(kind: str) -> None:
    frames_of = pytest.importorskip(kind)
    frame = frames_of.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "score": [1.0, 2.5]})
    run = mathsetu.run_from_frame(frame, "theirs")
    assert [hit.id for hit in run.rankings["1"]] == ["b", "a"]
    assert run.name == "theirs"
    frame = frames_of.DataFrame({"q_id": ["1"], "doc_id": ["a"], "label": [1]})
    assert mathsetu.judgments_from_frame(frame).grades == {"1": {"a": 1}}


def test_results_have_a_row_for_each_topic_and_comparisons_for_each_pair(kind: str) -> None:
    measures = mathsetu.parse_measures(["P@1", "MRR"])
    results = [mathsetu.evaluate(run, JUDGED, measures) for run in (RUN, Run("other", {}))]
    frame = mathsetu.to_frame(results, kind)
    assert values(frame, "run") == ["bm25", "bm25", "other", "other"]
    assert values(frame, "MRR") == [1.0, 1.0, 0.0, 0.0]
    compared = mathsetu.to_frame(mathsetu.compare(results), kind)
    assert values(compared, "difference")[:2] == [-1.0, -1.0]
    assert values(compared, "losses")[0] == 2


def test_answers_and_queries_become_frames_too(kind: str, sampler_library: Library) -> None:
    answer = sampler_library.answer("prime numbers", 2)
    frame = mathsetu.to_frame(answer, kind)
    assert values(frame, "doc_id") == [hit.id for hit in answer.hits]
    assert all(values(frame, "title"))
    assert values(mathsetu.to_frame([Query("1", "x")], kind), "text") == ["x"]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"qid": ["1"], "score": [1.0]}, r"needs the columns doc_id \(or docno, .*are: qid, score"),
        ({"qid": ["1"], "docno": ["a"], "score": ["x"]}, "line 1: score is 'x'; a finite number"),
        ({"qid": [""], "docno": ["a"], "score": [1.0]}, "qid is empty"),
        ({"qid": ["1"], "docno": ["a"], "score": [float("nan")]}, "score is nan"),
        ({"qid": ["1", "1"], "docno": ["a", "a"], "score": [1.0, 1.0], "run": ["x", "y"]},
         r"holds 2 runs \(x, y\)"),
    ],
)  # fmt: skip
def test_wrong_frames_are_refused_in_one_line(
    kind: str, columns: dict[str, list[object]], problem: str
) -> None:
    frame = pytest.importorskip(kind).DataFrame(columns)
    with pytest.raises(InputError, match=problem):
        mathsetu.run_from_frame(frame)


@pytest.mark.parametrize("value", [5, "text", {"a": 1}, [], [1, 2], None])
def test_values_that_are_not_tables_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="is not a table; give a Run, Judgments"):
        mathsetu.to_frame(value)


def test_values_that_are_not_frames_are_refused() -> None:
    with pytest.raises(InputError, match="a list is not a data frame of pandas or polars"):
        mathsetu.run_from_frame([1])
    with pytest.raises(InputError, match="'arrow' is not a kind of data frame"):
        mathsetu.to_frame(RUN, "arrow")


def test_without_pandas_and_polars_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"\[dataframes\]"):
        mathsetu.to_frame(RUN)
