"""Converts texts with formulas to HTML: words are escaped, formulas are MathML of our own writer.

No other code of the pages makes markup from posts and queries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, Protocol

from markupsafe import Markup, escape

from mathsetu.formulas.mathml import write_mathml
from mathsetu.formulas.parse import parse_latex
from mathsetu.markup.blocks import begins_block

_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
# Ids would occur several times on a page. The page's security policy forbids style attributes;
# formulas.css has a rule for each style that the writer uses. Quotes inside values are escaped, so
# that neither pattern can match in the text of a formula.
_ID = re.compile(r' id="[^"]*"')
_STYLE = ' style="'
_MATCHED = re.compile(r'data-symbol="(\d+)" class="matched"')
_MATH_END = "</math>"
# Closing punctuation and brackets stay on the line of the formula before them.
_CLOSING = re.compile(r"[,.;:!?…)\]»”’।،؛؟]+")


class Piece(Protocol):
    """A piece of a text as the engine gives it."""

    @property
    def kind(self) -> Literal["text", "formula", "code"]:
        """The kind of the piece."""
        ...

    @property
    def text(self) -> str:
        """The words, the code, or the LaTeX."""
        ...

    @property
    def display(self) -> bool:
        """Whether a formula has its own line."""
        ...


@dataclass(frozen=True)
class Coloured:
    """The coloured parts of a text: words, and symbols of formulas by their numbers.

    ``words_as``, if given, formats the words of a text instead.
    """

    words: Collection[str] = ()
    symbols: Mapping[str, Collection[int]] = field(default_factory=dict)
    words_as: Callable[[str], Markup] | None = None


def for_page(mathml: str) -> Markup:
    """MathML of our own writer, adapted to a page.

    >>> for_page('<math><mtd style="text-align:left" id="formula-0"></mtd></math>')
    Markup('<math><mtd data-style="text-align:left"></mtd></math>')
    """
    return Markup(_ID.sub("", mathml).replace(_STYLE, ' data-style="'))  # noqa: S704


def formula(
    latex: str, *, display: bool = False, symbols: Collection[int] = (), after: str = ""
) -> Markup:
    """One formula, with its LaTeX as an attribute so that it can be copied.

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
    """MathML of our own writer, in the element that contains each formula of a page.

    Args:
        mathml: The formula.
        latex: Its source.
        display: Whether it has its own line.
        places: The positions of its symbols in the box, for the preview.
        hues: Colours of matched symbols that differ from the colour of the others.
        after: The punctuation that stays on its line.
    """
    kind = "formula display" if display else "formula"
    if hues:
        mathml = _MATCHED.sub(lambda found: _in_hue(found, hues), mathml)
    if after and display:
        # Nothing can follow a formula on its own line, so the mark goes into the MathML.
        mathml = mathml.removesuffix(_MATH_END) + f"<mtext>{escape(after)}</mtext>{_MATH_END}"
        after = ""
    known = Markup(' data-places="{}"').format(" ".join(map(str, places))) if places else ""
    shown = Markup('<span class="{}" dir="ltr" data-latex="{}"{}>{}</span>').format(
        kind, latex, known, for_page(mathml)
    )
    # The mark is outside the formula: it follows the direction of the text.
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
    """Words without the punctuation that was moved to the formula before them."""

    text: str
    kind: Literal["text", "formula", "code"] = "text"
    display: bool = False


def _closed(pieces: Iterable[Piece]) -> Iterator[tuple[Piece, str]]:
    """Each piece, and for formulas the punctuation that directly follows."""
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


def with_breaks(pieces: Iterable[Piece]) -> Iterator[Piece]:
    r"""The pieces of a text with a blank line before each item of a list and each row of a table.

    >>> from mathsetu.answers.values import Piece
    >>> pieces = [Piece("text", "It is\nso.\n1. "), Piece("formula", "x"), Piece("text", "\n2. y")]
    >>> [piece.text for piece in with_breaks(pieces)]
    ['It is\nso.\n\n1. ', 'x', '\n\n2. y']
    """
    pieces = list(pieces)
    whole = "".join(piece.text if piece.kind == "text" else "x" for piece in pieces)
    ends = iter(pairwise(whole.split("\n")))
    for piece in pieces:
        if piece.kind != "text" or "\n" not in piece.text:
            yield piece
            continue
        first, *rest = piece.text.split("\n")
        parts = [first]
        for part in rest:
            before, line = next(ends)
            parts.append(f"\n\n{part}" if begins_block(line, before) else f"\n{part}")
        yield _Text("".join(parts))


def paragraphs(pieces: Iterable[Piece], coloured: Coloured | None = None) -> Markup:
    r"""Pieces of a text in paragraphs, which blank lines separate, as well as `with_breaks`.

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

    for piece, after in _closed(with_breaks(pieces)):
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
    # Combining vowel signs belong to words, but \w does not match them.
    found = re.split(rf"(?i)(?<![\w\u0900-\u097f])({pattern})(?![\w\u0900-\u097f])", text)
    marked = (
        Markup("<mark>{}</mark>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(found)
    )
    return Markup("").join(marked)
