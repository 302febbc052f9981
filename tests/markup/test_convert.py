"""Split and join are inverse; marked text keeps every formula; time is linear."""

import random
from functools import partial

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mathsetu.errors import UnknownFormat
from mathsetu.markup import Span, join, matched_snippet, plain, snippet, split, to_marked_text
from mathsetu.markup.attributes import to_attribute
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.pages import with_containers
from tests.timing import assert_grows_at_most, assert_within

FORMS = ("text", "markdown", "latex", "html")
# Pieces with a meaning in markup, so that random texts are full of near-formulas.
PIECES = st.sampled_from(
    "$ $$ \\$ \\( \\) \\[ \\] { } \\ \\\\ \\begin{align} \\end{align} \\begin{array} \\end{array} "
    "\\verb| % ` ``` <p> </p> <span class=\"math-container\"> </span> <code> </code> <!-- --> < > "
    "&lt; &amp; &#36; & ; x^2 5 word words, 利率 <script> </script> <math> </math>".split(" ")
)  # fmt: skip
PAGES = st.sampled_from([
    '<span class="math-container" id="7">$x &lt; 5$</span>', "<code>a &amp;&amp; b</code>",
    '<span class="math-container">$$2x$$</span>', '<span class="math-container">$x&nbsp;$</span>',
    '<span class="math-container">$a&#36;b$</span>', "<code>a\\</code>", "<code>$b$</code>",
    '<span class="math-container">$x \\(y\\) and so on$</span>', '<img alt="', '">', "&nbsp;",
    " and then ", "\\(r=3\\)", "\\[0,1\\]",
])  # fmt: skip
HOSTILE = st.lists(st.one_of(PIECES, PAGES, st.just(" "), st.just("\n"), st.text(max_size=3))).map(
    "".join
)


@pytest.mark.parametrize("form", FORMS)
@given(source=st.one_of(HOSTILE, st.text()))
def test_joining_the_spans_gives_the_source_back(form: str, source: str) -> None:
    assert join(split(source, form)) == source


@pytest.mark.parametrize("form", FORMS)
@given(source=HOSTILE)
def test_marked_text_holds_the_same_formulas_as_its_source(form: str, source: str) -> None:
    # In Markdown, scripts and comments are removed with the formulas in them.
    assume(form != "markdown" or ("<script" not in source and "<!--" not in source))
    page = with_containers(source) if form == "html" else source
    expected = [_bare(span) for span in split(page, form) if span.kind == "formula"]
    marked = to_marked_text(source, form)
    assert [_bare(span) for span in split(marked) if span.kind == "formula"] == expected


@pytest.mark.parametrize("form", FORMS)
@given(source=HOSTILE)
@example(source="a\0b")
def test_text_and_formulas_agree_with_the_marked_text(form: str, source: str) -> None:
    text, formulas = text_and_formulas(source, form, "7", "body")
    assert text == to_marked_text(source, form)
    held = [span.content for span in split(to_marked_text(source, form)) if span.kind == "formula"]
    assert ["".join(formula.latex.split()) for formula in formulas] == [
        "".join(content.split()) for content in held
    ]
    assert all(formula.latex in text[formula.start :] for formula in formulas)


@given(source=HOSTILE)
def test_a_page_in_an_attribute_is_read_like_the_page(source: str) -> None:
    source = source.replace("\0", "")
    page = text_and_formulas(source, "html", "7", "body")
    assert text_and_formulas(to_attribute(source), "attribute", "7", "body") == page


def _bare(span: Span) -> str:
    return "".join(span.content.split())


@given(source=HOSTILE)
def test_marked_text_is_stable(source: str) -> None:
    once = to_marked_text(source, "html")
    assert [s.kind for s in split(once)] == [s.kind for s in split(to_marked_text(once))]


def test_markdown_becomes_clean_text() -> None:
    source = "## A **bold** claim\n\nSee [this](http://x.y) for `$n` and $a*b*c$.\n\n* one\n* two"
    assert to_marked_text(source, "markdown") == (
        "A bold claim\nSee this for \\$n and $a*b*c$.\n- one\n- two"
    )


@pytest.mark.parametrize(
    "block",
    [
        "```python\n{}\n```",
        "~~~\n{}\n~~~",
        "    {}",
    ],
)
def test_code_in_markdown_keeps_its_lines(block: str) -> None:
    code = "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n\n    return  a"
    inside = code.replace("\n", "\n    ") if block.startswith(" ") else code
    source = f"Two  words:\n\n{block.format(inside)}\n\nand  $d$."
    text = f"Two words:\n{code}\n\nand $d$."
    assert to_marked_text(source, "markdown") == text
    found, (formula,) = text_and_formulas(source, "markdown", "7", "body")
    assert found == text
    assert text[formula.start :] == "$d$."
    alone, none = text_and_formulas(source.replace("$", ""), "markdown", "7", "body")
    assert (alone, none) == (text.replace("$", ""), ())


