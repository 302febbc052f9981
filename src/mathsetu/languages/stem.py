"""Stemmers by name: those of Snowball, and a light stemmer for Croatian.

Snowball (PyStemmer) has stemmers for English (``english``, or the older ``porter``) and many other
languages of the table, but not for Croatian. Endings of plurals that it does not conflate with the
singular are normalised first (`endings.py`). Arabic words arrive in the normalised spelling of
Arabic script, which is the Persian one, and are converted to Arabic spelling for stemming.

>>> stemmer("porter")("integrals"), stemmer("none")("integrals")
('integr', 'integrals')
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from mathsetu.errors import InputError
from mathsetu.languages import croatian
from mathsetu.languages.endings import ENDINGS, normalise_ending

Stem = Callable[[str], str]


def _same(word: str) -> str:
    return word


_LONG = 5
_TO_ARABIC = str.maketrans("یک", "يك")
_FROM_ARABIC = str.maketrans("يىئكةأإآؤ", "یییکهاااو", "ء")


def _arabic(word: str) -> str:
    written = word.translate(_TO_ARABIC)
    if written.endswith("ه"):  # nearly always the ending teh marbuta
        written = f"{written[:-1]}ة"
    if written.startswith("وال"):  # "and the": Snowball removes only the article
        written = written[1:]
    if written.endswith("ات") and not written.startswith("ال") and len(written) > _LONG:
        written = written[:-2]  # a plural, which Snowball removes only after the article
    stem = _snowball("arabic")(written)
    return stem.translate(_FROM_ARABIC)


def _with_usual_endings(name: str) -> Stem:
    return lambda word: _snowball(name)(normalise_ending(word, name))


_OWN: dict[str, Stem] = {
    "none": _same,
    "croatian": croatian.stem,
    "arabic": _arabic,
    **{name: _with_usual_endings(name) for name in ENDINGS},
}


@cache
def stemmer(name: str) -> Stem:
    """Return the stemmer of this name.

    Raises:
        InputError: When the name is unknown; the message lists the known names.
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
