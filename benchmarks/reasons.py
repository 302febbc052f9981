"""Verifies the reasons for 1,000 random hits against the posts.

    python -m benchmarks.reasons [--hits 1000] [--library FOLDER]

Queries are those of the sampler, titles of the ARQMath topics in seven languages, and pieces of
posts. For each drawn hit, the checker uses only the reasons and the post: words must occur in the
post outside formulas, formulas must be among its formulas, a quoted passage must be in its text,
evidence must be a translation or a part of one, and scores must add up to that of the hit. False
reasons are printed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.shared import DATA, LANGUAGES, arqmath_posts, topics
from mathsetu.collections import sampler
from mathsetu.languages.analyze import analyze
from mathsetu.library import Library, build_library
from mathsetu.markup import split
from mathsetu.recipes import load_recipe
from mathsetu.records import Hit, Post, Query, Reason

_CUT = "…"
_K = 10


def problems(hit: Hit, post: Post) -> Iterator[str]:
    """Yield what is false in the reasons for a hit; the post includes its question, if any."""
    whole = sum(reason.score for reason in hit.reasons)
    if hit.reasons and abs(whole - hit.score) > 1e-6:
        yield f"shares add up to {whole:.6f}, the score is {hit.score:.6f}"
    for reason in hit.reasons:
        for problem in _problems(reason, post):
            yield f"{reason.part}: {problem} ({reason.detail})"


def _problems(reason: Reason, post: Post) -> Iterator[str]:
    texts = (post.title, post.body, post.question)
    spans = [span for text in texts for span in split(text)]
    tags = [tag.replace("-", " ") for tag in post.tags]
    words = _joined(" ".join([*(span.content for span in spans if span.kind == "text"), *tags]))
    formulas = {span.content for span in spans if span.kind == "formula"}
    for one in reason.evidence:
        if one.kind == "formula":
            if one.found not in formulas:
                yield f"{one.found!r} is no formula of the post"
        elif not one.found or _joined(one.found) not in words:
            yield f"{one.found!r} is not in the post"
        elif one.translation:
            found = set(analyze(one.found, post.language))
            if _joined(one.found) in _joined(" ".join(tags)):
                found |= set(analyze(one.found, "en"))  # tags are also read as English
            if not found & set(analyze(one.translation, post.language)):
                yield f"{one.found!r} is no part of {one.translation!r}"
    if reason.part == "words":
        for told in filter(None, reason.detail.split("; ")):
            shown = told.partition(" → ")[2] or told
            for word in shown.split(", "):
                if _joined(word) not in words and _joined(shown) not in words:
                    yield f"{word!r} is not in the post"
    elif reason.part == "meaning" and ": " in reason.detail:
        quoted = _joined(reason.detail.partition(": ")[2]).strip(f"{_CUT} ")
        if not any(quoted in _joined(text) for text in texts):
            yield f"{quoted!r} is not in the post"


def _joined(text: str) -> str:
    return " ".join(text.split())


def piece(post: Post, chance: random.Random) -> str:
    """A few consecutive words of a post, with the formulas between them."""
    words = post.body.split() or [post.title]
    start = chance.randrange(len(words))
    return " ".join(words[start : start + chance.randint(2, 12)])


def queries(data: Path, posts: list[Post], chance: random.Random) -> Iterator[Query | str]:
    """Yield queries without end."""
    pool = list(sampler.queries())
    if data.is_dir():
        for language in LANGUAGES:
            pool += [Query(one.id, one.title, language=language) for one in topics(language, data)]
    while True:
        yield chance.choice(pool)
        yield piece(chance.choice(posts), chance)


def checked(library: Library, posts: list[Post], count: int, data: Path, seed: int) -> list[str]:
    """Check the reasons of random hits; return what is false."""
    chance = random.Random(seed)
    found: list[str] = []
    seen = 0
    for query in queries(data, posts, chance):
        hits = library.search(query, _K)
        for hit in chance.sample(hits, min(2, len(hits))):
            seen += 1
            asked = query if isinstance(query, str) else query.text
            post = library.post(hit.id)
            found += [f"{asked[:60]!r} {hit.id}: {problem}" for problem in problems(hit, post)]
        if seen >= count:
            return found
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=int, default=1000)
    parser.add_argument("--library", type=Path, help="a library of the ARQMath posts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    recipe = load_recipe("default")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "sampler"
        build_library(place, sampler.posts(), recipe)
        named = [("sampler", place, list(sampler.posts()))]
        if options.data.is_dir():
            posts = list(arqmath_posts(options.data))
            arqmath = options.library or Path(folder) / "arqmath"
            if options.library is None:
                build_library(arqmath, posts, recipe, collection="arqmath")
            named.append(("ARQMath", arqmath, posts))
        for name, place, posts in named:
            count = options.hits // len(named)
            with Library(place) as opened:
                library = opened.with_recipe(recipe)
                wrong = checked(library, posts, count, options.data, options.seed)
            print(f"{name}: {count} hits, {len(wrong)} false reasons")
            for problem in wrong[:20]:
                print(f"  {problem}")


if __name__ == "__main__":
    main()
