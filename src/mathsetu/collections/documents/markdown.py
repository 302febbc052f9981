"""Markdown files with front matter, and the cells of notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathsetu.collections.documents.markdown_dialects import to_commonmark
from mathsetu.collections.documents.sections import Document, posts_of, sections
from mathsetu.collections.documents.tex_expansion import expand_formulas
from mathsetu.collections.rows import BadRows
from mathsetu.markup import to_marked_text
from mathsetu.records import Post

# YAML between hyphens, or TOML between plus signs.
_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?^(?:---|\.\.\.)|\+\+\+[ \t]*\n.*?^\+\+\+)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*([^\n]*)$", re.MULTILINE)
# "hi", or the first part of "pt-BR".
_FRONT_LANGUAGE = re.compile(
    r"^lang(?:uage)?[ \t]*+[:=][ \t]*+[\"']?([a-z]{2,3})\b", re.MULTILINE | re.IGNORECASE
)
# Tags in one line, with or without brackets, or in the following lines, one per line.
_FRONT_TAGS = re.compile(
    r"^(?:tags|keywords)[ \t]*+[:=][ \t]*+([^\n]*+)((?:\n[ \t]*+-[ \t][^\n]*+)*+)", re.MULTILINE
)


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read the sections of a file."""
    source = document.text()
    found = _FRONT_MATTER.match(source)
    front = found[0] if found else ""
    title, language = _FRONT_TITLE.search(front), _FRONT_LANGUAGE.search(front)
    # Keep the number of lines, so that messages have the right line numbers.
    body = "\n" * front.count("\n") + source[len(front) :]
    yield from read_source(
        document,
        body,
        bad,
        title=_unquoted(title[1]) if title else "",
        language=language[1].lower() if language else "",
        tags=_tags(front),
    )


def read_source(
    document: Document,
    source: str,
    bad: BadRows,
    *,
    title: str = "",
    language: str = "",
    tags: tuple[str, ...] = (),
) -> Iterator[Post]:
    """Read the sections of a text in Markdown."""
    plain = expand_formulas(to_commonmark(source), "markdown")
    shown = to_marked_text(title, "markdown").replace("\n", " ") if title else ""
    yield from posts_of(
        document,
        sections(plain, "markdown"),
        "markdown",
        bad,
        title=shown,
        language=language,
        tags=tags,
    )


def _tags(front: str) -> tuple[str, ...]:
    r"""Return the tags in the front matter of a file.

    >>> _tags("tags: [algebra, 'number theory']")
    ('algebra', 'number theory')
    >>> _tags("tags:\n  - algebra\n  - '#homework'")
    ('algebra', 'homework')
    """
    found = _FRONT_TAGS.search(front)
    if found is None:
        return ()
    inline = found[1].strip()
    named = inline.strip("[]").split(",") if inline else re.findall(r"-[ \t]([^\n]*)", found[2])
    tags = (_unquoted(name).removeprefix("#").strip() for name in named)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
