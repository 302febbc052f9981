"""Reads documents (papers, notes, web pages, notebooks) into posts.

To add a kind of document, add a module and one entry in `KINDS`.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mathsetu.collections.documents import html, latex, markdown, notebook, pdf, text, word
from mathsetu.collections.documents.sections import NO_TEXT, Document
from mathsetu.collections.rows import BadRows
from mathsetu.collections.trees import BROKEN
from mathsetu.records import Post

__all__ = ["KINDS", "Document", "Kind", "kind_by_content", "kind_by_name", "read_document"]


class Kind(NamedTuple):
    """One kind of document: its file endings and its reader."""

    name: str
    endings: tuple[str, ...]
    read: Callable[[Document, BadRows], Iterator[Post]]
    #: Whether the reader itself counts its files and reports those without text.
    tells: bool = False


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("markdown", (".md", ".markdown", ".qmd", ".rmd", ".mkd"), markdown.read_posts),
        Kind("html", (".html", ".htm", ".xhtml"), html.read_posts),
        Kind("latex", (".tex", ".latex", ".ltx"), latex.read_posts),
        Kind("notebook", (".ipynb",), notebook.read_posts),
        Kind("word", (".docx",), word.read_posts, tells=True),
        Kind("pdf", (".pdf",), pdf.read_posts, tells=True),
        Kind("text", (".txt", ".text"), text.read_posts),
    )
}
_BY_ENDING = {ending: kind for kind in KINDS.values() for ending in kind.endings}
_LATEX = re.compile(rb"\\document(?:class|style)\b|\\begin\{document\}")
_HTML = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)*<(?:!doctype\s+html|html)\b", re.I)
_NOTEBOOK = re.compile(rb'\s*\{.*"(?:nbformat|cell_type)"\s*:', re.DOTALL)


def kind_by_name(name: str) -> Kind | None:
    """Return the kind of document by the ending of its name.

    >>> kind = kind_by_name("Notes.QMD")
    >>> kind and kind.name
    'markdown'
    """
    dot = name.rfind(".")
    return _BY_ENDING.get(name[dot:].lower()) if dot >= 0 else None


def kind_by_content(head: bytes, whole: bytes | None = None) -> Kind | None:
    """Return the kind of document by its first bytes; None for plain text and unknown content.

    >>> kind = kind_by_content(b"%PDF-1.5 ...")
    >>> kind and kind.name
    'pdf'
    """
    if head.startswith(b"%PDF-"):
        return KINDS["pdf"]
    if head.startswith(b"PK\x03\x04"):
        return KINDS["word"] if whole is not None and _is_word(whole) else None
    if _HTML.match(head):
        return KINDS["html"]
    if _LATEX.search(head):
        return KINDS["latex"]
    return KINDS["notebook"] if _NOTEBOOK.match(head) else None


def read_document(document: Document, kind: Kind, bad: BadRows) -> Iterator[Post]:
    """Read the posts of a document; raise RowError or InputError if it cannot be read at all."""
    count = 0
    refused = bad.count
    for post in kind.read(document, bad):
        count += 1
        yield post
    if kind.tells:
        return
    if count:
        bad.add_read(document.shown, kind.name)
    elif bad.count == refused and document.only:
        shown = document.tree.shown(document.only)
        bad.add_ignored(shown, f"no sections in it; its text is part of {document.shown}")
    elif bad.count == refused:
        bad.add_ignored(document.shown, NO_TEXT)


def _is_word(whole: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            return "word/document.xml" in archive.namelist()
    except (OSError, *BROKEN):
        return False
