"""Texts as HTML: untrusted text is escaped, and formulas obey the security policy."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.answers.describe import found, matched_formula, pieces
from mathsetu.answers.values import Piece
from mathsetu.records import Evidence, Hit, Post, Reason
from mathsetu.service.pages import views
from mathsetu.service.pages.files import files
from mathsetu.service.pages.formula_pairs import pair_formulas
from mathsetu.service.pages.interface_language import interface
from mathsetu.service.pages.typeset import Coloured, formula, line, paragraphs

OURS = {"span", "mark", "p", "pre", "code", "math"}
MATHML = set(
    "mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable "
    "mtr mtd mmultiscripts mprescripts mphantom".split()
)
ATTRIBUTES = set(
    "class dir data-latex data-symbol data-style xmlns display form fence stretchy accent "
    "accentunder mathvariant lspace rspace movablelimits linethickness displaystyle width".split()
)


def test_items_and_rows_are_paragraphs_and_wrapped_lines_are_not() -> None:
    text = "Do\nthese:\n1. One $x$\nof it\n(b) Two\n- Three\nf │ g\n$x$ │ $y$\nEnd."
    shown = re.sub(r"<span.*?</math></span>", "F", str(paragraphs(pieces(text))))
    assert shown == (
        "<p>Do\nthese:</p><p>1. One F\nof it</p><p>(b) Two</p><p>- Three</p>"
        "<p>f │ g</p><p>F │ F</p><p>End.</p>"
    )


class Reader(HTMLParser):
    """The elements, attributes and text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


MARKED = st.text(alphabet=st.sampled_from("ab <>\"'&$\\{}^_`\n/=ख़ا{%#"), max_size=80)


@given(MARKED)
def test_a_text_has_only_our_elements_and_attributes(text: str) -> None:
    for html in (line(pieces(text)), paragraphs(pieces(text))):
        read = Reader(html)
        assert read.elements <= OURS | MATHML
        assert read.attributes <= ATTRIBUTES


@pytest.mark.parametrize("text", ["Let $x$, then", "$x$.", "($x$)", "चूँकि $x$।", "چون $x$، پس"])
def test_a_punctuation_mark_stays_on_the_line_of_its_formula(text: str) -> None:
    html = paragraphs(pieces(text))
    [closed] = re.findall(r'<span class="closed">.*</math></span>([^<]+)</span>', html)
    assert closed in (",", ".", ")", "।", "،")
    assert Reader(html).text == text.replace("$", "")


def test_a_punctuation_mark_after_a_displayed_formula_becomes_part_of_it() -> None:
    html = paragraphs(pieces("Then\n$$x=1$$,\nas said."))
    assert "<mtext>,</mtext></math></span>" in html


@given(st.text(max_size=80))
def test_text_without_formulas_stays_unchanged(text: str) -> None:
    assert one_newline(Reader(line([Piece("text", text)])).text) == one_newline(text)


def one_newline(text: str) -> str:
    """The text with the line ends of HTML."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=5), max_size=3))
def test_colouring_words_changes_no_text(text: str, words: list[str]) -> None:
    assert Reader(line([Piece("text", text)], Coloured(words))).text == text


@pytest.mark.parametrize(
    ("text", "word", "shown"),
    [
        ("the integral sign", "integral", "the <mark>integral</mark> sign"),
        ("Integral!", "integral", "<mark>Integral</mark>!"),
        ("integrals", "integral", "integrals"),
        ("समाकल का", "समाकल", "<mark>समाकल</mark> का"),
        ("समाकलन", "समाकल", "समाकलन"),
        ("a.b", ".", "a.b"),
    ],
)
def test_only_whole_words_are_marked(text: str, word: str, shown: str) -> None:
    assert line([Piece("text", text)], Coloured([word])) == shown


def test_matched_symbols_are_coloured_in_their_formula_only() -> None:
    html = line(pieces("$x+1$ and $x+2$"), Coloured(symbols={"x+1": [0]}))
    assert html.count('class="matched"') == 1


def test_all_formulas_of_a_query_are_coloured_in_the_formula_that_contains_them() -> None:
    evidence = tuple(Evidence("formula", asked, "a^2+b^3=c") for asked in ("a^2", "b^3"))
    post = Post("1", "So $a^2+b^3=c$.")
    hit = Hit("1", 1.0, post.body, (Reason("formulas", 1.0, "", evidence),))
    shown = views.hit(found(hit, post, 1, typeset=True), interface("en"))
    assert shown.snippet.count('class="matched"') == 4


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{align} a &= b \\ c &= d \end{align}",
        r"\begin{cases} a & b \\ c & d \end{cases}",
        r"\overline{a+b}",
        r"\underline{a+b}",
        r"\boxed{x}",
        r"\begin{array}{lr} a & b \end{array}",
    ],
)
def test_every_style_of_a_formula_has_a_rule_in_the_style_sheet(latex: str) -> None:
    html = formula(latex)
    assert " style=" not in html
    rules = files()["formulas.css"].content.decode()
    styles = re.findall(r'data-style="([^"]*)"', html)
    for style in styles:
        assert f'[data-style="{style}"]' in rules


def test_every_style_in_the_mathml_writer_has_a_rule_in_the_style_sheet() -> None:
    import inspect

    from mathsetu.formulas.mathml import write

    source = inspect.getsource(write)
    rules = files()["formulas.css"].content.decode()
    written = set(re.findall(r' style="([^"]+)"', source)) - {"border-{side}:thin solid"}
    assert written
    for style in written:
        assert f'[data-style="{style}"]' in rules


def test_only_code_of_several_lines_is_a_block() -> None:
    assert paragraphs([Piece("code", "a\nb")]) == "<pre><code>a\nb</code></pre>"
    assert paragraphs([Piece("code", "a<b")]) == "<p><code>a&lt;b</code></p>"


@pytest.mark.parametrize(
    ("asked", "found", "latex"),
    [
        ("?u+1", r"2\cos(x^2)+1", r"2\cos(x^2)"),
        ("?u+1", "f(x,a)+1", "f(x,a)"),
        # A value that is not contiguous is shown as a user would type it.
        ("?u+b", "a+b+c", "a + c"),
    ],
)
def test_the_value_of_a_wildcard_is_typeset(asked: str, found: str, latex: str) -> None:
    (letter,) = pair_formulas(matched_formula(asked, found, "hit")).letters
    assert f'data-latex="{latex}"' in letter.found
    assert "<math" in letter.found


def test_a_letter_has_the_same_colour_as_the_name_that_replaces_it() -> None:
    shown = pair_formulas(matched_formula("t^2+t", "p_i^2+p_i", "hit"))
    (letter,) = shown.letters
    assert 'data-latex="p_i"' in letter.found
    assert (shown.asked.count("hue-1"), shown.found.count("hue-1")) == (2, 4)
