"""CrossMath tables as spreadsheets leave them."""

from pathlib import Path

import pytest

from mathsetu.collections.crossmath import read_topics, write_topics
from mathsetu.records import Query


@pytest.mark.parametrize("text", ['"Sums"', '""', '"a"b"', 'x "y"', '"', '"a""b"'])
def test_quotes_around_a_text_come_back(tmp_path: Path, text: str) -> None:
    path = tmp_path / "eng_Latn.tsv"
    write_topics(path, [Query(id="A.1", text="What?", title=text, language="en")])
    assert [query.title for query in read_topics(path)] == [text]
