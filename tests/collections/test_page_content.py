r"""Pages of blogs and tools: the menus, headers and footers of a site are not part of a post."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections.documents.page_content import page_content
from mathsetu.collections.formats import open_posts
from mathsetu.records import Post

SITE = "Chalk Dust Notes"
HEADING = "Why the harmonic series diverges"
TEXT = (
    r"<p>Group the terms: each group of \(\sum 1/k\) is at least one half, so that the partial "
    "sums grow without bound, though slowly.</p><h2>A bound</h2><p>The first million terms give "
    "less than fifteen.</p>"
)
LINKS = "<a href='/about/'>About</a> <a href='/tags/'>Tags</a>"
TEMPLATES = {
    "hand-written": f"""<header><a href="/">{SITE}</a><nav>{LINKS}</nav></header><main><article>
        <h1>{HEADING}</h1>{TEXT}</article></main><footer>© Me</footer>""",
    "Jekyll minima": f"""<header class="site-header" role="banner"><div class="wrapper">
        <a class="site-title" rel="author" href="/">{SITE}</a><nav class="site-nav">{LINKS}</nav>
        </div></header><main class="page-content" aria-label="Content"><div class="wrapper">
        <article class="post"><header class="post-header"><h1 class="post-title">{HEADING}</h1>
        <p class="post-meta"><time>May 3, 2024</time></p></header><div>{TEXT}</div></article></div>
        </main><footer class="site-footer"><p>Notes on sums.</p></footer>""",
    "Hugo": f"""<a class="skip-link" href="#main">Skip to content</a><header id="top"><div>
        <h1><a href="/">{SITE}</a></h1><p>Sums, products and chalk</p>{LINKS}</div></header>
        <div id="content"><article><p>3 May 2024</p><h1>{HEADING}</h1>{TEXT}</article></div>
        <aside><h2>Recent posts</h2><ul><li><a href="/a">Another one</a></ul></aside>""",
    "WordPress": f"""<div id="page"><a class="skip-link screen-reader-text" href="#content">Skip
        to content</a><header id="masthead"><p class="site-title"><a href="/">{SITE}</a></p>
        <p class="site-description">Just another blog</p></header><div id="content"><main
        id="main"><article id="post-7"><header><h2 class="entry-title">{HEADING}</h2></header>
        {TEXT.replace("h2", "h3")}</article></main><aside class="widget-area"><h2>Archives</h2>All
        months since 2009, all of the categories, and who wrote here.</aside></div></div>""",
    "Docusaurus": f"""<div role="region" aria-label="Skip to main content"><a class="skipToContent"
        href="#x">Skip to main content</a></div><nav class="navbar">{LINKS}</nav><aside>{LINKS}
        </aside><main><nav aria-label="Breadcrumbs">{LINKS}</nav><article><header><h1>{HEADING}<a
        href="#top" class="hash-link">&#8203;</a></h1></header>{TEXT}</article></main>""",
    "MkDocs": f"""<div data-md-component="skip"><a href="#x" class="md-skip">Skip to content</a>
        </div><header class="md-header"><nav><a class="md-logo">{SITE}</a></nav></header><main
        class="md-main"><div class="md-sidebar"><nav>{LINKS}</nav></div><article><h1 id="x">
        {HEADING}<a class="headerlink" href="#x">¶</a></h1>{TEXT}</article></main>""",
    "Sphinx": f"""<div class="related" role="navigation"><h3>Navigation</h3>{LINKS}</div><div
        class="document"><div class="body" role="main"><section id="x"><h1>{HEADING}<a
        href="#x">#</a></h1>{TEXT}</section></div><div class="sphinxsidebar"><h3>On this page</h3>
        {LINKS}</div></div><div class="footer">© Copyright.</div>""",
    "divisions": f"""<div><a href="/">{SITE}</a></div><div>{LINKS}</div>
        <div><h1>{HEADING}</h1>{TEXT}</div>""",
    "breadcrumbs": f"""<p><a href="/">Home</a> » <a href="/sums/">Sums</a> /</p><p>{SITE}</p>
        <h1>{HEADING}</h1>{TEXT}""",
    "a lone skip link": f"""<a class="skip-link" href="#c">Skip to content</a>
        <h1>{HEADING}</h1>{TEXT}""",
    "a date before the heading": f"""<header><div>{SITE}</div></header><div><p>3 May 2024</p>
        <h1>{HEADING}</h1>{TEXT}</div>""",
    "a heading in the header": f"""<header><a href="/">{SITE}</a><h1>{HEADING}</h1></header>
        {TEXT}""",
    "a heading outside the main element": f"""<div>{LINKS}</div><h1>{HEADING}</h1><main>{TEXT}
        </main>""",
    "a heading that is a link": f"""<div id="header"><h1><a href="/q/7">{HEADING}</a></h1></div>
        <div role="main">{TEXT}</div>""",
    "two levels of names": f"""<header><h1>{SITE}</h1></header><div><h2>{HEADING}</h2>
        {TEXT.replace("h2", "h3")}</div>""",
}
TITLES = (f"{HEADING} | {SITE}", f"{HEADING} – {SITE}", f"{SITE}: {HEADING}")


