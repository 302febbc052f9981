"""Search by formulas: structure, wildcards, several formulas, substitutions, segments."""

from pathlib import Path
from time import monotonic

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathsetu.deadline import time_limit
from mathsetu.errors import DamagedLibrary, OutOfTime
from mathsetu.formulas import parse_latex
from mathsetu.formulas.similarity import FOUND_PATTERN, RENAMED_PATTERN
from mathsetu.intake.question import Question
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.records import Post, Query
from mathsetu.retrieval import formula
from mathsetu.retrieval.formula import FormulaRetriever
from mathsetu.retrieval.formula_index import (
    FormulaBuilder,
    FormulaSettings,
    feature_counts,
    rarity_of,
)
from mathsetu.retrieval.mapped import seal

BODIES = [
    "Pythagoras: $a^2+b^2=c^2$.",
    r"Gauss: $\int_0^\infty e^{-x^2}\,dx$ and $a^2$.",
    r"Basel: $\sum_{n=1}^\infty \frac{1}{n^2}$.",
    "Words alone.",
    r"Both: $p^2+q^2=r^2$ and $\sum_{k=1}^\infty \frac{1}{k^2}$.",
    "Binomial: $(a+b)^2=a^2+2ab+b^2$.",
]


def build(folder: Path, bodies: list[str], choices: FormulaSettings) -> Path:
    builder = FormulaBuilder(choices)
    posts = [Post(id=str(number), body=body) for number, body in enumerate(bodies)]
    index_posts([builder], map(Stored.of, posts))
    builder.write(folder)
    return folder


def retriever(place: Path, bodies: list[str] = BODIES, **choices: int) -> FormulaRetriever:
    search = FormulaSettings(**choices)  # type: ignore[arg-type]
    return FormulaRetriever([build(place / "index", bodies, search)], search)


def asked(*formulas: str) -> Question:
    return Question(Query(id="q", text=" and ".join(f"${latex}$" for latex in formulas)))


def found(index: FormulaRetriever, question: Question, **options: object) -> list[int]:
    return index.ask([question])[0].best(10, **options).numbers.tolist()  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.parametrize("matched", [0, 20])
def test_the_same_formula_ranks_first_with_a_score_of_one(tmp_path: Path, matched: int) -> None:
    index = retriever(tmp_path, matched=matched)
    ranked = index.ask([asked(r"\int_0^\infty e^{-x^2}\,dx")])[0].best(10)
    assert ranked.numbers[0] == 1
    assert ranked.scores[0] == pytest.approx(1)


def test_formulas_with_other_letters_are_found(tmp_path: Path) -> None:
    assert set(found(retriever(tmp_path), asked("x^2+y^2=z^2"))[:2]) == {0, 4}


def test_the_reason_shows_the_substitution(tmp_path: Path) -> None:
    detail = retriever(tmp_path).ask([asked("x^2+y^2=z^2")])[0].reason(0, Post("", "")).detail
    assert detail.startswith("$x^2+y^2=z^2$ ~ $a^2+b^2=c^2$ (")
    assert "z → c" in detail


@pytest.mark.parametrize(
    ("wildcard", "place"),
    [
        (r"\int_0^\infty ?f\,dx", 1),
        (r"\sum_{n=1}^\infty ?a", 2),
        ("?u^2+?v^2=?w^2", 0),
        ("?a=?b", 0),
    ],
)
def test_a_query_with_wildcards_ranks_a_matching_formula_first(
    tmp_path: Path, wildcard: str, place: int
) -> None:
    assert found(retriever(tmp_path), asked(wildcard))[0] == place


def test_a_full_match_of_a_pattern_ranks_above_a_partial_one(tmp_path: Path) -> None:
    nearly, full = r"\sum_{n=1}^\infty\frac1n", r"\sum_{n=0}^\infty q^n=\frac{1}{1-q}"
    index = retriever(tmp_path, [f"${nearly}$", f"${full}$"])
    first, second = index.formulas(r"\sum_{n=0}^\infty ?x", 2)
    assert (first.latex, second.latex) == (full, nearly)
    assert first.score > FOUND_PATTERN > second.score


