import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.features import features, layout_terms, operator_terms, query_features
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.tree import Tree
from tests.timing import assert_within


def family(letters: str, terms: list[str]) -> list[str]:
    return [term for term in terms if term[0] in letters]


def pairs(latex: str) -> list[str]:
    return family("pP", layout_terms(parse_latex(latex).slt))


def compounds(latex: str) -> list[str]:
    return family("c", layout_terms(parse_latex(latex).slt))


def duplicates(latex: str) -> list[str]:
    return family("dD", layout_terms(parse_latex(latex).slt))


def paths(latex: str) -> list[str]:
    return family("rR", operator_terms(parse_latex(latex).opt))


def leaves(latex: str) -> list[str]:
    return family("lL", operator_terms(parse_latex(latex).opt))


def all_features(latex: str) -> list[str]:
    parsed = parse_latex(latex)
    return features(parsed.slt, parsed.opt)


def test_pairs_have_two_symbols_and_the_path_between_them():
    found = pairs("x^2+y")
    assert {"p:V!x a N!2", "p:V!x n +", "p:+ n V!y"} <= set(found)


def test_pairs_span_at_most_two_edges():
    found = pairs("a+b=c")
    assert "p:V!a nn V!b" in found
    assert not any(" nnn " in term for term in found)


def test_only_the_last_symbol_of_a_row_has_an_end_mark():
    assert "p:V!x $" in pairs("x")
    assert "p:V!x $" not in pairs("x+1")
    assert "p:N!1 $" in pairs("x+1")


def test_abstract_pairs_are_the_same_for_other_names_and_numbers():
    def abstract(latex: str) -> set[str]:
        return {term for term in pairs(latex) if term.startswith("P:")}

    assert abstract("x^2+1") == abstract("t^3+7")
    assert "P:V a N" in abstract("x^2+1")


def test_compounds_list_the_edges_of_a_symbol():
    assert compounds("x_i^2+1") == ["c:V!x abn"]
    assert compounds("x+1") == []


def test_duplicates_have_the_path_between_two_equal_letters():
    assert duplicates("x^2+x") == ["d:V!x  nn", "D: nn"]
    assert duplicates("x^2+y") == []


def test_nameless_duplicates_are_the_same_after_renaming():
    def nameless(latex: str) -> list[str]:
        return family("D", duplicates(latex))

    assert nameless("x^n+x") == nameless("t^k+t") != nameless("x^n+n")


def test_both_shapes_of_a_greek_letter_give_the_same_features():
    one, other = (
        features(parsed.slt, parsed.opt)
        for parsed in map(parse_latex, (r"\phi\chi+\epsilon_\rho=\kappa^\theta\phi",
                                        r"\varphi\chi+\varepsilon_\varrho=\varkappa^\vartheta\varphi"))
    )  # fmt: skip
    assert one == other
    assert features(*(Tree("V!ϕ"),) * 2) == features(*(Tree("V!φ"),) * 2)


def test_duplicates_far_apart_give_no_tuple():
    assert duplicates("x" + "+1" * 20 + "+x") == []


def test_paths_start_at_the_leaf_and_grow_towards_the_root():
    found = [term for term in paths("x^2+y=0") if term.startswith("r:V!x")]
    assert found == ["r:V!x0/O!SUP", "r:V!x0/O!SUP/U!plus", "r:V!x0/O!SUP/U!plus/U!eq"]


def test_paths_have_positions_only_where_order_matters():
    assert set(paths("a+b")) == set(paths("b+a"))
    assert set(paths("a/b")) != set(paths("b/a"))


def test_abstract_paths_are_the_same_after_renaming():
    def abstract(latex: str) -> list[str]:
        return sorted(term for term in paths(latex) if term.startswith("R:"))

    assert abstract("x^2+1") == abstract("t^3+4")


def test_a_single_symbol_has_a_path():
    assert paths("x") == ["r:V!x"]


def test_leaf_paths_meet_at_the_nearest_common_operator():
    found = leaves("x^2+y")
    assert "l:N!21~O!SUP~V!x0" in found
    assert "l:V!x0/O!SUP~U!plus~V!y" in found


def test_leaf_paths_ignore_the_order_of_commutative_operands():
    assert sorted(leaves("x^2+y")) == sorted(leaves("y+x^2"))
    assert sorted(leaves("x-y")) != sorted(leaves("y-x"))


def test_abstract_leaf_paths_mark_equal_leaves():
    assert "L:V~U!plus~V" in leaves("a+b")
    assert "L:V~U!plus~V=" in leaves("a+a")


def test_families_have_distinct_letters():
    found = {term[:2] for term in all_features("x_i^2+x = y^2-3")}
    assert found == {"p:", "P:", "c:", "d:", "D:", "r:", "R:", "l:", "L:"}


def test_query_features_have_no_wildcards():
    parsed = parse_latex(r"?a^2 + b = 0")
    found = query_features(parsed.slt, parsed.opt)
    assert found
    assert not any("?a" in term for term in found)


@pytest.mark.thorough
def test_a_query_of_wildcards_has_the_features_of_variables_and_numbers():
    def asked(latex: str) -> set[str]:
        parsed = parse_latex(latex)
        return set(query_features(parsed.slt, parsed.opt))

    for written in ("u+v", "x^2+1", "2+3"):
        assert asked("?a+?b") & set(all_features(written)), written
    assert "P:V a N" in asked("?a^?b")
    assert "L:V~U!plus~V=" in asked("?a+?a")
    assert not asked("?a")
    # A deep query needs no recursion; many wildcards are not combined in every way.
    assert asked("?a^{" * 3000 + "?a" + "}" * 3000)
    assert len(asked("+".join(f"?w{n}" for n in range(30)))) < 20


def test_the_features_of_a_sum_are_these():
    assert all_features("a+1") == [
        "p:V!a n +", "P:V n +", "p:+ n N!1", "P:+ n N", "p:V!a nn N!1", "p:N!1 $",
        "r:V!a/U!plus", "r:N!1/U!plus", "l:N!1~U!plus~V!a", "L:N~U!plus~V",
    ]  # fmt: skip


@given(st.text(alphabet="ab12+-=^_{}()\\/ frac", max_size=40))
def test_every_feature_of_any_string_starts_with_the_letter_of_its_family(latex: str):
    for term in all_features(latex):
        assert isinstance(term, str)
        assert term[1] == ":"


def chain(label: str, edge: str, length: int) -> Tree:
    tree = Tree(label)
    for _ in range(length):
        tree = Tree(label, (tree,), (edge,))
    return tree


@pytest.mark.parametrize("length", [5000])
def test_long_and_deep_formulas_have_few_features_and_take_less_than_a_second(length: int):
    wide = Tree("U!plus", tuple(Tree(f"V!a{n}") for n in range(length)), ("0",) * length)

    def find() -> None:
        found = features(chain("V!x", "n", length), chain("F!sin", "0", length))
        found += features(chain("V!x", "a", length), wide)
        assert len(found) < 40 * length
        assert max(map(len, found)) < 200

    assert_within(1, find)
