"""Texts of posts in every form, and their limits."""

import pytest

from mathsetu.collections import source_text
from mathsetu.collections.rows import BadRows
from mathsetu.collections.source_text import (
    complete,
    form_of,
    formulas_in,
    noting_html,
    read_text,
    read_texts,
    split_tags,
    to_text,
)
from mathsetu.errors import InputError
from mathsetu.limits import LONGEST_TEXT
from mathsetu.records import Formula, Post


def test_the_characters_and_formulas_of_a_text_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 8)
    assert read_text("x" * 8, "text", "7", "body") == ("x" * 8, ())
    with pytest.raises(ValueError, match=r"^the body is longer than 8 characters$"):
        read_text("x" * 9, "text", "7", "body")
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 100)
    monkeypatch.setattr(source_text, "MAX_FORMULAS", 2)
    assert len(read_text("$a$ $b$", "text", "7", "body")[1]) == 2
    for read in (lambda text: read_text(text, "text", "7", "body"),
                 lambda text: formulas_in(text, "7", "body")):  # fmt: skip
        with pytest.raises(ValueError, match=r"^the body has 3 formulas where at most 2 are"):
            read("$a$ $b$ $c$")


@pytest.mark.parametrize("formula", ["$x$", r"\(x\)", r"\[x\]", r"\begin{x}"])
def test_far_too_many_delimiters_are_refused(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text, "MAX_FORMULAS", 2)
    source_text._check_delimiters(formula * 4, "body")
    with pytest.raises(ValueError, match=r"^the body has more than 2 formulas$"):
        source_text._check_delimiters(formula * 5, "body")
    source_text._check_delimiters("\\(" * 3 + "x", "body")


def test_formulas_cannot_be_listed_for_a_post_in_html() -> None:
    page = Post("7", "<p>$a$</p>", title="<b>T</b>\n$b$", question="<p>$c$</p>")
    read = complete(page, "html", has_formulas=False)
    assert (read.title, read.question, read.body) == ("T $b$", "$c$", "$a$")
    assert [formula.latex for formula in read.formulas] == ["b", "c", "a"]
    listed = Post("7", "$a$", formulas=(Formula("f", "z"),))
    assert complete(listed, "", has_formulas=True) is listed
    assert [one.latex for one in complete(listed, "text", has_formulas=False).formulas] == ["a"]
    with pytest.raises(ValueError, match='"formulas" must be left out'):
        complete(listed, "html", has_formulas=True)


@pytest.mark.parametrize(
    ("pages", "others", "form", "notes"),
    [(1, 9, "", 1), (1, 10, "", 0), (0, 3, "", 0), (1, 0, "html", 0)],
)
def test_bodies_that_seem_to_be_html_are_noted(
    pages: int, others: int, form: str, notes: int
) -> None:
    posts = [Post("p", "<p>a</p>")] * pages + [Post("q", "a < b")] * others
    bad = BadRows(form=form, notes=[])
    assert list(noting_html(posts, "a.jsonl", bad)) == posts
    assert len(bad.notes or ()) == notes
    if notes:
        assert bad.notes == [
            "a.jsonl: HTML tags in 1 of 10 bodies are kept as text (--form html reads them as HTML)"
        ]


def test_tags_are_split_at_all_usual_separators() -> None:
    assert split_tags("a;b|c, d") == ("a", "b", "c", "d")
    assert split_tags('["a", "b c"]') == ("a", "b c")
    assert split_tags(" , ") == ()
    assert form_of("a<b and b>a") == "text"


def test_macros_of_a_latex_body_are_expanded_in_the_body_and_the_title() -> None:
    defined = r"\newcommand{\R}{\mathbb R}\def\field#1{the field #1}"
    body = defined + r" Is \field{$\R$} closed?\section{No} By \ref{a}."
    sources = {"title": (r"On $\R$", "latex"), "body": (body, "latex")}
    texts = [text for text, _ in read_texts(sources, "7").values()]
    assert texts == [r"On $\mathbb R$", "Is the field $\\mathbb R$ closed?\nNo\nBy."]
    assert to_text(body, "latex") == texts[1]


def test_a_whole_page_is_read_without_its_menu_and_footer() -> None:
    content = "<main><h1>Cosines</h1><p>If <math><mi>x</mi></math> is even.</p></main>"
    around = '<header><nav><a href="/">Home</a></nav></header>', "<footer>© 2026</footer>"
    page = f"<!DOCTYPE html><html><body>{around[0]}<!-- x -->{content}{around[1]}</body></html>"
    assert to_text(page, "html") == "Cosines\nIf $x$ is even."
    assert to_text("<p>Menu</p><main>Text</main>", "html") == "Menu\nText"  # a fragment
    sources = {"title": ("Cosines", "text"), "body": (page, "html")}
    assert [text for text, _ in read_texts(sources, "7").values()] == [
        "Cosines",
        to_text(page, "html"),
    ]


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="the text is longer than"):
        to_text("x" * (LONGEST_TEXT + 1), "latex")


def test_macros_of_the_scripts_of_a_whole_page_are_expanded() -> None:
    script = r"<script>MathJax = {tex: {macros: {skp: ['\\langle #1,#2\\rangle', 2]}}};</script>"
    page = rf"<html><head>{script}</head><body><p>Let \(\skp{{x}}{{y}}\le 1\).</p></body></html>"
    assert to_text(page, "html") == r"Let $\langle x,y\rangle\le 1$."