def test_mathml_in_markdown_is_a_formula_and_in_code_is_not() -> None:
    area = '<math display="block">\n<msup><mi>r</mi><mn>2</mn></msup>\n</math>'
    source = f"The **area** {area} is less than $x$, `<math><mi>y</mi></math>` is code."
    assert [(one.kind, one.display) for one in split(source, "markdown")] == [
        ("text", False), ("formula", True), ("text", False), ("formula", False), ("text", False),
        ("code", False), ("text", False),
    ]  # fmt: skip
    assert "".join(one.raw for one in split(source, "markdown")) == source
    text = "The area $$r^{2}$$ is less than $x$, <math><mi>y</mi></math> is code."
    assert to_marked_text(source, "markdown") == text
    assert to_marked_text("Open: <math><mi>z</mi> and <math></math>", "markdown") == "Open: z and"


def test_latex_becomes_clean_text() -> None:
    source = (
        "\\section{Redovi} % note\nNeka je \\emph{red} $\\sum a_n$ \\cite{x} konvergentan."
        "\\begin{itemize}\\item Cauchy--Schwarz\\end{itemize}"
    )
    assert to_marked_text(source, "latex") == (
        "Redovi Neka je red $\\sum a_n$ konvergentan.\n- Cauchy–Schwarz"
    )


def test_plain_text_shows_dollar_signs_without_backslashes() -> None:
    assert plain(to_marked_text("costs $5 and $6")) == "costs $5 and $6"


LISTS = """1. One $x$.
2. Two
   more.

   - a
   - b
3. Three

5) Five

Text."""
NUMBERED = "1. One $x$.\n2. Two\nmore.\n- a\n- b\n3. Three\n5. Five\nText."
TABLE = """
| f | g |
|---|---|
| $x^2$ | \\$5 |
| $e^x$ |  |
"""
CELLS = "<td>$5</td><td>$6</td></tr><tr><td>$x_1$</td><td>$7</td>"


@pytest.mark.parametrize(
    ("source", "form", "text"),
    [
        (LISTS, "markdown", NUMBERED),
        (TABLE, "markdown", "f │ g\n$x^2$ │ \\$5\n$e^x$"),
        ("<ol><li>One<li>Two</ol><li>Other", "html", "1. One\n2. Two\n- Other"),
        ("<ul><li>One</li><li> <a></a></li><li></li><li>Two</li></ul>", "html", "- One\n- Two"),
        ("<OL START=0><LI>\n<p>One</p></LI>\n<LI VALUE='7'>Two<LI>x</OL>", "html",
         "0. One\n7. Two\n8. x"),
        ("<ol type=a><li>x<ul><li>y</ul><li>z</ol></ol><ul><li>\n<p>w</ul>", "html",
         "a. x\n- y\nb. z\n- w"),
        ('<ol type="A" start="26"><li>x<li>y<math><mi>a</mi></math></ol>', "html",
         "Z. x\n27. y$a$"),
        (f"<table><tr>{CELLS}</tr></table>", "html", "\\$5 │ \\$6\n$x_1$ │ \\$7"),
        ("<table><tr>\n<th>\na b\n</th>\n<td></td> <th class='x'> c</th>\n</tr><tr><td>d</table>",
         "html", "a b c\nd"),
        ('<tr><td class="ltx_eqn_cell">$a$</td><td class="ltx_eqn_cell">$=b$</td></tr>', "html",
         "$a$ $=b$"),
    ],
)  # fmt: skip
def test_lists_keep_their_numbers_and_tables_their_rows(source: str, form: str, text: str) -> None:
    assert to_marked_text(source, form) == text


def test_the_error_for_an_unknown_form_lists_the_known_forms() -> None:
    with pytest.raises(UnknownFormat, match=r"'docx' \(known: html, latex, markdown, text\)"):
        split("x", "docx")


@given(
    text=HOSTILE,
    width=st.integers(min_value=1, max_value=80),
    around=st.integers(min_value=0, max_value=100),
)
def test_a_snippet_never_breaks_a_formula(text: str, width: int, around: int) -> None:
    whole = [span.raw for span in split(text) if span.kind == "formula"]
    cut = snippet(text, width, around)
    for span in split(cut):
        if span.kind == "formula":
            assert span.raw in whole


def test_a_snippet_is_no_longer_than_requested_and_contains_the_given_place() -> None:
    text = " ".join(f"word{number}" for number in range(200))
    cut = snippet(text, 60, start=text.index("word100"))
    assert "word100" in cut
    assert len(cut) <= 60 + len("…  …")


PROSE = "Sums occur here. " + "This is about something else. " * 20
DENSE = "The harmonic series diverges; so do other sums of $1/n$."


