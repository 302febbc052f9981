"""Attacks in posts and queries do nothing on the page.

The browser ignores the security policy, so only escaping protects the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pages import serving
from mathsetu.library import build_library
from mathsetu.records import Post
from mathsetu.service.limits import Limits
from mathsetu.service.settings import Settings
from tests.service.pages.browsing import Tab

pytestmark = pytest.mark.thorough

PAYLOADS = (Path(__file__).parent / "payloads.txt").read_text(encoding="utf-8").splitlines()
WORD = "quaternion"
# Finds what no text may add: foreign elements, event handlers, URLs that are scripts.
INTRUDERS = """() => {
  const wrong = [];
  const ours = new Set(["theme.js", "main.js"]);
  for (const element of document.querySelectorAll("*")) {
    const name = element.localName;
    const script = name === "script" && !ours.has(new URL(element.src).pathname.split("/").pop());
    const foreign = ["iframe", "object", "embed", "base", "video", "audio", "style", "template",
      "marquee", "foreignObject", "annotation-xml", "maction"].includes(name);
    const picture = name === "img" && !element.src.includes("/trees/");
    if (script || foreign || picture) wrong.push(element.outerHTML.slice(0, 120));
    for (const { name: attribute, value } of element.attributes) {
      if (attribute.startsWith("on") || attribute === "style" && element.id !== "q" ||
          /^(?:xlink:)?(?:href|src|action|formaction)$/.test(attribute) &&
          /^\\s*(?:javascript|data|vbscript):/i.test(value)) {
        wrong.push(`${name} ${attribute}=${value}`);
      }
    }
  }
  return wrong;
}"""


def test_there_are_at_least_100_attacks() -> None:
    assert len(set(PAYLOADS)) >= 100


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with posts that have attacks in every field."""
    posts = [
        Post(
            id=f"{number} {payload}",
            title=f"{WORD} {payload}",
            body=f"{WORD} {payload} $x {payload.replace('$', '')}$ {payload}",
            tags=(payload,),
            language=payload if number % 3 == 0 else "en",
            url=payload,
            question=payload,
            kind=payload,
        )
        for number, payload in enumerate(PAYLOADS)
    ]
    folder = tmp_path_factory.mktemp("hostile") / "library"
    build_library(folder, posts, "default", collection="<img src=x onerror=alert(1)>", processes=1)
    with serving(Settings(str(folder), limits=Limits(hits=len(posts)))) as address:
        yield address


@pytest.fixture
def hostile_tab(browser: Any, hostile_site: str) -> Iterator[Tab]:
    """A tab that ignores the security policy; no attack may have an effect in it."""
    context = browser.new_context(bypass_csp=True, locale="en-GB")
    tab = Tab(context.new_page(), hostile_site)
    yield tab
    context.close()
    assert tab.dialogs == []
    assert tab.outside == []
    assert tab.errors == []


def test_attacks_in_every_field_of_a_hit_are_text(hostile_tab: Tab) -> None:
    page = hostile_tab.open("/search", q=f"{WORD} $x$", k=str(len(PAYLOADS)), group="0")
    assert page.locator(".hit").count() == len(PAYLOADS)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate(INTRUDERS) == []
    titles = " ".join(page.locator(".hit h2").all_inner_texts())
    assert "<img src=x onerror=alert(1)>" in titles


def test_attacks_on_the_page_of_a_post_are_text(hostile_tab: Tab) -> None:
    for number, payload in list(enumerate(PAYLOADS))[::8]:
        page = hostile_tab.open("/post", id=f"{number} {payload}", q=payload, to="hi")
        assert page.locator(".post").count() == 1
        assert page.evaluate(INTRUDERS) == []


@pytest.mark.exhaustive
def test_attacks_in_queries_and_tags_are_text(hostile_tab: Tab) -> None:
    # Three at a time for speed: a page that misses one attack misses most.
    for start in range(0, len(PAYLOADS), 3):
        attacks = PAYLOADS[start : start + 3]
        page = hostile_tab.open("/search", q="\n".join(attacks), tag=attacks, k="1")
        assert page.input_value("#q") == "\n".join(attacks).strip()
        assert page.evaluate(INTRUDERS) == [], attacks


@pytest.mark.exhaustive
def test_attacks_in_languages_and_ids_are_text(hostile_tab: Tab) -> None:
    for payload in PAYLOADS[::6]:
        page = hostile_tab.open("/search", q=WORD, ui=payload, **{"in": payload})
        assert page.evaluate(INTRUDERS) == [], payload
        page = hostile_tab.open("/post", id=payload, to=payload)
        assert page.evaluate(INTRUDERS) == [], payload
    # Pages with status 400 or 404 are expected.
    hostile_tab.errors = [error for error in hostile_tab.errors if "status of 40" not in error]


def test_attacks_in_the_preview_are_text(hostile_tab: Tab) -> None:
    page = hostile_tab.open("/")
    formulas = [f"$y {payload.replace('$', '')}$" for payload in PAYLOADS]
    for start in range(0, len(formulas), 20):
        with page.expect_response(lambda answer: "/preview" in answer.url):
            page.fill("#q", " ".join(formulas[start : start + 20])[:1900])
        page.wait_for_selector("#preview math")
        assert page.evaluate(INTRUDERS) == []


def test_attacks_in_suggestions_are_text(hostile_tab: Tab) -> None:
    page = hostile_tab.open("/search", q=PAYLOADS[0])
    page.fill("#q", "")
    page.click("#q")
    page.keyboard.type(WORD[:6])
    offered = page.locator("#suggestion-list li:has(.kind:text-is('post'))")
    for _ in range(40):  # titles are loaded at the first request
        if offered.count():
            break
        page.keyboard.press("Backspace")
        page.wait_for_timeout(250)
        page.keyboard.type(WORD[5])
        page.wait_for_timeout(250)
    assert offered.count()
    assert page.evaluate(INTRUDERS) == []
    page.fill("#q", "")
    assert page.evaluate(INTRUDERS) == []
