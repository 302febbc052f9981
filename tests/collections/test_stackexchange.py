"""Posts.xml of a Stack Exchange dump and of ARQMath."""

import gzip
from html import escape
from pathlib import Path

import pytest

from mathsetu.collections.rows import BadRows
from mathsetu.collections.stackexchange import read_posts
from mathsetu.errors import RowError
from mathsetu.markup import extract, split

QUESTION = (
    '<p>Is <span class="math-container" id="51">$x &lt; y$</span> so, with '
    "<code>a &amp;&amp; b</code>\nand caf&eacute;?</p>\n"
)


def row(**attributes: object) -> str:
    pairs = (
        f'{name}="{escape(str(value)).replace(chr(10), "&#xA;")}"'
        for name, value in attributes.items()
    )
    return f"  <row {' '.join(pairs)} />\n"


def document(folder: Path, *rows: str) -> Path:
    path = folder / "Posts.xml"
    start = '\ufeff<?xml version="1.0" encoding="utf-8"?>\n<posts>\n'
    path.write_text(f"{start}{''.join(rows)}</posts>", encoding="utf-8")
    return path


def test_a_question_and_its_answer_are_read(tmp_path: Path) -> None:
    path = document(
        tmp_path,
        row(Id=7, PostTypeId=1, Score=-3, Title="Is $a<b$ & c?", Body=QUESTION, Tags="<a><b-c>"),
        row(Id=8, PostTypeId=2, ParentId=7, Body="<p>Yes.</p>", Tags="|a|b|"),
        row(Id=9, PostTypeId=5, Body="<p>A tag wiki.</p>"),
    )
    question, answer = read_posts(path, site="math.stackexchange.com", language="en")
    assert question.title == "Is $a<b$ & c?"
    assert question.body == "Is $x < y$ so, with a && b\nand café?"
    assert (question.kind, question.thread_id, question.parent_id) == ("question", "7", "")
    assert (question.tags, question.score) == (("a", "b-c"), -3)
    assert [(f.id, f.latex, f.where, f.start) for f in question.formulas] == [
        ("7:title:0", "a<b", "title", 3),
        ("51", "x < y", "body", 3),
    ]
    assert (answer.kind, answer.thread_id, answer.parent_id) == ("answer", "7", "7")
    assert (answer.score, answer.tags) == (None, ("a", "b"))
    assert question.url == "https://math.stackexchange.com/q/7"
    assert answer.url == "https://math.stackexchange.com/a/8"


def test_mathml_in_a_row_is_read_as_a_formula(tmp_path: Path) -> None:
    body = '<p>Is <math alttext="x&lt;1"><mi>x</mi></math> so?</p>'
    (post,) = read_posts(document(tmp_path, row(Id=7, PostTypeId=1, Title="t", Body=body)))
    assert post.body == "Is $x<1$ so?"
    assert [(formula.latex, formula.start) for formula in post.formulas] == [("x<1", 3)]


def test_the_id_of_the_accepted_answer_is_read(tmp_path: Path) -> None:
    path = document(
        tmp_path,
        row(Id=7, PostTypeId=1, AcceptedAnswerId=9, Title="t", Body="<p>b</p>"),
        row(Id=9, PostTypeId=2, ParentId=7, Body="<p>Yes.</p>"),
    )
    assert [post.accepted_id for post in read_posts(path)] == ["9", ""]


def test_a_title_in_html_keeps_its_formula_ids(tmp_path: Path) -> None:
    title = 'About <span class="math-container" id="3">$x$</span>'
    path = document(tmp_path, row(Id=1, PostTypeId=1, Title=title, Body="<p>b</p>"))
    (post,) = read_posts(path)
    assert (post.title, post.formulas[0].id) == ("About $x$", "3")


@pytest.mark.parametrize(
    "body",
    [
        QUESTION,
        '<p><span class="math-container">$5$</span> or <span class="math-container">$$\n6 '
        "\\\\ 7$$</span></p>",
        '<p>It costs $5. <span class="math-container">$\\begin{cases}1\\end{cases}$</span></p>',
        "<pre>  indented $x$</pre><p>and $y$ is not marked</p>",
        '<span class="math-container">$\\text{if $a$}$</span> <span class="math-container"> $ $ '
        "</span><!-- hidden --> end",
        "no mathematics, no tags",
        "Let \\(x\\) be \\$5.",
    ],
)
def test_the_positions_of_formulas_match_the_text(tmp_path: Path, body: str) -> None:
    path = document(tmp_path, row(Id=1, PostTypeId=1, Body=body))
    (post,) = read_posts(path)
    expected = extract(split(post.body), "1", "body")
    assert [(f.latex, f.start) for f in post.formulas] == [(f.latex, f.start) for f in expected]
    marked = [span.content for span in split(body, "html") if span.kind == "formula"]
    assert [formula.latex for formula in post.formulas] == marked


