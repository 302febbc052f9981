"""Reasons name only what is in the post: a checker that reads only the post finds it there."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reasons import problems
from mathsetu.collections import sampler
from mathsetu.library import Library, build_library
from mathsetu.records import Evidence, Hit, Post, Reason
from tests.light import LIGHT

TEXTS = [f"{post.title} {post.body}" for post in sampler.posts()]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Some of the sampler with all parts of the default recipe."""
    folder = tmp_path_factory.mktemp("reasons") / "library"
    posts = [post for post in sampler.posts() if post.thread_id.startswith(("inf", "dir", "bas"))]
    build_library(folder, posts, "default", processes=1)
    return Library(folder)


@st.composite
def pieces(draw: st.DrawFn) -> str:
    """Words and formulas of posts in any language, from two places."""
    found = []
    for _ in range(2):
        words = draw(st.sampled_from(TEXTS)).split()
        start = draw(st.integers(0, len(words) - 1))
        found += words[start : start + draw(st.integers(1, 8))]
    return " ".join(found)


@given(pieces())
@pytest.mark.thorough
def test_every_word_and_formula_of_a_reason_is_in_the_post(
    sampler_library: Library, query: str
) -> None:
    for hit in sampler_library.search(query, 5):
        assert not list(problems(hit, sampler_library.post(hit.id)))


@pytest.mark.thorough
@given(pieces())
def test_quoted_passages_and_exact_matches_are_in_the_post(whole: Library, query: str) -> None:
    for hit in whole.search(query, 3):
        assert not list(problems(hit, whole.post(hit.id)))


@pytest.mark.thorough
def test_reasons_quote_a_post_in_its_own_language(sampler_library: Library) -> None:
    posts = {post.id: post for post in sampler.posts()}
    for hit in sampler_library.search("infinitely many primes", 30):
        words = next(reason for reason in hit.reasons if reason.part == "words")
        text = posts[hit.id].title + posts[hit.id].body + " ".join(posts[hit.id].tags)
        for one in words.evidence:
            assert re.sub(r"\W", "", one.found) in re.sub(r"\W", "", text)
    said = {hit.id: hit.reasons for hit in sampler_library.search("infinitely many primes", 60)}
    partly = next(one for one in said["linear-systems.hr"] if one.part == "words")
    assert partly.detail == "infinitely → beskonačno mnogo, beskonačno"
    assert all(one.translation for one in partly.evidence)


@pytest.mark.thorough
def test_names_of_commands_in_formulas_do_not_count_as_words(sampler_library: Library) -> None:
    query = r"sum of $\frac{1}{n^2}$ from $1$ to $\infty$"
    for hit in sampler_library.search(query, 30):
        for reason in hit.reasons:
            if reason.part == "words":
                assert not {"frac", "infty", "sum_"} & {one.found for one in reason.evidence}


def test_a_phrase_does_not_continue_across_a_formula(tmp_path: Path) -> None:
    body = "Sum it to $\\frac{1}{n}}$ now you can compare series."
    build_library(tmp_path / "library", [Post("1", body, language="en")], LIGHT, processes=1)
    with Library(tmp_path / "library", ["ranking.exact=0.2"]) as library:
        for query in (body[10:40], "n}}$ now you can compare"):
            for hit in library.search(library.question(query, "en", as_words=True), 1):
                assert not list(problems(hit, library.post(hit.id)))


def test_reasons_spell_words_as_the_query_and_the_post_do(tmp_path: Path) -> None:
    posts = [
        Post("code", "Call print(np.linalg.det(A)) here.", language="en"),
        Post("hi", "संख्या बहुत बड़ी है।", language="hi"),
        Post("hr", "Teorem (o rangu i defektu).", language="hr"),
    ]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    with Library(tmp_path / "library") as library:
        for query, post, asked, found in (
            ("det", "code", "det", "det"),
            ("संख्याएँ?", "hi", "संख्याएँ", "संख्या"),
            ("rank nullity theorem", "hr", "rank nullity theorem", "Teorem (o rangu i defektu)"),
        ):
            hits = {hit.id: hit for hit in library.search(query, 3)}
            evidence = [one for reason in hits[post].reasons for one in reason.evidence]
            assert (evidence[0].asked, evidence[0].found) == (asked, found)


POST = Post("1", r"A sum $\frac12$ of two.", title="Sums", tags=("number-theory",), language="en")


@pytest.mark.parametrize(
    ("reason", "is_true"),
    [
        (Reason("words", 1.0, "sum", (Evidence("word", "sums", "sum"),)), True),
        (Reason("words", 1.0, "theory", (Evidence("word", "theory", "number theory"),)), True),
        (Reason("words", 1.0, "frac", (Evidence("word", "frac", "frac"),)), False),
        (Reason("words", 1.0, "suma → product", (Evidence("word", "suma", "product"),)), False),
        (Reason("words", 1.0, "sum", (Evidence("word", "suma", "sum", "prime sum"),)), True),
        (Reason("words", 1.0, "sum", (Evidence("word", "suma", "sum", "product"),)), False),
        (Reason("formulas", 1.0, "", (Evidence("formula", "x", r"\frac12"),)), True),
        (Reason("formulas", 1.0, "", (Evidence("formula", "x", r"\frac13"),)), False),
        (Reason("meaning", 1.0, r"cosine 0.50: A sum $\frac12$ …"), True),
        (Reason("meaning", 1.0, "cosine 0.50: A product"), False),
        (Reason("words", 0.5, "sum", (Evidence("word", "sums", "sum"),)), False),
    ],
)
def test_the_checker_detects_false_reasons(reason: Reason, is_true: bool) -> None:
    assert (not list(problems(Hit("1", 1.0, "1", (reason,)), POST))) is is_true
