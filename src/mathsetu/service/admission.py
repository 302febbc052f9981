"""Admission of requests: checks the key, that the request is complete, and the limits of load.

A request takes a place only when its whole body has arrived, and frees it when the answer begins:
a client that sends or reads slowly does not occupy a place that others wait for.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response

from mathsetu.printable import counted
from mathsetu.service.clients import client_of, share_of_one
from mathsetu.service.metrics import Metrics
from mathsetu.service.problems import Problems
from mathsetu.service.security import knows_key
from mathsetu.service.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Paths that need no key: the health check, and the style sheets of pages, which are not secret and
# which the error page needs.
_WITHOUT_KEY = ("/v1/health", "/static/")
# Paths that are answered at once, even if the server is busy.
_NEVER_QUEUED = (*_WITHOUT_KEY, "/v1/metrics")
#: The path for writing posts, if the server has a key for writing.
WRITING = "/v1/posts"
_RETRY_AFTER = "1"
#: After an answer to a request that is still being sent, this many seconds and bytes of the rest
#: are read and discarded: closing a connection with unread bytes may delete the answer before the
#: client reads it.
LINGER = 1.0
_LINGER_BYTES = 1 << 20


class Admission:
    """Wraps an application."""

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, problems: Problems
    ) -> None:
        self.inside = 0
        self._of_client: Counter[str] = Counter()
        self._places = settings.running + settings.waiting
        self._per_client = settings.per_client or share_of_one(self._places)
        self._app = app
        self._problems = problems
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        refusal = self._refusal(request)
        if refusal is None and _has_body(request.headers):
            try:
                async with asyncio.timeout(self._settings.receiving):
                    body = await self._receive_body(receive, self._most(scope))
            except TimeoutError:
                refusal = self._problems.answer(request, 408, self._too_slow)
            except _TooLarge:
                refusal = self._problems.answer(request, 413, self._too_large(scope))
            else:
                if body is None:  # the client has disconnected
                    return
                receive = _with_body(body, receive)
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
        elif scope["path"].startswith(_NEVER_QUEUED):
            await self._app(scope, receive, send)
        else:
            await self._queue(request, receive, send)

    def _refusal(self, request: HTTPConnection) -> Response | None:
        """The response that refuses a request because of its head, or None."""
        settings = self._settings
        said = request.headers.get("authorization", "")
        if self._writes(request.scope):
            # No password: a browser would add it to the requests of any page.
            if not (said.lower().startswith("bearer ") and knows_key(said, settings.write_key)):
                problem = "the key for writing is required: Authorization: Bearer KEY"
                if said.lower().startswith("bearer "):
                    problem = "this key is unknown or does not allow writing"
                return self._problems.answer(request, 401, problem, {"www-authenticate": "Bearer"})
            return self._refused_size(request)
        is_open = not settings.key or request.scope["path"].startswith(_WITHOUT_KEY)
        if not (is_open or knows_key(said, settings.key)):
            # With this header, a browser asks its user for the key, as a password.
            ask = {"www-authenticate": 'Basic realm="MathSetu", charset="UTF-8"'}
            problem = "an API key is required: Authorization: Bearer KEY"
            if said.lower().startswith(("bearer ", "basic ")):
                problem = "this API key is unknown"
                if settings.write_key and knows_key(said, settings.write_key):
                    problem = "this key is only for writing; send the key for reading"
            return self._problems.answer(request, 401, problem, ask)
        return self._refused_size(request)

    def _refused_size(self, request: HTTPConnection) -> Response | None:
        scope = request.scope
        if not _fits(request.headers.get("content-length", "0"), self._most(scope)):
            return self._problems.answer(request, 413, self._too_large(scope))
        return None

    def _writes(self, scope: Scope) -> bool:
        """Whether a request is for changing the library; its path has no other use."""
        return bool(self._settings.write_key) and scope["path"] == WRITING

    def _most(self, scope: Scope) -> int:
        """Bytes of the body of a request, at most."""
        return self._settings.write_body if self._writes(scope) else self._settings.body

    async def _receive_body(self, receive: Receive, most: int) -> bytes | None:
        """The whole body; None if the client disconnects before its end."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > most:
                raise _TooLarge
            if not message.get("more_body", False):
                return bytes(body)

    async def _queue(self, request: HTTPConnection, receive: Receive, send: Send) -> None:
        """Admit a request if the server and its client have a free place; else refuse it."""
        client = client_of(request.client.host if request.client else "")
        if self.inside >= self._places:
            problem = "the server is busy; retry in one second"
        elif self._of_client[client] >= self._per_client:
            are = "is" if self._per_client == 1 else "are"
            problem = (
                f"{counted(self._per_client, 'request')} from your address {are} in progress, "
                "which is the limit; retry in one second"
            )
        else:
            await self._let_in(client, request.scope, receive, send)
            return
        self._metrics.count("refused")
        answer = self._problems.answer(request, 429, problem, {"retry-after": _RETRY_AFTER})
        await answer(request.scope, receive, send)

    async def _let_in(self, client: str, scope: Scope, receive: Receive, send: Send) -> None:
        self.inside += 1
        self._of_client[client] += 1
        is_inside = True

        def leave() -> None:
            nonlocal is_inside
            if is_inside:
                is_inside = False
                self.inside -= 1
                self._of_client[client] -= 1
                if not self._of_client[client]:
                    del self._of_client[client]

        async def send_and_leave(message: Message) -> None:
            # The work is done: waiting requests need not wait until the answer is read.
            leave()
            await send(message)

        try:
            await self._app(scope, receive, send_and_leave)
        finally:
            leave()

    def _too_large(self, scope: Scope) -> str:
        return f"the body is too large; at most {self._most(scope):,} bytes are allowed"

    @property
    def _too_slow(self) -> str:
        seconds = self._settings.receiving
        return f"the body arrived too slowly; it must be complete within {seconds:g} seconds"


class _TooLarge(Exception):
    """A body has more bytes than allowed."""


async def refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request whose body was not read; if it has one, close the connection."""
    if not _has_body(Headers(scope=scope)):
        await response(scope, receive, send)
        return
    response.headers["connection"] = "close"

    async def send_unfinished(message: Message) -> None:
        is_body = message["type"] == "http.response.body"
        await send({**message, "more_body": True} if is_body else message)

    # The client now has the whole answer, since it knows its length; the server closes the
    # connection only after the end of the message.
    await response(scope, receive, send_unfinished)
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            await _discard(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _has_body(headers: Headers) -> bool:
    """Whether a request announces a body, which may still be in transit."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


async def _discard(receive: Receive) -> None:
    discarded = 0
    while discarded < _LINGER_BYTES:
        message = await receive()
        discarded += len(message.get("body", b""))
        if not message.get("more_body", False):
            return


def _with_body(body: bytes, receive: Receive) -> Receive:
    """The ``receive`` function of an application whose request body was already read."""
    is_given = False

    async def receive_whole() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_whole


def _fits(announced: str, most: int) -> bool:
    """Whether a length is a number and within the limit."""
    is_number = announced.isascii() and announced.isdigit() and len(announced) < 20
    return is_number and int(announced) <= most
