"""Evaluates graph search on ARQMath: python -m benchmarks.graph_search [--model FOLDER].

Prints nDCG@10 and MAP of 2020 and 2021 for the recipe ``mathamr-plus``, for ``default``, and for
the fusion of both, in every chosen language; then each retrieval strategy. Unjudged
posts count as not relevant. For a fused run, the p-values of its differences from ``default`` are
added, in nDCG@10 and average precision of each year (paired t-test over topics). Formula search is
measured by `benchmarks.task2`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from benchmarks.shared import (
    DATA,
    LANGUAGES,
    YEARS,
    Judged,
    arqmath_posts,
    average_precision,
    judged,
    mean_measures,
    ndcg,
    topics,
)
from mathsetu.evaluation.significance import paired_t_test
from mathsetu.intake.question import Question
from mathsetu.library import Library, build_library
from mathsetu.library.manifest import read_manifest, segment_folder
from mathsetu.ranking.fusion import fuse, make_fusion
from mathsetu.recipes import load_recipe
from mathsetu.records import Hit, Run
from mathsetu.retrieval.graph_search import SHIPPED, GraphRetriever, GraphSettings
from mathsetu.retrieval.maxsim import STRATEGIES

_DEPTH = 1000


def answers(
    libraries: Mapping[str, Library], languages: list[str], weights: list[float], data: Path
) -> None:
    """Task 1: each library alone, and fusions of both."""
    judgments = {year: judged(year, data) for year in YEARS}
    for language in languages:
        queries = topics(language, data)
        runs: dict[str, Run] = {}
        for name, library in libraries.items():
            started = time.process_time()
            runs[name] = library.run(queries, k=_DEPTH)
            each = (time.process_time() - started) / len(queries)
            show(f"{language} {name}", runs[name], judgments, f"{1000 * each:.0f} ms CPU a query")
        for weight in weights:
            together = mixed(runs["default"], runs["mathamr-plus"], weight)
            chances = ", ".join(
                f"{chance:.3f}" for chance in by_chance(runs["default"], together, judgments)
            )
            show(f"{language} default + {weight:g} graphs", together, judgments, f"p {chances}")


def mixed(first: Run, second: Run, weight: float) -> Run:
    """Fuse two runs linearly, after scaling the scores of each topic to between 0 and 1."""
    return fuse([first, second], make_fusion("linear", weights=(1 - weight, weight)))


def show(name: str, run: Run, judgments: Mapping[int, Judged], more: str = "") -> None:
    means = (mean_measures(run, grades) for grades in judgments.values())
    row = "  ".join(f"{first:.3f} {second:.3f}" for first, second in means)
    print(f"{name:<32} {row}  {more}", flush=True)


def by_chance(first: Run, second: Run, judgments: Mapping[int, Judged]) -> Iterator[float]:
    """Yield the p-values of the difference of two runs, in nDCG@10 and AP of each year."""
    for grades in judgments.values():
        for measure in (ndcg, average_precision):
            yield paired_t_test(
                [
                    measure(ids(second, topic), wanted) - measure(ids(first, topic), wanted)
                    for topic, wanted in grades.items()
                ]
            )


def ids(run: Run, topic: str) -> list[str]:
    return [hit.id for hit in run.rankings.get(topic, ())]


def strategies(folders: Sequence[Path], names: Sequence[str], model: str, data: Path) -> None:
    """Compare the strategies for searching the same vectors, in English."""
    judgments = {year: judged(year, data) for year in YEARS}
    questions = [Question(query) for query in topics("en", data)]
    exact: list[set[str]] = []
    for strategy in STRATEGIES:
        retriever = GraphRetriever(folders, GraphSettings(model=model, strategy=strategy))
        # Encode the questions first; their encoding is not timed.
        replies = retriever.ask(questions)
        replies[0].best(1)
        started = time.process_time()
        found = [reply.best(_DEPTH) for reply in replies]
        seconds = (time.process_time() - started) / len(questions)
        rankings = {
            question.query.id: tuple(
                Hit(names[number], score)
                for number, score in zip(one.numbers.tolist(), one.scores.tolist(), strict=True)
            )
            for question, one in zip(questions, found, strict=True)
        }
        first = [{hit.id for hit in hits[:10]} for hits in rankings.values()]
        exact = exact or first
        shared = sum(len(one & other) for one, other in zip(first, exact, strict=True))
        recall = shared / sum(map(len, exact))
        more = f"recall@10 {recall:.3f}  {1000 * seconds:.1f} ms CPU a query"
        show(f"strategy {strategy}", Run(strategy, rankings), judgments, more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--model", default=SHIPPED)
    parser.add_argument("--languages", nargs="*", default=["en"], choices=LANGUAGES)
    parser.add_argument("--weights", nargs="+", type=float, default=[0.1, 0.2, 0.3])
    parser.add_argument("--set", nargs="+", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--libraries", type=Path, help="keep them here, and take those of before")
    options = parser.parse_args()
    kept = options.libraries
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as place:
        libraries = {}
        for name in ("mathamr-plus", "default"):
            settings = [f"parts.graph.model={options.model}", *options.settings]
            recipe = load_recipe(name, settings if name == "mathamr-plus" else ())
            started = time.process_time()
            if not (Path(place) / name).exists():
                build_library(Path(place) / name, arqmath_posts(options.data), recipe, processes=1)
                print(f"{name}: built in {time.process_time() - started:.0f} s of CPU")
            libraries[name] = Library(Path(place) / name)
        print("nDCG@10 and MAP of 2020, of 2021")
        answers(libraries, options.languages, options.weights, options.data)
        folder = Path(place) / "mathamr-plus"
        parts = [segment_folder(folder, one.name) / "graph"
                 for one in read_manifest(folder).segments]  # fmt: skip
        names = [post.id for post in arqmath_posts(options.data)]
        strategies(parts, names, options.model, options.data)


if __name__ == "__main__":
    main()
