"""Hostile clients at the socket of a real server: each gets a clear answer or is disconnected."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from mathsetu.service.pages.files import address
from mathsetu.service.settings import Settings
from tests.service.test_serve import fetch, free_port, serving

pytestmark = pytest.mark.thorough

SERVE = """
import sys
from mathsetu.service.process import open_listener, serve
from mathsetu.service.settings import Settings
with open_listener("127.0.0.1", int(sys.argv[1])) as listener:
    serve(Settings.from_json(sys.argv[2]), listener, 1)
"""
HOST = b"Host: 127.0.0.1\r\n"
CLOSE = b"Connection: close\r\n"
POST = b"POST /v1/search HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
GET = b"GET /v1/health HTTP/1.1\r\n" + HOST
SECURITY = (b"x-content-type-options", b"content-security-policy", b"x-frame-options",
            b"referrer-policy", b"cross-origin-resource-policy")  # fmt: skip


@contextmanager
def started(settings: Settings) -> Iterator[int]:
    """The port of a server with these settings; the server must not print a traceback."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(port), settings.to_json()],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while True:
            try:
                fetch(f"http://127.0.0.1:{port}/v1/health")
                break
            except OSError:
                assert server.poll() is None, server.communicate()[0]
                assert time.monotonic() < end
                time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        output = server.communicate(timeout=30)[0]
    assert "Traceback" not in output, output


@pytest.fixture(scope="module")
def port(sampler_folder: Path) -> Iterator[int]:
    with started(Settings(str(sampler_folder), receiving=1.0, hosts=("127.0.0.1",))) as port:
        yield port


def connect(port: int, source: str = "127.0.0.1", timeout: float = 15.0) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout, (source, 0))


def read_all(client: socket.socket) -> bytes:
    """Everything until the server closes the connection; if it never does, the test fails."""
    received = b""
    while True:
        try:
            piece = client.recv(1 << 16)
        except ConnectionResetError:
            return received
        if not piece:
            return received
        received += piece


