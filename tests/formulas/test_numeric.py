"""Numeric evaluation of formulas: equivalent formulas have equal values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas import parse_latex
from mathsetu.formulas.numeric import (
    label_of,
    labels_with_values,
    normalise_number_label,
    sub_values,
    value_labels,
)
from mathsetu.formulas.tree import Tree

EQUAL = [
    ("(x+1)^2", "x^2+2x+1"),
    (r"\frac{x}{y}", r"x \cdot y^{-1}"),
    (r"\tan x", r"\frac{\sin x}{\cos x}"),
    (r"\sin^2 x", r"1-\cos^2 x"),
    (r"\sqrt[3]{x}", "x^{1/3}"),
    ("e^{x+y}", "e^x e^y"),
    ("n!", "n (n-1)!"),
    (r"\binom{n}{k}", r"\frac{n!}{k!(n-k)!}"),
    (r"\log_2 x", r"\frac{\ln x}{\ln 2}"),
    (r"\tan^{-1} x", r"\arctan x"),
    ("x_1+x_2", "x_2+x_1"),
    ("50\\% x", "x/2"),
]
DIFFERENT = [
    ("x+1", "x+2"),
    ("x^2", "x^3"),
    (r"\sin x", r"\cos x"),
    ("x_1+y", "x_2+y"),
    ("a-b", "b-a"),
    ("x+1", "y+1"),
]
SAME_RELATION = [("x^2=2", "2x^2-4=0"), ("a<b", "b>a"), (r"x\le 1", r"2 \ge 2x"), ("x=y", "y=x")]
OTHER_RELATION = [("a<b", "b<a"), ("a<b", r"a\le b"), ("x=1", "x=2"), ("x=1", r"x\neq 1")]


def whole(latex: str) -> str:
    """The label of a formula as a whole."""
    return value_labels(parse_latex(latex).opt)[-1]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equivalent_formulas_have_the_same_label(one: str, other: str) -> None:
    assert whole(one) == whole(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_formulas_have_different_labels(one: str, other: str) -> None:
    assert whole(one) != whole(other)


@pytest.mark.parametrize(("one", "other"), SAME_RELATION)
def test_equivalent_relations_have_the_same_label(one: str, other: str) -> None:
    assert whole(one) == whole(other)


@pytest.mark.parametrize(("one", "other"), OTHER_RELATION)
def test_different_relations_have_different_labels(one: str, other: str) -> None:
    assert whole(one) != whole(other)


@pytest.mark.parametrize(
    ("latex", "number"),
    [(r"\sin^2 x+\cos^2 x", "N!1"), ("2+2", "N!4"), (r"\sqrt{16}", "N!4"), ("x-x", "N!0")],
)
def test_a_formula_with_a_constant_value_is_labelled_as_a_number(latex: str, number: str) -> None:
    assert whole(latex) == number


@pytest.mark.parametrize(
    "latex",
    [
        r"\int_0^1 x\,dx",
        r"\frac{1}{0}",
        "10^{10^{10}}",
        "f'",
        r"\sin^n x",
        r"\lfloor \sqrt{0-x} \rfloor",
    ],
)
def test_a_formula_that_cannot_be_evaluated_has_no_value(latex: str) -> None:
    tree = parse_latex(latex).opt
    assert {id(node): values for node, values in sub_values(tree)}[id(tree)] is None


def test_numeric_sub_trees_become_one_node_with_their_value() -> None:
    assert labels_with_values(parse_latex(r"x-\frac{3}{4}").opt) == ["O!minus", "V!x", "N!0.75"]
    assert labels_with_values(parse_latex(r"\frac{1}{2}").opt) == ["N!0.5"]
    assert labels_with_values(parse_latex("0.50").opt) == ["N!0.5"]
    assert normalise_number_label("N!1,000") == "N!1000"


@given(st.recursive(
    st.sampled_from(["V!x", "V!y", "N!2", "N!0", "N!10", "V!′", "C!infinity", "F!sin"]),
    lambda inner: st.tuples(
        st.sampled_from(["U!plus", "U!times", "O!minus", "O!divide", "O!SUP", "O!root", "F!ln",
                         "+!F!log", "O!SUB", "U!eq", "O!factorial", "F!floor"]),
        st.lists(inner, min_size=1, max_size=3)),
    max_leaves=20,
))  # fmt: skip
def test_any_tree_can_be_evaluated(shape) -> None:
    tree = made(shape)
    assert all(isinstance(label, str) for label in value_labels(tree))
    assert len(sub_values(tree)) == len(list(tree.walk()))


def made(shape) -> Tree:
    if isinstance(shape, str):
        return Tree(shape)
    label, inner = shape
    return Tree(label, tuple(map(made, inner)), tuple(map(str, range(len(inner)))))


def test_rounding_errors_do_not_change_a_label() -> None:
    assert label_of((0.1 + 0.2 + 0j,) * 3) == label_of((0.3 + 0j,) * 3)
