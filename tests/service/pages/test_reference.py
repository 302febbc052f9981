"""The page with the reference of the API matches the OpenAPI file."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mathsetu.library import build_library
from mathsetu.records import Post
from mathsetu.service.app import create_app
from mathsetu.service.pages.reference import reference
from mathsetu.service.security import PAGE_POLICY
from mathsetu.service.settings import Settings
from tests.light import LIGHT


@pytest.fixture(scope="module")
def writer(sampler_folder: Path) -> TestClient:
    return TestClient(create_app(Settings(str(sampler_folder), write_key="secret")))


@pytest.mark.thorough
def test_every_path_parameter_and_field_is_documented(writer: TestClient) -> None:
    html = unescape(writer.get("/docs").text)
    document = writer.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            start = html.index(f"<h3><code>{method.upper()} {path}</code></h3>")
            section = html[start : html.index("</article>", start)]
            assert said["summary"] in section
            for parameter in said.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in section
                assert parameter["description"] in section
    for name, said in document["components"]["schemas"].items():
        if not name.endswith("Request"):
            start = html.index(f'id="value-{name}"')
            section = html[start : html.index("</article>", start)]
            for field in said["properties"]:
                assert f"<code>{field}</code>" in section


def test_a_server_without_a_write_key_does_not_document_writing(client: TestClient) -> None:
    assert "/v1/posts" not in client.get("/docs").text


@pytest.mark.thorough
def test_every_link_of_the_reference_works(client: TestClient) -> None:
    html = client.get("/docs").text
    names = set(re.findall(r'id="([^"]+)"', html))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= names
    tried = [unescape(address) for address in re.findall(r'Try it: <a href="([^"]+)"', html)]
    assert len(tried) >= 7
    # The sampler has no graph index for a heat map.
    assert not any("heatmap" in address for address in tried)
    for address in tried:
        assert client.get(address).status_code == 200, address


def test_examples_use_posts_of_the_library(tmp_path: Path) -> None:
    post = Post("my post/1", "A sum of primes.", title="Primes", language="en")
    build_library(tmp_path / "library", [post], LIGHT, processes=1)
    html = TestClient(create_app(Settings(str(tmp_path / "library")))).get("/docs").text
    assert 'href="/v1/post?id=my+post%2F1"' in html
    assert "gaussian-integral" not in html


def test_examples_include_heat_maps_if_the_library_has_them() -> None:
    parameter = {
        "name": "id", "required": True, "schema": {"type": "string"}, "description": "An id.",
    }  # fmt: skip
    answer = {"200": {"content": {"application/json": {"schema": {"type": "object"}}}}}
    paths = {"/v1/heatmap": {"get": {"parameters": [parameter], "responses": answer}}}
    document = {"info": {"title": "T", "version": "1"}, "paths": paths}
    for untried, example in (((), "/v1/heatmap?id=p"), (("/v1/heatmap",), "")):
        [(_, [operation])] = reference(document, "p", untried).groups
        assert operation.example == example
    [(_, [operation])] = reference(document).groups
    assert operation.example == ""


def test_the_reference_obeys_the_security_policy_of_all_pages(client: TestClient) -> None:
    answer = client.get("/docs")
    assert answer.headers["content-security-policy"] == PAGE_POLICY
    assert not re.search(r"<script(?![^>]* src=)", answer.text)
    assert not re.search(r"<style|\s(?:style|on\w+)=", answer.text)
    assert client.head("/docs").headers["content-length"] == answer.headers["content-length"]
    assert client.options("/docs").headers["allow"] == "GET, HEAD, OPTIONS"