@pytest.mark.parametrize(
    ("pattern", "full"),
    [
        (r"\det ?A", [r"\det(xI-A)", r"\det\begin{pmatrix}1&2\\3&4\end{pmatrix}=-2", r"\det B=0"]),
        ("?n!", [r"(p-1)! \equiv -1", "n!+1"]),
        ("|?x|", ["|x|_p<1", r"|H| \mid |G|"]),
        (r"\max ?A", [r"\max\{u,v\}"]),
    ],
)
def test_an_operator_with_one_wildcard_matches_any_operand(
    tmp_path: Path, pattern: str, full: list[str]
) -> None:
    others = ["x+1=2", r"\sin x", "E(Q)", "a^2+b^2=c^2"]
    index = retriever(tmp_path, [f"${latex}$" for latex in full + others])
    scores = {one.latex: one.score for one in index.formulas(pattern, 10)}
    assert {latex for latex, score in scores.items() if score >= FOUND_PATTERN} == set(full)


def test_a_match_with_the_letters_of_the_pattern_ranks_above_a_renamed_one(tmp_path: Path) -> None:
    own = r"\zeta(s)=\prod_p\frac{1}{1-p^{-s}}"
    index = retriever(tmp_path, [f"${latex}$" for latex in ("E(K)", r"\mathbb{Q}(\sqrt d)", own)])
    first, second, third = index.formulas(r"\zeta(?s)", 3)
    assert (first.latex, second.latex) == (own, "E(K)")
    # The last one matches only in pieces: d, in the root, as ζ, and a symbol before it as ?s.
    assert first.score > FOUND_PATTERN > second.score > RENAMED_PATTERN > third.score


def test_a_post_with_all_formulas_of_a_query_ranks_above_posts_with_one(tmp_path: Path) -> None:
    both = asked("p^2+q^2=r^2", r"\sum_{k=1}^\infty \frac{1}{k^2}")
    assert found(retriever(tmp_path), both)[0] == 4


@pytest.mark.parametrize(
    ("choices", "power"), [({}, 1 / 3), ({"size_power": 0.5}, 0.5), ({"size_power": 0}, 0)]
)
def test_query_formulas_are_weighted_by_their_mass_to_the_power_of_size_power(
    tmp_path: Path, choices: dict[str, float], power: float
) -> None:
    index = retriever(tmp_path, **choices)
    [reply] = index.ask([asked("a+b", r"\sum_{n=1}^\infty \frac{1}{n^2}")])
    (large, more), (small, less) = reply._searched_formulas
    assert large.mass > 2 * small.mass
    assert more + less == pytest.approx(1)
    assert more / less == pytest.approx((large.mass / small.mass) ** power)


def test_only_the_largest_formulas_of_a_query_are_searched_for_if_there_are_too_many(
    tmp_path: Path,
) -> None:
    index = retriever(tmp_path, query_formulas=1)
    assert found(index, asked("a", r"\sum_{n=1}^\infty \frac{1}{n^2}"))[0] == 2


def test_posts_without_formulas_are_not_found_and_questions_without_formulas_find_none(
    tmp_path: Path,
) -> None:
    index = retriever(tmp_path)
    assert 3 not in found(index, asked("a+b"))
    assert not found(index, Question(Query(id="q", text="words alone")))
    assert not found(index, Question(Query(id="q", text="$$")))


def test_only_posts_that_are_allowed_are_found(tmp_path: Path) -> None:
    allowed = np.array([False, True, True, True, True, False])
    assert found(retriever(tmp_path), asked("a^2+b^2=c^2"), allowed=allowed)[0] == 4
    assert 0 not in found(retriever(tmp_path / "b"), asked("a^2+b^2=c^2"), allowed=allowed)


def test_formulas_with_the_same_latex_are_one_result(tmp_path: Path) -> None:
    index = retriever(tmp_path, ["$x+y$ and $x+y$", "$x+y$", "$x+z$"])
    assert [one.latex for one in index.formulas("x+y", 10)] == ["x+y", "x+z"]


def test_formulas_are_ranked_best_first_and_have_their_match(tmp_path: Path) -> None:
    ranked = retriever(tmp_path).formulas("u^2+v^2=w^2", 4)
    assert {one.latex for one in ranked[:2]} == {"a^2+b^2=c^2", "p^2+q^2=r^2"}
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert ranked[0].match.coverage == 1


