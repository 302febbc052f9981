"""The guard at the gate: every request passes here before anything reads it.

Sends away who does not know the key, bodies that are too large, and more requests than can wait;
counts, logs and adds the security headers to whatever goes out.
"""

from __future__ import annotations

import json
import logging
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from mathsetu.service.metrics import Metrics
from mathsetu.service.security import knows_key, security_headers
from mathsetu.service.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("mathsetu.access")
#: What is answered at once, however busy the server is, and without a key.
ALWAYS_OPEN = ("/v1/health",)
_NEVER_QUEUED = (*ALWAYS_OPEN, "/v1/metrics")
_RETRY_AFTER = "1"


class Guard:
    """Wraps an application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self.inside = 0
        self._app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        status = 500

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(message, perf_counter() - began)
            await send(message)

        try:
            await self._admit(scope, receive, send_guarded)
        finally:
            self._note(scope, status, perf_counter() - began)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        is_queued = scope["path"] not in _NEVER_QUEUED
        self.inside += is_queued
        try:
            await self._app(scope, self._limited(receive), send)
        finally:
            self.inside -= is_queued

    def _refusal(self, scope: Scope) -> Response | None:
        """What a request that may not enter is told."""
        settings = self._settings
        headers = Headers(scope=scope)
        path = scope["path"]
        is_open = not settings.key or path in ALWAYS_OPEN
        if not (is_open or knows_key(headers.get("authorization", ""), settings.key)):
            # With this header a browser asks its user for the key, as a password.
            ask = {"www-authenticate": 'Basic realm="MathSetu", charset="UTF-8"'}
            problem = "this server wants a key: Authorization: Bearer KEY"
            return JSONResponse({"error": problem}, 401, ask)
        if not _fits(headers.get("content-length", "0"), settings.body):
            return JSONResponse({"error": self._too_large}, 413)
        is_full = self.inside >= settings.running + settings.waiting
        if is_full and path not in _NEVER_QUEUED:
            self._metrics.count("refused")
            problem = "the server is busy; come again in a second"
            return JSONResponse({"error": problem}, 429, {"retry-after": _RETRY_AFTER})
        return None

    @property
    def _too_large(self) -> str:
        return f"the body is too large; at most {self._settings.body:,} bytes are taken"

    def _limited(self, receive: Receive) -> Receive:
        """Bodies without an announced length are counted as they come."""
        received = 0

        async def receive_limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._settings.body:
                raise HTTPException(413, self._too_large)
            return message

        return receive_limited

    def _add_headers(self, message: Message, seconds: float) -> None:
        headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
        present = {name.lower(): value for name, value in headers}
        kind = present.get(b"content-type", b"").decode("latin-1")
        added = security_headers(kind, bool(self._settings.origins))
        added["server-timing"] = f"total;dur={seconds * 1000:.1f}"
        if b"cache-control" not in present:
            added["cache-control"] = "no-store"
        headers += [(name.encode(), value.encode()) for name, value in added.items()]
        message["headers"] = headers

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get("route")
        path = getattr(route, "path", "other")
        self._metrics.observe(scope["method"] if route else "other", path, status, seconds)
        asked = ""
        if self._settings.log_queries:
            asked = " " + json.dumps(scope["query_string"].decode("latin-1"))
        _log.info("%s %s %d %.1f ms%s", scope["method"], path, status, seconds * 1000, asked)


def _fits(announced: str, most: int) -> bool:
    """Whether a length is a number, and not too large; whoever sends nonsense sends too much."""
    is_number = announced.isascii() and announced.isdigit() and len(announced) < 20
    return is_number and int(announced) <= most
