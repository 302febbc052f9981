"""Tests of signs typed as words, and of the same words in prose."""

from __future__ import annotations

from string import ascii_lowercase

import pytest

from mathsetu.formulas import parse_latex
from mathsetu.intake.typed import read_typed
from tests.intake.test_typed import typed_question


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("nabla^2 u = 0", r"\nabla^2 u=0"),
        ("nabla f = 0", r"\nabla f=0"),
        ("Nabla f", r"\nabla f"),
        ("nabla x F = 0", r"\nabla\times F=0"),
        ("nabla × F = 0", r"\nabla\times F=0"),
        ("nabla . F = rho", r"\nabla\cdot F=\rho"),
        ("nabla a = 0", r"\nabla a=0"),
        ("nabla(fg) = f nabla g + g nabla f", r"\nabla(fg)=f\nabla g+g\nabla f"),
        (
            "nabla x (nabla x F) = nabla(nabla . F) - nabla^2 F",
            r"\nabla\times(\nabla\times F)=\nabla(\nabla\cdot F)-\nabla^2 F",
        ),
        (
            "partial u / partial t = k partial^2 u / partial x^2",
            r"\frac{\partial u}{\partial t}=k\frac{\partial^2 u}{\partial x^2}",
        ),
        ("partial f/partial x", r"\frac{\partial f}{\partial x}"),
        ("partial_t u = partial_x^2 u", r"\partial_t u=\partial_x^2 u"),
        ("forall x in R", r"\forall x\in R"),
        ("forall epsilon > 0 exists delta > 0", r"\forall\epsilon>0\exists\delta>0"),
        ("a . b = |a| |b| cos theta", r"a\cdot b=|a||b|\cos\theta"),
        ("u . v = 0", r"u\cdot v=0"),
        ("rank A + nullity A = n", r"\operatorname{rank} A+\operatorname{nullity} A=n"),
        ("rot(F) = 0", r"\operatorname{rot}(F)=0"),
        ("|G| = |H| [G:H]", "|G|=|H|[G:H]"),
        ("A = 1/2 ab sin C", r"A=\frac{1}{2}ab\sin C"),
        ("c^2 = a^2 + b^2 - 2 ab cos C", r"c^2=a^2+b^2-2ab\cos C"),
        ("A = 1/2 bc sin(A)", r"A=\frac{1}{2}bc\sin(A)"),
    ],
)
def test_a_sign_typed_as_a_word_is_read_as_the_sign(typed: str, latex: str) -> None:
    [formula] = typed_question(typed).formulas
    assert parse_latex(formula).opt == parse_latex(latex).opt
    [span] = read_typed(typed)
    assert span.raw == typed


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        (r"A\B = A", r"A\setminus B=A"),
        (r"A \ B", r"A\setminus B"),
        (r"ℝ\{0}", r"\mathbb{R}\setminus\{0\}"),
        (r"R \ {0}", r"R\setminus\{0\}"),
        (r"ℝ \ ℚ", r"\mathbb{R}\setminus\mathbb{Q}"),
        (r"(A ∪ B) \ C", r"(A\cup B)\setminus C"),
        (r"A\{0\} = 1", r"A\{0\}=1"),
        (r"A\pi = B", r"A\pi=B"),
        (r"A\ B = C", r"A B=C"),
        ("f^-1(x) = y", "f^{-1}(x)=y"),
        ("e^iπ = -1", r"e^{i\pi}=-1"),
        ("e^2πi = 1", r"e^{2\pi i}=1"),
        ("e^-3t", "e^{-3t}"),
        ("xe^2x = 1", "xe^{2x}=1"),
        ("e^2x^2", "e^2x^2"),
        ("e^2 x", "e^2x"),
        ("x^2y", "x^2y"),
        ("eiπ + 1 = 0", r"ei\pi+1=0"),
        ("x / 2a", r"\frac{x}{2a}"),
        ("1 / 2a", r"\frac{1}{2a}"),
        ("1/2a", r"\frac{1}{2}a"),
        ("1 / 2 a", r"\frac{1}{2}a"),
        ("c^2 = a^2+b^2-2 a b cos(x)", r"c^2=a^2+b^2-2ab\cos(x)"),
        ("c^2 = x^2+y^2 - 2 x y cos(t)", r"c^2=x^2+y^2-2xy\cos(t)"),
        ("(u+v)^2 = u^2 + 2 u v + v^2", "(u+v)^2=u^2+2uv+v^2"),
        ("A = 1/2 a b sin C", r"A=\frac{1}{2}ab\sin C"),
        ("x = 2 a b", "x=2ab"),
        ("3 a b + c", "3ab+c"),
        (r"\langle x, y\rangle = 0", r"\langle x,y\rangle=0"),
        (r"\sum \langle v, u_j\rangle u_j", r"\sum\langle v,u_j\rangle u_j"),
        (r"\lim_{n\to\infty} \langle x_n,y\rangle", r"\lim_{n\to\infty}\langle x_n,y\rangle"),
        (r"\lfloor x", r"\lfloor x"),
        (r"a\rangle + b", r"a\rangle+b"),
        ("2<x,y>", r"2\langle x,y\rangle"),
        ("|x|^2 + 2<x,y> + |y|^2", r"|x|^2+2\langle x,y\rangle+|y|^2"),
        ("sum_(j=1)^n <v,u_j> u_j", r"\sum_{j=1}^n\langle v,u_j\rangle u_j"),
        (
            "u_k = v_k - sum_(j=1)^(k-1) <v_k,u_j>/<u_j,u_j> u_j",
            r"u_k=v_k-\sum_{j=1}^{k-1}\frac{\langle v_k,u_j\rangle}{\langle u_j,u_j\rangle}u_j",
        ),
        ("lim n->oo <x_n,y>", r"\lim_{n\to\infty}\langle x_n,y\rangle"),
        ("int u' v dx", r"\int u'vdx"),
        ("∫ x' y dt", r"\int x'ydt"),
        ("int f' g dx", r"\int f'gdx"),
        ("int u v' dx = u v - int u' v dx", r"\int uv'dx=uv-\int u'vdx"),
        ("|x-a| < eps", r"|x-a|<\epsilon"),
        ("int_0^pi sin theta dtheta", r"\int_0^\pi\sin\theta d\theta"),
        ("x1 + x2 + ... + xn = n", r"x_1+x_2+\dots+x_n=n"),
        ("v1, v2, ..., vn", r"v_1,v_2,\dots,v_n"),
        ("P(x1, ..., xm)", r"P(x_1,\dots,x_m)"),
        ("A = U Σ V^T", r"A=U\Sigma V^T"),
        ("Σ X_i", r"\sum X_i"),
        ("sup |f(x)| < inf", r"\sup|f(x)|<\infty"),
        ("x < inf A", r"x<\inf A"),
        ("Z/2Z x Z/2Z", r"Z/2Z\times Z/2Z"),
        ("S^1 x S^1", r"S^1\times S^1"),
        ("f: X x Y -> Z", r"f:X\times Y\to Z"),
        ("A x B", r"A\times B"),
        ("P(A und B) = P(A)P(B)", r"P(A\text{ and }B)=P(A)P(B)"),
        ("P(A y B) = P(A)P(B)", r"P(A\text{ and }B)=P(A)P(B)"),
        ("P(A ou B)", r"P(A\text{ or }B)"),
        ("P(A और B) = 0", r"P(A\text{ and }B)=0"),
        ("P(x a y)", "P(xay)"),
        ("A x = b", "Ax=b"),
        ("tan 2x = 2 tan x/(1 - tan^2 x)", r"\tan 2x=\frac{2\tan x}{1-\tan^2 x}"),
        ("log_a b = ln b/ln a", r"\log_a b=\frac{\ln b}{\ln a}"),
        ("sin pi/6 = 1/2", r"\sin\frac{\pi}{6}=\frac12"),
        ("cos x/2", r"\cos\frac{x}{2}"),
        ("sin pi/(n+1)", r"\sin\frac{\pi}{n+1}"),
        ("e^ln x = x", r"e^{\ln x}=x"),
        ("x^sin x + 1", r"x^{\sin x}+1"),
        ("√ab ≤ (a+b)/2", r"\sqrt{ab}\leq\frac{a+b}{2}"),
        ("c = 3x10^8", r"c=3\times 10^8"),
        ("3 x 10⁸", r"3\times 10^8"),
        ("P(A U B) = P(A) + P(B) - P(A n B)", r"P(A\cup B)=P(A)+P(B)-P(A\cap B)"),
        ("A U B = B U A", r"A\cup B=B\cup A"),
        ("A = L U P", "A=LUP"),
        ("(ax+by)^2", "(ax+by)^2"),
        ("(ax + by)^2", "(ax+by)^2"),
        ("(by+ax)^2", "(by+ax)^2"),
        ("(a+bi)(c+di)", "(a+bi)(c+di)"),
        ("(a-bi)(a+bi) = a^2+b^2", "(a-bi)(a+bi)=a^2+b^2"),
        ("|a+bi|", "|a+bi|"),
        ("|a-bi|", "|a-bi|"),
        ("|ta+b|", "|ta+b|"),
        ("||x+ty||^2", r"\|x+ty\|^2"),
        ("||x-ty||^2", r"\|x-ty\|^2"),
        ("||Ax-by||", r"\|Ax-by\|"),
        ("||f+tg||^2 >= 0", r"\|f+tg\|^2\ge 0"),
        ("<x+ty,x+ty>", r"\langle x+ty,x+ty\rangle"),
        ("zeta(1/2+it)", r"\zeta(\frac12+it)"),
        ("dy/dx = (ax+by)/(cx+dy)", r"\frac{dy}{dx}=\frac{ax+by}{cx+dy}"),
        ("|ax+by+c|/sqrt(a^2+b^2)", r"\frac{|ax+by+c|}{\sqrt{a^2+b^2}}"),
        (r"\frac{1}{2}(ax+by)", r"\frac{1}{2}(ax+by)"),
        ("(y-my)^2", "(y-my)^2"),
        (
            "||x+y||^2 = ||x||^2 + 2x.y + ||y||^2",
            r"\|x+y\|^2=\|x\|^2+2x\cdot y+\|y\|^2",
        ),
        ("int_S curl F . dS = int_C F . dr", r"\int_S\operatorname{curl}F\cdot dS=\int_CF\cdot dr"),
        ("∫_C F . dr = 0", r"\int_CF\cdot dr=0"),
        ("rot F = 0", r"\operatorname{curl}F=0"),
        ("rot F = rot G", r"\operatorname{rot}F=\operatorname{rot}G"),
        ("rg f = n", r"\operatorname{rank}f=n"),
        ("grad f = λ grad g", r"\nabla f=\lambda\nabla g"),
        ("grad f = λ grad g", r"\operatorname{grad}f=\lambda\operatorname{grad}g"),
        ("∫0^1 x^2 dx", r"\int_0^1x^2dx"),
        ("∫a^b f(x) dx", r"\int_a^bf(x)dx"),
        ("∫x^2 dx", r"\int x^2dx"),
        ("∫a^2 dx", r"\int a^2dx"),
        (r"\frac 1 2", r"\frac{1}{2}"),
        ("frac{1}{2} + x", r"\frac{1}{2}+x"),
        ("(g o f)(x) = g(f(x))", r"(g\circ f)(x)=g(f(x))"),
        ("∇ x F = 0", r"\nabla\times F=0"),
        ("a sin x + b cos x = c", r"a\sin x+b\cos x=c"),
        ("{x in R : x > 0}", r"\{x\in R:x>0\}"),
        ("P(X=k) = (n choose k) p^k", r"P(X=k)=\binom{n}{k}p^k"),
        ("x̄ = 1/n Σ x_i", r"\bar{x}=\frac{1}{n}\sum x_i"),
        ("yhat = a + bx", r"\hat{y}=a+bx"),
        ("s^2 = sum (x_i - xbar)^2", r"s^2=\sum(x_i-\bar{x})^2"),
        ("nCr = n!/(r!(n-r)!)", r"\binom{n}{r}=\frac{n!}{r!(n-r)!}"),
        ("(a+b)^n = sum nCk a^k b^(n-k)", r"(a+b)^n=\sum\binom{n}{k}a^kb^{n-k}"),
    ],
)
def test_a_formula_typed_without_the_braces_of_latex_is_read_correctly(
    typed: str, latex: str
) -> None:
    [formula] = typed_question(typed).formulas
    assert parse_latex(formula).opt == parse_latex(latex).opt


