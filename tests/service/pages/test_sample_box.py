"""The documented search box for other sites shows hits and errors safely."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mathsetu.answers.describe import matched_formula
from mathsetu.answers.describe import pieces as pieces_of
from mathsetu.answers.values import to_json

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).parents[3] / "docs/for-programmers.md"
LINKS = {
    "lessons/en/taylor.html#sin": "https://example.org/lessons/en/taylor.html#sin",
    "notes/a b.md#sum": "https://example.org/notes/a%20b.md#sum",
    "https://example.com/q/1": "https://example.com/q/1",
    "": None,
    "javascript:alert(1)": None,
    " JavaScript:alert(1)": None,
    "data:text/html,x": None,
    "http://[": None,
}


ALLOWED = {"access-control-allow-origin": "*"}


def searched(browser: Any, before: str = "", **answer: Any) -> Any:
    """A tab with the box, in which a search was answered; ``before`` is a script of the page."""
    (box,) = re.findall(r"(?ms)^```html\n(.*?)^```", PAGE.read_text(encoding="utf-8"))
    tab = browser.new_page()
    tab.route(
        "http://127.0.0.1:8080/v1/search?*",
        lambda route: route.fulfill(**answer) if answer else route.abort(),
    )
    tab.set_content(f"<script>{before}</script>{box}")
    tab.fill("input", "sine")
    tab.press("input", "Enter")
    return tab


def hit(
    name: str,
    url: str = "",
    pieces: Sequence[dict[str, Any]] = (),
    snippet: Sequence[dict[str, Any]] = (),
    formulas: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    texts = {"title_pieces": pieces, "snippet": snippet}
    return {"id": name, "score": 1.0, "url": url, "formulas": formulas, **texts}


def test_a_hit_links_to_its_file_on_the_site_and_never_to_a_script(browser: Any) -> None:
    hits = [hit(f"hit {url}", url) for url in LINKS]
    tab = searched(browser, json={"hits": hits, "close": True}, headers=ALLOWED)
    tab.wait_for_selector("li")
    links = tab.eval_on_selector_all("li a", "all => all.map((one) => one.getAttribute('href'))")
    assert links == list(LINKS.values())
    tab.close()


def test_html_in_a_title_is_shown_as_text(browser: Any) -> None:
    title = r"Is a \$2 ticket <b>worth</b> it? $E[X]$ says no"
    hits = [hit("7", pieces=[to_json(piece) for piece in pieces_of(title)])]
    tab = searched(browser, json={"hits": hits, "close": True}, headers=ALLOWED)
    shown = tab.wait_for_selector("li").inner_text()
    assert shown == r"Is a $2 ticket <b>worth</b> it? \(E[X]\) says no (1.00)"
    tab.close()


def test_a_matched_formula_is_highlighted_in_the_snippet(browser: Any) -> None:
    found = to_json(matched_formula("x^2", r"\sin t^2", "hit-1"))
    snippet = [to_json(piece) for piece in pieces_of(r"So <b>$\sin t^2$</b> and $y$ cost \$2")]
    hits = [hit("7", snippet=snippet, formulas=[found])]
    tab = searched(browser, json={"hits": hits, "close": True}, headers=ALLOWED)
    tab.wait_for_selector("li p math")
    assert tab.inner_text("li p").replace("\n", "").endswith(r"</b> and \(y\) cost $2")
    colours = tab.eval_on_selector_all(
        "li mi", "all => all.map((one) => [one.textContent, getComputedStyle(one).color])"
    )
    assert dict(colours) == {"sin": "rgb(0, 0, 0)", "t": "rgb(194, 65, 12)"}
    tab.close()


def test_only_harmless_formulas_are_typeset(browser: Any) -> None:
    text = r"For \$5 or \$9: $x$, \begin{equation}y\end{equation}, $\href{javascript:alert(1)}{z}$"
    pieces = [to_json(piece) for piece in pieces_of(text)]
    tab = searched(
        browser,
        json={"hits": [hit("7", pieces=pieces, snippet=pieces)], "close": True},
        headers=ALLOWED,
        before="window.MathJax = { typesetPromise: async (all) => { window.typeset = all } }",
    )
    tab.wait_for_function("window.typeset")
    typeset = tab.evaluate("window.typeset.map((one) => one.textContent)")
    assert typeset == [r"\(x\)", r"\[y\]"] * 2
    assert tab.inner_text("li p").startswith(r"For $5 or $9: \(x\), \[y\]")
    tab.close()


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ({"status": 401, "json": {"error": "an API key is required"}, "headers": ALLOWED},
         "an API key is required"),
        ({"status": 429, "json": {"error": "retry in one second"}, "headers": ALLOWED},
         "retry in one second"),
        ({"status": 503, "body": "<h1>503</h1>", "headers": ALLOWED},
         "The search was refused (503)."),
        ({}, "The search does not respond."),
        ({"json": {"hits": [], "close": False}, "headers": ALLOWED}, "Nothing was found."),
    ],
)  # fmt: skip
def test_a_search_without_hits_shows_the_reason(
    browser: Any, answer: dict[str, Any], shown: str
) -> None:
    tab = searched(browser, **answer)
    tab.wait_for_function("document.getElementById('message').textContent")
    assert tab.inner_text("#message") == shown
    assert not tab.query_selector("li")
    tab.close()


@pytest.mark.parametrize(
    ("close", "shown"), [(True, ""), (False, "Nothing close was found. The nearest pages:")]
)
def test_the_box_says_when_no_hit_is_close(browser: Any, close: bool, shown: str) -> None:
    tab = searched(browser, json={"hits": [hit("7")], "close": close}, headers=ALLOWED)
    tab.wait_for_selector("li")
    assert tab.inner_text("#message") == shown
    tab.close()


def test_an_empty_search_is_not_sent(browser: Any) -> None:
    tab = searched(browser, json={"hits": [hit("7")], "close": True}, headers=ALLOWED)
    assert tab.get_attribute("input", "required") is not None
    tab.close()


def test_the_documented_proxy_allows_only_the_routes_of_the_box() -> None:
    deploy = (PAGE.parent / "deploy.md").read_text(encoding="utf-8")
    section = deploy.split("## A public search box")[1].split("\n## ")[0]
    needed = set(re.findall(r"\$\{server\}(/[a-z0-9/]+)", PAGE.read_text(encoding="utf-8")))
    assert needed == set(re.findall(r"location = (\S+)", section))
    assert "location / {\n        return 404;" in section
