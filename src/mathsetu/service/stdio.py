"""Messages of the Model Context Protocol on standard input, checked before the SDK reads them.

The SDK drops messages that it cannot read, so that the client waits forever, and accepts lines of
any length. Here every request gets an answer, if only an error, and long lines are not stored.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from mathsetu.limits import has_lone_surrogate

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from mcp.shared._stream_protocols import WriteStream

#: Bytes of one message, at most; messages that our tools can use have some thousands.
LONGEST = 1 << 20
_CHUNK = 1 << 16
#: Seconds to answer the remaining requests after the client has closed standard input.
LAST_ANSWERS = 30.0
_CANCELLED = "notifications/cancelled"
_TOO_DEEP = "the message is nested too deeply"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a message is refused; ``id`` is the id of the request, None if unknown."""

    code: int
    problem: str
    id: int | str | None = None


def read_message(line: bytes) -> str | Refusal | None:
    """Check a line: return a message for the SDK, a refusal, or None if it needs no answer.

    >>> read_message(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    >>> read_message(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}')
    Refusal(code=-32602, problem='params must be an object', id=1)
    """
    if not line.strip():
        return None
    try:
        # Parse leniently: an invalid message may still have an id, which the answer needs.
        message = json.loads(line.decode("utf-8", errors="replace"), strict=False)
    except RecursionError:
        return Refusal(PARSE_ERROR, _TOO_DEEP)
    except ValueError as error:
        return Refusal(PARSE_ERROR, f"the message is not JSON ({error})")
    if not isinstance(message, dict):
        return Refusal(
            INVALID_REQUEST, "a message must be one JSON object; batches are not supported"
        )
    problem = _problem(message, line)
    if "id" not in message or ("method" not in message and {"result", "error"} & message.keys()):
        # Notifications and responses are never answered.
        return None if problem else json.dumps(message)
    name = message["id"]
    if not (type(name) is int or (isinstance(name, str) and not has_lone_surrogate(name))):
        return Refusal(INVALID_REQUEST, "the id of a request must be a string or an integer")
    return Refusal(*problem, name) if problem else json.dumps(message)


def _problem(message: dict[str, Any], line: bytes) -> tuple[int, str] | None:
    """The error code and the problem of a JSON object as a message, or None."""
    try:
        line.decode()
        json.dumps(message, ensure_ascii=False).encode()
        written = json.dumps(message, allow_nan=False)
        if not isinstance(message.get("params", {}), dict | None):
            return INVALID_PARAMS, "params must be an object"
        jsonrpc_message_adapter.validate_json(written, by_name=False)
    except RecursionError:
        return PARSE_ERROR, _TOO_DEEP
    except UnicodeDecodeError as error:
        return PARSE_ERROR, f"the message is not UTF-8 (byte {error.start})"
    except UnicodeEncodeError:
        return INVALID_PARAMS, "the message contains an invalid character (lone surrogate)"
    except ValidationError as error:
        # The SDK's parser allows less nesting than Python's.
        if error.errors()[0]["type"] == "json_invalid":
            return PARSE_ERROR, _TOO_DEEP
        needs = 'it needs "jsonrpc": "2.0" and the name of a method'
        return INVALID_REQUEST, f"the message is not a request of JSON-RPC 2.0: {needs}"
    except ValueError:
        return INVALID_PARAMS, "the message contains a number that is out of range"
    return None


class Unanswered:
    """The requests that were read but not answered yet."""

    def __init__(self) -> None:
        self._ids: set[int | str] = set()
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    def note_read(self, message: str) -> None:
        """Record a message that was read; a cancelled request needs no answer."""
        read = json.loads(message)
        method = read.get("method")
        if method == _CANCELLED:
            self._drop((read.get("params") or {}).get("requestId"))
        elif method is not None and "id" in read:
            self._ids.add(read["id"])
            self._is_empty.clear()

    def note_sent(self, message: JSONRPCMessage) -> None:
        """Record a message that was sent."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._drop(message.id)

    def _drop(self, name: object) -> None:
        self._ids = {other for other in self._ids if other != name}
        if not self._ids:
            self._is_empty.set()

    async def wait(self) -> None:
        """Wait until all are answered, or until the time limit."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_ANSWERS):
                await self._is_empty.wait()


class _Answers:
    """Wraps the SDK's stream to the client, and records what was sent."""

    def __init__(self, stream: WriteStream[SessionMessage], unanswered: Unanswered) -> None:
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(item)
        self._unanswered.note_sent(item.message)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


class Lines:
    """The messages among the lines of a stream; other lines are refused through ``refuse``.

    The SDK stops all work at the end of the messages, so they end only after all requests were
    answered.
    """

    def __init__(
        self,
        stream: BinaryIO,
        refuse: Callable[[Refusal], Awaitable[None]],
        unanswered: Unanswered | None = None,
    ) -> None:
        self._stream = stream
        self._refuse = refuse
        self._unanswered = unanswered

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        """The next message, as the SDK's own reader would give it."""
        while line := await self._waited_for():
            message = _TOO_LONG if len(line) > LONGEST else read_message(line)
            if isinstance(message, str):
                if self._unanswered is not None:
                    self._unanswered.note_read(message)
                return message
            if message is not None:
                await self._refuse(message)
        if self._unanswered is not None:
            await self._unanswered.wait()
        raise StopAsyncIteration

    async def _waited_for(self) -> bytes:
        """The next line, read in a daemon thread: if none comes, the process can still end."""
        line: Future[bytes] = Future()
        line.set_running_or_notify_cancel()
        Thread(target=self._read_into, args=(line,), daemon=True).start()
        return await asyncio.wrap_future(line)

    def _read_into(self, line: Future[bytes]) -> None:
        try:
            line.set_result(self._next_line())
        except Exception as error:
            line.set_exception(error)

    def _next_line(self) -> bytes:
        """One line; a line that is too long is cut just above the limit."""
        line = self._stream.readline(LONGEST + 1)
        rest = line
        while len(line) > LONGEST and rest and not rest.endswith(b"\n"):
            rest = self._stream.readline(_CHUNK)
        return line


_TOO_LONG = Refusal(
    INVALID_REQUEST, f"the message is too long; at most {LONGEST:,} bytes are allowed"
)


async def serve_stdio(server: MCPServer) -> None:
    """Serve a client on standard input and output until it closes them and has all answers."""
    begun = anyio.Event()

    async def refuse(refusal: Refusal) -> None:
        await begun.wait()
        error = ErrorData(code=refusal.code, message=refusal.problem)
        # The client may have disconnected.
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await answers.send(
                SessionMessage(JSONRPCError(jsonrpc="2.0", id=refusal.id, error=error))
            )

    # Not sys.stdin: at exit, the interpreter would wait for the thread that reads it.
    stream = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115 - read until the end
    unanswered = Unanswered()
    lines: Any = Lines(stream, refuse, unanswered)
    try:
        async with stdio_server(stdin=lines) as (messages, answers):
            begun.set()
            # The SDK's own client uses the same private attribute: there is no public one yet.
            inner = server._lowlevel_server
            noted = _Answers(answers, unanswered)
            await inner.run(messages, noted, inner.create_initialization_options())
    except Exception:
        # If Ctrl-C interrupts the SDK during a message, it raises another error.
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from None
        raise
