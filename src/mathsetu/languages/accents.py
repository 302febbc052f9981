"""Puts back the accents of words that were typed without any.

Words of posts and queries meet without accents, but the encoder reads a text as it is written, and
*ecuacion* is not a word that it has met. What the glossary and the function words of a language
spell in one way only is spelt so again; all other words stay as they are.

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
    """A text with the accents of its language.

    A text that has some is left as it is: whoever typed it put them where they belong.
    """
    if not text.isascii():
        return text
    spelt = _accented(code)
    return _WORD.sub(lambda word: _with_capitals(spelt.get(word[0].lower(), ""), word[0]), text)


def _with_capitals(spelt: str, typed: str) -> str:
    """A spelling with the capitals of what was typed; that itself where there is no spelling."""
    if not spelt:
        return typed
    if typed.isupper():
        return spelt.upper()
    return spelt.capitalize() if typed[0].isupper() else spelt


@cache
def _accented(code: str) -> dict[str, str]:
    """Words without their accents, each with the only spelling that its language has for it."""
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