def test_formulas_that_were_not_matched_rank_below_those_that_were(tmp_path: Path) -> None:
    index = retriever(tmp_path, matched=2)
    overlaps = retriever(tmp_path / "overlaps", matched=0).formulas("a^2+b^2=d^2", 10)
    matched = index.formulas("a^2+b^2=d^2", 10)
    assert {one.number for one in matched[:2]} == {one.number for one in overlaps[:2]}
    assert [one.number for one in matched[2:]] == [one.number for one in overlaps[2:]]


def test_scores_of_unmatched_formulas_are_scaled_below_the_lowest_matched_score(
    tmp_path: Path,
) -> None:
    bodies = ["$a^2+b^2=c^2$", "$a^2+b^2=c$", "$a^2+b=c$", "$a^2-b$", "$a^2$"]
    overlaps = retriever(tmp_path / "overlaps", bodies, matched=0).formulas("a^2+b^2=d^2", 10)
    ranked = retriever(tmp_path / "matched", bodies, matched=2).formulas("a^2+b^2=d^2", 10)
    assert len(ranked) == len(overlaps) == 5
    least = ranked[1].score
    assert least != pytest.approx(ranked[0].score)
    assert least != pytest.approx(overlaps[1].score)
    scale = least / overlaps[1].score
    expected = [one.score * scale for one in overlaps[2:]]
    assert [one.score for one in ranked[2:]] == pytest.approx(expected)
    assert max(expected) < least


def test_scores_of_given_posts_are_those_of_the_search(tmp_path: Path) -> None:
    index, question = retriever(tmp_path), asked("x^2+y^2")
    ranked = index.ask([question])[0].best(10)
    assert index.ask([question])[0].scores(ranked.numbers).tolist() == ranked.scores.tolist()


@pytest.mark.thorough
@settings(max_examples=10, deadline=None)
@given(cut=st.integers(1, 5), latex=st.sampled_from(["x^2+y^2=z^2", r"\sum_{m=1}^9 m", "a"]))
def test_segments_without_common_formulas_give_the_same_scores_as_one_segment(
    tmp_path_factory: pytest.TempPathFactory, cut: int, latex: str
) -> None:
    place, choices = tmp_path_factory.mktemp("formula"), FormulaSettings()
    bodies = [body.replace(" and $a^2$", "") for body in BODIES]
    whole = FormulaRetriever([build(place / "whole", bodies, choices)], choices)
    folders = [
        build(place / "a", bodies[:cut], choices),
        build(place / "b", bodies[cut:], choices),
    ]
    parts = FormulaRetriever(folders, choices)
    everything = np.arange(len(bodies))
    np.testing.assert_allclose(
        parts.ask([asked(latex)])[0].scores(everything),
        whole.ask([asked(latex)])[0].scores(everything),
        rtol=1e-5,
    )
    assert parts.ask([asked(latex)])[0].reason(5, Post("", "")) == whole.ask([asked(latex)])[
        0
    ].reason(5, Post("", ""))


@pytest.mark.parametrize("fewer", [0, 1])
def test_masses_of_formulas_are_recomputed_up_to_a_limit_of_formulas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fewer: int
) -> None:
    """This holds for several segments; above the limit the stored masses are used."""
    choices = FormulaSettings()
    folders = [
        build(tmp_path / "a", BODIES[:2], choices),
        build(tmp_path / "b", BODIES[2:], choices),
    ]
    index = FormulaRetriever(folders, choices)
    monkeypatch.setattr(formula, "_FEW_FORMULAS", len(index.distinct) - fewer)
    stored = [segment.masses for segment in index.segments]
    same = all(map(np.array_equal, index.masses, stored))
    assert same == bool(fewer)


@pytest.mark.parametrize("name", ["formula_starts", "post_starts"])
def test_starts_that_do_not_rise_are_reported_as_damage(tmp_path: Path, name: str) -> None:
    folder = build(tmp_path / "index", BODIES, FormulaSettings())
    starts = np.load(folder / f"{name}.npy")
    starts[1] = starts[-1]
    starts[2] = 0
    np.save(folder / f"{name}.npy", starts)
    seal(folder)
    index = FormulaRetriever([folder], FormulaSettings())

    def use() -> object:
        return index.posts_with(0), index.ask([asked("a^2")])[0].scores(np.arange(3))

    with pytest.raises(DamagedLibrary, match="does not match the files next to it"):
        use()


