"""Search by meaning graphs: the index of posts, formulas in their context, and reasons."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathsetu.collections import sampler
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.graphs.build import GraphBuilder, Source
from mathsetu.graphs.imported import ImportedGraphs
from mathsetu.graphs.makers.amr import AmrMaker
from mathsetu.graphs.penman.records import Record
from mathsetu.intake.question import Question
from mathsetu.library import Library
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.plain_files import files_below
from mathsetu.records import Formula, Post, Query
from mathsetu.retrieval import graph_formulas
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.graph_formulas import place_in
from mathsetu.retrieval.graph_search import (
    GraphIndexBuilder,
    GraphRetriever,
    GraphSettings,
    graph_model_folder,
    named_formulas,
)
from tests.encoders.tiny_graph import POSTS, make_graph_library, make_graph_model


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    model = make_graph_model(folder / "model", [f"{post.title} {post.body}" for post in POSTS])
    choices = GraphSettings(model=str(model))
    parts = (("a", POSTS[:2]), ("b", POSTS[2:]))
    return GraphRetriever([built(folder / name, posts, choices) for name, posts in parts], choices)


def built(folder, posts, choices):
    builder = GraphIndexBuilder(choices)
    index_posts([builder], map(Stored.of, posts))
    builder.write(folder)
    return folder


def asked(text, **more):
    return Question(Query("q", text, language="en", **more))


def test_a_post_ranks_first_for_its_own_text(retriever):
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


def test_the_reason_names_the_matching_formulas(retriever):
    reason = retriever.ask([asked(POSTS[2].body)])[0].reason(2, Post("", ""))
    assert reason.score == pytest.approx(1.0, abs=1e-2)
    assert "$x^2-2$ ~ $x^2-2$ 1.00" in reason.detail


def test_a_formula_is_found_in_its_context(retriever):
    finder = retriever.formula_finder
    question = asked(POSTS[0].body, formulas=(Formula("q_1", r"\frac13"),))
    [best, *_] = finder.formulas_for(question, 3)
    assert (best.latex, best.id) == (r"\frac13", "1:body:1")
    assert finder.posts_with(best.number).tolist() == [0]


def test_a_formula_that_is_not_in_the_text_of_its_question_is_searched_without_context(retriever):
    finder = retriever.formula_finder
    question = asked("even numbers", formulas=(Formula("q_9", r"\sqrt2"),))
    alone = finder.formulas(r"\sqrt2", 4)
    assert alone[0].latex == r"\sqrt2"
    assert [m.score for m in finder.formulas_for(question, 1)] == [alone[0].score]
    assert len({match.latex for match in alone}) == len(alone) == 4


@pytest.mark.parametrize(
    "formula",
    [Formula("q_1", "y"), Formula("q_2", "x"), Formula("q_2", "x", where="question", start=19)],
)
def test_the_imported_graph_of_a_question_is_used_to_find_a_formula(retriever, tmp_path, formula):
    question = asked("Is $x$ or $y$, not $x$ even?", formulas=(formula,))
    plain = retriever.formula_finder.formulas_for(question, 3)
    source = Source(question.text, "en", named_formulas(question.query), question.marked.spans)
    parser = GraphBuilder(AmrMaker(lambda sentences: ["(s / state-01)" for _ in sentences]))
    for name, builder in (("same", GraphBuilder("terms")), ("parsed", parser)):
        path = tmp_path / f"{name}.sqlite"
        with ImportedGraphs(path, write=True) as graphs:
            graphs.write([Record("q", builder.build(source))])
        choices = replace(retriever.settings, graphs=str(path))
        found = GraphRetriever(retriever.folders, choices).formula_finder.formulas_for(question, 3)
        scores = [match.score for match in found]
        assert (scores == pytest.approx([match.score for match in plain])) is (name == "same")


def test_formulas_of_posts_that_are_not_allowed_are_not_found(retriever):
    question = asked(POSTS[0].body, formulas=(Formula("q_1", r"\frac13"),))
    allowed = np.array([False, True, True])
    found = retriever.formula_finder.formulas_for(question, 9, allowed)
    assert {match.id for match in found} == {"3:body:0", "3:body:1"}


def test_a_question_with_several_formulas_must_name_one(retriever):
    with pytest.raises(InputError, match=r"query q has 2 formulas; to search"):
        retriever.formula_finder.formulas_for(asked("$x$ and $y$"), 3)


def test_a_table_compares_every_part_of_question_and_post(retriever):
    rows, columns, cosines = retriever.table(asked("Is $x^2-2$ prime?"), 2)
    assert rows == ["$x^2-2$", "sentence 1", "the whole"]
    assert columns == ["$x^2-2$", r"$\sqrt2$", "sentence 1", "the whole"]
    assert cosines.shape == (3, 4)


def test_invalid_settings_are_refused():
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


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["exact", *OTHERS])
def test_a_library_with_a_graph_part_answers_in_two_languages(tmp_path, strategy):
    posts = [post for post in sampler.posts() if post.language in ("en", "hi")][:12]
    with Library(make_graph_library(tmp_path, posts, strategy)) as library:
        for post in posts[:5]:
            text = "\n\n".join(filter(None, (post.title, post.question, post.body)))
            hits = library.search(text, 3, language=post.language)
            assert post.id in [hit.id for hit in hits]
            assert hits[0].reasons[0].detail.startswith("MaxSim")


def test_formulas_that_a_query_names_count_only_if_its_text_contains_them():
    held, other = Formula("q_1", "x^2"), Formula("q_2", "y^2")
    assert named_formulas(Query("q", "Find $x^2$.", formulas=(held, other))) == (held,)


def test_a_merged_segment_equals_one_built_from_the_kept_posts(retriever, tmp_path):
    choices = retriever.settings
    parts = [built(tmp_path / "a", POSTS[:2], choices), built(tmp_path / "b", POSTS[::-1], choices)]
    sources = [
        WrittenSegment(parts[0], np.array([1]), ["en"]),
        WrittenSegment(parts[1], np.array([0, 2]), ["en", "en"]),
    ]
    GraphIndexBuilder(choices).merge(sources, tmp_path / "new" / "merged")
    kept = built(tmp_path / "kept", [POSTS[1], POSTS[2], POSTS[0]], choices)
    for file in files_below(kept):
        merged = tmp_path / "new" / "merged" / file.relative_to(kept)
        assert merged.read_bytes() == file.read_bytes(), file


def test_questions_of_a_batch_are_searched_for_together(retriever, monkeypatch):
    searched = []
    search = retriever.maxsim.search
    monkeypatch.setattr(
        retriever.maxsim, "search", lambda *given: [searched.append(given[1:]), search(*given)][1]
    )
    first, second = retriever.ask([asked(POSTS[0].body), asked(POSTS[2].body)])
    allowed = np.array([False, True, True])
    assert (first.best(2).numbers[0], second.best(2).numbers[0]) == (0, 2)
    assert searched == [(2, None)]
    assert len(first.best(1).numbers) == 1
    assert 0 not in first.best(1, allowed).numbers
    second.best(1, allowed)
    assert [k for k, _ in searched] == [2, 1, 1]


def test_a_reason_names_the_three_best_parts_in_order(retriever):
    question = asked(POSTS[0].body)
    rows, columns, cosines = retriever.table(question, 2)
    assert len(rows) == 4
    reason = retriever.ask([question])[0].reason(2, Post("", ""))
    best = sorted(zip(-cosines.max(axis=1), rows, cosines.argmax(axis=1), strict=True))[:3]
    parts = [f"{row} ~ {columns[column]} {-score:.2f}" for score, row, column in best]
    mean = cosines.max(axis=1).mean()
    assert reason.score == pytest.approx(mean)
    assert reason.detail == f"MaxSim {mean:.2f}: " + "; ".join(parts)


def test_kinds_of_vectors_that_do_not_belong_to_the_formulas_are_refused(retriever, tmp_path):
    folder = built(tmp_path / "index", POSTS, retriever.settings)
    kinds = np.load(folder / "kinds.npy")
    formula = kinds[0]
    np.save(folder / "kinds.npy", np.where(np.arange(len(kinds)) == 0, kinds[-1], kinds))
    broken = GraphRetriever([folder], retriever.settings)
    assert formula != kinds[-1]
    with pytest.raises(DamagedLibrary, match="do not belong together"):
        broken.table(asked("Is $x^2-2$ prime?"), 0)


@pytest.mark.parametrize("together", [1, 3])
def test_the_batch_size_does_not_change_which_formulas_are_found(retriever, monkeypatch, together):
    question = asked(POSTS[0].body, formulas=(Formula("q_1", r"\frac13"),))
    finder, allowed = retriever.formula_finder, np.array([True, True, False])
    expected = [finder.formulas_for(question, 3), finder.formulas_for(question, 9, allowed)]
    monkeypatch.setattr(graph_formulas, "_BATCH_SIZE", together)
    assert [finder.formulas_for(question, 3), finder.formulas_for(question, 9, allowed)] == expected
    assert [len(found) for found in expected] == [3, 2]
    assert [one.number for one in expected[1]] == [1, 0]


def test_formulas_with_the_same_latex_count_as_one_result(retriever, tmp_path):
    posts = [Post(str(number), "Is $x^2-2$ odd?", language="en") for number in range(5)]
    folder = built(tmp_path / "index", [*posts, POSTS[0]], retriever.settings)
    finder = GraphRetriever([folder], retriever.settings).formula_finder
    found = finder.formulas("x^2-2", 2)
    assert found[0].latex == "x^2-2"
    assert len({one.latex for one in found}) == 2
    assert [one.latex for one in finder.formulas("x^2-2", 1)] == ["x^2-2"]


@pytest.mark.parametrize(
    ("title", "text", "formula", "expected"),
    [
        ("", "Is $x$ or $y$, not $x$?", Formula("q", "x", where="question", start=19), 2),
        ("", "Is $x$ or $y$, not $x$?", Formula("q", "x", where="question", start=18), 0),
        ("", "Is $x$ or $y$, not $x$?", Formula("q", "x"), 0),
        ("About $x$", "$x$ is odd.", Formula("q", "x", where="question", start=0), 1),
        ("About $x$", "Is $x$ odd?", Formula("q", "x", where="question", start=3), 1),
        ("$x$ and $x$", "Is $x$ odd?", Formula("q", "x", where="title", start=8), 1),
        ("$x$ and $x$", "Is $x$ odd?", Formula("q", "z", where="title", start=8), None),
    ],
)
def test_the_named_formula_is_located_in_the_text_of_its_topic(title, text, formula, expected):
    assert place_in(Question(Query("B.1", text, title=title)), formula) == expected


def test_formulas_and_posts_are_numbered_over_all_segments(retriever, tmp_path):
    folders = [
        built(tmp_path / "a", POSTS[:2], retriever.settings),
        built(tmp_path / "b", POSTS[1:], retriever.settings),
    ]
    finder = GraphRetriever(folders, retriever.settings).formula_finder
    allowed = np.array([False, False, False, True])
    found = finder.formulas_for(asked("$x^2$"), 9, allowed)
    assert {one.latex for one in found} == {"x^2-2", r"\sqrt2"}
    assert [finder.posts_with(one.number).tolist() for one in found] == [[3], [3]]
    assert finder.formulas_for(asked("$x^2$"), 9, ~allowed)[0].latex not in ("x^2-2", r"\sqrt2")
    assert finder.formulas_for(asked("$x^2$"), 9, np.zeros(4, dtype=np.bool_)) == []


def test_a_model_is_the_shipped_one_or_a_folder():
    assert (graph_model_folder("shipped") / "model.json").is_file()
    assert graph_model_folder("~/models/own") == Path.home() / "models" / "own"


def test_settings_have_these_defaults() -> None:
    choices = GraphSettings()
    assert (choices.depth, choices.strategy, choices.storage) == (1000, "exact", "float16")
    assert choices.in_process == "exact"
