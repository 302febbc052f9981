"""Evaluates the direction of CLMIR: English queries, posts in other languages.

    python -m benchmarks.other_direction [RECIPE] [--languages hi es] [--set parts.meaning.titles=0]

- CrossMath topics in one language as posts, with their English titles as queries: MRR@10 of the
  same topic. Titles are used as they are, with formulas, and then as words only if at least four
  are left: in "Find the value of $x$" no word is left that could be found.
- The sampler in both directions: English queries over posts in other languages, and vice versa.
- The Hindi questions and answers of the training data as a collection, with the English versions of
  some as queries. The encoder may have been trained on similar texts: this is a test of size.
"""

from __future__ import annotations

import argparse
import json
import lzma
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.sampler import reciprocal_rank
from benchmarks.shared import DATA, LANGUAGES, topics
from mathsetu.collections import sampler
from mathsetu.languages.analyze import words
from mathsetu.library import Library, build_library
from mathsetu.recipes import load_recipe
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Post, Query

_DEPTH = 10
_MIN_WORDS = 4
_TWINS = "rid_maths_"
_ASKED = 500
# The lowest relevant grade in the sampler.
_RELEVANT = 1


def mean_rank(library: Library, queries: Sequence[Query], meant: dict[str, set[str]]) -> float:
    """MRR@10 of queries with their relevant posts."""
    total = 0.0
    for query in queries:
        found = [hit.id for hit in library.run([query], k=_DEPTH).rankings[query.id]]
        total += reciprocal_rank(found, meant[query.id])
    return total / max(1, len(queries))


def built(folder: Path, posts: Iterable[Post], recipe: Recipe) -> Library:
    build_library(folder, posts, recipe)
    return Library(folder)


def titles(data: Path, as_words: bool) -> list[Query]:
    """The English titles of the topics, or only their words if there are enough."""
    asked = []
    for topic in topics("en", data):
        text = " ".join(words(topic.title).split()) if as_words else topic.title
        if len(text.split()) >= (_MIN_WORDS if as_words else 1):
            asked.append(Query(topic.id, text, language="en"))
    return asked


def crossmath(recipe: Recipe, languages: Sequence[str], data: Path, place: Path) -> None:
    print("CrossMath's topics as posts, English titles: language, MRR@10 as they are, words alone")
    as_written, as_words = (titles(data, only) for only in (False, True))
    for language in languages:
        posts = (
            Post(id=topic.id, title=topic.title, body=topic.text, language=language)
            for topic in topics(language, data)
        )
        library = built(place / f"crossmath-{language}", posts, recipe)
        ranks = (
            mean_rank(library, asked, {query.id: {query.id} for query in asked})
            for asked in (as_written, as_words)
        )
        print(f"  {language}  " + "  ".join(f"{rank:.3f}" for rank in ranks), flush=True)
    print(f"  ({len(as_written)} titles, {len(as_words)} with words)")


def both_ways(recipe: Recipe, place: Path) -> None:
    grades: dict[str, set[str]] = defaultdict(set)
    for judgment in sampler.judgments():
        if judgment.grade >= _RELEVANT:
            grades[judgment.query_id].add(judgment.id)
    posts, queries = list(sampler.posts()), list(sampler.queries())
    ways = {"English asks the others": True, "the others ask English": False}
    for name, english_asks in ways.items():
        held = [post for post in posts if (post.language == "en") != english_asks]
        there = {post.id for post in held}
        asked = [
            query
            for query in queries
            if (query.language == "en") == english_asks and grades[query.id] & there
        ]
        library = built(place / f"sampler-{english_asks}", held, recipe)
        rank = mean_rank(library, asked, grades)
        print(f"sampler, {name}: MRR@10 {rank:.3f} ({len(asked)} queries)", flush=True)


def hindi_questions(recipe: Recipe, data: Path, place: Path) -> None:
    with lzma.open(data / "training" / "qa.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    posts = {
        row["q"]: Post(id=str(number), title=row["q"], body=row["a"], language="hi")
        for number, row in enumerate(rows)
        if row["lang"] == "hi"
    }
    # In this source, a Hindi question is followed by its English version.
    twins = {
        second["q"]: posts[first["q"]].id
        for first, second in pairwise(rows)
        if first["src"] == f"{_TWINS}hi" and second["src"] == f"{_TWINS}en"
        if len(words(second["q"]).split()) > _MIN_WORDS and second["q"].isascii()
    }
    step = max(1, len(twins) // _ASKED)
    asked = [Query(post, text, language="en") for text, post in list(twins.items())[::step]]
    library = built(place / "hindi", posts.values(), recipe)
    rank = mean_rank(library, asked, {query.id: {query.id} for query in asked})
    print(f"{len(posts):,} Hindi questions, asked in English: MRR@10 {rank:.3f} ({len(asked)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", nargs="?", default="default")
    others = [language for language in LANGUAGES if language != "en"]
    parser.add_argument("--languages", nargs="+", default=others, choices=others)
    parser.add_argument("--only", choices=["crossmath", "sampler", "hindi"])
    parser.add_argument("--set", nargs="+", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    recipe = load_recipe(arguments.recipe, arguments.settings)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if arguments.only in (None, "crossmath"):
            crossmath(recipe, arguments.languages, arguments.data, place)
        if arguments.only in (None, "sampler"):
            both_ways(recipe, place)
        if arguments.only in (None, "hindi"):
            hindi_questions(recipe, arguments.data, place)


if __name__ == "__main__":
    main()
