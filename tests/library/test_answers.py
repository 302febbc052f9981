"""An answer keeps its own fields and takes the missing ones from its question."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.reasons import problems
from mathsetu.collections.threads import with_questions
from mathsetu.intake.posts import read_post
from mathsetu.library import Library, add_posts, build_library, remove_posts
from mathsetu.library import build as build_module
from mathsetu.library.upgrade import stored_posts
from mathsetu.records import Post, Query
from tests.light import LIGHT

QUESTION = Post(
    id="ask",
    kind="question",
    title="Convergence of a harmonic series",
    body="Why does $\\sum 1/n$ diverge?",
    tags=("series",),
    language="en",
)
OWN = Post(
    id="own",
    kind="answer",
    parent_id="ask",
    title="Oresme grouping",
    body="Group the terms.",
    question="Is $1+1/2+1/3$ bounded?",
    tags=("grouping",),
    language="en",
)
BARE = Post(id="bare", kind="answer", parent_id="ask", body="Compare integrals.", language="en")


def told(post: Post) -> tuple[str, str, tuple[str, ...]]:
    return post.title, post.question, post.tags


def test_an_answer_takes_only_missing_fields_from_its_question() -> None:
    own = read_post(OWN).with_question(read_post(QUESTION))
    assert told(own.post) == (OWN.title, OWN.question, OWN.tags)
    assert own.texts["title"].text == OWN.title
    assert own.formulas(["question"]) == ["1+1/2+1/3"]
    bare = read_post(BARE).with_question(read_post(QUESTION))
    assert told(bare.post) == (QUESTION.title, QUESTION.body, QUESTION.tags)
    assert bare.formulas(["question"]) == ["\\sum 1/n"]


def test_with_questions_fills_in_only_the_missing_fields_of_an_answer() -> None:
    _, own, bare = with_questions([QUESTION, OWN, BARE])
    assert told(own) == (OWN.title, OWN.question, OWN.tags)
    assert told(bare) == (QUESTION.title, QUESTION.body, QUESTION.tags)
    titled = Post(id="titled", kind="answer", parent_id="ask", title="By hand", body="Add.")
    assert told(list(with_questions([QUESTION, titled]))[1]) == (
        "By hand",
        QUESTION.body,
        QUESTION.tags,
    )


@pytest.mark.parametrize("order", [(QUESTION, OWN, BARE), (BARE, OWN, QUESTION)])
def test_a_library_finds_and_shows_an_answer_by_its_own_title(
    tmp_path: Path, order: tuple[Post, ...]
) -> None:
    build_library(tmp_path / "library", order, LIGHT, processes=1)
    library = Library(tmp_path / "library")
    [hit] = library.search("Oresme", 3)
    assert hit.id == "own"
    assert hit.post is not None
    assert hit.post.title == OWN.title
    by_question = {hit.id for hit in library.search("harmonic convergence", 3)}
    assert by_question == {"ask", "bare"}


def test_a_library_shows_an_answer_with_the_fields_of_its_question(tmp_path: Path) -> None:
    place = tmp_path / "library"
    build_library(place, [QUESTION, BARE, OWN], LIGHT, processes=1)
    with Library(place) as library:
        whole = library.post("bare")
        assert told(whole) == told(read_post(BARE).with_question(read_post(QUESTION)).post)
        assert whole.body == BARE.body
        assert told(library.post("own")) == told(OWN)
        for explain in (True, False):
            hits = {hit.id: hit for hit in library.search(r"$\sum 1/n$", explain=explain)}
            assert hits["bare"].post == whole
        # What a reason names is visible in the hit and in the post.
        [explained] = [hit for hit in library.search("harmonic $\\sum 1/n$") if hit.id == "bare"]
        assert not list(problems(explained, whole))
        assert "$\\sum 1/n$" in explained.snippet
        assert BARE.body in explained.snippet
        assert library.explain("harmonic", "bare").post == whole
        [found, *_] = library.formulas(r"\sum 1/n")
        assert library.posts_with(found, 5) == ("ask", "bare")
        similar = library.similar("ask")
        assert similar.posts["bare"] == whole


def test_formula_instances_and_stored_posts_contain_no_inherited_fields(tmp_path: Path) -> None:
    place = tmp_path / "library"
    build_library(place, [QUESTION, BARE], LIGHT, processes=1)
    with Library(place) as library:
        found = library.formula_instances(Query("1", r"$\sum 1/n$"), every=True)
        assert [one.formula.id for one in found] == ["ask:body:0"]
    assert [told(post) for post in stored_posts(place)] == [told(QUESTION), told(BARE)]


@pytest.mark.thorough
def test_an_answer_is_shown_with_a_question_that_was_added_or_changed_later(tmp_path: Path) -> None:
    place = tmp_path / "library"
    build_library(place, [BARE], LIGHT, processes=1)
    assert told(Library(place).post("bare")) == told(BARE)
    add_posts(place, [QUESTION], processes=1)
    assert Library(place).post("bare").title == QUESTION.title
    add_posts(place, [replace(QUESTION, title="Another")], processes=1)
    assert Library(place).post("bare").title == "Another"
    remove_posts(place, ["ask"])
    assert told(Library(place).post("bare")) == told(BARE)


def test_similar_posts_consider_the_question_of_an_answer(tmp_path: Path) -> None:
    row = Post(id="row", question="Solve the Pell equation $x^2-13y^2=1$.", body="(649, 180)")
    section = Post(id="section", title="Pell equation", body="The equation $x^2-dy^2=1$.")
    pair = Post(id="pair", question="Generators of an ideal?", body="(649, x) or (180, x)")
    posts = [QUESTION, BARE, row, section, pair, Post("other", "A harmonic series diverges.")]
    build_library(tmp_path, posts, LIGHT, processes=1)
    with Library(tmp_path) as library:
        assert library.similar("row", 1).hits[0].id == "section"
        assert {hit.id for hit in library.similar("bare", 2).hits} == {"ask", "other"}


@pytest.mark.thorough
def test_posts_keep_their_order_when_processes_work_on_small_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_module, "_CHUNK", 2)
    posts = [
        Post(id=f"p{number}", title=f"Post {number}", body=f"term{number} $x^{{{number}}}$")
        for number in range(60)
    ]
    for processes in (1, 3):
        build_library(tmp_path / str(processes), posts, LIGHT, processes=processes)
    one, several = (Library(tmp_path / name) for name in ("1", "3"))
    assert [one.search(f"term{n}", 1)[0].id for n in (0, 31, 59)] == ["p0", "p31", "p59"]
    files = [
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("1", "3")
    ]
    assert files[0] == files[1]
    assert len(several) == 60
