"""Known-item search with and without the score of exact matches (``ranking.exact``).

    python -m benchmarks.exact_matches [--data DIR]

Headings: each section of docs/ with a heading of up to four words is searched by its heading; a
section with the same heading also counts as found. Fragments: each of 200 ARQMath answers is
searched by four to six successive words of one of its sentences, without stop words.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.shared import DATA, arqmath_posts
from mathsetu.collections.folder import read_posts
from mathsetu.collections.rows import BadRows
from mathsetu.languages.analyze import analyze
from mathsetu.languages.sentences import sentences
from mathsetu.library import Library, build_library
from mathsetu.markup import split
from mathsetu.records import Post

DOCS = Path(__file__).parents[1] / "docs"
_WITHOUT_EXACT = "ranking.exact=0"
_LONGEST_HEADING, _FRAGMENTS, _SEED = 4, 200, 20261118
_WORD = re.compile(r"[A-Za-z]{2,}")


class KnownItem(NamedTuple):
    """A query, and the posts of which one should come first."""

    text: str
    wanted: set[str]


def headings(posts: Sequence[Post]) -> Iterator[KnownItem]:
    """Each short heading, with the sections that have it."""
    sections = defaultdict(set)
    for post in posts:
        sections[post.title.rpartition(" › ")[2]].add(post.id)
    for heading, wanted in sections.items():
        if 0 < len(heading.split()) <= _LONGEST_HEADING:
            yield KnownItem(heading, wanted)


def fragments(posts: Sequence[Post], count: int = _FRAGMENTS) -> Iterator[KnownItem]:
    """Four to six successive words of a sentence for each of some posts, without stop words."""
    generator = random.Random(_SEED)
    for post in generator.sample(posts, len(posts)):
        prose = " \N{BLACK SQUARE} ".join(
            span.content for span in split(post.body) if span.kind == "text"
        )
        runs = [
            [word for word in _WORD.findall(piece) if analyze(word, "en")]
            for sentence in sentences(prose)
            for piece in sentence.split("\N{BLACK SQUARE}")
        ]
        length = generator.randint(4, 6)
        if long := [words for words in runs if len(words) >= length]:
            words = generator.choice(long)
            start = generator.randint(0, len(words) - length)
            yield KnownItem(" ".join(words[start : start + length]), {post.id})
            count -= 1
        if not count:
            return


def first_ranks(folder: Path, items: Sequence[KnownItem], setting: str = "") -> int:
    """For how many queries a wanted post is at rank 1."""
    with Library(folder, [setting] if setting else []) as library:
        found = (library.search(item.text, k=1, explain=False) for item in items)
        return sum(
            bool(hits) and hits[0].id in item.wanted
            for hits, item in zip(found, items, strict=True)
        )


def exact_matches(name: str, folder: Path, items: Sequence[KnownItem]) -> None:
    """Print how many known items come first with the rule of exact matches, and without it."""
    with_rule = first_ranks(folder, items)
    without = first_ranks(folder, items, _WITHOUT_EXACT)
    print(f"{name}: first for {with_rule} of {len(items)}, {without} without exact matches")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=DATA, help="the evaluation data")
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sections = list(read_posts(DOCS, BadRows()))
        build_library(folder / "docs", sections)
        exact_matches("headings", folder / "docs", list(headings(sections)))
        answers = list(arqmath_posts(data))
        build_library(folder / "answers", answers)
        exact_matches("fragments", folder / "answers", list(fragments(answers)))


if __name__ == "__main__":
    main()
