"""Which delimiters enclose formulas, and which dollar signs are prices."""

import pytest

from mathsetu.markup import split


def formulas(text: str, form: str = "text") -> list[str]:
    return [span.content for span in split(text, form) if span.kind == "formula"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Let $x$ be real.", ["x"]),
        ("$$\\sum_{k=1}^n k$$", ["\\sum_{k=1}^n k"]),
        ("by \\(a+b\\) and \\[c\\]", ["a+b", "c"]),
        ("\\begin{align}a&=b\\\\[2pt]c&=d\\end{align}", None),
        ("$a$$b$", ["a", "b"]),
        ("$$a$$$b$", ["a", "b"]),
        ("$$$a$$$ and $b$", ["a", "b"]),
        ("$ spaces $", ["spaces"]),
        ("$x < y$ and $y > x$", ["x < y", "y > x"]),
        ("समाकल $\\int_0^1 f$ का मान", ["\\int_0^1 f"]),
        ("half‌space می‌شود $n$ام", ["n"]),
    ],
)
def test_each_delimiter_is_found(text: str, expected: list[str] | None) -> None:
    assert formulas(text) == ([text] if expected is None else expected)


def test_displayed_and_inline_formulas_are_distinguished() -> None:
    spans = split("$a$ $$b$$ \\(c\\) \\[d\\] \\begin{gather}e\\end{gather}")
    assert [s.display for s in spans if s.kind == "formula"] == [False, True, False, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $6.",
        "from $5 to $10 a day",
        "between $5-$10",
        "pay $1,000,000 now, or $2.50 later",
        "only $5",
        "$5 million ($6 million in 1990)",
        "a \\$5 note and a \\$10 note",
        "$$ never closed",
        "$ $ and $$ $$",
        "\\( never closed",
        "\\begin{align} never closed",
        "\\begin{theorem}words\\end{theorem}",
        "100$",
        "Das Buch kostet 20 $ und der Kaffee 3 $.",
        "Cijena kave: 2 $, a knjige 30 $.",
        "Kava 2 $ i 30 $ knjiga",
        "Un café à 3\u00a0$, un livre à 20\u00a0$.",
    ],
)
def test_prices_and_unclosed_delimiters_stay_text(text: str) -> None:
    assert formulas(text) == []


def test_prices_and_formulas_in_one_text_are_distinguished() -> None:
    assert formulas("I paid $5 for two, so $x=2.5$ each") == ["x=2.5"]
    assert formulas("The price $\\$5$ is $5$ dollars") == ["\\$5", "5"]
    assert formulas("there are $3$ cases and $4$ more") == ["3", "4"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Das Buch kostet 20 $ und der Kaffee 3 $. Sei $G$ eine Gruppe.", ["G"]),
        ("inače $4d$. Cijena kave: 2 $, a knjige 30 $.", ["4d"]),
        ("Un café à 3\u00a0$. Soit $x$ le prix.", ["x"]),
        ("Er zahlt 20 $ ($x$ Stück) und $y$ mehr", ["x", "y"]),
        ("Kava 2$, a knjige 30$. Neka je $n$ broj.", ["n"]),
        ("Kosten 3 $, also $x=3$ oder $y$", ["x=3", "y"]),
    ],
)
def test_a_dollar_after_an_amount_opens_no_formula(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the 3 $x$ are", ["x"]),
        ("the 3 $ x $ are", ["x"]),
        ("the 3 $ ab $ terms and 4 $ n $th roots", ["ab", "n"]),
        ("for 3 $ x $ and 4 $ y $ more", ["x", "y"]),
        ("a 3$\\times$3 board and 2$x$", ["\\times", "x"]),
        ("with 5 $ a + 2 $ is $b$", ["a + 2", "b"]),
    ],
)
def test_a_formula_after_a_number_is_found(text: str, expected: list[str]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "You invest $500 at \\(r=0.03\\), get \\(500(1+r)^n\\), say $530.",
            ["r=0.03", "500(1+r)^n"],
        ),
        ("Pay $5, \\(x>1\\), $6 or $y$", ["x>1", "y"]),
        ("Pay $5 + tax: \\[T=5+t\\] then $y$", ["T=5+t", "y"]),
        ("Pay $5 if \\(x = $3\\)", ["x = $3"]),
        ("a stray $ sign, \\(x=1\\), in $y$", ["x=1", "y"]),
        ("投资$500，\\(n=2\\)年后得$530。", ["n=2"]),
        ("मूल्य $500 है, दर \\(r=0.03\\) है, फिर $530 है", ["r=0.03"]),
    ],
)
def test_a_pair_of_dollars_does_not_enclose_another_formula(
    text: str, expected: list[str], form: str
) -> None:
    assert formulas(text, form) == expected


