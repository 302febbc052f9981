"""CLMIR 2025: training and query CSV, and the submission."""

import csv
import re
from pathlib import Path

import pytest

from mathsetu.collections import clmir, source_text
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.errors import InputError, RowError
from mathsetu.records import Hit, Run

HEADER = "QueryID,SearchID,Run Number,Similarity Score\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_posts_are_read_with_line_breaks_inside_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path / "Train_set.csv",
        'ID,Title,Body,Tags\n7,"योग, भाग १","मान लें\n$x>0$ और ""y""","algebra,sums"\n8,b,c,\n',
    )
    first, second = clmir.read_posts(path)
    assert first.title == "योग, भाग १"
    assert first.body == 'मान लें\n$x>0$ और "y"'
    assert first.tags == ("algebra", "sums")
    assert [(formula.latex, formula.where) for formula in first.formulas] == [("x>0", "body")]
    assert (second.id, second.tags, second.language) == ("8", (), "")


def test_a_body_in_html_is_read_as_html(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", "id,body\n7,<p>यदि $x&lt;1$</p>\n")
    assert next(clmir.read_posts(path)).body == "यदि $x<1$"


def test_a_field_longer_than_the_default_limit_of_python_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", f"id,body\n7,{'a' * 200_000}\n")
    assert len(next(clmir.read_posts(path)).body) == 200_000


@pytest.mark.parametrize(
    ("rows", "line", "problem"),
    [
        ('1,"a\nb"\n,c\n', 4, "the id is empty"),
        ('1,"a\nb"\n2\n', 4, "1 column where the header has 2"),
        ('1,a\n2,"b"c\n', 3, "',' expected after '\"'"),
        ('1,a\n2,"never closed\n', 3, "unexpected end of data"),
    ],
)
def test_a_bad_row_is_reported_with_the_line_on_which_it_starts(
    tmp_path: Path, rows: str, line: int, problem: str
) -> None:
    path = write(tmp_path / "train.csv", f"id,body\n{rows}")
    with pytest.raises(RowError, match=problem) as caught:
        list(clmir.read_posts(path))
    assert caught.value.line == line
    bad = BadRows(skip=True)
    assert next(clmir.read_posts(path, bad)).id == "1"


def test_a_byte_that_is_not_utf8_is_reported_with_the_first_line_of_its_row(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(b'id,body\n1,"one\ntwo \xe9"\n2,fine\n')
    with pytest.raises(RowError, match="line 2: a byte is not UTF-8"):
        list(clmir.read_posts(path))
    bad = BadRows(skip=True)
    assert [post.id for post in clmir.read_posts(path, bad)] == ["2"]
    assert bad.count == 1


@pytest.mark.parametrize(
    "header",
    [
        "query_id, query, context",
        "ID,LaTeX,Description",
        "QueryID,Expression,Text",
        "Query ID,Formula,English Description",
    ],
)
def test_the_columns_of_queries_are_recognised_under_several_names(
    tmp_path: Path, header: str
) -> None:
    path = write(tmp_path / "queries.csv", f"{header}\nQ1,a^2+b^2=c^2,Pythagorean theorem\n")
    (query,) = clmir.read_queries(path)
    assert (query.id, query.text, query.language) == ("Q1", "Pythagorean theorem", "")
    assert [formula.latex for formula in query.formulas] == ["a^2+b^2=c^2"]


def test_delimiters_around_the_expression_are_removed(tmp_path: Path) -> None:
    path = write(tmp_path / "queries.csv", "id,latex,text\nQ1,$x^2$,squares\n")
    assert next(clmir.read_queries(path)).formulas[0].latex == "x^2"


def test_the_error_for_a_header_names_the_missing_column(tmp_path: Path) -> None:
    path = write(tmp_path / "queries.csv", "number,words\n1,a\n")
    with pytest.raises(RowError, match=r"line 1: no column for id .*the header has: number, words"):
        list(clmir.read_queries(path, BadRows(skip=True)))


def test_a_submission_has_the_required_columns_and_is_read_back_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "team.csv"
    runs = [
        Run("1", {"Q1": (Hit("7", 0.5), Hit("8,8", 0.25))}),
        Run("2", {"Q1": (Hit("8,8", 1.0),)}),
    ]
    clmir.write_submission(path, runs)
    assert path.read_text().splitlines()[:3] == [HEADER.strip(), "Q1,7,1,0.5", 'Q1,"8,8",1,0.25']
    assert list(clmir.read_submission(path)) == runs
    assert clmir.validate_submission(path, queries=["Q1"], posts=["7", "8,8"]) == []


def test_more_than_three_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 to 3 runs, not 4"):
        clmir.write_submission(tmp_path / "team.csv", [Run(str(n)) for n in range(4)])


@pytest.mark.parametrize(
    ("text", "line", "fatal", "message"),
    [
        ("", 0, True, "the file is empty"),
        (HEADER, 0, True, "the file holds no results"),
        ("QueryId,SearchID,Run Number,Similarity Score\nQ1,7,1,1\n", 1, True, "the header must be"),
        (HEADER + "Q1,7,1\n", 2, True, "3 columns where 4 are expected"),
        (HEADER + "Q1,,1,1\n", 2, True, "SearchID is empty"),
        (HEADER + "Q1,7,4,1\n", 2, True, "run number 4 is not 1, 2 or 3"),
        (HEADER + "Q1,7,1.0,1\n", 2, True, "run number 1.0 is not"),
        (HEADER + "Q1,7,1,nan\n", 2, True, "score 'nan' is not a finite number"),
        (
            HEADER + "Q1,7,1,2\nQ1,7,1,1\n",
            3,
            True,
            r"7 is repeated for query Q1, run 1 \(first in line 2\)",
        ),
        (HEADER + "Q1,7,1,1\nQ1,8,1,2\n", 3, False, "score 2.0 is above the one before it"),
        (HEADER + "Q9,7,1,1\nQ1,7,1,1\n", 2, True, "query Q9 does not exist"),
        (HEADER + "Q1,99,1,1\n", 2, True, "post 99 does not exist"),
        (HEADER + "Q1,7,2,1\n", 0, True, "run 1 is missing"),
        (HEADER + "Q1,7,1,3\nQ1,8,1,2\nQ1,9,1,1\n", 0, False, r"3 results \(more than 2\)"),
    ],
)
def test_the_validator_reports_each_problem_of_a_submission(
    tmp_path: Path, text: str, line: int, fatal: bool, message: str
) -> None:
    path = write(tmp_path / "team.csv", text)
    problems = clmir.validate_submission(path, queries=["Q1"], posts=["7", "8", "9"], depth=2)
    assert len(problems) == 1
    assert (problems[0].line, problems[0].fatal) == (line, fatal)
    assert re.search(message, problems[0].message)


def test_a_query_without_results_in_one_run_is_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path / "team.csv", HEADER + "Q1,7,1,1\nQ1,7,2,1\nQ2,7,2,1\n")
    problems = clmir.validate_submission(path, queries=["Q1", "Q2"])
    assert [str(problem) for problem in problems] == ["warning: query Q2 has no results in run 1"]


def test_many_queries_without_results_make_one_warning_in_query_order(tmp_path: Path) -> None:
    path = write(tmp_path / "team.csv", HEADER + "Q1,7,1,1\n")
    queries = [f"Q{number}" for number in range(1, 12)]
    assert [str(problem) for problem in clmir.validate_submission(path, queries)] == [
        "warning: 10 of 11 queries have no results in run 1: Q2, Q3, Q4, Q5, Q6 …"
    ]


@pytest.mark.parametrize(
    "evil", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "a\r=1"]
)
def test_an_id_that_a_spreadsheet_would_run_as_a_formula_is_refused(
    tmp_path: Path, evil: str
) -> None:
    for run in (Run("r", {evil: (Hit("7", 1.0),)}), Run("r", {"Q1": (Hit(evil, 1.0),)})):
        with pytest.raises(InputError, match="is run as a formula by spreadsheets"):
            clmir.write_submission(tmp_path / "team.csv", [run])
    assert not (tmp_path / "team.csv").exists()


