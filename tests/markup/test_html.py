"""The formulas and the text of HTML pages."""

import pytest

from mathsetu.markup import extract, split, to_marked_text


def formulas(page: str) -> list[str]:
    return [span.content for span in split(page, "html") if span.kind == "formula"]


def test_stack_exchange_containers_keep_their_ids() -> None:
    page = '<p>Is <span class="math-container" id="q_4">$a &lt; b$</span> true?</p>'
    (formula,) = extract(split(page, "html"), "7", "body")
    assert (formula.id, formula.latex, formula.start) == ("q_4", "a < b", 6)


def test_a_container_without_dollars_is_a_formula_too() -> None:
    assert formulas('<span id="1" class="math-container">x^2</span>') == ["x^2"]


def test_containers_with_double_dollars_are_displayed_formulas() -> None:
    page = '<span class="math-container" id="1">$$x$$</span>'
    assert [span.display for span in split(page, "html")] == [True]


def test_dollars_outside_containers_are_text_if_the_page_has_containers() -> None:
    page = 'From $5 to 6$ <span class="math-container">$x$</span>'
    assert formulas(page) == ["x"]
    assert to_marked_text(page, "html") == "From \\$5 to 6\\$ $x$"


def test_plain_delimiters_work_across_entities_and_tags() -> None:
    assert formulas("<p>if $a &lt; b$ &amp; $$c<br>d$$</p>") == ["a < b", "c\nd"]


def test_mathjax_scripts_and_annotated_mathml_are_formulas() -> None:
    page = (
        '<script type="math/tex; mode=display">x<y</script>'
        '<math><semantics><mi>z</mi><annotation encoding="application/x-tex">z_1</annotation>'
        "</semantics></math>"
    )
    assert formulas(page) == ["x<y", "z_1"]


def test_code_is_kept_but_holds_no_formulas() -> None:
    page = "<pre><code>echo $HOME $PATH</code></pre><p>and <code>$x$</code></p>"
    assert formulas(page) == []
    assert to_marked_text(page, "html") == "echo \\$HOME \\$PATH\nand \\$x\\$"


def test_scripts_styles_and_comments_are_removed() -> None:
    page = "<style>p{}</style><script>alert(1)</script>a<!-- $x$ --><!DOCTYPE html>b"
    assert to_marked_text(page, "html") == "ab"


def test_blocks_become_lines_and_entities_become_characters() -> None:
    page = "<h1>Sums</h1><ul><li>one&nbsp;&mdash; two</li><li>three</li></ul><p>a<br/>b</p>"
    assert to_marked_text(page, "html") == "Sums\n- one — two\n- three\na\nb"


def test_attributes_may_hold_angle_brackets() -> None:
    assert to_marked_text('<img alt="a > b" src=x>text', "html") == "text"


def test_an_angle_bracket_that_opens_no_tag_is_text() -> None:
    assert to_marked_text("if a < b and b > c, $x<y$", "html") == "if a < b and b > c, $x<y$"


@pytest.mark.parametrize("page", ["$&lt$$<$", "$&lt$$b$", "&lt$x$", "&amp$a$$b$", "a&ltb $x$"])
def test_a_page_with_references_without_semicolons_is_split_without_loss(page: str) -> None:
    assert "".join(span.raw for span in split(page, "html")) == page
