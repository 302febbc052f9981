"""Word documents (.docx): headings, text, tables, footnotes and equations.

A document is a zip archive of XML files. They are read in memory, with size limits; a file that
declares a document type is refused. Nothing outside the document is read.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from mathsetu.collections.documents.sections import NO_TEXT, Document, Section, posts_of
from mathsetu.collections.rows import BadRows
from mathsetu.collections.trees import BROKEN
from mathsetu.markup.omml import NAMESPACE as MATH
from mathsetu.markup.omml import omml_to_latex
from mathsetu.markup.safe_xml import RefusedXml, read_tree
from mathsetu.records import Post

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CORE_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_OBJECT = "{urn:schemas-microsoft-com:office:office}OLEObject"
_HEADING = re.compile(r"heading ([1-3])", re.IGNORECASE)
_SECTION_LEVELS = 3
# Limited, because a tree of elements takes many times the memory of its source.
_LONGEST_PART = 32 * 1024 * 1024
# Deleted text, field codes, and the fallback version of a drawing.
_UNREAD = frozenset(
    f"{_WORD}{name}" for name in ("del", "instrText", "delText", "rPr", "pPr", "moveFrom")
) | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read the sections of a document."""
    try:
        with zipfile.ZipFile(io.BytesIO(document.read())) as archive:
            body = _part(document, archive, "word/document.xml")
            styles = _part(document, archive, "word/styles.xml", optional=True)
            notes = _part(document, archive, "word/footnotes.xml", optional=True)
            core = _part(document, archive, "docProps/core.xml", optional=True)
    except (OSError, *BROKEN) as error:
        raise document.error(f"not a Word document, or a damaged one ({error})") from None
    assert body is not None
    reader = _Reader(_levels(styles), _notes(notes))
    reader.read(body)
    title = reader.title or _core_title(core)
    parts = list(reader.sections())
    if reader.lost:
        bad.note(
            f"{document.shown}: {reader.lost:,} equations are objects of the old equation editor "
            "and cannot be read (convert them in Word: File, Info, Convert)"
        )
    count = 0
    refused = bad.count
    for post in posts_of(document, parts, "html", bad, title=title):
        count += 1
        yield post
    if not count:
        if bad.count == refused:
            bad.add_ignored(document.shown, NO_TEXT)
        return
    word = f"{reader.equations:,} equations"
    bad.add_read(document.shown, "word", word + (f", {reader.lost:,} lost" if reader.lost else ""))


class _Reader:
    """Converts paragraphs to HTML, with all text escaped."""

    def __init__(self, levels: dict[str, int], notes: dict[str, Element]) -> None:
        self.equations = self.lost = 0
        self.title = ""
        self._levels = levels
        self._notes = notes
        self._parts: list[tuple[int, str, list[str]]] = [(0, "", [])]

    def sections(self) -> Iterator[Section]:
        """Yield the sections with their texts."""
        for level, title, paragraphs in self._parts:
            yield Section(title, "\n".join(paragraphs), "", 0, level)

    def read(self, root: Element) -> None:
        """Read all paragraphs in order, including those in tables."""
        stack = [root]
        while stack:
            element = stack.pop()
            if element.tag == f"{_WORD}p":
                self._paragraph(element)
            elif element.tag not in _UNREAD:
                stack.extend(reversed(element))

    def _paragraph(self, paragraph: Element) -> None:
        text = self._text(paragraph).strip()
        if not text:
            return
        properties = paragraph.find(f"{_WORD}pPr")
        style = properties.find(f"{_WORD}pStyle") if properties is not None else None
        name = style.get(f"{_WORD}val", "") if style is not None else ""
        level = self._levels.get(name, -1)
        if level == 0 and not self.title:
            self.title = html.unescape(re.sub(r"<[^<>]*>", "", text))
        elif 0 < level <= _SECTION_LEVELS:
            self._parts.append((level, text, []))
        else:
            self._parts[-1][2].append(f"<p>{text}</p>")

    def _text(self, root: Element) -> str:
        parts: list[str] = []
        stack = list(reversed(root))
        while stack:
            element = stack.pop()
            tag = element.tag
            if tag == f"{_WORD}t":
                parts.append(html.escape(element.text or "", quote=False))
            elif tag in (f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
                parts.append(" " if tag == f"{_WORD}tab" else "<br>")
            elif tag == f"{MATH}oMathPara":
                equations = list(element.iter(f"{MATH}oMath"))
                parts += [self._equation(equation, "$$") for equation in equations]
            elif tag == f"{MATH}oMath":
                parts.append(self._equation(element, "$"))
            elif tag == f"{_WORD}footnoteReference":
                note = self._notes.pop(element.get(f"{_WORD}id", ""), None)
                parts.append(f" ({self._text(note).strip()})" if note is not None else "")
            elif tag == _OBJECT:
                self.lost += element.get("ProgID", "").startswith("Equation")
            elif tag not in _UNREAD and tag != f"{_WORD}p":
                stack.extend(reversed(element))
            elif tag == f"{_WORD}p":  # in a footnote or a text box
                parts.append(" ")
                stack.extend(reversed(element))
        return "".join(parts)

    def _equation(self, element: Element, dollars: str) -> str:
        latex = omml_to_latex(element)
        if not latex:
            return ""
        self.equations += 1
        written = html.escape(f"{dollars}{latex}{dollars}", quote=False)
        return f'<span class="math-container">{written}</span>'


def _part(
    document: Document, archive: zipfile.ZipFile, name: str, optional: bool = False
) -> Element | None:
    if optional and name not in archive.namelist():
        return None
    try:
        with archive.open(name) as file:
            data = file.read(_LONGEST_PART + 1)
    except KeyError:
        raise document.error(f"not a Word document ({name} is missing)") from None
    if len(data) > _LONGEST_PART:
        raise document.error(f"{name} is longer than {_LONGEST_PART >> 20} MiB")
    try:
        return read_tree(data)
    except RefusedXml as refused:
        raise document.error(f"{name} line {refused.line}: {refused.problem}") from None


def _levels(styles: Element | None) -> dict[str, int]:
    """Return the level of each heading style; level 0 is the title of the document.

    Built-in styles have English names in every language of Word, but their ids are translated.
    """
    levels = {"Title": 0, **{f"Heading{n}": n for n in range(1, _SECTION_LEVELS + 1)}}
    for style in [] if styles is None else styles.iter(f"{_WORD}style"):
        name = style.find(f"{_WORD}name")
        shown = name.get(f"{_WORD}val", "") if name is not None else ""
        heading = _HEADING.fullmatch(shown.strip())
        if heading:
            levels[style.get(f"{_WORD}styleId", "")] = int(heading[1])
        elif shown.strip().lower() == "title":
            levels[style.get(f"{_WORD}styleId", "")] = 0
    return levels


def _notes(notes: Element | None) -> dict[str, Element]:
    return {} if notes is None else {
        note.get(f"{_WORD}id", ""): note for note in notes.iter(f"{_WORD}footnote")
    }  # fmt: skip


def _core_title(core: Element | None) -> str:
    found = core.find(_CORE_TITLE) if core is not None else None
    return " ".join((found.text or "").split()).replace("$", "\\$") if found is not None else ""
