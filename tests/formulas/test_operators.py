"""The operator tree, by the conventions of docs/formulas.md."""

import pytest

from mathsetu.formulas import Tree, parse_latex
from mathsetu.formulas.notation import read_tree


def term(text: str) -> Tree:
    """A tree from words: ``plus(x, times(2, y))``; numbers and letters need no kind."""
    position = 0

    def read() -> Tree:
        nonlocal position
        start = position
        while position < len(text) and text[position] not in "(), ":
            position += 1
        name = text[start:position]
        children = []
        if position < len(text) and text[position] == "(":
            while text[position] != ")":
                position += 1
                while text[position] == " ":
                    position += 1
                children.append(read())
            position += 1
        label = NAMES.get(name, name)
        if "!" not in label and not label.startswith("?"):
            label = ("N!" if name[0].isdecimal() else "F!" if children else "V!") + name
        return Tree(label, tuple(children), tuple("0123456789"[: len(children)]))

    return read()


COMMUTATIVE = ("eq", "plus", "times", "and", "equivalent")
NAMES = {name: "U!" + name for name in COMMUTATIVE}
NAMES |= {
    name: "O!" + name
    for name in ("minus", "divide", "root", "sum", "int", "limit", "in", "lt", "gt")
}
NAMES |= {
    "sup": "O!SUP",
    "sub": "O!SUB",
    "list2": "M!L-2",
    "list3": "M!L-3",
    "oo": "C!infinity",
    "none": "W!",
    "sequence": "O!form-seq",
    "factorial": "O!factorial",
    "open": "O!interval(O-O)",
    "closed": "O!interval(C-C)",
    "half": "O!interval(O-C)",
    "binomial": "O!binomial",
    "forall": "O!forall",
    "partial": "O!partialdiff",
    "condition": "F!c",
}


