"""Evaluates ARQMath task 2 on our posts: python -m benchmarks.task2 [--recipes formula …].

Builds a library of the answers with each recipe (formulas have the ids and visual ids of the lab),
and runs the official topics as ``mathsetu run --to arqmath-formula-run`` does. Prints nDCG', MAP'
and P'@10 of 2020 and 2021, and nDCG@10 and MAP with unjudged formulas as not relevant. Topics are
those with a relevant formula here; judgments are those of formulas in these texts (others are in
comments). ``--write FOLDER`` keeps the posts, the runs and the libraries.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from benchmarks.shared import DATA, YEARS, arqmath_posts
from mathsetu.collections.arqmath import read_topics, write_formula_run
from mathsetu.collections.jsonl import write_posts
from mathsetu.collections.trec import read_qrels
from mathsetu.evaluation import Judgments, evaluate, parse_measures
from mathsetu.library import Library, build_library
from mathsetu.records import Run


def measure(library: Library, name: str, data: Path, runs: Path) -> None:
    """Run the topics of each year, and print the measures."""
    visual_ids = {
        formula.id: formula.visual_id
        for post in arqmath_posts(data)
        for formula in post.formulas
        if formula.visual_id
    }
    measures = parse_measures(["arqmath", "nDCG@10", "MAP"])
    for year in YEARS:
        path = data / "arqmath" / f"qrels-task2-{year}.official.txt"
        here = set(visual_ids.values())
        judgments = Judgments.of(one for one in read_qrels(path) if one.id in here)
        threshold = judgments.relevant_from
        answerable = judgments.answerable(threshold)
        path = data / "arqmath" / f"topics-task2-{year}.xml"
        topics = [one for one in read_topics(path, language="en") if one.id in answerable.grades]
        started = time.process_time()
        rankings = {
            topic.id: tuple(one.hit for one in library.formula_instances(topic)) for topic in topics
        }
        seconds = (time.process_time() - started) / len(topics)
        run = Run(name, rankings)
        write_formula_run(runs / f"{name}.{year}.tsv", run)
        found = evaluate(run, answerable, measures, relevant_from=threshold, visual_ids=visual_ids)
        figures = "  ".join(f"{one} {found.mean(one):.3f}" for one in measures)
        print(f"{name:<14} {year}  {figures}  ({len(found.topics)} topics, "
              f"{1000 * seconds:.0f} ms CPU a topic)", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--recipes", nargs="+", default=["formula", "mathamr-plus"])
    parser.add_argument("--write", type=Path, help="keep everything here, and take what is there")
    options = parser.parse_args()
    kept = nullcontext(options.write) if options.write else tempfile.TemporaryDirectory()
    with kept as place:
        folder = Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        write_posts(folder / "posts.jsonl.gz", arqmath_posts(options.data))
        for name in options.recipes:
            if not (folder / name).exists():
                whole = (
                    replace(post, collection="arqmath") for post in arqmath_posts(options.data)
                )
                build_library(folder / name, whole, name, processes=1)
            with Library(folder / name) as library:
                measure(library, name, options.data, folder)


if __name__ == "__main__":
    main()
