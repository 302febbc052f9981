"""Answer retrieval (ARQMath task 1, CrossMath queries) with any recipe: quality and speed.

    python -m benchmarks.answers default msm-bm25 [--languages en hi es] [--set ranking.k=10]

nDCG@10 and MAP over the topics that have a present post judged 2 or 3, the whole collection
ranked, unjudged posts counted as not relevant.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.shared import DATA, LANGUAGES, YEARS, arqmath_posts, judged, mean_measures, topics
from mathsetu.library import Library, build_library
from mathsetu.recipes import load_recipe
from mathsetu.records import Hit, Run


def measure(name: str, languages: list[str], settings: list[str], data: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "library"
        started = time.perf_counter()
        posts = arqmath_posts(data)
        build_library(target, posts, load_recipe(name, settings), collection="arqmath")
        built = time.perf_counter() - started
        started = time.perf_counter()
        library = Library(target)
        opened = time.perf_counter() - started
        size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
        print(
            f"{name}: built in {built:.1f} s, {size / 1e6:.0f} MB, opened in {opened * 1e3:.0f} ms"
        )
        judgments = {year: judged(year, data) for year in YEARS}
        for language in languages:
            queries = topics(language, data)
            library.run(queries[:1])  # what is loaded once is not part of a query's time
            seconds = []
            rankings: dict[str, tuple[Hit, ...]] = {}
            for query in queries:
                started = time.perf_counter()
                rankings.update(library.run([query], k=1000).rankings)
                seconds.append(time.perf_counter() - started)
            run = Run(name, rankings)
            seconds.sort()
            row = [f"{n:.3f} {m:.3f}" for n, m in
                   (mean_measures(run, judgments[year]) for year in YEARS)]  # fmt: skip
            p50, p95 = (seconds[int(len(seconds) * share)] * 1e3 for share in (0.5, 0.95))
            print(f"  {language}  {row[0]}  {row[1]}  p50 {p50:.0f} ms  p95 {p95:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="+")
    parser.add_argument("--languages", nargs="+", default=["en"], choices=LANGUAGES)
    parser.add_argument("--set", nargs="+", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    print("language, then nDCG@10 and MAP of 2020, of 2021")
    for name in arguments.recipes:
        measure(name, arguments.languages, arguments.settings, arguments.data)


if __name__ == "__main__":
    main()