@pytest.mark.parametrize(
    ("latex", "tree"),
    [
        # Sums and products: left to right, the same operator once.
        ("a+b+c", "plus(a, b, c)"),
        ("a-b-c", "minus(a, b, c)"),
        ("a+b-c+d", "plus(minus(plus(a, b), c), d)"),
        ("-a+b", "plus(minus(a), b)"),
        ("2xy", "times(2, x, y)"),
        (r"a\times b c", "times(times(a, b), c)"),
        (r"2\pi \cdot x", "⋅(times(2, π), x)"),
        ("ħω", "times(C!planck, ω)"),
        (r"a \cdot -b", "⋅(a, minus(b))"),
        ("a/b", "divide(a, b)"),
        ("a/b/c", "divide(divide(a, b), c)"),
        ("ab/c", "divide(times(a, b), c)"),
        ("n!", "factorial(n)"),
        ("2n!", "times(2, factorial(n))"),
        (r"1\frac{2}{3}", "plus(1, divide(2, 3))"),
        (r"2\frac{x}{3}", "times(2, divide(x, 3))"),
        # A space alone is a missing operand.
        (r"\quad", "none"),
        (r"\frac{\,}{2}", "divide(none, 2)"),
        # Scripts, in the order of writing.
        ("x_1^2", "sup(sub(x, 1), 2)"),
        ("x^2_1", "sub(sup(x, 2), 1)"),
        ("f'", "sup(f, ′)"),
        (r"\sqrt{x}", "root(x, 2)"),
        (r"\sqrt[3]{x}", "root(x, 3)"),
        # A letter before brackets is a factor; a function is applied.
        ("f(x)", "times(f, x)"),
        ("f(x,y)", "times(f, open(x, y))"),
        (r"\sin(x)", "F!sin(x)"),
        (r"\gcd(a,b)", "F!gcd(a, b)"),
        (r"\max\{a,b\}", "F!max(a, b)"),
        (r"\operatorname{ord}(x)", "ord(x)"),
        (r"2\sin x", "times(2, F!sin(x))"),
        (r"\sin 2x \cos y", "times(F!sin(times(2, x)), F!cos(y))"),
        (r"\log 2x + 1", "plus(F!log(times(2, x)), 1)"),
        (r"\ln(a)\ln(b)", "times(F!ln(a), F!ln(b))"),
        (r"\sin x \cdot y", "⋅(F!sin(x), y)"),
        (r"\sin^2 x", "+!F!sin(sup(F!sin, 2), x)"),
        (r"\log_2 x", "+!F!log(sub(F!log, 2), x)"),
        (r"\sin", "F!sin"),
        # Big operators take the whole product after them.
        (r"\sum a b + c", "plus(sum(times(a, b)), c)"),
        (r"\sum_i a", "+!O!sum(sub(sum, i), a)"),
        (r"\sum_{i=1}^n i", "+!O!SUB(sup(sub(sum, eq(i, 1)), n), i)"),
        (r"\lim_{x\to 0} f", "+!O!limit(sub(limit, →(x, 0)), f)"),
        (r"\int f dx", "int(times(f, F!d(x)))"),
        (r"\int \sin x\,dx", "int(times(F!sin(x), F!d(x)))"),
        ("dx", "times(d, x)"),
        (r"\frac{\partial f}{\partial x}", "divide(partial(f), partial(x))"),
        # Relations; in a chain, neighbouring relations share the operand between them.
        ("a=b", "eq(a, b)"),
        ("a=b=c", "and(eq(a, b), eq(b, c))"),
        ("a<b=c+1", "and(lt(a, b), eq(b, plus(c, 1)))"),
        ("=b", "eq(none, b)"),
        ("a=", "eq(a, none)"),
        (r"A\supset B", "O!subset(B, A)"),
        ("d|n", "condition(d, n)"),
        ("a|b+1=c", "eq(condition(a, plus(b, 1)), c)"),
        (r"a \Rightarrow b", "⇒(a, b)"),
        (r"a=b \iff c", "O!iff(eq(a, b), c)"),
        (r"f\colon A\to B", "F!:(f, →(A, B))"),
        (r"\forall x \in A", "in(forall(x), A)"),
        (r"a \equiv b \pmod{n}", "equivalent(a, O!annotated(b, F!pmod(n)))"),
        (r"a \equiv b \pmod{n-1}", "equivalent(a, O!annotated(b, F!pmod(O!minus(n, 1))))"),
        (r"a \pmod{mn}", "O!annotated(a, F!pmod(times(m, n)))"),
        (r"a \bmod b", "O!rem(a, b)"),
        (r"\lnot p \land q", "and(times(O!not, p), q)"),
        # Lists, and lists with relations.
        ("a,b,c", "list3(a, b, c)"),
        (r"a,b \in M", "in(list2(a, b), M)"),
        ("x=1,2", "eq(x, list2(1, 2))"),
        ("x=1,y=2", "sequence(eq(x, 1), eq(y, 2))"),
        ("a<b<c, d", "sequence(and(lt(a, b), lt(b, c)), d)"),
        (r"a=b \quad c>d", "sequence(eq(a, b), gt(c, d))"),
        ("x=1.", "eq(x, 1)"),
        # Brackets.
        ("(a+b)c", "times(plus(a, b), c)"),
        ("(a,b)", "open(a, b)"),
        ("[a,b]", "closed(a, b)"),
        ("(a,b]", "half(a, b)"),
        ("(a,b,c)", "M!V-3(a, b, c)"),
        ("[x]", "M!D-[](x)"),
        (r"\{1,2\}", "M!S-2(1, 2)"),
        (r"\{x : x>0\}", "O!conditional-set(x, gt(x, 0))"),
        (r"\{x \in A \mid x>0, y\}", "O!conditional-set(in(x, A), gt(x, list2(0, y)))"),
        ("|x|", "F!abs(x)"),
        ("|a|b|c|", "times(F!abs(a), b, F!abs(c))"),
        ("|a||b|", "times(F!abs(a), F!abs(b))"),
        ("2|a||b||c|", "times(2, F!abs(a), F!abs(b), F!abs(c))"),
        ("|zw|=|z||w|", "eq(F!abs(times(z, w)), times(F!abs(z), F!abs(w)))"),
        ("|f(x)||g(x)|", "times(F!abs(times(f, x)), F!abs(times(g, x)))"),
        (r"|\vec a||\vec b|", "times(F!abs(→(a)), F!abs(→(b)))"),
        (
            r"|\langle x,y\rangle|\le|x||y|",
            "O!leq(F!abs(list2(x, y)), times(F!abs(x), F!abs(y)))",
        ),
        (r"|a||b|\cos\theta", "times(F!abs(a), F!abs(b), F!cos(θ))"),
        ("|a||-b|", "times(F!abs(a), F!abs(O!minus(b)))"),
        (r"\{x:|x||y|<1\}", "O!conditional-set(x, lt(times(F!abs(x), F!abs(y)), 1))"),
        ("||x||", "O!norm(x)"),
        (r"\|x\|", "O!norm(x)"),
        (r"\|x\|\|y\|", "times(O!norm(x), O!norm(y))"),
        ("||u|| ||v||", "times(O!norm(u), O!norm(v))"),
        ("||u||||v||", "times(O!norm(u), O!norm(v))"),
        ("2||x||", "times(2, O!norm(x))"),
        ("|a|^2||b||", "times(sup(F!abs(a), 2), O!norm(b))"),
        ("|x+||y|||", "F!abs(plus(x, O!norm(y)))"),
        ("P(A||B)", "times(P, F!‖(A, B))"),
        (r"\lfloor x \rfloor", "F!floor(x)"),
        (r"\binom{n}{k}", "binomial(n, k)"),
        (r"\left.f\right|_0", "sub(O!evaluated-at(f), 0)"),
        # Tables.
        (
            r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
            "O!matrix(M!M-2x2(M!R!(a, b), M!R!(c, d)))",
        ),
        (r"\begin{vmatrix}a\end{vmatrix}", "F!det(O!matrix(M!M-1x1(M!R!(a))))"),
        (r"\begin{cases}a&x>0\\b\end{cases}", "O!cases(a, gt(x, 0), b, none)"),
        (
            r"\begin{align}a&=b\\&=c\end{align}",
            "M!M-2x1(M!R!(eq(a, b)), M!R!(eq(none, c)))",
        ),
        # Accents, and signs over other signs.
        (r"\bar{x}", "¯(x)"),
        (r"\overset{f}{=}", "f(eq)"),
        # Constants, texts, wildcards.
        (r"\infty", "oo"),
        (r"\text{if } x", "times(T!if, x)"),
        ("?x+1", "plus(?x, 1)"),
    ],
)
def test_operator_trees_follow_the_conventions(latex: str, tree: str) -> None:
    assert parse_latex(latex).opt == term(tree)


