"""Learned fusion: held-out figures, weights that follow the judgments, and the verb."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections.trec import read_qrels, read_run, write_qrels, write_run
from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, Measure, evaluate
from mathsetu.ranking.fusion import (
    GOAL,
    METHODS,
    RBC,
    RRF,
    WIBC,
    Learner,
    Linear,
    WeightSearch,
    fit_rbc,
    fuse,
    fuse_learned,
    make_learner,
)
from mathsetu.ranking.fusion.learning import JudgedPool, judge_pools, mean_value
from mathsetu.ranking.fusion.pool import pool_runs
from mathsetu.records import Hit, Judgment, Run
from tests.command import Mathsetu

TOPICS = [f"A.{number}" for number in range(12)]
POSTS = [str(number) for number in range(20)]
# Weighted medians take longest to learn, and weights of a sum are learned by the same search.
LEARNERS = [
    pytest.param(name, marks=[pytest.mark.thorough] if name == "wibc" else [])
    for name, method in METHODS.items()
    if method.learner
]


def synthetic() -> tuple[list[Run], list[Judgment]]:
    """A run that is nearly random, one that follows the judgments, and one that does so loosely."""
    random = np.random.default_rng(7)
    grades = {topic: random.integers(0, 4, len(POSTS)) for topic in TOPICS}
    runs = []
    for name, noise in (("noise", 50.0), ("good", 1.0), ("fair", 4.0)):
        rankings = {}
        for topic in TOPICS:
            scores = grades[topic] + noise * random.normal(size=len(POSTS))
            best = np.argsort(-scores)
            rankings[topic] = tuple(Hit(POSTS[place], float(scores[place])) for place in best)
        runs.append(Run(name, rankings))
    judgments = [
        Judgment(topic, post, int(grade))
        for topic in TOPICS
        for post, grade in zip(POSTS, grades[topic], strict=True)
    ]
    return runs, judgments


@pytest.mark.parametrize(
    "start",
    [
        Linear(()),
        pytest.param(Linear((), "rank"), marks=pytest.mark.thorough),
        pytest.param(WIBC(()), marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("name", ["nDCG'", "MAP"])
def test_learned_weights_favour_the_better_run_and_beat_equal_ones(
    start: Linear | WIBC, name: str
) -> None:
    runs, judgments = synthetic()
    judged, measure = judge_pools(pool_runs(runs), judgments), Measure.parse(name)
    learned = WeightSearch(start, measure)(judged)
    noise, good, fair = learned.weights
    assert good > fair >= noise
    assert sum(learned.weights) == pytest.approx(1, abs=1e-3)
    equal = type(start)(weights=(1.0, 1.0, 1.0))
    assert mean_value(judged, learned, measure) > mean_value(judged, equal, measure)


def test_weights_stay_equal_if_judgments_do_not_distinguish_the_runs() -> None:
    runs, judgments = synthetic()
    judged = judge_pools(pool_runs([runs[1], runs[1]]), judgments)
    assert WeightSearch(Linear(()))(judged).weights == (0.5, 0.5)


def test_a_single_run_gets_all_the_weight() -> None:
    runs, judgments = synthetic()
    assert WeightSearch(Linear(()))(judge_pools(pool_runs(runs[:1]), judgments)).weights == (1.0,)


def test_the_regression_favours_the_better_run_and_has_no_negative_coefficients() -> None:
    runs, judgments = synthetic()
    method = fit_rbc(judge_pools(pool_runs(runs), judgments))
    noise, good, fair = (sum(of_run) for of_run in method.coefficients)
    assert good > fair > noise
    assert min(value for of_run in method.coefficients for value in of_run) >= 0


def test_the_regression_has_these_coefficients() -> None:
    runs = [
        Run(name, {"A.1": tuple(Hit(post, -place) for place, post in enumerate(posts))})
        for name, posts in (("one", "abcdf"), ("other", "dacbeg"))
    ]
    grades = zip("abcde", (3, 0, 1, 2, 0), strict=True)  # f and g are not judged
    judged = judge_pools(pool_runs(runs), [Judgment("A.1", post, grade) for post, grade in grades])
    one, other = (0.0, 0.0, 1.283132), (0.0, 1.493788, 1.78795)
    method = fit_rbc(judged, depth=8)
    assert method.coefficients == (pytest.approx(one, abs=1e-5), pytest.approx(other, abs=1e-5))
    assert (method.intercept, method.depth) == (pytest.approx(-1.397744, abs=1e-5), 8)


def test_the_mean_prediction_of_the_regression_is_the_mean_gain() -> None:
    runs, judgments = synthetic()
    judged = judge_pools(pool_runs(runs), judgments)
    method = fit_rbc(judged)
    predicted = np.concatenate([method.rate(topic.pool)[0] for topic in judged])
    assert predicted.mean() == pytest.approx(np.mean([j.grade for j in judgments]), abs=1e-4)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.thorough
def test_no_topic_is_ranked_with_its_own_judgments(name: str) -> None:
    runs, judgments = synthetic()
    measure = GOAL
    learner = make_learner(name, measure)
    seen: list[set[str]] = []

    def watching(judged: list[JudgedPool]) -> object:
        seen.append({topic.pool.topic for topic in judged})
        return learner(judged)

    known = [judgment for judgment in judgments if judgment.query_id in TOPICS[:8]]
    learned = fuse_learned(runs, known, watching, measure=measure, folds=4)  # type: ignore[arg-type]
    assert seen[0] == set(TOPICS[:8])
    left_out = [set(TOPICS[:8]) - topics for topics in seen[1:]]
    assert sorted(topic for fold in left_out for topic in fold) == TOPICS[:8]
    assert all(len(fold) == 2 for fold in left_out)
    assert sorted(learned.run.rankings) == sorted(TOPICS)
    assert learned.topics == 8


def test_topics_without_judgments_are_ranked_by_the_method_fitted_on_all() -> None:
    runs, judgments = synthetic()
    known = [judgment for judgment in judgments if judgment.query_id != "A.3"]
    learned = fuse_learned(runs, known, fit_rbc, measure=GOAL)
    assert learned.run.rankings["A.3"] == fuse(runs, learned.method).rankings["A.3"]


def test_a_topics_own_judgments_cannot_change_its_ranking() -> None:
    runs, judgments = synthetic()
    lies = [
        Judgment(j.query_id, j.id, 3 - j.grade if j.query_id == "A.3" else j.grade)
        for j in judgments
    ]
    honest = fuse_learned(runs, judgments, fit_rbc, measure=GOAL)
    misled = fuse_learned(runs, lies, fit_rbc, measure=GOAL)
    assert honest.run.rankings["A.3"] == misled.run.rankings["A.3"]
    assert honest.run.rankings != misled.run.rankings


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.thorough
def test_learning_gives_the_same_run_every_time(name: str) -> None:
    runs, judgments = synthetic()

    def learn() -> Run:
        learner: Learner = make_learner(name, GOAL)
        return fuse_learned(runs, judgments, learner, measure=GOAL, folds=2).run

    assert learn() == learn()


def test_the_seed_decides_the_folds() -> None:
    runs, judgments = synthetic()
    first, second = (
        fuse_learned(runs, judgments, fit_rbc, measure=GOAL, seed=seed) for seed in (0, 1)
    )
    assert first.run != second.run
    assert first.method == second.method


@pytest.mark.parametrize("folds", [1, 13])
def test_an_impossible_number_of_folds_is_refused(folds: int) -> None:
    runs, judgments = synthetic()
    with pytest.raises(InputError, match="12 judged topics cannot be divided"):
        fuse_learned(runs, judgments, fit_rbc, measure=GOAL, folds=folds)


def test_topics_without_judged_candidates_do_not_change_the_regression() -> None:
    runs, judgments = synthetic()
    pools = pool_runs(runs)
    first, second = pools[0].topic, pools[1].topic
    of_one = [one for one in judgments if one.query_id == first]
    with_other = judge_pools(pools, [*of_one, Judgment(second, "unknown", 3)])
    assert len(with_other) == 2
    assert fit_rbc(with_other) == fit_rbc(judge_pools(pools, of_one))


def test_learners_maximise_the_measure_of_arqmath_by_default() -> None:
    assert str(GOAL) == "nDCG'"


def test_judgments_of_other_posts_are_refused() -> None:
    runs, _ = synthetic()
    judged = judge_pools(pool_runs(runs), [Judgment("A.1", "unknown", 3)])
    with pytest.raises(InputError, match="no candidate of the runs is judged"):
        fit_rbc(judged)


def test_a_method_with_nothing_to_learn_is_refused_with_those_that_can_learn() -> None:
    with pytest.raises(InputError, match="methods that do: wibc, rbc, linear"):
        make_learner("rrf", GOAL)
    with pytest.raises(InputError, match="either given or learned"):
        make_learner("linear", GOAL, weights=(1, 2))


@given(
    st.permutations([str(number) for number in range(15)]),
    st.dictionaries(st.sampled_from([str(n) for n in range(18)]), st.integers(0, 3), min_size=1),
    st.sampled_from(["nDCG'", "nDCG'@10", "nDCG", "nDCG@10", "MAP'", "MAP", "P'@5"]),
)
def test_the_value_that_is_maximised_is_that_of_the_evaluation(
    ranking: list[str], grades: dict[str, int], name: str
) -> None:
    run = Run("one", {"A.1": tuple(Hit(post, -float(n)) for n, post in enumerate(ranking))})
    judgments = [Judgment("A.1", post, grade) for post, grade in grades.items()]
    [judged] = judge_pools(pool_runs([run]), judgments)
    measure = Measure.parse(name)
    expected = evaluate(run, Judgments.of(judgments), [measure], relevant_from=2).mean(measure)
    assert judged.value(RRF(), measure) == pytest.approx(expected)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    runs, judgments = synthetic()
    paths = [tmp_path / f"{run.name}.run" for run in runs]
    for path, run in zip(paths, runs, strict=True):
        write_run(path, run)
    write_qrels(tmp_path / "qrels.txt", judgments)
    return paths


def test_the_verb_writes_the_run_that_the_function_returns(
    mathsetu: Mathsetu, files: list[Path], tmp_path: Path
) -> None:
    target = tmp_path / "fused.run"
    done = mathsetu("fuse", "rrf", *files, target, "--rrf-k", "10", "--name", "ours", "--k", "5")
    assert done.code == 0, done.err
    assert "12 topics, 60 hits" in done.err
    assert read_run(target) == fuse([read_run(p) for p in files], RRF(10), 5, "ours")


def test_the_verb_learns_and_reports_the_held_out_figure(
    mathsetu: Mathsetu, files: list[Path], tmp_path: Path
) -> None:
    target, qrels = tmp_path / "fused.run", tmp_path / "qrels.txt"
    done = mathsetu("fuse", "rbc", *files, target, "--qrels", qrels, "--json")
    report = json.loads(done.out)
    learned = fuse_learned(
        [read_run(path) for path in files],
        read_qrels(qrels),
        fit_rbc,
        measure=GOAL,
        name="rbc",
    )
    assert report["held_out"] == learned.held_out
    assert report["measure"] == "nDCG'"
    assert read_run(target) == learned.run
    method = RBC(
        tuple(map(tuple, report["settings"]["coefficients"])), report["settings"]["intercept"]
    )
    assert method == learned.method
    spoken = mathsetu("fuse", "rbc", *files, target, "--qrels", qrels, "--overwrite").err
    assert f"nDCG' {learned.held_out:.3f} held out" in spoken


@pytest.mark.parametrize("depth", [3, 1000])
def test_the_held_out_figure_is_that_of_the_run(depth: int) -> None:
    runs, judgments = synthetic()
    learned = fuse_learned(runs, judgments, fit_rbc, measure=GOAL, depth=depth)
    figures = evaluate(learned.run, Judgments.of(judgments), [GOAL], relevant_from=2)
    assert learned.held_out == pytest.approx(figures.mean(GOAL))


@pytest.mark.parametrize("measure", ["nDCG'", "MAP'"])
def test_judged_candidates_suffice_to_learn_weighted_medians(measure: str) -> None:
    runs, judgments = synthetic()
    # Half of the hits are not judged, and ranks beyond a few are equal, so that draws decide.
    pools = judge_pools(pool_runs(runs), judgments[::2])
    goal = Measure.parse(measure)
    for weights in ((0.2, 0.5, 0.3), (1.0, 0.0, 0.0), (1 / 3, 1 / 3, 1 / 3)):
        method = WIBC(weights, depth=4, seed=3)
        assert [pool.without_unjudged().value(method, goal) for pool in pools] == [
            pool.value(method, goal) for pool in pools
        ]


def test_the_verb_saves_what_it_learned_and_reuses_it_for_the_same_runs(
    mathsetu: Mathsetu, files: list[Path], tmp_path: Path
) -> None:
    target, qrels, kept = tmp_path / "fused.run", tmp_path / "qrels.txt", tmp_path / "rbc.toml"
    done = mathsetu("fuse", "rbc", *files, target, "--qrels", qrels, "--save", kept, "--json")
    settings = json.loads(done.out)["settings"]
    method = RBC(tuple(map(tuple, settings["coefficients"])), settings["intercept"])
    # In another order: learned values belong to the names of runs.
    turned = files[::-1]
    given = (target, "--learned", kept, "--overwrite")
    assert mathsetu("fuse", "rbc", *turned, *given).code == 0
    assert read_run(target) == fuse([read_run(path) for path in files], method, name="rbc")
    assert "was learned for rbc, not for wibc" in mathsetu.refuses("fuse", "wibc", *files, *given)
    other = tmp_path / "other.run"
    write_run(other, Run("other", read_run(files[0]).rankings))
    others = (files[0], other)
    assert "was learned for" in mathsetu.refuses("fuse", "rbc", *others, *given)
    assert "--save needs --qrels" in mathsetu.refuses("fuse", "rrf", *files, target, "--save", kept)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rrf", "RUN", "OUT", "--weights", "1"], "rrf has no setting 'weights'"),
        (["linear", "RUN", "OUT"], "linear needs weights, or judgments"),
        (["linear", "RUN", "OUT", "--weights", "1,b"], "not a list of numbers"),
        (["linear", "RUN", "RUN", "OUT", "--weights", "1"], "1 weight for 2 runs"),
        (["rrf", "RUN", "OUT", "--qrels", "QRELS"], "learns nothing"),
        (["rrf", "QRELS", "OUT"], "not runs"),
        (["rbc", "RUN", "RUN", "OUT", "--qrels", "RUN"], "not judgments"),
        (["rrf", "RUN", "OUT"], "give two or more runs"),
        (["rrf", "RUN", "TWICE", "OUT"], "twice.run: 7 occurs 2 times for A.1"),
        (["rrf", "missing.run", "OUT"], "missing.run"),
        (["rrf", "RUN", "OUT", "--to", "trec-qrels"], "not a run format"),
        (["linear", "RUN", "OUT", "--qrels", "QRELS", "--measure", "ERR"], "unknown measure"),
    ],
)
def test_the_verb_reports_each_mistake(
    mathsetu: Mathsetu, files: list[Path], tmp_path: Path, arguments: list[str], message: str
) -> None:
    twice = tmp_path / "twice.run"
    twice.write_text("A.1 Q0 7 1 2 r\nA.1 Q0 7 2 1 r\n")
    places = {
        "RUN": files[0],
        "QRELS": tmp_path / "qrels.txt",
        "OUT": tmp_path / "out.run",
        "TWICE": twice,
    }
    done = mathsetu("fuse", *(places.get(argument, argument) for argument in arguments))
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "out.run").exists()


def test_the_verb_offers_every_method() -> None:
    from mathsetu.cli.fuse import _METHODS

    assert list(_METHODS) == list(METHODS)


def test_runs_of_different_topics_are_not_fused(mathsetu: Mathsetu, tmp_path: Path) -> None:
    first, second = tmp_path / "2020.run", tmp_path / "2021.run"
    first.write_text("A.1 Q0 5 1 1.0 x\n", encoding="utf-8")
    second.write_text("A.201 Q0 5 1 1.0 y\n", encoding="utf-8")
    line = mathsetu.refuses("fuse", "rrf", first, second, tmp_path / "fused.run")
    assert "2021.run: has no topic in common with" in line
    assert "(A.201, A.1)" in line
    assert not (tmp_path / "fused.run").exists()
