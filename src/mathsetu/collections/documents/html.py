"""HTML pages as they are saved from a browser or written by a tool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathsetu.collections.documents.sections import Document, Section, decoded, posts_of, sections
from mathsetu.collections.documents.tex_expansion import expand_formulas
from mathsetu.collections.rows import BadRows
from mathsetu.languages.table import language as row_of
from mathsetu.markup import plain, to_text
from mathsetu.markup.pages import clean_page, declared_encoding
from mathsetu.records import Post

_TITLE = re.compile(r"<title[^<>]*>([^<]*)</title", re.IGNORECASE)
# "fr", or the first part of "fr-CA".
_LANGUAGE = re.compile(
    r"<html\b[^<>]{0,500}?[ \t\n](?:xml:)?lang\s*=\s*[\"']?([a-z]{2,3})\b", re.IGNORECASE
)
# Where a page says what it is.
_HEAD = 4096
# What stands between the title of a page and the name of its site.
_JOINTS = "-–—|·•:›»"
# What templates say of pages in all languages.
_UNSAID = "en"


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """The sections of a page."""
    data = document.read()
    source = decoded(data, document.shown, declared_encoding(data[:_HEAD]))
    title, stated = _TITLE.search(source), _LANGUAGE.search(source, 0, _HEAD)
    language = row_of(stated[1].lower()).code if stated else ""
    page = expand_formulas(clean_page(source), "html")
    fallback = _one_line(title[1]) if title else ""
    parts = list(sections(page, "html"))
    own_title = "" if _is_repeated(fallback, parts) else fallback
    heading = _own_title(parts)
    if heading is not None:
        parts.pop(1)
        own_title = fallback = _one_line(heading)
    yield from posts_of(
        document, parts, "html", bad, title=own_title,
        fallback=fallback, language="" if language == _UNSAID else language,
    )  # fmt: skip


def _one_line(source: str) -> str:
    return to_text(source, "html").replace("\n", " ")


def _is_repeated(title: str, parts: list[Section]) -> bool:
    """Whether the only main heading of a page says its title, to which sites add their names."""
    main = [heading for part in parts if part.level == 1 and (heading := _one_line(part.title))]
    if len(main) != 1:
        return False
    before, said, after = plain(title).casefold().partition(plain(main[0]).casefold())
    return bool(said) and before.rstrip()[-1:] in _JOINTS and after.lstrip()[:1] in _JOINTS


def _own_title(parts: list[Section]) -> str | None:
    """The heading that names the page, where its sections have headings of the same level."""
    if len(parts) < 3 or parts[1].level != 1 or parts[2].level != 1:
        return None
    has_text = any(to_text(part.source, "html") for part in parts[:2])
    return None if has_text else parts[1].title
