"""The LaTeX source of parts of formulas."""

import pytest

from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.part_latex import part_latex, part_text


@pytest.mark.parametrize(
    ("asked", "found", "written"),
    [
        ("?u + 1", "f(x,a) + 1", "f(x,a)"),
        ("?u + 1", r"2\cos(x^2) + 1", r"2\cos(x^2)"),
        ("?u + 1", r"(a+b)\left(c+d\right) + 1", r"(a+b)\left(c+d\right)"),
        ("?u + 1", r"\frac12+1", r"\frac12"),
        ("?u = 1", r"\{x_1,x_2\}=1", r"\{x_1,x_2\}"),
        ("?u = 1", "2|a||b|=1", "2|a||b|"),
        (r"\int_0^1 ?u", r"\int_0^1 x^n\,dx", r"x^n\,dx"),
        (r"\sqrt{?u}", r"\sqrt{x^{n+1}}", "x^{n+1}"),
        (
            "?u = 2",
            r"\begin{pmatrix}a&b\\c&d\end{pmatrix}=2",
            r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
        ),
    ],
)
def test_the_latex_of_a_wildcard_binding_is_found_in_the_formula(
    asked: str, found: str, written: str
) -> None:
    part = match_latex(asked, found).match.bindings["?u"]
    assert part_latex(part, found) == written


def test_a_part_that_is_not_in_one_piece_has_no_latex() -> None:
    part = match_latex("?u + b", "a + b + c").match.bindings["?u"]
    assert part_latex(part, "a + b + c") == ""
    assert part_latex(parse_latex("x+1").opt, "") == ""
    assert part_latex(parse_latex("x+1").opt, "x+1" * 2000) == ""


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (r"\int_a^b f(x)\,dx", "f(x)"),
        (r"\int_a^b f(x)^2\,dx", "f(x)^2"),
        (r"\int_a^b xf\left(x^2\right)dx", r"xf\left(x^2\right)"),
        (r"\int_a^b f'(x)g(x)\,dx", "f'(x)g(x)"),
        (r"\int_a^b f^{-1}(x)\,dx", "f^{-1}(x)"),
        (r"\int_a^b \sin x\,\varphi(x)\cos x\,dx", r"\sin x\,\varphi(x)\cos x"),
        (r"\int_a^b f(2x)\,dx", "f(2x)"),
        # If infix has the brackets, infix is used: it is easier to read.
        (r"\int_a^b \frac{\sin x}{x}\,dx", "sin(x)/x"),
        (r"\int_a^b \frac{\sin(x)}{x(x+1)}\,dx", "sin(x)/(x (x + 1))"),
        (r"\int_a^b f(x, a)\,dx", "f(x, a)"),
    ],
)
def test_the_text_of_a_wildcard_binding_keeps_the_brackets_of_arguments(
    found: str, text: str
) -> None:
    part = match_latex(r"\int_a^b ?f\,dx", found).match.bindings["?f"]
    assert part_text(part, found) == text
