"""Dumps of wikis: a post for each section of an article."""

from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from mathsetu.collections import source_text, wikipedia
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.records import Post

HEAD = (
    '<mediawiki xml:lang="hi">\n<siteinfo><dbname>hiwiki</dbname>'
    "<base>https://hi.wikipedia.org/wiki/Main</base></siteinfo>\n"
)


def page(title: str, text: str, more: str = "", ns: str = "<ns>0</ns>") -> str:
    name = f"<title>{escape(title)}</title>"
    return f"<page>{name}{ns}{more}<revision><text>{escape(text)}</text></revision></page>\n"


def read(folder: Path, *pages: str, bad: BadRows | None = None, head: str = HEAD) -> list[Post]:
    path = folder / "wiki.xml"
    path.write_text(f"{head}{''.join(pages)}</mediawiki>", encoding="utf-8")
    return list(wikipedia.read_posts(path, bad or BadRows()))


def test_sections_of_an_article_are_posts_with_urls(tmp_path: Path) -> None:
    text = (
        "Begin.\n== A b ==\nOne.\n=== C ===\nTwo.\n==== D ====\nThree.\n===== E =====\nFour.\n"
        "== A b ==\nFive.\n== F ==\n== A b ==\nSix.\n"
    )
    found = read(tmp_path, page("Two words $", text))
    base = "https://hi.wikipedia.org/wiki/Two_words_%24"
    assert [(post.id, post.title, post.url) for post in found] == [
        ("hiwiki:Two_words_$", "Two words \\$", base),
        ("hiwiki:Two_words_$#A_b", "Two words \\$ › A b", f"{base}#A_b"),
        ("hiwiki:Two_words_$#C", "Two words \\$ › A b › C", f"{base}#C"),
        ("hiwiki:Two_words_$#A_b_2", "Two words \\$ › A b", f"{base}#A_b_2"),
        ("hiwiki:Two_words_$#A_b_3", "Two words \\$ › A b", f"{base}#A_b_3"),
    ]
    # Deeper headings stay in the text.
    assert found[2].body.split("\n") == ["Two.", "D", "Three.", "E", "Four."]
    assert {post.language for post in found} == {"hi"}
    assert {post.thread_id for post in found} == {"hiwiki:Two_words_$"}
    assert {post.kind for post in found} == {"article"}


def test_the_id_of_a_formula_begins_with_the_id_of_its_section(tmp_path: Path) -> None:
    text = "<math>a</math>\n== B ==\n<math>b</math>\n"
    first, second = read(tmp_path, page("P", text), head='<mediawiki xml:lang="en">')
    assert (first.id, first.url) == ("wiki:P", "")
    assert [formula.latex for formula in (*first.formulas, *second.formulas)] == ["a", "b"]
    assert second.formulas[0].id.startswith("wiki:P#B")


def test_pages_that_are_not_articles_are_counted_as_ignored(tmp_path: Path) -> None:
    bad = BadRows(skip=True, tally=Tally())
    found = read(
        tmp_path,
        page("Talk:P", "x", ns="<ns>1</ns>"),
        page("Q", "x", more='<redirect title="P" />'),
        page("Talk:Q", "x", ns="<ns>1</ns>"),
        page(" ", "x"),
        page("P", "x", ns=""),
        bad=bad,
    )
    assert [post.id for post in found] == ["hiwiki:P"]
    assert bad.tally is not None
    assert bad.tally.ignored.counts == {
        "a wiki page that is not an article": 2,
        "a redirect of a wiki": 1,
    }
    assert bad.tally.files == {"wikipedia": 1}
    assert [(error.line, error.problem) for error in bad.errors] == [(6, "the page has no title")]


def test_a_section_with_too_many_formulas_is_reported_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_text, "MAX_FORMULAS", 2)
    bad = BadRows(skip=True)
    text = f"One.\n== Many ==\n{'<math>a</math> ' * 3}\n== Few ==\nTwo.\n"
    found = read(tmp_path, page("P", text), bad=bad)
    assert [post.body for post in found] == ["One.", "Two."]
    assert [error.problem for error in bad.errors] == [
        "the body has 3 formulas where at most 2 are allowed"
    ]


def test_a_long_heading_is_cut_in_the_id(tmp_path: Path) -> None:
    (post,) = read(tmp_path, page("P", f"== {'a' * 130} ==\ntext"))
    assert post.id == f"hiwiki:P#{'a' * 120}"
