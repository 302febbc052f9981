"""Reproduction of systems of papers: our figures, those of the paper, and the differences."""

from dataclasses import replace
from importlib import resources
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, Measure, evaluate
from mathsetu.library import Library, build_library, reproduction
from mathsetu.library.reproduction import (
    Figure,
    JudgedTask,
    _measures,
    _other_data,
    _own_models,
    _unranked,
    fuse_members,
    reproduce,
    sweep,
)
from mathsetu.ranking.fusion import fuse
from mathsetu.recipes import load_recipe, recipe_names
from mathsetu.recipes.published import EDITIONS, Published, published_figures
from mathsetu.recipes.schema import Recipe, parse_recipe
from mathsetu.records import Hit, Judgment, Query, Run
from tests.library.test_stages import ENSEMBLE


@pytest.fixture(scope="module")
def topics() -> list[Query]:
    """The English queries of the sampler, as if they were ARQMath's of 2020."""
    english = [query for query in sampler.queries() if query.language == "en"]
    return [replace(query, id=f"A.{number}") for number, query in enumerate(english, start=1)]


@pytest.fixture(scope="module")
def judgments() -> list[Judgment]:
    english = [query.id for query in sampler.queries() if query.language == "en"]
    names = {name: f"A.{number}" for number, name in enumerate(english, start=1)}
    return [
        replace(judgment, query_id=names[judgment.query_id])
        for judgment in sampler.judgments()
        if judgment.query_id in names
    ]


@pytest.fixture(scope="module")
def summed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("libraries") / "sum"
    build_library(folder, sampler.posts(), "msm-sum", processes=1)
    return Library(folder)


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries") / "two"
    build_library(folder, sampler.posts(), parse_recipe(ENSEMBLE, "two"), processes=1)
    return folder


@pytest.mark.thorough
def test_our_figures_are_listed_beside_those_of_the_paper(
    summed: Library, topics: list[Query], judgments: list[Judgment]
) -> None:
    done = reproduce(summed, load_recipe("msm-sum"), topics, judgments)
    assert [(f.measure, f.paper) for f in done.figures] == [
        ("nDCG'", 0.332),
        ("MAP'", 0.123),
        ("P'@10", 0.168),
    ]
    judged = Judgments.of(judgments).answerable(2)
    asked = [query for query in topics if query.id in judged.grades]
    expected = evaluate(summed.run(asked, 1000), judged, [Measure("MAP", judged_only=True)])
    assert done.figures[1].ours == pytest.approx(expected.mean(Measure("MAP", judged_only=True)))
    assert done.figures[0].source == "Geletka et al. (CLEF 2022), table 2, msm 4"


@pytest.mark.thorough
def test_differences_from_the_paper_are_listed(
    tmp_path: Path, topics: list[Query], judgments: list[Judgment]
) -> None:
    recipe = load_recipe("msm-sum", ["parts.bm25.scheme.k1=2.0"])
    build_library(tmp_path / "l", sampler.posts(), recipe, processes=1)
    strangers = [Judgment("A.1", "a post that is not there", 3)]
    done = reproduce(
        Library(tmp_path / "l"), load_recipe("msm-sum"), topics, [*judgments, *strangers]
    )
    posts = len(list(sampler.posts()))
    assert "parts.bm25.scheme.k1 is 2.0, not 1.5" in done.differences
    assert f"ARQMath 2020: {posts} posts were searched, not 1,445,495" in done.differences
    assert any(f"of {len(judgments) + 1:,} judgments are used" in d for d in done.differences)


@pytest.mark.parametrize("method", ["rbc", "wibc", "linear"])
@pytest.mark.thorough
def test_a_learned_fusion_is_cross_validated(
    ensemble: Path, topics: list[Query], judgments: list[Judgment], method: str
) -> None:
    text = ENSEMBLE.replace('method = "rrf", k = 10', f'method = "{method}"')
    recipe = parse_recipe(text, "two")
    library = Library(ensemble, [f"ranking.fuse={{method='{method}'}}"])
    done = reproduce(library, recipe, topics, judgments)
    assert done.learned.startswith(f"words, both: {method.upper()[:1]}")
    assert library.recipe == recipe
    assert [figure.measure for figure in done.figures][:3] == ["nDCG'", "MAP'", "P'@10"]
    assert all(figure.paper is None for figure in done.figures)


