"""Limits the time of client connections, and their number in a process.

The HTTP library waits forever for the head of a request, and for a client that does not read its
answer. Here both have a time limit. When there are too many connections, the one that has waited
longest for its client is closed: a client that sends its request at once is served, even if many
others only keep connections open.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from mathsetu.service.admission import LINGER
from mathsetu.service.clients import client_of, share_of_one
from mathsetu.service.security import security_headers
from mathsetu.service.settings import Settings

if TYPE_CHECKING:
    from typing import Any

# Open files reserved for the library and for the rest of the process.
_OTHER_FILES = 100
# States of the parser in which a response can still be started.
_UNANSWERED = (h11.IDLE, h11.SEND_RESPONSE)
_TOO_MANY = "the server has too many connections; retry in one second"
_UNREADABLE = "this is not a valid HTTP/1.1 request"
_TOO_LONG = "the address or the headers are too long"


class Connections:
    """The open connections of a process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._proxies = [ip_network(proxy) for proxy in settings.proxies]
        self._most = min(settings.connections, _open_files() - _OTHER_FILES)
        self._most_of_one = share_of_one(self._most)
        # All connections, and those of each client, in the order in which they began to wait.
        self._all: dict[Connection, None] = {}
        self._by_client: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection) -> bool:
        """Accept a connection; if there are too many, close a waiting one or return False."""
        own = self._by_client.setdefault(connection.owner, {})
        # A proxy forwards the requests of many clients, so it may have all connections.
        is_many = len(own) >= self._most_of_one and not self._is_proxy(connection.address)
        if is_many or len(self._all) >= self._most:
            waiting = (other for other in (own if is_many else self._all) if other.is_waiting)
            longest = next(waiting, None)
            if longest is None:
                return False
            longest.give_way()
        self._all[connection] = None
        self._by_client.setdefault(connection.owner, {})[connection] = None
        return True

    def _is_proxy(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._proxies)

    def begin_to_wait(self, connection: Connection) -> None:
        """Record that an answer is complete and the connection now waits for its client."""
        for group in (self._all, self._by_client.get(connection.owner, {})):
            if connection in group:
                del group[connection]
                group[connection] = None

    def remove(self, connection: Connection) -> None:
        """Remove a connection that has ended, or is about to end."""
        self._all.pop(connection, None)
        own = self._by_client.get(connection.owner, {})
        own.pop(connection, None)
        if not own:
            self._by_client.pop(connection.owner, None)


class Connection(H11Protocol):
    """A connection that does not wait forever for its client.

    The limits are in ``connections`` of the application's lifespan state.
    """

    #: The address of the peer, and the client that it belongs to.
    address = ""
    owner = ""
    _connections: Connections
    # Run while waiting for the head of a request, and for the client to read an answer.
    _head_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None
    _is_refused = False

    @property
    def is_waiting(self) -> bool:
        """Whether the client must act next: send a request, send its body, or read the answer."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request, or refuse the connection."""
        super().connection_made(transport)
        self._connections = self.app_state["connections"]
        self.address = self.client[0] if self.client else ""
        self.owner = client_of(self.address)
        if self._connections.add(self):
            self._await_head()
        else:
            self._answer(503, _TOO_MANY)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection and stop its timers."""
        self._connections.remove(self)
        self._stop_timers()
        super().connection_lost(exc)

    def _should_upgrade(self) -> bool:
        """No upgrade exists here: such a request is answered as a plain one, without a warning."""
        return False

    def data_received(self, data: bytes) -> None:
        """Read data; bytes that arrive slowly do not extend the time limit of a head."""
        if self._is_refused:
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._await_head()
        elif self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def on_response_complete(self) -> None:
        """Start to wait for the next request, and for the client to read this answer."""
        self._connections.begin_to_wait(self)
        self._await_reading()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Called when the client reads more slowly than the answer is sent."""
        self._await_reading()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Called when the client has read most of what was sent."""
        self._await_reading()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer an unparsable request; the HTTP library calls this while handling the error."""
        status = getattr(sys.exc_info()[1], "error_status_hint", 400)
        self._refuse(status, _TOO_LONG if status == 431 else _UNREADABLE)

    def give_way(self) -> None:
        """Close at once, to make room for another connection."""
        self._connections.remove(self)
        self.transport.abort()

    def _await_head(self) -> None:
        if self._head_timer is None:
            seconds = self._connections.settings.receiving
            self._head_timer = self.loop.call_later(seconds, self._end_head)

    def _end_head(self) -> None:
        seconds = self._connections.settings.receiving
        began, _ = self.conn.trailing_data
        if began:
            problem = (
                "the request arrived too slowly; "
                f"its headers must arrive within {seconds:g} seconds"
            )
            self._refuse(408, problem)
        else:  # a browser may open a connection before it sends a request
            self.transport.close()

    def _await_reading(self) -> None:
        """Restart the time limit within which the client must read what was sent so far."""
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None
        if self.transport.get_write_buffer_size():
            seconds = self._connections.settings.sending
            self._reader_timer = self.loop.call_later(seconds, self._end_reading)

    def _end_reading(self) -> None:
        if self.transport.get_write_buffer_size():
            self.give_way()

    def _stop_timers(self) -> None:
        for timer in (self._head_timer, self._reader_timer):
            if timer is not None:
                timer.cancel()

    def _refuse(self, status: int, problem: str) -> None:
        """Answer without the application, and end the connection."""
        self._is_refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            # The application must not answer as well.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in _UNANSWERED:
            self._answer(status, problem)
            # Discard for a moment what the client still sends: closing a connection with unread
            # bytes may delete the answer before the client reads it.
            with suppress(OSError):  # the client may have disconnected
                self.transport.write_eof()
            self.loop.call_later(LINGER, self._end_refused)
        else:
            self._end_refused()

    def _end_refused(self) -> None:
        self.transport.close()
        self._await_reading()

    def _answer(self, status: int, problem: str) -> None:
        body = json.dumps({"error": problem}).encode()
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "cache-control": "no-store",
            "connection": "close",
            **security_headers("application/json", False),
        }
        events: list[Any] = [
            h11.Response(
                status_code=status,
                headers=list(headers.items()),
                reason=HTTPStatus(status).phrase.encode(),
            ),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ]
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))


def _open_files() -> int:
    """How many files and connections this process may have open."""
    try:
        import resource
    except ImportError:
        return sys.maxsize
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if most == resource.RLIM_INFINITY else most
