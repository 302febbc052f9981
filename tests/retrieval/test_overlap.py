"""Symbol overlap as the MIRaCLE paper defines it, for all posts at once."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.formulas import parse_latex
from mathsetu.formulas.overlap import node_overlap, token_overlap
from mathsetu.intake.question import Question
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.records import Post, Query
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.overlap import OverlapBuilder, OverlapRetriever, OverlapSettings

BODIES = [
    "The identity $a^2+b^2=c^2$ holds.",
    "Words alone.",
    "Both $x^2$ and $x^2+x^2$.",
    r"A sum $\sum_{n=1}^\infty \frac{1}{n^2}$.",
]
PAIRS = {"tokens": token_overlap, "nodes": node_overlap}


def built(folder: Path, bodies: list[str], choices: OverlapSettings) -> Path:
    builder = OverlapBuilder(choices)
    posts = [Post(id=str(number), body=body) for number, body in enumerate(bodies)]
    index_posts([builder], map(Stored.of, posts))
    builder.write(folder)
    return folder


def asked(text: str) -> Question:
    return Question(Query(id="q", text=text))


@pytest.mark.parametrize("of", ["tokens", "nodes"])
def test_a_post_with_one_formula_gets_the_overlap_of_the_two_formulas(
    tmp_path: Path, of: str
) -> None:
    formulas = ["x^2+y", r"\frac{a}{b}", "x^2+x^2", r"\int_0^1 x\,dx"]
    choices = OverlapSettings(of=of)
    retriever = OverlapRetriever(
        [built(tmp_path / "index", [f"${latex}$" for latex in formulas], choices)], choices
    )
    for latex in formulas:
        tree = parse_latex(latex)
        expected = [
            PAIRS[of](tree.slt, other.slt) if of == "tokens" else PAIRS[of](tree.opt, other.opt)
            for other in map(parse_latex, formulas)
        ]
        scores = retriever.ask([asked(f"${latex}$")])[0].scores(np.arange(len(formulas)))
        assert scores == pytest.approx(expected)


@pytest.mark.parametrize(("of", "expected"), [("tokens", 2 / 3), ("nodes", 3 / 10)])
def test_tokens_of_all_formulas_form_a_set_and_nodes_are_counted(
    tmp_path: Path, of: str, expected: float
) -> None:
    # The post has the tokens x, 2, + and ten nodes, among them x, x, + of the question.
    choices = OverlapSettings(of=of)
    folder = built(tmp_path / "index", ["$x^2$ and $x^2+x^2$"], choices)
    score = OverlapRetriever([folder], choices).ask([asked("$x+x$")])[0].scores(np.array([0]))
    assert score == pytest.approx([expected])


def test_posts_without_formulas_are_not_found_and_questions_without_formulas_find_none(
    tmp_path: Path,
) -> None:
    retriever = OverlapRetriever(
        [built(tmp_path / "index", BODIES, OverlapSettings())], OverlapSettings()
    )
    replies = retriever.ask([asked("$a+b$"), asked("no formula")])
    found, nothing = (reply.best(10) for reply in replies)
    assert 1 not in found.numbers
    assert not len(nothing.numbers)


@pytest.mark.thorough
@given(cut=st.integers(1, 3), of=st.sampled_from(["tokens", "nodes"]))
def test_several_segments_give_the_same_results_as_one(
    tmp_path_factory: pytest.TempPathFactory, cut: int, of: str
) -> None:
    folder, choices = tmp_path_factory.mktemp("overlap"), OverlapSettings(of=of)
    whole = OverlapRetriever([built(folder / "whole", BODIES, choices)], choices)
    parts = [BODIES[:cut], BODIES[cut:]]
    folders = [built(folder / str(n), part, choices) for n, part in enumerate(parts)]
    split = OverlapRetriever(folders, choices)
    question = asked("$a^2+n$")
    assert split.ask([question])[0].best(4).numbers.tolist() == (
        whole.ask([question])[0].best(4).numbers.tolist()
    )
    assert split.ask([question])[0].reason(3, Post("", "")) == whole.ask([question])[0].reason(
        3, Post("", "")
    )


def test_posts_that_are_not_allowed_are_not_found(tmp_path: Path) -> None:
    retriever = OverlapRetriever(
        [built(tmp_path / "index", BODIES, OverlapSettings())], OverlapSettings()
    )
    allowed = np.array([False, True, True, True])
    found = retriever.ask([asked("$a^2+b^2=c^2$")])[0].best(10, allowed)
    assert len(found.numbers)
    assert 0 not in found.numbers


def test_the_reason_names_the_shared_symbols(tmp_path: Path) -> None:
    retriever = OverlapRetriever(
        [built(tmp_path / "index", BODIES, OverlapSettings())], OverlapSettings()
    )
    reason = retriever.ask([asked("$a+z$")])[0].reason(0, Post("", ""))
    assert reason.detail == "a +"
    assert 0 < reason.score < 1


def test_the_same_posts_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (built(tmp_path / name, BODIES, OverlapSettings()) for name in "ab")
    for file in first.iterdir():
        assert file.read_bytes() == (second / file.name).read_bytes()


def test_unknown_settings_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="of is 'letters'"):
        OverlapSettings(of="letters")
    with pytest.raises(InputError, match="'tags' is not title, body or question"):
        OverlapSettings(fields=("tags",))


@pytest.mark.parametrize("of", ["tokens", "nodes"])
def test_numbers_are_compared_by_value_if_numeric_is_numbers(tmp_path: Path, of: str) -> None:
    scores = {}
    for numeric in ("none", "numbers"):
        choices = OverlapSettings(of=of, numeric=numeric)
        place = built(tmp_path / numeric, ["$x+0.50$", "$x+0.75$"], choices)
        reply = OverlapRetriever([place], choices).ask([asked("$x+0.5$")])[0]
        scores[numeric] = reply.scores(np.arange(2)).tolist()
    assert scores["none"][0] == scores["none"][1]
    assert scores["numbers"][0] == 1 > scores["numbers"][1]


def test_formulas_with_equal_values_are_more_similar_if_numeric_is_values(tmp_path: Path) -> None:
    scores = {}
    for numeric in ("numbers", "values"):
        choices = OverlapSettings(of="nodes", numeric=numeric)
        place = built(tmp_path / numeric, ["$x^2+2x+1$", "$x^2+3x+1$"], choices)
        reply = OverlapRetriever([place], choices).ask([asked("$(x+1)^2$")])[0]
        scores[numeric] = reply.scores(np.arange(2)).tolist()
        shown = reply.reason(0, Post("", "")).detail
        assert "x" in shown.split()
        assert "value:" not in shown
    same, other = scores["values"]
    assert same > other
    assert same - other > scores["numbers"][0] - scores["numbers"][1]


def test_an_unknown_value_of_numeric_is_refused() -> None:
    with pytest.raises(
        InputError, match="numeric is 'maybe' \\(known: 'none', 'numbers', 'values'"
    ):
        OverlapSettings(numeric="maybe")


def test_a_single_symbol_overlaps_fully_with_itself(tmp_path: Path) -> None:
    place = built(tmp_path / "index", ["$x$", "$y$"], OverlapSettings())
    [reply] = OverlapRetriever([place], OverlapSettings()).ask([asked("$x$")])
    assert reply.scores(np.arange(2)).tolist() == [1, 0]


def test_a_reason_names_at_most_twelve_symbols(tmp_path: Path) -> None:
    formula = "$" + "+".join("abcdefghijklmno") + "$"
    place = built(tmp_path / "index", [formula], OverlapSettings())
    [reply] = OverlapRetriever([place], OverlapSettings()).ask([asked(formula)])
    assert len(reply.reason(0, Post("", "")).detail.split()) == 12


def test_a_merged_segment_equals_one_built_from_the_kept_posts(tmp_path: Path) -> None:
    choices = OverlapSettings(of="nodes")
    parts = [built(tmp_path / "a", BODIES[:2], choices), built(tmp_path / "b", BODIES[2:], choices)]
    sources = [
        WrittenSegment(parts[0], np.array([1]), [""]),
        WrittenSegment(parts[1], np.array([0, 1]), ["", ""]),
    ]
    OverlapBuilder(choices).merge(sources, tmp_path / "merged")
    for file in built(tmp_path / "kept", BODIES[1:], choices).iterdir():
        assert (tmp_path / "merged" / file.name).read_bytes() == file.read_bytes(), file.name
