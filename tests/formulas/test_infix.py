import pytest

from mathsetu.formulas.infix import infix
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
    ],
)
def test_formulas_read_as_people_write_them(latex: str, text: str):
    assert infix(parse_latex(latex).opt) == text


def test_deep_trees_do_not_overflow():
    tree = Tree("V!x")
    for _ in range(5000):
        tree = Tree("F!f", [tree], ["0"])
    assert infix(tree).startswith("f(f(")
