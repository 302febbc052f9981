"""The search box that the documentation gives to other sites links its hits safely."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

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


def test_a_hit_links_to_its_file_on_the_site_and_never_to_a_script(browser: Any) -> None:
    (box,) = re.findall(r"(?ms)^```html\n(.*?)^```", PAGE.read_text(encoding="utf-8"))
    hits = [{"id": f"hit {url}", "title": "", "score": 1.0, "url": url} for url in LINKS]
    tab = browser.new_page()
    tab.route(
        "http://127.0.0.1:8080/v1/search?*",
        lambda route: route.fulfill(
            body=json.dumps({"hits": hits}), headers={"access-control-allow-origin": "*"}
        ),
    )
    tab.set_content(box)
    tab.fill("input", "sine")
    tab.press("input", "Enter")
    tab.wait_for_selector("li")
    links = tab.eval_on_selector_all("li a", "all => all.map((one) => one.getAttribute('href'))")
    assert links == list(LINKS.values())
    tab.close()