@pytest.mark.parametrize("typed", ["(z+{})^2", "|z+{}|", "({}+z)^2", "(2z-{})^2", "z = w + {}"])
def test_a_product_of_any_two_letters_is_a_term_in_a_formula(typed: str) -> None:
    names = {"ch", "lb", "lg", "oo", "or", "rg", "sh", "tg"}
    pairs = {one + other for one in ascii_lowercase for other in ascii_lowercase} - names
    wrong = {
        pair
        for pair in sorted(pairs)
        if len(found := typed_question(typed.format(pair)).formulas) != 1 or pair not in found[0]
    }
    assert not wrong


@pytest.mark.parametrize(
    ("typed", "formulas"),
    [
        ("x > 1 a y > 2", ("x>1", "y>2")),
        ("x > 1 a y + z < 3", ("x>1", "y+z<3")),
        ("x = 2 y z = 3", ("x=2", "z=3")),
        ("x > 0 a y", ("x>0",)),
        ("P(x^2)=P(x)^2+1 y P(x)", ("P(x^2)=P(x)^2+1", "P(x)")),
        ("P(x)=2x+3 y P(x)", ("P(x)=2x+3", "P(x)")),
        ("x = 3 y 4", ("x=3",)),
        ("x^2 = 4 y dar soluciones", ("x^2=4",)),
        ("a<b, c>d", ("a<b", "c>d")),
        ("f(c)=0 f continuous on [a,b]", ("f(c)=0", "[a,b]")),
        ("geometric series sum a r^n = a/(1-r)", (r"\sum ar^n=\frac{a}{1-r}",)),
        ("the sum x of y^2", ("y^2",)),
        ("a, b, ..., on", (r"a,b,\dots",)),
        ("x <2, y> 1", ("x<2", "y>1")),
        ("x<2, y> 1", ("x<2", "y>1")),
    ],
)
def test_neighbouring_formulas_are_not_joined(typed: str, formulas: tuple[str, ...]) -> None:
    assert typed_question(typed).formulas == formulas


@pytest.mark.parametrize(
    "prose",
    [
        "nabla operator",
        "Nabla-Operator in Kugelkoordinaten",
        "nabla v sférických souřadnicích",
        "partial derivative of f",
        "partial order / partial preorder",
        "partial order on a set",
        "is a partial sum bounded",
        "forall loops in a program",
        "there exists a limit in R",
        "nullity of a matrix",
        "Find x . y is given",
        "rot und blau",
        "die Achse (x-as) und (x-os)",
        "(on-off) and (in/out)",
        "(a and b)",
        "read (by me) it",
        "sets (in R) of",
        "ist F rot oder blau",
        "gut . da",
        "a sin wave",
        "a frac bar",
        "convert eps to pdf",
        "the xbar chart",
        "team A x Brazil",
        "dpi of an image",
        "a1, a2, a3",
        "the box [a:b] of a list",
        "are there 2 so sin and cos agree",
        "gave 2 to sin",
    ],
)
def test_a_word_in_prose_stays_a_word(prose: str) -> None:
    assert typed_question(prose).formulas == ()
