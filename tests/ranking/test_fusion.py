"""Fusion methods: the scores of each, and what holds for all of them and any runs."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections.trec import read_run, write_run
from mathsetu.errors import InputError
from mathsetu.ranking.fusion import (
    IBC,
    METHODS,
    RBC,
    RRF,
    SCALINGS,
    WIBC,
    CombMNZ,
    CombSUM,
    Fusion,
    Linear,
    fuse,
    make_fusion,
)
from mathsetu.ranking.fusion.method import order, rounded
from mathsetu.ranking.fusion.pool import pool_runs
from mathsetu.records import Hit, Run


def run_of(ids: Sequence[str], scores: Sequence[float] = (), name: str = "run") -> Run:
    scores = scores or [float(-place) for place in range(len(ids))]
    return Run(name, {"A.1": tuple(map(Hit, ids, scores))})


def ids_of(run: Run, topic: str = "A.1") -> list[str]:
    return [hit.id for hit in run.rankings[topic]]


def methods(runs: int) -> list[Fusion]:
    """One of each method, with weights that favour earlier runs."""
    weights = tuple(float(runs - place) for place in range(runs))
    scalings = [name for name in SCALINGS if name != "none"]
    return [
        RRF(),
        IBC(),
        WIBC(weights),
        RBC(tuple((0.1 * weight, 0.2, 0.3) for weight in weights)),
        *(CombSUM(scaling) for scaling in SCALINGS),
        *(CombMNZ(scaling) for scaling in scalings),
        *(Linear(weights, scaling) for scaling in SCALINGS),
    ]


candidates = st.sampled_from("abcdefgh") | st.integers(1, 30).map(str)
score = st.floats(-5, 30, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 2.0])


@st.composite
def rankings(draw: st.DrawFn) -> tuple[Hit, ...]:
    ids = draw(st.lists(candidates, min_size=1, max_size=10, unique=True))
    scores = sorted((draw(score) for _ in ids), reverse=True)
    return tuple(map(Hit, ids, scores))


@st.composite
def some_runs(draw: st.DrawFn) -> list[Run]:
    topics = st.dictionaries(st.sampled_from(["A.1", "A.2"]), rankings(), min_size=1)
    return [Run(f"run{n}", draw(topics)) for n in range(draw(st.integers(1, 4)))]


class TestEveryMethod:
    @given(some_runs())
    def test_keeps_every_candidate_once_with_finite_descending_scores(
        self, runs: list[Run]
    ) -> None:
        for method in methods(len(runs)):
            fused = fuse(runs, method)
            for topic in {topic for run in runs for topic in run.rankings}:
                found = {hit.id for run in runs for hit in run.rankings.get(topic, ())}
                scores = [hit.score for hit in fused.rankings[topic]]
                assert sorted(ids_of(fused, topic)) == sorted(found)
                assert all(map(math.isfinite, scores))
                assert scores == sorted(scores, reverse=True)

    @given(rankings())
    def test_keeps_the_order_of_a_single_run(self, ranking: tuple[Hit, ...]) -> None:
        for method in methods(1):
            assert ids_of(fuse([Run("one", {"A.1": ranking})], method)) == [h.id for h in ranking]

    @given(some_runs(), st.randoms(use_true_random=False))
    @pytest.mark.thorough
    def test_does_not_depend_on_the_order_of_the_runs(
        self, runs: list[Run], random: object
    ) -> None:
        places = list(range(len(runs)))
        random.shuffle(places)  # type: ignore[attr-defined]
        for method in methods(len(runs)):
            shuffled = fuse([runs[place] for place in places], permuted(method, places))
            for topic, hits in fuse(runs, method).rankings.items():
                again = {hit.id: hit.score for hit in shuffled.rankings[topic]}
                assert again == pytest.approx({hit.id: hit.score for hit in hits}, abs=1e-9)
                # RRF does not round its sums, to agree with other tools.
                if not isinstance(method, RRF):
                    assert list(again) == [hit.id for hit in hits]

    @given(some_runs())
    @pytest.mark.thorough
    def test_gives_the_same_result_every_time(self, runs: list[Run]) -> None:
        for method in methods(len(runs)):
            assert fuse(runs, method) == fuse(runs, method)

    @given(some_runs(), st.data())
    def test_never_moves_a_candidate_down_when_a_run_moves_it_up(
        self, runs: list[Run], data: st.DataObject
    ) -> None:
        ranked_by_position = [RRF(), *(m for m in methods(len(runs)) if hasattr(m, "depth"))]
        which = data.draw(st.integers(0, len(runs) - 1))
        topic = data.draw(st.sampled_from(sorted(runs[which].rankings)))
        hits = list(runs[which].rankings[topic])
        place = data.draw(st.integers(0, len(hits) - 1))
        risen = hits[place].id
        hits.insert(data.draw(st.integers(0, place)), hits.pop(place))
        changed = list(runs)
        changed[which] = Run("changed", {**runs[which].rankings, topic: tuple(hits)})
        for method in ranked_by_position:
            before = ids_of(fuse(runs, method), topic).index(risen)
            assert ids_of(fuse(changed, method), topic).index(risen) <= before

    @given(some_runs(), st.integers(1, 5))
    @pytest.mark.thorough
    def test_keeps_no_more_hits_than_requested(self, runs: list[Run], depth: int) -> None:
        for method in methods(len(runs)):
            whole, cut = fuse(runs, method), fuse(runs, method, depth)
            for topic, hits in whole.rankings.items():
                assert cut.rankings[topic] == hits[:depth]

    @given(some_runs())
    @pytest.mark.thorough
    def test_is_read_back_in_the_same_order(
        self, tmp_path_factory: pytest.TempPathFactory, runs: list[Run]
    ) -> None:
        path = tmp_path_factory.mktemp("runs") / "fused.run"
        for method in methods(len(runs)):
            fused = fuse(runs, method)
            write_run(path, fused)
            assert read_run(path).rankings == fused.rankings

    def test_keeps_the_post_of_a_formula(self) -> None:
        run = Run("formulas", {"B.1": (Hit("f7", 0.5, post_id="7"),)})
        assert fuse([run, run_of("a")], RRF()).rankings["B.1"][0].post_id == "7"

    def test_orders_the_topics_of_all_runs_by_name(self) -> None:
        runs = [Run("a", {"A.2": (Hit("7", 1.0),)}), Run("b", {"A.10": (Hit("7", 1.0),)})]
        assert list(fuse(runs, RRF()).rankings) == ["A.10", "A.2"]

    @pytest.mark.parametrize("name", METHODS)
    def test_names_its_source_and_shows_an_example(self, name: str) -> None:
        described = METHODS[name].kind.__doc__ or ""
        assert "Source: " in described
        assert ">>> " in described


def permuted(method: Fusion, places: list[int]) -> Fusion:
    for setting in ("weights", "coefficients"):
        if hasattr(method, setting):
            values = getattr(method, setting)
            return replace(method, **{setting: tuple(values[p] for p in places)})  # type: ignore[type-var]
    return method


class TestRRF:
    def test_adds_reciprocal_ranks(self) -> None:
        fused = fuse([run_of("ab"), run_of("bc")], RRF(k=1))
        assert {hit.id: hit.score for hit in fused.rankings["A.1"]} == {
            "b": 1 / 3 + 1 / 2,
            "a": 1 / 2,
            "c": 1 / 3,
        }

    def test_equal_scores_stay_equal_and_are_ordered_by_the_value_of_numeric_ids(self) -> None:
        fused = fuse([run_of(["10", "9"]), run_of(["9", "10"])], RRF())
        assert ids_of(fused) == ["9", "10"]
        assert len({hit.score for hit in fused.rankings["A.1"]}) == 1

    @pytest.mark.parametrize("k", [-1, math.nan, math.inf])
    def test_refuses_a_k_that_is_negative_or_not_finite(self, k: float) -> None:
        with pytest.raises(InputError, match="choose a number"):
            RRF(k=k)

    @pytest.mark.shared
    @pytest.mark.parametrize(
        "parts",
        [
            ("mlt", "roberta"),
            pytest.param(("anserini", "roberta"), marks=pytest.mark.thorough),
            pytest.param(("mlt", "anserini", "roberta"), marks=pytest.mark.thorough),
        ],
    )
    def test_gives_the_published_fusions_byte_for_byte(
        self, shared_data: Path, tmp_path: Path, parts: tuple[str, ...]
    ) -> None:
        import gzip

        folder, ending = shared_data / "fusion-runs", "-auto-both-A.tsv.gz"
        files = {"roberta": "roberta-base"}
        runs = [read_run(folder / f"prim.{files.get(part, part)}{ending}") for part in parts]
        write_run(tmp_path / "fused", fuse(runs, RRF(60), name="reciprocal_rank_fusion_k=60"))
        published = folder / f"rrf.prim.{'.'.join(parts)}{ending}"
        assert (tmp_path / "fused").read_bytes() == gzip.decompress(published.read_bytes())


class TestIBC:
    def test_takes_the_median_rank_and_ranks_missing_candidates_last(self) -> None:
        runs = [run_of("abc"), run_of("bcd"), run_of("cab")]
        scores = {hit.id: round(hit.score, 4) for hit in fuse(runs, IBC()).rankings["A.1"]}
        assert scores == {"a": 0.998, "b": 0.998, "c": 0.998, "d": 0.0}

    def test_takes_the_mean_of_the_middle_ranks_of_an_even_number_of_runs(self) -> None:
        [first, second] = fuse([run_of("ab"), run_of("a")], IBC(depth=10)).rankings["A.1"]
        assert (first.id, first.score) == ("a", 0.9)
        assert (second.id, second.score) == ("b", (10 - 6) / 10)

    def test_ties_go_to_the_candidate_that_more_runs_found(self) -> None:
        # Both medians are the depth; b was found twice.
        runs = [run_of("ab"), run_of("cb"), run_of("c"), run_of("d"), run_of("e")]
        fused = ids_of(fuse(runs, IBC()))
        assert fused.index("b") < fused.index("a")

    def test_the_seed_decides_the_draws_between_further_ties(self) -> None:
        runs = [run_of("abcdefgh"), run_of("hgfedcba")]
        orders = {tuple(ids_of(fuse(runs, IBC(seed=seed)))) for seed in range(20)}
        assert len(orders) > 10

    def test_drawn_orders_survive_single_precision(self) -> None:
        import numpy as np

        runs = [run_of("abcdefgh"), run_of("hgfedcba")]
        [pool] = pool_runs(runs)
        drawn = len(set(IBC().rate(pool)[2].tolist()))
        single = {np.float32(hit.score) for hit in fuse(runs, IBC()).rankings["A.1"]}
        assert len(single) == drawn > 2

    def test_a_rank_beyond_the_depth_is_no_worse_than_a_missing_rank(self) -> None:
        runs = [run_of("abcd"), run_of("a")]
        fused = fuse(runs, IBC(depth=2))
        assert ids_of(fused) == ["a", "b", "c", "d"]
        [hits] = fused.rankings.values()
        # The ranks of c and d, 3 and 4, count as 2, as if the first run lacked them, too.
        assert [hit.score for hit in hits] == pytest.approx([0.5, 0, 0, 0], abs=1e-6)

    def test_a_depth_is_at_least_one(self) -> None:
        runs = [run_of("ab"), run_of("bc")]
        assert ids_of(fuse(runs, IBC(depth=1)))[0] == "b"
        with pytest.raises(InputError, match="depth 0: a ranking has at least one place"):
            fuse(runs, IBC(depth=0))


class TestWIBC:
    @given(some_runs(), st.integers(0, 3), st.floats(0.1, 10))
    def test_equal_weights_give_the_same_rankings_as_ibc(
        self, runs: list[Run], seed: int, weight: float
    ) -> None:
        weighted = WIBC((weight,) * len(runs), seed=seed)
        assert fuse(runs, weighted).rankings == fuse(runs, IBC(seed=seed)).rankings

    def test_a_run_with_most_of_the_weight_decides(self) -> None:
        runs = [run_of("abc"), run_of("cba"), run_of("cab")]
        assert ids_of(fuse(runs, WIBC((5, 1, 1)))) == ["a", "b", "c"]

    @given(some_runs(), rankings())
    def test_a_run_without_weight_changes_no_score(
        self, runs: list[Run], more: tuple[Hit, ...]
    ) -> None:
        known = {hit.id for run in runs for hit in run.rankings.get("A.1", ())}
        weights = (1.0,) * len(runs)
        silent = Run("silent", {"A.1": more})
        before = fuse(runs, WIBC(weights)).rankings.get("A.1", ())
        after = fuse([*runs, silent], WIBC((*weights, 0.0))).rankings["A.1"]
        scores = {hit.id: hit.score for hit in after if hit.id in known}
        assert scores == pytest.approx({hit.id: hit.score for hit in before}, abs=1e-4)


class TestScores:
    def test_combsum_adds_and_combmnz_multiplies_by_the_runs_that_agree(self) -> None:
        runs = [run_of("abc", (4, 3, 2)), run_of("bd", (9, 8))]
        added = {hit.id: hit.score for hit in fuse(runs, CombSUM()).rankings["A.1"]}
        times = {hit.id: hit.score for hit in fuse(runs, CombMNZ()).rankings["A.1"]}
        assert (added["b"], added["a"]) == (1.5, 1.0)
        assert (times["b"], times["a"]) == (3.0, 1.0)

    @given(some_runs())
    def test_linear_with_equal_weights_orders_as_combsum(self, runs: list[Run]) -> None:
        for scaling in SCALINGS:
            summed = fuse(runs, CombSUM(scaling))
            weighted = fuse(runs, Linear((1.0,) * len(runs), scaling))
            assert [ids_of(summed, t) for t in summed.rankings] == [
                ids_of(weighted, t) for t in summed.rankings
            ]

    @given(some_runs(), st.sampled_from([0.5, 4.0, 1024.0]))
    def test_the_scale_of_a_run_does_not_matter_if_scores_are_normalised(
        self, runs: list[Run], factor: float
    ) -> None:
        first = runs[0]
        stretched = {
            topic: tuple(Hit(hit.id, hit.score * factor) for hit in hits)
            for topic, hits in first.rankings.items()
        }
        for scaling in ("spread", "minmax", "rank"):
            again = fuse([Run("stretched", stretched), *runs[1:]], CombSUM(scaling))
            for topic, hits in fuse(runs, CombSUM(scaling)).rankings.items():
                assert {hit.id: hit.score for hit in again.rankings[topic]} == pytest.approx(
                    {hit.id: hit.score for hit in hits}, abs=1e-9
                )

    def test_a_run_gives_a_candidate_that_it_found_no_less_than_one_that_it_did_not(self) -> None:
        logits = run_of("ab", (-1.0, -7.0))
        # c gets -7 for the run that lacks it; with 0, it would be first.
        assert ids_of(fuse([logits, run_of("c", (0.5,))], CombSUM("none"))) == ["a", "c", "b"]

    def test_combmnz_refuses_negative_scores(self) -> None:
        with pytest.raises(InputError, match="takes no negative scores"):
            fuse([run_of("ab", (-1.0, -7.0))], CombMNZ("none"))


class TestWrongInput:
    def test_an_empty_list_of_runs_is_refused(self) -> None:
        with pytest.raises(InputError, match="at least one run"):
            fuse([], RRF())

    def test_a_candidate_that_occurs_twice_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"run words: b occurs 2 times for A\.1; keep one"):
            fuse([run_of("abb", name="words")], RRF())

    @pytest.mark.parametrize("bad", [math.nan, math.inf, 1e300])
    def test_scores_that_cannot_be_added_are_refused(self, bad: float) -> None:
        with pytest.raises(InputError, match=r"run words: A\.1 has a score"):
            fuse([run_of("ab", (bad, 1.0), name="words")], CombSUM())

    @pytest.mark.parametrize("weights", [(), (1,), (1, 2, 3)])
    @pytest.mark.parametrize("kind", [WIBC, Linear])
    def test_weights_for_another_number_of_runs_are_refused(
        self, kind: type, weights: tuple[float, ...]
    ) -> None:
        with pytest.raises(InputError, match="one weight for each run"):
            fuse([run_of("ab"), run_of("ba")], kind(weights))

    @pytest.mark.parametrize("weights", [(0, 0), (-1, 2), (math.nan, 1)])
    def test_invalid_weights_are_refused(self, weights: tuple[float, ...]) -> None:
        with pytest.raises(InputError, match="none may be negative"):
            fuse([run_of("ab"), run_of("ba")], Linear(weights))

    def test_a_regression_for_another_number_of_runs_is_refused(self) -> None:
        with pytest.raises(InputError, match="fitted to 1 run, not to 2"):
            fuse([run_of("ab"), run_of("ba")], RBC(((0.1, 0.2, 0.3),)))

    @pytest.mark.parametrize("row", [(0.1, 0.2), (0.1, 0.2, math.nan), (math.inf, 0.2, 0.3)])
    def test_a_regression_has_three_finite_numbers_for_each_run(
        self, row: tuple[float, ...]
    ) -> None:
        with pytest.raises(InputError, match="each run has 3 numbers"):
            RBC(((0.1, 0.2, 0.3), row))

    @pytest.mark.parametrize("chosen", [{"intercept": math.nan}, {"depth": 0}])
    def test_an_invalid_intercept_or_depth_of_a_regression_is_refused(
        self, chosen: dict[str, Any]
    ) -> None:
        with pytest.raises(InputError, match="intercept must be a number, and depth at least 1"):
            RBC(((0.1, 0.2, 0.3),), **chosen)
        assert RBC(((0.1, 0.2, 0.3),), depth=1).depth == 1

    @pytest.mark.parametrize(
        ("name", "chosen", "message"),
        [
            ("condorcet", {}, "unknown fusion 'condorcet'"),
            ("rrf", {"weights": (1,)}, r"no setting 'weights' \(it has: k\)"),
            ("linear", {}, "needs weights, or judgments"),
            ("rbc", {}, "needs coefficients, or judgments"),
            ("combsum", {"normalisation": "zscore"}, "unknown normalisation 'zscore'"),
        ],
    )
    def test_unknown_methods_and_unknown_or_missing_settings_are_refused(
        self, name: str, chosen: dict[str, object], message: str
    ) -> None:
        with pytest.raises(InputError, match=message):
            make_fusion(name, **chosen)

    def test_a_depth_of_zero_is_refused(self) -> None:
        with pytest.raises(InputError, match="at least one hit"):
            fuse([run_of("ab")], RRF(), depth=0)

    def test_an_empty_ranking_stays_empty(self) -> None:
        for method in methods(1):
            assert fuse([Run("empty", {"A.1": ()})], method).rankings["A.1"] == ()


def test_numeric_ids_of_any_length_are_ordered_by_value() -> None:
    long = "1" + "0" * 5000
    assert ids_of(fuse([run_of([long, "2"]), run_of(["2", long])], RRF())) == ["2", long]


def test_order_puts_the_best_first_and_breaks_ties_by_the_next_number() -> None:
    import numpy as np

    scores, ties = np.array([1.0, 2.0, 1.0, 1.0]), np.array([0.0, 0.0, 5.0, 0.0])
    assert order((scores, ties)).tolist() == [1, 2, 0, 3]


FUSED = {
    RRF(60): {"a": 0.032522, "d": 0.032018, "b": 0.032002, "c": 0.032002, "e": 0.016393},
    IBC(depth=8): {"a": 0.75, "b": 0.625, "c": 0.625, "d": 0.5, "e": 0.0},
    WIBC((3, 2, 1), depth=8): {"a": 0.8125, "b": 0.6875, "c": 0.625, "d": 0.5, "e": 0.0},
    RBC(((0.1, 0.2, 0.3), (0.3, 0, 0.1), (0, 0.5, 0)), intercept=0.25, depth=8): {
        "a": 1.2, "b": 1.055361, "c": 0.993454, "d": 0.960721, "e": 0.6875
    },
    CombSUM("minmax"): {"a": 1.666667, "c": 1.166667, "d": 1.111111, "e": 1.0, "b": 0.444444},
    CombSUM("rank"): {"a": 1.5, "d": 1.25, "c": 1.166667, "b": 1.083333, "e": 1.0},
    CombSUM("none"): {"a": 10.0, "c": 3.25, "b": 3.0, "e": 2.0, "d": 1.5},
    CombMNZ(): {"c": 2.166667, "a": 2.0, "d": 2.0, "e": 1.0, "b": 0.75},
    Linear((0.5, 0.3, 0.2)): {"a": 0.5, "c": 0.375, "d": 0.3, "e": 0.2, "b": 0.1875},
}  # fmt: skip


@pytest.mark.parametrize("method", FUSED, ids=lambda method: type(method).__name__)
def test_each_method_gives_these_scores(method: Fusion) -> None:
    runs = [
        run_of("abcd", (9.0, 4.0, 3.0, 1.0)), run_of("dcb", (0.5, 0.25, -1.0)), run_of("ea", (3, 2))
    ]  # fmt: skip
    hits = fuse(runs, method).rankings["A.1"]
    assert [hit.id for hit in hits] == list(FUSED[method])
    assert [hit.score for hit in hits] == pytest.approx(list(FUSED[method].values()), abs=1e-5)


def test_the_draws_between_ties_are_the_same_on_every_machine() -> None:
    runs = [run_of("abcdefgh"), run_of("hgfedcba")]
    assert "".join(ids_of(fuse(runs, IBC()))) == "ahbgfdec"
    assert "".join(ids_of(fuse(runs, IBC(seed=1)))) == "hgdecfba"


def test_scores_are_rounded_to_twelve_digits_of_the_largest() -> None:
    import numpy as np

    assert rounded(np.array([1.4e-9, 1.6e-9])).tolist() == [1.4e-9, 1.6e-9]
    assert rounded(np.array([123456789012.3, 123456789012.4])).tolist() == [123456789012.0] * 2
    assert rounded(np.array([-0.1 - 0.2, 0.0])).tolist() == [-0.3, 0.0]
