import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.infix import infix
from mathsetu.formulas.matching import Match, PreparedFormula, match
from mathsetu.formulas.matching.alignment import _bounded
from mathsetu.formulas.matching.prepared import subtree_keys
from mathsetu.formulas.matching.unification import Unification
from mathsetu.formulas.notation import read_tree
from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.tree import POSITIONS, Tree
from tests.timing import assert_within

LETTERS = "abcxyz"


def node(label: str, *operands: Tree) -> Tree:
    return Tree(label, operands, POSITIONS[: len(operands)])


def operations(operands: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    def of(labels: list[str], fewest: int, most: int) -> st.SearchStrategy[Tree]:
        parts = st.lists(operands, min_size=fewest, max_size=most)
        return st.builds(lambda label, some: node(label, *some), st.sampled_from(labels), parts)

    return (
        of(["U!plus", "U!times", "M!L-3"], 2, 4)
        | of(["O!minus", "O!divide", "O!SUP", "U!eq", "O!gt"], 2, 2)
        | of(["F!sin", "O!minus", "O!factorial"], 1, 1)
    )


leaves = st.sampled_from(
    [*(f"V!{letter}" for letter in LETTERS), "N!1", "N!2", "N!0.5", "C!infinity", "W!"]
).map(Tree)
operator_trees = st.recursive(leaves, operations, max_leaves=12)


def rebuilt(tree: Tree, label_of=lambda label: label, order_of=lambda node: node.children) -> Tree:
    operands = [rebuilt(child, label_of, order_of) for child in order_of(tree)]
    return node(label_of(tree.label), *operands)


def shuffled(tree: Tree, seed: int) -> Tree:
    """The same tree with commutative operands in another order."""
    chance = random.Random(seed)

    def order(inner: Tree) -> list[Tree]:
        operands = list(inner.children)
        if inner.label.startswith("U!"):
            chance.shuffle(operands)
        return operands

    return rebuilt(tree, order_of=order)


def matched(query: str, candidate: str, **options: bool) -> Match:
    return match(parse_latex(query).opt, parse_latex(candidate).opt, **options)


@given(operator_trees)
def test_a_formula_matches_itself_fully_and_renames_nothing(tree: Tree):
    found = match(tree, tree)
    assert found.score == found.coverage == 1.0
    assert all(ours == theirs for ours, theirs in found.substitution.items())
    assert {id(n) for n in found.query_nodes} == {id(n) for n in found.candidate_nodes}


@given(operator_trees, st.integers(0, 5))
def test_the_order_of_commutative_operands_does_not_matter(tree: Tree, seed: int):
    assert match(tree, shuffled(tree, seed)).score == 1.0


@given(operator_trees, st.permutations("pqrstu"))
def test_renaming_all_letters_lowers_the_score_only_a_little(tree: Tree, names: list[str]):
    new = dict(zip(LETTERS, names, strict=True))
    renamed = rebuilt(tree, lambda label: "V!" + new[label[2:]] if label[0] == "V" else label)
    found = match(tree, renamed)
    assert found.coverage == 1.0
    assert found.score >= 0.8
    # Letters in interchangeable places may be exchanged, but never joined or split.
    assert len(set(found.substitution.values())) == len(found.substitution)


@given(operator_trees, operator_trees)
def test_scores_stay_between_0_and_1(query: Tree, candidate: Tree):
    found = match(query, candidate)
    assert 0.0 <= found.score <= 1.0
    assert 0.0 <= found.coverage <= 1.0


@given(operator_trees, operator_trees)
def test_the_substitution_is_one_to_one(query: Tree, candidate: Tree):
    substitution = match(query, candidate).substitution
    assert len(set(substitution.values())) == len(substitution)


@given(operator_trees, operator_trees)
def test_matched_nodes_are_nodes_of_the_given_trees(query: Tree, candidate: Tree):
    found = match(query, candidate)
    assert {id(n) for n in found.query_nodes} <= {id(n) for n in query.walk()}
    assert {id(n) for n in found.candidate_nodes} <= {id(n) for n in candidate.walk()}


def test_the_substitution_lists_the_renamed_letters():
    found = matched("x^2+y^2=z^2", "a^2 + b^2 = c^2")
    assert found.substitution == {"x": "a", "y": "b", "z": "c"}
    assert found.coverage == 1.0
    assert 0.9 < found.score < 1.0


def test_the_substitution_depends_on_all_occurrences_of_a_letter():
    assert matched("x+y=x", "a+b=b").substitution == {"x": "b", "y": "a"}


def test_a_letter_is_never_substituted_by_two_letters():
    one_letter = matched("x+x^2", "t+t^2")
    two_letters = matched("x+x^2", "s+t^2")
    assert one_letter.coverage == 1.0
    assert two_letters.coverage < 1.0


@pytest.mark.parametrize("query", ["x^2+y^3", "xy^3-x^2", r"\frac{x}{y}+y^2"])
def test_two_letters_are_never_substituted_by_the_same_letter(query: str):
    distinct = matched(query, query.replace("x", "s").replace("y", "t"))
    assert distinct.substitution == {"x": "s", "y": "t"}
    assert distinct.coverage == 1.0
    one = matched(query, query.replace("x", "t").replace("y", "t"))
    assert len(one.substitution) == 1
    assert one.coverage < 1.0
    assert one.score < distinct.score


def test_a_letter_in_the_substitution_does_not_match_another_letter():
    found = matched("x+y=y^2", "t+t=t^2+u")
    assert found.substitution == {"x": "u", "y": "t"}
    assert (found.score, found.coverage) == pytest.approx((0.55, 5 / 7))


@pytest.mark.parametrize(
    ("query", "candidate"),
    [
        (r"\alpha+\beta", "x_1+x_2"),
        (r"\frac{a+b}{2} \ge \sqrt{ab}", r"\frac{x_1+x_2}{2} \ge \sqrt{x_1 x_2}"),
        ("|x-a| < d", r"|x-x_0| < \delta"),
        ("(a-b)^2+(c-d)^2", "(x_1-x_2)^2+(y_1-y_2)^2"),
        ("a+b", "x_i+x_j"),
    ],
)
def test_letters_may_be_substituted_by_one_letter_with_different_indices(
    query: str, candidate: str
):
    found = matched(query, candidate)
    assert found.coverage == 1
    assert found.in_one_piece
    shown = {(one.label, str(other)) for one, other in found.names}
    assert len(shown) == len({other for _, other in shown})
    assert matched(candidate, query).coverage > 0.4


def test_a_letter_with_one_index_is_not_substituted_by_two_letters():
    assert matched("x_1+x_1^2", "a+b^2").coverage < matched("x_1+x_1^2", "a+a^2").coverage
    assert matched("a+a^2", "x_1+x_2^2").coverage < 1
    assert matched("a_i+a_j^2", "x_1+x_2^2").substitution == {"a": "x"}


def test_keeping_the_letters_scores_higher_than_renaming_them():
    assert matched("a+b=2", "b+a=2").score > matched("a+b=2", "x+y=2").score


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\frac{a}{b}", "a/b"),
        ("a-b+c", "c+a-b"),
        ("a > b", "b < a"),
        (r"a \ge b", r"b \le a"),
        ("(a+b)+c", "a+(b+c)"),
        ("xyz", "zyx"),
        (r"|a|\,|b|", "|a||b|"),
        ("a*b", r"a\cdot b"),
        ("2*365", r"2\cdot 365"),
        (r"a \cdot b", "ab"),
        (r"2\cdot 3\cdot x = y", "2*3x = y"),
        (r"\frac{n\cdot(n+1)}{2}", "n*(n+1)/2"),
        (r"e^{-2\pi i\cdot x}", r"e^{-2\pi ix}"),
        (r"2\cdot\vec v", r"2\vec v"),
        (r"x \equiv a \bmod n", r"x \equiv a \pmod n"),
        (r"x = a \bmod n", r"x \equiv a \pmod n"),
        (r"\operatorname{Gal}(L/K)", r"\mathrm{Gal}(L/K)"),
        (r"\operatorname{Hom}(A,B)", r"\text{Hom}(A,B)"),
        (r"\int \frac{dt}{t\ln t}", r"\int \frac{1}{t\ln t}\,dt"),
        (r"\int \frac{2a\,\mathrm{d}x_1}{g}", r"\int \frac{2a}{g}\,\mathrm{d}x_1"),
        (r"\iint 2\frac{dx\,dy}{xy}", r"\iint 2\frac{1}{xy}\,dx\,dy"),
        (r"\int dx/x", r"\int \frac1x dx"),
        (r"\phi-\epsilon", r"\varphi-\varepsilon"),
    ],
)
def test_equivalent_notations_score_1(one: str, other: str):
    assert matched(one, other).score == 1.0


