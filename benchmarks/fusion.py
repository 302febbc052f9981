"""Compares fusion methods on public ARQMath runs; learned methods are tested on other topics.

    python -m benchmarks.fusion [--data DIR] [--language es]

There are two sets of runs. The first has three systems of 2020 with about equal strength; learned
methods are cross-validated over the topics. The second has four CrossMath systems of very unequal
strength in one language; weights are learned on 2020 and tested on 2021, with the judgments that
CrossMath used: the official ones and additional topics.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.shared import DATA, LANGUAGES, needed
from mathsetu.collections.trec import read_qrels, read_run
from mathsetu.evaluation import Judgments, Measure, evaluate
from mathsetu.ranking.fusion import METHODS, fuse, fuse_learned, make_fusion, make_learner
from mathsetu.records import Judgment, Run

NDCG, MAP = Measure.parse("nDCG'"), Measure.parse("MAP'")
FIXED: dict[str, tuple[str, dict[str, Any]]] = {
    "rrf k=60": ("rrf", {}),
    "rrf k=180": ("rrf", {"k": 180}),
    "ibc": ("ibc", {}),
    "combsum": ("combsum", {}),
    "combsum rank": ("combsum", {"normalisation": "rank"}),
    "combmnz": ("combmnz", {}),
}


def measured(run: Run, judgments: Sequence[Judgment]) -> str:
    found = evaluate(run, Judgments.of(judgments), (NDCG, MAP))
    return "  ".join(f"{found.mean(measure):.4f}" for measure in found.measures)


def table(runs: Sequence[Run], train: Sequence[Judgment], test: Sequence[Judgment]) -> None:
    for run in runs:
        print(f"  {run.name[:24]:24}  {measured(run, test)}")
    for label, (name, settings) in FIXED.items():
        started = time.process_time()
        fused = fuse(runs, make_fusion(name, **settings))
        seconds = time.process_time() - started
        print(f"  {label:24}  {measured(fused, test)}  {seconds:.2f} s")
    for name, method in METHODS.items():
        if method.learner:
            started = time.process_time()
            learned = fuse_learned(runs, train, make_learner(name, NDCG), measure=NDCG)
            seconds = time.process_time() - started
            print(f"  {name + ' learned':24}  {measured(learned.run, test)}  {seconds:.2f} s")


def both_years(system: str, language: str, data: Path) -> Run:
    """The rankings of a system in 2020 and 2021; their topics have different names."""
    folder = data / "crossmath" / "runs"
    files = [folder / f"{system}.{language}.{year}.tsv.gz" for year in (2020, 2021)]
    parts = [read_run(needed(path)) for path in files]
    return Run(system, {**parts[0].rankings, **parts[1].rankings})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--language", default="es", choices=LANGUAGES)
    arguments = parser.parse_args()
    data: Path = arguments.data
    of_2020 = list(read_qrels(needed(data / "arqmath" / "qrels-task1-2020.official.txt")))
    of_2021 = list(read_qrels(needed(data / "arqmath" / "qrels-task1-2021.all.txt")))
    print("name, nDCG', MAP', seconds of CPU\n\nthree systems, 2020, learned with 5 folds")
    names = ("mlt", "anserini", "roberta-base")
    files = [data / "fusion-runs" / f"prim.{name}-auto-both-A.tsv.gz" for name in names]
    table([read_run(needed(path)) for path in files], of_2020, of_2020)
    print(f"\nCrossMath, {arguments.language}, learned on 2020, measured on 2021 (all topics)")
    systems = ("nllbbi", "mbartbi", "nllbcross", "mbartcross")
    code = LANGUAGES[arguments.language]
    table([both_years(system, code, data) for system in systems], of_2020, of_2021)


if __name__ == "__main__":
    main()
