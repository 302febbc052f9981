"""Resolves character references in HTML (``&lt;``, ``&#960;``) of any length.

The standard library converts the digits of a reference with ``int``, which raises an error for
thousands of digits. No character has such a long number.
"""

from __future__ import annotations

import html
import re

# The largest code point, 1114111, has seven digits.
_LONG = re.compile(r"&#[0-9]{8}")
_DECIMAL = re.compile(r"&#0*+([0-9]*+)")
_NO_CHARACTER = "&#1114112"


def unescape(text: str) -> str:
    """Resolve the references in a text; one to no character becomes U+FFFD.

    >>> unescape("x &lt; &#960; &#0000000065; &#99999999;")
    'x < π A \ufffd'
    """
    if "&#" in text and _LONG.search(text):
        text = _DECIMAL.sub(_shortened, text)
    return html.unescape(text)


def _shortened(reference: re.Match[str]) -> str:
    digits = reference[1]
    if not digits:  # "&#" without digits, or nothing but zeros
        return reference[0][:3]
    return f"&#{digits}" if len(digits) < 8 else _NO_CHARACTER
