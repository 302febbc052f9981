"""Tests whether an answer says "nothing close" for nonsense queries, and only for these.

    python -m benchmarks.nonsense [default] [--library FOLDER]

Runs nonsense queries (those of `benchmarks.calibration`, and harder ones with another seed; the
rules were made with knowledge of both) over the ARQMath posts and the sampler, and prints the share
with a close hit. Then runs sensible queries: the judged ARQMath topics in seven languages, in full
and as titles only, the queries of the sampler, and single words of the sampler's titles, each in a
library of the six posts of its thread. ``--library`` names an existing library of the ARQMath
posts, which is then not built.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.calibration import built, nonsense
from benchmarks.shared import DATA, LANGUAGES, YEARS, judged, topics
from mathsetu.collections import sampler
from mathsetu.languages.analyze import analyze, tokenize, words
from mathsetu.library import Library, build_library
from mathsetu.recipes import load_recipe
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Query

# Number of sampler threads that small libraries are built from.
_THREADS = 8


def close(library: Library, queries: Iterable[str | Query]) -> tuple[int, int]:
    """The number of queries with a close hit, and the number of all queries."""
    told = [
        library.answer(query, 1, explain=False, own_language="off").is_close for query in queries
    ]
    return sum(told), len(told)


def show(name: str, counts: tuple[int, int]) -> None:
    found, asked = counts
    print(f"  {name}: {found} of {asked} ({found / max(1, asked):.1%})", flush=True)


def senseless(name: str, library: Library) -> None:
    """Print the figures for nonsense queries."""
    show(f"nonsense, {name}", close(library, nonsense(200)))
    show(f"harder nonsense, {name}", close(library, nonsense(400, hard=True)))
    show(f"harder nonsense, another seed, {name}", close(library, nonsense(400, 2, hard=True)))


def judged_topics(library: Library, data: Path) -> None:
    """Print the figures for the judged topics, in full and as titles only."""
    wanted = {topic for year in YEARS for topic in judged(year, data)}
    for language in LANGUAGES:
        asked = [topic for topic in topics(language, data) if topic.id in wanted]
        show(f"topics {language}", close(library, asked))
        titles = [replace(topic, title="", text=topic.title) for topic in asked]
        show(f"titles {language}", close(library, titles))


def single_words(recipe: Recipe, place: Path) -> tuple[int, int]:
    """The figures for single words in libraries of six posts, one of which has the word."""
    posts = list(sampler.posts())
    threads = list(dict.fromkeys(post.thread_id for post in posts))
    found = asked = 0
    for number, thread in enumerate(threads[:_THREADS]):
        own = [post for post in posts if post.thread_id == thread]
        build_library(place / f"small-{number}", own, recipe, processes=1)
        with Library(place / f"small-{number}") as library:
            for post in own:
                told, count = close(library, _content_words(post.title, post.language))
                found, asked = found + told, asked + count
    return found, asked


def _content_words(title: str, language: str) -> Sequence[Query]:
    tokens = dict.fromkeys(tokenize(words(title)))
    wanted = [token for token in tokens if token.isalpha() and analyze(token, language)]
    return [Query(token, token, language=language) for token in wanted if len(token) > 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", nargs="?", default="default")
    parser.add_argument("--library", type=Path, help="a library of the ARQMath posts")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    recipe = load_recipe(options.recipe)
    print("told of something close:")
    with built(options.library, recipe, options.data) as library:
        senseless("ARQMath", library)
        judged_topics(library, options.data)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        build_library(place / "sampler", sampler.posts(), recipe)
        with Library(place / "sampler") as library:
            senseless("sampler", library)
            show("queries of the sampler", close(library, sampler.queries()))
        show("single words, libraries of six posts", single_words(recipe, place))


if __name__ == "__main__":
    main()