@pytest.mark.parametrize(
    ("dot", "other"),
    [
        (r"\vec u\cdot\vec v", r"\vec u\times\vec v"),
        (r"\vec u\cdot\vec v_1", r"\vec u\vec v_1"),
        (r"\mathbf u\cdot\mathbf v", r"\mathbf u\times\mathbf v"),
        (r"2\vec u\cdot\hat n", r"2\vec u\hat n"),
        (r"\mathbf u\cdot\nabla\mathbf v", r"\mathbf u\nabla\mathbf v"),
    ],
)
def test_the_dot_product_of_vectors_differs_from_other_products(dot: str, other: str):
    assert matched(dot, dot).score == 1
    assert matched(dot, other).score < 1 > matched(other, dot).score


def test_factors_and_wildcards_match_in_a_product_with_dots():
    found = matched(r"?a\cdot z", "xyz")
    assert found.coverage == 1
    assert found.bindings["?a"] == parse_latex("xy").opt
    dots = matched("2x", r"2\cdot 3\cdot x")
    assert dots.coverage == 1
    assert "F!⋅" in [one.label for one in dots.candidate_nodes]


def test_a_sum_is_similar_to_a_difference_but_its_plus_does_not_match():
    found = matched("a^2+b^2", "p^2-q^2")
    assert found.score > 0.85
    assert found.coverage == 6 / 7
    assert "U!plus" not in [one.label for one in found.query_nodes]
    assert "U!plus" not in [one.label for one in matched("p-q", "a+b").candidate_nodes]


