"""PDF files: the text of each page, as far as it can be extracted.

A PDF places signs on paper; it does not say what they mean. Words come out well where the file
keeps them as text, formulas mostly as loose signs. The sources of a paper, or its HTML, are always
better, and the report of an intake says so.
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

_MOST_PAGES = 20_000
#: Seconds for one file: a hostile one could take hours. The rest of it is skipped.
_SECONDS = 300.0
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """A post for each page that has text."""
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
            if monotonic() > ends or number >= _MOST_PAGES:
                bad.note(f"{document.shown}: too long; read up to page {number:,}")
                break
            text = _page(reader, number)
            broken += text is None
            if text and text.strip():
                parts.append(Section(f"p. {number + 1}", text, f"page={number + 1}", 0, 1))
    except MathSetuError:
        raise
    except Exception as error:
        # A library that is given broken files raises whatever it stumbles over.
        raise document.error(f"not a PDF, or a damaged one ({type(error).__name__})") from None
    if not parts:
        why = "damaged pages" if broken else "scanned images?"
        bad.passed_over(document.shown, f"a PDF without text ({why})")
        return
    word = f"text of {len(parts):,} of {pages:,} pages; formulas in a PDF are mostly lost"
    if broken:
        word += f"; {broken:,} pages are damaged"
    bad.took(document.shown, "pdf", word)
    # The first of the sections is taken for what stands before any heading.
    empty = Section("", "", "")
    yield from posts_of(document, [empty, *parts], "text", bad, title=title or document.stem)


def _page(reader: Any, number: int) -> str | None:
    try:
        text: str = reader.pages[number].extract_text()
    except Exception:  # see above
        return None
    text = _UNSEEN.sub(" ", _HYPHENATED.sub("", text[:LONGEST_TEXT]))
    # Dollars on paper are dollars: no delimiter is left in a PDF.
    return text.replace("\\", "\\\\").replace("$", "\\$")


def _title(reader: Any) -> str:
    try:
        title = str(reader.metadata.title or "") if reader.metadata else ""
    except Exception:  # see above
        return ""
    title = " ".join(_UNSEEN.sub(" ", title).split())[:300]
    return title.replace("\\", "\\\\").replace("$", "\\$")
