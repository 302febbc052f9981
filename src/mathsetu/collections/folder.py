r"""A folder of notes: Markdown, HTML and LaTeX files, a post for each section.

A post's id is the file's path and the section's anchor, as ``notes/analysis.md#taylor-series``:
a hit can be opened, and an id stays the same while its heading does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unicodedata import category

from mathsetu.collections.files import read_lines
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.errors import InputError, RowError
from mathsetu.markup import plain, split, to_text
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.references import unescape
from mathsetu.records import Post

ENDINGS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".tex": "latex",
    ".latex": "latex",
}

_MARKDOWN_HEADING = re.compile(
    r"^ {0,3}#{1,3}[ \t]++(?P<title>[^\n]*)$"
    r"|^(?![\s#>|*+-])(?P<underlined>[^\n]++)\n(?:=+|--+)[ \t]*$",
    re.MULTILINE,
)
_CLOSING_HASHES = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+\Z")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_HTML_HEADING = re.compile(
    r"<h[1-3](?![0-9a-z])(?P<attributes>[^<>]*)>(?P<title>(?:[^<]++|<(?!/?h[1-6]))*+)</h[1-3]\s*>",
    re.IGNORECASE,
)
_HTML_ID = re.compile(r"""(?<![\w-])id\s*=\s*["']?([^\s"'<>]+)""", re.IGNORECASE)
_HTML_TITLE = re.compile(r"<title[^<>]*>([^<]*)</title", re.IGNORECASE)
_LATEX_HEADING = re.compile(
    r"\\(?:chapter|section|subsection)\*?\s*(?:\[[^\[\]\n]*\])?\{(?P<title>(?:[^{}]++|\{[^{}]*+\})*+)\}"
)
_LATEX_TITLE = re.compile(r"\\title\s*\{((?:[^{}]++|\{[^{}]*+\})*+)\}")
_LATEX_LABEL = re.compile(r"\s*\\label\s*\{([^{}]+)\}")
_LATEX_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)


class Section(NamedTuple):
    """A part of a file: its heading as written, what stands under it, and a given anchor."""

    title: str
    source: str
    anchor: str


def read_posts(path: str | Path, bad: BadRows = REFUSE, *, language: str = "") -> Iterator[Post]:
    r"""Read every section of every file in a folder and its subfolders, in order of their paths.

    Hidden files and folders are passed over. A file that is not UTF-8 is a bad row.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "sums.md").write_text("# Sums\n\nAdd $a$.\n\n## A trick\n\nUse $b$.")
    >>> [(post.id, post.title, post.body) for post in read_posts(folder)]
    [('sums.md#sums', 'Sums', 'Add $a$.'), ('sums.md#a-trick', 'A trick', 'Use $b$.')]
    """
    root = Path(path)
    if not root.is_dir():
        raise InputError(f"{path}: is not a folder")
    for file in _files(root):
        name = file.relative_to(root).as_posix()
        try:
            source = "\n".join(line for _, line in read_lines(file))
        except InputError as error:
            row_error = error if isinstance(error, RowError) else RowError(name, 1, str(error))
            bad.report(row_error)
            continue
        yield from _posts(source, ENDINGS[file.suffix.lower()], name, language)


def sections(source: str, form: str) -> Iterator[Section]:
    r"""Cut a file at its headings; what stands before the first is a section too.

    >>> [section.title for section in sections("Preface\n# One\ntext\n# Two\n", "markdown")]
    ['', 'One', 'Two']
    """
    pattern = {"markdown": _MARKDOWN_HEADING, "html": _HTML_HEADING, "latex": _LATEX_HEADING}[form]
    title, anchor, start = "", "", 0
    for heading in pattern.finditer(_without_code(source, form)):
        yield Section(title, source[start : heading.start()], anchor)
        title_start, title_end = heading.span(heading.lastgroup or "title")
        title, start = source[title_start:title_end], heading.end()
        if form == "markdown":
            title = _CLOSING_HASHES.sub("", title)
        anchor = _given_anchor(source, form, heading)
    yield Section(title, source[start:], anchor)


def slug(title: str) -> str:
    """A heading as an anchor, in the manner of code-hosting sites.

    >>> slug("Taylor's series: an example"), slug("श्रेणी का योग")
    ('taylors-series-an-example', 'श्रेणी-का-योग')
    """
    # Vowel signs of Indian scripts are marks, neither letters nor digits.
    kept = (c for c in title.strip().lower() if c in "-_ " or category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def _posts(source: str, form: str, name: str, language: str) -> Iterator[Post]:
    used: dict[str, int] = {}
    for section in sections(_body(source, form), form):
        title = to_text(section.title, form).replace("\n", " ")
        if not title and not to_text(section.source, form):
            continue
        anchor = _unused(section.anchor or slug(plain(title)), used) if title else ""
        post_id = f"{name}#{anchor}" if anchor else name
        title = title or _document_title(source, form) or Path(name).stem
        title, title_formulas = text_and_formulas(title, "text", post_id, "title")
        body, body_formulas = text_and_formulas(section.source, form, post_id, "body")
        yield Post(
            id=post_id,
            title=title,
            body=body,
            language=language,
            kind="section",
            thread_id=name,
            url=post_id,
            formulas=title_formulas + body_formulas,
        )


def _files(root: Path) -> Iterator[Path]:
    """The files that can be read, sorted; a folder that links lead to twice is entered once."""
    entered: set[str] = set()
    for folder, folders, names in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        if real in entered:
            folders.clear()
            continue
        entered.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in ENDINGS:
                yield Path(folder, name)


def _without_code(source: str, form: str) -> str:
    """The source with code and formulas blotted out, as long as before: no heading is in them."""
    return "".join(
        span.raw if span.kind == "text" else "x" * len(span.raw) for span in split(source, form)
    )


def _body(source: str, form: str) -> str:
    if form == "markdown":
        return _FRONT_MATTER.sub("", source)
    document = _LATEX_DOCUMENT.search(source) if form == "latex" else None
    return document[1] if document else source


def _given_anchor(source: str, form: str, heading: re.Match[str]) -> str:
    """The anchor that the author gave: the id of an HTML heading, the label of a LaTeX one."""
    if form == "html":
        given = _HTML_ID.search(source, *heading.span("attributes"))
        return unescape(given[1]) if given else ""
    label = _LATEX_LABEL.match(source, heading.end()) if form == "latex" else None
    return label[1] if label else ""


def _document_title(source: str, form: str) -> str:
    pattern = {"html": _HTML_TITLE, "latex": _LATEX_TITLE}.get(form)
    title = pattern.search(source) if pattern else None
    return to_text(title[1], form) if title else ""


def _unused(anchor: str, used: dict[str, int]) -> str:
    """The anchor, with a number if it is taken; ``used`` counts how often each was asked for."""
    anchor = anchor or "section"
    free = anchor
    while free in used:
        used[anchor] += 1
        free = f"{anchor}-{used[anchor]}"
    used[free] = 0
    return free
