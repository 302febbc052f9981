"""Example questions, one in each fully supported language: words, formulas, and both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from mathsetu.answers.describe import pieces
from mathsetu.languages.table import LANGUAGES, Language
from mathsetu.service.pages import typeset

_QUESTIONS = {
    "hi": r"समाकल $\int_0^\infty \frac{\sin t}{t}\,dt$ का मान",
    "en": r"angle of a triangle from its three sides $x^2=y^2+z^2-2yz\cos X$",
    "es": r"¿por qué $(1+\frac{r}{n})^{nt}$ tiende a $e^{rt}$?",
    "fa": r"مجموع سری هندسی $1+q+q^2+\cdots=\frac{1}{1-q}$",
    "cs": r"prvočísel je nekonečně mnoho",
    "hr": r"$\sum_{i=1}^{m} i=\frac{m(m+1)}{2}$ zbroj prirodnih brojeva",
    "ne": r"$?a^2+?b^2=?c^2$ समकोण त्रिभुज",
}


@dataclass(frozen=True)
class Example:
    """An example question; a click searches for it."""

    text: str
    language: Language
    html: Markup


@cache
def examples() -> tuple[Example, ...]:
    """All examples.

    >>> {example.language.code for example in examples()} == set(LANGUAGES)
    True
    """
    return tuple(
        Example(text, LANGUAGES[code], typeset.line(pieces(text)))
        for code, text in _QUESTIONS.items()
    )
