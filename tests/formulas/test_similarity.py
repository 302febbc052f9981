from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.matching import match
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.similarity import TermWeights, similarity

terms = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8).map(Counter)
weights = TermWeights({"a": 9, "b": 5, "c": 3, "d": 2, "e": 1}, formulas=10)


@given(terms)
def test_a_formula_overlaps_itself_fully(query: Counter[str]):
    assert abs(weights.overlap(query, query) - 1.0) < 1e-9


@given(terms, terms)
def test_overlap_is_symmetric_and_between_0_and_1(one: Counter[str], other: Counter[str]):
    assert 0.0 <= weights.overlap(one, other) <= 1.0 + 1e-9
    assert abs(weights.overlap(one, other) - weights.overlap(other, one)) < 1e-9


def test_rare_terms_weigh_more_than_common_ones():
    query = Counter("ae")
    assert weights.overlap(query, Counter("e")) > weights.overlap(query, Counter("a"))


def test_a_repeated_term_counts_as_often_as_both_formulas_have_it():
    assert weights.overlap(Counter("aa"), Counter("aa")) > weights.overlap(
        Counter("aa"), Counter("a")
    )


def test_the_overlap_of_empty_formulas_is_0():
    assert weights.overlap({}, {}) == 0.0


def how_alike(query: str, candidate: str, overlap: float) -> float:
    return similarity(overlap, match(parse_latex(query).opt, parse_latex(candidate).opt))


def test_equal_formulas_have_similarity_1():
    assert how_alike("a+b", "b+a", 1.0) == 1.0


def test_overlap_and_match_both_raise_the_similarity():
    assert how_alike("a+b", "1", 0.0) == 0.0
    assert how_alike("a+b", "a+b", 0.2) < how_alike("a+b", "a+b", 0.4)
    assert how_alike("a+b", "a=1", 0.2) < how_alike("a+b", "a+1", 0.2)
