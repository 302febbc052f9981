"""Published figures, reproduced from the published runs and judgments."""

from functools import partial
from pathlib import Path

import pytest

from mathsetu.collections import trec
from mathsetu.evaluation import Judgments, Measure, evaluate

pytestmark = pytest.mark.shared


# Languages other than the first are evaluated only in thorough tests.
thorough = partial(pytest.param, marks=pytest.mark.thorough)


def judgments(shared_data: Path, name: str) -> Judgments:
    return Judgments.of(trec.read_qrels(shared_data / "arqmath" / name))


# P'@10 and, as nDCGmed'@10, nDCG'@10 as the CrossMath paper prints them; then nDCG'@10 as trec_eval
# computes it.
@pytest.mark.parametrize(
    ("language", "year", "precision", "printed", "gain"),
    [
        ("eng_Latn", 2020, 0.283, 0.259, 0.341), thorough("spa_Latn", 2020, 0.278, 0.256, 0.338),
        thorough("hrv_Latn", 2020, 0.258, 0.232, 0.312),
        thorough("pes_Arab", 2020, 0.270, 0.253, 0.330),
        thorough("eng_Latn", 2021, 0.211, 0.208, None),
        thorough("spa_Latn", 2021, 0.196, 0.195, None),
        thorough("hrv_Latn", 2021, 0.191, 0.187, None),
        thorough("pes_Arab", 2021, 0.185, 0.191, None),
    ],
)  # fmt: skip
@pytest.mark.thorough
def test_the_crossmath_runs_have_the_published_scores(
    shared_data: Path,
    language: str,
    year: int,
    precision: float,
    printed: float,
    gain: float | None,
) -> None:
    part = "official" if year == 2020 else "all"
    judged = judgments(shared_data, f"qrels-task1-{year}.{part}.txt")
    run = trec.read_run(shared_data / "crossmath" / "runs" / f"nllbbi.{language}.{year}.tsv.gz")
    measures = [Measure.parse(text) for text in ("P'@10", "nDCGmed'@10", "nDCG'@10")]
    results = evaluate(run, judged, measures)
    found = [round(results.mean(measure), 3) for measure in measures]
    print(f"nllbbi {language} {year}: {dict(zip(measures, found, strict=True))}")  # noqa: T201
    assert found[:2] == [precision, printed]
    assert gain is None or found[2] == gain


@pytest.mark.thorough
@pytest.mark.parametrize(("year", "gain"), [(2020, 0.811), thorough(2021, 0.585)])
def test_the_crossmath_run_has_the_published_score_on_judgments_of_present_posts(
    shared_data: Path, year: int, gain: float
) -> None:
    judged = judgments(shared_data, f"qrels-task1-{year}.present.txt")
    run = trec.read_run(shared_data / "crossmath" / "runs" / f"nllbbi.eng_Latn.{year}.tsv.gz")
    measure = Measure.parse("nDCG'@10")
    results = evaluate(run, judged.answerable(2), [measure])
    assert round(results.mean(measure), 3) == gain


@pytest.mark.thorough
def test_tangent_s_has_the_published_scores_on_task_2(shared_data: Path) -> None:
    folder = shared_data / "arqmath" / "formula-pool-2020"
    judged = Judgments.of(trec.read_qrels(folder / "qrels.txt"))
    measures = [Measure.parse(text) for text in ("nDCG'", "MAP'", "P'@10")]
    results = evaluate(trec.read_run(folder / "tangent-s.run.gz"), judged, measures)
    assert [round(results.mean(measure), 3) for measure in measures] == [0.696, 0.444, 0.442]
