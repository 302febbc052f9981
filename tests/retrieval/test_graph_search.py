"""Search by meaning graphs: an index of posts, their formulas, and why a post was found."""

import numpy as np
import pytest

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.intake.question import Question
from mathsetu.library import Library
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.records import Formula, Post, Query
from mathsetu.retrieval.graph_search import (
    GraphIndexBuilder,
    GraphRetriever,
    GraphSettings,
    named_formulas,
)
from tests.encoders.tiny_graph import POSTS, make_graph_library, make_graph_model


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    model = make_graph_model(folder / "model", [f"{post.title} {post.body}" for post in POSTS])
    choices = GraphSettings(model=str(model))
    for name, posts in (("a", POSTS[:2]), ("b", POSTS[2:])):
        builder = GraphIndexBuilder(choices)
        index_posts([builder], map(Stored.of, posts))
        builder.write(folder / name)
    return GraphRetriever([folder / "a", folder / "b"], choices)


def asked(text, **more):
    return Question(Query("q", text, language="en", **more))


def test_a_post_is_found_first_by_its_own_text(retriever):
    for number, post in enumerate(POSTS):
        text = "\n\n".join(filter(None, (post.title, post.body)))
        found = retriever.ask([asked(text)])[0].best(3)
        assert found.numbers[0] == number
        assert found.scores[0] == pytest.approx(1.0, abs=1e-2)


def test_scores_of_given_posts_are_those_of_the_search(retriever):
    question = asked("even numbers and $x^2$")
    found = retriever.ask([question])[0].best(3)
    scores = retriever.ask([question])[0].scores(found.numbers)
    assert np.array_equal(scores, found.scores)


def test_posts_that_are_not_allowed_are_not_found(retriever):
    found = retriever.ask([asked("an integral")])[0].best(3, np.array([False, True, True]))
    assert 0 not in found.numbers


def test_the_reason_names_the_formulas_that_meet(retriever):
    reason = retriever.ask([asked(POSTS[2].body)])[0].reason(2, Post("", ""))
    assert reason.score == pytest.approx(1.0, abs=1e-2)
    assert "$x^2-2$ ~ $x^2-2$ 1.00" in reason.detail


def test_a_formula_is_found_in_its_context(retriever):
    finder = retriever.formula_finder
    question = asked(POSTS[0].body, formulas=(Formula("q_1", r"\frac13"),))
    [best, *_] = finder.formulas_for(question, 3)
    assert (best.latex, best.id) == (r"\frac13", "1:body:1")
    assert finder.posts_with(best.number).tolist() == [0]


def test_a_formula_that_its_question_does_not_show_is_asked_for_by_itself(retriever):
    finder = retriever.formula_finder
    question = asked("even numbers", formulas=(Formula("q_9", r"\sqrt2"),))
    alone = finder.formulas(r"\sqrt2", 4)
    assert alone[0].latex == r"\sqrt2"
    assert [m.score for m in finder.formulas_for(question, 1)] == [alone[0].score]
    assert len({match.latex for match in alone}) == len(alone) == 4


def test_formulas_of_posts_that_are_not_allowed_are_not_found(retriever):
    question = asked(POSTS[0].body, formulas=(Formula("q_1", r"\frac13"),))
    allowed = np.array([False, True, True])
    found = retriever.formula_finder.formulas_for(question, 9, allowed)
    assert {match.id for match in found} == {"3:body:0", "3:body:1"}


def test_a_question_with_several_formulas_must_name_one(retriever):
    with pytest.raises(InputError, match=r"query q names no formula .* has 2"):
        retriever.formula_finder.formulas_for(asked("$x$ and $y$"), 3)


def test_a_table_compares_every_part_of_question_and_post(retriever):
    rows, columns, cosines = retriever.table(asked("Is $x^2-2$ prime?"), 2)
    assert rows == ["$x^2-2$", "sentence 1", "the whole"]
    assert columns == ["$x^2-2$", r"$\sqrt2$", "sentence 1", "the whole"]
    assert cosines.shape == (3, 4)


def test_choices_that_cannot_be_are_refused():
    for choices, message in (
        ({"fields": ("tags",)}, "fields has 'tags'"),
        ({"storage": "float8"}, "storage is 'float8'"),
        ({"strategy": "fast"}, "strategy is 'fast'"),
        ({"strategy": "hnsw"}, "strategy is 'hnsw', which needs a server"),
        ({"strategy": "single-hnsw"}, "strategy is 'single-hnsw', which needs a server"),
        ({"depth": 0}, "depth is 0"),
    ):
        with pytest.raises(InputError, match=message):
            GraphSettings(**choices)


OTHERS = [pytest.param(name, marks=pytest.mark.thorough) for name in ("document", "single")]


@pytest.mark.parametrize("strategy", ["exact", *OTHERS])
def test_a_library_with_a_graph_part_answers_in_two_languages(tmp_path, strategy):
    posts = [post for post in sampler.posts() if post.language in ("en", "hi")][:12]
    with Library(make_graph_library(tmp_path, posts, strategy)) as library:
        for post in posts[:5]:
            text = "\n\n".join(filter(None, (post.title, post.question, post.body)))
            hits = library.search(text, 3, language=post.language)
            assert post.id in [hit.id for hit in hits]
            assert hits[0].reasons[0].detail.startswith("MaxSim")


def test_formulas_that_a_query_names_count_where_its_text_holds_them():
    held, other = Formula("q_1", "x^2"), Formula("q_2", "y^2")
    assert named_formulas(Query("q", "Find $x^2$.", formulas=(held, other))) == (held,)