@pytest.mark.parametrize(
    "latex",
    [
        "x \\mbox{ if \\(x>0\\) and only then, }y",
        "x\\in\\[0,1\\]",
        "E\\[X\\] = cov\\[X, Y\\]\\text{ for all of them}",
        "f\\(x\\)=2",
    ],
)
def test_brackets_inside_a_formula_belong_to_it(latex: str) -> None:
    assert formulas(f"Let ${latex}$ and $z$ be") == [latex, "z"]


def test_dollars_in_a_latex_file_are_never_prices() -> None:
    assert formulas("from $5 to 6$", "latex") == ["5 to 6"]


def test_a_dollar_inside_braces_does_not_close_the_formula() -> None:
    assert formulas("$a \\text{ if $b$ holds}$ then $c$") == ["a \\text{ if $b$ holds}", "c"]


def test_a_formula_with_unbalanced_braces_ends_at_the_next_dollar() -> None:
    assert formulas("$x^{2$ and $y$") == ["x^{2", "y"]


def test_a_formula_does_not_extend_over_a_blank_line() -> None:
    assert formulas("costs x$ a\n\nand $y$") == ["y"]


def test_a_stray_dollar_does_not_affect_later_formulas() -> None:
    text = "a stray $ in this sentence and then $x$ is given by $y$ as we know"
    assert formulas(text) == ["x", "y"]


def test_a_formula_may_end_with_a_backslash_before_the_dollar() -> None:
    assert formulas("[ $\\ 4 < 0\\$ ] so the roots $z$ are") == ["\\ 4 < 0", "z"]


def test_nested_environments_of_the_same_name_are_one_formula() -> None:
    inner = "\\begin{array}{c}1\\end{array}"
    whole = f"\\begin{{array}}{{c}}{inner}\\end{{array}}"
    assert formulas(f"so {whole}.") == [whole]


def test_an_escaped_backslash_does_not_open_a_formula() -> None:
    assert formulas("a \\\\(not math\\\\) b") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use `$HOME` and `$PATH` for $x$", ["x"]),
        ("```\n$a$\n```\n\n$b$", ["b"]),
        ("``a`$b$`` $c$", ["c"]),
        ("an odd ` backtick and $x$", ["x"]),
        ("<code>$a$</code>, <PRE class=c>\n$b$\n</PRE> and $c$", ["c"]),
        ("`<code>` $a$ `</code>`", ["a"]),
        ("</code> $a$ <code> $b$", ["a", "b"]),
    ],
)
def test_markdown_code_holds_no_formulas(text: str, expected: list[str]) -> None:
    assert formulas(text, "markdown") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$a$ % costs $5\n$b$", ["a", "b"]),
        ("\\verb|$x$| and $y$", ["y"]),
        ("\\begin{verbatim}$x$\\end{verbatim} $y$", ["y"]),
        ("50\\% of $x$", ["x"]),
    ],
)
def test_latex_comments_and_verbatim_hold_no_formulas(text: str, expected: list[str]) -> None:
    assert formulas(text, "latex") == expected
