"""The engine behind all interfaces: complete hits, limits, cached answers and reloading."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mathsetu.answers.values import Renamed, to_json
from mathsetu.collections import sampler
from mathsetu.errors import InputError, UnknownPost
from mathsetu.library import Filter, Library, build_library
from mathsetu.limits import LONGEST_NAME
from mathsetu.recipes import load_recipe
from mathsetu.records import Post
from mathsetu.service.answer_cache import AnswerCache
from mathsetu.service.app import create_app
from mathsetu.service.engine import Engine
from mathsetu.service.limits import Limits
from mathsetu.service.settings import Settings
from tests.encoders.tiny_graph import make_graph_model
from tests.light import LIGHT

HINDI = r"समाकल $\int_0^\infty e^{-t^2}dt$ का मान"


def test_a_hindi_query_finds_the_english_post_and_shows_the_translated_words(
    engine: Engine,
) -> None:
    [hit] = engine.search(HINDI, k=1, where=Filter("en")).hits
    assert hit.id == "gaussian-integral.en"
    met = {word.asked: (word.translation, word.found.lower()) for word in hit.words}
    assert met["समाकल"][0] == "integral"
    assert met["समाकल"][1].startswith("integral")


def test_a_matched_formula_is_coloured_and_its_substitution_is_given(engine: Engine) -> None:
    [hit] = engine.search("$u^2+v^2=w^2$", k=1, where=Filter("en")).hits
    [formula] = hit.formulas
    assert formula.coverage == 1.0
    assert formula.in_one_piece
    renamed = {letter.asked: letter.found for letter in formula.substitution}
    assert set(renamed) == {"u", "v", "w"}
    assert len(set(renamed.values())) == 3
    assert formula.mathml.count('class="matched"') >= len(formula.symbols) > 0
    for symbol in formula.symbols:
        assert f'data-symbol="{symbol}"' in formula.mathml


def test_a_match_gives_the_values_of_wildcards(engine: Engine) -> None:
    [hit, *_] = engine.formulas("?a^2+?b^2=?c^2", k=1).hits
    assert Renamed("?a", "x") in hit.match.wildcards
    assert hit.posts[0].startswith("pythagorean-theorem")
    assert engine.post(hit.posts[0]).id == hit.posts[0]


def test_a_formula_may_be_typed_as_in_a_query(engine: Engine) -> None:
    typed, latex = engine.formulas("sqrt(2)", 3), engine.formulas(r"\sqrt{2}", 3)
    assert typed == latex
    assert typed.formula.text == typed.hits[0].match.asked == r"\sqrt{2}"


def test_shares_of_a_hit_add_up_to_one(engine: Engine) -> None:
    for hit in engine.search(HINDI, k=5).hits:
        assert sum(reason.share for reason in hit.reasons) == pytest.approx(1.0)
        assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)


def test_the_snippet_or_the_title_shows_the_matched_formula(engine: Engine) -> None:
    [hit] = engine.search("$u^2+v^2=w^2$", k=1).hits
    shown = [piece.text for piece in hit.snippet if piece.kind == "formula"]
    in_title = [piece.text for piece in hit.title_pieces if piece.kind == "formula"]
    assert hit.formulas[0].found in shown + in_title


def test_an_answer_post_shows_the_matched_formula_of_its_question(tmp_path: Path) -> None:
    posts = [
        Post("q19", "Why is $a^2+b^2=c^2$?", kind="question", language="en"),
        Post("a19", "Compare areas.", kind="answer", parent_id="q19", language="en"),
    ]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    engine = Engine(tmp_path / "library")
    hits = {hit.id: hit for hit in engine.search("$a^2+b^2=c^2$", k=2).hits}
    [matched] = hits["a19"].formulas
    explained = engine.explain("$a^2+b^2=c^2$", "a19").hit
    for pieces in (hits["a19"].snippet, explained.snippet, engine.post("a19").question):
        assert matched.found in [piece.text for piece in pieces if piece.kind == "formula"]
    assert engine.formulas("a^2+b^2=c^2", k=1).hits[0].posts == ("q19", "a19")
    engine.close()


def test_ids_of_formulas_are_unique_in_an_answer(engine: Engine) -> None:
    answer = engine.search(r"$x^2$ and $\frac{1}{x}$ and $x^2+1$", k=10)
    ids = [
        part.partition('"')[0]
        for hit in answer.hits
        for formula in hit.formulas
        for mathml in (formula.mathml, formula.asked_mathml)
        for part in mathml.split(' id="')[1:]
    ]
    assert len(ids) == len(set(ids)) > 0


def test_explain_returns_the_same_hit_as_the_search(engine: Engine) -> None:
    [hit] = engine.search(HINDI, k=1).hits
    explained = engine.explain(HINDI, hit.id).hit
    assert to_json(replace(explained, rank=1, formulas=())) == to_json(replace(hit, formulas=()))


def test_a_post_that_does_not_match_a_query_has_no_reasons(engine: Engine) -> None:
    hit = engine.explain("hypotenuse", "infinitely-many-primes.en").hit
    assert (hit.score, hit.reasons, hit.words, hit.formulas) == (0.0, (), (), ())


@pytest.mark.thorough
def test_similar_posts_include_versions_of_a_post_but_not_the_post_itself(engine: Engine) -> None:
    hits = engine.similar("infinitely-many-primes.en", k=5).hits
    assert "infinitely-many-primes.en" not in [hit.id for hit in hits]
    assert sum(hit.id.startswith("infinitely-many-primes") for hit in hits) >= 3


def test_weights_decide_which_parts_count(engine: Engine) -> None:
    query = r"prime numbers $u^2+v^2=w^2$"
    words = engine.search(query, k=1, weights={"words": 1}).hits[0]
    formulas = engine.search(query, k=1, weights={"formulas": 5}).hits[0]
    assert [reason.part for reason in words.reasons] == ["words"]
    assert [reason.part for reason in formulas.reasons] == ["formulas"]
    assert formulas.id.startswith("pythagorean")


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ({"vectors": 1.0}, "'vectors' is not a part of the recipe light"),
        ({"words": -1.0}, "cannot be less than 0"),
        ({"words": float("nan")}, "cannot be less than 0"),
        ({"words": 0.0}, "at least one part must count"),
    ],
)
def test_invalid_weights_are_refused(
    engine: Engine, weights: dict[str, float], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        engine.search("primes", weights=weights)


def test_a_search_without_time_names_the_unfinished_parts(sampler_folder: Path) -> None:
    hurried = Engine(sampler_folder, Limits(seconds=0.0))
    answer = hurried.search("infinitely many primes $p$")
    assert answer.hits == ()
    assert {"words", "formulas"} <= set(answer.unfinished)


@pytest.mark.thorough
def test_only_an_identical_search_is_answered_from_the_cache(sampler_folder: Path) -> None:
    engine = Engine(sampler_folder)
    answer = engine.search("prime $p$", 3)
    assert engine.search("prime $p$", 3) is answer
    for other in (
        engine.search("prime $q$", 3),
        engine.search("prime $p$", 2),
        engine.search("prime $p$", 3, language="hi"),
        engine.search("prime $p$", 3, where=Filter("en")),
        engine.search("prime $p$", 3, weights={"words": 1.0}),
        engine.search("prime $p$", 3, explain=False),
        engine.search("prime $p$", 3, typeset=False),
        engine.search("prime $p$", 3, as_words=True),
        engine.search("prime $p$", 3, page="cs"),
        engine.search("prime $p$", 3, own_language="strong"),
        engine.search("prime $p$", 3, group=True),
        engine.search("prime $p$", 3, offset=1),
        engine.search("prime $p$", 3, min_score=0.1),
        engine.search("prime $p$", 3, facets=True),
    ):
        assert other is not answer


def test_an_unfinished_answer_is_not_cached(sampler_folder: Path) -> None:
    engine = Engine(sampler_folder, Limits(seconds=0.0))
    assert engine.search("prime").unfinished
    engine.limits = Limits()
    assert engine.search("prime").hits


@pytest.mark.thorough
def test_a_changed_library_gives_new_answers(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    build_library(folder, [Post(id="old", body="A circle.", language="en")], LIGHT, processes=1)
    engine = Engine(folder)
    assert [hit.id for hit in engine.search("circle").hits] == ["old"]
    build_library(folder, [Post(id="new", body="A circle.", language="en")], LIGHT, processes=1)
    assert engine.refresh()
    assert [hit.id for hit in engine.search("circle").hits] == ["new"]


def test_the_cache_keeps_the_answers_used_last(engine: Engine) -> None:
    cache = AnswerCache(2)
    answers = {name: engine.search(name, 1) for name in ("prime", "circle", "sum")}
    cache.keep("prime", answers["prime"])
    cache.keep("circle", answers["circle"])
    assert cache.get("prime") is answers["prime"]
    cache.keep("sum", answers["sum"])
    assert cache.get("circle") is None
    assert cache.get("prime") is answers["prime"]
    assert cache.get("sum") is answers["sum"]


def test_long_answers_are_not_cached(engine: Engine) -> None:
    cache, long = AnswerCache(2), engine.search("number", 21)
    assert len(long.hits) == 21
    cache.keep("number", long)
    assert cache.get("number") is None


def test_translation_keeps_every_formula(engine: Engine) -> None:
    post = engine.post("gaussian-integral.en")
    done = engine.translate_post("gaussian-integral.en", "hi")
    formulas = [piece.text for piece in post.body if piece.kind == "formula"]
    assert [piece.text for piece in done.body.pieces if piece.kind == "formula"] == formulas
    assert "समाकल" in done.title.text + done.body.text


@pytest.mark.thorough
def test_the_question_of_an_answer_is_translated(tmp_path: Path) -> None:
    row = Post("r", r"$\frac14$", question="La probabilidad de $2$ caras", language="es")
    build_library(tmp_path / "library", [row], LIGHT, processes=1)
    engine = Engine(tmp_path / "library")
    question = engine.translate_post("r", "en").question
    assert "probability" in question.text
    assert [piece.text for piece in question.pieces if piece.kind == "formula"] == ["2"]
    engine.close()


def test_a_rendered_formula_has_its_position_and_the_warnings_of_the_parser(engine: Engine) -> None:
    [_, formula] = engine.render(r"Let $\frac{1}{2$").pieces
    assert formula.start == 4
    assert [warning.message for warning in formula.warnings] == ["{ is not closed"]
    assert "<svg" not in formula.operators_svg
    [drawn] = engine.render_formula("x^2", trees=True).pieces
    assert drawn.operators_svg.startswith("<svg")
    assert drawn.layout_svg.startswith("<svg")


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda e: e.search("x" * 2_001), "2,001 characters; at most 2,000"),
        (lambda e: e.search("x", k=101), "between 1 and 100"),
        (lambda e: e.search("x", language="../x"), "is not a language"),
        (lambda e: e.search("x", where=Filter("elvish")), "a code such as hi or a name such as"),
        (lambda e: e.search("x", where=Filter(tags=("a",) * 51)), "at most 50"),
        (lambda e: e.search("x", where=Filter(collection="c" * 1_001)), "at most 1,000"),
        (lambda e: e.search("the of and"), "only stop words"),
        (lambda e: e.search("x \ud800"), "invalid character"),
        (lambda e: e.formulas(" "), "the formula is empty"),
        (lambda e: e.render("x" * 20_001), "at most 20,000"),
        (lambda e: e.translate("$x$", "hi"), "source: the language of the text could not"),
        (lambda e: e.translate(" ", "hi", "en"), "text: is empty"),
        (lambda e: e.translate("prime", "/etc"), "is not a language"),
        (lambda e: e.post("x" * 1_001), "at most 1,000"),
    ],
)
def test_invalid_input_is_refused_in_one_line(engine: Engine, ask: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as refused:
        ask(engine)  # type: ignore[operator]
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ask", ["post", "similar"])
def test_an_unknown_post_raises_an_error_of_its_own(engine: Engine, ask: str) -> None:
    with pytest.raises(UnknownPost):
        getattr(engine, ask)("../../etc/passwd")


@pytest.mark.thorough
def test_many_threads_get_the_same_answers_as_one(engine: Engine, sampler_folder: Path) -> None:
    queries = [query for query in sampler.queries() if query.text][:10]

    def ask(engine: Engine, text: str) -> object:
        return to_json(engine.search(text, k=5, where=Filter("en")))

    alone = [ask(engine, query.text) for query in queries]
    other = partial(ask, Engine(sampler_folder))  # an engine with an empty cache
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(other, [query.text for query in queries] * 3))
    assert together == alone * 3


@pytest.mark.thorough
def test_names_of_the_maximum_length_can_be_requested(tmp_path: Path) -> None:
    name, tag, collection = ("🜁" * LONGEST_NAME, "t" * LONGEST_NAME, "c" * LONGEST_NAME)
    body = "A circle of radius $r$."
    posts = [Post(name, body, tags=(tag,), language="en", collection=collection), Post("2", body)]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    engine = Engine(tmp_path / "library")
    for where in (Filter(tags=(tag,)), Filter(collection=collection)):
        assert [hit.id for hit in engine.search("circle", where=where).hits] == [name]
    assert engine.post(name).id == name
    assert engine.similar(name).hits[0].id == "2"
    client = TestClient(create_app(Settings(str(tmp_path / "library"))))
    assert client.get("/v1/post", params={"id": name}).json()["id"] == name
    found = client.get("/v1/search", params={"q": "circle", "tag": tag, "collection": collection})
    assert [hit["id"] for hit in found.json()["hits"]] == [name]


@pytest.mark.parametrize(
    ("post", "what"),
    [
        (Post("x" * 1_001, "A circle."), "the id has 1,001 characters; at most 1,000"),
        (Post("x", "A circle.", tags=("t" * 1_001,)), "a tag has 1,001 characters"),
        (Post("x", "A circle.", collection="c" * 1_001), "the collection has 1,001 characters"),
    ],
)
def test_a_build_refuses_names_beyond_the_maximum_length(
    tmp_path: Path, post: Post, what: str
) -> None:
    with pytest.raises(InputError, match=what) as refused:
        build_library(tmp_path / "library", [post], LIGHT, processes=1)
    assert len(str(refused.value)) < 150


@pytest.mark.thorough
def test_a_rebuilt_library_is_opened_without_dropping_a_request(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    old = [Post(id="old", body="A circle of radius $r$.", language="en")]
    new = [Post(id="new", body="A circle of radius $r$.", language="en")]
    build_library(folder, old, LIGHT, processes=1)
    events: list[str] = []
    engine = Engine(folder, note=events.append)
    seen: list[str] = []
    failures: list[BaseException] = []
    done = threading.Event()
    number = count()

    def keep_asking() -> None:
        try:
            while not done.is_set():
                # Every query differs, because answers are cached.
                seen.append(engine.search(f"circle {next(number)}").hits[0].id)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=keep_asking) for _ in range(3)]
    for thread in threads:
        thread.start()
    for posts in (new, old, new):
        before = len(seen)
        build_library(folder, posts, LIGHT, processes=1)
        while len(seen) < before + 5 and not failures:
            time.sleep(0.01)
        assert engine.refresh()
        before = len(seen)
        while len(seen) < before + 10 and not failures:
            time.sleep(0.01)
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(seen) == {"old", "new"}
    assert engine.search("circle").hits[0].id == "new"
    assert not engine.refresh()
    assert events == ["reloaded"] * 3


def test_an_open_library_still_answers_after_its_manifest_is_damaged(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    build_library(folder, [Post(id="1", body="A circle.", language="en")], LIGHT, processes=1)
    engine = Engine(folder)
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    assert not engine.refresh()
    assert engine.search("circle").hits[0].id == "1"


@pytest.mark.thorough
def test_an_old_library_is_closed_after_its_last_request(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    build_library(folder, [Post(id="1", body="A circle.", language="en")], LIGHT, processes=1)
    engine = Engine(folder)
    library = engine._reloading.opened.library
    with engine._reloading.using():
        build_library(folder, [Post(id="2", body="A circle.", language="en")], LIGHT, processes=1)
        assert engine.refresh()
        assert library.post("1").id == "1"
    with pytest.raises(Exception, match="closed"):
        Library.post(library, "1")


@pytest.mark.thorough
def test_a_graph_index_gives_a_heat_map_of_query_and_post(tmp_path: Path) -> None:
    texts = [r"Roots of $x^2-2$ are irrational.", "Every even number is a sum."]
    model = make_graph_model(tmp_path / "model", texts)
    recipe = load_recipe("mathamr-plus", [f"parts.graph.model='{model}'"])
    posts = [Post(id=str(n), body=text, language="en") for n, text in enumerate(texts)]
    build_library(tmp_path / "library", posts, recipe, processes=1)
    engine = Engine(tmp_path / "library")
    fits = engine.heat_map(texts[0], "0", language="en")
    assert "$x^2-2$" in fits.rows
    assert len(fits.cosines) == len(fits.rows)
    assert {len(row) for row in fits.cosines} == {len(fits.columns)}
    assert fits.cosines[fits.rows.index("$x^2-2$")][fits.columns.index("$x^2-2$")] > 0.99


def test_without_a_graph_index_there_is_no_heat_map(engine: Engine) -> None:
    with pytest.raises(InputError, match="has no graph index"):
        engine.heat_map("primes", "infinitely-many-primes.en")
