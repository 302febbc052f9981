"""The outermost middleware: it gets every request first, and every answer last.

It refuses invalid requests, answers HEAD wherever GET is answered, counts, logs, and adds the
security headers to all responses, including those to internal errors.
"""

from __future__ import annotations

import json
import logging
import re
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import HTTPConnection

from mathsetu.service.admission import refuse
from mathsetu.service.metrics import Metrics
from mathsetu.service.problems import INTERNAL_ERROR, Problems
from mathsetu.service.security import is_named, security_headers
from mathsetu.service.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The key of the query from a body in the state of a request, for the log.
QUERY = "query"
_log = logging.getLogger("mathsetu.access")
_faults = logging.getLogger("mathsetu.service")
# Answered for any Host header: a monitoring program may know only the address of the server, and
# the answer contains nothing that pages of other sites must not read.
_UNDER_ANY_NAME = "/v1/health"
# The framework gives this route no name.
_DESCRIPTION = "/openapi.json"
# Bytes of an address and headers together.
_MAX_HEAD = 1 << 14
# Bytes that are passed to the server at once: it keeps unread bytes in memory.
_PIECE = 1 << 16
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT")
# The status in the log of a request whose client disconnected before the answer.
_LEFT = 499
# Parameters for secrets. They do not exist, but a client may send its key there by mistake, and the
# log must not contain it.
_SECRET = re.compile(r"([^&=]*(?:key|token|secret|passw|auth)[^&=]*=)[^&]*", re.IGNORECASE)


class Guard:
    """Wraps an application."""

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, problems: Problems
    ) -> None:
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
        method = scope["method"]
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(message, perf_counter() - began)
                await send(message)
            elif method == "HEAD":
                await send({**message, "body": b""})
            else:
                await _send_in_pieces(message, send)

        # HEAD is GET without the body, so routes need not handle it.
        inner = {**scope, "method": "GET"} if method == "HEAD" else scope
        request = HTTPConnection(inner)
        try:
            refusal = self._refusal(request)
            if refusal is None:
                await self._app(inner, receive, send_guarded)
            else:
                answer = self._problems.answer(request, *refusal, {"connection": "close"})
                await refuse(answer, inner, receive, send_guarded)
        except Exception:
            _faults.exception("a request failed")
            if status:  # too late for an error: the client sees that the answer is incomplete
                raise
            answer = self._problems.answer(request, 500, INTERNAL_ERROR)
            await answer(inner, receive, send_guarded)
        finally:
            self._note(inner, method, status or _LEFT, perf_counter() - began)

    def _refusal(self, request: HTTPConnection) -> tuple[int, str] | None:
        """The status and the message for an invalid request; None for a valid one."""
        scope, headers = request.scope, request.headers
        if "transfer-encoding" in headers and (
            "content-length" in headers or scope["http_version"] == "1.0"
        ):
            # A proxy may have used the other header, and seen a different request.
            problem = "Transfer-Encoding cannot be used with Content-Length or in HTTP/1.0"
            return 400, problem
        if _size_of_head(scope) > _MAX_HEAD:
            problem = f"address and headers are too long; at most {_MAX_HEAD:,} bytes are allowed"
            return 431, problem
        names = self._settings.hosts
        if names and scope["path"] != _UNDER_ANY_NAME:
            host = headers.get("host", "")
            if not is_named(host, names):
                problem = "this server does not accept the name in the Host header; "
                return 400, problem + "whoever runs it can add one (mathsetu serve --name)"
        return None

    def _add_headers(self, message: Message, seconds: float) -> None:
        headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
        present = {name.lower(): value for name, value in headers}
        kind = present.get(b"content-type", b"").decode("latin-1")
        added = security_headers(kind, bool(self._settings.origins))
        added["server-timing"] = f"total;dur={seconds * 1000:.1f}"
        if b"cache-control" not in present:
            added["cache-control"] = "no-store"
        if self._settings.origins and b"origin" not in present.get(b"vary", b"").lower():
            # Refusals of the guard bypass the CORS middleware, and caches must distinguish sites.
            added["vary"] = "Origin"
        headers += [(name.encode(), value.encode()) for name, value in added.items()]
        message["headers"] = headers

    def _note(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        path = getattr(scope.get("route"), "path", "other")
        if "endpoint" in scope and scope["path"] == _DESCRIPTION:
            path = _DESCRIPTION
        # Each unknown method would add a new series to the metrics.
        method = method if method in _METHODS else "other"
        self._metrics.observe(method, path, status, seconds)
        asked = ""
        if self._settings.log_queries:
            asked = " " + json.dumps(_query_string(scope))
        _log.info("%s %s %d %.1f ms%s", method, path, status, seconds * 1000, asked)


def _query_string(scope: Scope) -> str:
    """The query string of a request for the log; a query in the body is logged the same way."""
    query = scope.get("state", {}).get(QUERY)
    if query is not None:
        return urlencode({"q": query})
    return _SECRET.sub(r"\1…", scope["query_string"].decode("latin-1"))


def _size_of_head(scope: Scope) -> int:
    address = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    return address + sum(len(name) + len(value) for name, value in scope["headers"])


async def _send_in_pieces(message: Message, send: Send) -> None:
    """Send a large body in pieces as the client reads it, to limit the server's memory."""
    body = message.get("body", b"")
    last = max(len(body) - 1, 0) // _PIECE * _PIECE
    for start in range(0, last, _PIECE):
        await send({**message, "body": body[start : start + _PIECE], "more_body": True})
    await send({**message, "body": body[last:]} if last else message)
