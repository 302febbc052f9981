"""Escape untrusted text for XML and HTML."""

from __future__ import annotations

import re

_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
# The special characters, and those that XML does not allow.
_UNSAFE = re.compile("[&<>\"'\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def escape_text(text: str) -> str:
    r"""Escape text for an element or a quoted attribute.

    Characters that XML does not allow become the replacement character.

    >>> escape_text('<b onclick="x">&')
    '&lt;b onclick=&quot;x&quot;&gt;&amp;'
    >>> escape_text("a\x00b")
    'a�b'
    """
    return _UNSAFE.sub(lambda match: _SPECIAL.get(match.group(), "\ufffd"), text)
