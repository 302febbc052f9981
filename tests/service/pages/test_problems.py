"""Errors: a browser gets a page in its language, a program gets one line of JSON."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException

from mathsetu.languages.table import LANGUAGES
from mathsetu.service.app import create_app
from mathsetu.service.pages.interface_language import interface
from mathsetu.service.security import PAGE_POLICY
from mathsetu.service.settings import Settings

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
LARGE = {"content-length": "99999999"}
# Statuses that a request can cause, and their names in the texts of the page.
ASKED = {
    404: ("/nothing", {}, "missing"),
    413: ("/search?q=x", LARGE, "large"),
    422: ("/v1/search?k=many", {}, "wrong"),
    400: ("/v1/search?q=the+of", {}, "wrong"),
}


@pytest.fixture
def broken(sampler_folder: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A server whose searches fail."""
    app = create_app(Settings(str(sampler_folder)))

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("internal detail")

    monkeypatch.setattr(app.state.engine, "search", fail)
    return TestClient(app)


@pytest.fixture
def full(sampler_folder: Path) -> TestClient:
    """A server that is always busy."""
    return TestClient(create_app(Settings(str(sampler_folder), running=0, waiting=0)))


@pytest.mark.thorough
@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("status", ASKED)
def test_a_browser_gets_an_error_page_in_its_language(
    client: TestClient, status: int, code: str
) -> None:
    path, headers, name = ASKED[status]
    answer = client.get(path, headers=BROWSER | headers | {"accept-language": code})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == PAGE_POLICY
    assert f'<html lang="{code}"' in answer.text
    assert interface(code).say(f"problem.{name}_title") in answer.text
    assert 'id="box"' in answer.text


@pytest.mark.parametrize("status", ASKED)
@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html;q=0.9"])
def test_a_program_gets_one_line_of_json(client: TestClient, status: int, accept: str) -> None:
    path, headers, _ = ASKED[status]
    answer = client.get(path, headers=headers | {"accept": accept})
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]


@pytest.mark.thorough
def test_an_internal_error_is_shown_without_details_and_with_security_headers(
    broken: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    for headers in (BROWSER, {}):
        answer = broken.get("/search?q=primes&ui=es", headers=headers)
        assert answer.status_code == 500
        assert "internal" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "internal detail" in caplog.text
    page = broken.get("/search?q=primes&ui=es", headers=BROWSER).text
    assert interface("es").say("problem.broken") in page
    # A link tries the same address again; changing the language keeps the query.
    assert 'href=""' in page
    assert "/search?q=primes&amp;ui=hi" in page


@pytest.mark.thorough
def test_a_busy_server_says_when_to_retry(full: TestClient) -> None:
    answer = full.get("/search?q=primes&ui=cs", headers=BROWSER)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "1"
    assert interface("cs").say("problem.busy") in answer.text
    assert 'href=""' in answer.text


@pytest.mark.thorough
def test_a_busy_server_still_serves_the_style_sheet(full: TestClient) -> None:
    assert full.get("/static/any/page.css").status_code == 200


@pytest.mark.thorough
def test_status_503_is_shown_as_busy(sampler_folder: Path) -> None:
    app = create_app(Settings(str(sampler_folder)))

    @app.get("/out-of-order")
    def out_of_order() -> None:
        raise HTTPException(503)

    page = TestClient(app).get("/out-of-order?ui=hr", headers=BROWSER)
    assert page.status_code == 503
    assert interface("hr").say("problem.busy") in page.text


@pytest.mark.thorough
def test_without_the_key_the_page_shows_nothing_about_the_library(sampler_folder: Path) -> None:
    client = TestClient(create_app(Settings(str(sampler_folder), key="open sesame")))
    page = client.get("/search?q=primes&ui=en", headers=BROWSER)
    assert page.status_code == 401
    assert page.headers["www-authenticate"].startswith("Basic")
    assert interface("en").say("problem.key_title") in page.text
    assert "posts to search" not in page.text
    assert client.get("/static/any/page.css").status_code == 200
    assert client.get("/nothing", headers=BROWSER).status_code == 401


def test_an_unknown_post_is_named(client: TestClient) -> None:
    page = client.get("/v1/post?id=no-such-post", headers=BROWSER)
    assert page.status_code == 404
    assert "no-such-post" in page.text


ATTACK = "\"'><script>alert(1)</script>"


@pytest.mark.parametrize("path", ["/post", "/v1/post", "/v1/search", "/nothing", f"/{ATTACK}"])
def test_parts_of_the_url_are_escaped_on_the_error_page(client: TestClient, path: str) -> None:
    said = {"id": ATTACK, "k": ATTACK, "q": ATTACK, "ui": ATTACK, "lang": ATTACK, "in": ATTACK}
    page = client.get(path, params=said, headers=BROWSER)
    assert page.status_code >= 400
    assert "<script>alert" not in page.text


def test_links_of_an_error_page_never_lead_to_another_host(client: TestClient) -> None:
    page = client.get("http://testserver//evil.example/x?q=a", headers=BROWSER)
    assert page.status_code == 404
    assert "evil.example" not in page.text


def test_a_wrong_method_gets_an_error_page(client: TestClient) -> None:
    page = client.post("/search?ui=en", headers=BROWSER)
    assert page.status_code == 405
    assert interface("en").say("problem.wrong_title") in page.text
    assert page.headers["allow"] == "GET, HEAD, OPTIONS"
