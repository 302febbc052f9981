"""Admission: checks the key, that a request is complete, and the limits of load.

A place is taken only when the whole body has come, and given back when the answer begins: neither
a client that sends slowly nor one that does not read holds a place that others wait for.
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

# What is answered without a key: that the server lives, and the style sheets of its pages, which
# are no secret. The page that says what is wrong needs them.
_WITHOUT_KEY = ("/v1/health", "/static/")
# What is answered at once, however busy the server is.
_NEVER_QUEUED = (*_WITHOUT_KEY, "/v1/metrics")
#: The path at which posts are written, where a server has a key for that.
WRITING = "/v1/posts"
_RETRY_AFTER = "1"
#: After an answer to a request that is still being sent, this many seconds and bytes of the rest
#: are read and thrown away: a system that closes a connection with unread bytes may take the
#: answer away from the client.
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
        """Answer one request, or say why not."""
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
                if body is None:  # nobody is there to be answered
                    return
                receive = _with_body(body, receive)
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
        elif scope["path"].startswith(_NEVER_QUEUED):
            await self._app(scope, receive, send)
        else:
            await self._queue(request, receive, send)

    def _refusal(self, request: HTTPConnection) -> Response | None:
        """What a request is told whose head says that it may not enter."""
        settings = self._settings
        said = request.headers.get("authorization", "")
        if self._writes(request.scope):
            # A browser would send a password to any page's requests, so that only programs write.
            if not (said.lower().startswith("bearer ") and knows_key(said, settings.write_key)):
                problem = "the key for writing is required: Authorization: Bearer KEY"
                if said.lower().startswith("bearer "):
                    problem = "this key is unknown or does not allow writing"
                return self._problems.answer(request, 401, problem, {"www-authenticate": "Bearer"})
            return self._refused_size(request)
        is_open = not settings.key or request.scope["path"].startswith(_WITHOUT_KEY)
        if not (is_open or knows_key(said, settings.key)):
            # With this header a browser asks its user for the key, as a password.
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
        """Whether a request may change the library; nothing else is at its path."""
        return bool(self._settings.write_key) and scope["path"] == WRITING

    def _most(self, scope: Scope) -> int:
        """Bytes that the body of a request may have."""
        return self._settings.write_body if self._writes(scope) else self._settings.body

    async def _receive_body(self, receive: Receive, most: int) -> bytes | None:
        """The whole body; None when the client leaves before its end."""
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
        """Let a request in when there is a place for it and for its client."""
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
            # The work is done; how fast its answer is read is no matter of those who wait.
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
    """More bytes came than are taken."""


async def refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request whose body has not been read; its connection ends when there is one."""
    if not _has_body(Headers(scope=scope)):
        await response(scope, receive, send)
        return
    response.headers["connection"] = "close"

    async def send_unfinished(message: Message) -> None:
        is_body = message["type"] == "http.response.body"
        await send({**message, "more_body": True} if is_body else message)

    # The client has the whole answer now, since its length is announced; the server closes the
    # connection only after the end of the message.
    await response(scope, receive, send_unfinished)
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            await _discard(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _has_body(headers: Headers) -> bool:
    """Whether a request announces a body, that may still be on its way."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


async def _discard(receive: Receive) -> None:
    discarded = 0
    while discarded < _LINGER_BYTES:
        message = await receive()
        discarded += len(message.get("body", b""))
        if not message.get("more_body", False):
            return


def _with_body(body: bytes, receive: Receive) -> Receive:
    """What an application receives when the whole body is there already."""
    is_given = False

    async def receive_whole() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_whole


def _fits(announced: str, most: int) -> bool:
    """Whether a length is a number, and not too large; whoever sends nonsense sends too much."""
    is_number = announced.isascii() and announced.isdigit() and len(announced) < 20
    return is_number and int(announced) <= most
