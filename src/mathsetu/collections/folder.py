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
from mathsetu.collections.texts import read_text
from mathsetu.errors import InputError, RowError
from mathsetu.limits import LONGEST_TEXT
from mathsetu.markup import plain, split, to_text
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
# A heading may be a whole paragraph; its beginning is enough to name a section.
_LONGEST_ANCHOR = 120
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
    """A part of a file: its heading as written, what stands under it, a given anchor, its line."""

    title: str
    source: str
    anchor: str
    line: int = 1


def read_posts(path: str | Path, bad: BadRows = REFUSE, *, language: str = "") -> Iterator[Post]:
    r"""Read every section of every file in a folder and its subfolders, in order of their paths.

    Hidden files and folders are passed over, and so are links: they may lead out of the folder.
    A file that is not UTF-8 is a bad row.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "sums.md").write_text("# Sums\n\nAdd $a$.\n\n## A trick\n\nUse $b$.")
    >>> [(post.id, post.title, post.body) for post in read_posts(folder)]
    [('sums.md#sums', 'Sums', 'Add $a$.'), ('sums.md#a-trick', 'A trick', 'Use $b$.')]
    """
    root = Path(path)
    if not root.is_dir():
        raise InputError(f"{path}: is not a folder")
    for file in _files(root, bad):
        name = file.relative_to(root).as_posix()
        try:
            _check_name(name)
            source = "\n".join(line for _, line in read_lines(file, follow_links=False))
            if len(source) > LONGEST_TEXT:
                raise ValueError(f"the file is longer than {LONGEST_TEXT:,} characters")
        except (InputError, ValueError) as error:
            row_error = error if isinstance(error, RowError) else RowError(file, 1, str(error))
            bad.report(row_error)
            continue
        yield from _posts(source, ENDINGS[file.suffix.lower()], name, language, file, bad)


def sections(source: str, form: str) -> Iterator[Section]:
    r"""Cut a file at its headings; what stands before the first is a section too.

    >>> [section.title for section in sections("Preface\n# One\ntext\n# Two\n", "markdown")]
    ['', 'One', 'Two']
    """
    pattern = {"markdown": _MARKDOWN_HEADING, "html": _HTML_HEADING, "latex": _LATEX_HEADING}[form]
    title, anchor, start, line, counted = "", "", 0, 1, 0
    for heading in pattern.finditer(_without_code(source, form)):
        yield Section(title, source[start : heading.start()], anchor, line)
        line += source.count("\n", counted, heading.start())
        counted = heading.start()
        title_start, title_end = heading.span(heading.lastgroup or "title")
        title, start = source[title_start:title_end], heading.end()
        if form == "markdown":
            title = _CLOSING_HASHES.sub("", title)
        anchor = _given_anchor(source, form, heading)
    yield Section(title, source[start:], anchor, line)


def slug(title: str) -> str:
    """A heading as an anchor, in the manner of code-hosting sites.

    >>> slug("Taylor's series: an example"), slug("श्रेणी का योग")
    ('taylors-series-an-example', 'श्रेणी-का-योग')
    """
    # Vowel signs of Indian scripts are marks, neither letters nor digits.
    kept = (c for c in title.strip().lower() if c in "-_ " or category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def _posts(
    source: str, form: str, name: str, language: str, file: Path, bad: BadRows
) -> Iterator[Post]:
    used: dict[str, int] = {}
    text, lines_before = _body(source, form)
    for number, section in enumerate(sections(text, form)):
        line = lines_before + section.line
        title = to_text(section.title, form).replace("\n", " ")
        if not title and not to_text(section.source, form):
            continue
        # What stands before the first heading is the file; a heading may be empty.
        wanted = (section.anchor or slug(plain(title)))[:_LONGEST_ANCHOR]
        anchor = _unused(wanted, used) if number else ""
        post_id = f"{name}#{anchor}" if anchor else name
        title = title or _document_title(source, form) or Path(name).stem
        try:
            title, title_formulas = read_text(title, "text", post_id, "title")
            body, body_formulas = read_text(section.source, form, post_id, "body")
        except ValueError as error:
            bad.report(RowError(file, line, str(error)))
            continue
        if not bad.accepts(post_id, file, line):
            continue
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


def _files(root: Path, bad: BadRows) -> Iterator[Path]:
    """The files that can be read, sorted; links, pipes and the like are noted and passed over."""
    for folder, folders, names in os.walk(root):
        shown = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in shown if Path(folder, name).is_symlink()]
        folders[:] = [name for name in shown if name not in links]
        for name in links:
            bad.note(f"{Path(folder, name)}: a link, not followed")
        for name in sorted(names):
            if name.startswith(".") or Path(name).suffix.lower() not in ENDINGS:
                continue
            path = Path(folder, name)
            if path.is_symlink():
                bad.note(f"{path}: a link, not followed")
            elif not path.is_file():
                bad.note(f"{path}: not a regular file, not read")
            else:
                yield path


def _check_name(name: str) -> None:
    """Refuse a name that is not UTF-8: it would be the id of posts."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the name of the file is not UTF-8 (rename it)") from None


def _without_code(source: str, form: str) -> str:
    """The source with code and formulas blotted out, as long as before: no heading is in them."""
    return "".join(
        span.raw if span.kind == "text" else "x" * len(span.raw) for span in split(source, form)
    )


def _body(source: str, form: str) -> tuple[str, int]:
    """What is read of a file, and how many lines stand before it."""
    if form == "markdown":
        front = _FRONT_MATTER.match(source)
        start, end = front.end() if front else 0, len(source)
    else:
        document = _LATEX_DOCUMENT.search(source) if form == "latex" else None
        start, end = document.span(1) if document else (0, len(source))
    return source[start:end], source.count("\n", 0, start)


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