def test_a_double_bar_that_closes_two_bars_is_not_split() -> None:
    tree = term("F!‖(condition(condition(F!‖(none, a), O!minus), b), none)")
    assert parse_latex("||a|-|b||").opt == tree


@pytest.mark.parametrize("latex", ["a|b||c", "|a||b", "|a||=b|", "|a||", "a||b"])
def test_a_double_bar_is_split_only_between_operands_in_closed_bars(latex: str) -> None:
    assert "F!‖" in {node.label for node in parse_latex(latex).opt.walk()}


def test_a_fraction_and_a_slash_are_the_same_operator() -> None:
    assert parse_latex(r"\frac{a+1}{b}").opt == parse_latex("(a+1)/b").opt


def test_nested_chains_of_relations_do_not_grow_exponentially() -> None:
    latex = "a=(" * 60 + "x" + ")=b" * 60
    assert sum(1 for _ in parse_latex(latex).opt.walk()) < 20_000


def test_more_operands_than_positions_keep_their_order() -> None:
    tree = parse_latex("+".join(["a"] * 80)).opt
    assert len(tree.children) == len(tree.edges) == 80
    assert tree.edges[:3] == ("0", "1", "2")


def test_the_reader_of_terms_in_this_file_works() -> None:
    assert term("plus(x, 2)") == read_tree("[U!plus,0[V!x],1[N!2]]")


def test_a_line_with_two_equations_is_not_split_at_its_alignment() -> None:
    aligned = parse_latex(r"\begin{align} a &= b = e, \quad c = d^2 \end{align}").opt
    written = parse_latex(r"a = b = e, \quad c = d^2").opt
    assert aligned.children[0].children == (written,)
