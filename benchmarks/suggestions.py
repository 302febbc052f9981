r"""Measures the latency of suggestions on the page, and the cost of the table of titles.

    python -m benchmarks.collection 60000 --real --out posts.jsonl
    python -m benchmarks.suggestions posts.jsonl

A post without a title gets the beginning of its question or body as its title. Posts are indexed by
words only, because suggestions do not need more. Then titles are typed letter by letter over HTTP,
and every answer is timed; the server runs in the same process.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from urllib.parse import urlencode

import numpy as np

from benchmarks.pages import serving
from mathsetu.collections.jsonl import read_posts
from mathsetu.library import Library, build_library
from mathsetu.library.suggestions import Suggestions
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Post
from mathsetu.service.settings import Settings

_RECIPE = """
name = "words"
description = "Words alone"
[parts.words]
kind = "lexical"
[ranking]
weights = { words = 1.0 }
"""
_TITLE = 90
# A frequent word in titles.
_FREQUENT = "function"
_TYPED, _SHORTEST, _LONGEST = 120, 2, 40


def main() -> int:
    """Build or open a library, and measure it."""
    parser = argparse.ArgumentParser(description="how fast suggestions come")
    parser.add_argument("posts", help="JSON Lines, or a library that was made of them")
    parser.add_argument("--keep", help="a folder for the library")
    args = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(args.posts)
        if folder.is_file():
            folder = Path(args.keep or temporary) / "library"
            build_library(folder, titled(args.posts), parse_recipe(_RECIPE, "suggestions"))
        measure(folder)
    return 0


def titled(posts: str) -> Iterator[Post]:
    """Yield the posts, each with a title."""
    for post in read_posts(posts):
        if post.title:
            yield post
            continue
        text = post.question or post.body
        yield replace(post, title=text[:_TITLE].rsplit(" ", 1)[0] if text[_TITLE:] else text)


def measure(folder: Path) -> None:
    """Print the figures."""
    with Library(folder) as library:
        suggestions = Suggestions(library)
        begun = process_time()
        suggestions.prepare()
        seconds = process_time() - begun
        titles = [title for _, title in library.titles(10**9)]
        print(f"{len(library):,} posts, {len(titles):,} titles: ", end="")
        print(f"{seconds:.1f} s of a processor, {suggestions.size / 1e6:.1f} MB in memory")
    chosen = Random(1).sample(titles, _TYPED)
    typed = [title[:end] for title in chosen for end in range(_SHORTEST, min(len(title), _LONGEST))]
    with serving(Settings(str(folder))) as site:
        connection = HTTPConnection(site.removeprefix("http://"))
        # Titles are loaded from the first request on.
        while not any(one["kind"] == "title" for one in ask(connection, _FREQUENT)[1]):
            sleep(0.2)
        answers = [ask(connection, text) for text in typed]
    times = 1000 * np.array([taken for taken, _ in answers])
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    offered = np.mean([bool(found) for _, found in answers])
    print(f"{len(times):,} keys: p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms, ", end="")
    print(f"slowest {times.max():.1f} ms; {offered:.0%} got a suggestion")


def ask(connection: HTTPConnection, text: str) -> tuple[float, list[dict[str, str]]]:
    """Request suggestions; return the time and the answer."""
    begun = perf_counter()
    connection.request("GET", f"/suggest?{urlencode({'q': text, 'ui': 'en'})}")
    found = json.loads(connection.getresponse().read())
    return perf_counter() - begun, found


if __name__ == "__main__":
    sys.exit(main())