@pytest.mark.parametrize(
    ("one", "other"), [("a-b", "b-a"), (r"\frac{a}{b}", r"\frac{b}{a}"), ("2^3", "3^2")]
)
def test_the_order_of_operands_matters_if_the_operator_is_not_commutative(one: str, other: str):
    found = matched(one, other)
    assert found.score < 1.0


@pytest.mark.parametrize(
    ("ours", "theirs", "met", "score"),
    [
        ("1 2 3", "1 3", "1 3", 6 / 7),
        ("1 3", "1 2 3", "1 3", 6 / 7),
        ("3 1", "1 2 3", "1", 4 / 7),
        ("2 3 4 5", "1 2 5", "2 5", 6 / 9),
        ("7 2", "2 8 9", "2", 4 / 7),
        ("9", "8 7 9", "9", 4 / 6),
    ],
)
def test_argument_lists_of_different_lengths_are_aligned_in_order(
    ours: str, theirs: str, met: str, score: float
):
    def function(arguments: str) -> Tree:
        return node("F!f", *(Tree(f"N!{number}") for number in arguments.split()))

    found = match(function(ours), function(theirs))
    expected = ["F!f", *(f"N!{number}" for number in met.split())]
    assert [one.label for one in found.query_nodes] == expected
    assert [one.label for one in found.candidate_nodes] == expected
    assert found.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("candidate", "in_one_piece"),
    [
        (r"\zeta(2)=\frac{\pi^2}{6}", True),
        ("|E(K)|", True),
        (r"\zeta(s+1)", True),
        (r"\mathbb{Q}(\sqrt d)", False),
    ],
)
def test_a_match_says_whether_the_query_is_in_one_piece(candidate: str, in_one_piece: bool):
    found = matched(r"\zeta(?s)", candidate)
    assert (found.coverage, found.in_one_piece) == (1.0, in_one_piece)


@pytest.mark.parametrize(
    ("candidate", "in_one_piece"),
    [
        (r"\hat H=\frac{\hat p^2}{2m}+V", True),
        (r"\frac{\vec p^2}{2m}", True),
        (r"\frac{\widetilde{p}^2}{2\hat{\vec m}}", True),
        # A derivative, a possible conjugate, and a hat over more than a letter.
        (r"\frac{\dot p^2}{2m}", False),
        (r"\frac{\bar p^2}{2m}", False),
        (r"\frac{p^2}{\widehat{2m}}", False),
    ],
)
def test_a_hat_tilde_or_arrow_of_a_letter_does_not_break_a_match(
    candidate: str, in_one_piece: bool
) -> None:
    found = matched(r"\frac{p^2}{2m}", candidate)
    assert (found.coverage, found.in_one_piece) == (1.0, in_one_piece)


def test_a_letter_with_an_index_is_found_below_a_hat() -> None:
    found = matched("p_i^2+1", r"\hat{p_i}^2+1")
    assert (found.coverage, found.in_one_piece) == (1.0, True)
    assert matched(r"\hat{p_i}^2+1", r"\hat{p_i}^2+1").score > found.score


