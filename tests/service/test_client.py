"""The Python client against a real server: the same values as the engine's, clear errors."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import uvicorn

from mathsetu.client import AsyncClient, Client, ServerError
from mathsetu.collections import sampler
from mathsetu.errors import InputError, Unavailable
from mathsetu.library import Filter, build_library
from mathsetu.records import Post
from mathsetu.service.app import create_app
from mathsetu.service.engine import Engine
from mathsetu.service.settings import Settings
from tests.light import LIGHT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client") / "library"
    build_library(folder, islice(sampler.posts(), 20), LIGHT, processes=1)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    app = create_app(Settings(str(folder), key="eye", write_key="pen"))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.mark.thorough
def test_the_client_returns_the_same_values_as_the_engine(address: str, folder: Path) -> None:
    client, engine = Client(address, "eye"), Engine(folder)
    where = Filter(("en", "hi"), not_tags=("nobody",))
    asked = client.search("number $n^2$", 3, offset=1, where=where, facets=True)
    assert asked == engine.search("number $n^2$", 3, offset=1, where=where, facets=True)
    assert asked.hits
    post_id = asked.hits[0].id
    assert client.post(post_id) == engine.post(post_id)
    assert client.similar(post_id, 2) == engine.similar(post_id, 2)
    assert client.explain("number", post_id) == engine.explain("number", post_id)
    assert client.formulas("n^2", 2) == engine.formulas("n^2", 2)
    assert client.library() == engine.describe()
    engine.close()


def test_wrong_types_are_refused_before_a_request_is_sent() -> None:
    client = Client("http://127.0.0.1:1", write_key="pen")
    with pytest.raises(InputError, match=r"ids is '12' \(str\); give a list of ids"):
        client.remove("12")
    with pytest.raises(InputError, match=r"posts is Post\(.*\); give a list of posts"):
        client.add(Post("1", "One."))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"post 1 is {'id': '1'} \(dict\); give a Post"):
        client.add([{"id": "1"}])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"where is {'language': 'en'} \(dict\); give a Filter"):
        client.search("x", where={"language": "en"})  # type: ignore[arg-type]


@pytest.mark.thorough
def test_white_space_around_a_key_is_ignored(address: str) -> None:
    assert Client(address, "eye\n").library() == Client(address, "eye").library()
    assert asyncio.run(AsyncClient(address, " eye\r\n").library()).posts
    assert Client(address, write_key="pen\n").remove(["nobody"]) == 0


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_key_that_cannot_be_sent_is_refused(kind: type[Client]) -> None:
    with pytest.raises(InputError, match=r"^key: cannot be sent in a header"):
        kind("http://127.0.0.1:1", "two\nlines")
    with pytest.raises(InputError, match=r"^write_key: cannot be sent in a header"):
        kind("http://127.0.0.1:1", write_key="schlüssel")


@pytest.mark.thorough
def test_the_async_client_searches_concurrently_and_writes(address: str) -> None:
    async def go() -> None:
        client = AsyncClient(address, "eye", write_key="pen")
        answers = await asyncio.gather(*(client.search("number", k) for k in (1, 2, 3)))
        assert [len(answer.hits) for answer in answers] == [1, 2, 3]
        assert await client.add([Post("twin", "<p>Zwillinge $p+2$</p>")], form="html") == 1
        assert [piece.text for piece in (await client.post("twin")).body] == ["Zwillinge ", "p+2"]
        assert (await client.search("Zwillinge", 1)).hits[0].id == "twin"
        assert await client.remove(["twin"]) == 1

    asyncio.run(go())


@pytest.mark.thorough
def test_errors_have_the_message_of_the_server(address: str) -> None:
    with pytest.raises(ServerError, match="there is no post 'q7'") as caught:
        Client(address, "eye").post("q7")
    assert caught.value.status == 404
    with pytest.raises(ServerError, match="an API key is required"):
        Client(address).library()
    with pytest.raises(ServerError, match="this key is unknown or does not allow writing"):
        Client(address, "eye").remove(["twin"])
    with pytest.raises(Unavailable, match="does not answer"):
        Client("http://127.0.0.1:9", seconds=1).library()
    for wrong in ("file:///etc/passwd", "127.0.0.1:8080", ""):
        with pytest.raises(InputError, match="give an address"):
            Client(wrong)
