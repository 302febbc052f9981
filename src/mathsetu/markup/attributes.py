"""Encodes and decodes the values of XML attributes."""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"&(?!amp;)(?:#([0-9]{1,7}|x[0-9a-fA-F]{1,6});)?")
_WRITTEN = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#xA;", "\r": "&#xD;",
            "\t": "&#x9;"}  # fmt: skip
_TO_BE_WRITTEN = str.maketrans(_WRITTEN)


class BrokenReference(ValueError):
    """A malformed character reference, or one to a character that XML does not allow."""


def to_attribute(text: str) -> str:
    r"""Encode a text as the value of an attribute in double quotes.

    >>> to_attribute('<b class="x">\n')
    '&lt;b class=&quot;x&quot;&gt;&#xA;'
    """
    return text.translate(_TO_BE_WRITTEN)


def from_attribute(written: str) -> str:
    """Decode the value of an attribute; raise `BrokenReference` for an invalid reference.

    >>> from_attribute("a &amp;lt; &#x3b2;")
    'a &lt; β'
    """
    if "&" not in written:
        return written
    text = written.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    text = text.replace("&#xA;", "\n")
    if "&" not in text:
        return text
    if text.count("&") != text.count("&amp;"):
        text = _NUMBERED.sub(_character, text.replace("&apos;", "'"))
    return text.replace("&amp;", "&")


def _character(reference: re.Match[str]) -> str:
    number = reference[1]
    if number is None:
        shown = reference.string[reference.start() : reference.start() + 12]
        raise BrokenReference(f"{shown!r} is not an XML reference")
    code = int(number[1:], 16) if number.startswith("x") else int(number)
    # Keep an ampersand encoded, so that it cannot form a new reference with the text after it.
    if code == 0x26:
        return "&amp;"
    if not (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    ):
        raise BrokenReference(f"{reference[0]} is not an XML character")
    return chr(code)
