"""Restores the accents of words that were typed without them.

Lexical search ignores accents, but the encoder reads the text as written and does not recognise
*ecuacion*. A word gets its accents back if the glossary and the function words of its language
have only one spelling for it; all other words stay unchanged.

>>> with_accents("raices de una ecuacion", "es"), with_accents("prvocislo a delitel", "cs")
('raíces de una ecuación', 'prvočíslo a dělitel')
"""

from __future__ import annotations

import re
from functools import cache

from mathsetu.languages.glossary import Glossary
from mathsetu.languages.normalise import fold
from mathsetu.languages.table import language

_WORD = re.compile(r"\b[A-Za-z]{3,}\b")
_LETTERS = re.compile(r"[^\W\d_]+")


def with_accents(text: str, code: str) -> str:
    """Return a text with the accents of its language.

    A text that has accents stays unchanged: they are assumed to be complete.
    """
    if not text.isascii():
        return text
    spelt = _accented(code)
    return _WORD.sub(lambda word: _with_capitals(spelt.get(word[0].lower(), ""), word[0]), text)


def _with_capitals(spelt: str, typed: str) -> str:
    """Return a spelling with the capitals of the typed word; the typed word if it is empty."""
    if not spelt:
        return typed
    if typed.isupper():
        return spelt.upper()
    return spelt.capitalize() if typed[0].isupper() else spelt


@cache
def _accented(code: str) -> dict[str, str]:
    """Map words without accents to their accented spelling, if that is unique."""
    forms = (form for concept in Glossary.load() for form in concept.forms.get(code, ()))
    words = {word.lower() for form in forms for word in _LETTERS.findall(form)}
    words |= language(code).stop_words
    spellings: dict[str, set[str]] = {}
    for word in words:
        spellings.setdefault(fold(word), set()).add(word)
    return {
        plain: next(iter(found))
        for plain, found in spellings.items()
        if len(found) == 1 and plain not in found
    }