def read(folder: Path, body: str, title: str = "") -> list[Post]:
    path = folder / "page.html"
    head = f"<head><meta charset='utf-8'><title>{title}</title></head>" if title else ""
    path.write_text(f"<!doctype html><html>{head}<body>{body}</body></html>", encoding="utf-8")
    return list(open_posts(path))


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_page_gives_its_post_without_the_text_of_the_site(
    tmp_path: Path, template: str, title: str
) -> None:
    first, second = read(tmp_path, TEMPLATES[template], title)
    assert (first.title, second.title) == (HEADING, f"{HEADING} › A bound")
    assert [formula.latex for formula in first.formulas] == [r"\sum 1/k"]
    assert first.body.endswith("though slowly.")
    assert second.body == "The first million terms give less than fifteen."
    for of_site in (SITE, "Skip", "About", "Archives", "Recent", "chalk", "Home", "On this page"):
        assert of_site not in first.body


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        (f"<main></main><div><h1>{HEADING}</h1>All of it is here.</div>", ["All of it is here."]),
        ("<main><p>Short.</p></main><div>A long text that is outside.</div>",
         ["Short.\nA long text that is outside."]),
        ("<article><h2>One</h2>First.</article><article><h2>Two</h2>Second.</article>",
         ["First.", "Second."]),
        ("<main><h2>One</h2>First.</main><p>Between.</p><main><h2>Two</h2>Second.</main>",
         ["First.", "Second."]),
        ("<p>Before.</p><article><h2>One</h2>A</article><article><h2>Two</h2>B</article>",
         ["Before.", "A", "B"]),
        ("<header><h2>One</h2></header>First.<header><h2>Two</h2></header>Second.",
         ["First.", "Second."]),
        ("<header><h1>One</h1><p>An abstract that is all of the text.</p></header><p>By me.</p>",
         ["An abstract that is all of the text.\nBy me."]),
        ("<header><p>Never closed.</p><h1>One</h1>First.", ["Never closed.", "First."]),
        ("<div role=main><div><h1>One</h1></div>Never closed.", ["Never closed."]),
        ("<ul><li><a href=a>Sums</a><li><a href=b>Series</a></ul><h2>Me</h2>I", ["Sums", "I"]),
        ("<p><a href=a>All</a> lectures:</p><h1>One</h1>First.", ["All lectures:", "First."]),
        ("<p><a href=a>Only</a></p><p><a href=b>links</a></p>", ["Only\nlinks"]),
        ("<script>'<main>'</script><h1>One</h1>First.", ["First."]),
        ("<!-- <main> --><h1>One</h1>First.<!-- </main> -->Second.", ["First.Second."]),
    ],
)  # fmt: skip
def test_no_content_is_lost(tmp_path: Path, body: str, texts: list[str]) -> None:
    posts = read(tmp_path, body)
    assert len(posts) == len(texts)
    for post, text in zip(posts, texts, strict=True):
        assert text in post.body


def test_macros_defined_outside_the_main_element_are_expanded(tmp_path: Path) -> None:
    body = rf"<div hidden>\(\newcommand{{\RR}}{{\mathbb R}}\)</div><main>{TEXT}\(x\in\RR\)</main>"
    *_, last = read(tmp_path, body)
    assert last.formulas[-1].latex == r"x\in\mathbb R"


TAGS = "main article section header h1 h2 a div nav aside script".split()
PIECES = ["text ", "\\(x\\)", "<a href='#x' class=skip>", '<a href="/">', "<div role=main>",
          "<div role='banner'>", "<br>", "<", "#", *(f"<{t}>" for t in TAGS),
          *(f"</{t}>" for t in TAGS)]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.sampled_from(["", "text"]))
def test_any_page_is_split_into_content_and_surroundings_without_loss(
    page: str, title: str
) -> None:
    content, around = page_content(page, title)
    assert sorted(content + around) == sorted(page)