@pytest.mark.thorough
def test_a_fused_run_has_the_scores_of_the_fusion_of_equally_deep_runs(ensemble: Path) -> None:
    with Library(ensemble, ["ranking.candidates=20", "ranking.k=20"]) as opened:
        queries = list(sampler.queries())[:20]
        runs = [
            opened.with_recipe(opened.recipe.member(name)).run(queries, 20, name=name)
            for name in opened.recipe.members
        ]
        apart = fuse(runs, opened.recipe.fusion(opened.recipe.ranking.weights), 20)
        together = opened.run(queries, 20)
    for topic, hits in together.rankings.items():
        scores = [hit.score for hit in hits]
        assert scores == pytest.approx([hit.score for hit in apart.rankings[topic]])


@pytest.mark.thorough
def test_a_failed_reproduction_leaves_the_recipe_of_the_library_unchanged(
    ensemble: Path, topics: list[Query], judgments: list[Judgment]
) -> None:
    library = Library(ensemble, ["ranking.fuse={method='rbc'}"])
    before = library.recipe
    endless = [replace(query, text="prime " * 100_000) for query in topics]
    with pytest.raises(InputError, match="characters"):
        reproduce(library, before, endless, judgments)
    assert library.recipe == before


@pytest.mark.thorough
def test_judgments_of_missing_posts_do_not_change_which_topics_count(summed: Library) -> None:
    one, other = (post.id for post in list(sampler.posts())[:2])
    queries = [Query(f"A.{number}", "prime") for number in (1, 2, 208)]
    judgments = [
        Judgment("A.1", one, 3),
        Judgment("A.1", "a post that is not there", 2),
        Judgment("A.2", other, 0),
        Judgment("A.2", "a post that is not there", 3),
        Judgment("A.3", one, 1),
        # This topic has no relevant post, and papers count it.
        Judgment("A.208", one, 1),
    ]
    whole = JudgedTask.of(summed, queries, judgments)
    assert [query.id for query in whole.queries] == ["A.1", "A.208"]
    there = [judgment for judgment in judgments if judgment.id in (one, other)]
    present = JudgedTask.of(summed, queries, there)
    assert (present.queries, present.judged) == (whole.queries, whole.judged)
    without_relevant = "counted without a relevant post in the judgments: 1 topic"
    left_out = "1 of topics without a relevant post there, 1 of topics that were not asked"
    assert list(present.notes()) == [
        f"2 of 4 judgments are used; left out: {left_out}",
        without_relevant,
    ]
    missing = "2 of posts that are not in the library"
    assert list(whole.notes()) == [
        f"2 of 6 judgments are used; left out: {missing}, {left_out}",
        without_relevant,
    ]


def test_topics_of_no_lab_count_even_if_no_judged_post_is_relevant(summed: Library) -> None:
    post, other = (post.id for post in islice(sampler.posts(), 2))
    queries = [Query("mine", "prime"), Query("yours", "prime")]
    judgments = [
        Judgment("mine", post, 3),
        Judgment("mine", other, 0),
        Judgment("yours", post, 0),
    ]
    task = JudgedTask.of(summed, queries, judgments)
    assert (task.queries, task.judgments) == (queries, judgments)
    assert list(task.notes()) == ["counted without a relevant post in the judgments: 1 topic"]
    lost = [*judgments, Judgment("yours", "a post that is not there", 3)]
    assert JudgedTask.of(summed, queries, lost).queries == queries[:1]


def test_a_reproduction_without_usable_judgments_is_refused(
    summed: Library, topics: list[Query]
) -> None:
    recipe = load_recipe("msm-sum")
    with pytest.raises(InputError, match="none of the judged posts is in the collection"):
        reproduce(summed, recipe, topics, [Judgment("A.1", "nobody", 3)])
    known = next(sampler.posts()).id
    with pytest.raises(InputError, match="none of the topics has a judgment"):
        reproduce(summed, recipe, topics, [Judgment("B.1", known, 3)])


def test_an_edition_is_evaluated_with_the_measures_of_the_paper() -> None:
    every = [
        Published("r", edition, "en", Measure.parse(measure), 0.5, "table 1")
        for edition, measure in (("2020", "P@10"), ("2021", "MAP"), ("2021", "nDCG"))
    ]
    assert list(map(str, _measures(every, "2020"))) == ["P@10"]
    assert list(map(str, _measures(every, "2021"))) == ["MAP", "nDCG"]
    # An edition that is not in the paper is evaluated with all measures of the paper.
    assert list(map(str, _measures(every, "2022"))) == ["P@10", "MAP", "nDCG"]
    assert list(map(str, _measures([], "2020")))[:3] == ["nDCG'", "MAP'", "P'@10"]


