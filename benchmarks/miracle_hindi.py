"""Evaluates MIRaCLE's two runs from English to Hindi on a collection of our own.

    python -m benchmarks.miracle_hindi --model-1 FOLDER --model-2 FOLDER [--posts 3000]

CLMIR's collection and judgments are not public, so this is not the CLMIR task. The posts are the
Hindi questions of ``training/qa.jsonl.xz`` with their answers. A query is the English version of
one of them, which is the relevant post. Both versions are in the file; they are paired if they have
the same numbers and the same answer, and no other question has. Prints P@10, MAP and nDCG, as CLMIR
does, over queries whose post is long enough for the recipe to index it. ``default`` is measured as
well.

Without ``--model-1`` and ``--model-2`` the models named in the recipes are downloaded from the hub;
``none`` leaves a recipe out.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.shared import DATA, errors_without_traceback, needed
from mathsetu.evaluation import Judgments, evaluate, parse_measures
from mathsetu.library import Library, build_library
from mathsetu.recipes import Recipe, load_recipe
from mathsetu.records import Judgment, Post, Query

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_DEVANAGARI = re.compile("[\u0900-\u097f]")
_SEED = 7


def rows(data: Path, language: str) -> list[dict[str, str]]:
    """The questions in one language; English ones only from the source that has both languages."""
    with lzma.open(needed(data / "training" / "qa.jsonl.xz"), "rt", encoding="utf-8") as file:
        every = map(json.loads, file)
        wanted = [r for r in every if r["lang"] == language]
    if language == "en":
        wanted = [r for r in wanted if r["src"] == "rid_maths_en"]
    # Some rows are in the other language.
    return [r for r in wanted if bool(_DEVANAGARI.search(r["q"])) == (language == "hi")]


def pairs(english: list[dict[str, str]], hindi: list[dict[str, str]]) -> list[tuple[int, int]]:
    """Pair the versions of a question, by their positions."""

    def places(some: list[dict[str, str]]) -> dict[tuple[object, ...], list[int]]:
        found: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for place, row in enumerate(some):
            numbers = tuple(sorted(_NUMBER.findall(row["q"])))
            if numbers:
                found[numbers, row["a"].strip().lower()].append(place)
        return found

    there, here = places(english), places(hindi)
    return [
        (one[0], here[key][0])
        for key, one in there.items()
        if len(one) == 1 and len(here.get(key, ())) == 1
    ]


def measure(recipe: Recipe, posts: list[Post], queries: list[Query], place: Path) -> None:
    started = time.perf_counter()
    build_library(place / recipe.name, posts, recipe)
    built = time.perf_counter() - started
    with Library(place / recipe.name) as library:
        known = library.present(query.id for query in queries)
        asked = [query for query in queries if query.id in known]
        run = library.run(asked, 1000)
        size = len(library)
    judged = Judgments.of(Judgment(query.id, query.id, 1) for query in asked)
    measures = parse_measures(["clmir", "MRR"])[:4]
    found = evaluate(run, judged, measures)
    shown = "  ".join(f"{measure} {found.mean(measure):.3f}" for measure in measures)
    print(
        f"{recipe.name:10} {size:,} posts, {len(asked)} queries: {shown}  ({built:.0f} s to build)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model-1", help="instead of multi-qa-MiniLM-L6-cos-v1")
    parser.add_argument("--model-2", help="instead of all-mpnet-base-v2")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument(
        "--posts", type=int, default=0, help="so many posts, the relevant among them"
    )
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    english, hindi = rows(given.data, "en"), rows(given.data, "hi")
    found = pairs(english, hindi)
    chance = random.Random(_SEED)
    chosen = chance.sample(found, min(given.queries, len(found)))
    places = {place for _, place in chosen}
    others = [place for place in range(len(hindi)) if place not in places]
    kept = chance.sample(others, max(0, given.posts - len(places))) if given.posts else others
    posts = [
        Post(f"p{place}", f"{hindi[place]['q']}\n{hindi[place]['a']}", language="hi")
        for place in sorted([*places, *kept])
    ]
    queries = [Query(f"p{here}", english[there]["q"], language="en") for there, here in chosen]
    print(f"{len(found):,} questions have both forms; {len(queries)} are asked")
    recipes = [load_recipe("default")]
    for number, model in enumerate((given.model_1, given.model_2), start=1):
        settings = [f"parts.text.model={model}"] if model else []
        recipes += [load_recipe(f"miracle-{number}", settings)] if model != "none" else []
    with errors_without_traceback(), tempfile.TemporaryDirectory() as place:
        for recipe in recipes:
            measure(recipe, posts, queries, Path(place))


if __name__ == "__main__":
    main()
