"""Pages have no violations that axe finds, not even minor ones: light, dark and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.thorough

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

HINDI = r"समाकल $\int_0^\infty \frac{\sin t}{t}\,dt$ का मान"
PAGES = {
    "home": ("/", {}),
    "hits": ("/search", {"q": HINDI, "k": "3"}),
    "persian": ("/search", {"q": HINDI, "ui": "fa", "in": "fa", "tag": "calculus", "k": "3"}),
    "post": ("/post", {"id": "dirichlet-integral.en", "q": HINDI, "to": "hi"}),
    "nothing": ("/search", {"q": "xyzzyqwv"}),
    "no such page": ("/nothing", {"ui": "hi"}),
    "facets": ("/search", {"q": HINDI, "in": ["en", "hi"], "tag": "calculus", "k": "3"}),
    "misspelt": ("/search", {"q": "intergal", "k": "2", "offset": "2"}),
    "reference": ("/docs", {}),
    "not understood": ("/search", {"q": "the of and"}),
}
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}},
}


# Every page in light and one page in all looks; the exhaustive tests have the others.
CASES = [
    pytest.param(
        name, look, marks=[] if look == "light" or name == "hits" else pytest.mark.exhaustive
    )
    for name in PAGES
    for look in LOOKS
]


@pytest.mark.parametrize(("name", "look"), CASES)
def test_a_page_has_no_accessibility_violation(
    open_tab: Callable[..., Any], name: str, look: str
) -> None:
    path, parameters = PAGES[name]
    tab = open_tab(**LOOKS[look])
    page = tab.open(path, **parameters)
    # Browsers log a page with an error status as an error.
    tab.errors[:] = [line for line in tab.errors if "responded with a status of 40" not in line]
    # Details are checked open, since visitors can open them.
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    found = axe.Axe().run(page).response["violations"]
    assert [(wrong["id"], node["html"]) for wrong in found for node in wrong["nodes"]] == []


def test_suggestions_have_no_accessibility_violation(open_tab: Callable[..., Any]) -> None:
    page = open_tab().open("/", ui="en")
    page.click("#q")
    page.keyboard.type("prime")
    page.locator("#suggestion-list li").first.wait_for()
    page.keyboard.press("ArrowDown")
    found = axe.Axe().run(page).response["violations"]
    assert [(wrong["id"], node["html"]) for wrong in found for node in wrong["nodes"]] == []
