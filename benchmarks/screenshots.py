r"""Takes screenshots of all states of the web page, for the documentation.

    python -m benchmarks.screenshots [--out docs/images] [--only phone,dark]
    python -m benchmarks.screenshots --languages --out docs/images/languages

Serves the sampler (recipe ``default``) and opens it in Chromium, which must be installed with fonts
for Devanagari and Arabic (Debian: ``fonts-noto-core``). With ``--languages``, the queries are those
of students in ten further languages (Debian: also ``fonts-wqy-zenhei``). Screenshots are PNG files
with a palette of 64 colours, which is enough for text and takes a quarter of the bytes.
"""

from __future__ import annotations

import argparse
import shutil
import struct
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np

from benchmarks.pages import serving
from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import build_library
from mathsetu.service.limits import Limits
from mathsetu.service.pages.examples import examples
from mathsetu.service.pages.interface_language import INTERFACE_LANGUAGES
from mathsetu.service.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLOURS = 64
_DESK = {"viewport": {"width": 1000, "height": 820}, "locale": "en-GB"}
_PHONE = {**_DESK, "viewport": {"width": 375, "height": 760}, "has_touch": True}
_DARK = {**_DESK, "color_scheme": "dark"}
_SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
_HINDI = r"समाकल $\int_0^\infty \frac{\sin t}{t}\,dt$ का मान"
_WILDCARD = r"$\int_0^\infty ?f\,dt$"
# Decodes a screenshot to pixels in the browser.
_PIXELS = """async (picture) => {
  const file = await (await fetch(`data:image/png;base64,${picture}`)).blob();
  const bitmap = await createImageBitmap(file);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const pixels = new Blob([context.getImageData(0, 0, bitmap.width, bitmap.height).data]);
  const text = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(pixels);
  });
  return [bitmap.width, bitmap.height, text.slice(text.indexOf(",") + 1)];
}"""


def _nothing(page: Any) -> None:
    """Leave the page as it is."""


@dataclass(frozen=True)
class Shot:
    """A screenshot: its address, browser settings, and actions on the page."""

    name: str
    path: str = "/search"
    said: dict[str, str] = field(default_factory=dict)
    look: dict[str, Any] = field(default_factory=lambda: _DESK)
    act: Callable[[Any], None] = _nothing
    is_busy: bool = False


def shots() -> Iterator[Shot]:
    """Define all screenshots."""
    yield Shot("home", "/", {"ui": "en"})
    yield Shot("search", said={"q": _HINDI, "ui": "en", "in": "en"})
    for example in examples():
        code = example.language.code
        yield Shot(f"results-{code}", said={"q": example.text, "ui": code})
    yield Shot("phone", said={"q": _HINDI, "ui": "hi"}, look=_PHONE)
    yield Shot("dark", said={"q": examples()[3].text, "ui": "fa"}, look=_DARK)
    tall = {**_DESK, "viewport": {"width": 1000, "height": 1150}}
    yield Shot("why", said={"q": _WILDCARD, "ui": "en"}, look=tall, act=_open_reasons)
    post = {"q": _HINDI, "ui": "en", "id": "dirichlet-integral.cs", "to": "en", "at": "1"}
    yield Shot("post", "/post", post, {**_DESK, "viewport": {"width": 1000, "height": 1500}})
    yield Shot("nothing-close", said={"q": "how to bake an apple pie", "ui": "en"})
    yield Shot("busy", said={"q": "prime numbers", "ui": "en"}, is_busy=True)
    yield Shot("editor", "/", {"ui": "en"}, act=_open_editor)
    yield Shot("suggestions", "/", {"ui": "en"}, act=_type)
    yield Shot("facets", said={"q": "integral", "ui": "en", "tag": "calculus"}, act=_open_filters)
    yield Shot("docs", "/docs", {"ui": "en"})


# A sampler query in each further language, and a Russian one in Latin letters.
_STUDENTS = {
    "de": "S.34.de", "fr": "S.12.fr", "pt": "S.13.pt", "it": "S.70.it", "pl": "S.25.pl",
    "ru": "S.61.ru", "ar": "S.34.ar", "zh": "S.34.zh", "id": "S.27.id", "bn": "S.70.bn",
}  # fmt: skip
_IN_LATIN_LETTERS = "naydite ploshchad treugolnika"


