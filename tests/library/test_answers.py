"""An answer keeps what it says itself; its question fills in the rest."""

from pathlib import Path

import pytest

from mathsetu.collections.threads import with_questions
from mathsetu.intake.posts import read_post
from mathsetu.library import Library, build_library
from mathsetu.library import build as build_module
from mathsetu.records import Post
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


def test_facts_of_an_answer_are_its_own_before_those_of_its_question() -> None:
    own = read_post(OWN).beside(read_post(QUESTION))
    assert told(own.post) == (OWN.title, OWN.question, OWN.tags)
    assert own.texts["title"].text == OWN.title
    assert own.formulas(["question"]) == ["1+1/2+1/3"]
    bare = read_post(BARE).beside(read_post(QUESTION))
    assert told(bare.post) == (QUESTION.title, QUESTION.body, QUESTION.tags)
    assert bare.formulas(["question"]) == ["\\sum 1/n"]


def test_a_collection_of_threads_fills_in_what_an_answer_lacks_and_nothing_else() -> None:
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


def test_an_answer_is_similar_to_what_its_question_is_about(tmp_path: Path) -> None:
    row = Post(id="row", question="Solve the Pell equation $x^2-13y^2=1$.", body="(649, 180)")
    section = Post(id="section", title="Pell equation", body="The equation $x^2-dy^2=1$.")
    pair = Post(id="pair", question="Generators of an ideal?", body="(649, x) or (180, x)")
    posts = [QUESTION, BARE, row, section, pair, Post("other", "A harmonic series diverges.")]
    build_library(tmp_path, posts, LIGHT, processes=1)
    with Library(tmp_path) as library:
        assert library.similar("row", 1).hits[0].id == "section"
        assert {hit.id for hit in library.similar("bare", 2).hits} == {"ask", "other"}


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
