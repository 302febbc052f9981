"""Known-item search across languages: find the English problem that a query was translated from.

    python -m benchmarks.known_items [RECIPE] [--languages Hindi Spanish] [--library FOLDER]

Formulas and drawings are removed from the queries, so that only words can find the problem; queries
with fewer than six words left are skipped. Prints MRR@10 over 12,500 English problems, for all
queries and for the two halves (every other query): a choice made on one half must hold on the
other. ``--library`` keeps the library of the problems, and reuses it if it exists.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.shared import DATA
from mathsetu.collections.trec import read_qrels
from mathsetu.languages.analyze import words
from mathsetu.library import Library, build_library
from mathsetu.recipes import load_recipe
from mathsetu.records import Post, Query

OURS = ("English", "Hindi", "Spanish", "Czech", "Croatian", "Persian", "Nepali")
MIN_WORDS = 6
DRAWING = re.compile(r"\[asy\].*?\[/asy\]", re.DOTALL)
# Chinese, Japanese and Thai have no spaces between words; two letters count as one word.
UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]")


def problems(data: Path) -> Iterator[Post]:
    with gzip.open(data / "math-problems" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield Post(id=row["id"], body=row["problem"], language="en", tags=(row["type"],))


def spoken(question: str) -> str:
    """The words of a query, or nothing if there are too few."""
    text = " ".join(words(DRAWING.sub(" ", question)).split())
    letters = len(UNSPACED.findall(text)) // 2
    return text if len(text.split()) + letters >= MIN_WORDS else ""


def queries(data: Path, language: str) -> Iterator[Query]:
    for path in sorted((data / "math-problems").glob(f"queries.*.{language}.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if text := spoken(row["question"]):
                    yield Query(row["id"], text)


def reciprocal(ranks: list[int]) -> float:
    """The mean reciprocal rank; a rank of 0 means not found.

    >>> reciprocal([1, 2, 0])
    0.5
    """
    return sum(1 / rank for rank in ranks if rank) / max(1, len(ranks))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", nargs="?", default="default")
    parser.add_argument("--languages", nargs="+", default=[])
    parser.add_argument("--set", nargs="+", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--library", type=Path, help="a library of the problems")
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    folder = arguments.data / "math-problems"
    meant = {
        judgment.query_id: judgment.id
        for path in folder.glob("qrels.*.txt")
        for judgment in read_qrels(path)
    }
    found = {path.name.split(".")[2] for path in folder.glob("queries.*.jsonl")}
    others = sorted(found - set(OURS))
    with tempfile.TemporaryDirectory() as place:
        target = arguments.library or Path(place) / "library"
        if not target.exists():
            recipe = load_recipe(arguments.recipe, arguments.settings)
            build_library(target, problems(arguments.data), recipe)
        library = Library(target)
        print(f"{arguments.recipe}: language, queries, MRR@10 (either half), found first")
        for language in arguments.languages or [*OURS, *others]:
            asked = list(queries(arguments.data, language))
            ranks = []
            for query in asked:
                hits = [hit.id for hit in library.run([query], k=10).rankings[query.id]]
                ranks.append(hits.index(meant[query.id]) + 1 if meant[query.id] in hits else 0)
            halves = f"{reciprocal(ranks[::2]):.3f} {reciprocal(ranks[1::2]):.3f}"
            first = sum(rank == 1 for rank in ranks) / max(1, len(ranks))
            shown = f"{reciprocal(ranks):.3f} ({halves})  {first:.3f}"
            print(f"  {language:22} {len(asked):4}  {shown}", flush=True)


if __name__ == "__main__":
    main()
