r"""The expansion of LaTeX: macros, included files, and the text that each command gives."""

import pytest

from mathsetu.collections.documents import tex_expansion
from mathsetu.collections.documents.tex_expansion import (
    HEADING,
    HEADING_FILE,
    TITLE_END,
    TITLE_START,
    Expansion,
    FormulaMacros,
    expand,
)

FILES = {
    "b.tex": "B",
    "sub/c.tex": "C",
    "stops.tex": r"kept \endinput lost",
    "twice.tex": r"\newcommand{\deep}{\endinput lost} kept \deep lost",
    "own.sty": r"\newcommand{\own}{mine} printed",
    "own.cls": r"\newcommand{\lent}{theirs} printed",
    "inner.tex": r"\section{Inner}",
}


def find(name: str, origin: str) -> tuple[str, str] | None:
    known = next((each for each in (name, f"{name}.tex") if each in FILES), None)
    return None if known is None else (FILES[known], known)


def expanded(source: str) -> Expansion:
    return expand(source, "a.tex", find)


def heading(level: int, title: str, file: str = "a.tex") -> str:
    return f"{HEADING}{level}{HEADING_FILE}{file}{TITLE_START}{title}{TITLE_END}"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\newcommand{\c}[2][d]{#1#2}\c{x}\c[y]{z}", "dxyz"),
        (r"\newcommand{\c}[1]{\textbf{#1}}\c x \c\alpha", r"\textbf{x} \textbf{\alpha}"),
        (r"\newcommand{\c}[1]{(#1)}\c\,x \c{}y", r"(\,)x ()y"),
        (r"\newcommand*{\c}{x}\c", "x"),
        (r"\newcommand{\c}[12]{a}\c x", "a x"),
        (r"\newcommand{\c}[9]{#9#1}\c 123456789", "91"),
        (r"\newcommand{\c}[1]{#1#2}\c{x}y", "xy"),
        (r"\newcommand{\c}{1}\renewcommand{\c}{2}\c", "2"),
        (r"\providecommand{\c}{1}\providecommand{\c}{2}\c", "1"),
        (r"\newcommand{\c}{1}\newcommand{\c}{\ifmmode x\fi}$\c$", r"$\c$"),
        (r"\newcommand{\thesection}{x}\thesection", r"\thesection"),
        (r"\newcommand{\frac}{x}\frac", r"\frac"),
        (r"\def\a#1#2{#2#1}\a{x}{y}", "yx"),
        (r"\def\a(#1){x}z \a(1)", r"z \a(1)"),
        (r"\def\a (" + "x" * 200 + r"){y}z", " (" + "x" * 200 + "){y}z"),
        (r"\def a{x}z", "z"),
        (r"\let\a=\beta$\a b$", r"$\beta b$"),
        (r"\newcommand\q{Q}\let\a\q\renewcommand\q{R}\a", "Q"),
        (r"\let\a\a$\a$", r"$\a$"),
        (r"\let ab c", " c"),
        (r"\DeclareMathOperator{\Hom}{Hom}$\Hom x$", r"$\operatorname{Hom} x$"),
        (r"\DeclareMathOperator*{\Hom}{Hom}$\Hom_x$", r"$\operatorname*{Hom}_x$"),
        (
            r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}$\abs{x}\abs*{y}\abs[\big]{z}$",
            r"$\lvert x\rvert \lvert y\rvert \lvert z\rvert $",
        ),
        ("\\newcommand{\\a}{x\n\n y% c\n z}\\a", r"x\par yz"),
        (r"\newcommand", ""),
        (r"\def", ""),
        ("\\newcommand\n\nx", "\n\nx"),
    ],
)
def test_macros_are_expanded_as_tex_does(source: str, text: str) -> None:
    assert expanded(source).text == text


