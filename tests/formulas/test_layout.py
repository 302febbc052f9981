"""The symbol layout tree: the positions of symbols."""

import pytest

from mathsetu.formulas import parse_latex
from mathsetu.formulas.notation import write_tree


@pytest.mark.parametrize(
    ("latex", "tree"),
    [
        # On the line, and scripts.
        ("x+y", "[V!x[+[V!y]]]"),
        ("x - 3.5", "[V!x[-[N!3.5]]]"),
        ("x_1^2", "[V!x,a[N!2],b[N!1]]"),
        ("x^2+1", "[V!x[+[N!1]],a[N!2]]"),
        ("y''", "[V!y,a[′′]]"),
        (r"{a+b}^2", "[M!1x1,a[N!2],w[V!a[+[V!b]]]]"),
        (r"{}_nC_k", "[V!C,b[V!k],d[V!n]]"),
        (r"\prescript{14}{6}{C}", "[V!C,c[N!14],d[N!6]]"),
        ("{}^2", "[W!,a[N!2]]"),
        ("a^{}", "[V!a]"),
        # Operators have their scripts over and under.
        (r"\sum_{i=1}^n i", "[∑[V!i],o[V!n],u[V!i[=[N!1]]]]"),
        (r"\int_0^1 x", "[∫[V!x],o[N!1],u[N!0]]"),
        (r"\lim_{n\to\infty} a", "[lim[V!a],u[V!n[→[V!∞]]]]"),
        (r"\max_x f", "[V!max[V!f],u[V!x]]"),
        (r"\log_2 x", "[V!log[V!x],b[N!2]]"),
        (r"a \overset{f}{\to} b", "[V!a[→[V!b],o[V!f]]]"),
        (r"A \xrightarrow[g]{f} B", "[V!A[→[V!B],o[V!f],u[V!g]]]"),
        (r"\underbrace{x}_{n}", "[M!1x1,u[V!n],w[V!x,u[⏟]]]"),
        # Fractions, roots, accents.
        (r"\frac{a}{b}+c", "[O!divide[+[V!c]],o[V!a],u[V!b]]"),
        (r"\binom{n}{k}", "[M!()1x1,w[O!divide,o[V!n],u[V!k]]]"),
        (r"\sqrt{x}", "[O!root,w[V!x]]"),
        (r"\sqrt[3]{x}", "[O!root,c[N!3],w[V!x]]"),
        (r"\hat{x}_1", "[V!x,b[N!1],o[^]]"),
        (r"\overline{AB}", "[M!1x1,o[¯],w[V!A[V!B]]]"),
        # Brackets, and the elements between them.
        ("f(x)", "[V!f[M!()1x1,w[V!x]]]"),
        ("f(x,y)+1", "[V!f[M!()1x2[+[N!1]],w[V!x[&comma;],e[V!y]]]]"),
        ("(a)^2", "[M!()1x1,a[N!2],w[V!a]]"),
        ("[0,1)", "[M!&lsqb;)1x2,w[N!0[&comma;],e[N!1]]]"),
        (r"\{x \mid x>0, x<1\}", "[M!{}1x1,w[V!x[∣[V!x[>[N!0[&comma;[V!x[<[N!1]]]]]]]]]]"),
        ("|x|+1", "[M!||1x1[+[N!1]],w[V!x]]"),
        (r"\|x\|_2", "[M!∥∥1x1,b[N!2],w[V!x]]"),
        ("()", "[M!()1x0]"),
        ("(a", "[([V!a]]"),
        (r"\langle x\rangle y", "[⟨[V!x[⟩[V!y]]]]"),
        (r"\lfloor x\rfloor", "[⌊[V!x[⌋]]]"),
        # Tables: cells row by row.
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", "[M!()2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]"),
        (r"\left[\begin{array}{c}a\\b\end{array}\right]", "[M!&lsqb;&rsqb;2x1,w[V!a,e[V!b]]]"),
        (r"\begin{matrix}a&\\&b\end{matrix}", "[M!2x2,w[V!a,e[W!,e[W!,e[V!b]]]]]"),
        # Names, texts and fonts.
        (r"\sin x", "[V!sin[V!x]]"),
        (r"\mathrm{id}", "[V!id]"),
        (r"\mathbb{R}^n", "[V!ℝ,a[V!n]]"),
        (r"x \text{ if } y", "[V!x[T!if[V!y]]]"),
        (r"\text{$p$ is prime}", "[V!p[T!is prime]]"),
        (r"a\quad b\, c", "[V!a[V!b[V!c]]]"),
        (r"x\phantom{y}z", "[V!x[V!z]]"),
    ],
)
def test_layout_trees_follow_the_conventions_of_tangent(latex: str, tree: str) -> None:
    assert write_tree(parse_latex(latex).slt) == tree


def test_the_trees_of_a_formula_are_made_once() -> None:
    parsed = parse_latex(r"\frac{(a,b)}{\hat x}+|c|")
    assert parsed.slt is parsed.slt
    before = write_tree(parsed.slt)
    assert parsed.opt is parsed.opt
    assert write_tree(parsed.slt) == before
