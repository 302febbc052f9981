"""Answers get the text of their questions, whichever of the two comes first."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections.source_text import with_formulas
from mathsetu.collections.threads import is_accepted, with_questions
from mathsetu.records import Formula, Post

QUESTION = Post(
    "3",
    "Why is $\\sin x / x$ about $1$?",
    title="A limit of $f$",
    tags=("limits",),
    kind="question",
    thread_id="3",
    formulas=(
        Formula("q1", "f", "v1", "3", "title", 11),
        Formula("q2", "\\sin x / x", "v2", "3", "body", 7),
        Formula("q3", "1", "v3", "3", "body", 27),
    ),
    accepted_id="7",
)
ANSWER = Post(
    "7",
    "By $g$.",
    kind="answer",
    thread_id="3",
    parent_id="3",
    formulas=(Formula("a1", "g", "v4", "7", "body", 3),),
)


def test_an_answer_gets_the_title_text_and_tags_of_its_question() -> None:
    _, answer = with_questions([QUESTION, ANSWER])
    assert (answer.title, answer.question) == (QUESTION.title, QUESTION.body)
    assert answer.tags == ("limits",)
    assert is_accepted(answer)
    assert not is_accepted(replace(answer, id="8"))


def test_formulas_of_the_question_keep_their_ids_and_their_post() -> None:
    _, answer = with_questions([QUESTION, ANSWER])
    assert [(f.id, f.visual_id, f.post_id, f.where) for f in answer.formulas] == [
        ("q1", "v1", "3", "title"),
        ("q2", "v2", "3", "question"),
        ("q3", "v3", "3", "question"),
        ("a1", "v4", "7", "body"),
    ]


def test_unlisted_formulas_of_an_answer_are_added_to_those_of_its_question() -> None:
    _, answer = with_questions([QUESTION, replace(ANSWER, formulas=())])
    assert answer.formulas[-1] == Formula("7:body:0", "g", "", "7", "body", 3)


def test_an_answer_keeps_its_own_title_question_and_tags() -> None:
    own = replace(ANSWER, title="Mine", question="Asked otherwise?", tags=("sums",))
    assert list(with_questions([QUESTION, own])) == [QUESTION, own]


def test_an_answer_without_its_question_stays_unchanged() -> None:
    assert list(with_questions([ANSWER])) == [ANSWER]


@given(st.permutations(range(8)))
def test_the_order_of_posts_does_not_matter(order: list[int]) -> None:
    questions = [
        with_formulas(Post(f"q{n}", f"Is ${n}$ odd?", title=f"{n}?", tags=("t",))) for n in range(4)
    ]
    answers = [with_formulas(Post(f"a{n}", f"It is ${n}+1$.", parent_id=f"q{n}")) for n in range(4)]
    posts = questions + answers
    expected = {post.id: post for post in with_questions(posts)}
    found = list(with_questions(posts[place] for place in order))
    assert len(found) == 8
    assert {post.id: post for post in found} == expected


def test_an_id_with_a_lone_surrogate_causes_no_error() -> None:
    odd = Post("\ud800", "Is it?", title="Odd", tags=("t",))
    answer = Post("8", "Yes.", parent_id="\ud800")
    assert list(with_questions([odd, answer]))[1].question == "Is it?"
