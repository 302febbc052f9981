"""Writing posts over HTTP: only with the write key, and a request writes all posts or none."""

import json
import shutil
from base64 import b64encode
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mathsetu.collections import sampler
from mathsetu.library import Library, add_posts, build_library
from mathsetu.library.manifest import read_manifest
from mathsetu.records import Post
from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings
from tests.light import LIGHT

WRITER = {"authorization": "Bearer pen"}
READER = {"authorization": "Bearer eye"}
PUT, DELETE = ("PUT", "/v1/posts"), ("DELETE", "/v1/posts?id=twin")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("writing") / "library"
    build_library(folder, islice(sampler.posts(), 8), LIGHT, processes=1)
    return folder


@pytest.fixture
def folder(small: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small, tmp_path / "library"))


@pytest.fixture
def server(folder: Path) -> TestClient:
    return TestClient(create_app(Settings(str(folder), key="eye", write_key="pen")))


def lines(*posts: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, posts)).encode()


def found(server: TestClient, query: str) -> list[str]:
    hits = server.get("/v1/search", params={"q": query, "k": 3}, headers=READER).json()["hits"]
    return [hit["id"] for hit in hits]


@pytest.mark.thorough
def test_posts_are_added_replaced_and_removed(server: TestClient) -> None:
    twin = {"id": "twin", "body": "Zwillinge: twin primes $p+2$.", "language": "en"}
    put = server.put("/v1/posts", content=lines(twin), headers=WRITER)
    assert (put.status_code, put.json()) == (200, {"added": 1, "replaced": 0, "notes": []})
    assert found(server, "Zwillinge") == ["twin"]
    again = lines(
        {**twin, "body": "Cousins: primes $p+4$."}, {"id": "sexy", "body": "Primes $p+6$"}
    )
    assert server.put("/v1/posts", content=again, headers=WRITER).json()["replaced"] == 1
    assert "twin" in found(server, "Cousins")
    assert found(server, "Zwillinge") == []
    gone = server.delete("/v1/posts?id=twin&id=sexy&id=nobody", headers=WRITER)
    assert gone.json() == {"removed": 2, "unknown": ["nobody"]}
    assert server.get("/v1/post?id=twin", headers=READER).status_code == 404


@pytest.mark.thorough
def test_a_file_is_removed_with_all_its_sections(server: TestClient, folder: Path) -> None:
    names = ("sums.md", "sums.md#one", "sums.md#two", "sums.md.html#one", "old.zip/a.md#b")
    add_posts(folder, [Post(f"notes/{name}", "A sum.") for name in names], processes=1)
    before = read_manifest(folder).posts
    files = {"id": ["notes/sums.md", "notes/old.zip", "notes/none.md"]}
    gone = server.delete("/v1/posts", params=files, headers=WRITER)
    assert gone.json() == {"removed": 4, "unknown": ["notes/none.md"]}
    assert read_manifest(folder).posts == before - 4
    assert server.get("/v1/post?id=notes/sums.md.html%23one", headers=READER).status_code == 200


@pytest.mark.thorough
def test_old_sections_of_a_file_that_is_sent_again_are_reported(server: TestClient) -> None:
    def put(*headings: str) -> Any:
        posts = [{"id": f"notes/sums.md#{one}", "body": "A sum."} for one in headings]
        return server.put("/v1/posts", content=lines(*posts), headers=WRITER).json()

    assert put("one", "two") == {"added": 2, "replaced": 0, "notes": []}
    assert put("one", "three", "four") == {
        "added": 3,
        "replaced": 1,
        "notes": [
            "still in the library under other ids: 1 older post of notes/sums.md",
            "to remove what a file no longer has, DELETE it (id=notes/sums.md), then PUT all of "
            "it again",
        ],
    }
    assert server.delete("/v1/posts?id=notes/sums.md", headers=WRITER).json()["removed"] == 4
    assert put("one", "three", "four") == {"added": 3, "replaced": 0, "notes": []}


@pytest.mark.thorough
def test_a_filter_accepts_every_language_that_posts_state(server: TestClient) -> None:
    named = {"a": "Elvish", "b": "Hindi", "c": "en-US"}
    posts = [{"id": one, "body": "Zwillinge", "language": name} for one, name in named.items()]
    assert server.put("/v1/posts", content=lines(*posts), headers=WRITER).status_code == 200

    def searched(**fields: object) -> list[str]:
        body = {"query": "Zwillinge", **fields}
        answer = server.post("/v1/search", json=body, headers=READER)
        parameters = {"q": "Zwillinge", **fields}
        assert server.get("/v1/search", params=parameters, headers=READER).json() == answer.json()
        return [hit["id"] for hit in answer.json()["hits"]]

    counts = server.get("/v1/search?q=Zwillinge&facets=true", headers=READER).json()["facets"]
    assert counts["language"] == {"elvish": 1, "en": 1, "hi": 1}
    for code, post_id in {"elvish": "a", "Elvish": "a", "hi": "b", "en": "c", "EN-GB": "c"}.items():
        assert searched(**{"in": [code]}) == [post_id]
        page = server.get("/search", params={"q": "Zwillinge", "in": code}, headers=READER)
        assert page.status_code == 200
        assert f"/post?id={post_id}&amp;" in page.text
    assert "a" not in searched(not_in=["elvish"])
    refused = server.get("/v1/search?q=Zwillinge&in=en&in=klingon", headers=READER)
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("in.1: unknown language; give a code")
    assert server.get("/search?q=Zwillinge&in=klingon", headers=READER).status_code == 400


