"""How a question is read while it is typed: its formulas, its language, and what was guessed."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from mathsetu.answers.values import RenderAnswer, Rendered
from mathsetu.formulas.latex.lexer import TOKEN
from mathsetu.formulas.latex.macros import may_define
from mathsetu.formulas.latex.tokens import is_composed
from mathsetu.intake.question import Question
from mathsetu.languages.table import Language, language
from mathsetu.records import Query
from mathsetu.service.pages import typeset

# Characters of a formula shown before and after the place of a warning.
_AROUND = 16


@dataclass(frozen=True)
class Guess:
    """A place of a formula where the parser had to guess, with what stands around it."""

    before: str
    at: str
    after: str
    message: str


@dataclass(frozen=True)
class Preview:
    """A question as it is read.

    ``html`` is the question with its formulas, empty where it has none and would only be
    repeated; ``devanagari`` is Hindi typed in Latin letters, in its own.
    """

    html: Markup
    language: Language
    devanagari: str
    warnings: tuple[Guess, ...]


def preview(text: str, answer: RenderAnswer, asked_in: str = "") -> Preview:
    r"""The preview of a question.

    Args:
        text: The question.
        answer: The question in pieces.
        asked_in: Its language; detected unless given.

    >>> from mathsetu.answers.describe import rendered
    >>> shown = preview(r"$\frac{a}{b$", RenderAnswer(rendered(r"$\frac{a}{b$")))
    >>> shown.warnings[0].message
    '{ is not closed'
    """
    question = Question(Query("", text, language=asked_in))
    typed = question.words.strip()
    devanagari = typed if typed and text.isascii() and not typed.isascii() else ""
    formulas = [piece for piece in answer.pieces if piece.kind == "formula"]
    html = Markup("").join(_shown(piece, text) for piece in answer.pieces if formulas)
    warnings = tuple(warning for piece in formulas for warning in _warnings(piece))
    return Preview(html, language(question.language), devanagari, warnings)


def _shown(piece: Rendered, text: str) -> Markup:
    if piece.kind == "formula":
        return typeset.framed(
            piece.mathml, piece.text, places=places(piece.text, text, piece.start)
        )
    return typeset.line([piece])


def places(latex: str, text: str, start: int) -> list[int]:
    r"""Where each symbol of a formula begins in a text, and where the last one ends.

    Symbols are numbered as the parser numbers them. What macros write, and letters that are
    taken apart, stand nowhere: then nothing is told.

    >>> places(r"\frac{a}{2}", r"so $\frac{a}{2}$", 3)[:3]
    [4, 9, 10]
    """
    offset = text.find(latex, start)
    if offset < 0 or may_define(latex) or (not latex.isascii() and is_composed(latex)):
        return []
    found = [offset + token.start() for token in TOKEN.finditer(latex)]
    return [*found, offset + len(latex)]


def _warnings(piece: Rendered) -> list[Guess]:
    latex = piece.text
    return [
        Guess(
            latex[max(at.position - _AROUND, 0) : at.position],
            latex[at.position : at.position + 1],
            latex[at.position + 1 : at.position + 1 + _AROUND],
            at.message,
        )
        for at in piece.warnings
    ]
