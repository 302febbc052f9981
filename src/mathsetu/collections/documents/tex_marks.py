"""The marks with which `tex_expansion` notes headings, labels and references in its output."""

from __future__ import annotations

import re

from mathsetu.markup import split

#: They are removed from the input first.
REFERENCE, HEADING, HEADING_FILE = "\ue010", "\ue011", "\ue012"
TITLE_START, TITLE_END = "\ue013", "\ue014"
LABEL_START, LABEL_END, DOCUMENT_START, DOCUMENT_END = "\ue015", "\ue016", "\ue017", "\ue018"
#: Deletes all of them.
NO_MARKS = dict.fromkeys(range(0xE010, 0xE019))
#: The title of a document.
DOCUMENT_TITLE = re.compile(f"{DOCUMENT_START}([^{DOCUMENT_END}]*+){DOCUMENT_END}")
#: The heading of a section: its level, its file, its text, and its label.
SECTION_TITLE = re.compile(
    f"{HEADING}(\\d){HEADING_FILE}([^{TITLE_START}]*+){TITLE_START}"
    f"([^{TITLE_END}{HEADING}]*+){TITLE_END}"
    f"(?:\\s*+{LABEL_START}([^{LABEL_END}]*+){LABEL_END})?"
)
_LABEL = re.compile(f"{LABEL_START}[^{LABEL_END}]*+{LABEL_END}")
_SEVERAL = re.compile(f"{REFERENCE}(?:[\\s~,;–-]*+(?:and\\s++)?{REFERENCE})++")
_BRACKETED = re.compile(f"[(\\[][\\s~]*+{REFERENCE}[\\s~]*+[)\\]]")
_REFERENCE = re.compile(f"(?<![ \\t~])[ \\t~]*+\\n?[ \\t~]*+{REFERENCE}")
_ENSURED = re.compile(r"\\ensuremath\s*+\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+)\}")


def without_labels(formula: str) -> str:
    """Remove the labels and references from a formula."""
    return _LABEL.sub("", formula).replace(REFERENCE, "")


def with_plain_headings(text: str) -> str:
    """Return a text with its headings as paragraphs, without labels and references."""
    text = DOCUMENT_TITLE.sub(r"\1\n\n", text)
    return tidied(SECTION_TITLE.sub(r"\n\n\3\n\n", text))


def tidied(text: str) -> str:
    """Remove labels, references and the punctuation around references from a text."""
    text = _LABEL.sub("", text)
    text = _SEVERAL.sub(REFERENCE, text)
    text = _BRACKETED.sub(REFERENCE, text)
    text = _REFERENCE.sub("", text).translate(NO_MARKS)
    return _with_formulas(text) if "\\ensuremath" in text else text


def _with_formulas(text: str) -> str:
    r"""Replace ``\ensuremath``: by a formula in prose, by a group in a formula."""
    return "".join(
        _ENSURED.sub(r"$\1$" if span.kind == "text" else r"{\1}", span.raw)
        for span in split(text, "latex")
    )