@pytest.mark.parametrize(
    ("arguments", "used", "text"),
    [
        ("", r"\p", "[|]"),
        ("m m", r"\p{a}{b}", "[a|b]"),
        ("mm", r"\p{a}{b}", "[a|b]"),
        ("o m", r"\p[a]{b}\p{c}", "[a|b][|c]"),
        ("om", r"\p[a]{b}", "[a|b]"),
        ("O{x y} m", r"\p[a]{b}\p{c}", "[a|b][x y|c]"),
        ("m m m m m m m m m", r"\p 123456789", "[1|2]"),
        ("o m m m m m m m m", r"\p 12345678", "[|1]"),
        # Commands with unsupported arguments are not expanded.
        ("m m m m m m m m m m", r"\p 1234567890", r"\p 1234567890"),
        ("o m m m m m m m m m", r"\p 123456789", r"\p 123456789"),
        ("s m", r"\p{b}", r"\p{b}"),
        ("m o", r"\p{b}", r"\p{b}"),
    ],
)
def test_commands_of_xparse_take_mandatory_and_one_optional_argument(
    arguments: str, used: str, text: str
) -> None:
    source = rf"\NewDocumentCommand{{\p}}{{{arguments}}}{{[#1|#2]}}{used}"
    assert expanded(source).text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\newcommand{\b}{b}$\alpha\b$", r"$\alpha b$"),
        (r"\newcommand{\b}{2}$\alpha\b$", r"$\alpha2$"),
        (r"\newcommand{\x}{\alpha}$\x y$", r"$\alpha y$"),
        (r"\newcommand{\x}{\alpha}$\x$y", r"$\alpha$y"),
        (r"\hbox to 3cm{a}", r"\hbox{a}"),
        (r"\hbox spread \x b", r"\hbox b"),
        (r"\mathchoice{a}{b}{c}{d} x", "a{} x"),
        (r"\raisebox{2pt}{$x$} y", r"\ensuremath{x} y"),
        (r"\raisebox{2pt}[1pt][2pt]{ $x$ } y", r"\ensuremath{x} y"),
        (r"\raisebox{2pt}{a$x$b} y", "a$x$b y"),
        (r"\raisebox{1pt}{$x$ and $y$}", "$x$ and $y$"),
        (r"x\\[1ex]y\\ [1ex]z\\*w", r"x\\y\\z\\w"),
        (r"\section{\R}", heading(2, r"\R{}")),
    ],
)
def test_a_command_stays_separate_from_the_text_after_it(source: str, text: str) -> None:
    assert expanded(source).text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"see \url{http://a.b/c_d#e%20f} now", r"see http://a.b/c\_d\#e\%20f now"),
        (r"see \href{http://a.b/%20{x}}{the page} now", "see {the page} now"),
        (r"see \href[pdfnewwindow]{a}{the page}", "see {the page}"),
        (r"\href{a", "{a"),
        (r"\href ab", "b"),
        (r"\href{" + "a" * 2_500 + "}{b}", "{b}"),
        (r"\mintinline{python}{a_b} x", r"a\_b x"),
        (r"\mintinline[o]{python}|a_b| x", r"a\_b x"),
        (r"\lstinline[language=C]|x{| y", r"x\{ y"),
        (r"\lstinline{a$b} y", r"a\$b y"),
        (r"\verb*|a b| c", "a b c"),
        (r"\verb|a\b^c| d", "a b c d"),
        ("\\verb|a\nb| c", "|a\nb| c"),
        (r"\verb|ab", "|ab"),
        (r"\verb a b", " a b"),
        (r"\verb", ""),
        (r"\verb||x", "x"),
    ],
)
def test_urls_and_code_become_plain_text(source: str, text: str) -> None:
    assert expanded(source).text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\part{P}", heading(0, "P")),
        (r"\chapter[short]{C}", heading(1, "C")),
        (r"\section*{S}", heading(2, "S")),
        (r"\subsection{T}", heading(3, "T")),
        (r"\frametitle{F}", heading(3, "F")),
        (r"\input{inner}", heading(2, "Inner", "inner.tex")),
        (r"\newcommand{\section}{x}\section{T}", heading(2, "T")),
        (r"\subsubsection*{T}text", "\n\nT. text"),
        (r"\paragraph[s]{Q}text", "\n\nQ. text"),
        (r"\caption[s]{Cap} x", "\n\nCap\n x"),
        (r"a\footnote[3]{note $x$} b", "a (note $x$) b"),
        (r"\begin{enumerate}[start=3]\item a \item[b)] b \item c\end{enumerate}",
         "\n\n3.  a \\item b)  b \n4.  c\n"),
        (r"\begin{enumerate}\item a\begin{enumerate}\item b\begin{itemize}\item c\end{itemize}"
         r"\item d\end{enumerate}\item e\end{enumerate}\end{enumerate}",
         "\n\n1.  a\n\n(a)  b\n\\item  c\n\n(b)  d\n\n2.  e\n\n"),
        (r"\begin{itemize}\item[a)] x \item y\end{itemize}", "\n\\item a)  x \\item  y\n"),
        (r"\begin{frame}[fragile]{A title}Text\end{frame}", "\n\nA title. Text\n"),
        (r"\begin{block}{B}Text\end{block}", "\n\nB. Text\n"),
        (r"\begin{frame}Text\end{frame}", "\n\nText\n"),
        (r"\begin{frame}", "\n\n"),
        (r"\begin{quote}a\end{quote}b", "\na\nb"),
        (r"\begin{tikzpicture}a\end{tikzpicture}b", "b"),
        (r"\begin{tikzpicture}a\begin{tikzpicture}b", "ab"),
        (r"\begin{narrowmultline*}a\end{narrowmultline*}",
         r"\begin{multline*}a\end{multline*}"),
        (r"\newenvironment{e}[1]{(#1:}{)}\begin{e}{x}in\end{e}", "(x:in)"),
        (r"\newenvironment*{e}[2][d]{(#1#2:}{)}\begin{e}{x}in\end{e}", "(dx:in)"),
        (r"\newenvironment{e}{\catcode x}{y}\begin{e}z\end{e}", "\nz\n"),
        (r"\newenvironment{verbatim}{x}{y}\begin{verbatim}z\end{verbatim}", ""),
    ],
)  # fmt: skip
def test_the_structure_of_a_document_is_kept(source: str, text: str) -> None:
    assert expanded(source).text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\begin{lemma}[Zorn]X\end{lemma}y", "\n\nLemma (Zorn). X\n\ny"),
        (r"\begin{lemma*}X\end{lemma*}y", "\n\nLemma. X\n\ny"),
        (r"\begin{proof}X\end{proof}y", "\n\nProof. X\n\ny"),
        (r"\newtheorem{t}{Satz}[section]\begin{t}X\end{t}y", "\n\nSatz. X\n\ny"),
        (r"\newtheorem{t}[other]{Satz}\begin{t}X\end{t}", "\n\nSatz. X\n\n"),
        (r"\newtheorem*{t}{Satz}\begin{t}X\end{t}", "\n\nSatz. X\n\n"),
        (r"\spnewtheorem{t}{Satz}{\bfseries}{\itshape}\begin{t}X\end{t}", "\n\nSatz. X\n\n"),
        (r"\declaretheorem[style=plain, name = Satz]{t}\begin{t}X\end{t}", "\n\nSatz. X\n\n"),
        (r"\declaretheorem[title={Der Satz}]{t}\begin{t}X\end{t}", "\n\nDer Satz. X\n\n"),
        (r"\declaretheorem{conj1}[x]\begin{conj1}X\end{conj1}", "\n\nConj1. X\n\n"),
    ],
)
def test_theorems_have_the_names_that_latex_prints(source: str, text: str) -> None:
    assert expanded(source).text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\vspace*{3pt}a\hspace{2em}b\setcounter{a}{3}c", "abc"),
        (r"\titleformat{a}[b]{c}[d]{e}{f}{g}h\multirow{2}[3]{*}x", "hx"),
        (r"\setcounter{a}", ""),
        (r"\vskip 3pt plus 1fil x\parindent=0pt y\kern-1.5em z", " x y z"),
        (r"\ifdraft a\else b\fi c", " a b c"),
        (r"a\iffalse b \ifx c \fi d\fi e", "a e"),
        (r"a\iffalse b\iffalse c", "a b c"),
        (r"$p\iff q$ \iffalse $\iff$ \fi b", r"$p\iff q$  b"),
        (r"\newcommand{\eq}{\iff}$a\eq b$", r"$a\iff b$"),
        (r"\foo[width=3]{x}", r"\foo{x}"),
        (r"\foo[htb]x\foo[3pt]y", r"\foo x\foo y"),
        (r"$\foo[x+1]{x}$", r"$\foo[x+1]{x}$"),
        (r"\footnote[{]}]{x}y", " (x)y"),
        (r"\footnote[[a]]{x}y", " (x)y"),
        ("\\footnote[a%]\n]{x}y", " (x)y"),
        (r"\footnote[{a]{x}y", " ([){a]{x}y"),
        (r"\footnote[}]{x}y", " ([)}]{x}y"),
        (r"\foo[" + "a" * 3_000 + "]", r"\foo[" + "a" * 3_000 + "]"),
        ("a% note\n  b", "ab"),
        (r"a\% b", r"a\% b"),
        ("\ue010a\ue018", "a"),
        ("a\\", "a"),
    ],
)
def test_layout_commands_and_disabled_text_are_removed(source: str, text: str) -> None:
    assert expanded(source).text == text


