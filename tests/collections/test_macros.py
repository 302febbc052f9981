r"""Macros in rows: a macro defined in one formula applies to all formulas of the post."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mathsetu.collections import jsonl, stackexchange
from mathsetu.collections.formats import open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.markup.attributes import to_attribute
from mathsetu.records import Post
from tests.timing import assert_within

TITLE = r"Sum of $\fl{x}$"
DEFINITION = r"$\newcommand{\fl}[1]{\left\lfloor #1\right\rfloor}$"
BODY = rf"<p>{DEFINITION} Find $\fl{{x}}+\fl{{2x}}&lt;3$.</p>"
EXPANDED = [
    r"\left\lfloor x\right\rfloor",
    r"\left\lfloor x\right\rfloor+\left\lfloor 2x\right\rfloor<3",
]


def from_jsonl(folder: Path, title: str, body: str, form: str = "html") -> list[Post]:
    path = folder / "posts.jsonl"
    rows = ({"id": "1", "title": title, "body": body}, {"id": "2", "body": r"<p>$\fl{y}$</p>"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(jsonl.read_posts(path, BadRows(form=form)))


def from_table(folder: Path, title: str, body: str, heads: str = "nr heading text") -> list[Post]:
    path = folder / "posts.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [heads.split(), ["1", title, body], ["2", "", r"<p>$\fl{y}$</p>"]]
        csv.writer(file).writerows(rows)
    return list(open_posts(path))


def from_usual_table(folder: Path, title: str, body: str) -> list[Post]:
    return from_table(folder, title, body, "id title body")


def from_dump(folder: Path, title: str, body: str) -> list[Post]:
    path = folder / "Posts.xml"
    first = f'Title="{to_attribute(title)}" Body="{to_attribute(body)}"'
    path.write_text(
        f'<posts>\n<row Id="1" PostTypeId="1" {first} />\n'
        r'<row Id="2" PostTypeId="1" Title="" Body="&lt;p&gt;$\fl{y}$&lt;/p&gt;" />' + "\n</posts>",
        encoding="utf-8",
    )
    return list(stackexchange.read_posts(path))


@pytest.mark.parametrize("read", [from_jsonl, from_table, from_usual_table, from_dump])
def test_macros_are_expanded_in_the_html_of_their_own_post_only(
    read: Callable[[Path, str, str], list[Post]], tmp_path: Path
) -> None:
    first, second = read(tmp_path, TITLE, BODY)
    assert [formula.latex for formula in first.formulas] == EXPANDED
    assert (first.title, first.body) == (f"Sum of ${EXPANDED[0]}$", f"Find ${EXPANDED[1]}$.")
    assert [formula.latex for formula in second.formulas] == [r"\fl{y}"]


@pytest.mark.parametrize(
    ("written", "expanded"),
    [
        (r"$x&#60;\R$", r"x<\mathbb R"),
        (r"$\R&nbsp;&amp; &lt; x$", "\\mathbb R\xa0& < x"),
        (r'<span class="math-container" id="9">$x &#60; \R$</span>', r"x < \mathbb R"),
        (r'<script type="math/tex">\R</script>', r"\mathbb R"),
        (r"\[\R\]", r"\mathbb R"),
    ],
)
def test_macros_are_expanded_in_every_notation_for_formulas_in_html(
    written: str, expanded: str, tmp_path: Path
) -> None:
    definition = r"$\def\R{\mathbb R}$"
    if written.startswith("<"):
        definition = f'<span class="math-container">{definition}</span>'
    first, _ = from_jsonl(tmp_path, "", f"<p>{definition} Let {written}.</p>")
    assert [formula.latex for formula in first.formulas] == [expanded]


def test_macros_in_marked_text_are_not_expanded(tmp_path: Path) -> None:
    first, _ = from_jsonl(tmp_path, TITLE, DEFINITION, form="")
    assert (first.title, first.body) == (TITLE, DEFINITION)


@pytest.mark.thorough
def test_the_expansion_of_nested_doubling_macros_ends_quickly(tmp_path: Path) -> None:
    doubling = r"$\def\a#1{#1#1}" + r"\a{" * 60 + "x" + "}" * 60 + "$"
    page = f"<p>{doubling} {doubling}</p>"
    assert_within(2, lambda: from_jsonl(tmp_path, "", page))