@pytest.mark.thorough
def test_a_search_for_a_huge_formula_returns_results(tmp_path: Path) -> None:
    index = retriever(tmp_path)
    assert index.formulas("x" * 90_000, 3)


NEARER_FIRST = ["$a^2+b^2=c^2$", "$a^2+b^2=c$", "$a^2+b=c$", "$a^2-b$", "$a^2$", "Words."]


@pytest.mark.parametrize(("matched", "segments"), [(0, 1), (4, 2)])
def test_a_post_whose_formulas_are_not_candidates_gets_the_same_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matched: int, segments: int
) -> None:
    choices = FormulaSettings(matched=matched)
    folders = [
        build(tmp_path / str(number), part, choices)
        for number, part in enumerate([NEARER_FIRST] if segments == 1 else
                                      [NEARER_FIRST[:3], NEARER_FIRST[3:]])
    ]  # fmt: skip
    index, question = FormulaRetriever(folders, choices), asked("a^2+b^2=d^2")
    expected = index.ask([question])[0].scores(np.arange(6))
    assert (np.diff(expected) < 0).all()
    assert expected[5] == 0
    monkeypatch.setattr(formula, "_CANDIDATES", 4)
    monkeypatch.setattr(formula, "_MIN_CANDIDATES", 1)
    [reply] = index.ask([question])
    assert reply.scores(np.array([4, 0, 5, 2])) == pytest.approx(expected[[4, 0, 5, 2]])
    monkeypatch.setattr(formula, "_RESCORED", 1)
    ranked = index.ask([question])[0].best(6)
    assert ranked.numbers.tolist() == [0, 1, 2, 3]
    assert ranked.scores == pytest.approx(expected[:4])


