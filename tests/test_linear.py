"""Time grows at most linearly with the input, whatever is repeated in it."""

from collections.abc import Callable
from functools import partial
from typing import Final

import pytest

from mathsetu.collections.documents.page_content import page_content
from mathsetu.collections.documents.script_macros import script_macros
from mathsetu.collections.documents.sections import sections
from mathsetu.collections.documents.tex_expansion import expand
from mathsetu.collections.trec import parse_score
from mathsetu.errors import MathSetuError
from mathsetu.formulas import parse_latex
from mathsetu.formulas.features import features
from mathsetu.formulas.infix import infix
from mathsetu.formulas.latex.boxes import Box
from mathsetu.formulas.latex.brackets import fold_bars
from mathsetu.formulas.latex.symbols import BRACKETS, SIGNS
from mathsetu.formulas.mathml import read_content, read_presentation, write_mathml
from mathsetu.formulas.notation import read_tree
from mathsetu.formulas.numeric import labels_with_values, value_labels
from mathsetu.graphs.penman.mathamr import read_mathamr
from mathsetu.graphs.penman.reading import read_penman
from mathsetu.graphs.text import mask_sentences
from mathsetu.languages.analyze import analyze
from mathsetu.languages.detect import detect
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.mask import mask, unmask
from mathsetu.languages.sentences import clauses, sentences
from mathsetu.languages.transliterate import itrans, romanise
from mathsetu.markup import snippet, split, to_marked_text
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.delimiters import has_lone_dollar
from mathsetu.markup.mathml import mathml_to_latex
from mathsetu.markup.pages import clean_page
from mathsetu.markup.wikitext import sections as wiki_sections
from mathsetu.printable import one_line
from tests.timing import assert_grows_at_most

FORMULAS: Final = r"""
    ( ) [ ] { } () {} | |x x| || \| \|x ^ _ ^{ _{ ^x _x x^ x^2 ' x' {}_n {}^ \frac \frac{ \frac12
    \sqrt \sqrt[ \left( \right) \left|x \left\{ \begin{matrix} \begin{matrix}&\\ \end{matrix}
    \begin{cases}a&b\\ \begin{array}{c} \begin{array}{ \begin & a& \\ \\[ \over a\over \choose
    \def\a{\a} \def\a{\a\a}\a \newcommand{\a}[9]{#1#2} \newcommand \let\a\b \text{ \text{a} \text{$
    \mathbf{ \mathbf \bf \rm \not \not= \operatorname{ \substack{ \overset{a} \stackrel \hat \hat{
    1 1, 1{,}000 1\, .. . , x, = x= + x+ - a/b < > ! !! : := \sum \sum_ \int \sin \log_ \mid
    \Rightarrow a=b, \quad \, ~ &amp; &# ? ?a #1 ² ½ √ √( 𝐱 ٣ é
""".split()
PROSE: Final = [
    *r"$ $$ $x $x$ \( \) \[ \] \\ \$ $5 { } \begin{align} \end{align} \verb| \section{ %".split(),
    *"< > <div> </div> <div <!-- --> <![CDATA[ <? </ <p> <li> <code> <pre> <math> <script>".split(),
    *"&amp; &lt; &# &#x &a ` `a ~~~ [ ]( [a]( ![ [[ ] * ** *a _a __ > # | |a a_".split(),
    '<a href="', '<span class="math-container">', '<span class="math-container">$', "`` ` ",
    "<td> ", "</td> <td> ", "<ol><li>", r"\$ ", r"\$\frac ",
    "```\n", "> ", "- ", "- a\n", "1. ", "# a\n", "a\n=\n", "---\n", "|a|b|\n|-|-|\n", "[a]: b\n",
    "$x$ ", "a ", "a. ", "A. ", "! ", "QZ1 ", "qz", "\n", "\n\n", " ", "\t", "\x1b", "\0",
    "e\u0301", "\u0301", "\u200d", "\u093f", "क्", "क ", "ا ", "中", "\ue000", "\ue0001\ue001",
    "prime number ", "अभाज्य संख्या ", "(a / b :c ", "(a / b) ", '"', ":c ", "~1",
    "[V!x,n", "[V!x]", "0[", "V!x,",
]  # fmt: skip


def _trees(latex: str) -> None:
    parsed = parse_latex(latex)
    features(parsed.slt, parsed.opt)
    value_labels(parsed.opt)
    labels_with_values(parsed.opt)
    infix(parsed.opt)
    write_mathml(parsed.layout)


def _refusing(read: Callable[[str], object]) -> Callable[[str], object]:
    def reads(text: str) -> object:
        try:
            return read(text)
        except (MathSetuError, ValueError) as refused:
            return refused

    return reads


