"""The visual formula editor: MathLive in our page, under our security policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mathsetu.formulas.parse import parse_latex
from tests.service.pages.browsing import comes

pytestmark = pytest.mark.thorough

PAYLOADS = (Path(__file__).parent / "payloads.txt").read_text(encoding="utf-8").splitlines()
# Commands by which a formula could attack a page that shows it with MathLive.
REACHING = [
    r"\href{javascript:alert(1)}{x}",
    r"\url{javascript:alert(1)}",
    r"\htmlData{onclick=alert(1)}{x}",
    r"\htmlStyle{position:fixed}{x}",
    r"\class{x\" onmouseover=\"alert(1)}{x}",
    r"\cssId{x\" onmouseover=\"alert(1)}{x}",
    r"\bbox[red;\" onmouseover=\"alert(1)]{x}",
    r"\enclose{circle}[mathbackground=\"x\" onmouseover=\"alert(1)\"]{x}",
    r"\mathtip{x}{<img src=x onerror=alert(1)>}",
    r"\texttip{x}{<img src=x onerror=alert(1)>}",
    r"\colorbox{\" onmouseover=\"alert(1)}{x}",
    r"\includegraphics{//outside.invalid/pixel.gif}",
]
INTRUDERS = """() => {
  const wrong = [];
  for (const element of document.querySelector("math-field").shadowRoot.querySelectorAll("*")) {
    const name = element.localName;
    if (["script", "img", "iframe", "object", "embed", "base", "style", "a"].includes(name)) {
      wrong.push(element.outerHTML.slice(0, 120));
    }
    for (const { name: attribute, value } of element.attributes) {
      if (attribute.startsWith("on") || /^\\s*(?:javascript|data|vbscript):/i.test(value)) {
        wrong.push(`${name} ${attribute}=${value}`);
      }
    }
  }
  return wrong;
}"""


def opened(tab: Any, **parameters: str) -> Any:
    page = tab.open("/search" if parameters else "/", **parameters)
    page.click("#editor-button")
    page.wait_for_selector("math-field:focus-within")
    return page


def written(page: Any) -> str:
    """The content of the box after the editor, which reports changes with a delay, updated it."""
    page.evaluate("new Promise((done) => setTimeout(done, 200))")
    return str(page.input_value("#q").strip("$"))


def test_the_editor_is_loaded_only_when_it_is_opened(tab: Any) -> None:
    fetched: list[str] = []
    tab.page.on("request", lambda request: fetched.append(request.url))
    page = tab.open("/")
    assert not any("mathlive" in url for url in fetched)
    page.click("#editor-button")
    page.wait_for_selector("math-field:focus-within")
    assert any("mathlive" in url for url in fetched)


def test_a_formula_from_the_editor_is_written_into_the_box_and_found(tab: Any) -> None:
    page = opened(tab)
    page.keyboard.type("a^2", delay=10)
    page.keyboard.press("ArrowRight")
    page.keyboard.type("+b^2", delay=10)
    comes(lambda: page.input_value("#q"), "$a^2+b^2$")
    page.wait_for_selector("#preview msup")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    assert "pythagor" in page.locator(".hit").first.get_attribute("data-id")


def test_a_fraction_is_drawn_correctly_under_the_security_policy(tab: Any) -> None:
    """MathLive uses style attributes, which the policy forbids; their styles must still apply."""
    page = opened(tab, q=r"sine $\frac{a}{b}$ integral")
    tops = page.evaluate(
        """() => ["a", "b"].map((letter) => [...document.querySelector("math-field").shadowRoot
          .querySelectorAll(".ML__content [data-atom-id]")]
          .find((atom) => atom.textContent === letter).getBoundingClientRect().top)"""
    )
    assert tops[0] + 8 < tops[1]


def test_the_editor_opens_a_formula_of_the_query_and_changes_only_that(tab: Any) -> None:
    page = opened(tab, q="integral $x+1$ from zero $y$")
    page.keyboard.press("End")
    page.keyboard.type("=z", delay=10)
    comes(lambda: page.input_value("#q"), "integral $x+1=z$ from zero $y$")
    # When the cursor in the box moves to the other formula, the editor follows.
    page.click("#q")
    page.keyboard.press("End")
    page.click("math-field")
    page.wait_for_selector("math-field:focus-within")
    page.keyboard.press("End")
    page.keyboard.type("+2", delay=10)
    comes(lambda: page.input_value("#q"), "integral $x+1=z$ from zero $y+2$")


def test_the_editor_opens_a_formula_without_dollar_signs(tab: Any) -> None:
    page = opened(tab, q="solve x^2/4 = 1 please")
    page.keyboard.press("End")
    page.keyboard.type("+y", delay=10)
    comes(lambda: page.input_value("#q"), r"solve $\frac{x^2}{4}=1+y$ please")


def test_the_open_editor_shows_a_formula_typed_without_dollar_signs(tab: Any) -> None:
    page = opened(tab)
    page.click("#q")
    page.keyboard.type("solve a^2 = b", delay=10)
    page.wait_for_selector("#preview msup")
    comes(lambda: page.evaluate("document.querySelector('math-field').value"), "a^2=b")
    page.click("math-field")
    page.wait_for_selector("math-field:focus-within")
    page.keyboard.press("End")
    page.keyboard.type("+c", delay=10)
    comes(lambda: page.input_value("#q"), "solve $a^2=b+c$")


def test_deleting_a_formula_deletes_its_dollar_signs(tab: Any) -> None:
    page = opened(tab, q="prime $p$")
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    comes(lambda: page.input_value("#q"), "prime ")


def test_escape_closes_the_editor_and_focuses_the_box(tab: Any) -> None:
    page = opened(tab)
    page.keyboard.press("Escape")
    comes(lambda: page.evaluate("document.activeElement.id"), "q")
    comes(lambda: page.is_visible("math-field"), False)
    comes(lambda: page.get_attribute("#editor-button", "aria-expanded"), "false")


def test_the_palette_inserts_into_the_open_editor(tab: Any) -> None:
    page = opened(tab)
    page.click("#palette summary")
    page.click(r"button[data-insert='\\frac{}{}']")
    page.keyboard.type("a", delay=10)
    page.keyboard.press("Tab")
    page.keyboard.type("b", delay=10)
    comes(lambda: page.input_value("#q"), r"$\frac{a}{b}$")


@pytest.mark.parametrize(
    "typed",
    [
        *"int sqrt x/2".split(),
        *(
            pytest.param(typed, marks=pytest.mark.exhaustive)
            for typed in "sum dx ee ii RR (x) [x] <= oo lim".split()
        ),
    ],
)
def test_our_parser_reads_the_latex_of_editor_shortcuts(tab: Any, typed: str) -> None:
    page = opened(tab)
    page.keyboard.type(typed, delay=10)
    page.keyboard.press("ArrowRight")
    latex = written(page)
    assert latex
    assert parse_latex(latex).warnings == ()


def test_wildcards_and_bars_can_be_typed_in_the_editor(tab: Any) -> None:
    page = opened(tab)
    for key in ("Shift+Slash", "a", "Shift+Equal", "Shift+Backslash", "x", "Shift+Backslash"):
        page.keyboard.press(key)
    latex = written(page)
    assert latex.startswith("?a+")
    assert parse_latex(latex).warnings == ()


def test_the_keyboard_for_touch_screens_does_not_cover_the_formula(
    open_tab: Callable[..., Any],
) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    page = open_tab(**phone).open("/")
    page.tap("#editor-button")
    page.wait_for_selector(".ML__keyboard.is-visible")

    def is_covered() -> bool:
        field = page.locator("math-field").bounding_box()
        keys = page.locator(".MLK__plate").bounding_box()
        return bool(field["y"] < 0 or field["y"] + field["height"] > keys["y"])

    page.wait_for_timeout(600)  # the keyboard slides in
    comes(is_covered, False)


def test_the_editor_has_no_accessibility_violation(tab: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    found = axe.Axe().run(opened(tab, q="$x^2$")).response["violations"]
    assert [(wrong["id"], node["html"]) for wrong in found for node in wrong["nodes"]] == []


def test_attacks_in_formulas_do_nothing_in_the_editor(open_tab: Callable[..., Any]) -> None:
    page = opened(open_tab(bypass_csp=True), q="$x$")
    page.click("#q")
    for payload in [*PAYLOADS, *REACHING]:
        page.fill("#q", f"$y {payload.replace('$', '')}$")
        page.evaluate("new Promise(requestAnimationFrame)")
        assert page.evaluate(INTRUDERS) == [], payload
