"""The API: the same JSON as the command line, clear errors, safe answers."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from mathsetu.answers.values import to_json
from mathsetu.cli import main
from mathsetu.library import Filter, build_library
from mathsetu.markup import to_marked_text
from mathsetu.records import Post
from mathsetu.service.app import create_app
from mathsetu.service.engine import Engine
from mathsetu.service.limits import Limits
from mathsetu.service.settings import Settings
from tests.light import LIGHT

HINDI = r"समाकल $\int_0^\infty e^{-t^2}dt$ का मान"


@pytest.mark.thorough
def test_the_api_and_the_command_line_give_the_same_json(
    client: TestClient, sampler_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["search", str(sampler_folder), HINDI, "--k", "3", "--in", "en", "--json"])
    printed = json.loads(capsys.readouterr().out)
    asked = client.get("/v1/search", params={"q": HINDI, "k": 3, "in": "en"})
    sent = client.post("/v1/search", json={"query": HINDI, "k": 3, "in": "en"})
    assert asked.json() == sent.json() == printed
    assert printed["hits"][0]["id"] == "gaussian-integral.en"


@pytest.mark.thorough
def test_every_route_returns_the_value_of_the_engine(client: TestClient, engine: Engine) -> None:
    post_id = "gaussian-integral.hi"
    routes = {
        ("/v1/formulas", "latex=x%5E2&k=2"): engine.formulas("x^2", 2),
        ("/v1/explain", f"q=integral&id={post_id}"): engine.explain("integral", post_id),
        ("/v1/similar", f"id={post_id}&k=2"): engine.similar(post_id, 2),
        ("/v1/post", f"id={post_id}"): engine.post(post_id),
        ("/v1/translation", f"id={post_id}&to=en"): engine.translate_post(post_id, "en"),
        ("/v1/library", ""): engine.describe(),
    }
    for (path, query), answer in routes.items():
        response = client.get(f"{path}?{query}")
        assert response.status_code == 200, response.text
        assert response.json() == json.loads(json.dumps(to_json(answer))), path


@pytest.mark.thorough
def test_texts_are_rendered_and_translated(client: TestClient, engine: Engine) -> None:
    text = "Is $n^2$ a prime number?"
    rendered = client.post("/v1/render", json={"text": text, "trees": True}).json()
    assert rendered == json.loads(json.dumps(to_json(engine.render(text, trees=True))))
    [formula] = client.post("/v1/render", json={"latex": "x^2"}).json()["pieces"]
    assert formula["mathml"].startswith("<math")
    translated = client.post("/v1/translate", json={"text": text, "to": "es"}).json()
    assert translated["text"] == "Is $n^2$ a número primo?"


@pytest.mark.thorough
def test_a_literal_dollar_is_shown_without_its_backslash(tmp_path: Path) -> None:
    text = to_marked_text("<p>A ticket costs $5, a book $12. Also \\(x^2\\).</p>", "html")
    build_library(tmp_path / "l", [Post("p", text, "Prices in \\$")], LIGHT, processes=1)
    words = "A ticket costs $5, a book $12. Also "
    with TestClient(create_app(Settings(str(tmp_path / "l")))) as client:
        [hit] = client.get("/v1/search", params={"q": "ticket"}).json()["hits"]
        post = client.get("/v1/post", params={"id": "p"}).json()
        rendered = client.post("/v1/render", json={"text": text}).json()["pieces"]
        for shown in (hit["snippet"], post["body"], rendered):
            assert [piece["text"] for piece in shown] == [words, "x^2", "."]
        assert [piece["text"] for piece in post["title_pieces"]] == ["Prices in $"]
        # Positions refer to the source, in which dollar signs have backslashes.
        assert text[rendered[1]["start"] :].startswith("$x^2$")
        for path in ("/search?q=ticket", "/post?id=p"):
            page = client.get(path, headers={"accept": "text/html"}).text
            assert "costs $5, a book $12" in page
        exported = client.get("/export", params={"id": "p", "as": "markdown"}).text
        assert "costs \\$5, a book \\$12. Also $x^2$" in exported


def test_filters_and_weights_are_applied(client: TestClient) -> None:
    query = "q=integral&in=es&tag=calculus&tag=integration&weight=words:1&explain=false"
    hits = client.get(f"/v1/search?{query}").json()["hits"]
    assert hits
    assert {hit["language"] for hit in hits} == {"es"}
    assert all({"calculus", "integration"} <= set(hit["tags"]) for hit in hits)
    assert all(hit["reasons"] == hit["words"] == hit["formulas"] == [] for hit in hits)
    nothing = client.get("/v1/search?q=integral&collection=other").json()
    assert (nothing["hits"], nothing["total"], nothing["close"]) == ([], 0, False)


def test_a_language_is_given_by_its_code_or_its_name(client: TestClient) -> None:
    for code, *names in (("es", "Spanish", "español", "es-MX"), ("sw", "sw-KE")):
        asked = {"q": "integral", "language": code, "in": code, "not_in": "en"}
        answer = client.get("/v1/search", params=asked)
        assert answer.status_code == 200
        for name in names:
            named = {"q": "integral", "language": name, "in": name, "not_in": "English"}
            assert client.get("/v1/search", params=named).json() == answer.json()
            several = {"in": [name], "not_in": ["English"]}
            sent = client.post(
                "/v1/search", json={"query": "integral", "language": name, **several}
            )
            assert sent.json() == answer.json()
    text = {"text": "a prime number", "source": "English", "to": "Spanish"}
    assert client.post("/v1/translate", json=text).json()["target"] == "es"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "problem"),
    [
        ("GET", "/v1/search", None, 422, "q: Field required"),
        ("GET", "/v1/search?q=x&k=0", None, 422, "k: "),
        ("GET", "/v1/search?q=x&k=101", None, 422, "k: "),
        ("GET", "/v1/search?q=x&in=..", None, 422, "in.0: unknown language; give a code"),
        ("GET", "/v1/search?q=x&language=elvish", None, 422, "language: unknown language; give"),
        ("GET", "/v1/search?q=x&language=%20", None, 422, "language: unknown language; give"),
        ("GET", "/v1/translation?id=x&to=", None, 422, "to: unknown language; give"),
        ("GET", "/v1/search?q=" + "x" * 2_001, None, 422, "q: "),
        ("GET", "/v1/search?q=%20", None, 422, "q: is empty; give words or formulas"),
        ("GET", "/v1/search?q=x&weight=words", None, 422, "weight.0: give a part and a number"),
        ("GET", "/v1/search?q=x&weight=words:-1", None, 422, "a number from 0 to 1000, such as"),
        ("GET", "/v1/search?q=x&min_score=nan", None, 422, "min_score: Input should be a finite"),
        ("GET", "/v1/search?q=x&q=y", None, 422, "q: was given 2 times; give it once"),
        ("GET", "/v1/search?q=x&k=1&k=1&k=2", None, 422, "k: was given 3 times; give it once"),
        ("GET", "/v1/post?id=x&id=y", None, 422, "id: was given 2 times; give it once"),
        ("GET", "/v1/search?q=x&weight=words:1&weight=words:2", None, 422,
         "weight: words was given 2 times; give it once"),
        ("GET", "/v1/search?q=x&weight=vectors:1", None, 400, "'vectors' is not a part"),
        ("GET", "/v1/search?q=the+of", None, 400, "only stop words"),
        ("GET", "/v1/search?q=x" + "&tag=x" * 51, None, 422,
         "tag: 51 were given; at most 50 are allowed"),
        ("POST", "/v1/search", json.dumps({"query": "x", "in": ["en"] * 51}).encode(), 422,
         "in: 51 were given; at most 50 are allowed"),
        ("POST", "/v1/search", b'{"query": "x", "in": 5}', 422, "in: Input should be a valid "),
        ("GET", "/v1/post?id=../../etc/passwd", None, 404, "there is no post"),
        ("GET", "/v1/post?id=%00", None, 404, "there is no post"),
        ("GET", "/v1/nothing", None, 404, "Not Found"),
        ("DELETE", "/v1/post?id=x", None, 405, "Method Not Allowed"),
        ("POST", "/v1/search", b"{x}", 422,
         "the body is not JSON: Expecting property name enclosed in double quotes at character 2"),
        ("POST", "/v1/search", b'{"query":"\n"}', 422,
         "the body is not JSON: Invalid control character at character 11"),
        ("POST", "/v1/search", b'{"query": "\xff"}', 422, "the body is not UTF-8 (byte 12)"),
        ("POST", "/v1/search", b"[" * 60_000, 422, "the body is nested too deeply"),
        ("POST", "/v1/search", b"[]", 422, "with the header Content-Type: application/json"),
        ("POST", "/v1/search", b'{"query": "x", "query": "y"}', 422,
         "query: was given 2 times; give it once"),
        ("POST", "/v1/search", b'{"query": "x", "weights": {"words": 1, "words": 2}}', 422,
         "words: was given 2 times; give it once"),
        ("POST", "/v1/render", b'{"text": "x", "text": "y", "text": "x"}', 422,
         "text: was given 3 times; give it once"),
        ("POST", "/v1/search", b'{"query": "x", "limit": 3}', 422, "limit: unknown field (known: "),
        ("POST", "/v1/search", b'{"query": "x", "recipe": "y"}', 422, "recipe: "),
        ("POST", "/v1/search", b'{"query": "\\ud800"}', 422, "query: "),
        ("POST", "/v1/search", b'{"query": "x", "in": ["elvish"]}', 422, "in.0: unknown language"),
        ("POST", "/v1/search", b'{"query": "x", "in": "elvish"}', 422, "in: unknown language"),
        ("POST", "/v1/search", b'{"query": "x", "in": 5}', 422, "in: Input should be a"),
        ("POST", "/v1/search", b'{"query": "x", "weights": {"words": NaN}}', 422, ""),
        ("POST", "/v1/search", b"\xff\xfe", 422, ""),
        ("POST", "/v1/render", b"{}", 422, "the body: give either text or latex"),
        ("POST", "/v1/render", b'{"text": "x", "latex": "x"}', 422, "give either text or latex"),
        ("POST", "/v1/translate", b'{"text": "$x$", "to": "hi"}', 400,
         "source: the language of the text could not be detected"),
        ("POST", "/v1/translate", b'{"text": " ", "to": "hi"}', 400, "text: is empty; give"),
        ("POST", "/v1/translate", b'{"text": "x", "to": "/"}', 422, "to: "),
        ("POST", "/v1/render", b'{"text": "' + b"x" * 70_000 + b'"}', 413, "too large"),
    ],
)  # fmt: skip
def test_a_mistake_is_answered_with_one_line(
    client: TestClient, method: str, path: str, body: bytes | None, status: int, problem: str
) -> None:
    headers = {"content-type": "application/json"}
    response = client.request(method, path, content=body, headers=headers)
    assert response.status_code == status, response.text
    [(key, line)] = response.json().items()
    assert key == "error"
    assert problem in line
    assert "\n" not in line


@pytest.mark.thorough
def test_a_body_without_content_length_is_limited_too(client: TestClient) -> None:
    def endless() -> object:
        for _ in range(100):
            yield b'{"text": "' + b"x" * 10_000

    response = client.post("/v1/render", content=endless())  # type: ignore[arg-type]
    assert response.status_code == 413


def test_without_a_write_key_the_api_has_no_routes_for_writing(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    methods = {(path, method) for path, methods in paths.items() for method in methods}
    assert {method for _, method in methods} == {"get", "post"}
    asking = {"/v1/search", "/v1/render", "/v1/translate"}
    assert {path for path, method in methods if method == "post"} == asking


def test_the_openapi_file_shows_examples_and_limits(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    by_name = {p["name"]: p for p in schema["paths"]["/v1/search"]["get"]["parameters"]}
    assert by_name["q"]["examples"]["formula"]["value"] == "$a^2+b^2=c^2$"
    assert by_name["q"]["schema"]["maxLength"] == Limits().query
    assert schema["components"]["schemas"]["SearchRequest"]["examples"]
    assert "FoundPost" in schema["components"]["schemas"]


def test_every_answer_has_security_headers(client: TestClient) -> None:
    for path in ("/v1/health", "/v1/search?q=x", "/v1/search", "/nothing", "/v1/metrics"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


@pytest.mark.thorough
def test_untrusted_text_is_returned_only_as_json(client: TestClient) -> None:
    attack = "<script>alert(1)</script>"
    for response in (
        client.get("/v1/search", params={"q": f"${attack}$ {attack}"}),
        client.get("/v1/post", params={"id": attack}),
        client.post("/v1/render", json={"text": f"$\\text{{{attack}}}$", "trees": True}),
    ):
        assert response.headers["content-type"] == "application/json"
        for mathml in _strings(response.json()):
            if mathml.startswith(("<math", "<svg")):
                assert "<script" not in mathml


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []


@pytest.fixture
def guarded(sampler_folder: Path) -> TestClient:
    settings = Settings(str(sampler_folder), key="open sesame", origins=("https://good.example",))
    return TestClient(create_app(settings))


@pytest.mark.thorough
def test_a_server_with_a_key_refuses_requests_without_it(guarded: TestClient) -> None:
    assert guarded.get("/v1/health").status_code == 200
    required, unknown = "an API key is required: Authorization: ", "this API key is unknown"
    for wrong, why in (
        ({}, required),
        ({"authorization": "open"}, required),
        ({"authorization": "Bearer open"}, unknown),
        ({"authorization": "Basic %%"}, unknown),
    ):
        response = guarded.get("/v1/library", headers=wrong)
        assert response.status_code == 401
        assert response.json()["error"].startswith(why)
        assert response.headers["www-authenticate"].startswith("Basic")
        assert "open sesame" not in response.text
    password = b64encode(b"anyone:open sesame").decode()
    for right in ("Bearer open sesame", f"Basic {password}"):
        response = guarded.get("/v1/library", headers={"authorization": right})
        assert response.status_code == 200


@pytest.mark.thorough
def test_only_allowed_origins_can_read_answers(guarded: TestClient) -> None:
    key = {"authorization": "Bearer open sesame"}
    good = guarded.get("/v1/library", headers={**key, "origin": "https://good.example"})
    assert good.headers["access-control-allow-origin"] == "https://good.example"
    bad = guarded.get("/v1/library", headers={**key, "origin": "https://bad.example"})
    assert "access-control-allow-origin" not in bad.headers
    too_long = guarded.get("/v1/library", headers={"x-long": "x" * 20_000})
    assert too_long.status_code == 431
    pages = guarded.get("/search?q=x", headers=key)
    assert pages.headers.get_list("vary") == ["Accept-Language, Origin"]
    for answer in (good, bad, too_long):
        assert answer.headers.get_list("vary") == ["Origin"]


@pytest.mark.thorough
def test_a_refused_preflight_is_json_like_every_error(guarded: TestClient) -> None:
    for asked, wrong in (
        ({"origin": "https://good.example", "access-control-request-method": "DELETE"}, "method"),
        ({"origin": "https://bad.example", "access-control-request-method": "GET"}, "origin"),
    ):
        for accept in ("*/*", "text/html"):
            refused = guarded.options("/v1/library", headers={**asked, "accept": accept})
            assert refused.status_code == 400
            assert refused.json() == {"error": f"Disallowed CORS {wrong}"}
            assert refused.headers["vary"].startswith("Origin, ")
            allowed = refused.headers.get("access-control-allow-origin")
            assert allowed == (asked["origin"] if wrong == "method" else None)


@pytest.mark.thorough
def test_a_wrong_host_name_is_refused(sampler_folder: Path) -> None:
    client = TestClient(create_app(Settings(str(sampler_folder), hosts=("localhost",))))
    assert client.get("http://localhost/v1/health").status_code == 200
    refused = client.get("http://rebound.example/v1/library")
    assert refused.status_code == 400
    assert refused.json()["error"].endswith("can add one (mathsetu serve --name)")
    assert "localhost" not in refused.text


def test_a_filter_by_a_language_the_library_lacks_names_its_languages(
    client: TestClient, engine: Engine
) -> None:
    asked = client.get("/v1/search?q=primes&in=sw").json()
    assert asked["hits"] == []
    assert asked["query"]["note"] == "the library has posts in: cs, en, es, fa, hi, hr"
    assert client.post("/v1/search", json={"query": "primes", "in": "sw"}).json() == asked
    both = engine.search("alkuluku", language="fi", where=Filter("sw")).query.note
    assert both.startswith("Finnish is not supported: ")
    assert both.endswith("; the library has posts in: cs, en, es, fa, hi, hr")
    # Two letters that are not a language are an error.
    assert client.get("/v1/search?q=primes&in=xx").status_code == 422
    assert client.get("/v1/search?q=primes&in=sw&in=en").json()["query"]["note"] == ""


@pytest.mark.thorough
def test_the_log_has_the_method_of_requests_without_a_route(
    sampler_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "mathsetu")
    client = TestClient(create_app(Settings(str(sampler_folder))))
    client.get("/nothing-of-ours")
    assert "GET other 404" in caplog.text
    client.get("/openapi.json")
    assert "GET /openapi.json 200" in caplog.text


@pytest.mark.thorough
def test_counters_of_events_that_never_happened_are_zero(sampler_folder: Path) -> None:
    said = TestClient(create_app(Settings(str(sampler_folder)))).get("/v1/metrics").text
    for name in ("refused", "unfinished", "reloaded", "reload_failures"):
        assert f"\nmathsetu_{name}_total 0\n" in said


@pytest.mark.thorough
def test_the_log_has_queries_only_if_the_setting_allows_it_and_never_keys(
    sampler_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "mathsetu")
    for is_told in (False, True):
        caplog.clear()
        client = TestClient(create_app(Settings(str(sampler_folder), log_queries=is_told)))
        client.get("/v1/search?q=secretquery", headers={"authorization": "Bearer secretkey"})
        for name in ("key", "api_key", "API-Key", "token", "access_token", "password"):
            client.get(f"/v1/search?q=x&{name}=secretkey&k=5")
        client.post("/v1/search", json={"query": "\nsecretquestion ∫", "k": 1})
        client.get("/secretpath/%0aforged")
        assert "/v1/search" in caplog.text
        assert ("secretquery" in caplog.text) is is_told
        assert "POST /v1/search 200" in caplog.text
        assert ('"q=%0Asecretquestion+%E2%88%AB"' in caplog.text) is is_told
        assert "secretkey" not in caplog.text
        assert "forged" not in caplog.text


@pytest.mark.thorough
def test_an_internal_error_is_one_line_without_details(
    sampler_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(Settings(str(sampler_folder)))

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("internal detail")

    monkeypatch.setattr(app.state.engine, "post", broken)
    client = TestClient(app, raise_server_exceptions=False)
    response = client.get("/v1/post?id=x")
    assert response.status_code == 500
    assert "internal" not in response.text
    assert list(response.json()) == ["error"]


def test_an_error_is_one_line_even_if_names_of_fields_have_control_characters(
    client: TestClient,
) -> None:
    response = client.post("/v1/render", json={"latex": "{", "a\nb\x1b": True})
    assert response.status_code == 422
    assert "\n" not in response.json()["error"]
    assert "\x1b" not in response.json()["error"]


@pytest.mark.parametrize("way", ["get", "post"])
def test_the_options_own_language_and_group_can_be_set(client: TestClient, way: str) -> None:
    def search(**more: object) -> Response:
        if way == "get":
            return client.get("/v1/search", params={"q": "infinitely many primes", "k": 3, **more})
        return client.post("/v1/search", json={"query": "infinitely many primes", "k": 3, **more})

    assert search(own_language="off").json()["hits"][0]["language"] != "en"
    grouped = search(own_language="normal", group=True).json()
    assert grouped["close"] is True
    first = grouped["hits"][0]
    assert first["language"] == "en"
    assert {version["language"] for version in first["versions"]} >= {"hr", "cs"}
    assert search(own_language="much").status_code == 422


def test_offset_total_facets_and_threshold_are_the_same_in_all_interfaces(
    client: TestClient, sampler_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = "--in en --in es --not-tag geometry --any-tag calculus --any-tag number-theory"
    command = ["search", str(sampler_folder), "number", "--k", "3", "--offset", "4", "--facets"]
    with pytest.raises(SystemExit):
        main([*command, "--min-score", "0.01", *options.split(), "--json"])
    printed = json.loads(capsys.readouterr().out)
    query = "in=en&in=es&not_tag=geometry&any_tag=calculus&any_tag=number-theory"
    got = client.get(f"/v1/search?q=number&k=3&offset=4&facets=true&min_score=0.01&{query}")
    body = {
        "query": "number", "k": 3, "offset": 4, "facets": True, "min_score": 0.01,
        "in": ["en", "es"], "not_tags": ["geometry"], "any_tags": ["calculus", "number-theory"],
    }  # fmt: skip
    assert got.json() == client.post("/v1/search", json=body).json() == printed
    assert [hit["rank"] for hit in printed["hits"]] == [5, 6, 7]
    assert printed["offset"] == 4
    assert set(printed["facets"]["language"]) == {"en", "es"}
    assert sum(printed["facets"]["language"].values()) == printed["total"]
    assert "geometry" not in printed["facets"]["tag"]
    for wrong in ("offset=-1", "offset=1001", "min_score=nan", "not_in=elvish"):
        assert client.get(f"/v1/search?q=number&{wrong}").status_code == 422
