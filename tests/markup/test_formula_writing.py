r"""Formulas in environments, as LaTeX and as Markdown that other programs accept."""

import pytest

from mathsetu.markup import formula_in_latex, formula_in_markdown, split, to_marked_text


@pytest.mark.parametrize("star", ["", "*"])
@pytest.mark.parametrize(
    ("name", "rows", "in_markdown"),
    [
        ("equation", "a=b", "$$a=b$$"),
        ("equation", r"a=b \label{e}\tag{7}", r"$$a=b \tag{7}$$"),
        ("displaymath", "a=b", "$$a=b$$"),
        ("align", r"a&=b \nonumber\\ c&=d", r"$$\begin{aligned}a&=b \\ c&=d\end{aligned}$$"),
        ("align", "[a,b]&=c", r"$$\begin{aligned}{}[a,b]&=c\end{aligned}$$"),
        ("flalign", "a&=b", r"$$\begin{aligned}a&=b\end{aligned}$$"),
        ("alignat", "{2}a&=b", r"$$\begin{alignedat}{2}a&=b\end{alignedat}$$"),
        ("gather", r"a\\ b", r"$$\begin{gathered}a\\ b\end{gathered}$$"),
        ("multline", r"a\\ b", r"$$\begin{gathered}a\\ b\end{gathered}$$"),
        ("eqnarray", "a&=&b", r"$$\begin{array}{rcl}a&=&b\end{array}$$"),
    ],
)
def test_a_display_environment_has_no_delimiters_in_latex_and_dollars_in_markdown(
    name: str, star: str, rows: str, in_markdown: str
) -> None:
    latex = rf"\begin{{{name}{star}}}{rows}\end{{{name}{star}}}"
    assert formula_in_latex(latex, display=True) == latex
    assert formula_in_markdown(latex, display=True) == in_markdown


def test_an_inline_environment_stays_inline() -> None:
    latex = r"\begin{math}a=b\end{math}"
    assert formula_in_latex(latex, display=True) == latex
    assert formula_in_markdown(latex, display=True) == "$a=b$"


def test_an_environment_within_a_formula_gets_delimiters_in_latex_and_markdown() -> None:
    matrix = r"\begin{pmatrix}a\\b\end{pmatrix}"
    assert formula_in_latex(matrix, display=True) == rf"\[{matrix}\]"
    assert formula_in_latex(matrix, display=False) == f"${matrix}$"
    assert formula_in_markdown(matrix, display=True) == f"$${matrix}$$"
    # MathJax accepts a display environment inside a formula, LaTeX does not.
    within = r"f=\begin{align}a&=b\end{align}"
    assert formula_in_latex(within, display=True) == r"\[f=\begin{aligned}a&=b\end{aligned}\]"


def test_a_formula_is_written_without_blank_lines() -> None:
    gather = "\\begin{gather}\nx\n \n\\label{e}\n\\\\ y\n\\end{gather}"
    assert "\n\n" not in formula_in_latex(gather.replace("\\label{e}", ""), display=True)
    written = formula_in_markdown(gather, display=True)
    assert written == "$$\\begin{gathered}\nx\n\\\\ y\n\\end{gathered}$$"
    assert formula_in_latex("a\n\n=b", display=True) == "\\[a\n=b\\]"


def test_rows_with_tags_stay_in_the_environment_that_allows_tags() -> None:
    latex = r"\begin{align*}a&=b\tag{1}\end{align*}"
    assert formula_in_markdown(latex, display=True) == f"$${latex}$$"


@pytest.mark.parametrize("form", ["text", "latex", "markdown", "html"])
@pytest.mark.parametrize("dollars", ["$", "$$"])
def test_a_matrix_stays_inline_or_displayed_as_in_the_source(form: str, dollars: str) -> None:
    source = rf"Let {dollars}\begin{{pmatrix}}a\\b\end{{pmatrix}}{dollars} be."
    assert to_marked_text(source, form) == source
    assert split(source)[1].display == (dollars == "$$")
