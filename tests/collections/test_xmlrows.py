"""Rows of a dump: the fast reader gives the same rows as an XML parser."""

from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections.xmlrows import read_rows
from mathsetu.errors import NotationError, RowError
from mathsetu.formulas.mathml import read_presentation
from mathsetu.markup.attributes import BrokenReference, from_attribute, to_attribute

# Lines that a fast reader might misread.
LINES = st.lists(
    st.sampled_from(
        [
            '  <row Id="1" Body="&lt;p&gt;a &amp;amp; b&lt;/p&gt;&#xA;" />',
            '  <row Id="2" Body="c" Title="&quot;d&quot; &#233; &apos;" />\r',
            '<row Id="3" Body="é ψ 𝔸"/>',
            "<row Id='4' Body='\"'/>",
            '<row Id="5" Title="no body" />',
            '<row Body="6" Id="&#38;amp;" /><row Id="7" Body="" />',
            '<row Id="8" Body="a\tb" />',
            '<row Id="9" Body="two',
            'lines" />',
            '<row Id="10" Body="open">',
            "</row>",
            "<!-- ",
            " -->",
            "<![CDATA[",
            "]]>",
            "text",
            '<row Id="11" Body="<" />',
            '<row Id="12" Body="&nbsp;" Title="x" />',
            '<row Id="13" Title="&nbsp;" Body="x" />',
            '<row Id="14" Id="15" Body="x" />',
            '<row Id="16" Body="x" />"',
            '<row Id="17" Body="x" / >',
            '<row Id="18" Body="\x01" />',
            '<row Id="19" Body="\ufffe" />',
            "</posts>",
            "",
        ]
    ),
    max_size=8,
)


@given(lines=LINES, head=st.sampled_from(["", '<?xml version="1.0" encoding="utf-8"?>\n']))
def test_the_fast_reader_finds_the_same_rows_as_an_xml_parser(lines: list[str], head: str) -> None:
    document = "\n".join([f"{head}<posts>", *lines, "</posts>\n"])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "Posts.xml"
        path.write_bytes(document.encode())
        expected, broken_line = parsed(document.encode())
        if not broken_line:
            assert resolved(path) == expected
            return
        with pytest.raises((RowError, BrokenReference)) as caught:
            resolved(path)
        if isinstance(caught.value, RowError):
            assert caught.value.line == broken_line


def parsed(document: bytes) -> tuple[list[dict[str, str]], int]:
    """The rows of a document, or the line on which it is broken."""
    try:
        return [row.attrib for row in ElementTree.fromstring(document).iter("row")], 0
    except ElementTree.ParseError as broken:
        return [], broken.position[0]


def resolved(path: Path) -> list[dict[str, str]]:
    # Each body is resolved before the next row is read, as in the reader of posts.
    return [
        {name: from_attribute(value) if name == "Body" else value for name, value in row.items()}
        for _, row in read_rows(path, as_written="Body")
    ]


def test_every_row_has_its_line_number(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    plain = '<row Id="{}" Body="b" />'
    other = "<row Id='{}'\n Body='b'/>"
    rows = [plain, plain, other, plain, "<!-- {}\n-->", plain, other]
    path.write_text(
        "\n".join(["<posts>", *(row.format(n) for n, row in enumerate(rows))]) + "</posts>"
    )
    assert [(line, row["Id"]) for line, row in read_rows(path, as_written="Body")] == [
        (2, "0"), (3, "1"), (4, "2"), (6, "3"), (9, "5"), (10, "6"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "head",
    [
        '<?xml version="1.0" encoding="iso-8859-1"?>\n<posts>\n',
        '<!DOCTYPE posts [<!ATTLIST row Body CDATA "">]>\n<posts>\n',
    ],
)
def test_a_declared_encoding_or_default_value_applies_to_every_row(
    tmp_path: Path, head: str
) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(
        f'{head}<row Id="1" Body="é" />\n</posts>'.encode("iso-8859-1")
        if "8859" in head
        else f'{head}<row Id="1" />\n</posts>'.encode()
    )
    ((_, row),) = read_rows(path, as_written="Body")
    assert row == {"Id": "1", "Body": "é" if "8859" in head else ""}


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_attributes_are_read_back_unchanged(text: str) -> None:
    text = text.replace("\ufffe", "").replace("\uffff", "")
    element = f'<a b="{to_attribute(text)}"/>'
    assert from_attribute(to_attribute(text)) == text
    assert ElementTree.fromstring(element.encode()).attrib["b"] == text


@pytest.mark.parametrize("encoding", ["nope", "shift_jis", "utf-7", "idna", "hex"])
def test_an_unsupported_declared_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "Posts.xml"
    path.write_text(f"<?xml version='1.0' encoding='{encoding}'?><posts><row Body=''/></posts>")
    with pytest.raises(RowError, match=r"line \d+: malformed XML"):
        list(read_rows(path, as_written="Body"))
    with pytest.raises(NotationError):
        read_presentation(path.read_text())
