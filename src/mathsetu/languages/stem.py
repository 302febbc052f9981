"""Stemmers by name: Snowball's, and a light one of our own for Croatian.

Snowball (PyStemmer) serves English (``english``, or the older ``porter``) and most other languages
of the table. It has none for Croatian. Where it leaves plurals apart from their singulars, these
endings are written alike first (`endings.py`). Arabic words come in the one spelling that Arabic
script has here, which is Persian, and are stemmed in their own.

>>> stemmer("porter")("integrals"), stemmer("none")("integrals")
('integr', 'integrals')
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from mathsetu.errors import InputError
from mathsetu.languages import croatian
from mathsetu.languages.endings import ENDINGS, usual_ending

Stem = Callable[[str], str]


def _same(word: str) -> str:
    return word


_LONG = 5
_TO_ARABIC = str.maketrans("یک", "يك")
_FROM_ARABIC = str.maketrans("يىئكةأإآؤ", "یییکهاااو", "ء")


def _arabic(word: str) -> str:
    written = word.translate(_TO_ARABIC)
    if written.endswith("ه"):  # nearly always teh marbuta, which is an ending
        written = f"{written[:-1]}ة"
    if written.startswith("وال"):  # "and the": Snowball takes the article alone
        written = written[1:]
    if written.endswith("ات") and not written.startswith("ال") and len(written) > _LONG:
        written = written[:-2]  # a plural, which Snowball sees after the article only
    stem = _snowball("arabic")(written)
    return stem.translate(_FROM_ARABIC)


def _with_usual_endings(name: str) -> Stem:
    return lambda word: _snowball(name)(usual_ending(word, name))


_OWN: dict[str, Stem] = {
    "none": _same,
    "croatian": croatian.stem,
    "arabic": _arabic,
    **{name: _with_usual_endings(name) for name in ENDINGS},
}


@cache
def stemmer(name: str) -> Stem:
    """The stemmer of that name.

    Raises:
        InputError: When there is none; the message lists those that exist.
    """
    name = "english" if name == "snowball" else name
    return _OWN[name] if name in _OWN else _snowball(name)


@cache
def _snowball(name: str) -> Stem:
    import Stemmer  # type: ignore[import-not-found]  # a compiled module without stubs

    if name not in Stemmer.algorithms():
        known = ", ".join(sorted({"snowball", *_OWN, *Stemmer.algorithms()}))
        raise InputError(f"unknown stemmer {name!r} (known: {known})")
    stem: Stem = Stemmer.Stemmer(name, maxCacheSize=0).stemWord
    return stem
