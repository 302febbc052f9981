"""Character references of any length and to any character."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas import parse_latex
from mathsetu.formulas.mathml import read_presentation
from mathsetu.markup import split, to_marked_text
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.references import unescape

LONG = ["&#" + "9" * 5000 + ";", "&#" + "0" * 5000 + "65;", "&#" + "0" * 9000, "&#x" + "f" * 9000]
ODD = ["&#x110000;", "&#xD800;", "&#0;", "&#;", "&#x;", "&#٣;", "&#1114112;", "&#x80;"]


@given(st.text("&#x0123456789aF;q", max_size=40))
def test_references_are_read_as_the_standard_library_reads_them(text: str) -> None:
    assert unescape(text) == html.unescape(text)


@pytest.mark.thorough
@pytest.mark.parametrize("reference", LONG + ODD)
def test_no_character_reference_causes_an_error(reference: str) -> None:
    for form in ("text", "markdown", "latex", "html"):
        for source in (reference, f"${reference}$", f"<code>{reference}</code>", f"`{reference}`"):
            to_marked_text(source, form)
            split(source, form)
            text_and_formulas(source, form, "7", "body")
    for latex in (reference, rf"\text{{{reference}}}", f"x_{reference}"):
        assert parse_latex(latex).opt.label
        assert parse_latex(latex).slt.label


def test_a_reference_to_an_invalid_character_becomes_the_replacement_character() -> None:
    assert unescape("a&#" + "9" * 5000 + ";b&#" + "0" * 5000 + "65;") == "a\ufffdbA"


@pytest.mark.parametrize("marks", ["&#xE000;0&#xE001;", "&#57344;7&#057345;", "\ue0005\ue001"])
def test_markdown_cannot_forge_the_placeholder_of_a_formula(marks: str) -> None:
    assert to_marked_text(f"{marks} and $x$", "markdown").count("$x$") == 1


def test_mathml_with_a_long_reference_is_refused() -> None:
    from mathsetu.errors import NotationError

    with pytest.raises(NotationError):
        read_presentation("<math><mi>&#" + "9" * 5000 + ";</mi></math>")