@pytest.mark.parametrize(
    ("query", "candidate", "parts"),
    [
        (r"\int ?f\,dx", r"\int_0^1 x^2\,dx=\frac13", ["x^2"]),
        (r"\sum ?a", r"\sum_{n=1}^\infty \frac1n", ["1/n"]),
        (r"\lim ?f", r"\lim_{x\to0} g=1", ["g"]),
        (r"\log ?x", r"\log_2 n", ["n"]),
        (r"\sum ?a", r"\int_0^1 x\,dx", []),
        (r"\int ?f\,dt", r"\int_2^{+\infty}\frac{dt}{t\ln t}", ["1/(t ln(t))"]),
        (r"\int ?f\,dt", r"\int_0^1 \frac{t\,dt}{g}", ["t/g"]),
        (r"\int ?f\,dx", r"\int_0^1 \frac{dy}{dx}\,dx", ["(d y)/(d x)"]),
    ],
)
def test_an_operator_without_limits_matches_one_with_any_limits(
    query: str, candidate: str, parts: list[str]
):
    found = matched(query, candidate)
    is_found = found.coverage == 1 and found.in_one_piece
    assert ([infix(tree) for tree in found.bindings.values()] if is_found else []) == parts


def test_all_nodes_of_a_fraction_with_a_differential_match():
    query, candidate = r"\int \frac{f}{g}\,dt", parse_latex(r"\int \frac{f\,dt}{g}").opt
    found = match(parse_latex(query).opt, candidate)
    assert {id(n) for n in found.candidate_nodes} == {id(n) for n in candidate.walk()}


def test_missing_limits_lower_the_score_equally_in_both_directions():
    with_limits, without = r"\int_0^1 x^2\,dx", r"\int x^2\,dx"
    one, other = matched(with_limits, without), matched(without, with_limits)
    assert one.score == pytest.approx(other.score)
    assert one.coverage < other.coverage == 1
    # The integral sign is matched, and marked, without its limits.
    pair = match_latex(without, with_limits)
    assert len(pair.candidate_symbols) == len(pair.query_symbols)


