"""The reference of the API for people says what the OpenAPI file says."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mathsetu.service.app import create_app
from mathsetu.service.security import PAGE_POLICY
from mathsetu.service.settings import Settings


@pytest.fixture(scope="module")
def writer(sampler_folder: Path) -> TestClient:
    return TestClient(create_app(Settings(str(sampler_folder), write_key="secret")))


@pytest.mark.thorough
def test_every_path_parameter_and_field_is_told(writer: TestClient) -> None:
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


def test_a_server_that_takes_no_posts_does_not_tell_how(client: TestClient) -> None:
    assert "/v1/posts" not in client.get("/docs").text


@pytest.mark.thorough
def test_every_link_of_the_reference_leads_somewhere(client: TestClient) -> None:
    html = client.get("/docs").text
    names = set(re.findall(r'id="([^"]+)"', html))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= names
    tried = [unescape(address) for address in re.findall(r'Try it: <a href="([^"]+)"', html)]
    assert len(tried) >= 7
    for address in tried:
        # The sampler has no graph index for a heat map.
        assert client.get(address).status_code == (400 if "heatmap" in address else 200)


def test_the_reference_obeys_the_policy_of_all_pages(client: TestClient) -> None:
    answer = client.get("/docs")
    assert answer.headers["content-security-policy"] == PAGE_POLICY
    assert not re.search(r"<script(?![^>]* src=)", answer.text)
    assert not re.search(r"<style|\s(?:style|on\w+)=", answer.text)
    assert client.head("/docs").headers["content-length"] == answer.headers["content-length"]
    assert client.options("/docs").headers["allow"] == "GET, HEAD, OPTIONS"
