"""Parquet files: reading and writing our records, and reading those of other programs."""

from pathlib import Path
from typing import Any

import pytest

from mathsetu.collections import jsonl, sampler, source_text, trec
from mathsetu.collections import parquet as ours
from mathsetu.collections.formats import detect, find
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.errors import InputError, RowError
from mathsetu.records import Formula, Hit, Judgment, Post, Query, Run
from tests.command import Mathsetu

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RUNS = [
    Run("a", {"A.1": (Hit("7", 2.5), Hit("9", 1.0))}),
    Run("b", {"A.1": (Hit("f1", 2.5, "7"),), "A.2": (Hit("f2", -1.0),)}),
]
RECORDS: dict[str, list[Any]] = {
    "parquet-posts": [
        *list(sampler.posts())[:9],
        Post("x", "b", score=-3, tags=("a", "ü"), formulas=(Formula("f", "x", start=4),)),
    ],
    "parquet-queries": [
        *list(sampler.queries())[:3],
        Query("q", "t", formulas=(Formula("f", "x"),)),
    ],
    "parquet-judgments": [*list(sampler.judgments())[:5], Judgment("q", "p", -1)],
    "parquet-runs": RUNS,
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_read_as_they_were_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    form = find(name)
    assert form.write is not None
    form.write(path, RECORDS[name])
    assert detect(path).name == name
    assert list(form.read(path, REFUSE)) == RECORDS[name]
    first = path.read_bytes()
    form.write(path, RECORDS[name])
    assert path.read_bytes() == first


@pytest.mark.thorough
def test_conversion_to_parquet_and_back_changes_nothing(mathsetu: Mathsetu, tmp_path: Path) -> None:
    jsonl.write_posts(tmp_path / "posts.jsonl", sampler.posts())
    done = mathsetu("convert", "posts.jsonl", "posts.parquet")
    assert done.code == 0
    assert "from jsonl-posts to parquet-posts" in done.err
    assert mathsetu("convert", "posts.parquet", "back.jsonl").code == 0
    assert Path("back.jsonl").read_bytes() == Path("posts.jsonl").read_bytes()
    trec.write_run(tmp_path / "a.run", RUNS[0])
    assert mathsetu("convert", "a.run", "a.parquet").code == 0
    assert mathsetu("convert", "a.parquet", "b.run", "--to", "trec-run").code == 0
    assert Path("b.run").read_text() == Path("a.run").read_text()


def test_evaluate_reads_runs_and_judgments_of_other_programs(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    table = {"qid": ["1", "1"], "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]}
    parquet.write_table(arrow.table(table), tmp_path / "theirs.parquet")
    table = {"q_id": ["1"], "doc_id": ["b"], "score_of": [3], "label": [1]}
    parquet.write_table(arrow.table(table), tmp_path / "qrels.parquet")
    found = mathsetu.json("evaluate", "qrels.parquet", "theirs.parquet", "-m", "MRR")
    assert isinstance(found, dict)
    assert found["runs"][0]["run"] == "theirs"
    assert found["runs"][0]["measures"]["MRR"]["mean"] == 0.5


def test_a_parquet_file_of_another_program_is_recognised_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "notes.parquet"
    parquet.write_table(arrow.table({"Content": ["Is $1+1=2$?"], "n": [1]}), path)
    assert detect(path).name == "table"


@pytest.mark.parametrize(
    ("name", "table", "problem"),
    [
        ("parquet-posts", {"id": ["1"]}, '"body" is missing'),
        ("parquet-posts", {"id": [1], "body": ["x"]}, '"id" must be a text'),
        ("parquet-posts", {"id": ["1"], "body": ["x"], "by": ["y"]}, '"by" is not a known key'),
        ("parquet-posts", {"id": ["1"], "body": ["x"], "tags": [[{"a": 1}]]}, '"tags" must be'),
        ("parquet-posts", {"id": ["1"], "body": ["x"], "formulas": [["y"]]}, "an object"),
        ("parquet-runs", {"qid": ["1"], "docno": ["a"], "score": [float("inf")]}, "score is inf"),
        ("parquet-runs", {"qid": [None], "docno": ["a"], "score": [1.0]}, "qid is None"),
        ("parquet-judgments", {"qid": ["1"], "docno": ["a"], "label": [0.5]}, "label is 0.5"),
        ("parquet-judgments", {"qid": ["1"], "docno": ["a"], "label": [True]}, "label is True"),
    ],
)
def test_bad_rows_are_reported_or_skipped(
    name: str, table: dict[str, list[object]], problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.parquet"
    parquet.write_table(arrow.table(table), path)
    with pytest.raises(RowError, match=f"bad.parquet line 1: .*{problem}"):
        list(find(name).read(path, REFUSE))
    bad = BadRows(skip=True)
    assert list(find(name).read(path, bad)) == []
    assert bad.count == 1


def test_broken_files_and_wrong_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 nothing PAR1")
    assert detect(path).name == "table"
    for name in RECORDS:
        with pytest.raises(InputError, match="cannot be read as Parquet"):
            list(find(name).read(path, REFUSE))
    parquet.write_table(arrow.table({"a": [1]}), path)
    with pytest.raises(InputError, match=r"needs the columns query_id \(or qid.*there are: a"):
        list(find("parquet-runs").read(path, REFUSE))


def test_a_lone_surrogate_is_refused_and_leaves_the_old_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "posts.parquet"
    path.write_bytes(b"before")
    write = find("parquet-posts").write
    assert write is not None
    with pytest.raises(InputError, match="a text contains an invalid character"):
        write(path, [Post("1", "\ud800")])
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["posts.parquet"]
    with pytest.raises(InputError, match="standard input or output"):
        write("-", [])


def test_the_kind_of_records_is_detected_from_metadata_or_columns(tmp_path: Path) -> None:
    posts = tmp_path / "a.parquet"
    ours.write_posts(posts, [Post("7", "b")])
    assert ours.detect_records(posts) == "posts"
    runs = tmp_path / "b.parquet"
    columns = {"qid": ["1"], "docno": ["7"], "score": [0.5]}
    parquet.write_table(arrow.table(columns), runs)
    assert ours.detect_records(runs) == "runs"
    other = tmp_path / "c.parquet"
    other.write_bytes(b"no")
    assert ours.detect_records(other) == ours.detect_records(tmp_path / "gone.parquet") == ""
    assert ours.detect_records(tmp_path / "a.csv") == ""


def test_null_values_of_a_row_are_left_out() -> None:
    row = {"id": "7", "title": None, "tags": ["a"], "formulas": [{"id": "f", "slt": None}]}
    assert ours._without_nulls(row) == {"id": "7", "tags": ["a"], "formulas": [{"id": "f"}]}


def test_bad_posts_are_skipped_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    ours.write_posts(path, [Post("1", "long"), Post("2", "b"), Post("2", "c"), Post("3", "d")])
    table = parquet.read_table(path).drop_columns(["formulas"])
    parquet.write_table(table, path)
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 3)
    bad = BadRows(skip=True, ids=SeenIds(), form="html")
    assert [post.id for post in ours.read_posts(path, bad)] == ["2", "3"]
    assert [error.line for error in bad.errors] == [1, 3]
