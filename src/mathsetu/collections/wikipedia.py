"""Dumps of Wikipedia and other wikis (``pages-articles.xml``): a post for each section of a page.

The dump states the wiki and its language. Redirects, talk pages, templates and other pages that are
not articles are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from mathsetu.collections.documents.sections import slug
from mathsetu.collections.files import read_head, shown
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.source_text import read_text
from mathsetu.collections.xmlstream import read_records
from mathsetu.errors import RowError
from mathsetu.markup import plain
from mathsetu.markup.wikitext import sections
from mathsetu.records import BETWEEN_TITLES, Post

_LANGUAGE = re.compile(r"<mediawiki[^<>]*\sxml:lang=[\"']([a-z]{2,3})\b")
_NAME = re.compile(r"<dbname>([\w-]{1,60})</dbname>")
_BASE = re.compile(r"<base>(https?://[^\s<>\"']{1,200}/wiki/)[^<>]*</base>")
_LONGEST_ANCHOR = 120
_MAX_LEVELS = 3  # deeper headings stay in the text


def read_posts(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    r"""Read the articles of a dump, in constant memory.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "wiki.xml"
    >>> _ = path.write_text('<mediawiki xml:lang="en"><page><title>Pi</title><ns>0</ns><revision>'
    ...     "<text>A number, &lt;math&gt;\\pi&lt;/math&gt;.</text></revision></page></mediawiki>")
    >>> post = next(read_posts(path))
    >>> post.id, post.language, post.body
    ('wiki:Pi', 'en', 'A number, $\\pi$.')
    """
    head = read_head(path, 16_384)
    language, name, base = (_first(pattern, head) for pattern in (_LANGUAGE, _NAME, _BASE))
    others = redirects = 0
    for line, _, page in read_records(path, "page"):
        title = page.get("title", "").strip()
        if page.get("ns", "0").strip() != "0":
            others += 1
            continue
        if "redirect" in page:
            redirects += 1
            continue
        if not title:
            bad.report(RowError(shown(path), line, "the page has no title"))
            continue
        page_id = f"{name or 'wiki'}:{title.replace(' ', '_')}"
        url = f"{base}{quote(title.replace(' ', '_'))}" if base else ""
        yield from _posts(page, title, page_id, url, language, (shown(path), line), bad)
    bad.add_ignored(path, "a wiki page that is not an article", others)
    bad.add_ignored(path, "a redirect of a wiki", redirects)
    bad.add_read(path, "wikipedia")


def _posts(
    page: dict[str, str],
    title: str,
    page_id: str,
    url: str,
    language: str,
    place: tuple[str, int],
    bad: BadRows,
) -> Iterator[Post]:
    used: dict[str, int] = {}
    above: list[tuple[int, str]] = []
    for number, (level, heading, text) in enumerate(_merged(page.get("text", ""))):
        try:
            shown_heading, _ = read_text(heading, "html", page_id, "title")
            body, formulas = read_text(text, "html", page_id, "body")
        except ValueError as error:
            bad.report(RowError(*place, str(error)))
            continue
        above = [(depth, name) for depth, name in above if depth < level]
        if shown_heading:
            above.append((level, shown_heading))
        if not body:
            continue
        anchor = plain(shown_heading).replace(" ", "_")[:_LONGEST_ANCHOR] or slug(title)
        anchor = _unused(anchor, used) if number else ""
        post_id = f"{page_id}#{anchor}" if anchor else page_id
        if anchor:
            _, formulas = read_text(text, "html", post_id, "body")
        whole, title_formulas = read_text(
            BETWEEN_TITLES.join([title.replace("$", "\\$"), *(name for _, name in above)]),
            "text", post_id, "title",
        )  # fmt: skip
        if bad.accepts(post_id, *place):
            yield Post(
                id=post_id,
                body=body,
                title=whole.replace("\n", " "),
                language=language,
                kind="article",
                thread_id=page_id,
                url=f"{url}#{quote(anchor)}" if url and anchor else url,
                formulas=title_formulas + formulas,
            )


def _merged(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the sections of the upper levels; deeper sections are part of their text."""
    waiting: tuple[int, str, list[str]] | None = None
    for level, heading, text in sections(source):
        if waiting is not None and level > _MAX_LEVELS:
            waiting[2].extend((f"<p>{heading}</p>", text))
            continue
        if waiting is not None:
            yield waiting[0], waiting[1], "".join(waiting[2])
        waiting = (level, heading, [text])
    if waiting is not None:
        yield waiting[0], waiting[1], "".join(waiting[2])


def _unused(anchor: str, used: dict[str, int]) -> str:
    free = anchor
    while free in used:
        used[anchor] += 1
        free = f"{anchor}_{used[anchor]}"
    used.setdefault(anchor, 1)
    used[free] = 1
    return free


def _first(pattern: re.Pattern[str], head: str) -> str:
    found = pattern.search(head)
    return found[1] if found else ""
