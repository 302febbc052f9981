"""Stemmers by name: Snowball's, and a light one of our own for Croatian.

Snowball (PyStemmer) serves English (``english``, or the older ``porter``), Spanish, Czech, Hindi,
Persian and Nepali. It has none for Croatian.

>>> stemmer("porter")("integrals"), stemmer("none")("integrals")
('integr', 'integrals')
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from mathsetu.errors import InputError
from mathsetu.languages import croatian

Stem = Callable[[str], str]


def _same(word: str) -> str:
    return word


_OWN: dict[str, Stem] = {"none": _same, "croatian": croatian.stem}


@cache
def stemmer(name: str) -> Stem:
    """The stemmer of that name.

    Raises:
        InputError: When there is none; the message lists those that exist.
    """
    if name in _OWN:
        return _OWN[name]
    import Stemmer  # type: ignore[import-not-found]  # a compiled module without stubs

    if name == "snowball":
        name = "english"
    if name not in Stemmer.algorithms():
        known = ", ".join(sorted({"snowball", *_OWN, *Stemmer.algorithms()}))
        raise InputError(f"unknown stemmer {name!r} (known: {known})")
    stem: Stem = Stemmer.Stemmer(name, maxCacheSize=0).stemWord
    return stem
