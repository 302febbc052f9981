"""Layouts and trees do not change after they are made, in any order of reading."""

from itertools import permutations

import pytest

from mathsetu.formulas.latex.boxes import Box, Row
from mathsetu.formulas.mathml import write_mathml
from mathsetu.formulas.notation import write_tree
from mathsetu.formulas.parse import Parsed, parse_latex
from mathsetu.formulas.tree import Tree

FORMULAS = [
    r"x^2+y_1",
    r"\langle \hat{x}, y_1\rangle \cdot \lfloor (a,b), [c]_n \rfloor^2",
    r"f(x, y) = \{ z : |z| < 1, z \neq 0 \}",
    r"\frac{-b \pm \sqrt{b^2-4ac}}{2a} \quad \text{if $a \ne 0$} y",
    r"\mathbf{ab x_1} + {\rm d y^a} = \mathrm{id}^{}_2 x",
    r"{}_n C_k = {n \choose k}, \overset{a}{=}, \xrightarrow[b]{a}, \pmod n, \set{:}",
    r"\left( \begin{matrix} 1 & 2 \\ 3 \end{matrix} \right)^T \begin{cases} a \\ b \end{cases}",
    r"\sum_{i=1}^n \int_0^\infty \sin x \, dx \le \underbrace{a'' + b}_{c} \not= \phantom{x}_1",
    r"\begin{align} a &= b \\ &= \boxed{c} \end{align}",
    r"\mathbf{\rho} + \mathit\alpha^\beta",
    r"U_\rho + \hat\alpha^\beta + \frac{\rho}\alpha",
    r"a < b = c \iff d, e | f \mid 12 \bar{\bar{x}} \left. \frac12 \right|_0^1",
]
READERS = {
    "slt": lambda parsed: written(parsed.slt),
    "opt": lambda parsed: written(parsed.opt),
    "mathml": lambda parsed: write_mathml(parsed.layout),
}


def written(tree: Tree) -> str:
    """The text form of a tree and the numbers of its symbols."""
    return f"{write_tree(tree)} {[node.symbol for node in tree.walk()]}"


def state(layout: Row) -> list[object]:
    """Every attribute of every row and box of a layout."""
    found: list[object] = []
    pending: list[Row | Box] = [layout]
    while pending:
        part = pending.pop()
        # A compiled class lists its attributes in another place than a Python class.
        names = getattr(part, "__slots__", None) or part.__mypyc_attrs__
        found.append((id(part), [(name, id(getattr(part, name))) for name in names]))
        if isinstance(part, Row):
            found.append([id(box) for box in part.boxes])
            pending += part.boxes
        else:
            pending += [*part.rows, *part.scripts]
    return found


def all_trees(parsed: Parsed) -> list[Tree]:
    return [node for tree in (parsed.slt, parsed.opt) for node in tree.walk()]


@pytest.mark.parametrize("latex", FORMULAS)
def test_the_order_of_reading_does_not_change_the_result(latex: str) -> None:
    alone = {name: read(parse_latex(latex)) for name, read in READERS.items()}
    for order in permutations(READERS):
        parsed = parse_latex(latex)
        before = state(parsed.layout)
        assert {name: READERS[name](parsed) for name in order} == alone
        assert {name: READERS[name](parsed) for name in reversed(order)} == alone
        assert state(parsed.layout) == before


@pytest.mark.parametrize("latex", FORMULAS)
def test_children_and_edges_are_tuples(latex: str) -> None:
    for node in all_trees(parse_latex(latex)):
        assert type(node.children) is type(node.edges) is tuple
        assert len(node.children) == len(node.edges)


def test_formulas_that_share_boxes_do_not_change_each_other() -> None:
    alone = {latex: written(parse_latex(latex).opt) for latex in reversed(FORMULAS)}
    kept = [parse_latex(latex) for latex in FORMULAS]
    layouts = [state(parsed.layout) for parsed in kept]
    for latex in FORMULAS * 2:
        assert written(parse_latex(latex).opt) == alone[latex]
    assert [state(parsed.layout) for parsed in kept] == layouts
    assert parse_latex("x").layout.boxes[0] is parse_latex("x+1").layout.boxes[0]


@pytest.mark.parametrize(
    ("latex", "slt"),
    [
        (r"\langle \hat{x}, y\rangle", "[⟨[V!x[&comma;[V!y[⟩]]],o[^]]]"),
        (r"\langle (a,b), c\rangle", "[⟨[M!()1x2[&comma;[V!c[⟩]]],w[V!a[&comma;],e[V!b]]]]"),
    ],
)
def test_nested_rows_have_the_right_layout_tree_and_distinct_symbols(latex: str, slt: str) -> None:
    tree = parse_latex(latex).slt
    assert write_tree(tree) == slt
    symbols = [node.symbol for node in tree.walk()]
    assert len(symbols) == len(set(symbols))


@pytest.mark.thorough
def test_nested_groups_do_not_exhaust_the_stack() -> None:
    latex = "{a" * 3_000 + "b" + "}^{}x" * 3_000
    assert parse_latex(latex).slt.label == "V!a"
