"""MathML for display: only MathML Core, an id for every symbol, no injected markup."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas import parse_latex
from mathsetu.formulas.mathml import read_presentation, write_mathml

MATHML = "{http://www.w3.org/1998/Math/MathML}"
CORE = frozenset(
    {"math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub"}
    | {"msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"}
    | {"mtable", "mtr", "mtd", "mphantom", "mpadded", "mstyle"}
)
ATTRIBUTES = frozenset(
    {"id", "data-symbol", "class", "display", "form", "fence", "stretchy", "linethickness"}
    | {"width", "mathvariant", "lspace", "rspace", "movablelimits", "accent", "accentunder"}
    | {"displaystyle", "style"}
)
# How many children an element must have.
NUMBER = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2}
NUMBER |= {"msubsup": 3, "munderover": 3}

FORMULAS = [
    "",
    "x",
    "2|a||b||c|",
    r"\frac{a+b}{\sqrt{2}} \neq \sqrt[3]{x}",
    r"\sum_{i=1}^{n} i^2 = \frac{n(n+1)(2n+1)}{6}",
    r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt\pi}{2}",
    r"\lim_{x \to 0} \frac{\sin x}{x} = 1",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1}",
    r"f(x) = \begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\begin{align} a &= b \\ &= c \end{align}",
    r"\left\{ x \in \mathbb{R} \mid |x| < 1 \right\}",
    r"\overline{z+w} = \hat x + \vec{ab} + \underbrace{a+b}_{c}",
    r"{}_1^2 X, x'', \binom{n}{k}, a \overset{d}{=} b",
    r"\boxed{e=mc^2}",
    r"\Gamma(z), \operatorname{rank} A, \max_{x} f(x), \|v\|, \left. x \right|_0",
    r"-1 - -x = \pm 2",
    r"x^{a^{b^c}}_{d_e}",
    r"\int ?f dx",
    r"\partial_x^2 u, a \xrightarrow{f} b, \phantom{x} y",
]


def elements(mathml: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(mathml).iter())


def is_core(mathml: str) -> bool:
    for element in elements(mathml):
        name = element.tag.removeprefix(MATHML)
        if name not in CORE or not ATTRIBUTES.issuperset(element.attrib):
            return False
        if len(element) != NUMBER.get(name, len(element)):
            return False
    return True


@pytest.mark.parametrize("latex", FORMULAS)
def test_only_mathml_core_is_written(latex: str) -> None:
    assert is_core(write_mathml(parse_latex(latex).layout))


@pytest.mark.parametrize("latex", FORMULAS)
def test_every_symbol_of_the_trees_has_an_id(latex: str) -> None:
    parsed = parse_latex(latex)
    named = [e.get("id", "") for e in elements(write_mathml(parsed.layout, prefix="q1"))]
    written = [int(name.removeprefix("q1-")) for name in named if name]
    assert len(written) == len(set(written))
    for tree in (parsed.slt, parsed.opt):
        assert {node.symbol for node in tree.walk()} - {-1} <= set(written)


def test_ids_have_the_prefix() -> None:
    mathml = write_mathml(parse_latex("x+1").layout, prefix="hit-3")
    assert [e.get("id") for e in elements(mathml) if e.get("id")] == [
        "hit-3-0",
        "hit-3-1",
        "hit-3-2",
    ]


def test_only_highlighted_symbols_are_marked() -> None:
    parsed = parse_latex(r"\frac{a}{b} + (c)")
    symbol = {node.label: node.symbol for node in parsed.slt.walk()}
    chosen = {symbol["V!a"], symbol["M!()1x1"]}
    mathml = write_mathml(parsed.layout, highlight=chosen)
    matched = [e.text for e in elements(mathml) if e.get("class") == "matched"]
    assert matched == ["a", "(", ")"]


def test_a_displayed_formula_is_a_block() -> None:
    layout = parse_latex("x").layout
    assert ElementTree.fromstring(write_mathml(layout, display=True)).get("display") == "block"
    assert ElementTree.fromstring(write_mathml(layout)).get("display") is None


@pytest.mark.parametrize(
    ("latex", "piece"),
    [
        (r"\sum_i x", "<munder><mo"),
        (r"\sum_i^n x", "<munderover><mo"),
        (r"\int_0^1 x", "<msubsup><mo"),
        (r"\lim_x y", 'movablelimits="true"'),
        (r"\binom n k", 'linethickness="0"'),
        (r"\Gamma", 'mathvariant="normal"'),
        (r"a=-b", '<mo form="prefix"'),
        (r"2\sin x", '<mspace width="0.1667em">'),
        (r"\overline{ab}", 'accent="true"'),
        (r"\quad", '<mspace width="1em"'),
        (r"\begin{cases}1\\2\end{cases}", "text-align:left"),
    ],
)
def test_markup_that_browsers_need_is_written(latex: str, piece: str) -> None:
    assert piece in write_mathml(parse_latex(latex).layout)


def test_an_infix_minus_is_not_a_prefix() -> None:
    assert "prefix" not in write_mathml(parse_latex("a-b").layout)


@pytest.mark.parametrize("latex", [f for f in FORMULAS if "boxed" not in f])
def test_written_mathml_is_read_back_as_the_same_layout(latex: str) -> None:
    parsed = parse_latex(latex)
    assert read_presentation(write_mathml(parsed.layout)) == parsed.slt


@pytest.mark.parametrize(
    "latex",
    [
        r"\text{</mtext><script>alert(1)</script>}",
        r'\text{" onmouseover="alert(1)}',
        r"<img src=x onerror=alert(1)>",
        r"\href{javascript:alert(1)}{x}",
        r"\operatorname{<b>}",
        r'\hspace{1em" onclick="x}',
        r"\unknown<svg/onload=x>",
        "\x00\ud800\uffff<",
    ],
)
def test_a_formula_cannot_inject_markup(latex: str) -> None:
    mathml = write_mathml(parse_latex(latex).layout, prefix='"><script>')
    assert is_core(mathml)
    assert "javascript" not in mathml
    assert not re.search(r'\son\w+="', mathml)


@given(st.text(alphabet="ab12+-=^_{}()[]|\\&'\"<>,.$%~ \nfracsqtlimuoveénd", max_size=60))
def test_any_text_gives_mathml_core(latex: str) -> None:
    assert is_core(write_mathml(parse_latex(latex).layout))


def test_five_thousand_levels_are_written() -> None:
    deep = "{" * 5000 + "x" + "}" * 5000
    assert is_core(write_mathml(parse_latex(deep).layout))
    towers = "x" + "^{x" * 3000 + "}" * 3000
    assert write_mathml(parse_latex(towers).layout).count("<mi") >= 1
