"""Fuzz target for text with formulas, in all markup formats."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.target import Target, expect, expect_equal
from mathsetu.collections import sampler
from mathsetu.markup import Span, join, plain, snippet, split, to_marked_text
from mathsetu.markup.attributes import BrokenReference, from_attribute, to_attribute
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.html import PLACE, clean

FORMS = ("text", "markdown", "latex", "html")
MARKUP_TOKENS = (
    "$ $$ \\$ \\( \\) \\[ \\] \\begin{equation} \\end{equation} \\begin{align*} \\end{align*}"
    " \\begin{"
    " \\end{ \\ \\\\ { } % ` `` ``` ~~~ # ## * ** _ - > | [x](y) ![x](y) <br> <p> </p> <b> </b> <i>"
    " <!-- --> <! <span </span> <span class=\"math-container\"> <span class='math-container'>"
    ' id="7" <script </script> <script type="math/tex"> <script type="math/tex;mode=display">'
    " <math>"
    ' </math> <math display="block"> <annotation encoding="application/x-tex"> </annotation> <code>'
    " </code> <pre> </pre> <style> </style> <a href=\"x\"> </a> <img alt='$x$'> &lt; &gt; &amp;"
    " &#36;"
    " &dollar; &#0; &#x110000; &#55296; &nbsp; &bogus; & &# \ue0001\ue001 \ue000 \x00 \r \n \n\n"
    " \t $5"
    " $x$ $$y$$ \\verb|$| \\label{a} \\cite{b} \\'e \\v{z} \\item \\section{a} \\textbf{ `` '' ---"
    " ~ - 1."
).split(" ")


@cache
def text_seeds() -> list[bytes]:
    """Titles and bodies of the sampler in all of its languages, and a text in each format."""
    posts = list(sampler.posts())
    texts = [post.title for post in posts[::6]] + [post.body for post in posts[::9]]
    return [as_bytes(text) for text in [*texts, *_PIECES]]


_PIECES = (
    "# Sums\n\nThe **sum** of `n` terms is $n a$.\n\n* one $a*b*c$\n* two\n\n```\n$x$\n```\n",
    '<p>Is <span class="math-container" id="9">$x&lt;y$</span>? It costs $5 or &dollar;6.</p>'
    "<pre><code>$not$</code></pre><!-- $c$ -->",
    '<math display="block"><semantics><mi>x</mi><annotation encoding="application/x-tex">x&amp;y'
    '</annotation></semantics></math><script type="math/tex; mode=display">z</script>',
    "\\section{Ro\\v{z}klad} Let $a$ % comment $b$\n\\begin{equation}\\label{e} c \\end{equation}"
    " and \\[ d \\] \\verb|$| \\textbf{``bold''}~\\cite{x}",
    "\\(a\\) costs \\$5, not $$\\text{$6$}$$ \\begin{align}x&=1\\\\y&=2\\end{align}",
)


class Markup(Target):
    """Splits, converts and cuts a text; the first character of an input selects the format."""

    name = "markup"
    tokens = MARKUP_TOKENS
    floor = 2.0  # a text is read a dozen times, and may hold thousands of formulas

    def seeds(self) -> list[bytes]:
        """Texts of the sampler, in every format."""
        return [form[:1].encode() + text for text in text_seeds() for form in FORMS]

    def make(self, mutator: Mutator) -> bytes:
        """A mutated text in any format."""
        text = mutator.text(as_text(mutator.base()[1:]))
        return as_bytes(mutator.chance.choice(FORMS)[:1] + text)

    def kind(self, data: bytes) -> str:
        """The format."""
        return _form(data)

    def check(self, data: bytes) -> None:
        """Check that no text is lost and that formulas are not changed."""
        form, source = _form(data), as_text(data)[1:]
        spans = split(source, form)
        expect_equal(join(spans), source, "joining the spans gives the source back")
        marked = to_marked_text(source, form)
        # In Markdown, scripts, comments and link targets are invisible, including formulas in
        # them.
        if form != "markdown" or not ("<" in source or "](" in source or "]:" in source):
            expect_equal(_formulas(marked), _formulas(source, form), "formulas stay what they are")
        text, formulas = text_and_formulas(source, form, "7", "body")
        expect_equal(text, marked, "records hold marked text")
        expect_equal(
            ["".join(formula.latex.split()) for formula in formulas],
            _formulas(marked),
            "records hold the formulas of marked text",
        )
        for formula in formulas:
            expect(formula.latex in text[formula.start :], "a formula stands where it is said to")
        self._check_html(source)
        plain(marked)
        around = len(data) * 7 % (len(marked) + 1)
        whole = {span.raw for span in split(marked) if span.kind == "formula"}
        for span in split(snippet(marked, 80, around)):
            expect(span.kind != "formula" or span.raw in whole, "a snippet breaks no formula")

    def _check_html(self, source: str) -> None:
        clean(source)
        written = to_attribute(source)
        if "\0" not in source and PLACE not in source:
            expect_equal(from_attribute(written), source, "an attribute gives its text back")
            page = text_and_formulas(source, "html", "7", "body")
            in_attribute = text_and_formulas(written, "attribute", "7", "body")
            expect_equal(in_attribute, page, "a page in an attribute is read like the page")
        with suppress(BrokenReference):
            from_attribute(source)


def _form(data: bytes) -> str:
    letters = {form[:1].encode(): form for form in FORMS}
    return letters.get(data[:1], "text")


def _formulas(source: str, form: str = "text") -> list[str]:
    return [_bare(span) for span in split(source, form) if span.kind == "formula"]


def _bare(span: Span) -> str:
    return "".join(span.content.split())
