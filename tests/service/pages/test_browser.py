"""The page in a real browser, with the sampler as library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.pages.browsing import comes

pytestmark = pytest.mark.thorough

HINDI = r"समाकल $\int_0^\infty \frac{\sin t}{t}\,dt$ का मान"
DIRICHLET = "dirichlet-integral.en"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}


def ids(page: Any) -> list[str]:
    return page.eval_on_selector_all(".hit", "hits => hits.map(hit => hit.dataset.id)")


def width(page: Any) -> tuple[int, int]:
    root = "document.documentElement"
    return page.evaluate(f"[{root}.scrollWidth, {root}.clientWidth]")


def test_a_hindi_question_with_a_formula_finds_the_english_post(tab: Any) -> None:
    page = tab.open("/")
    page.fill("#q", HINDI)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.click(".filters >> text=English")
    page.wait_for_selector(".filters a[aria-current]:has-text('English')")
    assert ids(page)[0] == DIRICHLET


def test_the_matched_sub_formula_is_coloured_and_the_substitution_shown(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, **{"in": "en"})
    hit = page.locator(f".hit[data-id='{DIRICHLET}']")
    matched = hit.locator(".bridge .shore").nth(1).locator("math .matched")
    assert matched.count() >= 5
    plain = hit.locator(".snippet").evaluate("element => getComputedStyle(element).color")
    assert matched.first.evaluate("element => getComputedStyle(element).color") != plain
    assert hit.locator(".letter").first.text_content().split() == ["t", "→", "becomes", "x"]


def test_a_matched_word_is_shown_with_its_translation(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, **{"in": "en"})
    words = page.locator(f".hit[data-id='{DIRICHLET}'] .words li").all_inner_texts()
    assert any("समाकल" in word and "integral" in word for word in words)
    assert page.locator(".hit mark").count() > 0


def test_one_click_turns_off_the_reading_of_typed_formulas(tab: Any) -> None:
    page = tab.open("/")
    page.fill("#q", "solve x^2 = 4")
    page.wait_for_selector(".read-as input[name=words]")
    assert page.locator("#preview math, .preview math").count() > 0
    page.check(".read-as input[name=words]")
    page.focus("#q")
    page.keyboard.press("Enter")
    page.wait_for_url("**words=1**")
    page.wait_for_selector(".read-as input[name=words]:checked")


def test_formulas_are_drawn_as_mathml(tab: Any) -> None:
    page = tab.open("/search", q=HINDI)
    fraction = page.locator(".hit math mfrac").first
    top, bottom = (fraction.locator("> *").nth(n).bounding_box() for n in (0, 1))
    assert top["y"] + top["height"] <= bottom["y"] + 2


def test_the_page_provides_a_font_for_formulas(tab: Any) -> None:
    page = tab.open("/")
    loaded = "document.fonts.load('20px \"MathSetu Math\"', '√').then(found => found.length)"
    assert page.evaluate(loaded) == 1


def test_the_language_filter_shows_posts_of_one_language(tab: Any) -> None:
    page = tab.open("/search", q=HINDI)
    page.click(".filters >> text=čeština")
    page.wait_for_selector(".filters a[aria-current]:has-text('čeština')")
    assert ids(page)
    assert all(name.endswith(".cs") for name in ids(page))


def test_a_tag_becomes_a_filter_and_can_be_removed(tab: Any) -> None:
    page = tab.open("/search", q="integral", group="0")
    page.click(".hit .tag:has-text('contour-integrals') >> nth=0")
    page.wait_for_selector(".active-tags")
    tags = page.eval_on_selector_all(
        ".hit", "hits => hits.map(hit => hit.querySelector('.origin').innerText)"
    )
    assert tags
    assert all("contour-integrals" in line for line in tags)
    page.click(".active-tags a")
    page.wait_for_load_state()
    comes(lambda: page.locator(".active-tags").count(), 0)


def test_the_interface_switches_its_language_and_keeps_the_question(tab: Any) -> None:
    page = tab.open("/search", q=HINDI)
    page.click(".menu summary")
    page.click(".menu >> text=hrvatski")
    page.wait_for_selector("html[lang=hr]")
    comes(lambda: page.locator(".go").inner_text(), "Traži")
    comes(lambda: page.input_value("#q"), HINDI)
    page.click(".go")
    page.wait_for_load_state()
    comes(lambda: page.locator("html").get_attribute("lang"), "hr")


@pytest.mark.parametrize("code", ["en", "hi", "es", "cs", "hr", "fa", "ne"])
def test_every_interface_language_fits_a_phone(open_tab: Callable[..., Any], code: str) -> None:
    tab = open_tab(**PHONE)
    for page in (tab.open("/", ui=code), tab.open("/search", q=HINDI, ui=code)):
        content, window = width(page)
        assert content <= window


def test_persian_runs_right_to_left_and_formulas_run_left_to_right(tab: Any) -> None:
    page = tab.open("/search", q="مجموع سری هندسی $1+q+q^2$", ui="fa", **{"in": "fa"})
    wordmark, tools = (page.locator(name).bounding_box() for name in (".wordmark", ".tools"))
    assert wordmark["x"] > tools["x"]
    title = page.locator(".hit h2").first
    assert title.evaluate("element => getComputedStyle(element).direction") == "rtl"
    math = page.locator(".hit .snippet math").first
    assert math.evaluate("element => getComputedStyle(element).direction") == "ltr"


def test_a_persian_hit_runs_right_to_left_on_an_english_page(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, ui="en", **{"in": "fa"})
    comes(lambda: page.locator("html").get_attribute("dir"), "ltr")
    title = page.locator(".hit h2").first
    assert title.evaluate("element => getComputedStyle(element).direction") == "rtl"


def test_the_preview_follows_the_typed_query_and_shows_warnings(tab: Any) -> None:
    page = tab.open("/")
    page.type("#q", r"value of $\frac{a}{b$")
    page.wait_for_selector("#preview math mfrac")
    assert "not closed" in page.locator("#preview .warnings").inner_text()
    page.fill("#q", r"value of $\frac{a}{b}$")
    page.wait_for_selector("#preview .warnings", state="detached")


def test_a_click_on_a_symbol_of_the_preview_selects_its_source_in_the_box(tab: Any) -> None:
    page = tab.open("/")
    page.fill("#q", r"  roots of $a x^2+\beta x=\frac{1}{\gamma }$")
    page.locator("#preview mfrac").wait_for()
    selected = "q.value.slice(q.selectionStart, q.selectionEnd)"
    for symbol, source in (("β", r"\beta"), ("γ", r"\gamma"), ("2", "2"), ("a", "a")):
        page.locator(f"#preview [data-symbol]:text-is('{symbol}')").click()
        comes(lambda: page.evaluate(f"(q => {selected})(document.getElementById('q'))"), source)


def test_a_wrongly_detected_language_can_be_corrected(tab: Any) -> None:
    page = tab.open("/search", q="zbroj")
    page.select_option("select[name=lang]", "hr")
    page.wait_for_url("**/search?*lang=hr*")
    comes(lambda: page.locator("select[name=lang]").input_value(), "hr")
    assert page.locator(".hit").count() > 0


def test_the_palette_inserts_symbols_between_dollar_signs(tab: Any) -> None:
    page = tab.open("/")
    page.click("#palette summary")
    page.click(r"#palette button[data-insert='\\alpha']")
    page.click(r"#palette button[data-insert='+']")
    comes(lambda: page.input_value("#q"), r"$\alpha+$")


def test_tab_moves_between_the_fields_of_a_template(tab: Any) -> None:
    page = tab.open("/")
    page.click("#palette summary")
    page.click(r"#palette button[data-insert='\\frac{}{}']")
    page.keyboard.type("a")
    page.keyboard.press("Tab")
    page.keyboard.type("b")
    comes(lambda: page.input_value("#q"), r"$\frac{a}{b}$")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "q"


def test_text_typed_before_the_switch_is_turned_on_becomes_devanagari_too(tab: Any) -> None:
    page = tab.open("/", ui="hi")
    page.type("#q", r"samikaran $samakal$ samakal")
    page.click("text=samikaran →")
    comes(lambda: page.input_value("#q"), "समीकरण $samakal$ समाकल")


def test_hindi_typed_in_latin_letters_becomes_devanagari(tab: Any) -> None:
    page = tab.open("/", ui="hi")
    page.check(".switch input")
    page.type("#q", r"samikaran ")
    page.locator("#candidates button").first.wait_for()
    comes(lambda: page.input_value("#q"), "समीकरण ")
    page.click("#candidates button:has-text('samikaran')")
    comes(lambda: page.input_value("#q")[:9], "samikaran")
    page.type("#q", r"$sin ")
    page.wait_for_timeout(300)
    assert page.input_value("#q").endswith("$sin ")


def test_the_reasons_have_bars_whose_shares_add_up_to_100_percent(tab: Any) -> None:
    page = tab.open("/search", q=HINDI)
    page.click(".why summary >> nth=0")
    panel = page.locator(".why .panel").first
    shares = [int(text.split()[0]) for text in panel.locator("tbody .percent").all_inner_texts()]
    assert len(shares) == 2
    assert abs(sum(shares) - 100) <= 1
    bars = panel.locator("tbody rect.share").evaluate_all(
        "all => all.map(bar => +bar.getAttribute('width'))"
    )
    assert bars == shares


def test_translated_terms_of_a_hit_appear_in_place_with_its_formulas(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, ui="es", **{"in": "en"})
    hit = page.locator(f".hit[data-id='{DIRICHLET}']")
    hit.locator("a.translate").click()
    hit.locator(".translated").wait_for()
    assert hit.locator(".translated math").count() >= 3
    assert page.url.startswith(f"{tab.site}/search")


def test_the_page_of_a_post_shows_matches_reasons_similar_posts_and_terms(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, **{"in": "en"})
    page.click(f".hit[data-id='{DIRICHLET}'] h2 a")
    page.wait_for_selector(".post")
    assert page.locator(".post math .matched").count() > 0
    comes(lambda: page.locator(".post-why rect.share").count(), 2)
    similar = page.locator(".similar a").evaluate_all("all => all.map(link => link.href)")
    assert any("dirichlet-integral" in address for address in similar)
    page.click("#translation-title ~ nav >> text=हिन्दी")
    page.wait_for_selector("#translation .prose[lang=en] rt[lang=hi]")
    assert page.locator("#translation math").count() > 0


def test_a_formula_is_copied_as_latex(open_tab: Callable[..., Any]) -> None:
    tab = open_tab(permissions=["clipboard-read", "clipboard-write"])
    page = tab.open("/search", q=HINDI, **{"in": "en"})
    page.locator(f".hit[data-id='{DIRICHLET}'] .copy").click()
    page.locator("#announcer:text('Copied')").wait_for(state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == r"\int_0^\infty \frac{\sin x}{x}\,dx"


def test_a_permalink_opens_the_same_search_again(tab: Any) -> None:
    page = tab.open("/search", q=HINDI, tag="calculus", **{"in": "hr"})
    found = ids(page)
    page.goto(page.locator("a.permalink").evaluate("link => link.href"))
    assert found
    assert ids(page) == found


def test_keyboard_shortcuts_move_between_hits_and_open_and_close_panels(tab: Any) -> None:
    page = tab.open("/search", q=HINDI)
    focused = "document.activeElement.closest('.hit')?.dataset.id ?? document.activeElement.id"
    page.keyboard.press("j")
    page.keyboard.press("j")
    comes(lambda: page.evaluate(focused), ids(page)[1])
    page.keyboard.press("k")
    comes(lambda: page.evaluate(focused), ids(page)[0])
    page.keyboard.press("w")
    comes(lambda: page.locator(".why[open]").count(), 1)
    page.keyboard.press("/")
    comes(lambda: page.evaluate(focused), "q")
    page.keyboard.press("Escape")
    comes(lambda: page.evaluate("document.activeElement.tagName"), "BODY")
    page.keyboard.press("?")
    comes(lambda: page.locator("#help").is_visible(), True)
    page.keyboard.press("Escape")
    comes(lambda: page.locator("#help").is_visible(), False)


def test_the_focus_is_visible(tab: Any) -> None:
    page = tab.open("/search", q=HINDI)
    page.keyboard.press("j")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert float(outline.removesuffix("px")) >= 2


def test_dark_mode_follows_the_system_and_the_switch(open_tab: Callable[..., Any]) -> None:
    page = open_tab(color_scheme="dark").open("/")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme-button")
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    comes(lambda: page.evaluate(background), light)
    comes(lambda: page.locator("#theme-button").get_attribute("aria-pressed"), "false")


def test_a_search_without_hits_offers_examples(tab: Any) -> None:
    page = tab.open("/search", q="xyzzyqwv", tag="calculus")
    assert page.locator(".empty").is_visible()
    page.click(".examples a >> nth=0")
    page.wait_for_selector(".hit")


def test_the_page_works_without_scripts(open_tab: Callable[..., Any]) -> None:
    tab = open_tab(java_script_enabled=False)
    page = tab.open("/")
    page.fill("#q", HINDI)
    page.click(".go")
    page.wait_for_selector(".hit")
    page.click(".filters >> text=English")
    page.click("a.translate >> nth=0")
    page.wait_for_selector("#translation math")
