r"""Macros in the configuration of MathJax or KaTeX apply to the formulas of a page."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections.documents.script_macros import script_macros
from mathsetu.collections.formats import open_posts
from tests.test_linear import assert_linear

EXPANDED = [r"x\in\mathbb{R}", r"\left|x\right|<1"]
MACROS = r"{RR: '\\mathbb{R}', abs: ['\\left|#1\\right|', 1]}"
SCRIPTS = {
    "MathJax 3": rf"<script>MathJax = {{tex: {{macros: {MACROS}}}}}</script>",
    "a window": rf"<script>window.MathJax = {{tex: {{tags: ['ams'], macros: {MACROS}}}}};"
    "</script><script src='tex-mml-chtml.js' async></script>",
    "MathJax 2": '<script type="text/x-mathjax-config">MathJax.Hub.Config({TeX: {extensions: '
    rf'["AMSmath.js"], "Macros": {MACROS}}}}});</script>',
    "KaTeX": r"""<script>renderMathInElement(document.body, {
        macros: {"\\RR": "\\mathbb{R}", // reals
                 "\\abs": "\\left|#1\\right|", /* bars */}});</script>""",
    "a name": r"""<script>const macros = {"\\RR": String.raw`\mathbb{R}`,
        "\\abs": `\\left|#1\\right|`}; katex.render(tex, element, {macros});</script>""",
    "a default": r"""<SCRIPT>MathJax={tex:{macros:{RR:["\\mathbb{#1}",1,"R"],
        abs:["\\left|#1\\right|",1]}}}</SCRIPT>""",
}


def formulas(folder: Path, script: str) -> list[str]:
    body = r"<header>Notes</header><main><h1>Sums</h1>Let \(x\in\RR\), \(\abs{x}&lt;1\).</main>"
    path = folder / "page.html"
    path.write_text(f"<html><head>{script}</head><body>{body}</body></html>", encoding="utf-8")
    (post,) = open_posts(path)
    return [formula.latex for formula in post.formulas]


@pytest.mark.parametrize("script", SCRIPTS)
def test_macros_of_a_script_apply_to_the_formulas_of_its_page(tmp_path: Path, script: str) -> None:
    assert formulas(tmp_path, SCRIPTS[script]) == EXPANDED


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("MathJax = {tex: {macros: {RR: f('x'), QQ: 'q'}}}", ""),
        ("MathJax = {tex: {macros: {QQ: 'q', RR: 'a' + 'b', ZZ: 'z'}}}", "QQ"),
        ("MathJax = {tex: {macros: {QQ: 'q', RR: ['a', n], ZZ: 'z'}}}", "QQ"),
        ("MathJax = {tex: {macros: {QQ: 'q', RR: `${x}`}}}", "QQ"),
        ("MathJax = {tex: {macros: {'two words': 'q', ZZ: 'z'}}}", "ZZ"),
        ("MathJax = {tex: {macros: {QQ: 'q", ""),
        ("MathJax = {tex: {macros: load()}}", ""),
        ("editor = {macros: {QQ: 'q'}}", ""),
    ],
)
def test_a_macro_whose_value_is_not_a_plain_value_is_not_read(script: str, names: str) -> None:
    found = script_macros(f"<script>{script}</script>")
    assert [one.partition("}")[0].partition("\\newcommand{\\")[2] for one in found] == names.split()


def test_a_broken_macro_does_not_affect_the_others(tmp_path: Path) -> None:
    broken = MACROS.replace("{RR", r"{open: '{', closed: '}', '%': '%', RR", 1)
    script = f"<script>MathJax = {{tex: {{macros: {broken}}}}}</script>"
    assert formulas(tmp_path, script) == EXPANDED


PIECES = [*"{}[]:,'\"`\\/*#19\n ", "macros:{", "macros={", "RR", "'a'", "//", "/*", "*/",
          "<script>", "</script>", "String.raw`", "\\u0041", "${"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_script_is_read_and_gives_only_definitions(script: str) -> None:
    for definition in script_macros(f"<script>MathJax.macros = {{{script}</script>"):
        assert definition.startswith("\\newcommand{\\")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "piece", ["macros:{", "macros:{/*", "//macros:{\n", "macros:{a:'", "a:'b',", "<script>", "\\"]
)
def test_scripts_take_linear_time(piece: str) -> None:
    assert_linear(
        lambda text: script_macros(f"<script>MathJax macros:{{{text}</script>{text}"), piece, 30_000
    )
