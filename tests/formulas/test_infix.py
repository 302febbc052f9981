import re

import pytest

from mathsetu.formulas.infix import infix
from mathsetu.formulas.latex.symbols import SIGNS
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.tree import Tree


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{\sin x}{x}", "sin(x)/x"),
        ("a-(b-c)", "a - (b - c)"),
        ("a-b-c", "a - b - c"),
        ("(a+b)c", "(a + b) c"),
        ("x^{n+1}", "x^(n + 1)"),
        ("a_n=-1", "a_n = -1"),
        (r"\frac{a}{bc}", "a/(b c)"),
        (r"\infty", "∞"),
        ("f(x,a)", "f(x, a)"),
        ("P(A,B,C)", "P(A, B, C)"),
        ("[a,b)", "[a, b)"),
        (r"\{x \mid x>0\}", "{x | x > 0}"),
        (r"\{1,2\}", "{1, 2}"),
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "[a, b; c, d]"),
        (r"\begin{cases}1&x>0\\0\end{cases}", "{1, x > 0; 0}"),
        (r"\sqrt{x}\sqrt[3]{y}", "sqrt(x) root(y, 3)"),
        ("n!", "n!"),
        ("f''(x)", "f′′ x"),
        (r"A\cup B\subseteq C", "A ∪ B ⊆ C"),
        (r"a\cdot(b\pm c)", "a ⋅ (b ± c)"),
        (r"\lim_{x\to 0}\|v\|", "lim_(x → 0) ‖v‖"),
        (r"a\equiv b\pmod n", "a ≡ b (mod n)"),
        (r"\int f\,dx", "∫(f dx)"),
        (r"\sum_{k=0}^n (a_k-b)", "∑_(k = 0)^n (a_k - b)"),
        (r"\prod_k a_k b", "∏_k a_k b"),
    ],
)
def test_infix_is_written_as_people_write_formulas(latex: str, text: str):
    assert infix(parse_latex(latex).opt) == text


def test_no_sign_is_written_as_its_label_in_trees():
    for name in SIGNS:
        for latex in (f"a {name} b", f"{name} x", f"({name}_i (x, y])"):
            text = infix(parse_latex(latex).opt)
            assert not re.search(r"\w!\w|interval|\w-\w", text), text


def test_deep_trees_do_not_overflow():
    tree = Tree("V!x")
    for _ in range(5000):
        tree = Tree("F!f", (tree,), ("0",))
    assert infix(tree).startswith("f(f(")
