"""Reads the pages of Stack Exchange's dumps, of which there are millions, much faster.

Nearly all of them hold nothing but prose, formulas in containers of one shape, and short code: one
regular expression takes such a page apart. What it gives is what `mathsetu.markup.html` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mathsetu.markup.attributes import from_attribute
from mathsetu.markup.html import PLACE, clean


def _plain_element(opening: str, closing: str, quote: str, references: str) -> re.Pattern[str]:
    """A container or code, in which only some references may stand, and none at either end."""
    return re.compile(
        rf"{opening}(?:span class={quote}math-container{quote}"
        rf"(?: id={quote}([^\"<>&]*+){quote})?{closing}"
        rf"((\${{1,2}})(?![\s&])((?:[^<$&]++|{references})++)(?<![\s\\])(?<!&\#xA;)\3)"
        rf"{opening}/span{closing}"
        rf"|code{closing}(?![\s&])((?:[^<&]++|{references})++)(?<![\s;\\]){opening}/code{closing})"
    )


_IN_HTML = _plain_element("<", ">", '"', "&")
# "&amp;lt;" is "&lt;" in HTML, and that is "<" in the formula.
_IN_ATTRIBUTE = _plain_element("&lt;", "&gt;", "&quot;", r"&(?:amp|\#xA);")


# What a place holds: a formula's id, the formula with its dollars and its LaTeX, or code; None for
# what it has not. References are those of the source.
Held = tuple[Any, Any, Any, Any]


def hold_plain(source: str, *, attribute: bool = False) -> tuple[str, Iterable[Held]] | None:
    """What `mathsetu.markup.html.hold` gives, for a page that is plain; else None.

    With ``attribute``, the page is as an attribute of XML holds it: most of its references are
    those of containers and paragraphs, and need not be resolved to be understood.

    >>> text, held = hold_plain('Is <span class="math-container" id="3">$x$</span>?')
    >>> text.replace(PLACE, "_"), list(held)
    ('Is _?', [('3', '$x$', 'x', None)])
    """
    if attribute:
        pieces = _IN_ATTRIBUTE.split(source)  # text, id, written, dollars, LaTeX, code, text
        text = PLACE.join(pieces[::6]).replace("&lt;p&gt;", "\n").replace("&lt;/p&gt;", "\n")
        text = from_attribute(text.replace("&#xA;", "\n"))
    else:
        pieces = _IN_HTML.split(source)
        text = PLACE.join(pieces[::6]).replace("<p>", "\n").replace("</p>", "\n")
    if "<" in text:
        return None  # another element, or what the end of a paragraph made look like one
    text = clean(text)
    if ("$" in text or "\\" in text) and not any(pieces[4::6]):
        return None  # its formulas, if any, stand between delimiters
    return text, zip(pieces[1::6], pieces[2::6], pieces[4::6], pieces[5::6], strict=True)
