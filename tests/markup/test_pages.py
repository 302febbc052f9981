"""Formulas of web pages in every notation, and wikitext."""

import pytest

from mathsetu.markup import split, to_marked_text
from mathsetu.markup.attributes import to_attribute
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.html import split_html
from mathsetu.markup.mathml import mathml_to_latex
from mathsetu.markup.pages import clean_page, with_containers
from mathsetu.markup.wikitext import sections
from tests.test_linear import assert_linear

WIKIPEDIA = (
    '<p>In <span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: '
    'none;"><math alttext="{\\displaystyle a^{2}=c^{2}}"><semantics><mi>a</mi><annotation '
    'encoding="application/x-tex">{\\displaystyle a^{2}=c^{2}}</annotation></semantics></math>'
    '</span><img class="mwe-math-fallback-image-inline" alt="{\\displaystyle a^{2}=c^{2}}"></span>'
    ' and <span class="texhtml"><i>x</i><sup>2</sup></span><sup class="reference">[1]</sup>.'
    '<span class="mw-editsection">[edit]</span></p>'
)
ARXIV = (
    '<p>Let <math alttext="x&lt;1" display="inline"><mi>x</mi></math> as in <cite '
    'class="ltx_cite">[12]</cite><table class="ltx_eqn_table"><tr><td><math alttext="E=mc^{2}" '
    'display="block"><mi>E</mi></math></td><td><span class="ltx_tag ltx_tag_equation">(1)</span>'
    "</td></tr></table></p>"
)
KATEX = (
    '<p>A <span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation '
    'encoding="application/x-tex">x_1</annotation></semantics></math></span><span '
    'class="katex-html" aria-hidden="true"><span class="base">x<span>1</span></span></span></span>.'
)
MATHJAX_2 = (
    '<p>B <span class="MathJax_Preview"></span><span class="MathJax" id="M"><nobr><span>y</span>'
    '</nobr></span><script type="math/tex; mode=display">y<2</script>.'
)
MATHJAX_3 = (
    '<p>C <mjx-container class="MathJax"><mjx-math><mjx-c class="mjx-c1D465"></mjx-c>x</mjx-math>'
    "<mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-assistive-mml>"
    "</mjx-container>."
)


FORMULAS = [
    (WIKIPEDIA, "In $a^{2}=c^{2}$ and $x^{2}$."),
    (ARXIV, "Let $x<1$ as in\n$$E=mc^{2}$$"),
    (KATEX, "A $x_1$."),
    (MATHJAX_2, "B $$y<2$$."),
    (MATHJAX_3, "C $x^{2}$."),
    ('<span class="math inline">\\(z\\)</span>, <div class="math">w^2</div>', "$z$, $$w^2$$"),
    ('<p class="note math">z</p><span class="x math">z</span>', "z\n$z$"),
    ('<span class="math-container" id="7">$z$</span> or <math><mi>y</mi></math>?', "$z$ or $y$?"),
]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        *FORMULAS,
        ("<nav>Home</nav><p>Text <!-- no --></p><script>$x$</script>", "Text"),
    ],
)
def test_pages_give_their_text_and_formulas(page: str, text: str) -> None:
    assert to_marked_text(clean_page(page), "html") == text


@pytest.mark.parametrize(("page", "text"), FORMULAS)
def test_a_row_gives_the_same_formulas_as_a_page(page: str, text: str) -> None:
    assert to_marked_text(page, "html") == text
    for form, source in (("html", page), ("attribute", to_attribute(page))):
        read, formulas = text_and_formulas(source, form, "7", "body")
        assert read == text
        assert all(formula.latex in text[formula.start :] for formula in formulas)
        assert formulas


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (r"By \eqref{a} and (\ref{b}) and \(\ref{c}\).", "By  and  and ."),
        (r"By $\eqref{a}$: $x$", "By : $x$"),
        (r"See \eqref{a} $x$ and $y$\ref{b}$z$.", "See  $x$ and $y$$z$."),
        (r"Type <code>\ref{a}</code>.", r"Type <code>\ref{a}</code>."),
    ],
)
def test_references_to_formulas_are_removed(page: str, text: str) -> None:
    assert clean_page(page) == text


def test_formulas_that_mathjax_ignores_are_code() -> None:
    page = '<div class="tex2jax_ignore">a <div>$x$</div> b</div> $z$'
    assert clean_page(page) == "<div>a <div><code>$x$</code></div> b</div> $z$"


def test_a_container_keeps_its_id_beside_other_formulas() -> None:
    page = '<span class="math-container" id="q_1">$x&lt;y$</span> or <math><mi>z</mi></math>'
    _, (first, second) = text_and_formulas(page, "html", "7", "body")
    assert [(first.id, first.latex), (second.id, second.latex)] == [
        ("q_1", "x<y"),
        ("7:body:1", "z"),
    ]


