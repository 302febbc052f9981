"""Answer retrieval (ARQMath task 1, CrossMath queries) with any recipe: quality and speed.

    python -m benchmarks.answers default msm-bm25-tuned [--languages en hi es] [--set ranking.k=10]
    python -m benchmarks.answers default --library FOLDER

Prints nDCG@10 (with its 95% bootstrap interval) and MAP over the topics with a post in the
collection judged 2 or 3. The whole collection is ranked; unjudged posts count as not relevant. For
languages other than English, the percentage of the English nDCG@10 over both years is added, with
its bootstrap interval over topics. If topics of a language have the text of another topic, the
figures are repeated without these topics.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from benchmarks.shared import (
    DATA,
    LANGUAGES,
    YEARS,
    Judged,
    arqmath_posts,
    copied_topics,
    judged,
    mean_measures,
    ndcg,
    topics,
)
from mathsetu.evaluation.significance import bootstrap_intervals
from mathsetu.library import Library, build_library
from mathsetu.recipes import load_recipe
from mathsetu.records import Hit, Run

_DRAWS = 10_000


def measure(
    name: str, languages: list[str], settings: list[str], data: Path, place: Path | None = None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = place or Path(folder) / "library"
        started = time.perf_counter()
        if place is None:
            posts = arqmath_posts(data)
            build_library(target, posts, load_recipe(name, settings), collection="arqmath")
        built = "" if place else f"built in {time.perf_counter() - started:.1f} s, "
        started = time.perf_counter()
        library = Library(target).with_recipe(load_recipe(name, settings))
        opened = time.perf_counter() - started
        size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
        print(f"{name}: {built}{size / 1e6:.0f} MB, opened in {opened * 1e3:.0f} ms", flush=True)
        judgments = {year: judged(year, data) for year in YEARS}
        runs: dict[str, Run] = {}
        for language in languages:
            queries = topics(language, data)
            library.run(queries[:1])  # warm up: loading is not part of the time of a query
            seconds = []
            rankings: dict[str, tuple[Hit, ...]] = {}
            for query in queries:
                started = time.perf_counter()
                rankings.update(library.run([query], k=1000).rankings)
                seconds.append(time.perf_counter() - started)
            runs[language] = Run(name, rankings)
            seconds.sort()
            row = "  ".join(figures(runs[language], judgments[year]) for year in YEARS)
            p50, p95 = (seconds[int(len(seconds) * share)] * 1e3 for share in (0.5, 0.95))
            share = of_english(runs, language, judgments.values())
            print(f"  {language}  {row}  {share}  p50 {p50:.0f} ms  p95 {p95:.0f} ms", flush=True)
        for language in languages:
            if copies := copied_topics(topics(language, data)):
                print(f"  without {len(copies)} topics that have another's text in {language}:")
                for shown in dict.fromkeys((language, *languages)):
                    left = [without(judgments[year], copies) for year in YEARS]
                    row = "  ".join(figures(runs[shown], grades) for grades in left)
                    print(f"  {shown}  {row}  {of_english(runs, shown, left)}")


def without(grades: Judged, topics: set[str]) -> Judged:
    """The judgments of all topics but some."""
    return {topic: found for topic, found in grades.items() if topic not in topics}


def figures(run: Run, grades: Judged) -> str:
    """Format nDCG@10 with its bootstrap interval, and MAP, over the topics of a year."""
    [between] = bootstrap_intervals([gains(run, grades)])
    mean_ndcg, mean_ap = mean_measures(run, grades)
    return f"{mean_ndcg:.3f} ({between.low:.3f} to {between.high:.3f}) {mean_ap:.3f}"


def gains(run: Run, grades: Judged) -> list[float]:
    """The nDCG@10 of each topic."""
    return [
        ndcg([hit.id for hit in run.rankings.get(topic, ())], wanted)
        for topic, wanted in grades.items()
    ]


def of_english(runs: Mapping[str, Run], language: str, years: Iterable[Judged]) -> str:
    """Format a language's nDCG@10 as a percentage of English, with its bootstrap interval.

    Both years have the same weight. English and the other language are resampled on the same
    topics, so that the difficulty of topics does not widen the interval.
    """
    if language == "en" or "en" not in runs:
        return ""
    chance = np.random.default_rng(1)
    own, english = np.zeros(_DRAWS + 1), np.zeros(_DRAWS + 1)
    for grades in years:
        drawn = chance.integers(len(grades), size=(_DRAWS, len(grades)))
        drawn = np.vstack([np.arange(len(grades)), drawn])  # the first row: every topic once
        own += np.array(gains(runs[language], grades))[drawn].mean(axis=1)
        english += np.array(gains(runs["en"], grades))[drawn].mean(axis=1)
    shares = 100 * own / english
    low, high = np.percentile(shares[1:], (2.5, 97.5))
    return f"{shares[0]:.1f}% of en ({low:.1f} to {high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="+")
    parser.add_argument("--languages", nargs="+", default=["en"], choices=LANGUAGES)
    parser.add_argument("--set", nargs="+", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--library", type=Path, help="a library of the same posts and parts")
    arguments = parser.parse_args()
    print("language, then nDCG@10 (interval) and MAP of 2020, of 2021")
    for name in arguments.recipes:
        measure(name, arguments.languages, arguments.settings, arguments.data, arguments.library)


if __name__ == "__main__":
    main()
