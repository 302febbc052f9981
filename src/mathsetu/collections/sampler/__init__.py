"""The sampler: our own small collection in six languages, shipped with the package (CC0).

About forty topics from school to graduate mathematics, each told by a teacher of every language
in their own way and with their own letters, a few posts that exist in one language only, and
queries with graded judgments. A topic is a thread: its posts share ``thread_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mathsetu.collections import jsonl, trec
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.records import Judgment, Post, Query

_FOLDER = Path(__file__).parent
#: The files of the sampler, in our own formats.
FILES = ("posts.jsonl", "queries.jsonl", "further-queries.jsonl", "judgments.txt")


def posts(bad: BadRows = REFUSE) -> Iterator[Post]:
    """The posts of all languages.

    >>> len({post.thread_id for post in posts()})
    48
    """
    return jsonl.read_posts(_FOLDER / "posts.jsonl", replace(bad, form="text"))


def queries() -> Iterator[Query]:
    """The queries; ``kind`` is words, formula or both.

    >>> sorted({query.kind for query in queries()})
    ['both', 'formula', 'words']
    """
    return jsonl.read_queries(_FOLDER / "queries.jsonl")


def further_queries() -> Iterator[Query]:
    """Some of the queries in languages that no post is in; nobody has reviewed the translations.

    A query's id is that of the original and the code of the language; `further_judgments` has its
    judgments.

    >>> next(further_queries()).id
    'S.12.de'
    """
    return jsonl.read_queries(_FOLDER / "further-queries.jsonl")


def further_judgments() -> Iterator[Judgment]:
    """The judgments of `further_queries`: those of the originals.

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
    """The judgments: 3 answers the query, 2 helps, 1 touches it, 0 only looks like it.

    >>> sorted({judgment.grade for judgment in judgments()})
    [0, 1, 2, 3]
    """
    return trec.read_qrels(_FOLDER / "judgments.txt")


def has_line(text: str) -> bool:
    r"""Whether the first record of a text, or what there is of it, is in the sampler's files.

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