READERS: Final[dict[str, Callable[[str], object]]] = {
    **{f"split {form}": lambda text, form=form: split(text, form)
       for form in ("text", "markdown", "latex", "html")},
    **{f"to_marked_text {form}": lambda text, form=form: to_marked_text(text, form)
       for form in ("text", "markdown", "latex", "html")},
    "lone dollar": has_lone_dollar,
    "attribute": _refusing(lambda text: text_and_formulas(text, "attribute", "7", "body")),
    "sections": lambda text: [list(sections(text, form)) for form in ("markdown", "html")],
    "tex expansion": lambda text: expand(text, "a.tex", lambda name, origin: None),
    "pages": lambda text: (clean_page(text), mathml_to_latex(text)),
    "page content": lambda text: page_content(text, "a | b"),
    "script macros": lambda text: script_macros(f"<script>MathJax {text}</script>{text}"),
    "wikitext": lambda text: list(wiki_sections(text)),
    "detect": detect,
    "analyze": lambda text: [analyze(text, code) for code in ("en", "hi", "fa", "hr")],
    "mask": lambda text: unmask(mask(text).text, mask(text)),
    "transliterate": lambda text: (itrans(text), romanise(text)),
    "sentences": lambda text: (sentences(text), clauses(text), mask_sentences(text)),
    "glossary": lambda text: Glossary.load().match(text, "en"),
    "snippet": lambda text: snippet(text, 200, len(text) // 2),
    "presentation": _refusing(lambda text: read_presentation(f"<math>{text}</math>")),
    "content": _refusing(lambda text: read_content(f"<math><apply>{text}</apply></math>")),
    "penman": _refusing(lambda text: read_penman(f"(a / b {text}")),
    "mathamr": _refusing(lambda text: read_mathamr(f"(a / b {text})")),
    "notation": _refusing(read_tree),
    "one_line": one_line,
}  # fmt: skip


def assert_linear(read: Callable[[str], object], piece: str, size: int, after: str = "") -> None:
    """Check that four times the input takes at most eight times as long (16 if quadratic)."""
    small, large = (
        partial(read, piece * max(1, length // len(piece)) + after) for length in (size, 4 * size)
    )
    assert_grows_at_most(8, small, large, unnoticed=0.0125)


@pytest.mark.thorough
@pytest.mark.parametrize("piece", ["|x", "{}_n"])
def test_bars_and_prescripts_take_linear_time(piece: str) -> None:
    assert_linear(lambda latex: parse_latex(latex).slt, piece, 10_000)


@pytest.mark.thorough
def test_pairs_of_bars_are_folded_in_linear_time() -> None:
    """Removing each pair from the row would move all boxes after it: slow only in a long row."""
    bar, letter = BRACKETS["|"], SIGNS["x"]

    def fold(pairs: int) -> Callable[[], object]:
        line = [Box(sign, number) for number, sign in enumerate([bar, letter, bar] * pairs)]
        bars = [place for place in range(3 * pairs) if place % 3 != 1]
        return lambda: fold_bars(list(line), bars, [], lambda: 0)

    assert_grows_at_most(8, fold(20_000), fold(80_000))


def test_closing_brackets_of_a_graph_take_linear_time() -> None:
    assert_linear(_refusing(lambda text: read_penman(f"(a / b{text}")), ")", 6_000, after="1 :c")


@pytest.mark.thorough
def test_formulas_of_a_graph_take_linear_time() -> None:
    read = _refusing(lambda text: read_mathamr(f"(a / b {text})"))
    assert_linear(read, ":value MATH :math (V1 / x) ", 20_000)


def test_a_long_number_takes_linear_time() -> None:
    assert_linear(_refusing(parse_score), "0", 4_000, after="x")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_backslashes_in_a_text_take_linear_time(form: str) -> None:
    assert_linear(lambda text: to_marked_text(text, form), "\\", 8_000, after=" b")


@pytest.mark.thorough
@pytest.mark.parametrize("piece", ["|", r"\|", "=", r"\hat{"])
def test_infix_takes_linear_time(piece: str) -> None:
    assert_linear(lambda latex: infix(parse_latex(latex).opt), piece, 4_000)


@pytest.mark.exhaustive
@pytest.mark.thorough
@pytest.mark.parametrize("piece", FORMULAS)
def test_every_repeated_piece_of_a_formula_takes_linear_time(piece: str) -> None:
    assert_linear(_trees, piece, 6_000)


@pytest.mark.exhaustive
@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_every_repeated_piece_of_a_text_takes_linear_time(name: str) -> None:
    for piece in [*PROSE, *FORMULAS]:
        assert_linear(READERS[name], piece, 3_000)
        # A reader that searches for the end of something may search from every position.
        assert_linear(READERS[name], piece, 3_000, after=" b")
