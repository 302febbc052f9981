"""Signs: all that belong to a matched operator are marked, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.pairs import match_latex


def unmarked(query: str, candidate: str) -> list[str]:
    """What is written in a candidate and not marked, in order."""
    pair = match_latex(query, candidate)
    written = {node.symbol: node.label for node in pair.candidate.slt.walk() if node.symbol >= 0}
    return [written[symbol] for symbol in sorted(written.keys() - pair.candidate_symbols)]


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{a}{b+c}+\frac{b}{c+a}+\frac{c}{a+b}\ge\frac32",
        r"\frac{a+b+c}{3}\ge\sqrt[3]{abc}",
        r"1+2+3+\cdots+n",
        "a-b-c",
        r"a\cdot b\cdot c\cdot d",
        r"2\times 3\times x",
        r"A\cup B\cup C",
        "a=b=c=d",
        "x_1+x_2^{p+q+r}+x_3",
        r"{a+b+c \over 3}",
        r"\begin{pmatrix}a+b+c&d\\e&f+g+h\end{pmatrix}",
    ],
)
def test_every_sign_of_an_identical_formula_is_marked(latex: str) -> None:
    assert unmarked(latex, latex) == []
    pair = match_latex(latex, latex)
    assert pair.query_symbols == pair.candidate_symbols


def test_a_sign_before_an_operand_that_was_not_found_is_not_marked() -> None:
    assert unmarked("a^2+b^2+c^2", "a^2+b^2+x+c^2") == ["+", "V!x"]
    assert unmarked("a^2+b^2+c^2", "a^2+b^2+c^2+y") == ["+", "V!y"]


def test_the_signs_of_an_operator_that_was_not_found_are_not_marked() -> None:
    assert unmarked("a^2", "a^2-b-c-d").count("-") == 3


def test_signs_inside_an_operand_are_not_those_around_it() -> None:
    assert unmarked("p+q+r", "p+q+r(x+y+z)").count("+") == 2


@given(st.text("ab+-=^_{}()0", max_size=30), st.text("ab+-=^_{}()0", max_size=30))
def test_marked_symbols_are_written_ones_and_those_of_matched_nodes(ours: str, theirs: str) -> None:
    pair = match_latex(ours, theirs)
    written = {node.symbol for tree in (pair.candidate.slt, pair.candidate.opt)
               for node in tree.walk()}  # fmt: skip
    matched = {node.symbol for node in pair.match.candidate_nodes if node.symbol >= 0}
    assert matched <= pair.candidate_symbols <= written