def test_rows_in_unusual_xml_notation_are_read(tmp_path: Path) -> None:
    path = document(
        tmp_path,
        "<row\n Id='1' PostTypeId=\"1\"\n Body='&lt;p>one \"1\"&lt;/p>'></row>\n",
        row(Id=2, PostTypeId=1, Body="two"),
        '  <row Id="3" PostTypeId="1" Body="three &#38; &#x394;&apos;" />\n',
        '<row Id="4" PostTypeId="1" Body="four"/><row Id="5" PostTypeId="1" Body="five"/>\n',
    )
    posts = list(read_posts(path))
    assert [post.body for post in posts] == ['one "1"', "two", "three & Δ'", "four", "five"]


def test_a_compressed_dump_is_read(tmp_path: Path) -> None:
    plain = document(tmp_path, row(Id=2, PostTypeId=1, Body="two"))
    packed = tmp_path / "Posts.xml.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_posts(packed)) == list(read_posts(plain))


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"PostTypeId": 1, "Body": "b"}, "the row has no Id"),
        ({"Id": 1, "PostTypeId": 1}, "the row has no Body"),
        ({"Id": "", "PostTypeId": 1, "Body": "b"}, "Id is empty"),
        ({"Id": 1, "PostTypeId": 2, "Body": "b"}, "answer 1 has no ParentId"),
        ({"Id": 1, "PostTypeId": 1, "Body": "b", "Score": "x"}, "Score 'x' is not an integer"),
    ],
)
def test_a_bad_row_is_reported_or_skipped(
    tmp_path: Path, attributes: dict[str, object], problem: str
) -> None:
    good = row(Id=5, PostTypeId=1, Body="good")
    path = document(tmp_path, good, row(**attributes), good)
    with pytest.raises(RowError, match=problem) as caught:
        list(read_posts(path))
    assert caught.value.line == 4
    bad = BadRows(skip=True)
    assert len(list(read_posts(path, bad))) == 2
    assert (bad.count, bad.errors[0].line) == (1, 4)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('<row Id="1" PostTypeId="1" Body="a < b" />\n', 4),
        ('<row Id="1" Id="2" PostTypeId="1" Body="b" />\n', 4),
        ('<row Id="1" PostTypeId="1" Body="never closed />\n', 4),
        ('  <row Id="1" PostTypeId="1" Body="&nbsp;" />\n', 4),
        ('  <row Id="1" PostTypeId="1" Body="&#xFFFFFFFFFF;" />\n', 4),
        ('  <row Id="1" PostTypeId="1" Body="&#xD800; & b" />\n', 4),
        ("</posts>\n<posts>\n", 5),
    ],
)
def test_broken_xml_is_reported_with_its_line_and_never_skipped(
    tmp_path: Path, rows: str, line: int
) -> None:
    path = document(tmp_path, row(Id=5, PostTypeId=1, Body="good"), rows)
    with pytest.raises(RowError, match="malformed XML") as caught:
        list(read_posts(path, BadRows(skip=True)))
    assert caught.value.line in (line, line + 1)


def test_rows_before_broken_xml_are_read(tmp_path: Path) -> None:
    path = document(tmp_path, row(Id=5, PostTypeId=1, Body="good"), "<row Id=5 />\n")
    posts = read_posts(path)
    assert next(posts).id == "5"
    with pytest.raises(RowError, match="line 4: malformed XML"):
        next(posts)


def test_a_tag_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mathsetu.collections.xmlstream.LONGEST_LINE", 1 << 20)
    path = document(tmp_path, f'<row Id="1" Body="{"a" * (3 << 20)}" />\n')
    with pytest.raises(RowError, match="line 3: a tag is longer than 1 MiB"):
        list(read_posts(path))


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    path.write_text("<posts>\n" + row(Id=5, PostTypeId=1, Body="good"))
    with pytest.raises(RowError, match=r"line 3: malformed XML .*no element found"):
        list(read_posts(path))


def test_a_dump_that_declares_entities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    path.write_text(
        '<!DOCTYPE posts [<!ENTITY a "aaaaaaaaaa">\n<!ENTITY b "&a;&a;&a;&a;">]>\n'
        '<posts>\n<row Id="1" PostTypeId="1" Body="&b;" />\n</posts>'
    )
    with pytest.raises(RowError, match="line 1: the document declares entities"):
        list(read_posts(path))
