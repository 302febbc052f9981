"""A browser tab that records errors, outside requests and dialogs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

T = TypeVar("T")


def comes(read: Callable[[], T], wanted: T, within: float = 10.0) -> None:
    """Wait until the page shows the wanted value, since keys and clicks may take effect later."""
    end = monotonic() + within
    while read() != wanted and monotonic() < end:
        sleep(0.02)
    assert read() == wanted


@dataclass
class Tab:
    """A browser tab that records errors, outside requests and dialogs."""

    page: Any
    site: str
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._request)
        self.page.on("dialog", self._dialog)

    def open(self, path: str = "/", **parameters: str | list[str]) -> Any:
        """Go to an address of the site and return the page."""
        query = f"?{urlencode(parameters, doseq=True)}" if parameters else ""
        self.page.goto(f"{self.site}{path}{query}")
        return self.page

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _request(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https") and not request.url.startswith(self.site):
            self.outside.append(request.url)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()
