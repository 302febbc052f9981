"""Typed queries: which parts are formulas, their LaTeX, and that no character is lost."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.typed_queries import QUERIES, found_in, measure_formulas, read_queries
from mathsetu.formulas.parse import parse_latex
from mathsetu.intake.question import Question, topic_question, typed_question
from mathsetu.intake.typed import formula_as_latex, read_typed
from mathsetu.library import Library, build_library
from mathsetu.records import Formula, Post, Query
from tests.light import LIGHT
from tests.test_linear import FORMULAS, PROSE
from tests.timing import assert_grows_at_most

PIECES = [
    "x", "x^2", " ", "  ", "a/b", "sqrt(", ")", "(", "|", "||", "$", "$$", "\\(", "\\)", "\\frac{",
    "}", "{", "\\", "\\pi", "∑", "∫₀^∞", "√", "²", "₁", "=", "<=", "->", "-", "--", ",", "...",
    "and", "the", "is", "समाकल", "عدد", "π", "<math>", "</math>", "<mi>x</mi>", "!", "'", "’s",
    "lim", "sum_", "mod", "choose", "?x", "\n", "1", "3.14", "12/05/2024", "a@b.c", "https://a=b",
    "nabla", "partial", "forall", ".",
    "\\left(", "\\right)", "\\text{if }", "\\begin{align}", "&", "%", "f(", "[0,1)", "\u200c", "\0",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=30).map("".join)


@pytest.mark.thorough
def test_formulas_in_the_set_of_typed_queries_are_found_accurately(
    capsys: pytest.CaptureFixture[str],
) -> None:
    queries = list(read_queries(QUERIES))
    assert len(queries) >= 300
    assert {query.language for query in queries} >= {"en", "es", "cs", "hr", "fa", "hi", "ne"}
    precision, recall = measure_formulas(queries, wrong=False)
    assert capsys.readouterr().out
    assert precision >= 0.97
    assert recall >= 0.95


@given(TEXTS)
def test_no_character_is_lost_and_every_formula_can_be_parsed(text: str) -> None:
    spans = read_typed(text)
    assert "".join(span.raw for span in spans) == text
    for span in spans:
        if span.kind == "formula":
            assert span.content.strip()
            parse_latex(span.content)


@given(TEXTS)
def test_the_marked_text_of_a_typed_query_has_the_same_formulas(text: str) -> None:
    question = typed_question(text)
    again = Question(Query("", question.text))
    assert set(question.marked.formulas) == set(again.marked.formulas)


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("x^10", "x^{10}"),
        ("sqrt(2 pi n)", r"\sqrt{2\pi n}"),
        ("n(n+1)/2", r"\frac{n(n+1)}{2}"),
        ("∑ 1/n² = π²/6", r"\sum \frac{1}{n^2}=\frac{\pi^2}{6}"),
        ("∫₀^∞ e^(-x) dx", r"\int_0^{\infty} e^{-x}dx"),
        ("a <= b != c", r"a\le b\ne c"),
        ("lim x->0 sin(x)/x", r"\lim_{x\to 0} \frac{\sin(x)}{x}"),
        ("∫ sin x/x dx", r"\int \frac{\sin x}{x}dx"),
        ("cos nx/n", r"\frac{\cos nx}{n}"),
        ("sin x/2", r"\sin \frac{x}{2}"),
        ("tan 2/2", r"\tan \frac{2}{2}"),
        ("sen^2 x", r"\sin^2 x"),
        ("n choose k", r"\binom{n}{k}"),
        ("binom(n,k)", r"\binom{n}{k}"),
        ("binomial(2n, n)", r"\binom{2n}{n}"),
        ("binom(n+1,f(a,b))/2", r"\frac{\binom{n+1}{f(a,b)}}{2}"),
        ("sum_{k=0}^n binom(n,k) = 2^n", r"\sum_{k=0}^n \binom{n}{k}=2^n"),
        ("binom(n,k,l)", r"\operatorname{binom}(n,k,l)"),
        ("im(phi)", r"\operatorname{im}(\phi)"),
        ("G/ker(phi) ≅ im(phi)", r"G/\ker(\phi)\cong \operatorname{im}(\phi)"),
        ("a ≡ b (mod n)", r"a\equiv b \pmod{n}"),
        ("x ≡ a mod n", r"x\equiv a\bmod n"),
        ("?x ≡ ?a mod ?n", r"?x\equiv ?a\bmod ?n"),
        ("x = a mod ?n", r"x\equiv a\bmod ?n"),
        ("x = y = a (mod n)", r"x=y\equiv a \pmod{n}"),
        ("x ≡ a mod pq", r"x\equiv a\bmod pq"),
        ("x ≡ a mod phi(n)", r"x\equiv a\bmod \phi(n)"),
        (r"x \equiv a mod n", r"x \equiv a \bmod n"),
        (r"x \equiv a (mod n)", r"x \equiv a (\bmod n)"),
        ("Gal(L/K)", r"\operatorname{Gal}(L/K)"),
        ("Spec(R/I) -> Spec(R)", r"\operatorname{Spec}(R/I)\to \operatorname{Spec}(R)"),
        ("Pr(A|B)", r"\operatorname{Pr}(A|B)"),
        ("supp(f)", r"\operatorname{supp}(f)"),
        ("sech^2 x", r"\operatorname{sech}^2 x"),
        ("|x-y|", "|x-y|"),
        ("||x||", r"\|x\|"),
        ("|x|<1", "|x|<1"),
        ("|xy|", "|xy|"),
        ("|x y|", "|xy|"),
        ("|u.v|", r"|u\cdot v|"),
        ("2|x|", "2|x|"),
        ("|a| |b|", "|a||b|"),
        ("|x||y|", "|x||y|"),
        ("|a||b|cos(theta)", r"|a||b|\cos(\theta)"),
        (r"|\vec a||\vec b|", r"|\vec a||\vec b|"),
        ("|x|||y||", "|x|||y||"),
        ("||u|| ||v||", r"\|u\|\|v\|"),
        ("‖Ax‖ ≤ ‖A‖ ‖x‖", r"\|Ax\|\leq \|A\|\|x\|"),
        (r"\|u\| \|v\|", r"\|u\| \|v\|"),
        ("|ab| = |a| |b|", "|ab|=|a||b|"),
        ("|xy| = |x||y|", "|xy|=|x||y|"),
        ("|G| = [G:H] |H|", "|G|=[G:H]|H|"),
        ("|<u,v>| <= ||u|| ||v||", r"|\langle u,v\rangle|\le \|u\|\|v\|"),
        ("||x+y|| <= ||x|| + ||y||", r"\|x+y\|\le \|x\|+\|y\|"),
        ("||x| - |y|| <= |x-y|", "||x|-|y||\\le |x-y|"),
        ("|x - 2 | < 3", "|x-2|<3"),
        ("|x_{word}| < 1", r"|x_{\text{word}}|<1"),
        ("|x|/x", r"\frac{|x|}{x}"),
        ("sqrt|x|", r"\sqrt{|x|}"),
        ("e^-|x|", "e^{-|x|}"),
        ("sin |x|", r"\sin |x|"),
        ("(abs |x|)", r"(\operatorname{abs} |x|)"),
        ("P(A|B)", "P(A|B)"),
        ("{x | x > 0}", r"\{x|x>0\}"),
        ("{x||x|<1}", r"\{x||x|<1\}"),
        ("a|b", "a|b"),
        ("D(P||Q)", r"D(P\|Q)"),
        ("e^x^2", "e^{x^{2}}"),
        ("२x + ३ = ७", "2x+3=7"),
        ("∂f/∂x", r"\frac{\partial f}{\partial x}"),
        (r"\frac{a}{b", r"\frac{a}{b}"),
        ("abs(x)", "|x|"),
        ("x ∈ ℝ", r"x\in \mathbb{R}"),
        ("<math><msup><mi>x</mi><mn>2</mn></msup></math>", "x^{2}"),
        ("<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>", r"\frac{a}{b}"),
    ],
)
def test_a_typed_formula_is_converted_to_latex(typed: str, latex: str) -> None:
    [span] = read_typed(typed)
    assert (span.kind, span.content.strip(), span.raw) == ("formula", latex, typed)


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("a b/c", r"\frac{ab}{c}"),
        ("a*b/c", r"\frac{a*b}{c}"),
        ("a·b/c", r"\frac{a\cdot b}{c}"),
        ("n*(n+1)/2", r"\frac{n*(n+1)}{2}"),
        ("n * (n+1) / 2", r"\frac{n*(n+1)}{2}"),
        ("n(n+1)*(2n+1)/6", r"\frac{n(n+1)*(2n+1)}{6}"),
        ("G*m1*m2/r^2", r"\frac{G*m_1*m_2}{r^2}"),
        ("2*pi*r/3", r"\frac{2*\pi *r}{3}"),
        ("1 - a*b/c", r"1-\frac{a*b}{c}"),
        ("sin x * cos x / x", r"\frac{\sin x*\cos x}{x}"),
        ("1/2*m*v^2/r", r"\frac{1}{2}*\frac{m*v^2}{r}"),
        ("a/b*c/d", r"\frac{a}{b}*\frac{c}{d}"),
        ("R/I*a*b/c", r"R/I*\frac{a*b}{c}"),
        ("x*dy/dx", r"x*\frac{dy}{dx}"),
        ("x * 3/4", r"x*\frac{3}{4}"),
        ("x*1/2", r"x*\frac{1}{2}"),
        ("2*3/4", r"\frac{2*3}{4}"),
        ("Z × Z/2", r"Z\times Z/2"),
        ("x + a b / c", r"x+\frac{ab}{c}"),
        ("G m_1 m_2 / r^2", r"\frac{Gm_1m_2}{r^2}"),
        ("E_n = -13.6 eV / n^2", r"E_n=-\frac{13.6eV}{n^2}"),
        ("2 pi / 3", r"\frac{2\pi}{3}"),
        ("2 sin x cos x / 3", r"\frac{2\sin x\cos x}{3}"),
        ("sin x cos y/2", r"\sin x\cos \frac{y}{2}"),
        ("f(x) g(x) / h(x)", r"\frac{f(x)g(x)}{h(x)}"),
        ("P V / T = n R", r"\frac{PV}{T}=nR"),
        ("a b / c d", r"\frac{ab}{c}d"),
        ("a b / c / d", r"\frac{\frac{ab}{c}}{d}"),
        ("1/2 m v^2", r"\frac{1}{2}mv^2"),
        ("1/2 m v^2 / r", r"\frac{1}{2}\frac{mv^2}{r}"),
        ("F = ½ m v² / r", r"F=\frac{1}{2}\frac{mv^2}{r}"),
        ("a/b c/d", r"\frac{a}{b}\frac{c}{d}"),
        ("n!/k! (n-k)!", r"\frac{n!}{k!}(n-k)!"),
        ("R/I S/J", "R/IS/J"),
        ("sum_{n} x^n / n!", r"\sum_n \frac{x^n}{n!}"),
        ("x dy/dx + y = 0", r"x\frac{dy}{dx}+y=0"),
        ("m d²x/dt² = F", r"m\frac{d^2x}{dt^2}=F"),
        ("c² ∂²u/∂x²", r"c^2\frac{\partial^2 u}{\partial x^2}"),
        ("x d/dx", r"x\frac{d}{dx}"),
    ],
)
def test_a_slash_divides_the_whole_product_before_it_with_or_without_spaces(
    typed: str, latex: str
) -> None:
    assert typed_question(typed).formulas == (latex,)


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("x = (-b ± sqrt(D))/2a", r"x=\frac{-b\pm \sqrt{D}}{2a}"),
        ("-h^2/2m + V", r"-\frac{h^2}{2m}+V"),
        ("h/2pi", r"\frac{h}{2\pi}"),
        ("q/4πε0r^2", r"\frac{q}{4\pi \varepsilon_0 r^2}"),
        ("hc/2λk", r"\frac{hc}{2\lambda k}"),
        ("x/2?a", r"\frac{x}{2?a}"),
        ("sin x/2x", r"\frac{\sin x}{2x}"),
        ("b/2 a", r"\frac{b}{2}a"),
        ("b/2*a", r"\frac{b}{2}*a"),
        ("1/2at^2", r"\frac{1}{2}at^2"),
        ("x*1/2a", r"x*\frac{1}{2}a"),
        ("2.5/3πr^3", r"\frac{2.5}{3}\pi r^3"),
        ("x/2(y+1)", r"\frac{x}{2}(y+1)"),
        ("x/2a(y+1)", r"\frac{x}{2}a(y+1)"),
        ("x/2 sin y", r"\frac{x}{2}\sin y"),
        ("int x/2dx", r"\int \frac{x}{2}dx"),
        ("int x/2xdx", r"\int \frac{x}{2}xdx"),
    ],
)
def test_a_slash_divides_by_a_number_with_the_letters_directly_after_it(
    typed: str, latex: str
) -> None:
    assert typed_question(typed).formulas == (latex,)


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("a^phi(n)", r"a^{\phi(n)}"),
        ("e^-sin(x) + 1", r"e^{-\sin(x)}+1"),
        ("x^f(t+1)", "x^{f(t+1)}"),
        ("x^n(t+1)", "x^n(t+1)"),
        ("x_phi(n)", r"x_{\phi}(n)"),
    ],
)
def test_brackets_after_a_function_in_a_script_are_its_argument(typed: str, latex: str) -> None:
    assert typed_question(typed).formulas == (latex,)


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("(fg)'", ("(fg)'",)),
        ("what is the derivative of (fg)'", ("(fg)'",)),
        ("the thing (of)' it", ()),
        ("what are f' and (uv)' here", ("(uv)'",)),
        ("d/dx (f g) = f' g + f g'", ("\\frac{d}{dx}(fg)=f'g+fg'",)),
        ("what is d/dx (uv)?", ("\\frac{d}{dx}(uv)",)),
        ("d/dt (see below)", ("\\frac{d}{dt}",)),
        ("(uv)'", ("(uv)'",)),
        ("(uv)’", ("(uv)'",)),
        ("(fg)''", ("(fg)''",)),
        ("(ab)!", ("(ab)!",)),
        *((prose, ()) for prose in ("(uv)", "(old)'", "great (really)!", "the 'big (uv)' test")),
    ],
)
def test_a_product_in_brackets_before_a_prime_or_factorial_is_a_formula(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("uv' + u'v", ("uv'+u'v",)),
        ("fg'-f'g", ("fg'-f'g",)),
        ("uv' = x", ("uv'=x",)),
        ("ay''+by'+cy=0", ("ay''+by'+cy=0",)),
        ("solve ay'' + by' + cy = 0", ("ay''+by'+cy=0",)),
        ("mx'' = -kx", ("mx''=-kx",)),
        ("ty' = y", ("ty'=y",)),
        ("ay’’+by’=0", ("ay''+by'=0",)),
        *((prose, ()) for prose in ("the ab' test", "us' + them", "uv' light", "is' = not")),
    ],
)
def test_a_primed_product_before_an_operator_begins_a_formula(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("A = U S V^T", ("A=USV^T",)),
        ("M = P K Q", ("M=PKQ",)),
        ("AD/AB = AE/AC", (r"\frac{AD}{AB}=\frac{AE}{AC}",)),
        ("why is AD/AB = 2", (r"\frac{AD}{AB}=2",)),
        *((prose, ()) for prose in ("U S dollars", "AC/DC = band", "TCP/IP = protocol", "AB/CD")),
    ],
)
def test_capital_letters_in_an_equation_are_factors_or_segments(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("m1 m2/r^2", (r"\frac{m_1m_2}{r^2}",)),
        ("Gesetz G m1 m2/r^2 von Newton", (r"\frac{Gm_1m_2}{r^2}",)),
        ("Gm1m2/r^2", (r"\frac{Gm_1m_2}{r^2}",)),
        ("F = Gm1m2/r^2", (r"F=\frac{Gm_1m_2}{r^2}",)),
        ("q2 q3/r^2", (r"\frac{q_2q_3}{r^2}",)),
        ("R2 R3/(R2+R3)", (r"\frac{R_2R_3}{R_2+R_3}",)),
        ("m1 v1 + m2 v2 = m1 u1 + m2 u2", ("m_1v_1+m_2v_2=m_1u_1+m_2u_2",)),
        ("p1 V1 = p2 V2", ("p_1V_1=p_2V_2",)),
        ("a11 a22 - a12 a21", ("a_{11}a_{22}-a_{12}a_{21}",)),
        ("n1 sin θ1 = n2 sin(theta2)", (r"n_1\sin \theta_1 =n_2\sin(\theta_2)",)),
        ("x² + y1", ("x^2+y_1",)),
        ("f(x)2 + x²3", ("f(x)2+x^23",)),
        ("x2^2 + 1", ("x_2^2+1",)),
        ("f1(x) + f2(x)", ("f_1(x)+f_2(x)",)),
        ("v1 = 3, v2 = 4", ("v_1=3", "v_2=4")),
        ("x1 = 5 x2 = 6", ("x_1=5", "x_2=6")),
        ("si x1 = 2 y x2 = 3", ("x_1=2", "x_2=3")),
        ("x2 + y2 = r2", ("x^2+y^2=r^2",)),
        ("ax2 + bx + c = 0", ("ax^2+bx+c=0",)),
        ("E = mc2", ("E=mc^2",)),
        ("1/2 mv2", (r"\frac{1}{2}mv^2",)),
        ("mv2/r", (r"\frac{mv^2}{r}",)),
        *((prose, ()) for prose in (
            "x2", "m1 m2", "for all x1 x2 we have", "type M1 M2 macs", "mp3/mp4 player",
            "mp3 - a guide", "chi2 test", "beta2-agonist", "question Q1(a)", "a 3x3 matrix",
        )),
    ],
)  # fmt: skip
def test_a_digit_directly_after_a_letter_is_an_index_or_an_exponent(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("2 G M / R", (r"\frac{2GM}{R}",)),
        ("G M m/r^2", (r"\frac{GMm}{r^2}",)),
        ("GMm/r^2", (r"\frac{GMm}{r^2}",)),
        ("½ m v² / r", (r"\frac{1}{2}\frac{mv^2}{r}",)),
        ("n (n+1)/2", (r"\frac{n(n+1)}{2}",)),
        ("s = v t + 1/2 a t^2", (r"s=vt+\frac{1}{2}at^2",)),
        ("x = 1/2 a y^2 = 3", (r"x=\frac{1}{2}", "y^2=3")),
        ("x y-axis", ()),
        ("points A B C", ()),
    ],
)
def test_letters_separated_by_spaces_are_factors_if_an_operator_follows(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("E = ħω", (r"E=\hbar \omega",)),
        ("E = hbar omega", (r"E=\hbar \omega",)),
        ("uncertainty Δx Δp >= ħ/2", (r"\Delta x\Delta p\ge \frac{\hbar}{2}",)),
        ("relación ∆x ∆p ≥ hbar/2", (r"\Delta x\Delta p\geq \frac{\hbar}{2}",)),
        ("E_n = ħω(n+1/2)", (r"E_n=\hbar \omega(n+\frac{1}{2})",)),
        ("[x,p] = i hbar", (r"[x,p]=i\hbar",)),
        ("[x,p] = iħ", (r"[x,p]=i\hbar",)),
        ("p = ħk", (r"p=\hbar k",)),
        ("p = hbar k", (r"p=\hbar k",)),
        ("hbar^2 k^2", (r"\hbar^2 k^2",)),
        (r"hbar \omega", (r"\hbar \omega",)),
        ("was ist ħ?", (r"\hbar",)),
        ("ħafna għal il-ħin, ħu, aħ u għ", ()),
        ("Ħal Għaxaq", ()),
    ],
)
def test_the_planck_constant_is_distinguished_from_a_letter_of_maltese(
    typed: str, formulas: tuple[str, ...]
) -> None:
    question = typed_question(typed)
    assert question.formulas == formulas
    assert question.reading == tuple(read_typed(typed))


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("Δx Δp ≥ 1/2", r"\Delta x\Delta p\geq \frac{1}{2}"),
        ("a = Δv/Δt", r"a=\frac{\Delta v}{\Delta t}"),
        ("∆y/∆x", r"\frac{\Delta y}{\Delta x}"),
        ("Delta v / Delta t = a", r"\frac{\Delta v}{\Delta t}=a"),
        ("F = m Δv/Δt", r"F=m\frac{\Delta v}{\Delta t}"),
        ("Δ(G) + Δ2", r"\Delta(G)+\Delta^2"),
    ],
)
def test_a_delta_and_its_letter_are_one_factor_also_in_a_denominator(
    typed: str, latex: str
) -> None:
    assert typed_question(typed).formulas == (latex,)


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("H|ψ⟩ = E|ψ⟩", (r"H|\psi\rangle =E|\psi\rangle",)),
        ("H|psi> = E|psi> in one dimension", (r"H|\psi\rangle =E|\psi\rangle",)),
        ("qué es |0⟩ + |1⟩ en física", (r"|0\rangle +|1\rangle",)),
        ("(|0⟩ + |1⟩)/√2", (r"\frac{|0\rangle +|1\rangle}{\sqrt{2}}",)),
        ("|ψ(t)⟩ = |n-1>", (r"|\psi(t)\rangle =|n-1\rangle",)),
        ("|↑⟩ and |+⟩", (r"|\uparrow\rangle", r"|+\rangle")),
        ("⟨ψ|A|ψ⟩/⟨ψ|ψ⟩", (r"\frac{\langle \psi |A|\psi\rangle}{\langle \psi |\psi\rangle}",)),
        ("|a⟩⟨b| + |c⟩⟨d|", (r"|a\rangle \langle b|+|c\rangle \langle d|",)),
        ("<psi|A|psi>", (r"\langle \psi |A|\psi\rangle",)),
        ("⟨x²⟩ - ⟨x⟩²", (r"\langle x^2\rangle -\langle x\rangle^2",)),
        ("{x|x> 0}", (r"\{x|x>0\}",)),
        ("P(X|Y>3)", ("P(X|Y>3)",)),
        ("|x| > 1", ("|x|>1",)),
        ("|x> -5", ("|x>-5",)),
        ("usage <on|off>", ()),
    ],
)
def test_a_bar_and_an_angle_enclose_a_quantum_state(typed: str, formulas: tuple[str, ...]) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("a†a", (r"a^{\dagger}a",)),
        ("A†", (r"A^{\dagger}",)),
        ("(AB)† = B†A†", (r"(AB)^{\dagger}=B^{\dagger}A^{\dagger}",)),
        ("[a,a†] = 1", (r"[a,a^{\dagger}]=1",)),
        (r"a† \psi", (r"a^\dagger \psi",)),
        ("Gauss† and Euler † 1783", ()),
    ],
)
def test_a_dagger_directly_after_an_operand_is_its_exponent(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("int u dv = u v - int v du", (r"\int udv=uv-\int vdu",)),
        ("integración por partes int u dv", (r"\int udv",)),
        ("int y dx", (r"\int ydx",)),
        ("unsigned int x", ()),
        ("int a b", ()),
    ],
)
def test_the_name_int_is_an_integral_if_a_differential_follows(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("3-4-5 triangle", ()),
        ("a 30-60-90 triangle", ()),
        ("10 - 3 - 2", ("10-3-2",)),
        ("3-4", ("3-4",)),
        ("3-4-5 = -6", ("3-4-5=-6",)),
    ],
)
def test_numbers_joined_by_several_hyphens_are_a_name(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        (
            "dim V = dim ker f + dim im f",
            (r"\dim V=\dim \ker f+\dim \operatorname{im} f",),
        ),
        ("dim Ker A = 0", (r"\dim \ker A=0",)),
        ("Det(A) = 0", (r"\det(A)=0",)),
        ("rang f = dim(im f)", (r"\operatorname{rank} f=\dim(\operatorname{im} f)",)),
        ("im f = ker g", (r"\operatorname{im} f=\ker g",)),
        ("V/ker φ ≅ im φ", (r"V/\ker \varphi \cong \operatorname{im} \varphi",)),
        ("x = 3 im R", ("x=3",)),
        ("ker f = 0 im V", (r"\ker f=0",)),
        ("Kugel (im R^3) – im R^3, max im R^3", ("R^3",)),
    ],
)
def test_the_image_of_a_map_is_distinguished_from_the_german_preposition(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("x = a mod in German", ["x = a"]),
        ("x = a mod der Zahl", ["x = a"]),
        ("x = a mod bug", ["x = a"]),
        ("x ≡ 1 mod a prime", ["x ≡ 1"]),
        ("x ≡ 1 mod k for all k", ["x ≡ 1 mod k"]),
        ("x ≡ a mod m, x ≡ b mod n", ["x ≡ a mod m", "x ≡ b mod n"]),
    ],
)
def test_a_modulus_ends_where_prose_begins(typed: str, formulas: list[str]) -> None:
    assert [span.raw for span in read_typed(typed) if span.kind == "formula"] == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("ad-bc", ["ad-bc"]),
        ("determinante ad-bc de una matriz", ["ad-bc"]),
        ("invertible if ad-bc ≠ 0?", ["ad-bc ≠ 0"]),
        ("xy-yz", ["xy-yz"]),
        ("ax - by", ["ax - by"]),
        ("ab-cd-ef = 0", ["ab-cd-ef = 0"]),
        ("solve ax-by=c", ["ax-by=c"]),
        ("ax+by=1 and ax-by = 1", ["ax+by=1", "ax-by = 1"]),
        ("2ax-by=c", ["2ax-by=c"]),
        ("ax-b=0", ["ax-b=0"]),
        ("ax-by", []),
        ("co-op = 5", []),
        ("co-op", []),
        ("ad-hoc", []),
        ("je-li to tak", []),
        ("dx-et", []),
        ("the st-nd rule", []),
        ("x-mas", []),
        ("an x-ad-bc thing", []),
    ],
)
def test_a_hyphen_between_letters_that_are_not_words_is_a_minus(
    typed: str, formulas: list[str]
) -> None:
    reading = typed_question(typed).reading
    assert [span.raw for span in reading if span.kind == "formula"] == formulas


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("mcd y mcm", []),
        ("sen y cos", []),
        ("sen y cos y tan", []),
        ("sin a cos?", []),
        ("MDC e MMC de 12 e 18", []),
        ("sen i cos (trigonometria)", []),
        ("lim sup y lim inf", []),
        ("sin y", ["sin y"]),
        ("sin x cos", ["sin x"]),
        ("sin y cos x", ["sin y cos x"]),
        ("sin y cos y", ["sin y cos y"]),
        ("sin y cos y tan x", ["sin y cos y tan x"]),
        ("sin y cos(x)", ["sin y cos(x)"]),
        ("sin y cos^2 x", ["sin y cos^2 x"]),
        ("sin y cos y dy", ["sin y cos y dy"]),
        ("x + sin y cos", ["x + sin y"]),
    ],
)
def test_a_letter_between_function_names_without_operands_is_the_word_and(
    typed: str, formulas: list[str]
) -> None:
    reading = typed_question(typed).reading
    assert [span.raw for span in reading if span.kind == "formula"] == formulas


@pytest.mark.parametrize(
    "prose",
    ["a mod 2 Moore space", "is a mod p representation reducible", "Theorem(s)", "Lemma (a)",
     "Beweis(idee)", "Figure(2)", "Stab(s)", "Spec(ification)", "Spec (R)", "the id(s) of users"],
)  # fmt: skip
def test_words_that_look_like_names_of_functions_and_operators_are_prose(prose: str) -> None:
    assert [span.kind for span in read_typed(prose)] == ["text"]


@pytest.mark.parametrize(
    ("given", "latex"),
    [
        (" sqrt(2) ", r"\sqrt{2}"),
        ("e^(i pi)+1=0", r"e^{i\pi}+1=0"),
        ("n choose k", r"\binom{n}{k}"),
        *(
            (same, same)
            for same in ("x", "ab", "a / b", "?a^2 + ?b^2", "{x", "{a}b", "x^2 is even")
        ),
        (r"\alpha^10", r"\alpha^10"),
    ],
)
def test_a_single_formula_is_latex_unless_it_is_in_typed_notation(given: str, latex: str) -> None:
    assert formula_as_latex(given) == latex


@pytest.mark.thorough
@pytest.mark.parametrize(
    "piece",
    ["a ", "x+", "(", "f(", "a, ", "1, ..., ", "|x ", "$", "\\frac{", "x^", "<math>", "a-", "√",
     "\\left( ", "word (", "a@", "[a,", "x:", "a_", "Σ", "\\text{a} ", "n!", "∀", "{", "'a",
     "|", "|x", "|x|", "||x| ", "(|x ", "{|x word ", "<a,", "(\n|x", "sin y ", "|x> ", "⟨x|", "⟩",
     "m1 ", "Δx ", "a†", "im f ", "int u ", "ħ ", "mp3 ", "<a|"],
)  # fmt: skip
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(piece)


@pytest.mark.exhaustive
@pytest.mark.thorough
@pytest.mark.parametrize("piece", sorted({*FORMULAS, *PROSE}))
def test_reading_takes_linear_time_for_every_repeated_piece(piece: str) -> None:
    assert_linear(piece)


def assert_linear(piece: str) -> None:
    """Compare with eight times the length, which takes 64 times as long in quadratic time."""

    small, large = (partial(read_typed, (piece * size)[:size]) for size in (1_000, 8_000))
    assert_grows_at_most(24, small, large)


def test_a_search_as_words_reads_only_delimited_formulas() -> None:
    text = "is x^2 + 1 = 0 like $y^2$"
    assert typed_question(text).formulas == ("x^2+1=0", "y^2")
    assert typed_question(text, as_words=True).formulas == ("y^2",)
    assert typed_question(text, as_words=True).text == text


def test_a_topic_is_read_as_typed_only_without_delimiters_and_given_formulas() -> None:
    text = "If $x$ is odd, is x^2 + 1 even?"
    assert (
        topic_question(Query("A.1", text)).marked.spans == Question(Query("A.1", text)).marked.spans
    )
    named = Query("B.1", "Is n^2 even?", formulas=(Formula("q_1", "x"),))
    assert topic_question(named).text == named.text
    assert topic_question(Query("A.2", "Is n^2 even?")).formulas == ("n^2",)


def test_a_price_next_to_a_formula_is_not_a_formula() -> None:
    question = typed_question("it costs $5 if x^2 = 4")
    assert question.formulas == ("x^2=4",)
    assert question.text == r"it costs \$5 if $x^2=4$"


def test_posts_have_only_delimited_formulas(tmp_path: Path) -> None:
    posts = [
        Post("bare", "we know that x^2+y^2=z^2 here", language="en"),
        Post("marked", "we know that $x^2+y^2=z^2$ here", language="en"),
    ]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    with Library(tmp_path / "library") as library:
        answer = library.answer("x^2+y^2=z^2", k=2)
        assert answer.question.formulas == ("x^2+y^2=z^2",)
        first = answer.hits[0]
    assert first.id == "marked"
    assert any(reason.part == "formulas" for reason in first.reasons)


def test_positions_of_formulas_are_those_in_the_typed_text() -> None:
    assert found_in("is sqrt(2) real?") == ((3, 10),)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=6).map("".join))
@example("-A¼")
@example("Bb⅓")
def test_the_quick_check_for_formulas_misses_none(text: str) -> None:
    assert typed_question(text).reading == tuple(read_typed(text))


@pytest.mark.thorough
def test_a_query_of_words_imports_neither_the_formula_reader_nor_py3langid() -> None:
    code = (
        "import sys; from mathsetu.intake.question import typed_question; "
        "typed_question('अभाज्य संख्या क्या है').words; "
        "print('mathsetu.intake.typed' in sys.modules, 'py3langid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("query", [query.text for query in read_queries(QUERIES)][::3])
def test_the_quick_check_for_formulas_misses_none_in_the_set_of_queries(query: str) -> None:
    assert typed_question(query).reading == tuple(read_typed(query))


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("area of a circle pi r^2", ("\\pi r^2",)),
        ("alpha x + beta", ("\\alpha x+\\beta",)),
        ("the letter pi x", ()),
        ("pi is irrational", ()),
    ],
)
def test_a_spelled_greek_letter_is_a_factor_before_another_factor(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "formulas", "words"),
    [
        ("norm ||x||", (r"\|x\|",), "norm"),
        ("the norm |x|", ("|x|",), "the norm"),
        ("abs |x|", ("|x|",), "abs"),
        ("floor |x|", ("|x|",), "floor"),
        ("Lagrange |G|=[G:H]|H|", ("|G|=[G:H]|H|",), "Lagrange"),
        ("what is |x| and |y|", ("|x|", "|y|"), "what is and"),
        ("(word |y|) |z|", ("|y|", "|z|"), "(word )"),
        ("a | b and b | c", ("a|b", "b|c"), "and"),
        ("yes | no | maybe", (), "yes | no | maybe"),
        ("|yes|no|maybe|", (), "|yes|no|maybe|"),
        ("|foo|bar|baz|", (), "|foo|bar|baz|"),
        ("| name | x | y |", ("x|y",), "| name | |"),
        ("|---|---|", (), "|---|---|"),
        ("cat x | grep y", (), "cat x | grep y"),
        ("cat x|grep y|wc", (), "cat x|grep y|wc"),
        ("true || false", (), "true || false"),
        ("vector<int,int>", (), "vector<int,int>"),
        ("if a <b, c> d", ("a<b", "c>d"), "if ,"),
        ("binomial theorem", (), "binomial theorem"),
        ("(binomial)", (), "(binomial)"),
        ("Winkel im Kreis", (), "Winkel im Kreis"),
        ("im (a) Kreis", (), "im (a) Kreis"),
        ("im(Kreis)", (), "im(Kreis)"),
        ("im(a", (), "im(a"),
        ("IM(a)", (), "IM(a)"),
        ("L^2 norm", ("L^2",), "norm"),
        ("convergence in L^p norm", ("L^p",), "convergence in norm"),
        ("f(x) norm", ("f(x)",), "norm"),
        ("L^2-norm", ("L^2",), "-norm"),
        ("L^2 norm = 1", ("L^2",), "norm = 1"),
        ("1-norm", (), "1-norm"),
        ("x floor", (), "x floor"),
        ("n/2 floor", (r"\frac{n}{2}",), "floor"),
        ("n/2 floor + 1", (r"\frac{n}{2}",), "floor + 1"),
        ("(n/2 floor)", (r"(\frac{n}{2}\operatorname{floor})",), ""),
        ("A^2 rank", ("A^2",), "rank"),
        ("A^T A rank", ("A^TA",), "rank"),
        ("R^n dim", ("R^n",), "dim"),
        ("f = sin", (r"f=\sin",), ""),
        ("rank A", (r"\operatorname{rank} A",), ""),
        ("det [[a,b],[c,d]]", (r"\det \begin{bmatrix}a&b\\c&d\end{bmatrix}",), ""),
        ("rank of [[1,2],[3,4]]", (r"\begin{bmatrix}1&2\\3&4\end{bmatrix}",), "rank of"),
    ],
)
def test_bars_and_names_of_functions_are_distinguished_from_prose(
    typed: str, formulas: tuple[str, ...], words: str
) -> None:
    spans = read_typed(typed)
    assert tuple(span.content for span in spans if span.kind == "formula") == formulas
    left = " ".join(span.content.strip() for span in spans if span.kind == "text")
    assert left.strip() == words
    assert typed_question(typed).reading == tuple(spans)


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("A^* A", ("A^*A",)),
        ("A^*A", ("A^*A",)),
        ("A ^* A", ("A^*A",)),
        ("U^* U = I", ("U^*U=I",)),
        ("(AB)^* = B^* A^*", ("(AB)^*=B^*A^*",)),
        ("A=U Sigma V^*", (r"A=U\Sigma V^*",)),
        ("Spur von A^*A", ("A^*A",)),
        ("tr(A^* A)", (r"\operatorname{tr}(A^*A)",)),
        ("||A^*|| = ||A||", (r"\|A^*\|=\|A\|",)),
        ("x^*_n", ("x^*_n",)),
        ("is x_n^* unique?", ("x_n^*",)),
        ("f^*(x)", ("f^*(x)",)),
        ("f_* g^*", ("f_*g^*",)),
        ("V^**", ("V^{**}",)),
        ("A^† A", (r"A^{\dagger}A",)),
        ("A^⋆ = A^∗", (r"A^{\star}=A^*",)),
        (r"A^† \Sigma", (r"A^† \Sigma",)),
        ("A^+ b", ("A^+b",)),
        ("f: R^+ -> R", (r"f:R^+\to R",)),
        ("f = f^+ - f^-", ("f=f^+-f^-",)),
        ("lim x->0^+ f(x)", (r"\lim_{x\to 0^+} f(x)",)),
        ("|f^+| = g", ("|f^+|=g",)),
        ("e^-x + 10^-3", ("e^{-x}+10^{-3}",)),
        ("x^-.5", ("x^{-.5}",)),
        ("x**2", ("x^2",)),
        ("what is a C^*-algebra", ("C^*",)),
        ("σ-algebra, m²-Preis, Note^* that a _*b*_", ()),
    ],
)
def test_a_single_sign_after_a_script_mark_is_the_whole_script(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


def test_a_letter_after_a_wildcard_is_not_part_of_its_name() -> None:
    assert typed_question("∫ ?f dx").formulas == ("\\int ?f dx",)


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("?a_{n+1}/?a_n", r"\frac{?a_{n+1}}{?a_n}"),
        ("?x_{n+1} = ?x_n - ?f", "?x_{n+1}=?x_n-?f"),
        ("?a₁ + ?b₁", "?a_1+?b_1"),
        ("?a1 + ?b1", "?a1+?b1"),
        ("?a1/?b12", r"\frac{?a1}{?b12}"),
        ("?f1(x)/2", r"\frac{?f1(x)}{2}"),
        ("?f_n'", "?f_n'"),
        ("?f: A -> B", r"?f:A\to B"),
        ("x^?n1 + 1", "x^{?n1}+1"),
        (r"\sum ?a_n", r"\sum ?a_n"),
        (r"\int_0^1 ?f_n dx", r"\int_0^1 ?f_n dx"),
        (r"\det A = \prod_i ?x_i", r"\det A = \prod_i ?x_i"),
    ],
)
def test_a_wildcard_may_have_an_index_or_digits(typed: str, latex: str) -> None:
    assert typed_question(typed).formulas == (latex,)


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("¿Qué es x_n?", ("x_n",)),
        ("is x_n ?", ("x_n",)),
        ("is it true?x_n > 0", ("x_n>0",)),
        ("is it true?x1 > 0", ("x_1>0",)),
        ("why?a", ()),
        ("what is ?foo_bar", ()),
        ("?a1b2", ()),
    ],
)
def test_a_question_mark_in_a_sentence_is_not_a_wildcard(
    typed: str, formulas: tuple[str, ...]
) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        (r"sum_{n=1}^\infty 1/n^2", r"\sum_{n=1}^\infty 1/n^2"),
        (r"sum_{n=1}^{inf} \frac1n", r"\sum_{n=1}^{\infty} \frac1n"),
        (r"int_0^\infty f(t) e^{-st} dt", r"\int_0^\infty f(t) e^{-st} dt"),
        (r"matrix with det \neq 0", r"\det \neq 0"),
        (r"rank A \neq n", r"\operatorname{rank} A \neq n"),
        (r"lim_{x->0} \frac{sin x}{x}", r"\lim_{x\to0} \frac{\sin x}{x}"),
        (r"lim x -> -oo \frac{1}{x}", r"\lim_{ x \to -\infty} \frac{1}{x}"),
        (r"lim x->a^+ \frac1x", r"\lim x\to a^+ \frac1x"),
        (r"lim x->\frac12 x", r"\lim x\to\frac12 x"),
        (r"sqrt(2) + \alpha", r"\sqrt{2} + \alpha"),
        (r"cbrt(\alpha) sqrt{2}", r"\sqrt[3]{\alpha} \sqrt{2}"),
        (r"sqrt 10 \cdot pi", r"\sqrt {10} \cdot \pi"),
        (r"abs(\alpha) < floor(y)", r"|\alpha| < \lfloor y\rfloor"),
        (r"binom(n,f(k,1)) \le 2^n", r"\binom{n}{f(k,1)} \le 2^n"),
        (r"\int_0^1 log2 x", r"\int_0^1 \log_2 x"),
        (r"sinx/\sqrt{x}", r"\sin x/\sqrt{x}"),
        (r"the $sum_{n=1}^\infty sqrt(n)", r"\sum_{n=1}^\infty \sqrt{n}"),
        (r"\begin{pmatrix} sin x & 1 \end{pmatrix}", r"\begin{pmatrix} \sin x & 1 \end{pmatrix}"),
        (r"f: A->B \subset C", r"f: A\to B \subset C"),
    ],
)
def test_names_next_to_latex_commands_become_commands(typed: str, latex: str) -> None:
    assert [span.content for span in read_typed(typed) if span.kind == "formula"] == [latex]


@pytest.mark.parametrize(
    "latex",
    [
        r"\operatorname{rank} A = 2",
        r"\operatorname*{max} A = 2",
        r"\mathrm{det} A \ne 0",
        r"x \to \text{sum of sqrt(x)}",
        r"$sum_{n=1}^\infty sqrt(n)$",
        r"\(det \neq 0\)",
    ],
)
def test_words_in_arguments_and_between_delimiters_are_not_changed(latex: str) -> None:
    [span] = read_typed(latex)
    assert span.kind == "formula"
    assert span.content == latex.strip("$").removeprefix("\\(").removesuffix("\\)")


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        (r"\hat\beta_0 &= \bar y-\hat\beta_1\bar x \\", r"\hat\beta_0=\bar y-\hat\beta_1\bar x"),
        (r"\frac{1}{x} &\le \sum_{i=1}^n x_i", r"\frac{1}{x}\le \sum_{i=1}^n x_i"),
        ("x^2 &= 4", "x^2=4"),
    ],
)
def test_a_line_of_an_alignment_is_one_formula(typed: str, latex: str) -> None:
    question = typed_question(typed)
    assert [parse_latex(formula).opt for formula in question.formulas] == [parse_latex(latex).opt]


def test_an_ampersand_between_words_or_formulas_is_not_an_alignment() -> None:
    assert typed_question("R&D = costs").formulas == ()
    assert len(typed_question(r"\alpha & \beta").formulas) == 2
