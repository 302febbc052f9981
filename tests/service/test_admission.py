"""Admission: slow, large, malformed or too many requests harm only their own client."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mathsetu.service.admission import Admission
from mathsetu.service.app import create_app
from mathsetu.service.metrics import Metrics
from mathsetu.service.pages.files import address
from mathsetu.service.problems import Problems
from mathsetu.service.settings import Settings

BROWSER = {"accept": "text/html,application/xhtml+xml"}
GOOD = "https://good.example"


class Talk:
    """One request to an application, message by message, as a server passes it on."""

    def __init__(self, app: Any, method: str, path: str, client: str = "192.0.2.1") -> None:
        self.app = app
        self.scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "root_path": "",
            "query_string": b"q=primes" if method == "GET" else b"",
            "scheme": "http", "server": ("test", 80), "client": (client, 1), "headers": [],
        }  # fmt: skip
        self.coming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        # Set while the client reads its answers.
        self.reads = asyncio.Event()
        self.reads.set()

    def begin(self, *headers: tuple[str, str]) -> asyncio.Task[None]:
        self.scope["headers"] = [(name.encode(), value.encode()) for name, value in headers]
        return asyncio.create_task(self.app(self.scope, self.coming.get, self._send))

    def body(self, body: bytes, more: bool = False) -> None:
        self.coming.put_nowait({"type": "http.request", "body": body, "more_body": more})

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        await self.reads.wait()

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"]) if self.sent else 0

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])


async def until(holds: Callable[..., bool], seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)


async def asks(app: Any, client: str = "192.0.2.9") -> int:
    """The status of a plain search by another client."""
    talk = Talk(app, "GET", "/v1/search", client)
    async with asyncio.timeout(10):
        await talk.begin(("host", "test"))
    return talk.status


SENDS_JSON = (("host", "test"), ("content-type", "application/json"), ("content-length", "20"))


@pytest.mark.thorough
def test_a_client_that_sends_slowly_blocks_no_other_client(sampler_folder: Path) -> None:
    app = create_app(Settings(str(sampler_folder), running=1, waiting=1))

    async def go() -> None:
        slow = [Talk(app, "POST", "/v1/search") for _ in range(20)]
        tasks = [talk.begin(*SENDS_JSON) for talk in slow]
        for talk in slow:
            talk.body(b"{", more=True)
        await asyncio.sleep(0.05)
        assert await asks(app) == 200
        slow[0].body(b'"query": "primes"}')
        await tasks[0]
        assert slow[0].status == 200
        for task in tasks:
            task.cancel()

    asyncio.run(go())


@pytest.mark.thorough
def test_a_body_that_takes_too_long_is_answered_with_408(sampler_folder: Path) -> None:
    app = create_app(Settings(str(sampler_folder), receiving=0.2))

    async def go() -> Talk:
        talk = Talk(app, "POST", "/v1/search")
        task = talk.begin(*SENDS_JSON)
        for _ in range(40):  # slow bytes do not extend the time limit
            talk.body(b" ", more=True)
            await asyncio.sleep(0.01)
        async with asyncio.timeout(5):
            await task
        return talk

    talk = asyncio.run(go())
    assert talk.status == 408
    assert b"must be complete within 0.2 seconds" in talk.sent[1]["body"]
    assert talk.headers[b"connection"] == b"close"
    assert talk.headers[b"x-content-type-options"] == b"nosniff"
    assert talk.sent[-1]["more_body"] is False


@pytest.mark.thorough
def test_a_client_that_disconnects_before_its_body_is_complete_gets_no_answer(
    sampler_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "mathsetu")
    app = create_app(Settings(str(sampler_folder)))

    async def go() -> Talk:
        talk = Talk(app, "POST", "/v1/search")
        task = talk.begin(*SENDS_JSON)
        talk.body(b"{", more=True)
        talk.coming.put_nowait({"type": "http.disconnect"})
        async with asyncio.timeout(5):
            await task
        return talk

    assert asyncio.run(go()).sent == []
    assert " 499 " in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.thorough
def test_a_client_that_does_not_read_its_answer_blocks_no_other_client(
    sampler_folder: Path,
) -> None:
    app = create_app(Settings(str(sampler_folder), running=1, waiting=0))

    async def go() -> None:
        idle = [Talk(app, "GET", "/v1/search") for _ in range(3)]
        tasks = []
        for talk in idle:
            talk.reads.clear()
            tasks.append(talk.begin(("host", "test")))
            await until(lambda talk=talk: bool(talk.sent))
        assert [talk.status for talk in idle] == [200] * 3
        assert await asks(app) == 200
        for talk, task in zip(idle, tasks, strict=True):
            talk.reads.set()
            await task

    asyncio.run(go())


def test_the_error_for_a_limit_of_one_request_uses_the_singular() -> None:
    async def busy(*_: Any) -> None:
        await asyncio.sleep(60)

    async def go() -> bytes:
        admission = Admission(busy, Settings("", per_client=1), Metrics(), Problems())
        first, second = (Talk(admission, "GET", "/v1/search") for _ in range(2))
        task = first.begin()
        await until(lambda: admission.inside == 1)
        await second.begin()
        task.cancel()
        return bytes(second.sent[1]["body"])

    assert b"1 request from your address is in progress, which" in asyncio.run(go())


@pytest.mark.thorough
def test_one_client_cannot_use_the_whole_capacity(
    sampler_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(Settings(str(sampler_folder), running=2, waiting=6, per_client=3))
    gate = threading.Event()
    search = app.state.engine.search

    def slow(*arguments: object, **options: object) -> object:
        gate.wait(20)
        return search(*arguments, **options)

    monkeypatch.setattr(app.state.engine, "search", slow)

    async def go() -> None:
        # Addresses of one IPv6 network count as one client.
        many = [Talk(app, "GET", "/v1/search", f"2001:db8::{n}") for n in range(1, 9)]
        tasks = [talk.begin(("host", "test")) for talk in many]
        await until(lambda: sum(talk.status == 429 for talk in many) == 5)
        refused = next(talk for talk in many if talk.status == 429)
        assert b"3 requests from your address" in refused.sent[1]["body"]
        assert refused.headers[b"retry-after"] == b"1"
        other = asyncio.create_task(asks(app, "2001:db8:1::1"))
        await asyncio.sleep(0.05)
        gate.set()
        assert await other == 200
        await asyncio.gather(*tasks)
        assert sorted(talk.status for talk in many) == [200] * 3 + [429] * 5
        # The places are free again: the same client can send requests.
        assert await asks(app, "2001:db8::1") == 200

    asyncio.run(go())


@pytest.mark.thorough
def test_large_answers_are_sent_in_pieces(sampler_folder: Path) -> None:
    app = create_app(Settings(str(sampler_folder)))

    async def go() -> Talk:
        talk = Talk(app, "GET", address("mathlive.min.mjs"))
        await talk.begin(("host", "test"))
        return talk

    start, *pieces = asyncio.run(go()).sent
    assert max(len(piece["body"]) for piece in pieces) <= 1 << 16
    assert [piece.get("more_body", False) for piece in pieces] == [True] * (len(pieces) - 1) + [
        False
    ]
    length = int(dict(start["headers"])[b"content-length"])
    assert sum(len(piece["body"]) for piece in pieces) == length > 1 << 16


def refused_bodies() -> dict[str, list[tuple[str, str]]]:
    both = [("content-length", "5"), ("transfer-encoding", "chunked")]
    return {"400": both, "413": [("content-length", "999999")], "431": [("x", "y" * 20_000)]}


@pytest.mark.thorough
@pytest.mark.parametrize("status", refused_bodies())
def test_refusing_a_request_before_its_body_is_read_closes_the_connection(
    sampler_folder: Path, status: str
) -> None:
    """Otherwise the server could read the body as the next request."""
    app = create_app(Settings(str(sampler_folder)))

    async def go() -> Talk:
        talk = Talk(app, "POST", "/v1/search")
        headers = [("host", "test"), *refused_bodies()[status]]
        if status == "431":
            headers.append(("content-length", "5"))
        task = talk.begin(*headers)
        talk.body(b"hello")
        await task
        return talk

    talk = asyncio.run(go())
    assert talk.status == int(status)
    assert talk.headers[b"connection"] == b"close"
    assert talk.headers[b"content-security-policy"].startswith(b"default-src 'none'")


@pytest.fixture
def named(sampler_folder: Path) -> TestClient:
    settings = Settings(str(sampler_folder), hosts=("search.example",), origins=(GOOD,), key="key")
    return TestClient(create_app(settings), base_url="http://search.example")


@pytest.mark.thorough
def test_a_wrong_host_name_gets_a_clear_error_with_security_headers(
    named: TestClient,
) -> None:
    for host in ("rebound.example", "search.example.evil", "[", "", "a b", "\xff"):
        wrong = {"host": host.encode("latin-1")}
        program = named.get("/v1/library", headers=wrong)
        assert program.status_code == 400
        assert "Host header" in program.json()["error"]
        page = named.get("/search", headers={**wrong, **BROWSER})
        assert page.status_code == 400
        assert page.text.startswith("<!doctype html>")
        for answer in (program, page):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.thorough
def test_health_is_answered_for_any_host_name(named: TestClient) -> None:
    for host in ("127.0.0.1:8080", "search.example", "10.0.0.7"):
        answer = named.get("/v1/health", headers={"host": host})
        assert answer.status_code == 200
        assert set(answer.json()) == {"status", "posts", "version"}


@pytest.mark.thorough
def test_preflight_requests_need_no_key_and_refusals_have_cors_headers(named: TestClient) -> None:
    ask = {"origin": GOOD, "access-control-request-method": "POST"}
    preflight = named.options("/v1/search", headers=ask)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == GOOD
    refused = named.get("/v1/library", headers={"origin": GOOD})
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == GOOD
    for answer in (preflight, refused):
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.thorough
def test_head_returns_the_headers_of_get_on_every_route(client: TestClient) -> None:
    asked = [
        "/", "/search?q=primes", "/post?id=gaussian-integral.en", address("page.css"),
        "/openapi.json", "/v1/health", "/v1/search?q=primes", "/v1/library",
        "/v1/post?id=gaussian-integral.en", "/v1/post?id=none", "/nothing", "/v1/search",
    ]  # fmt: skip
    for path in asked:
        whole, head = client.get(path), client.head(path)
        assert head.status_code == whole.status_code, path
        assert head.content == b""
        differing = {"server-timing", "content-length"}
        assert {k: v for k, v in head.headers.items() if k not in differing} == {
            k: v for k, v in whole.headers.items() if k not in differing
        }
        # A page of hits shows its milliseconds, whose number of digits varies.
        spread = 4 if path.startswith("/search") else 0
        assert abs(int(head.headers["content-length"]) - len(whole.content)) <= spread
    assert client.head("/v1/render").status_code == 405


def test_a_request_with_a_wrong_method_gets_the_allowed_methods(client: TestClient) -> None:
    methods = {
        "/v1/search": "GET, HEAD, OPTIONS, POST",
        "/v1/render": "OPTIONS, POST",
        "/": "GET, HEAD, OPTIONS",
        "/openapi.json": "GET, HEAD, OPTIONS",
    }
    for path, allowed in methods.items():
        wrong = client.delete(path)
        assert (wrong.status_code, wrong.headers["allow"]) == (405, allowed)
        options = client.options(path)
        assert (options.status_code, options.headers["allow"]) == (204, allowed)
        assert options.content == b""
    assert client.options("/nothing").status_code == 404


def test_no_answer_redirects_to_the_host_in_the_request(client: TestClient) -> None:
    for path in ("/v1/search/?q=x", "/search/", "/v1/health/", "/static/"):
        for host in ("evil.example", "evil.example/x?"):
            answer = client.get(path, headers={"host": host}, follow_redirects=False)
            assert answer.status_code == 404, path
            assert "location" not in answer.headers
            assert "evil" not in answer.text
