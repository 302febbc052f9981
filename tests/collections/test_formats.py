"""The table of formats and the detection of formats."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mathsetu.collections import jsonl
from mathsetu.collections.formats import (
    FORMATS,
    Holds,
    _others,
    detect,
    detect_as,
    find,
    open_posts,
)
from mathsetu.collections.formula_sets import _is_table, open_formulas
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError, RowError, UnknownFormat
from mathsetu.records import Formula, Hit, Judgment, Post, Query, Run

EXAMPLES = {
    "jsonl-posts": ("posts.jsonl", '{"mathsetu": "posts", "version": 1}\n{"id": "1", "body": "b"}'),
    "jsonl-queries": ("q.jsonl", '{"id": "1", "text": "b"}\n'),
    "jsonl-formulas": ("f.jsonl", '{"id": "1", "latex": "x"}\n'),
    "jsonl-judgments": ("j.jsonl", '{"query_id": "1", "id": "b", "grade": 2}\n'),
    "stackexchange": (
        "Posts.xml",
        '<?xml version="1.0"?>\n<posts>\n<row Id="1" PostTypeId="1" Body="b" />\n</posts>\n',
    ),
    "wikipedia": (
        "wiki.xml",
        '<mediawiki xml:lang="en"><page><title>Pi</title><ns>0</ns><revision><text>A number.</text>'
        "</revision></page></mediawiki>",
    ),
    "document": ("note.md", "# Sums\n\nAdd $a$.\n"),
    "table": ("answers.tsv", "Subject\tContent\nSums\tAdd $a$.\n"),
    "clmir-posts": ("Train_set.csv", "ID,Title,Body,Tags\n1,t,b,a\n"),
    "clmir-queries": ("Test_Data.csv", "query_id, query, context\nQ1,x,words\n"),
    "clmir-submission": (
        "team.csv", "QueryID,SearchID,Run Number,Similarity Score\nQ1,7,1,0.5\n",
    ),
    "arqmath-answers": (
        "sample.jsonl",
        '{"answer_id": "8", "question_id": "7", "title": "t", "tags": [], "question": "q", '
        '"answer": "a"}\n',
    ),
    "arqmath-topics": (
        "topics.xml",
        '<?xml version="1.0" ?>\n<Topics><Topic number="A.1"><Title>t</Title>'
        "<Question>q</Question></Topic></Topics>",
    ),
    "arqmath-formulas": (
        "1.tsv", "id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n1\t2\t3\ta\t4\tx\n",
    ),
    "arqmath-answer-run": ("task1.tsv", "A.1\t7\t1\t2.5\t1\n"),
    "arqmath-formula-run": ("task2.tsv", "B.1\t55\t7\t1\t2.5\t1\n"),
    "crossmath-topics": ("hin_Deva.tsv", "A.1\tयोग\tपाठ $x$\talgebra\n"),
    "trec-run": ("bm25.run", "A.1 Q0 7 1 2.5 bm25\n"),
    "trec-qrels": ("qrels.txt", "A.1\t0\t7\t3\r\nA.1\t0\t8\t0\r\n"),
}  # fmt: skip
KINDS = {"posts": Post, "queries": Query, "formulas": Formula, "judgments": Judgment, "runs": Run}
RECORDS = {
    "posts": [Post(id="1", body="b")],
    "queries": [Query(id="A.1", text="Why?", title="t", tags=("a",), kind="question")],
    "formulas": [Formula(id="1", latex="x")],
    "judgments": [Judgment("A.1", "7", 3)],
    "runs": [Run("1", {"A.1": (Hit("7", 1.0, "5"),)})],
}


FIELDS = {
    Post: ("id", "body"),
    Query: ("id", "text"),
    Formula: ("id", "latex"),
    Judgment: ("query_id", "id", "grade"),
}


def read_back(record: Any) -> list[Any]:
    """What every format that is written keeps of a record; some formats lack other fields."""
    if isinstance(record, Run):
        return [[(topic, [hit.id for hit in hits]) for topic, hits in record.rankings.items()]]
    return [getattr(record, field) for field in FIELDS[type(record)]]


def test_every_format_has_an_example_here() -> None:
    elsewhere = {name for name in FORMATS if name.startswith(("ir_datasets", "parquet"))}
    assert set(EXAMPLES) | {"folder", "archive"} | elsewhere == set(FORMATS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_format_is_recognised_and_read(tmp_path: Path, name: str) -> None:
    file_name, text = EXAMPLES[name]
    path = tmp_path / file_name
    path.write_text(text, encoding="utf-8")
    form = detect(path)
    assert form.name == name
    records = list(form.read(path, BadRows()))
    assert records
    assert {type(record) for record in records} == {KINDS[form.holds]}


@pytest.mark.parametrize("name", [name for name in EXAMPLES if FORMATS[name].write])
def test_each_format_reads_what_it_writes(tmp_path: Path, name: str) -> None:
    form = FORMATS[name]
    path = tmp_path / EXAMPLES[name][0]
    assert form.write is not None
    form.write(path, RECORDS[form.holds])
    assert detect(path).name == name
    (record,) = form.read(path, BadRows())
    assert read_back(record) == read_back(RECORDS[form.holds][0])


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.validate])
def test_examples_of_formats_with_a_validator_are_valid(tmp_path: Path, name: str) -> None:
    file_name, text = EXAMPLES[name]
    (tmp_path / file_name).write_text(text)
    validate = FORMATS[name].validate
    assert validate is not None
    assert validate(tmp_path / file_name) == []


def test_a_table_with_a_long_first_line_is_recognised_by_all_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    rows = (
        {"question": "Why? " * 2_000, "formulas": [{"latex": "x"}], "id": n, "answer": "Yes."}
        for n in (7, 8)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert detect(path).name == "table"
    assert [(post.id, post.body) for post in open_posts(path)] == [("7", "Yes."), ("8", "Yes.")]


def test_a_folder_is_a_format_too(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("text")
    assert detect(tmp_path).name == "folder"
    assert [post.id for post in open_posts(tmp_path)] == ["note.md"]


def test_a_file_without_posts_is_refused_as_a_source_of_posts(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(EXAMPLES["trec-run"][1])
    with pytest.raises(InputError, match=r"holds runs \(TREC run, six columns\), not posts"):
        open_posts(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("just words\n", r"not a supported type of file .* Markdown, .* text --from document"),
        ("<xml></xml>", "not a supported type of file"),
    ],
)
def test_the_error_for_an_unrecognised_file_lists_the_supported_types(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "file.xyz"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        detect(path)


@pytest.mark.parametrize(
    ("holds", "name", "row", "problem"),
    [
        ("runs", "a.run", "A.1 Q0 5 1 nan x", "line 1: score 'nan' is not a finite number"),
        ("runs", "a.tsv", "A.1\t5\t1\tnan\tx", "line 1: score 'nan' is not a finite number"),
        ("runs", "a.txt", "A.1 5 2 1.0", "line 1: 4 columns where 6 are expected"),
        ("runs", "a.csv", "QueryID,SearchID,Run", "line 1: the header must be QueryID,SearchID,"),
        ("runs", "a", "A.1 5", "line 1: 2 columns where 6 are expected"),
        ("judgments", "a.txt", "A.1 5 2", "line 1: 3 columns where 4 are expected"),
        ("judgments", "a.qrels", "A.1 0 5 two", "line 1: grade 'two' is not an integer"),
        ("judgments", "a.tsv", "query\titeration\tid\tgrade", "line 1: grade 'grade' is not"),
    ],
)
def test_the_error_says_what_is_wrong_in_the_first_row_of_a_run_or_judgments(
    tmp_path: Path, holds: Holds, name: str, row: str, problem: str
) -> None:
    (tmp_path / name).write_text(f"{row}\n")
    with pytest.raises(RowError, match=re.escape(problem)):
        list(detect_as(tmp_path / name, holds).read(tmp_path / name, BadRows()))


@pytest.mark.parametrize(("name", "holds"), [("a.run", "runs"), ("a.qrels", "judgments")])
def test_the_file_extension_distinguishes_runs_from_judgments(
    tmp_path: Path, name: str, holds: str
) -> None:
    (tmp_path / name).write_text("A.1 0 one two\n")
    assert detect(tmp_path / name).holds == holds


def test_a_file_of_queries_or_text_is_refused_as_a_run(tmp_path: Path) -> None:
    jsonl.write_queries(tmp_path / "q.jsonl", RECORDS["queries"])
    (tmp_path / "paper.tex").write_text("Let $x$ be.")
    for name in ("q.jsonl", "paper.tex"):
        with pytest.raises(InputError, match="not runs"):
            detect_as(tmp_path / name, "runs")


def test_a_submission_is_recognised_even_if_it_is_named_like_a_run(tmp_path: Path) -> None:
    (tmp_path / "team.run").write_text(EXAMPLES["clmir-submission"][1])
    assert detect(tmp_path / "team.run").name == "clmir-submission"


def test_the_error_for_an_unknown_format_lists_the_known_formats() -> None:
    with pytest.raises(
        UnknownFormat, match=r"unknown format 'docx' \(known: archive, arqmath-answer-run"
    ):
        find("docx")


def test_the_format_of_standard_input_must_be_given() -> None:
    with pytest.raises(InputError, match="standard input must be named: --from FORMAT"):
        detect("-")


def test_a_format_for_one_run_refuses_two_runs(tmp_path: Path) -> None:
    write = FORMATS["trec-run"].write
    assert write is not None
    with pytest.raises(InputError, match="one run, not 2"):
        write(tmp_path / "a.run", [Run("1"), Run("2")])


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.run", "A.1,7,0.5\n", "trec-run"),
        ("a.csv", "A.1,7,0.5\n", "clmir-submission"),
        ("a.txt", "\n A.1\t7\t1\thigh\tours\n", "arqmath-answer-run"),
        ("a.txt", "A.1\t7\t1\thigh\n", "trec-run"),
        ("a.csv", "A.1 Q0 7 1 high ours\n", "trec-run"),
    ],
)
def test_a_malformed_run_is_read_in_the_nearest_format(
    tmp_path: Path, name: str, text: str, wanted: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert detect_as(path, "runs").name == wanted


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.sty", b"x", "a helper file of LaTeX"),
        ("Votes.xml", b"<votes/>", "another table of a Stack Exchange dump"),
        ("a.zip", b"PK", "an archive"),
        ("a.unknown.gz", b"\x1f\x8b\x08\0", "unsupported file type"),
        ("a.qrels", b"A.1 0 7 1\n", "holds judgments, not posts"),
        ("a.csv", b"colour,size\nred,1\n", "a table with no column for the body"),
        ("a.md", b"# One", "a document"),
        ("a.bin", b"\0\1\2", "unsupported file type"),
    ],
)
def test_a_file_in_a_folder_that_is_not_read_as_a_table_has_a_reason(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    said = _others(path, name, BadRows())
    assert isinstance(said, str)
    assert said.startswith(why)


@pytest.mark.parametrize(
    ("place", "url"),
    [
        ("math.stackexchange.com/Posts.xml", "https://math.stackexchange.com/q/8"),
        ("math.stackexchange.com-2024/Posts.xml", "https://math.stackexchange.com/q/8"),
        ("mathoverflow.net/Posts.xml", "https://mathoverflow.net/q/8"),
        ("nomathoverflow.network/Posts.xml", ""),
        ("dump/Posts.xml", ""),
    ],
)
def test_the_folder_name_of_a_dump_gives_its_site(tmp_path: Path, place: str, url: str) -> None:
    path = tmp_path / place
    path.parent.mkdir()
    path.write_text('<posts>\n<row Id="8" PostTypeId="1" Title="T" Body="x" />\n</posts>')
    bad = BadRows(tally=Tally())
    assert [post.url for post in open_posts(path, bad)] == [url]
    assert bad.tally is not None
    assert bad.tally.files == {"stackexchange": 1}


def test_archives_and_formula_tables_are_recognised_and_missing_or_empty_files_are_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "notes.md.gz"
    path.write_bytes(gzip.compress(b"text without any format"))
    assert _others(path, path.name, BadRows()) == "an archive"
    assert _is_table(tmp_path / "gone.tsv") is False
    (tmp_path / "empty.tsv").write_text("")
    assert _is_table(tmp_path / "empty.tsv") is False
    (tmp_path / "formulas.tsv").write_text("id\tpost_id\tformula\n1\t7\tx\n")
    assert _is_table(tmp_path / "formulas.tsv") is True


def test_formulas_are_read_from_posts_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("nr,text\n1,Let $x$ and $y$.\n")
    assert [formula.latex for formula in open_formulas(path)] == ["x", "y"]
    path.write_text("colour,size\nred,1\n")
    with pytest.raises(InputError, match="is neither a table of formulas"):
        list(open_formulas(path))
    (tmp_path / "qrels.txt").write_text("1 0 7 1\n")
    with pytest.raises(InputError, match=r"holds judgments .*, neither formulas nor posts"):
        list(open_formulas(tmp_path / "qrels.txt"))


@pytest.mark.parametrize("name", ["posts.jsonl", "posts.json"])
def test_the_error_for_a_json_file_without_json_quotes_its_beginning(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text(" not json\n")
    with pytest.raises(InputError, match=rf"{name}: is not JSON \(it begins with 'not'\)"):
        detect(path)
