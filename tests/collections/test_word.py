"""Word documents: headings, styles, titles, equations and footnotes."""

import zipfile
from pathlib import Path

import pytest

from mathsetu.collections.documents import word
from mathsetu.collections.formats import open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.errors import RowError
from mathsetu.records import Post

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
OBJECT = '<o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" ProgID="Equation.3"/>'
CORE = (
    '<cp:core xmlns:cp="a" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>A  $ title</dc:title></cp:core>"
)
EQUATION = "<m:oMath><m:r><m:t>x&lt;y</m:t></m:r></m:oMath>"


def paragraph(text: str, style: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r>{text}</w:r></w:p>"


def said(text: str, style: str = "") -> str:
    return paragraph(f"<w:t>{text}</w:t>", style)


def read(folder: Path, *paragraphs: str, bad: BadRows | None = None, **parts: str) -> list[Post]:
    path = folder / "a.docx"
    body = f"<w:document {WORD} {MATH}><w:body>{''.join(paragraphs)}</w:body></w:document>"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("word/document.xml", body)
        for name, text in parts.items():
            place = "docProps/core.xml" if name == "core" else f"word/{name}.xml"
            file.writestr(place, text)
    return list(open_posts(path, bad or BadRows()))


def test_a_document_is_split_at_headings_of_three_levels(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        said("Before"),
        said("Book", "Title"),
        said("One", "Heading1"),
        said("text"),
        said("Two", "Heading2"),
        said("text"),
        said("Three", "Heading3"),
        said("text"),
        said("Four", "Heading4"),
        said("Book again", "Title"),
    )
    assert [(post.title, post.body) for post in found] == [
        ("Book", "Before"),
        ("Book › One", "text"),
        ("Book › One › Two", "text"),
        ("Book › One › Two › Three", "text\nFour\nBook again"),
    ]


def test_styles_are_recognised_by_their_english_names(tmp_path: Path) -> None:
    style = '<w:style w:styleId="{}"><w:name w:val="{}"/></w:style>'
    made = style.format("berschrift1", " Heading 1 ") + style.format("Titel", "Title ")
    made += '<w:style w:styleId="none"/>' + style.format("x", "heading 4")
    found = read(
        tmp_path,
        said("Buch", "Titel"),
        said("Eins", "berschrift1"),
        said("a", "x"),
        styles=f"<w:styles {WORD}>{made}</w:styles>",
        core=CORE,
    )
    assert [(post.title, post.body) for post in found] == [("Buch › Eins", "a")]


def test_the_title_may_come_from_the_document_properties(tmp_path: Path) -> None:
    (post,) = read(tmp_path, said("text"), core=CORE)
    assert post.title == "A \\$ title"


def test_equations_and_footnotes_are_read_and_lost_equations_are_counted(tmp_path: Path) -> None:
    bad = BadRows(tally=Tally(), notes=[])
    note = f'<w:footnote w:id="2">{said("see there")}</w:footnote>'
    reference = '<w:footnoteReference w:id="2"/>'
    (post,) = read(
        tmp_path,
        paragraph(
            f"<w:t>a &lt;b&gt; </w:t>{EQUATION}{reference}{reference}<w:delText>no</w:delText>"
        ),
        f"<w:p><m:oMathPara>{EQUATION}{EQUATION}</m:oMathPara></w:p>",
        paragraph(OBJECT),
        bad=bad,
        footnotes=f"<w:footnotes {WORD}>{note}</w:footnotes>",
    )
    assert post.body == "a <b> $x<y$ (see there)\n$$x<y$$$$x<y$$"
    assert bad.tally is not None
    assert bad.tally.words == [(str(tmp_path / "a.docx"), "3 equations, 1 lost")]
    (told,) = bad.notes or []
    assert "1 equations are objects of the old equation editor" in told


def test_a_document_without_text_is_reported(tmp_path: Path) -> None:
    bad = BadRows(tally=Tally())
    assert read(tmp_path, paragraph("<w:t> </w:t>"), bad=bad) == []
    assert bad.tally is not None
    assert (dict(bad.tally.ignored.counts), dict(bad.tally.files)) == ({"no text in it": 1}, {})


def test_the_error_says_why_a_word_document_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("word/styles.xml", "<a/>")
    with pytest.raises(RowError, match=r"not a Word document \(word/document.xml is missing\)"):
        list(open_posts(path))
    with pytest.raises(RowError, match=r"word/styles.xml line 1: "):
        read(tmp_path, said("text"), styles="<w:styles")
    body = f"<w:document {WORD} {MATH}><w:body>{said('text')}</w:body></w:document>"
    monkeypatch.setattr(word, "_LONGEST_PART", len(body))
    assert len(read(tmp_path, said("text"))) == 1
    monkeypatch.setattr(word, "_LONGEST_PART", len(body) - 1)
    with pytest.raises(RowError, match=r"word/document.xml is longer than 0 MiB"):
        read(tmp_path, said("text"))


def test_text_before_the_first_heading_is_a_post_of_its_own(tmp_path: Path) -> None:
    found = read(tmp_path, said("Before"), said("One", "Heading1"), said("text"))
    assert [(post.id, post.title) for post in found] == [("a.docx", "a"), ("a.docx#one", "One")]
    # A heading without text is left out only if a subsection follows, not another section.
    found = read(tmp_path, said("One", "Heading1"), said("Two", "Heading1"), said("x", "Heading2"))
    assert [post.title for post in found] == ["One", "Two › x"]
