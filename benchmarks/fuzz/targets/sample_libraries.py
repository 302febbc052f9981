"""Small libraries for fuzzing the interfaces, with hostile posts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from mathsetu.collections import sampler
from mathsetu.collections.source_text import with_formulas
from mathsetu.library import add_posts, build_library, remove_posts
from mathsetu.records import Post

#: An element that none of our pages has: if it appears as markup, text was not escaped.
UNKNOWN_TAG = "<zqx onzq=1>"
_HARM = (
    f"prime integral {UNKNOWN_TAG}<script>alert(1)</script><img src=x onerror=alert(1)>"
    f" $\\text{{{UNKNOWN_TAG}}}$"
)


def hostile_posts() -> list[Post]:
    """Posts with markup in every field."""
    fields = (
        Post(
            id=f'h1"><zqx>{UNKNOWN_TAG}',
            title=_HARM,
            body=_HARM,
            tags=(UNKNOWN_TAG, "';--"),
            language="en",
        ),
        Post(
            id="h2",
            title="'\"><svg onload=alert(1)>",
            body="javascript: $x$ &lt;zqx&gt; {{7*7}}",
            language="<zqx>",
            url="javascript:alert(1)",
            kind=UNKNOWN_TAG,
            collection=UNKNOWN_TAG,
        ),
        Post(
            id="h3",
            title="\u202etitle\x1b[31m\x07",
            body="\\(<zqx>\\) ${{ '<zqx>' }}$ \\$5 \n\n\0" * 3,
            tags=("<b>", "a&b"),
            language="hi",
            url=" data:text/html,<zqx>",
            question=_HARM,
        ),
        Post(
            id="h4", title="a" * 3_000, body="prime number " * 2_000 + "$x^2$ " * 200, language="en"
        ),
        Post(id="h5/../../etc", title="", body="$" + "\\frac{" * 300 + "x$", language="en"),
    )
    return [with_formulas(post) for post in fields]


def library(place: Path, name: str, posts: Iterable[Post], *, in_parts: bool = False) -> Path:
    """Build a library in a folder that several processes share; the first to finish provides it.

    With ``in_parts`` it has two segments, and one post of the first was removed.
    """
    folder = place / name
    if folder.exists():
        return folder
    part = place / f".{name}.{os.getpid()}"
    every = list(posts)
    build_library(part, every[: len(every) // 2] if in_parts else every, processes=1)
    if in_parts:
        add_posts(part, every[len(every) // 2 :], processes=1)
        remove_posts(part, [every[1].id])
    try:
        part.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(part)
    return folder


def some_posts(count: int) -> list[Post]:
    """Posts of the sampler on a few topics, in all of its languages."""
    return list(sampler.posts())[:count]