def test_a_formula_that_is_not_a_candidate_counts_half_of_the_lowest_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both posts have formulas similar to each query formula, but each has only one candidate."""
    index = retriever(
        tmp_path, ["$a^2+b^2$ and $x$", "$a^2-b$ and $x+y+z$"], matched=0, size_power=0
    )
    alone = {
        latex: index.ask([asked(latex)])[0].scores(np.array([0, 1]))
        for latex in ("a^2+b^2", "x+y+z")
    }
    monkeypatch.setattr(formula, "_CANDIDATES", 1)
    monkeypatch.setattr(formula, "_MIN_CANDIDATES", 1)
    monkeypatch.setattr(formula, "_RESCORED", 0)
    found = index.ask([asked("a^2+b^2", "x+y+z")])[0].best(2)
    assert [alone["a^2+b^2"].argmax(), alone["x+y+z"].argmax()] == [0, 1]
    # Each post has one of the two formulas; the other one counts half as much.
    assert found.scores == pytest.approx([0.75, 0.75])


def test_several_formulas_of_a_query_share_the_candidates_and_the_matches(tmp_path: Path) -> None:
    index = retriever(tmp_path, NEARER_FIRST)
    shares = [(20, 2_000), (10, 2_000), (6, 1_333), (5, 1_000), (4, 1_000), (0, 1_000)]
    for formulas, expected in enumerate(shares, start=1):
        [reply] = index.ask([asked(*(f"x^{number}" for number in range(formulas)))])
        assert [(one.matched, one.kept) for one, _ in reply._searched_formulas] == [
            expected
        ] * formulas


def test_a_large_query_formula_is_matched_with_fewer_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = retriever(tmp_path / "fewer", NEARER_FIRST, matched=3).formulas("a^2+b^2=d^2", 9)
    nodes = sum(1 for _ in parse_latex("a^2+b^2=d^2").opt.walk())
    monkeypatch.setattr(formula, "_MAX_NODES", 3 * nodes + 1)
    found = retriever(tmp_path, NEARER_FIRST, matched=20).formulas("a^2+b^2=d^2", 9)
    assert [one.score for one in found] == [one.score for one in expected]
    assert len(found) == 5


def test_the_formula_of_a_question_is_searched_for(tmp_path: Path) -> None:
    index = retriever(tmp_path)
    found = index.formulas_for(asked("u^2+v^2=w^2"), 2)
    assert found == index.formulas("u^2+v^2=w^2", 2)
    assert len(found) == 2


def test_posts_and_formulas_are_numbered_over_all_segments(tmp_path: Path) -> None:
    choices = FormulaSettings()
    folders = [
        build(tmp_path / "a", ["$x$ and $y^2$", "words"], choices),
        build(tmp_path / "b", ["words", "$z+1$", "$z+1$ and $y^2$"], choices),
    ]
    index = FormulaRetriever(folders, choices)
    held = {index.latex(number): index.posts_with(number).tolist() for number in range(2, 4)}
    assert {index.latex(0), index.latex(1)} == {"x", "y^2"}
    assert held == {"z+1": [3, 4], "y^2": [4]}


@pytest.mark.parametrize("power", ["2^{-n}", "{2}^{-n}"])
def test_a_reason_names_the_formula_that_contains_the_query_and_not_the_most_similar(
    tmp_path: Path, power: str
) -> None:
    similar = "2^n"
    whole = r"\frac{x+y}{z}+\sum_{n=1}^\infty\frac{2^{-n}}{a_n}=\frac{\pi^2}{6}"
    index = retriever(tmp_path, [*BODIES, f"${similar}$ grows, ${whole}$ does not."])
    scores = {one.latex: one.score for one in index.formulas(power, 20)}
    assert scores[similar] > scores[whole]  # otherwise the test checks nothing
    reason = index.ask([asked(power)])[0].reason(len(BODIES), Post("", ""))
    assert [one.found for one in reason.evidence] == [whole]
    assert reason.detail == f"${power}$ ~ ${whole}$"
    assert reason.score == pytest.approx(scores[similar])


@pytest.mark.parametrize(
    ("query", "whole", "part"),
    [
        ("1/(1-x)", r"\sum_{n=0}^\infty q^n = \frac{1}{1-q}", r"\frac1x"),
        (r"\sum x^n", r"\sum_{n=0}^\infty q^n = \frac{1}{1-q}", r"\mathbb{R}^n"),
        ("(fg)'", "(uv)' = u'v + uv'", "g'"),
    ],
)
def test_a_whole_match_of_a_short_formula_ranks_above_a_part_with_the_same_letters(
    tmp_path: Path, query: str, whole: str, part: str
) -> None:
    index = retriever(tmp_path, [*BODIES, f"${part}$", f"${whole}$"])
    found = [one.latex for one in index.formulas(query, 20)]
    assert found.index(whole) < found.index(part)


@pytest.mark.parametrize(
    "query", [r"\sum_{k=1}^\infty \frac{1}{k^2}", r"\sum \frac{1}{k^2}", r"\sum \frac{1}{n^2}"]
)
def test_a_formula_that_contains_the_query_ranks_above_one_that_shares_its_letters(
    tmp_path: Path, query: str
) -> None:
    whole = r"\sum_{n=1}^\infty \frac{1}{n^2}=\frac{\pi^2}{6}"
    others = [r"$m\sum_{k=1}^m\frac1k$", r"$\sum\frac1n=\infty$", r"$P\le\frac{1}{k^2}$"]
    index = retriever(tmp_path, [f"${whole}$", *others])
    assert index.formulas(query, 1)[0].latex == whole


def test_a_formula_with_the_function_of_the_query_ranks_above_its_letter_alone(
    tmp_path: Path,
) -> None:
    tower = r"h=\frac{d\tan\alpha\tan\beta}{\tan\beta-\tan\alpha}"
    others = [f"$x_{n}=x+{n}$" for n in range(9)]
    index = retriever(tmp_path, ["$x$", "$y=x$", f"${tower}$", *others])
    scores = {one.latex: one.score for one in index.formulas(r"\tan x", 12)}
    assert max(scores, key=scores.__getitem__) == tower
    assert scores["x"] < scores[tower] / 3


def test_a_reason_names_at_most_three_formulas_and_four_letters(tmp_path: Path) -> None:
    index = retriever(tmp_path, ["$a+b+c+d+e+f$", r"$x^2$, $x^3$, $x^4$, $x^5$ and $\int y$"])
    renamed = index.ask([asked("p+q+r+s+t+u")])[0].reason(0, Post("", "")).detail
    assert renamed.count(" → ") == 4
    reason = index.ask([asked("x^2", "x^3", "x^4", "x^5")])[0].reason(1, Post("", ""))
    assert reason.detail.count(" ~ ") == 3
    assert [one.found for one in reason.evidence] == [one.asked for one in reason.evidence]
    assert len(reason.evidence) == 4
    assert reason.score == pytest.approx(1)
    [reply] = index.ask([asked("x^2", "x^3", "x^4", "x^5")])
    assert reply.scores(np.array([1])) == pytest.approx([1])


def test_a_formula_without_common_features_is_not_named_in_a_reason(tmp_path: Path) -> None:
    index = retriever(tmp_path, ["$a+b$", "words"])
    reason = index.ask([asked("a+b", "7")])[0].reason(0, Post("", ""))
    assert [one.asked for one in reason.evidence] == ["a+b"]
    nothing = index.ask([asked("a+b")])[0].reason(1, Post("", ""))
    assert (nothing.score, nothing.detail, nothing.evidence) == (0, "", ())


def test_as_many_formulas_are_found_as_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formula, "_CANDIDATES", 1)
    index = retriever(tmp_path, NEARER_FIRST, matched=0)
    assert len(index.formulas("a^2+b^2=d^2", 4)) == 4


def test_a_search_ends_at_its_time_limit(tmp_path: Path) -> None:
    """The time is checked for each segment, and for each formula when posts are scored."""
    [reply] = retriever(tmp_path, ["words"]).ask([asked("a+b")])
    with time_limit(monotonic() - 1):
        for work in (lambda: reply.best(3), lambda: reply.scores(np.array([0]))):
            with pytest.raises(OutOfTime):
                work()


@pytest.mark.parametrize("latex", ["?u^2+1", "a^2+b", "b"])
def test_the_similarity_of_formulas_is_computed_from_their_shared_features(
    tmp_path: Path, latex: str
) -> None:
    """Twice the shared mass, divided by the sum of both masses; a wildcard is no feature."""
    stored = ["a^2+1", "b", "a^2+c"]
    have = [feature_counts(parse_latex(one)) for one in stored]
    wanted = feature_counts(parse_latex(latex), query=True)
    assert not any("?" in feature for feature in wanted)

    def weight(feature: str) -> float:
        return float(rarity_of(np.array(sum(feature in one for one in have)), 3))

    def mass(counts: dict[str, int]) -> float:
        return sum(weight(feature) * count for feature, count in counts.items())

    expected = {
        name: 2 * mass(one & wanted) / (mass(one) + mass(wanted))
        for name, one in zip(stored, have, strict=True)
        if one & wanted
    }
    index = retriever(tmp_path, [f"${one}$" for one in stored], matched=0)
    found = {one.latex: one.score for one in index.formulas(latex, 3)}
    assert found == pytest.approx(expected, rel=1e-5)


def test_holds_all_requires_every_larger_formula_of_the_question(tmp_path: Path) -> None:
    quadratic, series = r"ax^2+bx+c=0", r"\sum_{k=0}^n q^k=s"
    bodies = [
        rf"$p x^2+q x+r=0$ and ${series}$",
        rf"${quadratic}$",
        r"$x^2$",
        "no formula",
        r"$ax^2+c=0$ and $bx$",
    ]
    index = retriever(tmp_path, bodies)

    def holding(*formulas: str) -> list[int]:
        [reply] = index.ask([asked(*formulas)])
        return [number for number in range(len(bodies)) if reply.holds_all(number)]

    assert holding(quadratic) == [0, 1]
    assert holding(quadratic, series) == [0]
    assert holding(quadratic, "x^2") == [0, 1]
    # Small formulas do not count, because many posts contain them.
    assert holding("x^2") == []
    assert holding() == []


def test_a_formula_is_a_larger_one_from_eight_nodes(tmp_path: Path) -> None:
    index = retriever(tmp_path)

    def is_larger(latex: str) -> tuple[int, bool]:
        [reply] = index.ask([asked(latex)])
        [(one, _)] = reply._searched_formulas
        return sum(1 for _ in one._parsed.opt.walk()), one.is_larger

    assert is_larger("a+b+c+d+e+f") == (7, False)
    assert is_larger("a+b+c+d+e+f+g") == (8, True)