@pytest.mark.parametrize(
    ("source", "text", "files"),
    [
        (r"\input{b} x", "B x", ["b.tex"]),
        (r"\input b x", "B x", ["b.tex"]),
        (r'\input{"b"}', "B", ["b.tex"]),
        (r"\import{sub}{c} x", "C x", ["sub/c.tex"]),
        (r"\import{sub/}{c} x", "C x", ["sub/c.tex"]),
        (r"\import{}{b} x", "B x", ["b.tex"]),
        (r"\InputIfFileExists{b}{yes}{no} x", "B x", ["b.tex"]),
        (r"1 \input{stops} 2", "1 kept  2", ["stops.tex"]),
        (r"1 \input{twice} 2", "1  kept  2", ["twice.tex"]),
        (r"\usepackage[o]{amsmath, own}[2020]\own x", "mine x", ["own.sty"]),
        (r"\usepackage{own}\usepackage{own,}\own", "mine", ["own.sty"]),
        (r"\documentclass{own}\lent", "theirs", ["own.cls"]),
        (r"\include{b}\input{b}", "BB", ["b.tex", "b.tex"]),
        (r"\input{}x", "x", []),
    ],
)
def test_included_files_replace_the_commands_that_include_them(
    source: str, text: str, files: list[str]
) -> None:
    document = expanded(source)
    assert (document.text, document.files, document.missing) == (text, ["a.tex", *files], [])