@pytest.mark.parametrize(
    ("words", "formulas"),
    [
        ({"diverge": ["diverges"], "sum": ["Sums", "sums"]}, []),
        ({"sum": ["sums"], "harmonic": ["harmonic"]}, ["1/n"]),
        ({"sum": ["sums"]}, ["1/n"]),
    ],
)
@pytest.mark.parametrize("before", [PROSE, f"{PROSE}The sum is harmonic. {PROSE}"])
def test_a_snippet_shows_the_place_with_the_most_matches(
    words: dict[str, list[str]], formulas: list[str], before: str
) -> None:
    cut = matched_snippet([before + DENSE + PROSE], formulas, words, width=80)
    assert "series diverges; so do other sums of $1/n$" in cut
    assert len(cut) <= 80 + len("…  …")


def test_a_snippet_comes_from_the_text_with_the_most_matches() -> None:
    words = {"sum": ["sum"], "prime": ["prime"]}
    assert matched_snippet(["A sum.", "A sum of a prime.", "A prime sum."], [], words) == (
        "A sum of a prime."
    )
    assert matched_snippet(["A sum of a prime.", "So $x$."], ["x"], words) == "So $x$."
    assert matched_snippet(["", "A sum of a prime."], ["y"], {"x": ["x"]}) == "A sum of a prime."


def test_a_match_inside_a_longer_word_counts_only_if_no_whole_word_matches() -> None:
    text = f"Subsets are common. {PROSE}A set is a class."
    assert matched_snippet([text], [], {"set": ["set"]}, 20) == "… else. A set is a …"
    assert "的素数" in matched_snippet(
        [f"{'甲' * 9} {'乙' * 9} 的素数是"], [], {"素数": ["素数"]}, 9
    )


def test_a_match_longer_than_the_snippet_is_shown_from_its_beginning() -> None:
    words = {"a": [" ".join(["alpha"] * 20)], "b": ["beta"]}
    cut = matched_snippet([f"{PROSE}{' '.join(['alpha'] * 20)} beta"], [], words, width=40)
    assert cut == f"… {' '.join(['alpha'] * 6)} …"


WORST_CASES = [
    "$", "$x ", "${", "$}{", "\\(", "\\[", "\\begin{align}", "\\begin{align}\\end{align}", "`",
    "``` ", "<", "<!--", "<a ", "<a \"", "<span class=\"math-container\">", "<code>", "<math>",
    "<script>",
    "\n \n", "\\verb|", "%", "&", "&#", "$5 and ", "5 $ a ", "5 $, ", "\\$ a ", "{", "\\", " ",
    "$a\\$ b ",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", WORST_CASES)
def test_splitting_time_grows_about_linearly_with_the_input(form: str, piece: str) -> None:
    """Ten times the input; a quadratic algorithm would take a hundred times as long."""
    small, large = (partial(split, piece * count, form) for count in (500, 5_000))
    assert_grows_at_most(15, small, large)


@pytest.mark.thorough
@pytest.mark.parametrize("piece", [to_attribute(piece) for piece in WORST_CASES] + ["&amp;"])
def test_pages_in_attributes_take_linear_time_too(piece: str) -> None:
    small, large = (
        partial(text_and_formulas, piece * count, "attribute", "7", "body")
        for count in (500, 5_000)
    )
    assert_grows_at_most(15, small, large)


@pytest.mark.thorough
def test_fifty_thousand_random_characters_take_at_most_three_seconds() -> None:
    generator = random.Random(7)
    noise = "".join(generator.choices("$\\{}()[]<>&;`%\n abc", k=50_000))
    assert_within(3, lambda: [to_marked_text(noise, form) for form in FORMS])


@pytest.mark.thorough
@pytest.mark.parametrize("latex", ["5", "5.20", "12", ") and also (", ". So let", "x\\\\"])
@pytest.mark.parametrize("after", ["5", " 5", "", " and then", "$y$"])
def test_a_latex_formula_stays_a_formula_in_marked_text_whatever_follows(
    latex: str, after: str
) -> None:
    text = to_marked_text(f"Let ${latex}${after}", "latex")
    assert next(span.content for span in split(text) if span.kind == "formula") == latex


@pytest.mark.parametrize("latex", [", a knjige 30", "- in 3", ") and (", ". Sei"])
@pytest.mark.parametrize("after", ["", ".", "x", "$y$"])
def test_a_latex_formula_after_a_number_stays_a_formula_in_marked_text(
    latex: str, after: str
) -> None:
    text = to_marked_text(f"the 20 ${latex}${after}", "latex")
    assert next(span.content for span in split(text) if span.kind == "formula") == latex


def test_dollars_in_a_container_stay_part_of_its_formula() -> None:
    text = to_marked_text('<span class="math-container">$$-</span>', "html")
    assert [span.content for span in split(text)] == ["$$-"]


@pytest.mark.parametrize("page", ["<t<p>>", "a <t</p>> b", "<t <p>>", "x<y<p>z", "<p>a<b</p>"])
def test_a_paragraph_tag_inside_another_tag_is_read_the_same_by_both_functions(page: str) -> None:
    text, _ = text_and_formulas(page, "html", "7", "body")
    assert text == to_marked_text(page, "html")
