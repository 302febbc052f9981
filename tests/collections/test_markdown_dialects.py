"""The markup of Markdown dialects."""

import pytest

from mathsetu.collections.documents import markdown_dialects
from mathsetu.collections.source_text import read_texts, to_text


def test_displayed_formulas_lose_blank_lines_and_blockquote_markers() -> None:
    source = "> $$\n>\n> a\n> $$\n$$\n\nb\n\n$$\nend"
    assert markdown_dialects._displays(source).split("\n") == [
        "> $$", " a", " $$", "", "$$", "b", "$$", "", "", "end",
    ]  # fmt: skip
    assert markdown_dialects._displays("no formula") == "no formula"


def test_dollars_in_code_do_not_open_a_displayed_formula() -> None:
    source = "```\n$$\n```\n$$\n\na\n$$"
    assert markdown_dialects._displays(source) == "```\n$$\n```\n$$\na\n$$\n"
    assert markdown_dialects._displays("$$ a $$\n\n$$\n\nb\n$$") == "$$ a $$\n\n$$\nb\n$$\n"


@pytest.mark.parametrize("lines", [199, 200])
def test_a_displayed_formula_has_at_most_two_hundred_lines(lines: int) -> None:
    source = "\n".join(["$$", *[""] * (lines - 1), "a$$"])
    assert markdown_dialects._displays(source).split("\n")[1] == "a$$"
    longer = "\n".join(["$$", *[""] * 200, "a$$", "", "b$$"])
    # The first formula is too long, so the second delimiter opens another one.
    assert markdown_dialects._displays(longer) == "\n".join(["$$", *[""] * 200, "a$$", "b$$", ""])


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("So $`x`$ and `$y`", "So $x$ and `$y`"),
        ("```math\nx\n```\n```math\ny\n```", "$$\nx\n$$\n$$\ny\n$$"),
        ("```\n$`x`$\n```math\n$`y`$", "```\n$`x`$\n```math\n$y$"),
        ("~~~\n$`x`$\n```\n$`y`$\n~~~\n$`z`$", "~~~\n$`x`$\n```\n$`y`$\n~~~\n$z$"),
        ("```math\n$`x`$\n~~~\n```\n$`y`$", "$$\n$`x`$\n~~~\n$$\n$y$"),
    ],
)
def test_the_formula_syntax_of_code_hosting_sites_becomes_dollars(
    source: str, written: str
) -> None:
    assert markdown_dialects._in_dollars(source) == written


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a %%no 5% %% b", "a  b"),
        ("![[picture.png]] [[Note|shown]] [[Note#part]]", " shown Note"),
        ("> [!note]+ Look", "> note: Look"),
        ("text ^block-1", "text "),
        ("==marked== a == b", "marked a == b"),
        ("~~struck~~ ~5 to ~~ 6", "struck ~5 to ~~ 6"),
        (
            "2^10^ and H~2~O, not x^2^n or `2^10^`",
            "2<sup>10</sup> and H<sub>2</sub>O, not x^2^n or `2^10^`",
        ),
        ("a^[note] b[^1]\n\n[^1]: Note", "a (note) b\n\n Note"),
        ('::: {#thm-a name="Zorn"}\nText\n:::', "Zorn.\n\nText\n"),
        ("::: {.x}\nText\n:::", "\nText\n"),
        ("$$x$$ {#eq-a}", "$$x$$"),
        ("as [see @smith, p. 3] and [-@doe] and [a@b](c)", "as  and  and [a@b](c)"),
        ("see @eq-one and me@eq-two.org", "see  and me@eq-two.org"),
        (r"see \eqref{a} \cite{b} \label{c}.", "see   ."),
        ("`@eq-one` $%%x%%$", "`@eq-one` $%%x%%$"),
    ],
)
def test_the_markup_of_dialects_is_removed_or_converted(source: str, text: str) -> None:
    assert markdown_dialects._without_marks(source) == text


def test_posts_in_markdown_are_read_like_markdown_files() -> None:
    source = "**Area** $`\\frac a2h`$\n\n```math\nx^2+1\n```\n\nend [[note|words]] and 2^10^"
    text, formulas = read_texts({"body": (source, "markdown")}, "7")["body"]
    assert [formula.latex for formula in formulas] == ["\\frac a2h", "x^2+1"]
    assert "end words and 2¹⁰" in text
    assert to_text(source, "markdown") == text
