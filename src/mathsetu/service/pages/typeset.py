"""Texts with formulas as HTML: words escaped, formulas as MathML of our own writer.

Nothing else on a page makes markup out of what comes from posts and queries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from markupsafe import Markup, escape

from mathsetu.formulas.mathml import write_mathml
from mathsetu.formulas.parse import parse_latex

_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
# Ids would stand on a page several times. The page's security policy forbids style attributes;
# formulas.css has a rule for each that the writer knows. A quote inside a value is escaped, so
# that neither pattern can begin in a formula's own text.
_ID = re.compile(r' id="[^"]*"')
_STYLE = ' style="'
_MATCHED = re.compile(r'data-symbol="(\d+)" class="matched"')
_MATH_END = "</math>"
# What closes a sentence or a bracket stays on the line of the formula before it.
_CLOSING = re.compile(r"[,.;:!?…)\]»”’।،؛؟]+")


class Piece(Protocol):
    """A piece of a text as the engine gives it."""

    @property
    def kind(self) -> Literal["text", "formula", "code"]:
        """What it is."""
        ...

    @property
    def text(self) -> str:
        """The words, the code, or the LaTeX."""
        ...

    @property
    def display(self) -> bool:
        """Whether a formula stands on a line of its own."""
        ...


@dataclass(frozen=True)
class Coloured:
    """What is coloured in a text: words, and symbols of formulas by their numbers.

    ``words_as`` writes the words of a text in another way altogether.
    """

    words: Collection[str] = ()
    symbols: Mapping[str, Collection[int]] = field(default_factory=dict)
    words_as: Callable[[str], Markup] | None = None


def for_page(mathml: str) -> Markup:
    """MathML of our own writer as it stands on a page.

    >>> for_page('<math><mtd style="text-align:left" id="formula-0"></mtd></math>')
    Markup('<math><mtd data-style="text-align:left"></mtd></math>')
    """
    return Markup(_ID.sub("", mathml).replace(_STYLE, ' data-style="'))  # noqa: S704


def formula(
    latex: str, *, display: bool = False, symbols: Collection[int] = (), after: str = ""
) -> Markup:
    """One formula, which knows its LaTeX so that it can be copied.

    >>> formula('"<x') # doctest: +ELLIPSIS
    Markup('<span class="formula" dir="ltr" data-latex="&#34;&lt;x"><math ...</math></span>')
    """
    mathml = write_mathml(parse_latex(latex).layout, highlight=symbols, display=display)
    return framed(mathml, latex, display=display, after=after)


def framed(
    mathml: str,
    latex: str,
    *,
    display: bool = False,
    places: Iterable[int] = (),
    hues: Mapping[int, int] | None = None,
    after: str = "",
) -> Markup:
    """MathML of our own writer in the element that all formulas of a page stand in.

    Args:
        mathml: The formula.
        latex: Its source.
        display: Whether it stands on a line of its own.
        places: Where its symbols stand in the box, for the preview.
        hues: Colours of matched symbols that differ from the colour of the others.
        after: The punctuation that stays on its line.
    """
    kind = "formula display" if display else "formula"
    if hues:
        mathml = _MATCHED.sub(lambda found: _in_hue(found, hues), mathml)
    if after and display:
        # Beside a formula that has a line of its own there is nothing but the formula itself.
        mathml = mathml.removesuffix(_MATH_END) + f"<mtext>{escape(after)}</mtext>{_MATH_END}"
        after = ""
    known = Markup(' data-places="{}"').format(" ".join(map(str, places))) if places else ""
    shown = Markup('<span class="{}" dir="ltr" data-latex="{}"{}>{}</span>').format(
        kind, latex, known, for_page(mathml)
    )
    # The mark stands outside the formula: it goes the way of the text, which may be to the left.
    return Markup('<span class="closed">{}{}</span>').format(shown, after) if after else shown


def _in_hue(found: re.Match[str], hues: Mapping[int, int]) -> str:
    hue = hues.get(int(found[1]))
    return f'{found[0][:-1]} hue-{hue}"' if hue else found[0]


def line(pieces: Iterable[Piece], coloured: Coloured | None = None) -> Markup:
    """Pieces of a text in one line, as in titles and snippets.

    >>> from mathsetu.answers.values import Piece
    >>> line([Piece("text", "a <b>bold</b> claim")], Coloured(words=["claim"]))
    Markup('a &lt;b&gt;bold&lt;/b&gt; <mark>claim</mark>')
    """
    return Markup("").join(
        _inline(piece, coloured or Coloured(), after) for piece, after in _closed(pieces)
    )


@dataclass(frozen=True)
class _Text:
    """Words without the punctuation that went to the formula before them."""

    text: str
    kind: Literal["text", "formula", "code"] = "text"
    display: bool = False


def _closed(pieces: Iterable[Piece]) -> Iterator[tuple[Piece, str]]:
    """Each piece with the punctuation that follows it at once, where it is a formula."""
    before: Piece | None = None
    for piece in pieces:
        closing = None
        if before is not None:
            closing = _CLOSING.match(piece.text) if piece.kind == "text" else None
            yield before, closing[0] if closing else ""
            before = None
        if piece.kind == "formula":
            before = piece
        else:
            yield (_Text(piece.text[closing.end() :]) if closing else piece), ""
    if before is not None:
        yield before, ""


def paragraphs(pieces: Iterable[Piece], coloured: Coloured | None = None) -> Markup:
    r"""Pieces of a text in paragraphs, which blank lines separate.

    >>> from mathsetu.answers.values import Piece
    >>> paragraphs([Piece("text", "One.\n\nTwo."), Piece("code", "x = 1\ny = 2")])
    Markup('<p>One.</p><p>Two.</p><pre><code>x = 1\ny = 2</code></pre>')
    """
    blocks: list[Markup] = []
    current: list[Markup] = []

    def close() -> None:
        if any(part.strip() for part in current):
            blocks.append(Markup("<p>{}</p>").format(Markup("").join(current)))
        current.clear()

    for piece, after in _closed(pieces):
        if piece.kind == "code" and "\n" in piece.text:
            close()
            blocks.append(Markup("<pre><code>{}</code></pre>").format(piece.text.strip("\n")))
        elif piece.kind == "text":
            for number, part in enumerate(_BLANK_LINE.split(piece.text)):
                if number:
                    close()
                current.append(_words(part, coloured or Coloured()))
        else:
            current.append(_inline(piece, coloured or Coloured(), after))
    close()
    return Markup("").join(blocks)


def _inline(piece: Piece, coloured: Coloured, after: str) -> Markup:
    if piece.kind == "formula":
        symbols = coloured.symbols.get(piece.text, ())
        return formula(piece.text, display=piece.display, symbols=symbols, after=after)
    if piece.kind == "code":
        return Markup("<code>{}</code>").format(piece.text)
    return _words(piece.text, coloured)


def _words(text: str, coloured: Coloured) -> Markup:
    if coloured.words_as is not None:
        return coloured.words_as(text)
    if not coloured.words:
        return escape(text)
    longest_first = sorted(coloured.words, key=len, reverse=True)
    pattern = "|".join(re.escape(word) for word in longest_first if word)
    # Combining vowel signs belong to words, but are no letters to the expression's \w.
    found = re.split(rf"(?i)(?<![\w\u0900-\u097f])({pattern})(?![\w\u0900-\u097f])", text)
    marked = (
        Markup("<mark>{}</mark>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(found)
    )
    return Markup("").join(marked)