@pytest.mark.thorough
def test_html_in_posts_without_the_parameter_form_is_reported(server: TestClient) -> None:
    body = lines({"id": "page", "body": "<p>One.</p>"}, {"id": "note", "body": "Two."})
    notes = {
        form: server.put(f"/v1/posts{form}", content=body, headers=WRITER).json()["notes"]
        for form in ("", "?form=text", "?form=html")
    }
    kept = "the body: HTML tags in 1 of 2 bodies are kept as text (form=html reads them as HTML)"
    assert notes == {"": [kept], "?form=text": [], "?form=html": []}


@pytest.mark.thorough
def test_with_form_html_the_bodies_of_posts_are_read_as_html(server: TestClient) -> None:
    page = {"id": "page", "body": '<p>If <span class="math-container">$a&lt;b$</span>.</p>'}

    def put(address: str) -> str:
        assert server.put(address, content=lines(page), headers=WRITER).status_code == 200
        body = server.get("/v1/post?id=page", headers=READER).json()["body"]
        return "".join(piece["text"] for piece in body)

    assert put("/v1/posts?form=html") == "If a<b."
    assert put("/v1/posts") == put("/v1/posts?form=text") == page["body"].replace("$", "")
    refused = server.put("/v1/posts?form=docx", content=lines(page), headers=WRITER)
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("form: Input should be 'text', 'markdown'")


@pytest.mark.thorough
def test_a_replaced_post_stays_in_its_collection_unless_another_is_named(
    server: TestClient, folder: Path
) -> None:
    def collections() -> list[str]:
        with Library(folder) as library:
            return [library.post(post_id).collection for post_id in ("a", "b", "c")]

    old = [Post(name, "Old.", collection="notes") for name in ("a", "b")]
    add_posts(folder, old, processes=1)
    posts = [{"id": "a", "body": "1"}, {"id": "b", "body": "2", "collection": "drafts"}]
    put = server.put("/v1/posts", content=lines(*posts, {"id": "c", "body": "3"}), headers=WRITER)
    assert put.json() == {"added": 3, "replaced": 2, "notes": []}
    assert collections() == ["notes", "drafts", ""]


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "path"), [PUT, DELETE])
def test_writing_needs_the_write_key(
    server: TestClient, folder: Path, method: str, path: str
) -> None:
    before = read_manifest(folder)
    password = b64encode(b"anyone:pen").decode()
    for wrong, problem in (
        ({}, "the key for writing is required"),
        (READER, "this key is unknown or does not allow writing"),
        ({"authorization": f"Basic {password}"}, "the key for writing is required"),
        ({"authorization": "Bearer"}, "the key for writing is required"),
    ):
        response = server.request(method, path, headers=wrong, content=lines({"id": "a"}))
        assert response.status_code == 401
        assert response.json()["error"].startswith(problem)
        assert "pen" not in response.text
    for asked, where in (("GET", "/v1/library"), ("DELETE", "/v1/posts/p1")):
        response = server.request(asked, where, headers=WRITER)
        assert response.status_code == 401
        assert response.json()["error"].startswith("this key is only for writing")
    assert read_manifest(folder) == before


@pytest.mark.parametrize(("method", "path"), [PUT, DELETE])
def test_a_server_without_a_write_key_has_no_routes_for_writing(
    client: TestClient, method: str, path: str
) -> None:
    assert client.request(method, path, content=b"x").status_code == 404


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "there are no posts in the body"),
        (b"{", "line 1: not JSON"),
        (b'{"id": "a"}{"id": "b"}', "each record needs a line of its own (curl: --data-binary)"),
        (b"\xff\xfe", "line 1: "),
        (lines({"id": "a", "body": "b"}, {"id": "c"}), 'line 2: "body" is missing'),
        (lines({"id": "a", "body": "b"}, {"id": "a", "body": "c"}), "line 2: id 'a' occurs twice"),
        (lines({"id": "a", "body": "b", "by": "me"}), 'line 1: "by" is not a known key'),
        (b'{"id": "a", "body": "\\ud800"}', "line 1: "),
        (lines({"id": "a" * 2_000, "body": "b"}), "line 1: the id has 2,000 characters"),
    ],
)
def test_a_bad_post_is_reported_and_nothing_is_written(
    server: TestClient, folder: Path, body: bytes, problem: str
) -> None:
    before = read_manifest(folder)
    response = server.put("/v1/posts", content=body, headers=WRITER)
    assert response.status_code == 400
    assert problem in response.json()["error"]
    assert str(folder) not in response.text
    assert "tmp" not in response.text
    assert read_manifest(folder) == before


@pytest.mark.thorough
def test_refused_writes_do_not_show_the_path_of_the_library(
    server: TestClient, folder: Path
) -> None:
    from mathsetu.library.lock import writing_alone

    with writing_alone(folder):
        busy = server.put("/v1/posts", content=lines({"id": "a", "body": "b"}), headers=WRITER)
    assert busy.status_code == 400
    assert busy.json()["error"].startswith("the library: is locked by another writer")
    large = server.put("/v1/posts", content=b"x" * (9 << 20), headers=WRITER)
    assert large.status_code == 413
    assert server.delete("/v1/posts", headers=WRITER).status_code == 422
    assert server.options("/v1/posts", headers=WRITER).headers["allow"] == "DELETE, OPTIONS, PUT"