def test_missing_files_are_listed() -> None:
    assert expanded(r"\input{nowhere}x\import{sub}{gone}").missing == ["nowhere", "sub/gone"]


def test_only_the_title_is_kept_from_the_preamble() -> None:
    source = r"no \title[s]{T} no\begin{document}x\begin{document}y\end{document}after"
    assert expanded(source).text == "\ue017T\ue018xy"
    assert expanded(r"no\begin{document}x").text == "x"


def test_macros_that_expand_without_end_are_cut_off() -> None:
    document = expanded(r"\newcommand{\a}{\a\a}\a x")
    assert (document.text, document.is_cut) == (" x", True)
    assert not expanded(r"\newcommand{\a}{b}\a").is_cut


def test_macros_may_produce_four_characters_for_each_character_of_the_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tex_expansion, "_BUDGET", 0)
    definition = r"\newcommand{\a}{" + "b" * 68 + r"}\a"  # 87 characters
    assert len(definition) == 87
    # Each use costs the length of its text plus 32: 87 * 4 = 348 = 3 * 100 + 48.
    assert not expanded(definition).is_cut
    monkeypatch.setattr(tex_expansion, "_BUDGET", 100 - 348)
    assert expanded(definition).is_cut
    monkeypatch.setattr(tex_expansion, "_BUDGET", 101 - 348)
    assert not expanded(definition).is_cut


def test_formulas_without_macros_are_kept_as_written() -> None:
    macros = FormulaMacros()
    assert macros.expand(r"<p>$\def\R{\mathbb R}$ and $x &#60; y$</p>", "html") == (
        "<p> and $x &#60; y$</p>"
    )
    assert macros.expand(r"$$x &#60; \R$$", "html") == r"$$x &lt; \mathbb R$$"


