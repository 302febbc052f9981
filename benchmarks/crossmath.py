"""Runs the CrossMath pipeline in every language with translators that need no GPU.

    python -m benchmarks.crossmath --model FOLDER [--place FOLDER]
    python -m benchmarks.crossmath --ours [--place FOLDER]

Uses the recipe ``crossmath-nllb-bi`` over the ARQMath posts with the encoder all-mpnet-base-v2
(``--model`` names its folder). Instead of NLLB, queries are translated by Apertium if it has the
pair, by the glossary, or not at all. Prints nDCG@10 over all posts (unjudged posts count as not
relevant) and nDCG'@10 (judged posts only) for each year, over the topics with a post in the
collection judged 2 or 3. The last columns are the authors' own runs with NLLB, restricted to posts
of the collection. With ``--place`` the library is kept and reused.

With ``--ours`` the recipe ``default`` is compared with the authors' runs, in nDCG'@10 and MAP'.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.shared import (
    DATA,
    LANGUAGES,
    YEARS,
    Judged,
    arqmath_posts,
    judged,
    mean_measures,
    topics,
)
from mathsetu.collections.trec import read_run
from mathsetu.errors import InputError
from mathsetu.library import Library, build_library
from mathsetu.library.reproduction import same_recipe
from mathsetu.recipes import Recipe, load_recipe
from mathsetu.records import Run

# Translations of queries into English, and the recipe settings for them.
_WAYS = {
    "as they are": "query={}",
    "glossary": "query={translate='en'}",
    "apertium": "query={translate='en', backend='apertium'}",
}
_DEPTH = 1000


def judged_only(run: Run, grades: Judged) -> Run:
    """A run without unjudged posts."""
    return Run(
        run.name,
        {
            topic: tuple(hit for hit in run.rankings.get(topic, ()) if hit.id in known)
            for topic, known in grades.items()
        },
    )


def figures(run: Run, years: Sequence[Judged]) -> str:
    """Format nDCG@10 and nDCG'@10 of both years."""
    rows = (
        (mean_measures(run, grades)[0], mean_measures(judged_only(run, grades), grades)[0])
        for grades in years
    )
    return "   ".join(f"{whole:.3f} {prime:.3f}" for whole, prime in rows)


def authors(language: str, years: Sequence[Judged], data: Path) -> list[tuple[float, float]]:
    """nDCG'@10 and MAP' of the authors' runs in each year; empty if there are none."""
    folder = data / "crossmath" / "runs"
    paths = [folder / f"nllbbi.{LANGUAGES[language]}.{year}.tsv.gz" for year in YEARS]
    if not all(path.is_file() for path in paths):
        return []
    runs = [judged_only(read_run(path), year) for path, year in zip(paths, years, strict=True)]
    return [mean_measures(run, year) for run, year in zip(runs, years, strict=True)]


def measure(folder: Path, recipe: Recipe, data: Path) -> None:
    if not same_recipe(folder, recipe):
        build_library(folder, arqmath_posts(data), recipe)
    years = [judged(year, data) for year in YEARS]
    wanted = {topic for year in years for topic in year}
    print("language, translation: nDCG@10 and nDCG'@10 of 2020, of 2021")
    for language in LANGUAGES:
        queries = [query for query in topics(language, data) if query.id in wanted]
        for way, setting in _WAYS.items():
            if language == "en" and way != "as they are":
                continue
            library = Library(folder, [setting])
            try:
                run = library.run(queries, _DEPTH)
            except InputError:  # Apertium does not have the pair
                continue
            theirs = authors(language, years, data) if way == "as they are" else []
            beside = "   nllbbi" * bool(theirs) + "".join(f"   {gain:.3f}" for gain, _ in theirs)
            print(f"  {language} {way:12} {figures(run, years)}{beside}", flush=True)


def measure_ours(folder: Path, data: Path) -> None:
    recipe = load_recipe("default")
    if not same_recipe(folder, recipe):
        build_library(folder, arqmath_posts(data), recipe)
    library = Library(folder)
    years = [judged(year, data) for year in YEARS]
    wanted = {topic for year in years for topic in year}
    print("language: nDCG'@10 and MAP' of 2020, of 2021: default, then nllbbi")
    for language in LANGUAGES:
        queries = [query for query in topics(language, data) if query.id in wanted]
        # The authors rank every judged post, so our ranking is also complete.
        run = library.run(queries, len(library))
        ours = [mean_measures(judged_only(run, year), year) for year in years]
        rows = (ours, authors(language, years, data))
        shown = ("   ".join(f"{gain:.3f} {mean:.3f}" for gain, mean in row) for row in rows)
        print(f"  {language}  {'   |  '.join(shown)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", help="instead of all-mpnet-base-v2 from the hub")
    parser.add_argument("--fields", default="body", help="what is read of a post")
    parser.add_argument("--ours", action="store_true", help="the recipe default instead")
    parser.add_argument("--place", type=Path, help="where the library is kept")
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    settings = [f"parts.text.fields={given.fields.split(',')}", "query={}"]
    settings += [f"parts.text.model={given.model}"] if given.model else []
    with tempfile.TemporaryDirectory() as place:
        if given.ours:
            measure_ours(given.place or Path(place) / "library", given.data)
            return
        recipe = load_recipe("crossmath-nllb-bi", settings)
        measure(given.place or Path(place) / "library", recipe, given.data)


if __name__ == "__main__":
    main()
