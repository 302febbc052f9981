"""Exact matches of formulas, up to spacing and notation."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.formulas.exact import PART, exact_score, is_informative, normalise_formula
from mathsetu.intake.posts import LazyPost
from mathsetu.records import Post

DIRICHLET = r"\int_0^\infty \frac{\sin x}{x}dx"


@pytest.mark.parametrize(
    ("asked", "written", "share"),
    [
        (DIRICHLET, r"\int_{0}^{\infty}\dfrac{\sin x}{x}\,dx", 1.0),
        (r"\int_0^{\infty} \frac{\sin(x)}{x}dx", DIRICHLET, 1.0),
        (DIRICHLET, r"\int_0^\infty \frac{\sin x}{x}dx=\frac{\pi}{2}", PART),
        (DIRICHLET, r"\int_0^\infty \frac{\sin ax}{x}dx", 0.0),
        (DIRICHLET, r"\int_0^\infty \frac{\sin t}{t}dt", 0.0),
        (r"\frac{\sin x}{x}", r"\lim_{x\to0}\frac{\sen x}{x}=1", PART),
        (r"\operatorname{tg} 2x", r"\tan 2x", 1.0),
        (r"R_\phi\varepsilon", r"R_\varphi\epsilon", 1.0),
        (r"R_\pi", r"R_\varpi", 0.0),
        (r"z=re^{it}", r"z=r(\cos t+i\sin t)=re^{it}", PART),
        (r"re^{it}=z", r"z=r(\cos t+i\sin t)=re^{it}", PART),
        (r"b+1=d^2", r"a^2=b+1=c=d^2=e", PART),
        (r"a^2=c+1", r"a^2=b<d=c+1", 0.0),
        (r"a^2=c+1", r"a^2=b, d=c+1", 0.0),
        (r"\frac{1}{n^2}", r"\sum_{n=1}^{\infty}\frac1{n^2}", PART),
        (r"\sum_{n=1}^\infty 1/n^2", r"\sum_{n=1}^\infty \frac{1}{n^2}=\frac{\pi^2}{6}", PART),
        (r"\frac{n(n+1)}{2}", "n(n+1)/2", 1.0),
        ("(a+b)/(a-b)", r"{a+b \over a-b} = 1", PART),
        (r"\frac{a}{b}", "ab", 0.0),
        (r"\frac{1}{n^2}", "1/n/2", 0.0),
        ("a+b", "ca+bd", 0.0),
        # Neighbouring factors and terms.
        (r"x\cos x", r"\int x\cos x\,dx=x\sin x+\cos x+C", PART),
        (r"\sin x\cos x", r"\sin 2x=2\sin x\cos x", PART),
        (r"2\sin x", r"\sin 2x=2\sin x\cos x", PART),
        (r"\int x\cos x\,dx", r"\int x\cos x", 0.0),
        ("ac", "b^2-4ac", PART),
        ("ab", "a^2b", 0.0),
        ("a^2+b^2", "a^2+b^2+c^2", PART),
        ("b-c", "a+b-c=0", PART),
        ("b+c", "a-b+c", 0.0),
        ("a+c", "a+b+c", 0.0),
        (r"A\cup B", r"A\cup B\cup C", PART),
        ("f(a,b)", "f(a,b,c)", 0.0),
        ("x", "x", 0.0),
        (r"\det A", r"\det(A) = 0", PART),
        (r"\log x", r"\log xy", 0.0),
        (r"\|x+y\|", r"\lVert x+y\rVert^2=1", PART),
        (r"\|x+y\|", "|x+y|", 0.0),
        ("2*365", r"2\cdot 365 = 730", PART),
        (r"a\cdot b", "ab", 1.0),
        ("ab", "a*b", 1.0),
        ("n*(n+1)/2", r"\frac{n\cdot(n+1)}{2}", 1.0),
        (r"\vec u\cdot\vec v", r"\vec u\vec v", 0.0),
        (r"\operatorname{Gal}(L/K)", r"G=\mathrm{Gal}(L/K)", PART),
    ],
)
def test_a_formula_matches_exactly_as_a_whole_as_a_part_or_not_at_all(
    asked: str, written: str, share: float
) -> None:
    found, latex = exact_score(asked, LazyPost.of(Post("1", f"${written}$")))
    assert found == share
    assert latex == (written if share else "")


@given(st.text(alphabet="abxy12+-=^_{}()\\ frac", max_size=30))
def test_exactly_the_informative_formulas_match_themselves(latex: str) -> None:
    text = SimpleNamespace(raw=latex, plain=normalise_formula(latex), formulas=[latex])
    share, own = exact_score(latex, text)
    if normalise_formula(latex) and is_informative(latex):
        assert (share, own) == (1.0, latex)
    else:
        assert share == 0


def test_the_whole_formula_is_preferred_to_one_that_contains_it() -> None:
    post = Post("1", r"$1 + x^{2}$ is more than $x ^ 2$, and $x^2 = 4$.")
    assert exact_score("x^2", LazyPost.of(post)) == (1.0, "x ^ 2")


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        (r"a \to b^2", r"a \rightarrow b^2"),
        (r"\dfrac{a}{b}", r"\frac ab"),
        (r"a \leq b", r"a \le b"),
        ("P(A|B)", r"P(A \mid B)"),
        ("|x-y|", r"\lvert x-y \rvert"),
        (r"\|x+y\|", r"\left\lVert x+y\right\rVert"),
        (r"\lVert x+y\rVert", "||x+y||"),
        ("‖x+y‖", r"\Vert x+y\Vert"),
        (r"\left(\frac{a}{b}\right)^2", r"\bigl(\frac ab\bigr)^2"),
        (r"\|x+y\|", r"\Big\|x+y\Big\|"),
    ],
)
def test_formulas_with_different_spellings_of_a_command_match_exactly(
    asked: str, written: str
) -> None:
    assert exact_score(asked, LazyPost.of(Post("1", f"${written}$"))) == (1.0, written)
