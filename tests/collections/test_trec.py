"""TREC runs and qrels."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections import arqmath, trec
from mathsetu.collections.rows import BadRows, Problem
from mathsetu.errors import InputError, RowError
from mathsetu.records import Hit, Judgment, Run

# A byte order mark at the beginning of a file is not part of its first word.
words = st.text(min_size=1, max_size=6).filter(
    lambda text: text.split() == [text] and not text.startswith("\ufeff")
)
hits = st.lists(
    st.builds(Hit, id=words, score=st.floats(allow_nan=False, allow_infinity=False)),
    min_size=1, max_size=5,
).map(trec.best_first)  # fmt: skip


@given(st.builds(Run, name=words, rankings=st.dictionaries(words, hits, min_size=1, max_size=3)))
def test_a_run_is_read_back_unchanged(run: Run) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.txt"
        trec.write_run(path, run)
        assert trec.read_run(path) == run


@given(st.lists(st.builds(Judgment, query_id=words, id=words, grade=st.integers(-9, 10**18 - 1))))
def test_judgments_are_read_back_unchanged(judgments: list[Judgment]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "qrels.txt"
        trec.write_qrels(path, judgments)
        assert list(trec.read_qrels(path)) == judgments


def test_any_white_space_and_any_iteration_column_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("A.1\tQ0\t7\t1\t2.0\tname\r\nA.1  0 8 2 1.5e0 name\n\nA.1 1 9 3 -1 name\n")
    assert [hit.id for hit in trec.read_run(path).rankings["A.1"]] == ["7", "8", "9"]


def test_hits_are_ranked_by_score_whatever_their_order_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("A.1 Q0 low 1 1 r\nA.1 Q0 high 2 3 r\n")
    assert [hit.id for hit in trec.read_run(path).rankings["A.1"]] == ["high", "low"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("A.1 Q0 7 1 2.0", "5 columns where 6 are expected"),
        ("A.1 Q0 7 1 high r", "score 'high' is not a finite number"),
        ("A.1 Q0 7 1 inf r", "score 'inf' is not a finite number"),
        ("A.1 Q0 7 1 1_0 r", "score '1_0' is not a finite number"),
    ],
)
def test_a_bad_row_is_reported_or_skipped(tmp_path: Path, row: str, problem: str) -> None:
    path = tmp_path / "run.txt"
    path.write_text(f"A.1 Q0 6 1 3.0 r\n{row}\n")
    with pytest.raises(RowError, match=problem) as caught:
        trec.read_run(path)
    assert caught.value.line == 2
    bad = BadRows(skip=True)
    assert len(trec.read_run(path, bad).rankings["A.1"]) == 1
    assert [problem.line for problem in trec.validate_run(path)] == [2]


def test_a_bad_grade_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("A.1 0 7 good\n")
    with pytest.raises(RowError, match=r"line 1: grade 'good' is not an integer"):
        list(trec.read_qrels(path))


def test_the_validator_reports_each_problem_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(
        "A.1 Q0 7 1 2.0 r\n"
        "A.1 Q0 8 2 3.0 r\n"  # above the one before
        "A.1 Q0 7 3 1.0 r\n"  # again
        "A.1 Q0 9 5 0.5 r\n"  # a gap in the ranks
        "A.2 Q0 9 x 0.5 r\n"  # no rank
        "A.3 Q0 9 0 0.5 other\n"  # another run; counting from 0 is fine
    )
    problems = [(problem.line, problem.fatal) for problem in trec.validate_run(path)]
    assert problems == [(2, False), (3, True), (4, False), (5, True), (6, False)]


def test_a_repeated_rank_does_not_make_the_next_one_wrong(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(
        "A.1 Q0 a 1 3 r\nA.1 Q0 b 1 2 r\nA.1 Q0 c 3 1 r\nA.2 Q0 a 5 3 r\nA.2 Q0 b 6 2 r\n"
    )
    assert [str(problem) for problem in trec.validate_run(path)] == [
        "warning: line 2: rank 1 where 2 is expected (A.1)",
        "warning: line 4: rank 5 where 1 is expected (A.2)",
    ]


@pytest.mark.parametrize(
    ("validate", "row"),
    [
        (trec.validate_run, "A.2 Q0 7 1 2.0 r\n"),
        (arqmath.validate_answer_run, "A.2\t7\t1\t2.0\tr\n"),
    ],
)
def test_topics_without_results_are_a_warning(
    tmp_path: Path, validate: Callable[..., list[Problem]], row: str
) -> None:
    path = tmp_path / "run.txt"
    path.write_text(row)
    assert [str(problem) for problem in validate(path, ["A.1", "A.2", "A.3"])] == [
        "warning: 2 of 3 topics have no results: A.1, A.3"
    ]


def test_a_good_run_has_no_problems_and_an_empty_file_has_one(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    trec.write_run(path, Run("r", {"A.1": (Hit("7", 2.0), Hit("8", 2.0))}))
    assert trec.validate_run(path) == []
    path.write_text("\n")
    assert [str(problem) for problem in trec.validate_run(path)] == ["the file holds no results"]


def test_an_id_with_white_space_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="white space"):
        trec.write_run(tmp_path / "run.txt", Run("r", {"A 1": (Hit("7", 1.0),)}))
    assert list(tmp_path.iterdir()) == []


def test_posts_and_topics_that_do_not_exist_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("A.1 Q0 7 1 3 r\nA.9 Q0 8 1 3 r\nA.9 Q0 7 2 2 r\nA.9 Q0 8 3 1 r\n")
    assert [str(problem) for problem in trec.validate_run(path, ["A.1"], ["7"])] == [
        "line 2: A.9 is not a topic",
        "line 2: 8 is not a post of the collection",
        "line 4: 8 is repeated for A.9 (first in line 2)",
    ]


def test_ranks_may_start_at_zero(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("A.1 Q0 a 0 3 r\nA.1 Q0 b 1 3 r\nA.1 Q0 c 3 1 r\n")
    assert [str(problem) for problem in trec.validate_run(path)] == [
        "warning: line 3: rank 3 where 2 is expected (A.1)"
    ]


def test_the_rank_checker_counts_different_hits() -> None:
    checker = trec.RankChecker()
    for line, hit in enumerate("abca"):
        checker.check(line, "A.1", hit, 1.0)
    assert checker.counts() == {"A.1": 3}


def test_rankings_with_rising_scores_are_noted() -> None:
    rising, falling = [Hit("a", 1.0), Hit("b", 2.0)], [Hit("a", 2.0), Hit("b", 2.0)]
    for rankings, notes in (
        ({"A.1": falling}, []),
        ({"A.1": rising, "A.2": falling}, ["A.1: the scores do not decrease"]),
    ):
        bad = BadRows(notes=[])
        trec.ranked(rankings, bad)
        assert bad.notes == notes
