"""Untrusted MathML: malformed, hostile or huge text gives an error with the reason."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mathsetu.errors import MathSetuError, NotationError
from mathsetu.formulas.mathml import read_content, read_presentation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no markup",
        "<math><mi>x</math>",
        "<math>&unheardof;</math>",
        "<math><mi>x</mi></math><math/>",
        "<math a=1/>",
        "<math>\ud800</math>",
        "<math>\x00</math>",
    ],
)
def test_malformed_text_is_refused_with_the_position(text: str) -> None:
    with pytest.raises(NotationError, match="at character"):
        read_presentation(text)


def test_entity_bombs_and_external_entities_are_refused() -> None:
    bomb = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><math><mi>&b;</mi></math>'
    with pytest.raises(NotationError, match="declares a document type"):
        read_presentation(bomb)
    outside = '<!DOCTYPE m [<!ENTITY f SYSTEM "file:///etc/hostname">]><math><mi>&f;</mi></math>'
    with pytest.raises(NotationError, match="declares a document type"):
        read_presentation(outside)


@pytest.mark.thorough
def test_five_thousand_levels_are_read() -> None:
    deep = "<mrow><mo>(</mo>" * 5000 + "<mi>x</mi>" + "<mo>)</mo></mrow>" * 5000
    assert sum(1 for _ in read_presentation(f"<math>{deep}</math>").walk()) == 5001
    deep = "<apply><minus/>" * 5000 + "<ci>x</ci>" + "</apply>" * 5000
    assert sum(1 for _ in read_content(f"<math>{deep}</math>").walk()) == 5001


def test_a_hundred_thousand_levels_are_refused() -> None:
    with pytest.raises(NotationError, match="nested deeper"):
        read_presentation("<mrow>" * 100_000 + "</mrow>" * 100_000)


def test_a_share_that_refers_to_no_earlier_element_is_refused() -> None:
    with pytest.raises(NotationError, match="earlier element"):
        read_content("<apply id='a'><plus/><share href='#a'/></apply>")
    with pytest.raises(NotationError, match="earlier element"):
        read_content("<apply><plus/><share href='#nowhere'/></apply>")


@pytest.mark.thorough
def test_shares_that_grow_exponentially_are_refused() -> None:
    lines = ["<ci id='s0'>x</ci>"]
    for i in range(1, 60):
        twice = f"<share href='#s{i - 1}'/>" * 2
        lines.append(f"<apply id='s{i}'><plus/>{twice}</apply>")
    with pytest.raises(NotationError, match="more than"):
        read_content(f"<list>{''.join(lines)}</list>")


_NAMES = "mrow mi mo mn msup msubsup munderover mfrac msqrt mroot mtable mtr mtd mmultiscripts"
_NAMES += " mprescripts mfenced menclose semantics annotation-xml apply ci cn csymbol share cerror"
_NAMES += " matrix matrixrow interval list root degree piecewise math foo"


def _element(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda name, parts: f"<{name} id='i' href='#i'>{''.join(parts)}</{name}>",
        st.sampled_from(_NAMES.split()),
        st.lists(inner, max_size=4),
    )


@example("<mrow><mtr></mtr><mn></mn></mrow>")
@given(st.recursive(st.sampled_from(["", "x", "(", "|", ",", "2"]), _element, max_leaves=20))
def test_any_elements_in_any_order_give_a_tree_or_an_error(inner: str) -> None:
    for read in (read_presentation, read_content):
        try:
            tree = read(f"<math>{inner}</math>")
        except MathSetuError:
            continue
        for node in tree.walk():
            assert len(node.edges) == len(node.children)
            assert len(set(node.edges)) == len(node.edges)