def test_a_query_is_found_inside_a_larger_formula():
    found = matched(r"\frac{1}{n^2}", r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{6}")
    assert found.coverage == 1.0
    assert found.score < 0.7


def test_a_wildcard_is_bound_to_the_integrand():
    found = matched(r"\int_0^\infty ?f dx", r"\int_0^\infty \frac{\sin x}{x} dx")
    assert found.score == 1.0
    assert found.bindings == {"?f": parse_latex(r"\frac{\sin x}{x}").opt}


def test_a_wildcard_is_bound_to_all_remaining_operands():
    found = matched("?a + 1", "x + y^2 + 1")
    assert found.score == 1.0
    assert found.bindings == {"?a": parse_latex("x + y^2").opt}


@pytest.mark.parametrize(
    ("query", "candidate", "taken"),
    [
        ("?x-c", "A-b-c", {"?x": "A-b"}),
        ("?x+c", "A-b+d-e+c", {"?x": "A-b+d-e"}),
        ("A-?x", "A-b-c", {"?x": "b+c"}),
        ("A-?x", "A-b+c", {"?x": "b-c"}),
        ("A-?x", "A+c-b", {"?x": "b-c"}),
        ("A-?x", "-b-c+A", {"?x": "b+c"}),
        ("A-?x", "A-(b+c)", {"?x": "b+c"}),
        ("?x-?y", "A-b-c", {"?x": "A-b", "?y": "c"}),
        ("A-?x-?y", "A-b-c-d", {"?x": "b+c", "?y": "d"}),
        ("A-?x=?x-A", "A-b-c=c+b-A", {"?x": "b+c"}),
        (
            "?a_{k+1}?q_{k+1}=A?q_k-?x",
            r"\beta_{k+1}q_{k+1}=Aq_k-\alpha_kq_k-\beta_kq_{k-1}",
            {"?a": r"\beta", "?q": "q", "?x": r"\alpha_kq_k+\beta_kq_{k-1}"},
        ),
    ],
)
def test_a_wildcard_is_bound_to_the_remaining_terms_with_their_signs(
    query: str, candidate: str, taken: dict[str, str]
) -> None:
    found = matched(query, candidate)
    assert (found.score, found.coverage, found.in_one_piece) == (1.0, 1.0, True)
    assert found.bindings == {name: parse_latex(part).opt for name, part in taken.items()}


def test_a_subtracted_wildcard_is_not_bound_to_added_terms() -> None:
    found = matched("A-?x", "A+b+c")
    assert found.coverage == 0.5
    assert not found.bindings


def test_the_order_of_subtracted_terms_does_not_matter() -> None:
    assert matched("a-b-c", "a-c-b").score == 1.0


def test_a_wildcard_is_not_bound_to_an_operand_that_matches_elsewhere():
    found = matched("?a + x", "x + y")
    assert found.bindings == {"?a": Tree("V!y")}
    assert found.substitution == {"x": "x"}


def test_wildcards_with_the_same_name_are_bound_to_equal_parts():
    assert matched("?x^2 + ?x", "(a+b)^2 + (b+a)").score == 1.0
    unequal = matched("?x^2 + ?x", "(a+b)^2 + (a+c)")
    assert unequal.coverage < 1.0
    assert unequal.bindings == {"?x": parse_latex("a+b").opt}


def test_repeated_wildcards_are_bound_to_parts_that_occur_as_often():
    reciprocity = r"\frac{p}{q}\frac{q}{p}=(-1)^{\frac{p-1}{2}\frac{q-1}{2}}"
    found = matched(r"\frac{?a}{?b}\frac{?b}{?a}", reciprocity)
    assert found.coverage == 1.0
    assert found.bindings == {"?a": parse_latex("p").opt, "?b": parse_latex("q").opt}


def test_a_wildcard_is_not_bound_to_the_prime_of_a_derivative():
    assert matched("x^{?n}", "f'(x)").bindings == {}
    assert matched("e^{?x}=?y", "f''=0").bindings.keys() == {"?y"}
    assert matched("x^{?n}", "x^{f'}").bindings["?n"].label == "O!SUP"


def test_wildcards_with_different_names_may_be_bound_to_the_same_part():
    found = matched(r"\frac{?a}{?b}", r"\frac{t}{t}")
    assert found.bindings == {"?a": Tree("V!t"), "?b": Tree("V!t")}


def test_a_wildcard_is_not_bound_where_its_surroundings_do_not_match() -> None:
    found = match(parse_latex("?a^2+?b^2=?c^2").opt, parse_latex("D=b^2-4ac").opt)
    assert found.bindings == {"?a": Tree("V!b")}


def test_only_occurrences_with_matched_surroundings_bind_a_wildcard() -> None:
    # |?a| does not match a norm: there ?a could be anything, but in the sum it must be x.
    written = (r"|?a+?b| \le |?a|+|?b|", r"|x+y| \le |x|+|y|")
    pattern, letters = (matched(one, r"\|x+y\|\le\|x\|+\|y\|") for one in written)
    assert pattern.bindings == {"?a": Tree("V!x"), "?b": Tree("V!y")}
    assert pattern.coverage == letters.coverage == 0.7
    assert pattern.score == letters.score


def test_a_wildcard_without_matched_surroundings_does_not_count() -> None:
    assert matched(r"\sin ?x + 1", "a^2").coverage == 0.0


def test_wildcards_alone_do_not_give_a_query_a_high_score():
    assert matched(r"\sin(?x) + \cos(?x) = 1", "a^2 - b^2").score < 0.4


@pytest.mark.parametrize("written", ["0.5", r"\frac12", r"\frac{2}{4}", "1/2"])
def test_numbers_of_equal_value_match_unless_the_option_is_off(written: str):
    assert matched("x^{0.50}", f"x^{{{written}}}").score == 1.0
    assert matched("x^{0.50}", f"x^{{{written}}}", equal_values=False).score < 1.0


def test_matched_nodes_have_the_symbol_numbers_of_the_formula():
    found = matched("b", "a+b")
    assert [node.symbol for node in found.candidate_nodes] == [2]


@pytest.mark.parametrize(
    ("query", "candidate", "symbols"),
    [
        (r"\Delta p", r"\Delta x\,\Delta p\ge\frac{\hbar}{2}", [3, 4]),
        (r"p\Delta", r"\Delta x\,\Delta p", [3, 4]),
        ("yx", "xyabx", [0, 1]),
        ("2mv", "2am2v", [2, 3, 4]),
        ("a-b", "c-b+a-b", [4, 5, 6]),
        # Renamed letters, too.
        (r"\Delta x", r"a\Delta b", [1, 2]),
    ],
)
def test_neighbouring_operands_are_preferred_to_equal_ones_elsewhere(
    query: str, candidate: str, symbols: list[int]
) -> None:
    assert sorted(match_latex(query, candidate).candidate_symbols) == symbols


def test_a_prepared_query_gives_the_same_match():
    query, candidate = parse_latex("x^2+1").opt, parse_latex("t^2+1").opt
    assert match(PreparedFormula(query), PreparedFormula(candidate)) == match(query, candidate)


def chain(label: str, depth: int, leaf: str) -> Tree:
    tree = Tree(leaf)
    for _ in range(depth):
        tree = Tree(label, (tree,), ("0",))
    return tree


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("query", "candidate"),
    [
        (chain("F!sin", 5000, "V!x"), chain("F!sin", 5000, "V!y")),
        (
            Tree("U!plus", tuple(Tree(f"V!a{n}") for n in range(5000)), ("0",) * 5000),
            Tree("U!plus", tuple(Tree(f"V!b{n}") for n in range(5000)), ("0",) * 5000),
        ),
        (
            Tree("M!L-5000", tuple(Tree("V!a") for _ in range(5000)), ("0",) * 5000),
            Tree("M!L-4999", tuple(Tree("V!a") for _ in range(4999)), ("0",) * 4999),
        ),
        (
            Tree("U!times", (Tree("?a"), Tree("?b"), Tree("?a")), ("0", "1", "2")),
            Tree("U!times", tuple(Tree(f"V!b{n}") for n in range(5000)), ("0",) * 5000),
        ),
        (chain("O!minus", 3000, "N!7"), chain("O!minus", 3002, "N!7")),
    ],
    ids=["deep", "wide", "long lists", "wildcards", "signs"],
)
def test_matching_of_huge_formulas_takes_less_than_two_seconds(query: Tree, candidate: Tree):
    assert 0.0 <= match(query, candidate).score <= 1.0
    assert_within(2, lambda: match(query, candidate))


