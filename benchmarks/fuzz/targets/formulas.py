"""Fuzz targets for formulas: LaTeX, trees, features, matching, MathML and Tangent's notation."""

from __future__ import annotations

import gzip
import json
from functools import cache
from itertools import islice

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.pathological import PATHOLOGICAL
from benchmarks.fuzz.target import Target, expect, expect_equal, expect_refusal
from benchmarks.shared import DATA
from mathsetu.collections import sampler
from mathsetu.errors import NotationError
from mathsetu.formulas import Parsed, Tree, parse_latex
from mathsetu.formulas.drawing import draw_layout_tree, draw_operator_tree
from mathsetu.formulas.features import features, query_features
from mathsetu.formulas.infix import infix
from mathsetu.formulas.labels import normalise
from mathsetu.formulas.matching import Match, match
from mathsetu.formulas.mathml import read_content, read_presentation, write_mathml
from mathsetu.formulas.mathml.document import parse_xml
from mathsetu.formulas.notation import read_tree, write_tree
from mathsetu.formulas.overlap import node_overlap, token_overlap

LATEX_TOKENS = (
    "{ } ^ _ & \\\\ $ % # ~ ' | \\| ( ) [ ] \\{ \\} \\left( \\right) \\left. \\right| \\frac \\sqrt"
    " \\sqrt[ \\over \\choose \\not \\text{ \\mathbb \\mathbf{ \\rm \\begin{matrix} \\end{matrix}"
    " \\prescript \\abs \\set{ \\substack{ \\begin{cases} \\end{align} \\overset \\underbrace{"
    " \\hat \\sum \\int \\lim \\sin \\log \\phantom \\boxed \\xrightarrow[ \\middle| |x |a| ^{ _{"
    " }^{"
    " \\langle \\rangle {} {}_n \\newcommand{\\z}[1]{#1} \\z \\def\\y{x} \\y \\let\\w\\y \\w #1"
    " \\operatorname{ab} \\tag{1} \\pmod \\quad , ; : . = < > + - * / \\cdot ! ? ?x ?y 1 23 4.5"
    " 1,000"
    " x y d f(x) dx \\unknown &lt; &amp; &#65; &comma; &lsqb; \\mathrm{d}"
    " \\DeclareMathOperator{\\ab}{ab}"
    " ² ½ √ ≤ ∑ 𝑥 ५ \u200c \x00 \ud800 é\u0301 \\'e \\limits \\nolimits \\displaystyle \\color{red}"
    " \\verb|x| \\hline \\cr \\\\[2pt] \\begin{array}{cc} \\end{array} \\genfrac \\cfrac \\binom"
    " \\mod"
).split(" ")
# Larger formulas are not drawn or matched with themselves here; no page or search does so.
_LARGE = 400


@cache
def latex_seeds() -> list[bytes]:
    """The distinct formulas of the sampler."""
    found = {formula.latex for post in sampler.posts() for formula in post.formulas}
    return [as_bytes(latex) for latex in sorted(found)]


@cache
def real_formulas() -> list[bytes]:
    """Formulas written by people, if the public evaluation data is next to the repository."""
    path = DATA / "latex" / "formulas.jsonl.gz"
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [as_bytes(json.loads(line)["latex"]) for line in islice(lines, 0, None, 40)]


def check_tree(tree: Tree) -> None:
    """Check that a tree can be written, read back, and walked."""
    written = write_tree(tree)
    expect_equal(read_tree(written), tree, "a written tree reads as the tree")
    for node in tree.walk():
        expect(len(node.children) == len(node.edges), "every child has an edge")


def check_parsed(parsed: Parsed) -> None:
    """Check a parsed formula."""
    for tree in (parsed.slt, parsed.opt):
        check_tree(tree)
    terms = features(parsed.slt, parsed.opt)
    asked = query_features(parsed.slt, parsed.opt)
    expect(set(asked) <= set(terms), "a query has no features that a formula has not")
    for warning in parsed.warnings:
        expect(0 <= warning.position <= len(parsed.latex), "a warning lies in the formula", warning)