def answer_to(port: int, request: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    with connect(port) as client:
        client.sendall(request)
        head, _, body = read_all(client).partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    headers = dict(line.lower().split(b": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, body


MISSHAPEN = {
    "both lengths": (
        400,
        POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    "chunks in HTTP/1.0": (
        400,
        POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    "two lengths": (400, POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"),
    "a list of lengths": (400, POST + b"Content-Length: 4, 5\r\n\r\nabcde"),
    "a length with +": (400, POST + b"Content-Length: +5\r\n\r\nabcde"),
    "a length with -": (400, POST + b"Content-Length: -5\r\n\r\nabcde"),
    "a length with a space": (400, POST + b"Content-Length: 5 5\r\n\r\nabcde"),
    "a length with _": (400, POST + b"Content-Length: 1_0\r\n\r\nabcde"),
    "a length beyond all": (413, POST + b"Content-Length: " + b"9" * 19 + b"\r\n\r\nabcde"),
    "a length beyond numbers": (400, POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabcde"),
    "another encoding": (501, POST + b"Transfer-Encoding: gzip\r\n\r\n"),
    "two encodings": (501, POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n0\r\n\r\n"),
    "a space before the colon": (400, POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
    "a chunk without a size": (400, POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
    "a chunk with a wrong end": (
        400,
        POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
    ),
    "a chunk beyond all": (
        408,
        POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 20 + b"\r\n1",
    ),
    "a folded first header": (400, b"GET /v1/health HTTP/1.1\r\n X: a\r\n" + HOST + b"\r\n"),
    "a zero byte": (400, GET + b"X: a\0b\r\n\r\n"),
    "a lone carriage return": (400, GET + b"X: a\rb\r\n\r\n"),
    "an address of another server": (
        404,
        b"GET http://evil.example/v1/health HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n",
    ),
    "a tunnel": (404, b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"),
    "an echo": (405, b"TRACE / HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"),
    "two slashes": (404, b"GET //evil.example/ HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"),
    "a way out of the folder": (
        404,
        b"GET /static/x/..%2f..%2f..%2fetc%2fpasswd HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n",
    ),
    "a zero byte in the path": (
        404,
        b"GET /static/%00/%00 HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n",
    ),
    "a query that is no UTF-8": (
        400,
        b"GET /v1/search?q=%ff%fe%c0%80 HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n",
    ),
    "an address that is not ASCII": (400, b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a long address": (431, b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    "many headers": (431, GET + b"X: y\r\n" * 20_000 + b"\r\n"),
    "many headers at once": (431, GET + CLOSE + b"Xyz: abcdef\r\n" * 2_000 + b"\r\n"),
    "a large cookie": (431, GET + b"Cookie: " + b"a" * 300_000 + b"\r\n\r\n"),
    "no name": (400, b"GET / HTTP/1.1\r\n\r\n"),
    "two names": (400, GET + b"Host: evil.example\r\n\r\n"),
    "a wrong name": (400, b"GET / HTTP/1.1\r\nHost: [\r\nAccept: text/html\r\n" + CLOSE + b"\r\n"),
    "another protocol": (400, b"\x16\x03\x01\x00\xdc\x01\x00\x00\xd8" + b"\0" * 200),
    "a large body": (413, POST + b"Content-Length: 900000\r\n\r\n" + b"x" * 900_000),
}


@pytest.mark.parametrize("name", MISSHAPEN)
def test_a_misshapen_request_gets_a_clear_error_and_the_connection_is_closed(
    port: int, name: str
) -> None:
    expected, request = MISSHAPEN[name]
    status, headers, body = answer_to(port, request)
    assert status == expected
    assert set(SECURITY) <= set(headers)
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert int(headers[b"content-length"]) == len(body), "there is one answer and nothing else"
    if headers[b"content-type"] == b"application/json":
        assert list(json.loads(body)) == ["error"]


def test_unusual_but_valid_requests_are_answered_normally(port: int) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    with connect(port) as client:
        client.sendall(GET + upgrade + b"\r\n")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
    for odd in (
        b"Expect: 100-continue\r\n",
        b"Range: bytes=0-0,-1\r\n",
        b"Authorization: \xff\r\n",
    ):
        assert answer_to(port, GET + CLOSE + odd + b"\r\n")[0] == 200
    status, _, body = answer_to(port, GET.replace(b"GET", b"HEAD") + CLOSE + b"\r\n")
    assert (status, body) == (200, b"")
    with connect(port) as client:
        client.sendall((GET + b"\r\n") * 99 + GET + CLOSE + b"\r\n")
        assert read_all(client).count(b"HTTP/1.1 200 OK") == 100
    # A client that closes its sending side still gets its answer.
    with connect(port) as client:
        client.sendall(GET + b"\r\n")
        client.shutdown(socket.SHUT_WR)
        assert read_all(client).startswith(b"HTTP/1.1 200 ")


def test_unknown_methods_do_not_fill_the_metrics(port: int) -> None:
    for number in range(5):
        request = f"MADEUP{number} /v1/search HTTP/1.1\r\n".encode() + HOST + CLOSE + b"\r\n"
        assert answer_to(port, request)[0] == 405
    assert "MADEUP" not in fetch(f"http://127.0.0.1:{port}/v1/metrics")[1]


def test_headers_that_arrive_too_slowly_get_408(port: int) -> None:
    began = time.monotonic()  # the server measures from the start of the connection
    with connect(port) as client:
        client.sendall(b"GET /v1/health HTTP/1.1\r\n")
        client.settimeout(0.1)
        received = b""
        while not received and time.monotonic() < began + 10:
            client.sendall(b"X")
            with suppress(TimeoutError):
                received = client.recv(1 << 16)
        assert 1 <= time.monotonic() - began < 8
        assert received.startswith(b"HTTP/1.1 408 ")
        assert b"must arrive within 1 seconds" in received
        assert b"nosniff" in received


def test_an_idle_connection_is_closed_without_an_answer(port: int) -> None:
    with connect(port) as client:
        assert read_all(client) == b""
    # Also after a first request.
    with connect(port) as client:
        client.sendall(GET + b"\r\n")
        assert read_all(client).count(b"HTTP/1.1") == 1


def test_slow_clients_lock_nobody_out(sampler_folder: Path) -> None:
    """Two hundred slow bodies and two hundred slow headers, with the default settings."""
    with serving(str(sampler_folder)) as (url, _), ExitStack() as stack:
        port = int(url.rpartition(":")[2])
        slow = [stack.enter_context(connect(port)) for _ in range(400)]
        began = time.monotonic()
        for client in slow[:200]:
            client.sendall(POST + b"Content-Length: 20\r\n\r\n{")
        for client in slow[200:]:
            client.sendall(b"GET /v1/health HTTP/1.1\r\nX")
        for source in ("127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"):
            with connect(port, source) as normal:
                request = b"GET /v1/search?q=primes HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"
                normal.sendall(request)
                assert read_all(normal).startswith(b"HTTP/1.1 200 ")
        assert time.monotonic() - began < 9, "all of them are still being waited for"
        for client in slow:
            assert read_all(client).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - began < 30


def test_a_client_with_too_many_connections_loses_its_oldest_ones(sampler_folder: Path) -> None:
    with (
        started(Settings(str(sampler_folder), connections=20)) as port,
        ExitStack() as stack,
    ):
        idle = [stack.enter_context(connect(port)) for _ in range(40)]
        # One client can have three quarters of all connections; its oldest ones are closed.
        assert [read_all(client) for client in idle[:25]] == [b""] * 25
        for source in ("127.0.0.1", "127.0.0.2"):
            with connect(port, source) as normal:
                normal.sendall(GET + CLOSE + b"\r\n")
                assert read_all(normal).startswith(b"HTTP/1.1 200 ")
        idle[-1].sendall(GET + CLOSE + b"\r\n")
        assert read_all(idle[-1]).startswith(b"HTTP/1.1 200 ")
        # With many clients, the oldest connection of all is closed.
        many = [stack.enter_context(connect(port, f"127.0.0.{n}")) for n in range(3, 33)]
        assert read_all(many[0]) == b""
        many[-1].sendall(GET + CLOSE + b"\r\n")
        assert read_all(many[-1]).startswith(b"HTTP/1.1 200 ")


def test_a_proxy_can_use_all_connections_and_limits_apply_to_its_clients(
    sampler_folder: Path,
) -> None:
    settings = Settings(
        str(sampler_folder), connections=40, per_client=1, proxies=("127.0.0.1/32",)
    )
    with started(settings) as port:
        for one_client in (False, True):
            with ExitStack() as stack:
                clients = [stack.enter_context(connect(port)) for _ in range(38)]
                for number, client in enumerate(clients):
                    name = "192.0.2.1" if one_client else f"192.0.2.{number}"
                    client.sendall(
                        b"GET /v1/search?q=primes HTTP/1.1\r\n" + HOST + CLOSE
                        + f"X-Forwarded-For: {name}\r\n\r\n".encode()
                    )  # fmt: skip
                statuses = {read_all(client)[9:12] for client in clients}
            assert statuses == ({b"200", b"429"} if one_client else {b"200"})


def test_a_client_that_does_not_read_its_answers_is_disconnected(sampler_folder: Path) -> None:
    with started(Settings(str(sampler_folder), sending=1.0)) as port, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(15)
        client.connect(("127.0.0.1", port))
        path = address("mathlive.min.mjs").encode()
        wanted = 20
        client.sendall((b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n") * wanted)
        time.sleep(4)
        assert read_all(client).count(b"HTTP/1.1 200 OK") < wanted


def test_a_client_that_reads_slowly_but_steadily_gets_all_answers(sampler_folder: Path) -> None:
    with started(Settings(str(sampler_folder), sending=1.0)) as port, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.settimeout(15)
        client.connect(("127.0.0.1", port))
        path = address("mathlive.min.mjs").encode()
        asks = b"GET " + path + b" HTTP/1.1\r\n" + HOST
        client.sendall((asks + b"\r\n") * 19 + asks + CLOSE + b"\r\n")
        pieces = []
        began = time.monotonic()
        while piece := client.recv(1 << 16):
            pieces.append(piece)
            time.sleep(0.01)
        assert b"".join(pieces).count(b"HTTP/1.1 200 OK") == 20
        assert time.monotonic() - began > 2, "it must take longer than the time without reading"