@pytest.mark.thorough
def test_huge_equal_formulas_still_score_1():
    assert match(chain("F!sin", 5000, "V!x"), chain("F!sin", 5000, "V!x")).score == 1.0


@pytest.mark.thorough
@given(st.lists(operator_trees, min_size=40, max_size=60))
def test_large_sums_match_themselves_in_any_order(parts: list[Tree]):
    total = node("U!plus", *parts[:60])
    assert match(total, shuffled(total, 1)).score == 1.0


def test_trees_in_the_text_form_of_tangent_can_be_matched():
    found = match(read_tree("[O!SUP,0[V!n],1[N!2]]"), read_tree("[O!SUP,0[V!k],1[N!2]]"))
    assert found.substitution == {"n": "k"}


def test_a_wildcard_is_bound_to_its_most_frequent_counterpart() -> None:
    found = matched(r"?x+\sin ?x+\cos ?x", r"a+\sin c+\cos c")
    assert found.bindings == {"?x": Tree("V!c")}
    assert found.coverage == pytest.approx(5 / 6)


def test_a_wildcard_may_be_bound_to_more_terms_than_there_are_position_names() -> None:
    terms = "+".join(f"x_{{{number}}}" for number in range(len(POSITIONS) + 3))
    found = matched("?a + 1", f"{terms}+1")
    assert found.bindings == {"?a": parse_latex(terms).opt}


def test_a_wildcard_alone_is_bound_to_the_whole_formula() -> None:
    found = matched("?a", "y+1")
    assert (found.score, found.coverage) == (1.0, 1.0)
    assert found.bindings == {"?a": parse_latex("y+1").opt}


# Frozen values: the score with six digits, the coverage as matched nodes and all nodes.
FROZEN = [
    (r"\frac{-b+\sqrt{b^2-4ac}}{2a}", r"\frac{-q+\sqrt{q^2-4pr}}{2p}", 0.944444, (1, 1), "bqapcr"),
    (r"\sin(x+y)=\sin x\cos y+\cos x\sin y", r"\cos(a+b)=\cos a\cos b-\sin a\sin b",
     0.715152, (12, 16), "xayb"),
    (r"e^{i\pi}+1=0", r"e^{i\theta}=\cos\theta+i\sin\theta", 0.454545, (5, 9), "eeii"),
    (r"a_{n+1}=a_n+d", r"u_{k+1}=u_k\cdot r", 0.745455, (9, 11), "aunk"),
    (r"\int_a^b f(x)dx", r"\int f(t)dt", 0.717647, (7, 11), "ffxt"),
    (r"\binom{n}{k}", r"\binom{n}{k}=\binom{n}{n-k}", 0.461538, (1, 1), "nnkk"),
    (r"x^{y^z}", r"a^{b^c}+c", 0.733333, (1, 1), "xaybzc"),
    (r"f(x,y,z)", r"f(a,c)", 0.509091, (3, 6), "ffxa"),
    (r"\frac{x}{y}+\frac{y}{x}", r"\frac{u}{v}+\frac{u}{v}", 0.657143, (5, 7), "xuyv"),
    (r"\sqrt{x+1}", r"\log(\sqrt{\sqrt{x+1}})", 0.769231, (1, 1), "xx"),
    (r"2x+3y=5", r"5=2u+3v+w", 0.905263, (1, 1), "xuyv"),
    (r"xy-yx", r"-x", 0.4, (2, 8), "xx"),
    (r"ab-ba", r"b-a", 0.666667, (4, 8), "aabb"),
    (r"f(x,y)", r"xyz", 0.622222, (3, 5), "fxyy"),
    (r"|?a+?b| \le |?a|+|?b|", r"x+1", 0.461538, (3, 10), ""),
    (r"?a^2+2?a?b+?b^2", r"(x+y)z", 0.428571, (3, 11), ""),
]  # fmt: skip


