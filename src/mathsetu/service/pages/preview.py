"""The preview of a question while it is typed: formulas, language, and warnings of the parser."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from mathsetu.answers.describe import rendered_spans
from mathsetu.answers.values import Rendered
from mathsetu.formulas.latex.lexer import TOKEN
from mathsetu.formulas.latex.macros import may_define
from mathsetu.formulas.latex.tokens import is_composed
from mathsetu.intake.question import Question, is_delimited
from mathsetu.languages.table import ROWS, Grade, Language, language, language_name
from mathsetu.service.pages import typeset
from mathsetu.service.pages.interface_language import Interface

# Characters of a formula shown before and after the place of a warning.
_AROUND = 16
# The key of the page's text about a grade; full support needs none.
_GRADED: dict[Grade, str] = {
    "full": "",
    "good": "preview.served_good",
    "basic": "preview.served_basic",
    "formulas only": "preview.not_served",
}


# Patterns of parser messages, with the keys of the page's texts; a group captures the symbol.
_WARNINGS = tuple(
    (re.compile(pattern), key)
    for pattern, key in (
        (r"(?P<what>.+) is not closed", "warning.unclosed"),
        (r"(?P<what>.+) (?:closes nothing|has no .+|without its .+)", "warning.alone"),
        (r"an argument is missing", "warning.argument"),
        (r"(?P<what>.+) twice in one group", "warning.twice"),
        (r"(?:unknown \w+|unreadable character) (?P<what>.+)", "warning.unknown"),
        (r"(?P<what>.+) is not a bracket", "warning.unknown"),
        (r"macros expand to too much.*", "warning.long"),
    )
)


@dataclass(frozen=True)
class Guess:
    """A warning of the parser, with the text around its place."""

    before: str
    at: str
    after: str
    message: Markup


@dataclass(frozen=True)
class Preview:
    """How a question is interpreted.

    ``html`` is the question with typeset formulas; empty if it has none and would only be
    repeated. ``devanagari`` is the script form of Hindi typed in Latin letters. ``languages`` are
    the names of all languages that it is read in. ``graded`` is the key of the text about a
    language that is not fully supported, and ``graded_language`` its name. ``is_found`` is true if
    a formula was found without delimiters.
    """

    html: Markup
    language: Language
    languages: tuple[str, ...]
    devanagari: str
    warnings: tuple[Guess, ...]
    graded: str = ""
    graded_language: str = ""
    is_found: bool = False


def preview(question: Question, interface: Interface) -> Preview:
    r"""The preview of a question, in the language of the page.

    >>> from mathsetu.intake.question import typed_question
    >>> from mathsetu.service.pages.interface_language import interface
    >>> shown = preview(typed_question(r"$\frac{a}{b$"), interface("es"))
    >>> shown.warnings[0].message
    Markup('<bdi dir="ltr">{</bdi> no está cerrado')
    """
    text, spans = question.written, question.reading
    typed = question.words.strip()
    is_hindi = typed and question.marked.words.isascii() and not typed.isascii()
    pieces = rendered_spans(spans)
    formulas = [piece for piece in pieces if piece.kind == "formula"]
    html = Markup("").join(
        _shown(piece, text, piece.start + len(span.raw))
        for piece, span in zip(pieces, spans, strict=True)
        if formulas
    )
    code = question.language
    row = language(code)
    is_english = interface.language.code == "en"
    return Preview(
        html,
        row,
        tuple(language(one).own_name for one in question.languages if one),
        typed if is_hindi else "",
        tuple(warning for piece in formulas for warning in _warnings(piece, interface)),
        _GRADED[row.grade] if code else "",
        language_name(code) if is_english or code not in ROWS else row.own_name,
        any(span.kind == "formula" and not is_delimited(span) for span in spans),
    )


def _shown(piece: Rendered, text: str, end: int) -> Markup:
    if piece.kind == "formula":
        found = places(piece.text, text, piece.start, end)
        shown = typeset.framed(piece.mathml, piece.text, places=found)
        # For the formula editor: where the formula is in the box, with its delimiters.
        return Markup('<span data-span="{} {}">{}</span>').format(piece.start, end, shown)
    return typeset.line([piece])


def places(latex: str, text: str, start: int, end: int | None = None) -> list[int]:
    r"""Where each symbol of a formula begins in a text, and where the last one ends.

    Symbols are numbered as in the parser. The list is empty if places are not known: with macros,
    with composed characters that are decomposed, and for formulas not typed as LaTeX.

    >>> places(r"\frac{a}{2}", r"so $\frac{a}{2}$", 3)[:3]
    [4, 9, 10]
    """
    offset = text.find(latex, start, end)
    if offset < 0 or may_define(latex) or (not latex.isascii() and is_composed(latex)):
        return []
    found = [offset + token.start() for token in TOKEN.finditer(latex)]
    return [*found, offset + len(latex)]


def _warnings(piece: Rendered, interface: Interface) -> list[Guess]:
    latex = piece.text
    return [
        Guess(
            latex[max(at.position - _AROUND, 0) : at.position],
            latex[at.position : at.position + 1],
            latex[at.position + 1 : at.position + 1 + _AROUND],
            in_words(at.message, interface),
        )
        for at in piece.warnings
    ]


def in_words(message: str, interface: Interface) -> Markup:
    """A warning of the parser, in the language of the page."""
    for pattern, key in _WARNINGS:
        found = pattern.fullmatch(message)
        if found:
            signs = {
                name: Markup('<bdi dir="ltr">{}</bdi>').format(sign)
                for name, sign in found.groupdict().items()
            }
            return escape(interface.texts[key]).format(**signs)
    return Markup('<span lang="en" dir="ltr">{}</span>').format(message)
