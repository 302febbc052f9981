"""Tests of matrices typed as in programming languages."""

from __future__ import annotations

import pytest

from mathsetu.formulas import parse_latex
from tests.intake.test_typed import typed_question


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("[[1,2],[3,4]]", r"\begin{bmatrix}1&2\\3&4\end{bmatrix}"),
        ("[[1, 2, 3], [4, 5, 6]]", r"\begin{bmatrix}1&2&3\\4&5&6\end{bmatrix}"),
        ("A = [[a,b],[c,d]]", r"A=\begin{bmatrix}a&b\\c&d\end{bmatrix}"),
        ("det [[a,b],[c,d]] = ad - bc", r"\det\begin{bmatrix}a&b\\c&d\end{bmatrix}=ad-bc"),
        ("det [a b; c d] = ad - bc", r"\det\begin{bmatrix}a&b\\c&d\end{bmatrix}=ad-bc"),
        ("rank [1 2; 2 4]", r"\operatorname{rank}\begin{bmatrix}1&2\\2&4\end{bmatrix}"),
        ("[[1],[2]]", r"\begin{bmatrix}1\\2\end{bmatrix}"),
        ("[1 2; 3 4]", r"\begin{bmatrix}1&2\\3&4\end{bmatrix}"),
        ("A = [1, 2; 3, 4]", r"A=\begin{bmatrix}1&2\\3&4\end{bmatrix}"),
        ("A = [1 -2; 3 - 1 4]", r"A=\begin{bmatrix}1&-2\\3-1&4\end{bmatrix}"),
        ("[a b; c d]^-1", r"\begin{bmatrix}a&b\\c&d\end{bmatrix}^{-1}"),
        ("[1/2 0; 0 1/3]", r"\begin{bmatrix}\frac{1}{2}&0\\0&\frac{1}{3}\end{bmatrix}"),
        ("[[X,Y],[Z,W]] = 0", "[[X,Y],[Z,W]]=0"),
        ("[[x,y],z] = 0", "[[x,y],z]=0"),
        ("[[1,2],[3]] = 0", "[[1,2],[3]]=0"),
        ("x = [1,2,3]", "x=[1,2,3]"),
        ("x = [1; 2]", "x=[1;2]"),
        ("x = [a; b, c]", "x=[a;b,c]"),
        ("{{1,2},{3,4}}", r"\{\{1,2\},\{3,4\}\}"),
    ],
)
def test_rows_in_square_brackets_are_read_as_a_matrix(typed: str, latex: str) -> None:
    [formula] = typed_question(typed).formulas
    assert parse_latex(formula).opt == parse_latex(latex).opt
