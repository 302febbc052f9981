"""Parts of formulas as they are written there."""

import pytest

from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.part_latex import part_latex


@pytest.mark.parametrize(
    ("asked", "found", "written"),
    [
        ("?u + 1", "f(x,a) + 1", "f(x,a)"),
        ("?u + 1", r"2\cos(x^2) + 1", r"2\cos(x^2)"),
        ("?u + 1", r"(a+b)\left(c+d\right) + 1", r"(a+b)\left(c+d\right)"),
        ("?u + 1", r"\frac12+1", r"\frac12"),
        ("?u = 1", r"\{x_1,x_2\}=1", r"\{x_1,x_2\}"),
        (r"\int_0^1 ?u", r"\int_0^1 x^n\,dx", r"x^n\,dx"),
        (r"\sqrt{?u}", r"\sqrt{x^{n+1}}", "x^{n+1}"),
        (
            "?u = 2",
            r"\begin{pmatrix}a&b\\c&d\end{pmatrix}=2",
            r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
        ),
    ],
)
def test_the_value_of_a_wildcard_is_found_in_the_formula(
    asked: str, found: str, written: str
) -> None:
    part = match_latex(asked, found).match.bindings["?u"]
    assert part_latex(part, found) == written


def test_what_is_not_in_one_piece_is_not_made_up() -> None:
    part = match_latex("?u + b", "a + b + c").match.bindings["?u"]
    assert part_latex(part, "a + b + c") == ""
    assert part_latex(parse_latex("x+1").opt, "") == ""
    assert part_latex(parse_latex("x+1").opt, "x+1" * 2000) == ""