def students() -> Iterator[Shot]:
    """Define the screenshots of searches by students in further languages."""
    asked = {query.id: query.text for query in sampler.further_queries()}
    small = {**_DESK, "viewport": {"width": 900, "height": 640}}
    for code, query in _STUDENTS.items():
        page = code if code in INTERFACE_LANGUAGES else "en"
        yield Shot(code, said={"q": asked[query], "ui": page}, look=small)
    yield Shot("ru-latin", said={"q": _IN_LATIN_LETTERS, "ui": "ru"}, look=small)


def _open_reasons(page: Any) -> None:
    page.click(".why > summary >> nth=0")
    page.click(".how > summary >> nth=0")
    page.locator(".how img").first.scroll_into_view_if_needed()
    page.locator(".how img").first.evaluate("picture => picture.decode()")
    page.locator(".hit").first.evaluate("hit => hit.scrollIntoView()")


def _open_editor(page: Any) -> None:
    page.fill("#q", r"value of $\int_0^\infty \frac{\sin x}{x}\,dx$")
    page.click("#editor-button")
    page.locator("math-field").wait_for()
    page.wait_for_timeout(800)


def _type(page: Any) -> None:
    page.click("#q")
    page.keyboard.type("geometric")
    # Titles are loaded on the first request.
    for _ in range(50):
        page.wait_for_timeout(400)
        if page.locator("#suggestion-list .kind:text('post')").count():
            return
        page.keyboard.press("Backspace")
        page.keyboard.type("c")


def _open_filters(page: Any) -> None:
    page.click(".more-filters > summary")


def main() -> int:
    """Take the screenshots."""
    parser = argparse.ArgumentParser(description="pictures of every state of the page")
    parser.add_argument("--out", default="docs/images", type=Path, metavar="FOLDER")
    parser.add_argument("--only", default="", help="names of pictures, separated by commas")
    parser.add_argument("--languages", action="store_true", help="searches in further languages")
    args = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise InputError("chromium is not installed; install it, and fonts-noto-core")
    taken = students() if args.languages else shots()
    wanted = [shot for shot in taken if not args.only or shot.name in args.only.split(",")]
    args.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory())
        build_library(folder, sampler.posts(), "default", collection="sampler", processes=1)
        calm = Settings(folder, limits=Limits(seconds=None))
        site = opened.enter_context(serving(calm))
        full = opened.enter_context(serving(Settings(folder, running=0, waiting=0)))
        take_all(wanted, site, full, program, args.out)
    return 0


def take_all(wanted: list[Shot], site: str, full: str, program: str, out: Path) -> None:
    """Take screenshots of a server, and of a busy one, into a folder."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=_SWITCHES)
        blank = browser.new_page()
        for shot in wanted:
            context = browser.new_context(**shot.look)
            page = context.new_page()
            address = f"{full if shot.is_busy else site}{shot.path}?{urlencode(shot.said)}"
            page.goto(address)
            shot.act(page)
            page.wait_for_timeout(200)
            picture = page.screenshot()
            context.close()
            width, height, pixels = blank.evaluate(_PIXELS, b64encode(picture).decode())
            colours = np.frombuffer(b64decode(pixels), dtype=np.uint8)
            written = png(colours.reshape(height, width, 4)[:, :, :3])
            (out / f"page-{shot.name}.png").write_bytes(written)
            print(f"page-{shot.name}.png: {len(written):,} bytes")
        browser.close()


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Encode pixels as PNG with the most frequent colours; others become the nearest of these.

    >>> picture = np.zeros((2, 3, 3), dtype=np.uint8)
    >>> png(picture)[1:4], len(png(picture)) < 120
    (b'PNG', True)
    """
    height, width, _ = pixels.shape
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colours, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    channels = np.stack([colours >> 16, (colours >> 8) & 255, colours & 255], axis=1).astype(int)
    palette = channels[np.argsort(-counts, kind="stable")[:_COLOURS]]
    distances = ((channels[:, None] - palette[None]) ** 2).sum(axis=2)
    indices = distances.argmin(axis=1).astype(np.uint8)[places.reshape(height, width)]
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), indices], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", header),
        (b"PLTE", palette.astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)


if __name__ == "__main__":
    sys.exit(main())
