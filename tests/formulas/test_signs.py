"""Signs: exactly those of matched operators are marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import Parsed


def unmarked(query: str, candidate: str) -> list[str]:
    """Return the symbols of a candidate that are not marked, in order."""
    pair = match_latex(query, candidate)
    written = {node.symbol: node.label for node in pair.candidate.slt.walk() if node.symbol >= 0}
    return [written[symbol] for symbol in sorted(written.keys() - pair.candidate_symbols)]


def marked(query: str, candidate: str) -> tuple[str, str]:
    """Return the marked text of a query and of a candidate, in order."""
    pair = match_latex(query, candidate)

    def text(parsed: Parsed, symbols: frozenset[int]) -> str:
        written = {node.symbol: node.label.rpartition("!")[2] for node in parsed.slt.walk()}
        return "".join(written[symbol] for symbol in sorted(symbols))

    return text(pair.query, pair.query_symbols), text(pair.candidate, pair.candidate_symbols)


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


def test_a_sign_before_an_unmatched_operand_is_not_marked() -> None:
    assert unmarked("a^2+b^2+c^2", "a^2+b^2+x+c^2") == ["+", "V!x"]
    assert unmarked("a^2+b^2+c^2", "a^2+b^2+c^2+y") == ["+", "V!y"]


def test_the_signs_of_an_unmatched_operator_are_not_marked() -> None:
    assert unmarked("a^2", "a^2-b-c-d").count("-") == 3


def test_signs_inside_an_operand_are_not_marked_with_those_around_it() -> None:
    assert unmarked("p+q+r", "p+q+r(x+y+z)").count("+") == 2


@pytest.mark.parametrize(
    ("query", "candidate", "ours", "theirs"),
    [
        ("a^2+b^2", "p^2-q^2", "a2b2", "p2q2"),
        ("p^2-q^2", "a^2+b^2", "p2q2", "a2b2"),
        ("a^2+b^2", "-p^2+q^2", "a2+b2", "p2+q2"),
        ("b^2-4ac", "x^2+6x+5", "b2", "x2"),
        ("(u-v)^2", "(a+b)^3", "uv", "ab"),
        ("a+b+c", "x+y-z", "a+bc", "x+yz"),
        ("a+b+c", "x-y+z", "ab+c", "xy+z"),
        ("a+b+c", "-x+y+z", "a+b+c", "x+y+z"),
        ("a-b-c", "x-y+z", "a-bc", "x-yz"),
        ("a-b-c", "x+y-z", "ab-c", "xy-z"),
        ("x^2+6x+5", "t^2-6t+5", "x26x+5", "t26t+5"),
        # Both have this sign, although the term before it has another sign.
        ("a+b", "-a+b", "a+b", "a+b"),
        ("+a-c", "+a+c", "+ac", "+ac"),
        # Unmatched terms have signs, too.
        ("a+b", "a-7", "a", "a"),
        ("a+b", "a+7", "a+", "a+"),
        ("c+a+b", "a+b", "a+b", "a+b"),
        # The two operators may have different numbers of terms.
        ("x^4-5x^2+4", "ax^4+bx^2+c", "x4x2+", "x4x2+"),
        ("x+z-y+9", "x+z+c-y", "x+z-y+", "x+z+-y"),
        ("x-y^2+z-7", "x-y^2-c", "x-y2-", "x-y2-"),
        ("+a", "b-c", "a", "b"),
        (r"x\to 0^+", "a-b", "", ""),
        (r"a\pm b", "a+b", "a", "a"),
    ],
)
def test_a_sign_is_marked_only_where_both_formulas_have_it(
    query: str, candidate: str, ours: str, theirs: str
) -> None:
    assert marked(query, candidate) == (ours, theirs)
    assert match_latex(query, candidate).match.coverage < 1


@pytest.mark.parametrize(
    ("query", "candidate"),
    [
        ("-x+y", "b-a"),
        ("b-a", "-x+y"),
        ("x+y-z", "-c+b+a"),
        ("a+(-b+c)", "x-y+z"),
        ("+a", "+b"),
        ("+a+b", "x+y"),
        (r"x\to 0^+", r"y\to 0^+"),
        (r"x+\frac{-1}{2}", "a-0.5"),
        ("a+?b", "a-y"),
        ("A-?x", "A+c-b"),
        ("?a-?b", "x-y"),
    ],
)
def test_every_sign_of_equivalent_sums_is_marked(query: str, candidate: str) -> None:
    assert unmarked(query, candidate) == []
    pair = match_latex(query, candidate)
    assert pair.match.coverage == 1
    assert pair.query_symbols >= {node.symbol for node in pair.query.opt.walk()} - {-1}


def test_a_plus_with_an_index_is_not_treated_as_a_sum() -> None:
    assert marked("a+b", "a+_n(p+q)") == ("a+b", "a+p")


def written_sum(terms: list[tuple[str, str]]) -> str:
    return "".join(sign + term for sign, term in terms).removeprefix("+")


@given(st.lists(st.sampled_from("+-"), min_size=2, max_size=6), st.data())
def test_a_sum_matches_its_terms_in_any_order_but_only_with_its_signs(
    signs: list[str], data: st.DataObject
) -> None:
    query = written_sum(list(zip(signs, "abcdef", strict=False)))
    terms = list(zip(signs, "uvwxyz", strict=False))
    shuffled = written_sum(data.draw(st.permutations(terms)))
    assert match_latex(query, shuffled).match.coverage == 1
    assert unmarked(query, shuffled) == []
    turned = data.draw(st.integers(0, len(terms) - 1))
    terms[turned] = ("-" if signs[turned] == "+" else "+", terms[turned][1])
    other = written_sum(data.draw(st.permutations(terms)))
    assert match_latex(query, other).match.coverage < 1
    assert {*unmarked(query, other), *unmarked(other, query)} & {"+", "-"}


@given(st.text("ab+-=^_{}()0", max_size=30), st.text("ab+-=^_{}()0", max_size=30))
def test_marked_symbols_are_in_the_formula_and_include_all_matched_nodes(
    ours: str, theirs: str
) -> None:
    pair = match_latex(ours, theirs)
    written = {node.symbol for tree in (pair.candidate.slt, pair.candidate.opt)
               for node in tree.walk()}  # fmt: skip
    matched = {node.symbol for node in pair.match.candidate_nodes if node.symbol >= 0}
    assert matched <= pair.candidate_symbols <= written
