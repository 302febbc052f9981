"""PDF files: the text of each page, as far as it can be extracted.

A PDF stores the positions of characters, not the structure of formulas. Words are extracted well if
the file contains them as text; formulas mostly become loose characters. The source or the HTML of a
paper is always better, and the report warns about this.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from time import monotonic
from typing import Any

from mathsetu.collections.documents.sections import Document, Section, posts_of
from mathsetu.collections.rows import BadRows
from mathsetu.errors import MathSetuError, MissingExtra
from mathsetu.limits import LONGEST_TEXT
from mathsetu.records import Post

_MAX_PAGES = 20_000
#: Time limit in seconds for one file, since a hostile one could take hours. The rest is skipped.
_SECONDS = 300.0
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read a post from each page that has text."""
    try:
        import pypdf
    except ImportError:
        raise MissingExtra(f"{document.shown}: reading PDF files", "pdf") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    data = document.read()
    ends = monotonic() + _SECONDS
    parts: list[Section] = []
    broken = 0
    pages = 0
    title = ""
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise document.error("is encrypted (save a copy without a password)")
        pages = len(reader.pages)
        title = _title(reader)
        for number in range(pages):
            if monotonic() > ends or number >= _MAX_PAGES:
                bad.note(f"{document.shown}: too long; read up to page {number:,}")
                break
            text = _page(reader, number)
            broken += text is None
            if text and text.strip():
                parts.append(Section(f"p. {number + 1}", text, f"page={number + 1}", 0, 1))
    except MathSetuError:
        raise
    except Exception as error:
        # For a broken file, pypdf may raise any exception.
        raise document.error(f"not a PDF, or a damaged one ({type(error).__name__})") from None
    if not parts:
        why = "damaged pages" if broken else "scanned images?"
        bad.add_ignored(document.shown, f"a PDF without text ({why})")
        return
    word = f"text of {len(parts):,} of {pages:,} pages; formulas in a PDF are mostly lost"
    if broken:
        word += f"; {broken:,} pages are damaged"
    bad.add_read(document.shown, "pdf", word)
    # `posts_of` treats the first section as the text before any heading.
    empty = Section("", "", "")
    yield from posts_of(document, [empty, *parts], "text", bad, title=title or document.stem)


def _page(reader: Any, number: int) -> str | None:
    try:
        text: str = reader.pages[number].extract_text()
    except Exception:  # see above
        return None
    text = _UNSEEN.sub(" ", _HYPHENATED.sub("", text[:LONGEST_TEXT]))
    # A dollar in a PDF is never a delimiter.
    return text.replace("\\", "\\\\").replace("$", "\\$")


def _title(reader: Any) -> str:
    try:
        title = str(reader.metadata.title or "") if reader.metadata else ""
    except Exception:  # see above
        return ""
    title = " ".join(_UNSEEN.sub(" ", title).split())[:300]
    return title.replace("\\", "\\\\").replace("$", "\\$")
