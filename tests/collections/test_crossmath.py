"""CrossMath tables with the quotes and empty lines that spreadsheets write."""

from pathlib import Path

import pytest

from mathsetu.collections import crossmath
from mathsetu.collections.crossmath import read_topics, write_topics
from mathsetu.collections.rows import BadRows
from mathsetu.records import Query


@pytest.mark.parametrize("text", ['"Sums"', '""', '"a"b"', 'x "y"', '"', '"a""b"'])
def test_quotes_in_a_title_are_read_back_unchanged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "eng_Latn.tsv"
    write_topics(path, [Query(id="A.1", text="What?", title=text, language="en")])
    assert [query.title for query in read_topics(path)] == [text]


def test_empty_lines_and_bad_rows_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "hin_Deva.tsv"
    path.write_text("A.1\tt\tb\tx,y\n\n \tt\tb\tx\nA.2\tt\tb\nA.3\tt\tb\t\n", encoding="utf-8")
    bad = BadRows(skip=True)
    found = list(crossmath.read_topics(path, bad))
    assert [(query.id, query.tags, query.language, query.kind) for query in found] == [
        ("A.1", ("x", "y"), "hi", "question"),
        ("A.3", (), "hi", "question"),
    ]
    assert [error.line for error in bad.errors] == [3, 4]
    assert [query.language for query in crossmath.read_topics(path, bad, language="cs")] == [
        "cs",
        "cs",
    ]
