"""The sampler: our own small collection in six languages, shipped with the package (CC0).

About forty topics from school to graduate mathematics, each told by a teacher of every language
in their own way and with their own letters, a few posts that exist in one language only, and
queries with graded judgments. A topic is a thread: its posts share ``thread_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mathsetu.collections import jsonl, trec
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.records import Judgment, Post, Query

_FOLDER = Path(__file__).parent
#: The files of the sampler, in our own formats.
FILES = ("posts.jsonl", "queries.jsonl", "judgments.txt")


def posts(bad: BadRows = REFUSE) -> Iterator[Post]:
    """The posts of all languages.

    >>> len({post.thread_id for post in posts()})
    48
    """
    return jsonl.read_posts(_FOLDER / "posts.jsonl", bad)


def queries() -> Iterator[Query]:
    """The queries; ``kind`` is words, formula or both.

    >>> sorted({query.kind for query in queries()})
    ['both', 'formula', 'words']
    """
    return jsonl.read_queries(_FOLDER / "queries.jsonl")


def judgments() -> Iterator[Judgment]:
    """The judgments: 3 answers the query, 2 helps, 1 touches it, 0 only looks like it.

    >>> sorted({judgment.grade for judgment in judgments()})
    [0, 1, 2, 3]
    """
    return trec.read_qrels(_FOLDER / "judgments.txt")


def export(folder: Path) -> list[Path]:
    """Copy the sampler's files into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in FILES:
        target = folder / name
        target.write_bytes((_FOLDER / name).read_bytes())
        written.append(target)
    return written
