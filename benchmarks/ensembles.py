r"""Compares the MSM ensemble on ARQMath with each of its systems, and with other fusions.

    python -m benchmarks.ensembles --set parts.minilm.model=FOLDER \
        --set parts.compubert.model=FOLDER --set systems.mirmu-1.rerank.model=FOLDER

Runs the recipe ``msm-ensemble`` over the ARQMath posts with the given models, each system alone,
and other fusions of the same systems. Prints nDCG@10 and MAP over the topics with a post in the
collection judged 2 or 3 (unjudged posts count as not relevant); then the number of topics on which
the ensemble has a higher, equal and lower average precision than each system, and the p-value of a
paired t-test. With ``--place`` the library is kept and reused.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.shared import (
    DATA,
    YEARS,
    Judged,
    arqmath_posts,
    average_precision,
    judged,
    mean_measures,
    topics,
)
from mathsetu.evaluation.significance import paired_t_test, wins_ties_losses
from mathsetu.library import Library, build_library
from mathsetu.library.reproduction import same_recipe
from mathsetu.ranking.fusion import IBC, RRF, CombSUM, Fusion, fuse
from mathsetu.recipes import load_recipe
from mathsetu.records import Run

_DEPTH = 1000
_OTHER_WAYS: dict[str, Fusion] = {"rrf k=180": RRF(180), "ibc": IBC(), "combsum": CombSUM()}


def precisions(run: Run, grades: Judged) -> list[float]:
    """The average precision of each topic."""
    return [
        average_precision([hit.id for hit in run.rankings[topic]], wanted)
        for topic, wanted in grades.items()
    ]


def report(runs: Mapping[str, Run], years: Mapping[int, Judged]) -> None:
    for name, run in runs.items():
        found = (mean_measures(run, grades) for grades in years.values())
        print(f"  {name:14} {'   '.join(f'{n:.3f} {m:.3f}' for n, m in found)}", flush=True)


def report_topics(whole: Run, systems: Mapping[str, Run], years: Mapping[int, Judged]) -> None:
    for name, run in systems.items():
        shown = []
        for grades in years.values():
            pairs = zip(precisions(whole, grades), precisions(run, grades), strict=True)
            gains = [ours - theirs for ours, theirs in pairs]
            shown.append(f"{wins_ties_losses(gains)!s:10} p {paired_t_test(gains):.3f}")
        print(f"  {name:14} {'     '.join(shown)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--recipe", default="msm-ensemble")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--place", type=Path, help="where the library is kept")
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    recipe = load_recipe(given.recipe, given.settings)
    years = {year: judged(year, given.data) for year in YEARS}
    wanted = {topic for grades in years.values() for topic in grades}
    queries = [query for query in topics("en", given.data) if query.id in wanted]
    with tempfile.TemporaryDirectory() as place:
        folder = given.place or Path(place) / "library"
        if not same_recipe(folder, recipe):
            build_library(folder, arqmath_posts(given.data), recipe)
        library = Library(folder)
        systems = {}
        for name in recipe.systems:
            member = library.with_recipe(recipe.member(name))
            systems[name] = member.run(queries, _DEPTH, name=name)
    # The same as the library's own fusion, as a test checks; reranking twice would take long.
    whole = fuse([*systems.values()], recipe.fusion(recipe.ranking.weights), _DEPTH)
    print(f"{recipe.name}: nDCG@10 and MAP of 2020, of 2021")
    report({**systems, recipe.name: whole}, years)
    report({label: fuse([*systems.values()], way) for label, way in _OTHER_WAYS.items()}, years)
    print("topics on which the ensemble is better, equal, worse than a system in 2020, in 2021")
    report_topics(whole, systems, years)


if __name__ == "__main__":
    main()