@pytest.mark.parametrize(
    "page",
    [
        '<p>Is <span class="math-container" id="7">$x$</span> so?</p><nav>no noise</nav>',
        "<p>About MathJax, KaTeX and texhtml: $x$</p>",
        '<b class="mathematics">$x$</b>',
    ],
)
def test_a_row_with_only_plain_formulas_is_left_unchanged(page: str) -> None:
    assert with_containers(page) is page


@pytest.mark.parametrize(
    ("mathml", "latex"),
    [
        ("<munderover><mo>∑</mo><mi>n</mi><mi>∞</mi></munderover>", r"\sum_{n}^{\infty}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", r"\bar{x}"),
        ("<mi>sin</mi><mi>x</mi>", r"\sin x"),
        ("<mtext>if {</mtext>", r"\text{if \{}"),
        ("<mo>(</mo><mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac><mo>)</mo>",
         r"\binom{n}{k}"),
        ("<mo>{</mo><mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable>",
         r"\begin{cases} 1 \end{cases}"),
        ("<mmultiscripts><mi>F</mi><mn>1</mn><none/><mprescripts/><mn>2</mn><none/>"
         "</mmultiscripts>", r"{}_{2}F_{1}"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a,b)"),
        ("<mi mathvariant='double-struck'>R</mi>", r"\mathbb{R}"),
        ("<msup><mi>f</mi><mo>′</mo></msup>", "f'"),
    ],
)  # fmt: skip
def test_mathml_becomes_latex(mathml: str, latex: str) -> None:
    assert mathml_to_latex(f"<math>{mathml}</math>") == latex


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'''Bold''' [https://x.y words] {{mvar|n}}", "Bold words $n$"),
        ("<nowiki>''x''</nowiki><ref name=a>no</ref><ref name=b/>!", "''x''!"),
        ("* one\n* {{sqrt|2}}", "one\n√(2)"),
        ("{|\n! a !! b\n|-\n| 1 || 2\n|}", "a b\n1 2"),
        ("{{unclosed [[both", "{{unclosed [[both"),
        ("{{Math theorem|name=Euler|math_statement=Let <math>x</math>}}", "Euler\nLet $x$"),
    ],
)
def test_wikitext_gives_its_text(source: str, text: str) -> None:
    ((_, _, page),) = sections(source)
    assert to_marked_text(page, "html") == text


@pytest.mark.parametrize(
    "piece",
    ["<span class='math'><math ", "<math>", "<!--", "<span class='texhtml'>", "<mjx-container>",
     "<div class=toc>", '<a class="math-container ', "<span class=math-container>", "class=a ",
     "<mrow>", "<a b='", "{{", "[[", "{{a|", "<math", "<ref>", "= a ",
     "== a ==\n"],
)  # fmt: skip
@pytest.mark.thorough
def test_pages_take_linear_time(piece: str) -> None:
    assert_linear(clean_page, piece, 8_000)
    assert_linear(lambda text: to_marked_text(text, "html"), piece, 8_000)
    assert_linear(mathml_to_latex, piece, 8_000)
    assert_linear(lambda text: list(sections(text)), piece, 8_000)


def test_a_cleaned_page_has_each_formula_once() -> None:
    spans = [span for span in split(clean_page(WIKIPEDIA), "html") if span.kind == "formula"]
    assert [span.content for span in spans] == ["a^{2}=c^{2}", "x^{2}"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("2<sup>10</sup>=1024, a<sub>n</sub>", "2¹⁰=1024, aₙ"),
        ("x<SUP><i>n</i>+1</SUP> and y<sub>max</sub>", "xⁿ⁺¹ and yₘₐₓ"),
        ("e<sup>-x/2</sup>, 2<sup>q</sup>", "e^(-x/2), 2^q"),
        ("the 1<sup>st</sup><sup>[2]</sup>", "the 1st[2]"),
        ("a<sup></sup>b<sup>c", "abc"),
    ],
)
def test_subscripts_and_superscripts_of_html_are_kept(source: str, text: str) -> None:
    assert to_marked_text(f"<p>{source}</p>", "html") == text
    assert to_marked_text(source, "markdown") == text


def test_tags_in_upper_case_are_read_like_tags_in_lower_case() -> None:
    page = "<P>before</P><SCRIPT>var a;</SCRIPT><P>after \\(x<A\\)</P><PRE>code</PRE><P>end</P>"
    assert clean_page(page) == clean_page(page.replace("SCRIPT", "script").replace("PRE", "pre"))
    assert "after" in clean_page(page)
    assert [span.kind for span in split_html("<CODE>a</CODE> and <CODE>b</CODE>")] == [
        "code", "text", "code",
    ]  # fmt: skip
