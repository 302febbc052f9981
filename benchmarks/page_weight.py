r"""Measures the size of the web pages, and the time until the first hit is visible.

    python -m benchmarks.page_weight [LIBRARY]

Opens pages in Chromium with an empty cache, and again with a filled one. Prints the bytes sent by
the server, and their size if a proxy compresses them. Times are medians of seven visits on this
machine, from the request to the first hit (or the search box) on the screen. Without LIBRARY, the
sampler is served (recipe ``default``).
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
from contextlib import ExitStack
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from benchmarks.pages import serving
from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import build_library
from mathsetu.service.settings import Settings

_VISITS = 7
_SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
_QUESTION = r"समाकल $\int_0^\infty \frac{\sin t}{t}\,dt$ का मान"
# The element that is waited for on each page.
_PAGES: dict[str, tuple[str, dict[str, str], str]] = {
    "home": ("/", {"ui": "en"}, "#q"),
    "results": ("/search", {"q": _QUESTION, "ui": "en"}, ".hit"),
    "post": ("/post", {"id": "dirichlet-integral.en", "q": _QUESTION, "ui": "en"}, ".post"),
}
# The time from the start of the visit until the element is drawn.
_DRAWN = """selector => new Promise(done => {
  const look = () => {
    if (document.querySelector(selector)) requestAnimationFrame(() => done(performance.now()));
    else setTimeout(look, 1);
  };
  look();
})"""

# Bytes received over the network, not from the browser's cache.
_SENT = """() => [...performance.getEntriesByType("navigation"),
  ...performance.getEntriesByType("resource")]
  .filter(one => one.transferSize > 0).reduce((sum, one) => sum + one.encodedBodySize, 0)"""
_HEAD = "| page | requests | KB sent | KB compressed | again, KB | drawn, ms | again, ms |"


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description="how much the pages weigh")
    parser.add_argument("library", nargs="?")
    args = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise InputError("chromium is not installed")
    with ExitStack() as opened:
        folder = args.library
        if folder is None:
            folder = opened.enter_context(TemporaryDirectory())
            build_library(folder, sampler.posts(), "default", collection="sampler", processes=1)
        site = opened.enter_context(serving(Settings(folder)))
        from playwright.sync_api import sync_playwright

        driver = opened.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=program, args=_SWITCHES)
        print(_HEAD)
        print("|---|---|---|---|---|---|---|")
        for name, (path, said, wanted) in _PAGES.items():
            print(row(browser, name, f"{site}{path}?{urlencode(said)}", wanted))
        browser.close()
    return 0


def row(browser: Any, name: str, address: str, wanted: str) -> str:
    """Measure one page, and format its row."""
    first: list[float] = []
    again: list[float] = []
    for _ in range(_VISITS):
        context = browser.new_context()
        page = context.new_page()
        answers: list[Any] = []
        page.on("response", lambda answer, answers=answers: answers.append(answer))
        visit(page, address, wanted, first)
        bodies = [answer.body() for answer in answers]
        visit(page, address, wanted, again)
        kept = page.evaluate(_SENT)
        context.close()
    sent = sum(map(len, bodies)) / 1000
    packed = sum(len(gzip.compress(body)) for body in bodies) / 1000
    return (
        f"| {name} | {len(bodies)} | {sent:.0f} | {packed:.0f} | {kept / 1000:.0f} "
        f"| {median(first):.0f} | {median(again):.0f} |"
    )


def visit(page: Any, address: str, wanted: str, times: list[float]) -> None:
    """Visit a page, and record the time."""
    page.goto(address, wait_until="commit")
    times.append(page.evaluate(_DRAWN, wanted))
    page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    sys.exit(main())
