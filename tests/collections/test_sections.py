"""Sections of documents: titles, anchors, lines and levels."""

from pathlib import Path

import pytest

from mathsetu.collections import source_text
from mathsetu.collections.documents.sections import (
    Document,
    Section,
    decoded,
    posts_of,
    sections,
)
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.collections.trees import FolderTree
from mathsetu.errors import RowError
from mathsetu.records import Post


def document(name: str = "notes.md", **more: str) -> Document:
    return Document(FolderTree(Path("somewhere"), label=""), name, **more)  # type: ignore[arg-type]


def posts(
    parts: list[Section], bad: BadRows | None = None, form: str = "markdown", title: str = ""
) -> list[Post]:
    return list(posts_of(document(), parts, form, bad or BadRows(), title=title))


def test_sections_of_markdown_have_lines_levels_and_anchors() -> None:
    source = (
        "Before\n\n# One #\ntext\n\n## Two {#two .x}\ntext\nThree\n=====\nFour\n--\n### Five {a}"
    )
    assert list(sections(source, "markdown")) == [
        Section("", "Before\n\n", "", 1, 0),
        Section("One", "\ntext\n\n", "", 3, 1),
        Section("Two", "\ntext\n", "two", 6, 2),
        Section("Three", "\n", "", 8, 1),
        Section("Four", "\n", "", 10, 2),
        Section("Five {a}", "", "", 12, 3),
    ]


def test_sections_of_html_have_lines_levels_and_anchors() -> None:
    source = (
        '<p>x</p>\n<h1 id="a">One</h1>t\n<div id="b"><h2>Two</h2>u</div>'
        '<a id="c"></a><h3>Three</h3>v<section id="d">w<h2>Four</h2></section>'
        '<div id="e"><div></div><h2>Five</h2></div><div id="f"></div><h2>Six</h2>'
    )
    found = list(sections(source, "html"))
    assert [(part.title, part.anchor, part.line, part.level) for part in found] == [
        ("", "", 1, 0),
        ("One", "a", 2, 1),
        ("Two", "b", 3, 2),
        ("Three", "c", 3, 3),
        ("Four", "", 3, 2),
        ("Five", "e", 3, 2),
        ("Six", "", 3, 2),
    ]


def test_the_anchor_of_a_heading_is_the_id_of_an_element_that_begins_with_it() -> None:
    for page, anchor in (
        ('x<div id="a"><h2>T</h2>', "a"),
        ('<div id="a">x<h2>T</h2>', ""),
        ('<div id="a"> &nbsp;<h2>T</h2>', "a"),
        ('<a id="b"></a>x<h2>T</h2>', ""),
        ('<a id="b"></a><div><h2>T</h2>', ""),
        ('<div id="a"><section><h2>T</h2>', "a"),
        ('<div id="a"><h2>S</h2><h2>T</h2>', ""),
        ('<a id="b"></a><h2>S</h2><h2>T</h2>', ""),
        ('<div id="a"><p id="c"><h2>T</h2>', "a"),
        ('<div id="a"></section><h2>T</h2>', "a"),
        ('<h2><span id="d">T</span></h2>', "d"),
        ('<div id="a"><h2 id="e">T</h2>', "e"),
        ('<h2 data-id="f">T</h2>', ""),
        ("<h2 id=g&amp;h>T</h2>", "g&h"),
    ):
        assert list(sections(page, "html"))[-1].anchor == anchor, page


def test_headings_in_code_are_not_headings() -> None:
    assert len(list(sections("```\n# no\n```\n# yes\n", "markdown"))) == 2


def test_the_title_of_a_section_contains_the_headings_above_it() -> None:
    found = posts(
        [
            Section("", "preface", ""),
            Section("A", "text", "", 2, 1),
            Section("B", "text", "", 3, 2),
            Section("", "text", "", 4, 3),
            Section("C", "text", "", 5, 1),
            Section("", "text", "", 6, 0),
        ],
        title="Book",
    )
    assert [(post.id, post.title) for post in found] == [
        ("notes.md", "Book"),
        ("notes.md#a", "Book › A"),
        ("notes.md#b", "Book › A › B"),
        ("notes.md#section", "Book › A › B"),
        ("notes.md#c", "Book › C"),
        ("notes.md#section-1", "Book"),
    ]


def test_long_headings_are_left_out_of_titles_below_and_long_anchors_are_cut() -> None:
    kept, long = "a" * 200, "b" * 201
    parts = [
        Section("", "", ""),
        Section(kept, "text", "", 1, 1),
        Section(long, "text", "", 2, 2),
        Section("C", "text", "", 3, 3),
    ]
    found = posts(parts)
    assert found[-1].title == f"{kept} › C"
    assert found[1].title == f"{kept} › {long}"
    assert found[0].id == f"notes.md#{'a' * 120}"


def test_a_heading_without_text_is_a_post_unless_it_has_subsections() -> None:
    parts = [Section("", " ", ""), Section("A", "", "", 1, 1), Section("B", "", "", 2, 1)]
    assert [post.title for post in posts(parts)] == ["A", "B"]
    below = [*parts, Section("C", "text", "", 3, 2)]
    assert [post.title for post in posts(below)] == ["A", "B › C"]


def test_a_section_without_text_is_left_out_only_if_its_source_is_short() -> None:
    comment = "<!-- {} -->"
    for length, count in ((4_999, 1), (5_000, 2)):
        source = comment.format("x" * (length - 9))
        assert len(source) == length
        found = posts([Section("", source, ""), Section("A", "text", "", 2, 1)], form="html")
        assert len(found) == count


def test_sections_that_two_documents_share_are_counted_once() -> None:
    bad = BadRows(tally=Tally())
    known: set[str] = set()
    tree = FolderTree(Path("somewhere"), label="")
    parts = [
        Section("", "", ""),
        Section("A", "text", "", 1, 1, "shared.tex"),
        Section("B", "text", "", 2, 1, "shared.tex"),
    ]
    last = Section("C", "text", "", 3, 1)
    first = list(posts_of(Document(tree, "a.tex", known=known), parts, "text", bad))
    second = list(posts_of(Document(tree, "b.tex", known=known), [*parts, last], "text", bad))
    assert [post.id for post in first] == ["shared.tex#a", "shared.tex#b"]
    assert [post.id for post in second] == ["b.tex#c"]
    assert bad.tally is not None
    assert bad.tally.ignored.counts == {"a section of a file that two documents include": 2}


def test_a_bad_section_is_reported_with_its_line_and_the_others_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 10)
    bad = BadRows(skip=True)
    parts = [Section("", "", ""), Section("A", "x" * 11, "", 7, 1), Section("B", "x", "", 9, 1)]
    assert [post.title for post in posts(parts, bad)] == ["B"]
    assert [error.line for error in bad.errors] == [7]


def test_bytes_are_read_as_utf8_utf16_or_as_declared() -> None:
    assert decoded("é\r\nb\rc".encode(), "a") == "é\nb\nc"
    assert decoded("é".encode("utf-16"), "a") == "é"
    assert decoded(b"\xef\xbb\xbfx", "a") == "x"
    assert decoded(b"\xe9", "a", "latin-1") == "é"
    with pytest.raises(RowError, match="a line 3: byte 0xe9 is not UTF-8"):
        decoded(b"x\ny\nz \xe9\xe8", "a")
    with pytest.raises(RowError, match="a line 1: byte 0xe9 is not UTF-8"):
        decoded(b"\xe9", "a", "no-such-encoding")
