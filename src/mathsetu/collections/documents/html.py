"""HTML pages as they are saved from a browser or written by a tool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathsetu.collections.documents.sections import Document, decoded, posts_of, sections
from mathsetu.collections.documents.tex_expansion import expand_formulas
from mathsetu.collections.rows import BadRows
from mathsetu.markup import to_text
from mathsetu.markup.pages import clean_page, declared_encoding
from mathsetu.records import Post

_TITLE = re.compile(r"<title[^<>]*>([^<]*)</title", re.IGNORECASE)


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """The sections of a page."""
    data = document.read()
    source = decoded(data, document.shown, declared_encoding(data[:4096]))
    title = _TITLE.search(source)
    page = expand_formulas(clean_page(source), "html")
    fallback = to_text(title[1], "html").replace("\n", " ") if title else ""
    yield from posts_of(document, sections(page, "html"), "html", bad, fallback=fallback)
