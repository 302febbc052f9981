"""Addresses of Qdrant servers: only a server that the user named is contacted and gets the key."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.library import Library
from mathsetu.library.graph_upload import upload_library
from mathsetu.library.manifest import signed
from mathsetu.retrieval.qdrant_address import confirmed, key_for
from tests.conftest import Mathsetu
from tests.encoders.tiny_graph import make_graph_library

KEY = "key-of-the-user"


class Listener:
    """A server on loopback that records all that it receives."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.received: list[bytes] = []
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while len(self.received) < 20:
                connection, _ = self._socket.accept()
                with connection:
                    connection.settimeout(5)
                    self.received.append(connection.recv(65536))
                    connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")

    def close(self) -> None:
        # This wakes a thread that waits in accept; close does not.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    opened = Listener()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_graph_library(tmp_path_factory.mktemp("graphs"))


@pytest.fixture
def foreign(library: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library that names the listener as its server, opened by a user who has a key."""
    path = library / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["recipe"]["parts"]["graph"]["server"] = listener.url
    path.write_text(json.dumps(signed(manifest)), encoding="utf-8")
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    monkeypatch.delenv("QDRANT_URL", raising=False)
    return library


@pytest.mark.parametrize("named", ["", "http://127.0.0.1:9", "https://qdrant.example.org"])
def test_a_server_that_only_the_library_names_is_never_contacted(
    foreign: Path, listener: Listener, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_URL", named)
    with pytest.raises(InputError, match=r"is not contacted.*QDRANT_URL"), Library(foreign) as one:
        one.search("Why is it so?")
    assert listener.received == []


def test_graph_compare_contacts_no_server_even_if_the_library_names_one(
    foreign: Path, listener: Listener, mathsetu: Mathsetu
) -> None:
    done = mathsetu("graph", "compare", foreign, "even numbers", "2")
    assert done.code == 0
    assert "MaxSim" in done.out
    assert listener.received == []


@pytest.mark.parametrize("named", ["", "http://127.0.0.1:9"])
def test_an_upload_does_not_send_the_key_of_another_server(
    foreign: Path, listener: Listener, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_URL", named)
    with pytest.raises(InputError, match="QDRANT_API_KEY"):
        upload_library(foreign, listener.url, lambda what, number: None)
    assert listener.received == []


@pytest.mark.thorough
def test_the_key_is_sent_to_the_server_that_the_user_named(
    foreign: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("qdrant_client", reason="the extra 'qdrant' is not installed")
    monkeypatch.setenv("QDRANT_URL", listener.url)
    with pytest.raises(InputError, match="refuses"), Library(foreign) as one:
        one.search("Why is it so?")
    [request] = listener.received
    assert f"api-key: {KEY}".encode() in request
    monkeypatch.delenv("QDRANT_API_KEY")
    with pytest.raises(InputError, match="refuses"):
        upload_library(foreign, listener.url, lambda what, number: None)
    assert b"api-key" not in listener.received[1]


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("http://localhost:6333", "http://LOCALHOST:6333/"),
        ("http://localhost", "http://localhost:6333"),
        ("https://[::1]:6333", "https://[::1]"),
        ("https://qdrant.example.org/tenant", "https://qdrant.example.org:6333/tenant/"),
    ],
)
def test_different_spellings_of_an_address_are_the_same_address(
    named: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_URL", named)
    assert confirmed(asked) == confirmed(named)


@pytest.mark.parametrize(
    "asked",
    [
        "https://qdrant.example.org:443",
        "http://qdrant.example.org:6333",
        "https://qdrant.example.org:6333/other",
        "https://qdrant.example.org.evil.example:6333",
        "https://qdrant.example.org:6333@evil.example",
        "https://evil.example\\@qdrant.example.org:6333",
        "https://qdrant.example.org:6333#@evil.example",
        "https://qdrant.example.org:6333?x=1",
        "https://qdrant.example.org:99999",
        "https://qdrant.exam\nple.org:6333",
        "qdrant.example.org:6333",
        "file:///etc/passwd",
        "https://[::1",
        "",
    ],
)
def test_other_addresses_and_ambiguous_ones_are_refused(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_URL", "https://qdrant.example.org:6333")
    with pytest.raises(InputError) as caught:
        confirmed(asked)
    assert "\n" not in str(caught.value)


@given(st.text())
@example("http://[")
@example("http://a:b")
@example("https://qdrant.example.org:\u0663")
def test_any_other_text_as_an_address_is_refused_in_one_line(asked: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QDRANT_URL", "https://qdrant.example.org:6333")
        with pytest.raises(InputError) as caught:
            confirmed(asked)
    assert str(caught.value).isprintable()


def test_a_key_is_not_sent_in_plain_text_over_a_network_unless_the_user_allows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    monkeypatch.delenv("QDRANT_PLAIN_HTTP", raising=False)
    for safe in ("http://127.0.0.1:6333", "http://[::1]:6333", "https://qdrant.example.org"):
        monkeypatch.setenv("QDRANT_URL", safe)
        assert key_for(safe) == KEY
    plain = "http://qdrant.example.org:6333"
    monkeypatch.setenv("QDRANT_URL", plain)
    monkeypatch.setenv("QDRANT_PLAIN_HTTP", "another.example.org")
    with pytest.raises(InputError, match=r"https.*QDRANT_PLAIN_HTTP=qdrant\.example\.org"):
        key_for(plain)
    monkeypatch.setenv("QDRANT_PLAIN_HTTP", "qdrant.example.org")
    assert key_for(plain) == KEY
    monkeypatch.delenv("QDRANT_API_KEY")
    monkeypatch.delenv("QDRANT_PLAIN_HTTP")
    assert key_for(plain) is None