class Latex(Target):
    """LaTeX to layout, both trees, features, MathML, infix and drawings."""

    name = "latex"
    tokens = LATEX_TOKENS
    # A recursive macro is expanded up to a limit, and read a dozen times here.
    floor = 2.0

    def seeds(self) -> list[bytes]:
        """Formulas of the sampler, the pathological ones, and other formulas if available."""
        pathological = [as_bytes(latex) for latex in PATHOLOGICAL.values()]
        return latex_seeds() + pathological + real_formulas()

    def check(self, data: bytes) -> None:
        """Check that any text gives trees, and the same ones each time."""
        latex = as_text(data)
        parsed, again = parse_latex(latex), parse_latex(latex)
        # The trees may be built in any order.
        expect_equal(again.opt, parsed.opt, "the operator tree is the same again")
        expect_equal(again.slt, parsed.slt, "the layout tree is the same again")
        expect_equal(again.warnings, parsed.warnings, "the warnings are the same again")
        check_parsed(parsed)
        parse_xml(write_mathml(parsed.layout, display=len(data) % 2 == 0))
        expect(isinstance(infix(parsed.opt), str), "a tree is written as infix")
        # Macros can make a large tree from a few bytes.
        is_small = len(data) <= _LARGE and sum(1 for _ in parsed.opt.walk()) <= _LARGE
        if is_small and len(data) % 4 == 0:
            parse_xml(draw_layout_tree(parsed.slt))
            parse_xml(draw_operator_tree(parsed.opt))
            check_match(match(parsed.opt, parsed.opt), is_same=True)


def check_match(found: Match, is_same: bool = False) -> None:
    """Check a match."""
    near = 1 + 1e-9
    expect(0 <= found.score <= near, "a score lies between 0 and 1", found.score)
    expect(0 <= found.coverage <= near, "a coverage lies between 0 and 1", found.coverage)
    images = list(found.substitution.values())
    expect(len(images) == len(set(images)), "letters are renamed one to one", found.substitution)
    if is_same:
        expect(found.score > 0.999, "a formula matches itself fully", found.score)
        expect(found.coverage > 0.999, "a formula covers itself fully", found.coverage)


class Matching(Target):
    """Two formulas, one per line; the second is matched against the first."""

    name = "matching"
    tokens = LATEX_TOKENS
    floor = 2.0  # long formulas are matched as far as a bound, twice; ½ has three nodes

    def seeds(self) -> list[bytes]:
        """Pairs of formulas of the sampler."""
        formulas = latex_seeds()
        pairs = zip(formulas, formulas[7:] + formulas[:7], strict=True)
        return [first.replace(b"\n", b" ") + b"\n" + second for first, second in pairs][::3]

    def make(self, mutator: Mutator) -> bytes:
        """A formula and a mutation of it, or two unrelated formulas."""
        first, _, second = as_text(mutator.base()).partition("\n")
        if mutator.chance.random() < 0.6:
            second = mutator.text(first)
        first = mutator.text(first)
        return as_bytes(first.replace("\n", " ") + "\n" + second)

    def check(self, data: bytes) -> None:
        """Check that the same match is found and explained each time."""
        first, _, second = as_text(data).partition("\n")
        query, candidate = parse_latex(first), parse_latex(second)
        found = match(query.opt, candidate.opt)
        check_match(found)
        again = match(query.opt, candidate.opt)
        expect_equal(
            (again.score, again.coverage, dict(again.substitution)),
            (found.score, found.coverage, dict(found.substitution)),
            "a match is the same again",
        )
        for overlap in (token_overlap, node_overlap):
            expect(0 <= overlap(query.slt, candidate.slt) <= 1 + 1e-9, "an overlap is a share")
        if query.slt == candidate.slt and query.opt == candidate.opt:
            expect_equal(
                features(query.slt, query.opt),
                features(candidate.slt, candidate.opt),
                "equal formulas have equal features",
            )


