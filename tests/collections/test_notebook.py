"""The cells of notebooks, and the titles of HTML pages."""

import json
from pathlib import Path

import pytest

from mathsetu.collections.documents import notebook
from mathsetu.collections.documents.html import _is_repeated, _own_title
from mathsetu.collections.documents.sections import Section
from mathsetu.collections.formats import open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.errors import RowError


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ({"cell_type": "markdown", "source": ["a\n", 7, "b"]}, ["a\nb"]),
        ({"cell_type": "markdown", "source": 7}, [""]),
        ({"cell_type": "heading", "source": "T", "level": 6}, ["###### T"]),
        ({"cell_type": "heading", "source": "T", "level": 7}, ["# T"]),
        ({"cell_type": "heading", "source": "T", "level": 0}, ["# T"]),
        ({"cell_type": "heading", "source": "T"}, ["# T"]),
        ({"cell_type": "heading", "source": "T", "level": "2"}, ["# T"]),
        ({"cell_type": "code", "source": " "}, []),
        ({"cell_type": "code", "input": "x"}, ["```\nx\n```"]),
        ({"cell_type": "code", "source": "````"}, ["`````\n````\n`````"]),
        ({"cell_type": "code", "source": "", "outputs": [
            {"data": {"text/markdown": "m", "text/latex": "$l$"}},
            {"data": {"text/plain": "p"}}, {"data": 7}, 7, {"data": {"text/markdown": ["a", "b"]}},
        ]}, ["$l$", "ab"]),
        ({"cell_type": "raw", "source": "x"}, []),
    ],
)  # fmt: skip
def test_a_cell_gives_its_text_code_and_formulas(cell: dict[str, object], texts: list[str]) -> None:
    assert list(notebook._cell(cell)) == texts


def test_raw_cells_are_counted(tmp_path: Path) -> None:
    cells = [{"cell_type": "raw"}, {"cell_type": "markdown", "source": "x"}, {"cell_type": "raw"}]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    bad = BadRows(tally=Tally())
    assert len(list(open_posts(path, bad))) == 1
    assert bad.tally is not None
    assert bad.tally.ignored.counts == {"a raw cell of a notebook": 2}


def test_the_total_length_of_the_cells_of_a_notebook_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ipynb"
    cells = [{"cell_type": "markdown", "source": text} for text in ("abc", "de")]
    path.write_text(json.dumps({"cells": cells}))
    monkeypatch.setattr(notebook, "LONGEST_TEXT", 7)
    assert len(list(open_posts(path))) == 1
    monkeypatch.setattr(notebook, "LONGEST_TEXT", 6)
    with pytest.raises(RowError, match="its cells have more than 6 characters"):
        list(open_posts(path))


@pytest.mark.parametrize(
    ("title", "repeated"),
    [("Rings", True), ("Rings | Site", True), ("Site - rings", True), ("Rings and Site", False),
     ("Of Rings", False), ("Fields", False)],
)  # fmt: skip
def test_a_page_title_that_repeats_the_heading_with_a_site_name_is_recognised(
    title: str, repeated: bool
) -> None:
    parts = [Section("", "", ""), Section("Rings", "x", "", 1, 1), Section("A", "x", "", 2, 2)]
    assert _is_repeated(title, parts) is repeated
    assert not _is_repeated(title, [*parts, Section("Fields", "x", "", 3, 1)])


def test_a_heading_without_text_is_the_page_title_if_others_of_its_level_follow() -> None:
    first, one, two = Section("", " ", ""), Section("A", "", "", 1, 1), Section("B", "x", "", 2, 1)
    assert _own_title([first, one, two]) == "A"
    assert _own_title([first, one]) is None
    assert _own_title([first, one, two._replace(level=2)]) is None
    assert _own_title([first, one._replace(level=2), two]) is None
    assert _own_title([first, one._replace(source="x"), two]) is None
    assert _own_title([first._replace(source="x"), one, two]) is None