@pytest.mark.parametrize(("query", "candidate", "score", "found_of", "letters"), FROZEN)
def test_scores_coverage_and_substitutions_equal_the_frozen_values(
    query: str, candidate: str, score: float, found_of: tuple[int, int], letters: str
) -> None:
    found = matched(query, candidate)
    nodes, size = found_of
    assert found.score == pytest.approx(score, abs=1e-6)
    assert found.coverage == pytest.approx(nodes / size)
    assert found.substitution == dict(zip(letters[::2], letters[1::2], strict=True))


def test_an_operator_sign_alone_matches_the_sign_without_its_limits() -> None:
    found = matched(r"\sum", r"\sum_{k=1}^n k")
    assert found.score == pytest.approx(2 / 10)
    assert found.candidate_nodes == (Tree("O!sum"),)


def test_the_context_of_a_letter_is_the_three_operators_above_it() -> None:
    deep = PreparedFormula(parse_latex(r"\sin\cos\tan\log\exp x").opt)
    assert sum(deep.contexts["x"].values()) == 3


def test_a_unification_reports_whether_a_letter_is_renamed() -> None:
    choices = Unification(*(PreparedFormula(parse_latex(one).opt) for one in ("x+y", "x+t")))
    assert choices.renames_nothing
    choices.choose_letters([("x", "x")])
    assert choices.renames_nothing
    choices.choose_letters([("y", "t")])
    assert not choices.renames_nothing


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        ((200, 100), (200, 100)),  # exactly the maximum number of cells
        ((100, 1000), (100, 200)),
        ((1000, 100), (200, 100)),
        ((1000, 1000), (141, 141)),
        ((141, 1000), (141, 141)),
        ((1000, 140), (142, 140)),
    ],
)
def test_the_larger_of_two_huge_formulas_is_cut_first(
    sizes: tuple[int, int], kept: tuple[int, int]
) -> None:
    assert _bounded(*sizes) == kept


@pytest.mark.parametrize(
    ("query", "candidate", "substitution"),
    [
        ("(a-b)^2", r"\sum(x_i-\bar x)^2", {"a": "x_i", "b": r"\bar x"}),
        ("(a-b)^2", "(x_{i+1}-y)^2", {"b": "y", "a": "x_{i+1}"}),
        ("x^2+1", r"\vec{v}^2+1", {"x": r"\vec{v}"}),
        ("x_i^2+1", "y^2+1", {"x_i": "y"}),
        ("x^2+1", "x_n^2+1", {"x": "x"}),
        # The substitution of letters by names is one-to-one.
        ("a^2+a", "x_i^2+x_j", {"a": "x_j"}),
        ("a^2+b", "x_i^2+x_i", {"b": "x_i"}),
        ("x^2+b", "x_n^2+x_n", {"x": "x"}),
        # The whole name matches, or the whole query matches in its index.
        ("(a_j-b)^2", "(x_i-y)^2", {"a": "x", "j": "i", "b": "y"}),
        (r"\bar a+1", r"\bar x+1", {"a": "x"}),
        ("a+1", "x_{n+1}", {"a": "n"}),
        (r"\sum_{k=1}^n k", r"\sum_{i=1}^n i", {"k": "i", "n": "n"}),
        # A bar over more than a name does not make a name.
        ("a^2+1", r"\overline{x^2+1}", {"a": "x"}),
    ],
)
def test_a_letter_may_be_substituted_by_a_whole_name(
    query: str, candidate: str, substitution: dict[str, str]
) -> None:
    assert match_latex(query, candidate).substitution == substitution


@pytest.mark.parametrize(
    ("query", "candidate", "coverage"),
    [
        ("n+2", "m+n^2", 2 / 3),
        (r"1+2+\dots+n", r"1+q+q^2+\dots+q^n", 0.8),
        # A factor in an exponent is part of it, and a query may match inside an exponent.
        ("x^n", "x^{2n}", 1.0),
        ("n", "x^n", 1.0),
        ("2n", "x^{2n}", 1.0),
        ("a+1", "x^{n+1}", 1.0),
    ],
)
def test_a_summand_or_factor_does_not_match_an_exponent(
    query: str, candidate: str, coverage: float
) -> None:
    there, back = match_latex(query, candidate).match, match_latex(candidate, query).match
    assert there.coverage == pytest.approx(coverage)
    assert there.score == pytest.approx(back.score)


