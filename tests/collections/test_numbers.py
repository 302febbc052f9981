"""Numbers in files have only ASCII digits, and not too many of them."""

import json
from pathlib import Path

import pytest

from mathsetu.collections import arqmath, clmir, jsonl, stackexchange, trec
from mathsetu.collections.rows import BadRows
from mathsetu.errors import RowError
from tests.command import Mathsetu

NO_SCORES = ["٣", "²", "१.५", "nan", "inf", "-inf", "1_000", "0x10", "1e999", "--5", "1e", "."]
NO_WHOLE_NUMBERS = ["٣", "²", "1_000", "0x10", "2.0", "9" * 19, "9" * 400, "9" * 5000, "--5"]


@pytest.mark.parametrize("score", NO_SCORES)
def test_a_score_that_other_tools_do_not_read_is_refused(tmp_path: Path, score: str) -> None:
    run = tmp_path / "run.txt"
    run.write_text(f"A.1 Q0 7 1 {score} r\n", encoding="utf-8")
    with pytest.raises(RowError, match=r"run\.txt line 1: score .* is not a finite number"):
        trec.read_run(run)
    assert [problem.line for problem in trec.validate_run(run)] == [1]
    answers = tmp_path / "answers.tsv"
    answers.write_text(f"A.1\t7\t1\t{score}\tr\n", encoding="utf-8")
    assert [problem.line for problem in arqmath.validate_answer_run(answers)] == [1]
    team = tmp_path / "team.csv"
    team.write_text(f"{','.join(clmir.HEADER)}\nQ1,7,1,{score}\n", encoding="utf-8")
    assert [problem.line for problem in clmir.validate_submission(team)] == [2]


@pytest.mark.parametrize(
    ("score", "value"),
    [("-0.5", -0.5), ("+5", 5.0), ("2.", 2.0), (".5", 0.5), ("1E-3", 0.001), ("7" * 300, None)],
)
def test_a_score_as_other_tools_write_it_is_read(
    tmp_path: Path, score: str, value: float | None
) -> None:
    run = tmp_path / "run.txt"
    run.write_text(f"A.1 Q0 7 1 {score} r\n")
    assert trec.read_run(run).rankings["A.1"][0].score == (float(score) if value is None else value)


@pytest.mark.parametrize("number", NO_WHOLE_NUMBERS)
def test_a_rank_or_grade_that_is_not_a_plain_whole_number_is_a_bad_row(
    tmp_path: Path, number: str
) -> None:
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run.write_text(f"A.1 Q0 7 {number} 1.5 r\n", encoding="utf-8")
    assert [problem.line for problem in trec.validate_run(run)] == [1]
    qrels.write_text(f"A.1 0 7 3\nA.1 0 9 {number}\n", encoding="utf-8")
    bad = BadRows(skip=True)
    assert [judgment.id for judgment in trec.read_qrels(qrels, bad)] == ["7"]
    (error,) = bad.errors
    assert error.line == 2
    assert len(str(error)) < 600


def test_evaluate_reports_a_huge_grade_in_one_line(mathsetu: Mathsetu) -> None:
    Path("qrels.txt").write_text("A.1 0 7 3\nA.1 0 9 " + "9" * 400 + "\n")
    Path("run.txt").write_text("A.1 Q0 7 1 1.5 r\n")
    assert "qrels.txt line 2: grade '9999" in mathsetu.refuses("evaluate", "qrels.txt", "run.txt")


@pytest.mark.parametrize("digits", [19, 400, 5000])
def test_a_huge_number_in_json_is_a_bad_row(tmp_path: Path, digits: int) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "7", "body": "", "score": ' + "9" * digits + "}\n")
    with pytest.raises(RowError, match='line 1: "score" has more than 18 digits'):
        list(jsonl.read_posts(path))
    path.write_text(json.dumps({"id": "7", "body": "", "score": -(10**18) + 1}) + "\n")
    assert next(jsonl.read_posts(path)).score == -(10**18) + 1


@pytest.mark.parametrize("score", ["٣", "9" * 5000, "1_0", " 3", "x"])
def test_a_score_in_a_dump_that_is_not_an_integer_is_a_bad_row(tmp_path: Path, score: str) -> None:
    path = tmp_path / "Posts.xml"
    row = f'<row Id="7" PostTypeId="1" Score="{score}" Body="" />'
    path.write_text(f"<posts>\n{row}\n</posts>", encoding="utf-8")
    with pytest.raises(RowError, match=r"line 2: Score .* is not an integer"):
        list(stackexchange.read_posts(path))
