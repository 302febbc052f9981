r"""Splits documents at their headings into one post per section.

A post's id is the file's path and the section's anchor, such as
``notes/analysis.md#taylor-series``. So a hit can be opened, and an id is stable while its heading
is. The title of a post is a path: the document's title, the headings above, its own heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple
from unicodedata import category

from mathsetu.collections.rows import BadRows
from mathsetu.collections.source_text import read_text
from mathsetu.collections.trees import Tree
from mathsetu.errors import RowError
from mathsetu.limits import LONGEST_TEXT
from mathsetu.markup import plain, split, to_marked_text
from mathsetu.markup.references import unescape
from mathsetu.records import BETWEEN_TITLES, Post

#: Reason why a document has no posts.
NO_TEXT = "no text in it"
# A heading may be a whole paragraph; its beginning is enough to name a section.
_LONGEST_ANCHOR = 120
_LONGEST_ABOVE = 200
_LONGEST_EMPTY = 5_000

_MARKDOWN_HEADING = re.compile(
    r"^ {0,3}(?P<level>#{1,3})[ \t]++(?P<title>[^\n]*)$"
    r"|^(?![\s#>|*+-])(?P<underlined>[^\n]++)\n(?P<line>=+|--+)[ \t]*$",
    re.MULTILINE,
)
_CLOSING_HASHES = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+\Z")
# Pandoc and Quarto: # Heading {#sec-one .unnumbered}
_HEADING_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*+\{([^{}\n]*)\}[ \t]*+\Z")
_HTML_HEADING = re.compile(
    r"<h(?P<level>[1-3])(?![0-9a-z])(?P<attributes>[^<>]*)>"
    r"(?P<title>(?:[^<]++|<(?!/?h[1-6]))*+)</h[1-3]\s*>",
    re.IGNORECASE,
)
_HTML_ID = re.compile(r"""(?<![\w-])id\s*=\s*["']?([^\s"'<>]+)""", re.IGNORECASE)
_HTML_TAG = re.compile(r"<(?P<closing>/?)(?P<name>[a-z][a-z0-9]*+)(?P<attributes>[^<>]*+)>", re.I)
# Elements around a section of a page that may have its id.
_HTML_BOXES = frozenset(("section", "div", "article", "li"))
_PATTERNS = {"markdown": _MARKDOWN_HEADING, "html": _HTML_HEADING}


class Section(NamedTuple):
    """A part of a file: its heading and text as in the source, its explicit anchor and its line.

    Line 0 means that the file has no lines, or none that correspond to those of the source text.
    ``level`` is 1 for a chapter, and 0 for the text before the first heading. ``file`` is the file
    of the section, if it is not the document itself.
    """

    title: str
    source: str
    anchor: str
    line: int = 1
    level: int = 0
    file: str = ""


@dataclass
class Document:
    """A file that is read into posts.

    Attributes:
        tree: The tree that contains the file.
        name: The name of the file in the tree.
        prefix: The prefix of names in ids.
        language: The language of the posts, if known.
        known: The ids of sections already read, from documents that may share files.
        only: The only file of the document whose sections are read; "" for all files.
    """

    tree: Tree
    name: str
    prefix: str = ""
    language: str = ""
    known: set[str] = field(default_factory=set)
    only: str = ""
    _used: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the document: its prefix and its name."""
        return self.prefix + self.name

    @property
    def shown(self) -> str:
        """Its name for messages."""
        return self.tree.shown(self.name)

    @property
    def stem(self) -> str:
        """Its name without folders and ending, as marked text."""
        return PurePosixPath(self.name).stem.replace("$", "\\$")

    def read(self) -> bytes:
        """Its bytes."""
        return self.tree.read(self.name)

    def text(self, declared: str = "") -> str:
        """Its text; raise RowError if it is neither UTF-8 nor in its declared encoding."""
        return decoded(self.read(), self.shown, declared)

    def unused(self, file: str, wanted: str) -> str:
        """Return an anchor that is unused in the file, with a number if necessary."""
        used = self._used.setdefault(file, {})
        anchor = wanted or "section"
        free = anchor
        while free in used:
            used[anchor] += 1
            free = f"{anchor}-{used[anchor]}"
        used[free] = 0
        return free

    def error(self, problem: str, line: int = 0) -> RowError:
        """Return an error for a line of it, or for the whole document."""
        return RowError(self.shown, line, problem)


def decoded(data: bytes, shown: str, declared: str = "") -> str:
    """Decode UTF-8, UTF-16 with a byte order mark, or the declared encoding; unify line ends."""
    try:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = data.decode("utf-16")
        else:
            text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        try:
            text = data.decode(declared) if declared else ""
        except (LookupError, ValueError):
            text = ""
        if not text:
            line = data.count(b"\n", 0, error.start) + 1
            value = data[error.start : error.start + 1].hex()
            problem = f"byte 0x{value} is not UTF-8 (convert the file first)"
            raise RowError(shown, line, problem) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > LONGEST_TEXT:
        raise RowError(shown, 0, f"the file is longer than {LONGEST_TEXT:,} characters")
    return text


def sections(source: str, form: str) -> Iterator[Section]:
    r"""Split Markdown or HTML at its headings; the text before the first is also a section.

    >>> [section.title for section in sections("Preface\n# One\ntext\n# Two\n", "markdown")]
    ['', 'One', 'Two']
    """
    title, anchor, start, line, counted, level = "", "", 0, 1, 0, 0
    searched = _without_code(source, form)
    ids_around = _ids_around_headings(searched) if form == "html" else {}
    for heading in _PATTERNS[form].finditer(searched):
        yield Section(title, source[start : heading.start()], anchor, line, level)
        line += source.count("\n", counted, heading.start())
        counted = heading.start()
        group = "title" if heading["title"] is not None else "underlined"
        title_start, title_end = heading.span(group)
        title, start = source[title_start:title_end], heading.end()
        if form == "markdown":
            level = len(heading["level"] or "") or (1 if heading["line"][0] == "=" else 2)
            title, anchor = _markdown_title(title)
        else:
            level = int(heading["level"])
            inside = (_html_id(tag) for tag in _HTML_TAG.finditer(heading[0]))
            anchor = next(filter(None, inside), "") or ids_around.get(heading.start(), "")
    yield Section(title, source[start:], anchor, line, level)


def posts_of(
    document: Document,
    parts: Iterable[Section],
    form: str,
    bad: BadRows,
    *,
    title: str = "",
    fallback: str = "",
    language: str = "",
    tags: tuple[str, ...] = (),
) -> Iterator[Post]:
    """Yield the posts of a document's sections.

    Args:
        document: The document.
        parts: Its sections.
        form: The form of their texts, for `mathsetu.markup`.
        bad: What to do with bad sections.
        title: The document's own title, as marked text.
        fallback: The title of a section without a heading, if the document has no title.
        language: The language that the document states.
        tags: The tags that the document states.
    """
    above: list[tuple[int, str]] = []
    every = list(parts)
    shared = 0
    for number, section in enumerate(every):
        heading = to_marked_text(section.title, form).replace("\n", " ")
        file = section.file or document.name
        if section.level or number:
            above = [(level, text) for level, text in above if level < section.level]
        if heading:
            way = [text for _, text in above]
            above.append((section.level, heading))
        else:
            way = [text for _, text in above if section.level]
        below = every[number + 1].level if number + 1 < len(every) else 0
        # Skip a heading without text: the titles of the sections below contain it.
        if (not heading or below > section.level) and _is_empty(section.source, form):
            continue
        file_id = document.prefix + file
        wanted = (section.anchor or slug(plain(heading)))[:_LONGEST_ANCHOR]
        # The text before the first heading has the id of the file. A heading may be empty.
        post_id = f"{file_id}#{document.unused(file, wanted)}" if number else file_id
        if document.only and file != document.only:
            continue
        if post_id in document.known:
            shared += 1
            continue
        document.known.add(post_id)
        names = [name for name in (title, *way, heading) if name]
        names = [name for n, name in enumerate(names) if not n or name != names[n - 1]]
        whole = _joined(names) or fallback or document.stem
        try:
            whole, title_formulas = read_text(whole, "text", post_id, "title")
            body, body_formulas = read_text(section.source, form, post_id, "body")
        except ValueError as error:
            bad.report(RowError(document.tree.shown(file), section.line, str(error)))
            continue
        if not bad.accepts(post_id, document.tree.shown(file), section.line, tags):
            continue
        yield Post(
            id=post_id,
            title=whole,
            body=body,
            language=language or document.language,
            kind="section",
            tags=tags,
            thread_id=document.id,
            url=post_id,
            formulas=title_formulas + body_formulas,
        )
    bad.add_ignored(document.shown, "a section of a file that two documents include", shared)


def _is_empty(source: str, form: str) -> bool:
    """Whether a section has no text; a long one counts as text, to avoid converting it twice."""
    return not source.strip() or (len(source) < _LONGEST_EMPTY and not to_marked_text(source, form))


def _joined(names: list[str]) -> str:
    """Join the titles of a path; omit parent headings that are whole paragraphs."""
    kept = [name for name in names[:-1] if len(name) <= _LONGEST_ABOVE]
    return BETWEEN_TITLES.join([*kept, *names[-1:]])


def slug(title: str) -> str:
    """Return the anchor of a heading, as code-hosting sites build it.

    >>> slug("Taylor's series: an example"), slug("श्रेणी का योग")
    ('taylors-series-an-example', 'श्रेणी-का-योग')
    """
    # Vowel signs of Indian scripts are marks, neither letters nor digits.
    kept = (c for c in title.strip().lower() if c in "-_ " or category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def _markdown_title(title: str) -> tuple[str, str]:
    """Return a heading without closing hashes and attributes, and the anchor in the attributes."""
    title = _CLOSING_HASHES.sub("", title)
    attributes = _HEADING_ATTRIBUTES.search(title)
    if attributes is None or not attributes[1].lstrip().startswith(("#", ".", "-")):
        return title, ""
    anchor = next((word[1:] for word in attributes[1].split() if word.startswith("#")), "")
    return title[: attributes.start()], anchor


def _html_id(tag: re.Match[str]) -> str:
    given = _HTML_ID.search(tag["attributes"])
    return unescape(given[1]) if given else ""


def _ids_around_headings(page: str) -> dict[int, str]:
    """Map positions of headings to ids of an anchor before them or of an element around them."""
    ids: dict[int, str] = {}
    anchor = ""  # the id of an anchor that no text follows yet
    boxes: list[tuple[str, str]] = []  # names and ids of open elements that have no text yet
    position = 0
    for tag in _HTML_TAG.finditer(page):
        if unescape(page[position : tag.start()]).strip():
            anchor = ""
            boxes.clear()
        position = tag.end()
        name = tag["name"].lower()
        if name in ("h1", "h2", "h3") and not tag["closing"]:
            ids[tag.start()] = anchor or next((given for _, given in reversed(boxes) if given), "")
            anchor = ""
            boxes.clear()
        elif name == "a" and not tag["closing"]:
            anchor = _html_id(tag)
        elif name in _HTML_BOXES:
            anchor = ""
            if not tag["closing"]:
                boxes.append((name, _html_id(tag)))
            elif boxes and boxes[-1][0] == name:
                boxes.pop()
    return ids


def _without_code(source: str, form: str) -> str:
    """Mask code and formulas, which contain no headings, without changing positions."""
    return "".join(
        span.raw if span.kind == "text" else "x" * len(span.raw) for span in split(source, form)
    )
