"""Untrusted XML: what is refused, with its place, and the trees that are read."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.markup.safe_xml import MAX_DEPTH, RefusedXml, XmlParser, read_tree

BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_a_document_type_is_refused_in_every_encoding(encoding: str) -> None:
    text = BOMB if encoding != "utf-16-be" else "\ufeff" + BOMB
    with pytest.raises(RefusedXml, match="declares a document type"):
        read_tree(text.encode(encoding))


def test_an_entity_is_refused_where_a_document_type_is_allowed() -> None:
    XmlParser(doctype=True).feed(b"<!DOCTYPE a><a/>", final=True)
    with pytest.raises(RefusedXml, match="declares entities") as refused:
        XmlParser(doctype=True).feed(b"\n" + BOMB.encode())
    assert refused.value.line == 2


@pytest.mark.parametrize(
    ("data", "problem", "line", "byte"),
    [
        (b"<a>\n<b></a>", "column 6: mismatched tag", 2, 9),
        (b"<a", "column 1: unclosed token", 1, 0),
        (b"", "no element found", 1, 0),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "encoding", 1, 30),
        ("<a>\ud800</a>".encode("utf-8", "surrogatepass"), "invalid token", 1, 3),
    ],
)
def test_malformed_xml_is_reported_with_its_line_and_byte(
    data: bytes, problem: str, line: int, byte: int
) -> None:
    with pytest.raises(RefusedXml, match=problem) as refused:
        read_tree(data)
    assert (refused.value.line, refused.value.byte) == (line, byte)


def test_the_depth_of_nesting_is_limited() -> None:
    def nested(depth: int) -> bytes:
        return b"<a>" * depth + b"</a>" * depth

    assert read_tree(nested(MAX_DEPTH)).tag == "a"
    with pytest.raises(RefusedXml, match="nested deeper"):
        read_tree(nested(MAX_DEPTH + 1))


@given(
    st.recursive(
        st.tuples(st.sampled_from("abc"), st.text("x<&\u00e9 ", max_size=4), st.just([])),
        lambda inner: st.tuples(
            st.sampled_from("abc"), st.text("x<&\u00e9 ", max_size=4), st.lists(inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_trees_are_the_same_as_those_of_the_standard_library(
    tree: tuple[str, str, list[object]],
) -> None:
    def written(node: tuple[str, str, list[object]]) -> ElementTree.Element:
        name, text, children = node
        element = ElementTree.Element(f"{{urn:{name}}}{name}", {name: text})
        element.text = text or None
        element.extend(written(child) for child in children)  # type: ignore[arg-type]
        return element

    data = ElementTree.tostring(written(tree))
    assert ElementTree.tostring(read_tree(data)) == data