def test_a_pool_without_posts_of_the_library_gives_no_hits(
    summed: Library, topics: list[Query]
) -> None:
    post = next(iter(sampler.posts())).id
    run = summed.run(topics[:2], pools={topics[0].id: ["nobody"], topics[1].id: ["nobody", post]})
    assert run.rankings[topics[0].id] == ()
    assert [hit.id for hit in run.rankings[topics[1].id]] in ([], [post])


def test_every_published_figure_belongs_to_a_recipe_and_an_edition() -> None:
    rebuilt = [name for name in recipe_names() if published_figures(name)]
    papers = {"crossmath", "mathamr", "miracle", "mirmu", "msm"}
    assert {name.partition("-")[0] for name in rebuilt} >= papers
    table = resources.files("mathsetu.recipes") / "published.tsv"
    rows = table.read_text(encoding="utf-8").splitlines()[1:]
    assert sum(len(published_figures(name)) for name in rebuilt) == len(rows)
    for name in rebuilt:
        figures = published_figures(name)
        assert {figure.edition for figure in figures} <= set(EDITIONS)
        keys = [(f.edition, f.language, f.measure) for f in figures]
        assert len(set(keys)) == len(keys)
        assert all(0 <= figure.value <= 1 for figure in figures)


def test_data_that_differ_from_those_of_the_paper_are_named() -> None:
    same = Figure("CLMIR 2025", "en", 50, "MAP", 0.5, 0.4)
    assert list(_other_data([same], 39_862)) == []
    fewer = replace(same, topics=7)
    assert list(_other_data([fewer], 1200)) == [
        "CLMIR 2025: 1,200 posts were searched, not 39,862",
        "CLMIR 2025, en: 7 topics were asked, not 50",
    ]
    lab = replace(same, edition="ARQMath 2021", topics=72, source="MSM, table 1")
    assert list(_other_data([lab], 1_445_495)) == ["ARQMath 2021, en: 72 topics were asked, not 71"]
    assert list(_other_data([replace(lab, source="CrossMath, table 4")], 1_445_495)) == [
        "ARQMath 2021, en: 72 topics were asked, not 89"
    ]
    assert list(_other_data([replace(same, paper=None)], 1200)) == [
        "topics of CLMIR 2025, en: the paper has no figures for them"
    ]
    assert list(_other_data([replace(same, edition="")], 1200)) == [
        "topics of no lab: the paper has no figures for them"
    ]


def test_a_protocol_that_differs_from_that_of_the_paper_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def said(source: str, pool: bool) -> list[str]:
        figures = [Published("x", "arqmath-2020", "en", Measure("MAP"), 0.5, source)]
        shown = figures if source else []
        monkeypatch.setattr(reproduction, "published_figures", lambda name: shown)
        return list(reproduction._protocol("x", pool, None))

    assert said("CrossMath, table 2", pool=True) == []
    assert said("CrossMath, table 2", pool=False) == [
        "the whole collection was ranked; the paper ranks the judged posts alone (--pool)"
    ]
    assert said("MSM, table 1", pool=False) == []
    assert said("MSM, table 1", pool=True) == [
        "only the judged posts of each topic were ranked; the paper ranks the collection"
    ]
    assert said("", pool=True) == ["only the judged posts of each topic were ranked"]


def test_posts_that_the_recipe_leaves_out_are_counted() -> None:
    whole = load_recipe("default")
    short = replace(whole, posts=replace(whole.posts, kinds=("answer",)))
    assert list(reproduction._fewer_posts(whole, None)) == []
    assert list(reproduction._fewer_posts(whole, ())) == []
    assert list(reproduction._fewer_posts(short, None)) == [
        "the recipe leaves out some posts (posts.kinds ('answer',)), counted when the library "
        "is built"
    ]
    assert list(reproduction._fewer_posts(short, {"1"})) == [
        "left out by the recipe: 1 post (posts.kinds ('answer',))"
    ]


