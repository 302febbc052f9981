"""Navigation on the page: suggestions, filters, more hits, the link back, export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pages import serving
from mathsetu.languages.table import LANGUAGES
from mathsetu.service.pages.examples import examples
from mathsetu.service.pages.interface_language import interface
from mathsetu.service.settings import Settings
from tests.service.pages.browsing import comes

pytestmark = pytest.mark.thorough

HINDI = r"समाकल $\int_0^\infty \frac{\sin t}{t}\,dt$ का मान"
DIRICHLET = "dirichlet-integral.en"
PHONE = {"viewport": {"width": 375, "height": 760}, "has_touch": True}


def ids(page: Any) -> list[str]:
    return page.eval_on_selector_all(".hit", "hits => hits.map(hit => hit.dataset.id)")


def offered(page: Any) -> list[str]:
    return page.locator("#suggestion-list li span:first-child").all_inner_texts()


def colour(locator: Any, what: str = "color") -> str:
    return locator.evaluate(f"element => getComputedStyle(element).{what}")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "path", ["/", "/search?q=x", f"/post?id={DIRICHLET}", "/docs", "/nothing", "/post?id=nothing"]
)
def test_every_page_has_a_search_box(tab: Any, path: str) -> None:
    page = tab.open(path)
    tab.errors.clear()  # browsers log a page with an error status as an error
    page.fill("#q", "geometric series")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")


def test_a_busy_server_keeps_the_question_in_the_box(browser: Any, sampler_folder: Path) -> None:
    with serving(Settings(str(sampler_folder), running=0, waiting=0)) as site:
        page = browser.new_page()
        page.goto(f"{site}/search?q=primes&ui=en")
        assert page.input_value("#q") == "primes"
        assert page.locator("a.button:has-text('Try again')").is_visible()
        page.close()


def test_more_hits_are_appended_and_the_link_back_shows_them_again(tab: Any) -> None:
    page = tab.open("/search", q="integral", group="0")
    first = ids(page)
    page.locator(".more a").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    page.click(".more a")
    page.wait_for_selector("#hit-20")
    assert ids(page)[:10] == first
    assert len(set(ids(page))) == 20
    assert abs(page.evaluate("scrollY") - before) < 5
    comes(lambda: page.locator("#shown").inner_text(), "showing 1 to 20")
    assert "k=20" in page.url
    shown = ids(page)
    page.click("#hit-15 h2 a")
    page.wait_for_selector(".post")
    page.click(".back a")
    page.wait_for_selector("#hit-15")
    assert page.url.endswith("#hit-15")
    assert ids(page) == shown
    top = "hit => hit.getBoundingClientRect().top"
    comes(lambda: 0 <= page.locator("#hit-15").evaluate(top) < 900, True)


def test_without_scripts_more_hits_are_on_a_separate_page(open_tab: Callable[..., Any]) -> None:
    page = open_tab(java_script_enabled=False).open("/search", q="integral", group="0")
    first = ids(page)
    page.click(".more a")
    page.wait_for_selector("#hit-11")
    assert not set(first) & set(ids(page))
    page.click(".earlier a")
    page.wait_for_selector("#hit-1")
    assert ids(page) == first


def test_the_link_back_is_kept_across_similar_posts(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, **{"in": ["en", "hr"]})
    results = page.url
    page.click("#hit-2 h2 a")
    for _ in range(2):
        page.wait_for_selector(".similar a")
        page.click(".similar a >> nth=0")
    page.wait_for_selector(".post")
    page.click(".back a")
    page.wait_for_selector(".hit")
    comes(lambda: page.url, f"{results}#hit-2")


def test_languages_and_tags_filter_the_hits_and_show_counts(tab: Any) -> None:
    page = tab.open("/search", q="integral", group="0", k="100")
    count = page.locator(".choices a:has-text('hrvatski') .count").inner_text()
    page.click(".choices >> text=hrvatski")
    page.wait_for_url("**in=hr**")
    assert {name[-2:] for name in ids(page)} == {"hr"}
    assert len(ids(page)) == int(count)
    page.click(".choices >> text=español")
    page.wait_for_url("**in=es**")
    assert {name[-2:] for name in ids(page)} == {"hr", "es"}
    page.click(".choices >> text=All languages")
    page.wait_for_selector(".choices a[aria-current]:has-text('All languages')")
    # The panel is open if one of its options is not the default.
    assert page.locator(".more-filters[open]").count() == 1
    topic = page.locator(".more-filters .tag").first
    name = topic.evaluate("link => link.firstChild.textContent.trim()")
    number = topic.locator(".count").inner_text()
    topic.click()
    page.wait_for_selector(".active-tags")
    assert name in page.locator(".active-tags").inner_text()
    assert len(ids(page)) == int(number)


def test_versions_are_grouped_into_one_hit_unless_switched_off(tab: Any) -> None:
    page = tab.open("/search", q="infinitely many primes", ui="en")
    assert page.locator("#hit-1 >> text=Also in:").is_visible()
    alone = len(ids(page))
    page.click(".more-filters > summary")
    page.click(".group >> text=no")
    page.wait_for_url("**group=0**")
    assert page.locator("text=Also in:").count() == 0
    assert len(ids(page)) >= alone


def test_suggestions_follow_the_typed_text_and_can_be_chosen_by_keyboard(tab: Any) -> None:
    page = tab.open("/", ui="cs")
    page.click("#q")
    page.keyboard.type("součet prvočís")
    page.locator("#suggestion-list li").first.wait_for()
    term = offered(page)[0]
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#q", "aria-activedescendant") == "suggestion-0"
    page.keyboard.press("Enter")
    comes(lambda: page.input_value("#q"), f"součet {term}")
    comes(lambda: page.locator("#suggestions").is_visible(), False)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?*")


def test_choosing_a_suggested_title_starts_the_search(tab: Any) -> None:
    page = tab.open("/", ui="en")
    page.click("#q")
    page.keyboard.type("geometri")
    title = page.locator("#suggestion-list li:has(.kind:text-is('post'))")
    for _ in range(40):  # titles are loaded at the first request
        if title.count():
            break
        page.keyboard.press("Backspace")
        page.wait_for_timeout(250)
        page.keyboard.type("i")
        page.wait_for_timeout(250)
    title.first.click()
    page.wait_for_selector(".hit")


def test_no_suggestions_appear_inside_a_formula_and_escape_closes_them(tab: Any) -> None:
    page = tab.open("/", ui="en")
    page.click("#q")
    page.keyboard.type("prime")
    page.locator("#suggestion-list li").first.wait_for()
    page.keyboard.press("Escape")
    comes(lambda: page.locator("#suggestions").is_visible(), False)
    comes(lambda: page.evaluate("document.activeElement.id"), "q")
    page.keyboard.type(" $prime")
    page.wait_for_timeout(600)
    assert not page.locator("#suggestions").is_visible()


def test_earlier_searches_are_stored_only_in_the_browser(open_tab: Callable[..., Any]) -> None:
    tab = open_tab()
    tab.open("/search", q="angle sum of a triangle", ui="en")
    page = tab.open("/", ui="en")
    page.click(".wordmark")
    page.wait_for_selector(".hero")
    page.click(".lede")
    page.click("#q")
    page.locator("#suggestion-list li").first.wait_for()
    assert offered(page) == ["angle sum of a triangle"]
    assert page.evaluate("document.cookie") == ""
    page.click("#forget-button")
    assert page.evaluate("localStorage.getItem('recent')") == "[]"
    assert not page.locator("#suggestions").is_visible()


def test_a_correction_is_suggested_for_a_misspelt_word(tab: Any) -> None:
    page = tab.open("/search", q="Intergal $x^2$", ui="en")
    page.click(".meant a")
    page.wait_for_selector(".hit")
    comes(lambda: page.input_value("#q"), "Integral $x^2$")
    assert page.locator(".meant").count() == 0


def test_corresponding_parts_have_the_same_colour(tab: Any) -> None:
    page = tab.open("/search", q=r"$\int_0^\infty ?f\,dt$", **{"in": "en"}, ui="en")
    page.click(".why > summary >> nth=0")
    panel = page.locator(".why .panel").first
    asked, found = (panel.locator(".pair dd").nth(place) for place in (0, 1))
    for hue in ("hue-1", "hue-2"):
        ours, theirs = asked.locator(f".{hue}").first, found.locator(f".{hue}").first
        assert colour(ours) == colour(theirs) == colour(panel.locator(f".letter.{hue}"))
    assert colour(asked.locator(".hue-1").first) != colour(asked.locator(".hue-2").first)
    # The value of the wildcard is typeset.
    assert panel.locator(".letter.hue-1 math").count() == 2
    # Matched symbols are marked only by their colour, without a background.
    backgrounds = page.eval_on_selector_all(
        ".hit math .matched", "all => all.map(one => getComputedStyle(one).backgroundColor)"
    )
    assert set(backgrounds) == {"rgba(0, 0, 0, 0)"}


def test_trees_appear_after_a_second_click_with_familiar_symbols(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, **{"in": "en"}, ui="en")
    hit = page.locator(f".hit[data-id='{DIRICHLET}']")
    hit.locator(".why > summary").click()
    assert not hit.locator(".tree").first.is_visible()
    hit.locator(".how > summary").click()
    picture = hit.locator(".tree img").first
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    drawn = page.request.get(page.evaluate("image => image.src", picture.element_handle())).text()
    assert ">∫</text>" in drawn
    assert "SUB</text>" not in drawn


def test_a_hit_is_copied_as_link_markdown_and_latex(open_tab: Callable[..., Any]) -> None:
    tab = open_tab(permissions=["clipboard-read", "clipboard-write"])
    page = tab.open("/search", q=HINDI, **{"in": "en"}, ui="en")
    hit = page.locator(f".hit[data-id='{DIRICHLET}']")
    hit.locator(".export > summary").click()

    def copied() -> str:
        return page.evaluate("navigator.clipboard.readText()")

    hit.locator("[data-take=link]").click()
    comes(copied, f"{tab.site}/post?id={DIRICHLET}&ui=en")
    hit.locator("[data-take=markdown]").click()
    comes(lambda: copied()[:17], "# Differentiating")
    hit.locator("[data-take=latex]").click()
    comes(lambda: copied()[:24], r"\section*{Differentiatin")


def test_a_post_can_be_downloaded_without_scripts(open_tab: Callable[..., Any]) -> None:
    tab = open_tab(java_script_enabled=False, accept_downloads=True)
    page = tab.open("/post", id=DIRICHLET, ui="en")
    page.click(".export > summary")
    with page.expect_download() as download:
        page.click("[data-take=latex]")
    assert download.value.suggested_filename == f"{DIRICHLET}.tex"


def test_without_a_translator_translated_terms_are_shown_above_words(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, ui="es", **{"in": "en"})
    hit = page.locator(f".hit[data-id='{DIRICHLET}']")
    comes(lambda: hit.locator("a.translate").inner_text(), "Mostrar los términos: español")
    hit.locator("a.translate").click()
    hit.locator(".translated ruby").first.wait_for()
    assert "integral" in " ".join(hit.locator(".translated rt[lang=es]").all_inner_texts())


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_first_hit_is_visible_on_a_phone_without_scrolling(
    open_tab: Callable[..., Any], code: str
) -> None:
    asked = {example.language.code: example.text for example in examples()}
    page = open_tab(**PHONE).open("/search", q=asked.get(code, HINDI), ui=code)
    top = page.locator(".hit").first.evaluate("hit => hit.getBoundingClientRect().top")
    assert top <= 0.6 * 760


def test_with_a_notice_the_first_hit_is_still_visible_on_a_phone(
    open_tab: Callable[..., Any],
) -> None:
    page = open_tab(**PHONE).open("/search", q=HINDI, ui="en")
    text = interface("en").say("partial") + " words, formulas, meaning"
    page.evaluate(
        """text => {
            const notice = document.createElement("p");
            notice.className = "notice";
            notice.textContent = text;
            document.querySelector("#hits").before(notice);
        }""",
        text,
    )
    top = page.locator(".hit").first.evaluate("hit => hit.getBoundingClientRect().top")
    assert top <= 0.6 * 760


def test_the_help_panel_does_not_block_the_page(open_tab: Callable[..., Any]) -> None:
    for look in ({}, PHONE):
        page = open_tab(**look).open("/search", q=HINDI, ui="en")
        page.click("#help-button")
        assert page.locator("#help dt").last.evaluate("""element => {
            element.scrollIntoView();
            const box = element.getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight;
        }""")
        # The page stays usable: it scrolls past the panel, and its links work.
        link = page.locator(".hit h2 a").last
        link.scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        link.click(timeout=5000)
        page.wait_for_selector(".post")


def test_a_punctuation_mark_stays_on_the_line_of_its_formula(open_tab: Callable[..., Any]) -> None:
    for code in ("en", "fa"):
        page = open_tab(**PHONE).open("/search", q="sum $n$", ui=code, **{"in": code}, k="20")
        lines = page.eval_on_selector_all(
            ".closed",
            """all => all.map(closed => {
                const mark = document.createRange();
                mark.selectNodeContents(closed.lastChild);
                const sign = mark.getBoundingClientRect();
                const formula = closed.firstChild.getBoundingClientRect();
                return sign.top < formula.bottom && sign.bottom > formula.top;
            })""",
        )
        assert lines
        assert all(lines)


def test_warnings_of_the_preview_are_shown_in_persian(tab: Any) -> None:
    page = tab.open("/", ui="fa")
    page.type("#q", r"$\frac{a}{b$")
    page.locator("#preview .warnings li").wait_for()
    assert "بسته نشده است" in page.locator("#preview .warnings").inner_text()


def test_the_switch_for_romanised_hindi_is_shown_only_where_it_is_useful(tab: Any) -> None:
    assert tab.open("/", ui="en").locator(".switch").count() == 0
    assert tab.open("/", ui="hi").locator(".switch").count() == 1
    assert tab.open("/search", q="samakal ka maan gyat karo").locator(".switch").count() == 1