class MathML(Target):
    """Presentation and Content MathML."""

    name = "mathml"
    tokens = (
        "<math> </math> <mrow> </mrow> <mi> </mi> <mn> <mo> </mo> <msup> </msup> <msub> <mfrac>"
        " </mfrac> <msqrt> <mroot> <mtable> <mtr> <mtd> </mtd> </mtr> </mtable> <mfenced> <mtext>"
        " <mmultiscripts> <mprescripts/> <none/> <munderover> <semantics> </semantics>"
        " <annotation-xml> </annotation-xml> <apply> </apply> <plus/> <ci> </ci> <cn> <cn><sep/>"
        " <csymbol> <bvar> <lambda> <interval> <matrix> <matrixrow> <share> <cerror> <!--x-->"
        " <!DOCTYPE> <![CDATA[x]]> <?xml?> &InvisibleTimes; &alpha; &lt; &amp; &#0; &#x110000;"
        " &#65;"
        " &nope; xmlns= m: open='(' close=')' separators=',;' mathvariant='bold' 𝑥 ∑ x 2"
    ).split(" ")

    def seeds(self) -> list[bytes]:
        """MathML written from formulas of the sampler, and hand-written Content MathML."""
        written = [
            as_bytes(write_mathml(parse_latex(as_text(latex)).layout))
            for latex in latex_seeds()[::5]
        ]
        return [*written, *map(as_bytes, _CONTENT)]

    def check(self, data: bytes) -> None:
        """Check that broken MathML is refused with a position, and that the rest gives a tree."""
        text = as_text(data)
        for read in (read_presentation, read_content):
            try:
                tree = read(text)
            except NotationError as error:
                expect_refusal(error)
                continue
            check_tree(tree)
            check_tree(normalise(tree))
            expect_equal(read(text), tree, "the tree is the same again")


_CONTENT = (
    "<math><apply><plus/><ci>x</ci><cn>1</cn></apply></math>",
    "<math><apply><int/><bvar><ci>x</ci></bvar><lowlimit><cn>0</cn></lowlimit><uplimit><infinity/>"
    "</uplimit><apply><exp/><ci>x</ci></apply></apply></math>",
    "<math><semantics><mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow><annotation-xml encoding="
    "'MathML-Content'><apply><eq/><ci>x</ci><cn type='integer'>1</cn></apply></annotation-xml>"
    "<annotation encoding='application/x-tex'>x=1</annotation></semantics></math>",
    "<math><matrix><matrixrow><cn>1</cn><cn>2</cn></matrixrow></matrix></math>",
    "<m:math xmlns:m='http://www.w3.org/1998/Math/MathML'><m:set><m:ci>a</m:ci></m:set></m:math>",
    "<math><apply><csymbol cd='latexml'>annotated</csymbol><ci>x</ci><share"
    " href='#a'/></apply></math>",
    "<math><apply><and/><apply><eq/><ci id='b'>a</ci><ci>b</ci></apply><apply><lt/><share"
    " href='#b'/>"
    "<ci>c</ci></apply></apply></math>",
    "<math><cn type='rational'>1<sep/>2</cn></math>",
    "<math><mfenced open='[' close=')' separators=';'><mi>a</mi><mi>b</mi></mfenced></math>",
    "<math><mmultiscripts><mi>X</mi><mn>1</mn><none/><mprescripts/><none/><mn>2</mn>"
    "</mmultiscripts></math>",
    "<math><mtable><mtr><mtd><mi>a</mi></mtd><mtd/></mtr><mlabeledtr><mtd/></mlabeledtr></mtable><"
    "/math>",
)


class Notation(Target):
    """Tangent's text form of trees."""

    name = "notation"
    tokens = (
        '[ ] , ,a[ ,0[ ]] [V!x [N!2 [U!plus,0[ & &comma; &lsqb; &rsqb; &quest; &amp; " "" \\" "[ ]"'
        " [M!()1x1,w[ ,e[ [+[ [T! [?x [O!SUP,0[V!x],1[N!2]] n[ \\ ' \t \n"
    ).split(" ")

    def seeds(self) -> list[bytes]:
        """Both trees of formulas of the sampler, and trees quoted as in CSV."""
        parsed = [parse_latex(as_text(latex)) for latex in latex_seeds()[::4]]
        trees = [write_tree(tree) for one in parsed for tree in (one.slt, one.opt)]
        return [as_bytes(tree) for tree in [*trees, '"[V!x,a[N!2]]"', '\\"[T!""a""[+]]\\"']]

    def check(self, data: bytes) -> None:
        """Check that a broken tree is refused with its position, and that others are read."""
        try:
            tree = read_tree(as_text(data))
        except NotationError as error:
            expect_refusal(error)
            return
        check_tree(tree)
        check_tree(normalise(tree))
        features(tree, tree)
        if len(data) <= _LARGE:
            check_match(match(tree, tree))
            parse_xml(draw_layout_tree(tree))
            parse_xml(draw_operator_tree(tree))
        expect(isinstance(infix(tree), str), "a tree is written as infix")