def test_ids_and_scores_that_are_signed_numbers_are_written_unchanged(tmp_path: Path) -> None:
    run = Run("1", {"-5": (Hit("+7", -0.5), Hit("a=b", -1.5))})
    clmir.write_submission(tmp_path / "team.csv", [run])
    assert "-5,+7,1,-0.5\n-5,a=b,1,-1.5\n" in (tmp_path / "team.csv").read_text()
    assert list(clmir.read_submission(tmp_path / "team.csv")) == [run]


def test_rows_without_an_id_or_text_are_bad_and_the_other_rows_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "posts.csv", "ID,Title,Body\n ,t,b\n7,t,b\n7,t,b\n8,t,b\n")
    bad = BadRows(skip=True, ids=SeenIds())
    assert [post.id for post in clmir.read_posts(path, bad)] == ["7", "8"]
    assert [error.line for error in bad.errors] == [2, 4]
    path = write(
        tmp_path / "queries.csv", "id,query,text,language\n,$x$,a,\nQ1,,,\nQ2,$x$,,Hindi\n"
    )
    bad = BadRows(skip=True)
    (query,) = clmir.read_queries(path, bad)
    assert (query.id, query.language) == ("Q2", "hi")
    assert [error.problem for error in bad.errors] == ["the id is empty, or there is no query"] * 2


def test_a_body_that_is_too_long_is_a_bad_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 3)
    path = write(tmp_path / "posts.csv", "ID,Title,Body\n6,t,long\n7,t,b\n")
    bad = BadRows(skip=True)
    assert [post.id for post in clmir.read_posts(path, bad)] == ["7"]
    assert bad.messages == [f"{path} line 2: the body is longer than 3 characters"]


def test_more_results_than_are_evaluated_are_a_warning(tmp_path: Path) -> None:
    header = "QueryID,SearchID,Run Number,Similarity Score\n"
    path = write(tmp_path / "team.csv", f"{header}Q1,1,1,3\nQ1,2,1,2\n")
    assert clmir.validate_submission(path, depth=2) == []
    assert [str(problem) for problem in clmir.validate_submission(path, depth=1)] == [
        "warning: query Q1, run 1 has 2 results (more than 1)"
    ]
    rows = "".join(f"Q1,{number},1,{2000 - number}\n" for number in range(1_001))
    (problem,) = clmir.validate_submission(write(path, header + rows))
    assert str(problem).endswith("has 1001 results (more than 1000)")


def test_an_empty_submission_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "team.csv", "")
    assert [str(problem) for problem in clmir.validate_submission(path)] == ["the file is empty"]
    write(path, "QueryID,SearchID,Run Number,Similarity Score\n")
    assert [str(problem) for problem in clmir.validate_submission(path)] == [
        "the file holds no results"
    ]


def test_reading_posts_sets_the_csv_field_limit_to_16_mebibytes(tmp_path: Path) -> None:
    before = csv.field_size_limit(1_000)
    try:
        assert len(list(clmir.read_posts(write(tmp_path / "train.csv", "id,body\n7,b\n")))) == 1
        assert csv.field_size_limit() == 16 * 1024 * 1024
    finally:
        csv.field_size_limit(before)