class Searched:
    """A library of two systems whose runs are known."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.asked = recipe, list[tuple[int, str]]()

    def with_recipe(self, recipe: Recipe) -> "Searched":
        return self

    def present(self, ids: set[str]) -> set[str]:
        return {one for one in ids if one != "gone"}

    def run(self, queries: list[Query], k: int, *, name: str = "", pools: object = None) -> Run:
        self.asked.append((k, name))
        ids = ("a", "b") if name == "words" else ("b", "a")
        hits = tuple(Hit(one, 1.0 / rank) for rank, one in enumerate(ids, start=1))
        return Run(name, {query.id: hits for query in queries})


def test_a_sweep_over_the_constant_of_rrf_makes_each_run_once() -> None:
    library = Searched(parse_recipe(ENSEMBLE, "two"))
    queries = [Query("q1", "x"), Query("q2", "y")]
    judged = [Judgment("q1", "a", 1), Judgment("q2", "b", 1), Judgment("q2", "gone", 1)]
    swept = sweep(library, library.recipe, queries, judged, [1.0, 60.0], depth=5)  # type: ignore[arg-type]
    assert [k for k, _ in swept] == [1.0, 60.0]
    assert library.asked == [(library.recipe.ranking.candidates, "words"),
                             (library.recipe.ranking.candidates, "both")]  # fmt: skip
    assert all(figure.topics == 2 for _, figures in swept for figure in figures)
    summed = Searched(load_recipe("default"))
    with pytest.raises(InputError, match="default: --sweep-k needs a recipe that fuses with rrf"):
        sweep(summed, summed.recipe, queries, judged, [1.0])  # type: ignore[arg-type]


def test_unused_judgments_are_counted_by_reason() -> None:
    library = Searched(load_recipe("default"))
    queries = [Query("q1", "x"), Query("q2", "y"), Query("q3", "z")]
    judged = [
        Judgment("q1", "a", 1), Judgment("q1", "gone", 1), Judgment("q2", "b", 0),
        Judgment("q2", "gone", 1), Judgment("q3", "c", 0), Judgment("q4", "a", 1),
    ]  # fmt: skip
    task = JudgedTask.of(library, queries, judged, pool=True)  # type: ignore[arg-type]
    assert [query.id for query in task.queries] == ["q1", "q3"]
    assert (task.threshold, task.used, task.pools) == (1, 2, {"q1": {"a": 1}, "q3": {"c": 0}})
    assert list(task.unused.values()) == [0, 2, 1, 1]
    assert list(task.notes()) == [
        "2 of 6 judgments are used; left out: 2 of posts that are not in the library, 1 of topics "
        "without a relevant post there, 1 of topics that were not asked",
        "counted without a relevant post in the judgments: 1 topic",
    ]
    known = JudgedTask.of(library, queries, judged, left_out={"gone"})  # type: ignore[arg-type]
    assert list(known.unused.values()) == [2, 0, 1, 1]
    assert known.pools is None


def test_a_learned_fusion_needs_two_topics() -> None:
    recipe = parse_recipe(ENSEMBLE, "two")
    library = Searched(recipe)
    queries = [Query("q1", "x")]
    task = JudgedTask.of(library, queries, [Judgment("q1", "a", 1)])  # type: ignore[arg-type]
    runs = [library.run(queries, 5, name=name) for name in ("words", "both")]
    fused = fuse_members(recipe, runs, task, 1)
    assert [hit.id for hit in fused.run.rankings["q1"]] == ["a"]
    assert (fused.held_out, fused.fitted, fused.topics) == (0.0, 0.0, 0)
    ranking = replace(recipe.ranking, fuse={"method": "linear"})
    with pytest.raises(InputError, match="is learned from judged topics; give at least two"):
        fuse_members(replace(recipe, ranking=ranking), runs, task)


def test_a_graph_model_of_the_package_is_named_as_ours() -> None:
    recipe = load_recipe("mathamr-plus")
    [note] = _own_models(recipe)
    assert note.startswith("parts.graph.model is shipped: our network")
    (name,) = [name for name, part in recipe.parts.items() if part["kind"] == "graph"]
    other = replace(recipe, parts={**recipe.parts, name: {**recipe.parts[name], "model": "./own"}})
    assert list(_own_models(other)) == []


def test_a_note_counts_the_judged_posts_of_pools_that_were_not_found() -> None:
    task = SimpleNamespace(pools={"q1": {"a": 1, "b": 0}, "q2": {"c": 2}})
    some = Run("run", {"q1": (Hit("a", 1.0),), "q2": (Hit("c", 1.0),)})
    [note] = _unranked(some, task)  # type: ignore[arg-type]
    assert note.startswith("1 of 3 judged posts were not found by the recipe")
    every = Run("run", {"q1": (Hit("a", 1.0), Hit("b", 0.5)), "q2": (Hit("c", 1.0),)})
    assert list(_unranked(every, task)) == []  # type: ignore[arg-type]
