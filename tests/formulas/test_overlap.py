from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.overlap import node_overlap, token_overlap
from mathsetu.formulas.parse import parse_latex

formulas = st.text(alphabet="abxy12+-=^/", min_size=1, max_size=12).map(parse_latex)


@given(formulas)
def test_a_formula_overlaps_itself_fully(formula):
    assert token_overlap(formula.slt, formula.slt) == 1.0
    assert node_overlap(formula.opt, formula.opt) == 1.0


@given(formulas, formulas)
def test_overlap_is_symmetric_and_between_0_and_1(one, other):
    assert 0.0 <= token_overlap(one.slt, other.slt) <= 1.0
    assert token_overlap(one.slt, other.slt) == token_overlap(other.slt, one.slt)
    assert 0.0 <= node_overlap(one.opt, other.opt) <= 1.0
    assert node_overlap(one.opt, other.opt) == node_overlap(other.opt, one.opt)


def test_repeated_tokens_count_once():
    assert token_overlap(parse_latex("x+x+x").slt, parse_latex("x+x").slt) == 1.0


def test_repeated_nodes_count_each_time():
    three, two = parse_latex("x+x+x").opt, parse_latex("x+x").opt
    assert node_overlap(three, two) == 3 / 4


def test_formulas_with_nothing_in_common_do_not_overlap():
    assert token_overlap(parse_latex("a+b").slt, parse_latex("x=1").slt) == 0.0
    assert node_overlap(parse_latex("a+b").opt, parse_latex("x=1").opt) == 0.0
