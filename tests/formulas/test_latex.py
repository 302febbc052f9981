"""The LaTeX parser, with valid and malformed input."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathsetu.formulas import parse_latex
from mathsetu.formulas.latex.boxes import ATOM, Box, Row
from mathsetu.formulas.notation import read_tree, write_tree
from mathsetu.limits import LONGEST_FORMULA
from tests.timing import assert_within

PIECES = (
    r"{ } ^ _ & \\ $ % # ~ ' | \| ( ) [ ] \{ \} \left( \right) \left. \right| \frac \sqrt \sqrt[ "
    r"\over \choose \not \text{ \mathbb \mathbf{ \rm \begin{matrix} \end{matrix} \begin{cases} "
    r"\end{align} \overset \underbrace{ \hat \sum \int \lim \sin \log \newcommand{\z}[1]{#1} \z "
    r"\def\y{x} \y \operatorname{ab} \tag{1} \pmod \quad , ; : = < > + - \cdot ! ? ?x 1 23 4.5 x y "
    r"d \unknown &lt; &amp; ² ½ √ ≤ ∑ 𝑥 ५ \substack{ \boxed \phantom \prescript \xrightarrow[ "
    r"\set{ \abs \middle| \left\{ \right\} \langle \rangle \begin{align} {} {}_n "
    r"\stackrel \mathrm ="
).split()

PATHOLOGICAL = {
    "fractions without arguments": r"\frac" * 3000,
    "braces that only open": "{" * 5000,
    "braces that only close": "}" * 5000,
    "roots with open degrees": r"\sqrt[" * 3000,
    "negations of nothing": r"\not" * 3000,
    "nested parentheses": "(" * 4999 + ")" * 4999,
    "open angle brackets": r"\left\langle a" * 700,
    "nested angle brackets": r"\langle a" * 400 + r"\rangle" * 400,
    "bars": "|" * 9999,
    "nested chains of relations": "a=(" * 2000 + "b" + ")=c" * 1300,
    "functions of functions": r"\sin " * 1999,
    "nested fonts": r"\mathbf{a" * 1100,
    "a table of holes": r"\begin{matrix}" + "&" * 4900 + r"\\" * 2400,
    "macros that multiply": r"\def\a{xx}\def\b{\a\a}\def\c{\b\b}" + r"\def\c{\c\c}\c" * 200,
    "a macro of itself": r"\def\a{\a\a}\a",
    "texts that only open": r"\text{$" * 1400,
    "scripts of scripts": "x^{" * 3300,
    "accents of nothing": r"\hat" * 2400,
}


def opt(latex: str) -> str:
    return write_tree(parse_latex(latex).opt)


def slt(latex: str) -> str:
    return write_tree(parse_latex(latex).slt)


def boxes(row: Row) -> list[Box]:
    """Every box of a layout."""
    found: list[Box] = []
    pending = [row]
    while pending:
        for box in pending.pop().boxes:
            found.append(box)
            pending.extend(box.rows)
            pending.extend(box.scripts)
    return found


def test_the_repr_of_a_box_has_its_sign_and_its_number() -> None:
    formula = parse_latex("x+1")
    assert repr(formula.layout.boxes[0]) == "Box(Sign('x', 'mi'), 0)"


@given(st.text(max_size=60))
def test_any_text_gives_both_trees(latex: str) -> None:
    parsed = parse_latex(latex)
    assert read_tree(write_tree(parsed.slt)) == parsed.slt
    assert parsed.opt.label


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_pieces_of_latex_give_both_trees(latex: str) -> None:
    parsed = parse_latex(latex)
    assert parsed.slt.label
    assert parsed.opt.label
    assert all(0 <= warning.position <= len(latex) for warning in parsed.warnings)


@pytest.mark.thorough
@pytest.mark.parametrize("latex", PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_pathological_formulas_are_parsed_in_a_second_without_deep_recursion(latex: str) -> None:
    def read() -> None:
        parsed = parse_latex(latex)
        assert parsed.slt.label
        assert parsed.opt.label

    # Five times the promised time, for slow machines.
    assert_within(1, read)
    assert sys.getrecursionlimit() <= 10_000


def test_a_long_text_is_one_symbol() -> None:
    assert parse_latex(r"\text{" + "word " * (LONGEST_FORMULA // 5 - 2) + "}").slt.label.startswith(
        "T!word word"
    )


def test_symbols_have_distinct_numbers_that_both_trees_use() -> None:
    parsed = parse_latex(r"\frac12 x_{ab}^2 + \text{if $y$}")
    numbers = [box.symbol for box in boxes(parsed.layout)]
    assert len(numbers) == len(set(numbers))
    for tree in (parsed.slt, parsed.opt):
        written = {node.symbol for node in tree.walk() if node.symbol >= 0}
        assert written <= set(numbers)
    names = {box.symbol: box.sign.text for box in boxes(parsed.layout) if box.sign.kind == ATOM}
    assert {names[node.symbol] for node in parsed.opt.walk() if node.label == "V!x"} == {"x"}


@pytest.mark.parametrize(
    ("written", "same"),
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"1 \over 2", r"\frac{1}{2}"),
        ("½", r"\frac{1}{2}"),
        (r"x^23", r"x^{2}3"),
        ("x²", "x^2"),
        ("aⁿ⁺¹", "a^{n+1}"),
        ("x₁", "x_1"),
        ("√2", r"\sqrt{2}"),
        ("f′(x)", "f'(x)"),
        ("f″", "f''"),
        ("a≤b", r"a\leq b"),
        ("a×b", r"a\times b"),
        ("∑_{i=1}^n i", r"\sum_{i=1}^n i"),
        ("𝑥+𝐱", r"x+\mathbf{x}"),
        ("ℝ", r"\mathbb{R}"),
        (r"\Bbb R", r"\mathbb{R}"),
        (r"{\bf x}", r"\mathbf{x}"),
        (r"\rm id", r"\mathrm{id}"),
        ("१२", "12"),
        ("۳", "3"),
        (r"1\,000", "1000"),
        ("a &lt; b", "a<b"),
        ("$x$", "x"),
        (r"x % comment", "x"),
        (r"x+y\tag{3}\label{eq}", "x+y"),
        (r"\left(x\right)", "(x)"),
        (r"\bigl(x\bigr)", "(x)"),
        (r"\lvert x\rvert", "|x|"),
        (r"\Vert x\Vert", r"\|x\|"),
        ("||x||", r"\|x\|"),
        (r"\operatorname{sin} x", r"\sin x"),
        (r"n \choose k", r"\binom{n}{k}"),
        (r"\newcommand{\R}{\mathbb{R}} x\in\R", r"x\in\mathbb{R}"),
        (r"\newcommand{\half}[1]{\frac{#1}{2}} \half{x}", r"\frac{x}{2}"),
        (r"\newcommand{\p}[2][3]{#2^{#1}} \p{x}\p[4]{y}", "x^{3}y^{4}"),
        (r"x+\sqrt\def\y{2}\y", r"x+\sqrt{2}"),
        (r"\begin{array}{c\def\pi{2}}\pi\end{array}", r"\begin{array}{c}2\end{array}"),
        (r"\def\v#1{\vec{#1}} \v x", r"\vec{x}"),
        (r"\let\s=\sum \s x", r"\sum x"),
        (r"\DeclareMathOperator{\ord}{ord} \ord(x)", r"\operatorname{ord}(x)"),
        (r"\color{red}{x}", "x"),
        (r"\textcolor{red}{x}+\boxed{y}", "x+y"),
        (r"\begin{equation} x=1 \end{equation}", "x=1"),
        (r"x \ne y", r"x \not= y"),
        (r"\abs{x}+\norm{y}", r"|x|+\|y\|"),
        (r"x\hskip -3.5pt y\kern1em z", "xyz"),
        (r"x \notin A", r"x \not\in A"),
    ],
)
def test_the_same_formula_written_in_two_ways_has_one_operator_tree(
    written: str, same: str
) -> None:
    assert parse_latex(written).opt == parse_latex(same).opt
    assert parse_latex(written).warnings == ()


@pytest.mark.parametrize(
    ("latex", "position", "message"),
    [
        ("{x", 2, "{ is not closed"),
        ("x}", 1, "} closes nothing"),
        (r"a+\foo", 2, r"unknown command \foo"),
        (r"x\frac{a}", 1, "an argument is missing"),
        (r"\left(x", 7, r"\left has no \right"),
        (r"x\right)", 1, r"\right has no \left"),
        (r"\begin{matrix}x", 15, r"\begin has no \end"),
        (r"x\end{matrix}", 1, r"\end{matrix} without its \begin"),
        (r"\begin{nonsense}x\end{nonsense}", 0, "unknown environment nonsense"),
        ("a\x00b", 1, "unreadable character U+0000"),
        (r"\def\a{\a\a}x+\a", 14, "macros expand to too much text; the rest is ignored"),
    ],
)
def test_warnings_have_a_position_and_a_message(latex: str, position: int, message: str) -> None:
    assert (position, message) in [tuple(warning) for warning in parse_latex(latex).warnings]


def test_an_unknown_command_is_a_symbol_with_its_name() -> None:
    assert opt(r"\foo+1") == "[U!plus,0[V!foo],1[N!1]]"


def test_an_empty_formula_gives_the_empty_tree() -> None:
    assert slt("") == opt("") == "[W!]"
    assert parse_latex("").warnings == ()


def test_wildcards_are_nodes_with_a_label_of_their_own() -> None:
    assert [node.label for node in parse_latex(r"?x+\qvar{name}").opt.walk()][1:] == ["?x", "?name"]


def test_a_question_mark_without_a_name_is_a_symbol() -> None:
    assert parse_latex("f?").opt.children[1].label == "V!?"


@pytest.mark.shared
@pytest.mark.thorough
def test_fewer_than_3_percent_of_real_formulas_give_warnings(shared_data: Path) -> None:
    with gzip.open(shared_data / "latex" / "formulas-normalised.txt.gz", "rt") as lines:
        formulas = [json.loads(line) for line in lines]
    parsed = [parse_latex(latex) for latex in formulas[::10]]
    assert all(formula.slt.label and formula.opt.label for formula in parsed)
    assert sum(bool(formula.warnings) for formula in parsed) < 0.03 * len(parsed)


@pytest.mark.thorough
def test_only_the_beginning_of_a_huge_formula_is_read() -> None:
    parsed = parse_latex("x+" * 100_000)
    assert parsed.warnings[-1].position == LONGEST_FORMULA
    assert "only the first 100,000 characters are read" in parsed.warnings[-1].message
    assert parsed.slt == parse_latex("x+" * (LONGEST_FORMULA // 2)).slt
