"""A fast path for the HTML of Stack Exchange dumps, which contain millions of texts.

Nearly all of these texts have only prose, formulas in one kind of container and short code, so one
regular expression can split them. The result is the same as that of `mathsetu.markup.html`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mathsetu.markup.attributes import from_attribute
from mathsetu.markup.html import PLACE, clean


def _plain_element(opening: str, closing: str, quote: str, references: str) -> re.Pattern[str]:
    """Return a pattern for a container or code with only these references, and none at its ends."""
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


# The content of a `PLACE`: a formula's id, the formula with dollars, its LaTeX; or code as the last
# item. Missing items are None. Character references are not resolved.
Extracted = tuple[Any, Any, Any, Any]


def extract_elements_fast(
    source: str, *, attribute: bool = False
) -> tuple[str, Iterable[Extracted]] | None:
    """Return the result of `mathsetu.markup.html.hold` for a plain page; None for other pages.

    With ``attribute``, the page is the encoded value of an XML attribute. Most of its references
    belong to containers and paragraphs, and are matched without being resolved.

    >>> text, held = extract_elements_fast('Is <span class="math-container" id="3">$x$</span>?')
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
        return None  # there is another element, or text that looks like one
    text = clean(text)
    if ("$" in text or "\\" in text) and not any(pieces[4::6]):
        return None  # there may be formulas between delimiters
    return text, zip(pieces[1::6], pieces[2::6], pieces[4::6], pieces[5::6], strict=True)