def test_macros_may_produce_half_a_million_additional_characters() -> None:
    # Each of the 510 uses costs 968 + 32 characters; its own two characters allow eight more.
    body = "b" * 968
    definition = rf"\newcommand{{\a}}{{{body}}}"
    padding = "c" * (248 * 510 - 125_000 - len(definition))
    spent = expanded(definition + padding + r"\a" * 510)
    assert spent.is_cut
    assert spent.text == padding + body * 509
    enough = expanded(definition + padding + "c" + r"\a" * 510)
    assert not enough.is_cut
    assert enough.text == padding + "c" + body * 510


def test_a_document_consists_of_at_most_a_thousand_files() -> None:
    names = iter(range(5_000))
    many = expand(r"\input{x}" * 1_100, "a.tex", lambda name, origin: ("x", f"{next(names)}"))
    assert (len(many.files), many.text) == (1_000, "x" * 999)
    many = expand(r"\usepackage{x}" * 1_100, "a.tex", lambda name, origin: ("", f"{next(names)}"))
    assert len(many.files) == 1_000
    names_of = ",".join(f"p{number}" for number in range(60))
    some = expand(rf"\usepackage{{{names_of}}}", "a.tex", lambda name, origin: ("", name))
    assert len(some.files) == 51


def test_macros_are_expanded_up_to_sixty_levels_deep() -> None:
    names = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}x" for number in range(70)]
    chain = "".join(
        rf"\newcommand{{\{name}}}{{{number} \{names[number + 1]}.}}"
        for number, name in enumerate(names[:-1])
    )
    text = expanded(chain + rf"\{names[0]}").text
    assert text.split() == [*map(str, range(59)), "." * 59]


def test_the_length_of_options_code_and_urls_is_limited() -> None:
    # The 2,000 characters of an option include both of its brackets.
    assert expanded(rf"\footnote[{'a' * 1_998}]{{x}}").text == " (x)"
    assert expanded(rf"\footnote[{'a' * 1_999}]{{x}}").text.startswith(" ([)aaa")
    assert expanded(rf"\verb|{'a' * 1_998}|b").text == "a" * 1_998 + "b"
    assert expanded(rf"\verb|{'a' * 2_000}|b").text == f"|{'a' * 2_000}|b"
    assert expanded(rf"\url{{{'%' * 1_999}}}b").text == r"\%" * 1_999 + "b"
    assert expanded(rf"\url{{{'%' * 2_000}}}b").text == "{"
    assert expanded(rf"\footnote[{'[]' * 49}]{{x}}").text == " (x)"
    assert expanded(rf"\footnote[{'[]' * 50}]{{x}}").text.startswith(" ([)[]")


def test_the_body_of_a_macro_is_found_within_two_hundred_characters() -> None:
    for length, text in ((199, "z"), (200, "(" + "x" * 199 + "{y}z")):
        assert expanded(rf"\def\a({'x' * (length - 1)}{{y}}z").text == text


def test_the_search_for_a_file_gets_the_name_of_the_including_file() -> None:
    asked: list[tuple[str, str]] = []

    def watched(name: str, origin: str) -> tuple[str, str] | None:
        asked.append((name, origin))
        return (r"\input{deep}", "sub/b.tex") if name == "b" else None

    expand(r"\newcommand{\take}[1]{\input{#1}}\take{b}\usepackage{own}", "a.tex", watched)
    assert asked == [("b", "a.tex"), ("deep", "sub/b.tex"), ("own.sty", "a.tex")]


def test_a_file_does_not_include_itself_or_the_files_that_include_it() -> None:
    def circle(name: str, origin: str) -> tuple[str, str]:
        return ("b \\input{a} \\input{b}", "b.tex") if name == "b" else ("a \\input{b}", "a.tex")

    document = expand(r"a \input{b}", "a.tex", circle)
    assert (document.text.split(), document.files) == (["a", "b"], ["a.tex", "b.tex"])
