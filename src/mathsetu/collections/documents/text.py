"""Plain text: a post for each file."""

from __future__ import annotations

from collections.abc import Iterator

from mathsetu.collections.documents.sections import Document, Section, posts_of
from mathsetu.collections.rows import BadRows
from mathsetu.records import Post


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read the text unchanged, with the formulas between delimiters."""
    yield from posts_of(document, [Section("", document.text(), "")], "text", bad)
