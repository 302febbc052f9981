"""The guard at the gate: every request passes here before anything reads it.

Sends away who does not know the key, bodies that are too large, and more requests than can wait;
counts, logs and adds the security headers to whatever goes out, faults of ours included.
"""

from __future__ import annotations

import json
import logging
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response

from mathsetu.service.metrics import Metrics
from mathsetu.service.problems import FAULT, Problems
from mathsetu.service.security import knows_key, security_headers
from mathsetu.service.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("mathsetu.access")
_faults = logging.getLogger("mathsetu.service")
# What is answered without a key: that the server lives, and the style sheets of its pages, which
# are no secret. The page that says what is wrong needs them.
_WITHOUT_KEY = ("/v1/health", "/static/")
# What is answered at once, however busy the server is.
_NEVER_QUEUED = (*_WITHOUT_KEY, "/v1/metrics")
_RETRY_AFTER = "1"


class Guard:
    """Wraps an application."""

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, problems: Problems
    ) -> None:
        self.inside = 0
        self._app = app
        self._problems = problems
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(message, perf_counter() - began)
            await send(message)

        try:
            await self._admit(scope, receive, send_guarded)
        except Exception:
            _faults.exception("a request failed")
            if status:  # too late to say so: the client sees that the answer ends too early
                raise
            answer = self._problems.answer(HTTPConnection(scope), 500, FAULT)
            await answer(scope, receive, send_guarded)
        finally:
            self._note(scope, status or 500, perf_counter() - began)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        is_queued = not scope["path"].startswith(_NEVER_QUEUED)
        self.inside += is_queued
        try:
            await self._app(scope, self._limited(receive), send)
        finally:
            self.inside -= is_queued

    def _refusal(self, scope: Scope) -> Response | None:
        """What a request that may not enter is told."""
        settings = self._settings
        request = HTTPConnection(scope)
        path = scope["path"]
        is_open = not settings.key or path.startswith(_WITHOUT_KEY)
        if not (is_open or knows_key(request.headers.get("authorization", ""), settings.key)):
            # With this header a browser asks its user for the key, as a password.
            ask = {"www-authenticate": 'Basic realm="MathSetu", charset="UTF-8"'}
            problem = "this server wants a key: Authorization: Bearer KEY"
            return self._problems.answer(request, 401, problem, ask)
        if not _fits(request.headers.get("content-length", "0"), settings.body):
            return self._problems.answer(request, 413, self._too_large)
        is_full = self.inside >= settings.running + settings.waiting
        if is_full and not path.startswith(_NEVER_QUEUED):
            self._metrics.count("refused")
            problem = "the server is busy; come again in a second"
            return self._problems.answer(request, 429, problem, {"retry-after": _RETRY_AFTER})
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
