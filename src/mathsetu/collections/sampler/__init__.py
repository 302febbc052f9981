"""The sampler: our own small collection in six languages, shipped with the package (CC0).

It has about forty topics from school to graduate mathematics, a few posts that exist in one
language only, and queries with graded judgments. In each language a topic is explained
independently, with other symbols. A topic is a thread: its posts share ``thread_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mathsetu.collections import jsonl, trec
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.records import Judgment, Post, Query

_FOLDER = Path(__file__).parent
#: The files of the sampler.
FILES = ("posts.jsonl", "queries.jsonl", "further-queries.jsonl", "judgments.txt")


def posts(bad: BadRows = REFUSE) -> Iterator[Post]:
    """Read the posts of all languages.

    >>> len({post.thread_id for post in posts()})
    48
    """
    return jsonl.read_posts(_FOLDER / "posts.jsonl", replace(bad, form="text"))


def queries() -> Iterator[Query]:
    """Read the queries; ``kind`` is words, formula or both.

    >>> sorted({query.kind for query in queries()})
    ['both', 'formula', 'words']
    """
    return jsonl.read_queries(_FOLDER / "queries.jsonl")


def further_queries() -> Iterator[Query]:
    """Read queries translated into languages without posts; the translations are not reviewed.

    The id of a query is the id of the original and the language code. `further_judgments` gives
    the judgments.

    >>> next(further_queries()).id
    'S.12.de'
    """
    return jsonl.read_queries(_FOLDER / "further-queries.jsonl")


def further_judgments() -> Iterator[Judgment]:
    """Yield the judgments of `further_queries`: those of the original queries.

    >>> {judgment.query_id for judgment in further_judgments()} == {
    ...     query.id for query in further_queries()}
    True
    """
    judged: dict[str, list[Judgment]] = {}
    for judgment in judgments():
        judged.setdefault(judgment.query_id, []).append(judgment)
    for query in further_queries():
        original = query.id.rpartition(".")[0]
        yield from (replace(judgment, query_id=query.id) for judgment in judged[original])


def judgments() -> Iterator[Judgment]:
    """Read the judgments: 3 answers the query, 2 helps, 1 is related, 0 only looks similar.

    >>> sorted({judgment.grade for judgment in judgments()})
    [0, 1, 2, 3]
    """
    return trec.read_qrels(_FOLDER / "judgments.txt")


def has_line(text: str) -> bool:
    r"""Whether the first record of a text, even if truncated, is in the sampler's files.

    >>> has_line("S.01 0 vedic-multiplication.hi 3\n"), has_line("A.1 0 7 3\n")
    (True, False)
    """
    lines = [line for line in text.splitlines() if not line.startswith('{"mathsetu"')]
    every = (_FOLDER / name for name in FILES)
    return bool(lines) and any(f"\n{lines[0]}" in f"\n{path.read_text('utf-8')}" for path in every)


def export(folder: Path) -> list[Path]:
    """Copy the sampler's files into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in FILES:
        target = folder / name
        target.write_bytes((_FOLDER / name).read_bytes())
        written.append(target)
    return written
