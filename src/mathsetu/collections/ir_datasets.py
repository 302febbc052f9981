"""Datasets of ir_datasets (extra ``ir-datasets``): documents as posts, topics, judgments.

The source is the name of a dataset, not a file: ``mathsetu index my.library vaswani --from
ir_datasets``. The package ir_datasets downloads missing data itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mathsetu.collections.columns import row_post
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.source_text import form_of, read_text
from mathsetu.errors import InputError, RowError
from mathsetu.limits import MAX_DIGITS
from mathsetu.models import require
from mathsetu.records import Judgment, Post, Query

_FIELDS = {name: (name,) for name in ("id", "title", "body", "url", "language")}


def read_posts(name: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    """Read the documents of a dataset; a title attribute becomes the title of the post."""
    dataset = _dataset(name, "docs")
    language = dataset.docs_lang() or ""
    with _reading(name):
        for number, document in enumerate(dataset.docs_iter(), start=1):
            row = {
                "id": document.doc_id,
                "title": _attribute(document, "title"),
                "body": document.default_text(),
                "url": _attribute(document, "url"),
                "language": language,
            }
            # The default text begins with the title, if there is one.
            row["body"] = row["body"].removeprefix(row["title"]).lstrip()
            try:
                post = row_post(row, _FIELDS, document.doc_id)
            except ValueError as error:
                bad.report(RowError(str(name), number, str(error)))
                continue
            if bad.accepts(post.id, str(name), number, post.tags):
                yield post
    bad.add_read(name, "ir_datasets")


def read_queries(name: str | Path, bad: BadRows = REFUSE) -> Iterator[Query]:
    """Read the topics of a dataset."""
    dataset = _dataset(name, "queries")
    language = dataset.queries_lang() or ""
    with _reading(name):
        for number, topic in enumerate(dataset.queries_iter(), start=1):
            text = topic.default_text()
            try:
                read, _ = read_text(text, form_of(text), topic.query_id, "query")
            except ValueError as error:
                bad.report(RowError(str(name), number, str(error)))
                continue
            yield Query(topic.query_id, read, language=language)


def read_judgments(name: str | Path, bad: BadRows = REFUSE) -> Iterator[Judgment]:
    """Read the judgments of a dataset."""
    dataset = _dataset(name, "qrels")
    with _reading(name):
        for number, qrel in enumerate(dataset.qrels_iter(), start=1):
            if abs(qrel.relevance) >= 10**MAX_DIGITS:
                bad.report(RowError(str(name), number, f"has more than {MAX_DIGITS} digits"))
                continue
            yield Judgment(qrel.query_id, qrel.doc_id, int(qrel.relevance))


def _attribute(document: Any, field: str) -> str:
    value = getattr(document, field, "")
    return value if isinstance(value, str) else ""


def _dataset(name: str | Path, part: str) -> Any:
    package = require("ir_datasets", "reading ir_datasets", "ir-datasets")
    try:
        dataset = package.load(str(name))
    except KeyError:
        problem = "ir_datasets has no dataset of this name; 'ir_datasets list' shows them"
        raise InputError(f"{name}: {problem}") from None
    if not getattr(dataset, f"has_{part}")():
        raise InputError(f"{name}: this dataset of ir_datasets has no {part}")
    return dataset


@contextmanager
def _reading(name: str | Path) -> Iterator[None]:
    """Convert errors of ir_datasets into an InputError with a message of one line."""
    try:
        yield
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        problem = " ".join(str(error).split())[:200]
        raise InputError(f"{name}: ir_datasets cannot read it ({problem})") from error