@given(operator_trees, operator_trees)
def test_every_matched_letter_is_in_the_substitution(query: Tree, candidate: Tree) -> None:
    found = match(query, candidate)
    told = {f"V!{letter}" for letter in found.substitution}
    marked = {one.label for one in found.query_nodes if one.label.startswith("V!")}
    assert marked == told


def test_all_symbols_of_a_matched_name_are_marked() -> None:
    assert len(match_latex("2t", "2p_i").candidate_symbols) == 3
    assert len(match_latex("2p_i", "2t").query_symbols) == 3


@pytest.mark.parametrize(
    ("query", "other", "renamed"),
    [
        (r"\frac{d}{dt}L", r"\frac{g}{gt}L", r"\frac{d}{dx}f"),
        (r"\frac{d^2y}{dt^2}", r"\frac{g^2y}{gt^2}", r"\frac{d^2f}{dx^2}"),
        (r"\frac{d^2y}{ds\,dt}", r"\frac{g^2y}{gs\,gt}", r"\frac{d^2f}{dx\,dz}"),
        (r"\frac{\mathrm{d}y}{\mathrm{d}t}", r"\frac{gy}{gt}", r"\frac{df}{dx}"),
    ],
)
def test_the_d_of_a_derivative_is_not_a_letter(query: str, other: str, renamed: str) -> None:
    pair = match_latex(query, other)
    assert "d" not in pair.substitution
    assert pair.match.coverage < 1
    assert match_latex(query, renamed).match.coverage == 1
    assert match_latex(r"\frac{d}{bc}", r"\frac{g}{bc}").substitution["d"] == "g"


@pytest.mark.parametrize("other", [r"1-\sum_i a_i", r"1-\int_0^1 f", r"1-\sum a"])
def test_a_wildcard_matches_a_big_operator_with_score_1(other: str) -> None:
    found = match(parse_latex("1-?x").opt, parse_latex(other).opt)
    assert found.score == pytest.approx(1.0)


def test_a_tree_contains_adjacent_operands_of_one_node_only() -> None:
    a, b, c, d = (Tree(f"V!{letter}") for letter in "abcd")
    products = [Tree("U!times", pair, ("0", "1")) for pair in ((a, b), (c, d), (b, c))]
    total = subtree_keys(Tree("U!plus", tuple(products[:2]), ("0", "1")))
    assert [total.hold(subtree_keys(product)) for product in products] == [True, True, False]


@pytest.mark.parametrize(
    ("equation", "contained"),
    [("a=b", True), ("a=c", True), ("a=d", True), ("b=d", True), ("a=e", False), ("a=a", False)],
)
def test_a_chain_of_equations_contains_the_equations_of_its_members(
    equation: str, contained: bool
) -> None:
    chain = parse_latex("a=b=c=d").opt
    wanted = subtree_keys(parse_latex(equation).opt)
    assert subtree_keys(chain).hold(wanted) is contained
    inside = Tree("O!list", (Tree("V!z"), chain), ("0", "1"))
    assert subtree_keys(inside).hold(wanted) is contained


def test_a_repeated_wildcard_is_bound_to_a_part_that_occurs_as_often() -> None:
    query = r"\frac{?a}{?b}\frac{?b}{?a}"
    found = match_latex(query, r"\frac{p-1}{2}\frac{q-1}{2}\frac{p}{q}\frac{q}{p}").match
    assert found.coverage == 1.0
    assert {name: tree.label for name, tree in found.bindings.items()} == {"?a": "V!p", "?b": "V!q"}


EXPECTED = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "matches.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: f"{row[0]} in {row[1]}")
def test_pairs_of_formulas_match_as_expected(row: tuple[str, ...]) -> None:
    found = match_latex(row[0], row[1]).match
    pairs = sorted(found.substitution.items())
    names = (f"{infix(ours)}:{infix(theirs)}" for ours, theirs in found.names)
    bound = sorted((name, infix(tree)) for name, tree in found.bindings.items())
    assert row[2:] == (
        f"{found.score:.3f}",
        f"{found.coverage:.3f}",
        "one piece" if found.in_one_piece else "pieces",
        ", ".join(f"{ours}:{theirs}" for ours, theirs in pairs) or "-",
        ", ".join(names) or "-",
        ", ".join(f"{name}={part}" for name, part in bound) or "-",
        f"{len(found.query_nodes)} {len(found.candidate_nodes)}",
    )
