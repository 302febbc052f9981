"""Normalises the labels of nodes to types, so that the forms of a word share a type.

Words are stemmed (Porter for Latin letters), compatibility forms of letters become plain letters,
a URL becomes ``[URL]``, and a placeholder loses its number. The sense number ``-01`` of a frame is
removed: ``prove-01`` of a parser and the concept ``prove`` of the glossary, which Hindi and
Persian sentences also use, are one type. Symbols of formulas keep their fonts, because ℝ is not R;
only italics are removed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from mathsetu.formulas.labels import normalise_label
from mathsetu.graphs.graph import PLACEHOLDER
from mathsetu.languages.normalise import fold, normalise
from mathsetu.languages.stem import stemmer

URL = "[URL]"
#: The types of integers, decimals and fractions that are too rare for their own type.
UNKNOWN_NUMBERS = ("[UNKNUM_INT]", "[UNKNUM_DEC]", "[UNKNUM_RAT]")
#: The type of every placeholder.
FORMULA_TYPE = PLACEHOLDER.rstrip("_")

_NUMBER = re.compile(
    r"(?:N!)?[-+−]?(?:(?P<whole>\d++(?:,\d{3})*+)|\d++\s*+/\s*+\d++|(?P<decimal>(?=[.,]*+\d)"
    r"[\d.,]++(?:[eE][-+−]?\d++)?))"
)
_SYMBOL = re.compile(r".{1,2}!")
_PLACEHOLDER = re.compile(rf"{PLACEHOLDER}\d+")
_FIRST_SENSE = re.compile(r"(?<=\w)-01\Z")
_SCRIPT_STEMMERS = (
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0600-\u06ff]"), "persian"),
)


@lru_cache(maxsize=1 << 17)
def node_type(label: str) -> str:
    """Return the type of a node with this label.

    >>> [node_type(label) for label in ("integrals", "prove-01", "go-02", "FORMULA_7", "V!𝑥")]
    ['integr', 'prove', 'go-02', 'FORMULA', 'V!x']
    >>> node_type("http://example.org/a"), node_type("ﬁnite"), node_type("संख्याओं")
    ('[URL]', 'finit', 'संख्य')
    """
    if not label.isascii():
        # Lone surrogates become question marks, as when graphs are written.
        label = label.encode("utf-8", "replace").decode()
    if _SYMBOL.match(label):
        return normalise_label(unicodedata.normalize("NFC", label))
    if _PLACEHOLDER.fullmatch(label):
        return FORMULA_TYPE
    if "http" in label or "www." in label:
        return URL
    word = normalise(unicodedata.normalize("NFKC", label)).strip()
    if not any(map(str.isalpha, word)):
        return word or label
    word = _FIRST_SENSE.sub("", word)
    for letters, name in _SCRIPT_STEMMERS:
        if letters.search(word):
            return fold(stemmer(name)(word))
    return stemmer("porter")(fold(word))


def unknown_number(kind: str) -> str:
    """Return the type that replaces a rare number; empty if the type is not a number.

    >>> [unknown_number(kind) for kind in ("1729", "N!2.718", "1e-9", "N!355/113", "V!x")]
    ['[UNKNUM_INT]', '[UNKNUM_DEC]', '[UNKNUM_DEC]', '[UNKNUM_RAT]', '']
    """
    number = _NUMBER.fullmatch(kind)
    if number is None:
        return ""
    whole, decimal, rational = UNKNOWN_NUMBERS
    if number["whole"]:
        return whole
    return decimal if number["decimal"] else rational
