"""HTML pages saved from a browser or written by a tool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathsetu.collections.documents.page_content import TITLE, consists_of, page_content
from mathsetu.collections.documents.script_macros import script_macros
from mathsetu.collections.documents.sections import Document, Section, decoded, posts_of, sections
from mathsetu.collections.documents.tex_expansion import FormulaMacros
from mathsetu.collections.rows import BadRows
from mathsetu.collections.source_text import split_tags
from mathsetu.languages.table import language as row_of
from mathsetu.markup import to_marked_text
from mathsetu.markup.mathml import without_comments
from mathsetu.markup.pages import attributes_of, clean_page, declared_encoding
from mathsetu.markup.tex import DEFINES
from mathsetu.records import Post

# "fr", or the first part of "fr-CA".
_LANGUAGE = re.compile(
    r"<html\b[^<>]{0,500}?[ \t\n](?:xml:)?lang\s*=\s*[\"']?([a-z]{2,3})\b", re.IGNORECASE
)
# The tags of a page are in <meta name="keywords"> or <meta property="article:tag">.
_META = re.compile(r"<meta\b([^<>]{1,2000})>", re.IGNORECASE)
_BODY = re.compile(r"<body\b", re.IGNORECASE)
_TAGGING = frozenset({"keywords", "article:tag"})
# Beginning of a page that is searched for its tags.
_LONGEST_HEAD = 100_000
# Beginning of a page that is searched for its encoding and language.
_HEAD = 4096
# Ignored, because templates state it for pages in any language.
_UNINFORMATIVE_LANGUAGE = "en"


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read the sections of a page."""
    data = document.read()
    source = without_comments(decoded(data, document.shown, declared_encoding(data[:_HEAD])))
    title, stated = TITLE.search(source), _LANGUAGE.search(source, 0, _HEAD)
    language = row_of(stated[1].lower()).code if stated else ""
    fallback = _one_line(title[1]) if title else ""
    content, around = page_content(source, fallback)
    page = _with_macros(clean_page(content), around, script_macros(source))
    parts = list(sections(page, "html"))
    own_title = fallback
    if _is_repeated(fallback, parts):
        own_title = ""
        parts = _begun_by_title(parts)
    heading = _own_title(parts)
    if heading is not None:
        parts.pop(1)
        own_title = fallback = _one_line(heading)
    yield from posts_of(
        document, parts, "html", bad, title=own_title, tags=_tags(source),
        fallback=fallback, language="" if language == _UNINFORMATIVE_LANGUAGE else language,
    )  # fmt: skip


def _tags(source: str) -> tuple[str, ...]:
    """Return the tags that the head of a page states.

    >>> _tags('<meta name="keywords" content="series, limits"><body>')
    ('series', 'limits')
    """
    body = _BODY.search(source, 0, _LONGEST_HEAD)
    head = source[: body.start() if body else _LONGEST_HEAD]
    stated = (attributes_of(meta[1]) for meta in _META.finditer(head))
    contents = (
        one.get("content", "")
        for one in stated
        if not _TAGGING.isdisjoint({one.get("name", "").lower(), one.get("property", "").lower()})
    )
    return tuple(dict.fromkeys(tag for content in contents for tag in split_tags(content)))


def _one_line(source: str) -> str:
    return to_marked_text(source, "html").replace("\n", " ")


def _is_repeated(title: str, parts: list[Section]) -> bool:
    """Whether the only top-level heading of a page equals its title without the site's name."""
    named = [(part.level, heading) for part in parts if (heading := _one_line(part.title))]
    highest = min(named, default=(0, ""))[0]
    main = [heading for level, heading in named if level == highest]
    return len(main) == 1 and consists_of(title, main[0])


def _begun_by_title(parts: list[Section]) -> list[Section]:
    """Move text before the heading that repeats the title, such as a date, below that heading."""
    before, first, *others = parts
    is_main = first.level == min(part.level for part in parts[1:])
    if not is_main or not to_marked_text(before.source, "html"):
        return parts
    first = first._replace(source=f"{before.source}\n{first.source}")
    return [before._replace(source=""), first, *others]


def _with_macros(page: str, around: str, definitions: list[str]) -> str:
    """Expand the macros of a page, defined in its scripts or in formulas in or around it."""
    macros = FormulaMacros(definitions)
    if DEFINES.search(around):
        macros.expand(clean_page(around), "html")
    is_defining = definitions or DEFINES.search(around) or DEFINES.search(page)
    return macros.expand(page, "html") if is_defining else page


def _own_title(parts: list[Section]) -> str | None:
    """Return the first of several level-1 headings if it has no text, so that it is a title."""
    if len(parts) < 3 or parts[1].level != 1 or parts[2].level != 1:
        return None
    has_text = any(to_marked_text(part.source, "html") for part in parts[:2])
    return None if has_text else parts[1].title
