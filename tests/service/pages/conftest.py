"""A server with the sampler, and a real browser if Chromium is installed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mathsetu.service.settings import Settings

pytest.importorskip("jinja2", reason="the page needs the extra web")
pytest.importorskip("uvicorn", reason="the page needs the extra web")

from benchmarks.pages import serving
from tests.service.pages.browsing import Tab

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Switches for a quiet browser without a screen.
SWITCHES = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
).split()


@pytest.fixture(scope="module")
def site(sampler_folder: Path) -> Iterator[str]:
    """The address of a server with the sampler."""
    with serving(Settings(str(sampler_folder))) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, driven by playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield chromium
        chromium.close()


@pytest.fixture
def open_tab(browser: Any, site: str) -> Iterator[Callable[..., Tab]]:
    """Opens tabs; after the test none may have had errors, outside requests or dialogs."""
    contexts, tabs = [], []

    def open_it(**choices: Any) -> Tab:
        choices = {"locale": "en-GB", "viewport": {"width": 1100, "height": 900}} | choices
        contexts.append(browser.new_context(**choices))
        tabs.append(Tab(contexts[-1].new_page(), site))
        return tabs[-1]

    yield open_it
    for context in contexts:
        context.close()
    for tab in tabs:
        assert tab.errors == []
        assert tab.outside == []
        assert tab.dialogs == []


@pytest.fixture
def tab(open_tab: Callable[..., Tab]) -> Tab:
    """One tab with the width of a desktop."""
    return open_tab()
