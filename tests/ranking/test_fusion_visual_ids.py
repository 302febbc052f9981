"""Fusion of formulas: those that look the same are one candidate."""

import json
from pathlib import Path

import pytest

from mathsetu.collections.arqmath import read_formula_run, write_formula_run
from mathsetu.collections.trec import write_qrels
from mathsetu.evaluation import Judgments, evaluate
from mathsetu.evaluation.rankings import NO_HIT_IS_JUDGED
from mathsetu.ranking.fusion import GOAL, RRF, VisualRuns, fuse
from mathsetu.records import Hit, Judgment, Run
from tests.command import Mathsetu

# Formulas 11, 12 and 13 look the same, and so do 21 and 22; formula 7 has no visual id.
LOOKS = {"11": "7", "12": "7", "13": "7", "21": "8", "22": "8", "31": "9"}
TOPICS = [f"B.{number}" for number in range(6)]


def ranking(*ids: str) -> tuple[Hit, ...]:
    return tuple(Hit(name, 9.0 - place, f"{name}0") for place, name in enumerate(ids))


def named(run: Run, topic: str = "B.1") -> list[str]:
    return [hit.id for hit in run.rankings[topic]]


def test_runs_that_found_different_instances_agree_on_the_formula() -> None:
    first = Run("first", {"B.1": ranking("31", "11", "12")})
    second = Run("second", {"B.1": ranking("13", "21")})
    joined = VisualRuns.of([first, second], LOOKS)
    fused = joined.named(fuse(joined.runs, RRF()))
    # 13 is the instance of the run that ranks it best, with its own post.
    assert named(fused) == ["13", "31", "21"]
    assert [hit.post_id for hit in fused.rankings["B.1"]] == ["130", "310", "210"]
    assert fused.rankings["B.1"][0].score == 1 / 62 + 1 / 61


def test_the_chosen_instance_does_not_depend_on_the_order_of_the_runs() -> None:
    runs = [Run(name, {"B.1": ranking(name)}) for name in ("12", "11", "13")]
    for given in (runs, runs[::-1]):
        joined = VisualRuns.of(given, LOOKS)
        assert named(joined.named(fuse(joined.runs, RRF()))) == ["11"]


def test_a_formula_without_a_visual_id_is_kept_and_not_confused_with_a_visual_id() -> None:
    runs = [Run("first", {"B.1": ranking("7", "11")}), Run("second", {"B.1": ranking("7", "12")})]
    joined = VisualRuns.of(runs, LOOKS)
    assert named(joined.named(fuse(joined.runs, RRF()))) == ["7", "11"]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A run that ranks the relevant formula first and one that does not, judged by visual ids."""
    good = Run("good", {topic: ranking("11", "12", "21", "7") for topic in TOPICS})
    poor = Run("poor", {topic: ranking("22", "31", "13") for topic in TOPICS})
    for run in (good, poor):
        write_formula_run(tmp_path / f"{run.name}.tsv", run)
    judged = [Judgment(topic, *one) for topic in TOPICS for one in (("7", 3), ("8", 0), ("9", 0))]
    write_qrels(tmp_path / "qrels.txt", judged)
    table = [f"{name}\t70\t{look}\tx" for name, look in LOOKS.items()]
    (tmp_path / "formulas.tsv").write_text(
        "\n".join(["id\tpost_id\tvisual_id\tformula", *table]) + "\n", encoding="utf-8"
    )
    return [tmp_path / "poor.tsv", tmp_path / "good.tsv"]


@pytest.mark.thorough
def test_the_verb_learns_from_judgments_of_visual_ids(
    mathsetu: Mathsetu, files: list[Path], tmp_path: Path
) -> None:
    target, table = tmp_path / "fused.tsv", tmp_path / "formulas.tsv"
    job = ("fuse", "linear", *files, target, "--qrels", tmp_path / "qrels.txt",
           "--to", "arqmath-formula-run")  # fmt: skip
    done = mathsetu(*job, "--visual-ids", table, "--json")
    assert done.code == 0, done.err
    assert "1 formula without a known visual id" in done.err
    report = json.loads(done.out)
    poor, good = report["settings"]["weights"]
    assert good > poor
    fused = read_formula_run(target)
    assert set(named(fused)) == {"11", "22", "31", "7"}
    judgments = Judgments.of([Judgment(topic, "7", 3) for topic in TOPICS])
    measured = evaluate(fused, judgments, [GOAL], visual_ids=LOOKS)
    assert measured.mean(GOAL) == report["held_out"] == 1.0


def test_the_verb_refuses_to_learn_if_no_hit_is_judged(
    mathsetu: Mathsetu, files: list[Path], tmp_path: Path
) -> None:
    write_qrels(tmp_path / "others.txt", [Judgment(topic, "500", 3) for topic in TOPICS])
    job = ("fuse", "linear", *files, tmp_path / "fused.tsv", "--qrels", tmp_path / "others.txt")
    assert NO_HIT_IS_JUDGED in mathsetu.refuses(*job)
    assert not (tmp_path / "fused.tsv").exists()


def test_formulas_without_visual_ids_are_refused(
    mathsetu: Mathsetu, files: list[Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.tsv"
    job = ("fuse", "rrf", *files, tmp_path / "fused.tsv", "--visual-ids", other)
    for row, message in (
        ("99\t70\t5\tx", "has no visual id for any of the formulas"),
        ("11\t70\t\tx", "no formula in it has a visual id"),
    ):
        other.write_text(f"id\tpost_id\tvisual_id\tformula\n{row}\n", encoding="utf-8")
        assert message in mathsetu.refuses(*job)
