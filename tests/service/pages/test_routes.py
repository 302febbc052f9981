"""The routes of the page, requested without a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx import Response
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.answers.describe import found, whole_post
from mathsetu.collections import columns, sampler
from mathsetu.collections.rows import BadRows
from mathsetu.formulas.parse import parse_latex
from mathsetu.languages.table import LANGUAGES
from mathsetu.languages.translate import open_translator
from mathsetu.library import build_library
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Evidence, Hit, Post, Reason
from mathsetu.service.app import create_app
from mathsetu.service.engine import Engine
from mathsetu.service.pages import export, views
from mathsetu.service.pages.files import address, files
from mathsetu.service.pages.interface_language import INTERFACE_LANGUAGES, interface
from mathsetu.service.pages.places import web_address
from mathsetu.service.pages.preview import in_words
from mathsetu.service.pages.routes import router
from mathsetu.service.pages.visit import Visit
from mathsetu.service.settings import Settings
from tests.light import LIGHT, LIGHT_TOML

POST = "dirichlet-integral.en"
SAID = "q id in tag by k offset at collection group own deva to ui lang word latex query"
QUESTION = r"sum of a geometric series $1+q+q^2$"


def hits(html: str) -> list[str]:
    return re.findall(r'<article class="hit" data-id="([^"]+)"', html)


@pytest.mark.thorough
@pytest.mark.parametrize("code", INTERFACE_LANGUAGES)
def test_the_page_answers_in_every_interface_language(client: TestClient, code: str) -> None:
    answer = client.get("/search", params={"q": QUESTION, "ui": code})
    assert answer.status_code == 200
    direction = INTERFACE_LANGUAGES[code].direction
    assert f'<html lang="{code}" dir="{direction}">' in answer.text
    assert hits(answer.text)


@pytest.mark.thorough
def test_a_page_in_a_language_that_is_not_reviewed_says_so(client: TestClient) -> None:
    note = interface("de").say("unreviewed")
    assert note in unescape(client.get("/", params={"ui": "de"}).text)
    assert interface("cs").say("unreviewed") not in unescape(
        client.get("/", params={"ui": "cs"}).text
    )


@pytest.mark.thorough
def test_languages_of_the_library_are_listed_first(client: TestClient) -> None:
    html = client.get("/", params={"ui": "de"}).text
    listed = re.findall(r'hreflang="(\w+)"', html)
    held = {post.language for post in sampler.posts()}
    assert set(listed) == set(INTERFACE_LANGUAGES)
    assert set(listed[: len(held)]) == held
    asked = client.get("/search", params={"q": "prime number"}).text
    choices = re.findall(r'<option value="(\w+)" lang=', asked)
    assert set(choices[: len(held)]) == held
    assert "de" in choices[len(held) :]


@pytest.mark.thorough
def test_the_page_notes_a_query_in_a_language_of_a_lower_grade(client: TestClient) -> None:
    for text, name in (("Was ist eine Primzahl?", "German"), ("จำนวนเฉพาะ", "Thai")):
        html = unescape(client.get("/search", params={"q": text, "ui": "en"}).text)
        grade = "served_good" if name == "German" else "served_basic"
        assert interface("en").say(f"preview.{grade}", language=name) in html
    assert "served with the grade" not in client.get("/search", params={"q": "prime number"}).text


@pytest.mark.thorough
def test_romanised_words_are_shown_in_the_script_of_their_language(
    client: TestClient,
) -> None:
    html = client.get("/search", params={"q": "reshite uravnenie", "ui": "en"}).text
    assert re.search(r'<span lang="ru" dir="ltr">[^<]*уравнение', html)


def test_the_language_of_the_page_follows_the_browser(client: TestClient) -> None:
    answer = client.get("/", headers={"Accept-Language": "cs-CZ,cs;q=0.9"})
    assert '<html lang="cs"' in answer.text
    assert answer.headers["vary"] == "Accept-Language"


@pytest.mark.thorough
def test_pages_have_no_inline_scripts_or_styles(client: TestClient) -> None:
    for path in (
        "/",
        "/search?q=$\\begin{cases}a%26b\\end{cases}$",
        "/post?id=dirichlet-integral.en",
    ):
        html = client.get(path).text
        assert not re.search(r"<script(?![^>]* src=)", html)
        assert "<style" not in html
        assert not re.search(r"\s(?:style|on\w+)=", html)


@pytest.mark.thorough
def test_filters_narrow_the_hits(client: TestClient) -> None:
    found = hits(client.get("/search", params={"q": QUESTION, "in": "hr"}).text)
    assert found
    assert all(name.endswith(".hr") for name in found)


@pytest.mark.thorough
def test_hits_can_be_ranked_by_one_part_of_the_recipe(client: TestClient) -> None:
    html = client.get("/search", params={"q": QUESTION, "by": "formulas", "ui": "en"}).text
    signals = set(re.findall(r'<th scope="row">([^<]+)</th>\s*<td class="bar"', html))
    assert signals == {"Formulas"}


@pytest.mark.thorough
def test_more_hits_are_offered_and_shown(client: TestClient) -> None:
    asked = {"q": "integral", "ui": "en", "group": "0"}
    first = client.get("/search", params=asked).text
    assert len(hits(first)) == 10
    assert "showing 1 to 10" in first
    assert 'href="/search?q=integral&amp;offset=10&amp;group=0&amp;ui=en#hits"' in first
    second = client.get("/search", params={**asked, "offset": "10"}).text
    assert "showing 11 to 20" in second
    assert 'id="hit-11"' in second
    together = hits(client.get("/search", params={**asked, "k": "20"}).text)
    assert hits(first) + hits(second) == together


@pytest.mark.thorough
def test_the_pages_of_hits_together_show_every_hit_once(client: TestClient) -> None:
    for grouped in ("0", "1"):
        asked = {"q": "integral", "ui": "en", "group": grouped}
        seen: list[str] = []
        following = "/search?" + urlencode(asked)
        while following:
            html = client.get(following).text
            seen += hits(html)
            link = re.search(r'class="button" href="(/search[^"#]*)#hits"', html)
            following = unescape(link[1]) if link else ""
        [total] = {int(count) for count in re.findall(r"Posts found: (\d+)", html)} or {0}
        assert len(seen) == len(set(seen))
        if grouped == "0":
            assert len(seen) == total
    beyond = client.get("/search", params={**asked, "offset": "1000"}).text
    assert "There are no more posts." in beyond


@pytest.mark.thorough
def test_hits_are_counted_by_language_and_tag(client: TestClient) -> None:
    asked = {"q": "integral", "ui": "en", "facets": "true"}
    counts = client.get("/v1/search", params={"q": "integral", "facets": "true"}).json()["facets"]
    html = client.get("/search", params=asked).text
    english = re.search(r'>English <span class="count">(\d+)</span>', html)
    assert english
    assert int(english[1]) == counts["language"]["en"]
    tag, count = next(iter(counts["tag"].items()))
    assert f'>{tag} <span class="count">{count}</span>' in html


def test_several_languages_can_be_selected_and_deselected(client: TestClient) -> None:
    html = client.get("/search", params={"q": "integral", "in": ["hr", "cs"], "k": "40"}).text
    assert {name[-2:] for name in hits(html)} == {"hr", "cs"}
    # Links that add a language and remove one.
    assert "/search?q=integral&amp;in=hr&amp;in=cs&amp;in=en&amp;k=40" in html
    assert 'href="/search?q=integral&amp;in=cs&amp;k=40"' in html


@pytest.mark.thorough
def test_the_link_back_leads_to_the_same_position_in_the_hits(client: TestClient) -> None:
    asked = {"q": "integral", "in": ["en", "hr"], "offset": "10", "group": "0", "ui": "en"}
    html = client.get("/search", params=asked).text
    post = unescape(re.findall(r'<h2[^>]*><a href="([^"]+)"', html)[2])
    expected = "/search?q=integral&amp;in=en&amp;in=hr&amp;offset=10&amp;group=0&amp;ui=en#hit-13"
    page = client.get(post).text
    assert f'href="{expected}"' in page
    # The page of a similar post keeps the link.
    section = page[page.index('id="similar"') :]
    [similar, *_] = re.findall(r'<a href="(/post[^"]+)"', section)
    assert f'href="{expected}"' in client.get(unescape(similar)).text


@pytest.mark.thorough
@pytest.mark.parametrize("k", ["0", "-1", "abc", "99999999999", "", "१"])
def test_an_invalid_number_of_hits_is_ignored(client: TestClient, k: str) -> None:
    assert client.get("/search", params={"q": "integral", "k": k}).status_code == 200


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"q": "x" * 2001}, "2,001 characters"),
        ({"q": "integral", "in": "../etc"}, "is not a language"),
        ({"q": "the of and"}, "only stop words"),
        ({"q": "integral", "tag": [str(n) for n in range(51)]}, "at most 50"),
        ({"q": "integral", "by": "magic"}, "magic"),
    ],
)
def test_an_invalid_query_gets_an_error_and_examples(
    client: TestClient, parameters: dict[str, str], problem: str
) -> None:
    answer = client.get("/search", params=parameters)
    assert answer.status_code == 400
    assert problem in answer.text
    assert 'class="examples"' in answer.text


@pytest.mark.thorough
@given(
    path=st.sampled_from(
        ["/", "/search", "/post", "/preview", "/typed", "/suggest", "/trees/layout.svg"]
    ),
    said=st.dictionaries(
        st.sampled_from(SAID.split()),
        st.text(max_size=40),
    ),
)
def test_no_parameters_of_a_url_break_the_server(
    client: TestClient, path: str, said: dict[str, str]
) -> None:
    assert client.get(path, params=said).status_code < 500


def test_an_empty_query_shows_the_home_page(client: TestClient) -> None:
    assert 'class="hero"' in client.get("/search", params={"q": "  "}).text


def test_an_unknown_post_gets_a_page_with_the_search_box(client: TestClient) -> None:
    answer = client.get("/post", params={"id": "no-such-post"})
    assert answer.status_code == 404
    assert "no-such-post" in answer.text
    assert 'id="box"' in answer.text


@pytest.mark.thorough
def test_a_post_can_be_read_without_a_query(client: TestClient) -> None:
    html = client.get("/post", params={"id": "dirichlet-integral.fa", "ui": "en"}).text
    assert 'dir="rtl"' in html
    assert 'class="post-why"' not in html


@pytest.mark.thorough
def test_the_reason_all_words_together_is_in_the_language_of_the_page(tmp_path: Path) -> None:
    post = Post("sum", "A sum of primes is $p+q$ here, and even.", language="en")
    recipe = parse_recipe(f"{LIGHT_TOML}exact = 0.2", "tests")
    build_library(tmp_path / "lib", [post], recipe, processes=1)
    with TestClient(create_app(Settings(str(tmp_path / "lib")))) as client:
        for code, said in (("en", "All words together: “"), ("de", "Alle Wörter beieinander: “")):
            html = client.get("/search", params={"q": "even primes", "ui": code}).text
            assert f"{said}primes is <" in unescape(html)
            assert "p+q" in html


@pytest.mark.thorough
def test_a_translation_keeps_every_formula(client: TestClient) -> None:
    shown = {"id": "geometric-series.cs", "to": "es", "ui": "en"}
    html = client.get("/post", params=shown).text
    original, translated = html.split('id="translation"')
    formulas = re.compile(r'class="formula[^"]*" dir="ltr" data-latex="([^"]*)"')
    body = original[original.index("<h1 lang") :]
    assert sorted(formulas.findall(translated.split('id="similar"')[0])) == sorted(
        formulas.findall(body.split('class="post-why"')[0])
    )


@pytest.mark.thorough
def test_romanised_hindi_is_searched_in_devanagari_if_the_option_is_set(client: TestClient) -> None:
    html = client.get("/search", params={"q": "samakal $x$", "deva": "1", "ui": "en"}).text
    assert re.search(r"<textarea[^>]*>समाकल \$x\$</textarea>", html)


@pytest.mark.thorough
def test_a_romanised_word_gets_candidates_in_devanagari(client: TestClient) -> None:
    assert client.get("/typed", params={"word": "sameekaran"}).json()[0] == "समीकरण"
    assert client.get("/typed", params={"word": "qwxzv"}).json() == []


def test_suggestions_include_terms_and_titles(client: TestClient) -> None:
    def kinds(typed: str, ui: str) -> dict[str, str]:
        found = client.get("/suggest", params={"q": typed, "ui": ui}).json()
        return {one["kind"]: one["text"] for one in found}

    assert kinds("prvoč", "cs")["term"].startswith("prvočís")
    # Titles are loaded in the background.
    end = monotonic() + 10
    while "title" not in kinds("geometric", "en") and monotonic() < end:
        sleep(0.02)
    assert "geometric" in kinds("geometric", "en")["title"].lower()
    assert kinds("$x", "en") == {}
    assert client.get("/suggest", params={"q": "x" * 3000}).json() == []


@pytest.mark.thorough
def test_a_correction_is_suggested_for_a_misspelt_query(client: TestClient) -> None:
    html = client.get("/search", params={"q": "Intergal $x^2$", "in": "en", "ui": "en"}).text
    assert "Did you mean:" in html
    assert 'href="/search?q=Integral+%24x%5E2%24&amp;in=en&amp;ui=en"' in html
    assert "Did you mean:" not in client.get("/search", params={"q": "Integral $x^2$"}).text


def test_the_preview_shows_what_the_parser_guessed(client: TestClient) -> None:
    html = client.get("/preview", params={"q": r"$\sqrt{2$", "ui": "en"}).text
    assert "<msqrt" in html
    assert '<bdi dir="ltr">{</bdi> is not closed' in html
    assert 'class="reading"' not in client.get("/preview", params={"q": "plain words"}).text
    assert client.get("/preview", params={"q": ""}).text.strip() == ""


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "en"])
@pytest.mark.parametrize(
    "latex",
    [
        r"\sqrt{2",
        "a}",
        r"\left( x",
        r"x \right)",
        r"\begin{matrix} 1",
        r"1 \end{matrix}",
        r"\frac{1}",
        r"{a \over b \over c}",
        r"\nosuchcommand",
        r"\begin{nosuch} 1 \end{nosuch}",
        r"\left\foo y\right)",
        "x \x01",
        r"\def\a{\b\b\b\b\b\b\b\b\b\b}\def\b{\c\c\c\c\c\c\c\c\c\c}\def\c{\d\d\d\d\d\d\d\d\d\d}"
        r"\def\d{\e\e\e\e\e\e\e\e\e\e}\def\e{xxxxxxxxxx}\a",
    ],
)
def test_warnings_of_the_parser_are_in_the_language_of_the_page(code: str, latex: str) -> None:
    warnings = parse_latex(latex).warnings
    assert warnings
    for warning in warnings:
        told = in_words(warning.message, interface(code))
        assert 'lang="en"' not in told, warning.message
        assert told != in_words(warning.message, interface("en"))


def test_a_post_can_be_exported(client: TestClient) -> None:
    def taken(kind: str, post_id: str = POST) -> Response:
        return client.get("/export", params={"id": post_id, "as": kind})

    assert taken("markdown").text.startswith("# Differentiating under the integral sign")
    latex = taken("latex")
    assert latex.text.startswith(r"\section*{Differentiating")
    assert r"\int_0^\infty" in latex.text
    assert latex.headers["content-type"] == "text/plain; charset=utf-8"
    assert latex.headers["content-disposition"] == f'attachment; filename="{POST}.tex"'
    for refused, status, why in (
        (taken("bibtex"), 404, f"the post '{POST}' has no web address, which bibtex needs"),
        (taken("nothing"), 422, "as: give one of markdown, latex, bibtex"),
        (taken("latex", "no-such-post"), 404, "there is no post 'no-such-post'"),
    ):
        assert (refused.status_code, refused.json()) == (status, {"error": why})


def test_exported_display_environments_are_valid_latex() -> None:
    body = r"So \begin{align}a&=b\end{align} and \begin{cases}1\end{cases}"
    post = whole_post(Post("7", body))
    assert export.latex(post) == (
        r"So \[\begin{aligned}a&=b\end{aligned}\] and \[\begin{cases}1\end{cases}\]" + "\n"
    )
    tagged = whole_post(Post("7", r"\begin{align}a&=b\tag{1}\end{align}"))
    assert export.latex(tagged) == r"\begin{align}a&=b\tag{1}\end{align}" + "\n"
    assert export.markdown(post) == (
        r"So $$\begin{aligned}a&=b\end{aligned}$$ and $$\begin{cases}1\end{cases}$$" + "\n"
    )


def test_a_title_made_from_the_first_line_can_end_with_a_formula(tmp_path: Path) -> None:
    posts = [
        Post("1", "It is a prime $q$.", question="Which prime is $p_1$?"),
        Post("2", "A prime $r$ and $s$, and more."),
    ]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    with TestClient(create_app(Settings(str(tmp_path / "library")))) as client:
        html = client.get("/search", params={"q": "prime", "ui": "en"}).text
    titles = [re.sub("<[^>]+>", "", one) for one in re.findall(r"<h2.*?</h2>", html, re.DOTALL)]
    assert titles[:2] == ["Which prime is p1?", "A prime r"]
    assert "Which" not in re.sub(r"<h2.*?</h2>|<[^>]+>", "", html, flags=re.DOTALL)


@pytest.mark.thorough
def test_the_source_of_a_post_is_shown_and_linked(tmp_path: Path) -> None:
    posts = [
        Post("w", "A prime $p$.", title="On the web", url="https://example.org/q/1?a=b&c"),
        Post("f", "A prime $q$.", title="In a file", url="notes/primes.md#euclid"),
        Post("s", "A prime $r$.", title="A script", url="javascript:alert(1)"),
    ]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    settings = Settings(str(tmp_path / "library"), files_at="https://example.org/files/")
    with TestClient(create_app(settings)) as client:
        html = client.get("/search", params={"q": "prime", "ui": "en"}).text
        assert 'href="https://example.org/q/1?a=b&amp;c"' in html
        assert 'href="https://example.org/files/notes/primes.md#euclid"' in html
        assert "Section: <bdi>euclid</bdi>" in html
        assert "javascript:" not in html
        cited = client.get("/export", params={"id": "w", "as": "bibtex"}).text
        assert "url = {https://example.org/q/1?a=b&c}" in cited
        cited = client.get("/export", params={"id": "f", "as": "bibtex"}).text
        assert "url = {https://example.org/files/notes/primes.md#euclid}" in cited
        for name, offered in (("f", True), ("s", False)):
            html = client.get("/post", params={"id": name, "ui": "en"}).text
            assert ("as=bibtex" in html) is offered
    with TestClient(create_app(Settings(str(tmp_path / "library")))) as client:
        html = client.get("/post", params={"id": "f", "ui": "en"}).text
        assert 'File: <bdi dir="ltr">notes/primes.md</bdi>' in html


@pytest.mark.thorough
def test_the_file_of_a_row_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "bank.json"
    path.write_text('[{"id": "r1", "text": "A prime $p$."}, {"text": "A prime $q$."}]')
    posts = list(columns.read_posts(path, BadRows(), name="notes/bank.json"))
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    with TestClient(create_app(Settings(str(tmp_path / "library")))) as client:
        for post_id, row in (("r1", 1), ("notes/bank.json#2", 2)):
            html = client.get("/post", params={"id": post_id, "ui": "en"}).text
            told = f'File: <bdi dir="ltr">notes/bank.json</bdi> <bdi dir="ltr">#{row}</bdi></span>'
            assert told in html
            assert "Section:" not in html
    settings = Settings(str(tmp_path / "library"), files_at="https://example.org")
    with TestClient(create_app(settings)) as client:
        html = client.get("/search", params={"q": "prime", "ui": "en"}).text
        assert 'href="https://example.org/notes/bank.json"' in html


@pytest.mark.thorough
def test_without_a_translator_only_terms_are_offered(client: TestClient) -> None:
    html = client.get("/search", params={"q": QUESTION, "ui": "en", "in": "cs"}).text
    assert "Show terms in English" in html
    assert "Translate into" not in html
    post = client.get("/post", params={"id": "geometric-series.cs", "to": "en", "ui": "en"}).text
    assert re.search(r'<ruby class="term">[^<]+<rt lang="en" dir="ltr">[^<]+</rt></ruby>', post)
    assert "Terms in other languages" in post


@pytest.mark.parametrize(
    ("question", "body", "heading", "plain"),
    [
        ("Solve $x^2=4$.", "Take roots: $x=2$.", r"Solve <span.*</span>", "Solve $x^2=4$."),
        ("Is 91 prime?", "No: $91=7*13$.", r"Is 91 prime\?", "Is 91 prime?"),
        ("", "No: it is\n$7*13$.", r"No: it is", "No: it is"),
        ("", "", "e1", "e1"),
    ],
)
def test_a_post_without_a_title_has_the_same_heading_as_its_hit(
    question: str, body: str, heading: str, plain: str
) -> None:
    row = Post("e1", body, question=question, language="en")
    shown = views.post(whole_post(row))
    listed = views.hit(found(Hit("e1", 1.0), row, 1, typeset=False), interface("en"))
    assert re.fullmatch(heading, shown.title, re.DOTALL)
    assert shown.title == listed.title
    assert shown.plain_title == plain


def test_text_that_replaces_a_title_is_shown_once() -> None:
    row = Post("e1", "No: $91=7*13$.\nSo it is composite.", question="Is 91 prime?", language="en")
    shown = views.post(whole_post(row))
    listed = views.hit(found(Hit("e1", 1.0), row, 1, typeset=False), interface("en"))
    assert (shown.title, shown.question) == ("Is 91 prime?", "")
    assert "prime" not in listed.snippet
    assert listed.snippet.startswith("No: ")
    # A question with a formula or several lines is not completely in the title.
    for question in ("Is $91$ prime or composite?", "Is 91 prime?\nOr composite?"):
        shown = views.post(whole_post(replace(row, question=question)))
        assert "composite" in shown.question


def test_a_word_is_highlighted_in_all_its_forms_and_listed_once() -> None:
    row = Post("e1", "Ecuaciones: una ecuación.", title="Otra ecuación", language="es")
    met = (Evidence("word", "ecuación", "ecuación"), Evidence("word", "ecuación", "Ecuaciones"))
    hit = Hit("e1", 1.0, reasons=(Reason("words", 1.0, "ecuación", met),))
    listed = views.hit(found(hit, row, 1, typeset=False), interface("es"))
    assert listed.snippet == "<mark>Ecuaciones</mark>: una <mark>ecuación</mark>."
    assert [word.found for word in listed.words] == [("ecuación",)]


@pytest.mark.thorough
def test_the_question_of_an_answer_is_shown_with_its_terms_and_translated(tmp_path: Path) -> None:
    question = "Quelle est la probabilité de deux faces ?"
    row = Post("e1", r"$\frac14$", question=question, language="fr")
    build_library(tmp_path / "library", [row], LIGHT, processes=1)
    shown = {}
    for translator in (None, open_translator("glossary")):
        app = FastAPI()
        app.include_router(router(Engine(tmp_path / "library", translator=translator)))
        html = TestClient(app).get("/post", params={"id": "e1", "to": "en", "ui": "en"}).text
        translated = html.partition('<div class="translated">')[2].partition("</section>")[0]
        shown[translator is None] = translated.partition('class="prose asked"')[2]
    assert '<ruby class="term">probabilité<rt lang="en" dir="ltr">probability</rt>' in shown[True]
    assert "probability" in shown[False]


@pytest.mark.thorough
def test_with_a_translator_the_page_offers_translations(
    sampler_folder: Path,
) -> None:
    engine = Engine(sampler_folder, translator=open_translator("glossary"))
    app = FastAPI()
    app.include_router(router(engine))
    html = TestClient(app).get("/search", params={"q": QUESTION, "ui": "en", "in": "cs"}).text
    assert "Translate into English" in html


@given(st.text(max_size=60), st.text(max_size=30))
def test_the_braces_of_a_bibtex_entry_are_balanced(title: str, collection: str) -> None:
    post = Post("7", "x", title=title, collection=collection, url="https://example.org/{7}")
    entry = export.bibtex(whole_post(post))
    bare = re.sub(r"\\.", "", entry)
    assert bare.count("{") == bare.count("}")
    assert entry.endswith("\n}\n")


@pytest.mark.thorough
def test_the_visitor_can_state_the_language_of_the_query(client: TestClient) -> None:
    html = client.get("/search", params={"q": "zbroj brojeva", "lang": "hr", "ui": "en"}).text
    assert '<option value="hr" lang="hr" selected>' in html
    wrong = client.get("/search", params={"q": "zbroj brojeva", "lang": "!"})
    assert wrong.status_code == 400


@pytest.mark.thorough
def test_the_preview_shows_romanised_hindi_in_devanagari(client: TestClient) -> None:
    html = client.get("/preview", params={"q": "samakal ka maan gyat karo"}).text
    assert "समाकल का मान" in html


@pytest.mark.parametrize("kind", ["operator", "layout"])
def test_a_tree_is_drawn_with_the_matched_symbols(client: TestClient, kind: str) -> None:
    parameters = {"latex": "t^2+1", "query": "x^2+1"}
    answer = client.get(f"/trees/{kind}.svg", params=parameters)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert 'class="matched"' in answer.text


def test_invalid_requests_for_a_tree_get_404(client: TestClient) -> None:
    assert client.get("/trees/other.svg", params={"latex": "x"}).status_code == 404
    assert client.get("/trees/layout.svg").status_code == 404
    assert client.get("/trees/layout.svg", params={"latex": "x" * 3000}).status_code == 404


def test_browsers_can_cache_files_of_this_version_permanently(client: TestClient) -> None:
    answer = client.get(address("main.js"))
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert client.get("/static/older/main.js").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("name", ["x/nothing.css", "x/..%2Froutes.py", "x/%2e%2e%2f__init__.py"])
def test_only_files_of_the_page_are_served(client: TestClient, name: str) -> None:
    assert client.get(f"/static/{name}").status_code == 404


def test_scripts_import_only_existing_files() -> None:
    for name, file in files().items():
        if name.endswith(".js") and file.media_type.startswith("text/javascript"):
            for imported in re.findall(r'from "\./([^"]+)"', file.content.decode()):
                assert imported in files(), f"{name} imports {imported}"


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//host/x", "http:", "https://[", "vbscript:x"],
)
def test_only_web_addresses_become_links(url: str) -> None:
    assert web_address(url) == ""


def test_the_url_contains_all_parameters_of_a_visit() -> None:
    visit = Visit("/search", "a & b", languages=("hi",), tags=("x", "y z"), k=20, ui="fa")
    assert visit.address() == "/search?q=a+%26+b&in=hi&tag=x&tag=y+z&k=20&ui=fa"
    assert dict(visit.kept()) == {"in": "hi", "tag": "y z", "ui": "fa"}


@pytest.mark.thorough
def test_the_language_of_the_visitor_ranks_first_and_versions_are_grouped(
    client: TestClient,
) -> None:
    asked = {"q": "infinitely many primes", "ui": "en"}
    page = client.get("/search", params={**asked, "own": "normal", "group": "1"}).text
    assert hits(page)[0] == "infinitely-many-primes.en"
    assert "Also in:" in page
    assert "id=infinitely-many-primes.hr" in page
    assert not hits(client.get("/search", params={**asked, "own": "off"}).text)[0].endswith(".en")
    # An invalid value is ignored, and a new query keeps the selected values.
    assert client.get("/search", params={**asked, "own": "<script>"}).status_code == 200
    assert '<input type="hidden" name="own" value="normal">' in page


@pytest.mark.thorough
def test_a_page_says_when_nothing_is_close(tmp_path: Path) -> None:
    learned = "threshold = 0.9\nhalf = { words = 1.0 }\nrelevant = { bias = -1, score = 1 }"
    recipe = parse_recipe(f"{LIGHT_TOML}\n[ranking.calibration]\n{learned}", "tests")
    posts = [post for post in sampler.posts() if post.thread_id == "geometric-series"]
    build_library(tmp_path / "library", posts, recipe, processes=1)
    with TestClient(create_app(Settings(str(tmp_path / "library")))) as client:
        page = client.get("/search", params={"q": QUESTION, "ui": "en"}).text
        assert "Nothing close was found. The nearest posts are:" in page
        assert hits(page)
        assert client.get("/v1/search", params={"q": QUESTION}).json()["close"] is False
