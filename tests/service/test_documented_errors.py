"""The errors, the search answer and the style in docs/api.md match the server."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mathsetu.collections import sampler
from mathsetu.formulas.mathml import HIGHLIGHT_STYLE
from mathsetu.library import Library, build_library
from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings

API = Path(__file__).parents[2] / "docs" / "api.md"
ROW = re.compile(r"^\| `(GET|POST|DELETE) (\S+)`(.*?) \| (\d{3}) \| `(.+)` \|$", re.MULTILINE)
DOCUMENTED = ROW.findall(API.read_text(encoding="utf-8"))
KEY = {"authorization": "Bearer open sesame"}


@pytest.fixture(scope="module")
def server(sampler_folder: Path) -> TestClient:
    return TestClient(create_app(Settings(str(sampler_folder), key="open sesame")))


def test_errors_of_all_kinds_are_documented() -> None:
    assert {status for _, _, _, status, _ in DOCUMENTED} >= {
        *("400", "401", "404", "405", "413", "422", "429", "431")
    }


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "path", "how", "status", "error"), DOCUMENTED)
def test_the_server_returns_each_documented_error(
    server: TestClient,
    sampler_folder: Path,
    method: str,
    path: str,
    how: str,
    status: str,
    error: str,
) -> None:
    headers, body = dict(KEY), b""
    match how.strip():
        case "":
            pass
        case "without the key":
            headers = {}
        case "with a wrong key":
            headers = {"authorization": "Bearer guess"}
        case "with 70,000 bytes":
            body = b"x" * 70_000
        case sent if sent.startswith("with `{"):
            body = sent.removeprefix("with `").removesuffix("`").encode()
            headers["content-type"] = "application/json"
        case "with 20,000 bytes of headers":
            headers["x-more"] = "x" * 20_000
        case "when too many wait":
            full = Settings(str(sampler_folder), key="open sesame", running=0, waiting=0)
            server = TestClient(create_app(full))
        case other:
            pytest.fail(f"this test does not know what {other!r} means")
    response = server.request(method, path, headers=headers, content=body or None)
    assert (response.status_code, response.json()) == (int(status), {"error": error})


def documented_answer() -> dict[str, Any]:
    _, _, section = API.read_text(encoding="utf-8").partition("## Search answer")
    shown: dict[str, Any] = json.loads(section.partition("```json")[2].partition("```")[0])
    return shown


def test_the_documented_answer_matches_the_answer_of_the_server(client: TestClient) -> None:
    shown = documented_answer()
    real = client.get("/v1/search", params={"q": shown["query"]["text"], "k": 1}).json()
    assert shown["query"] == real["query"]
    # The library of the tests has another recipe, so its hits differ.
    differing = {"query", "hits", "total"}
    assert {**shown, **dict.fromkeys(differing)} == {**real, **dict.fromkeys(differing)}
    assert [hit["rank"] for hit in shown["hits"]] == [hit["rank"] for hit in real["hits"]]


@pytest.mark.thorough
def test_the_documented_answer_has_the_hits_of_the_default_recipe(tmp_path: Path) -> None:
    shown = documented_answer()
    build_library(tmp_path / "library", sampler.posts(), "default", collection="sampler")
    with Library(tmp_path / "library") as library:
        real = library.answer(shown["query"]["text"], 1)
    assert [hit["id"] for hit in shown["hits"]] == [hit.id for hit in real.hits]
    assert (shown["total"], shown["total_is_exact"]) == (real.total, real.is_total_exact)


def test_the_documented_style_of_matched_symbols_is_the_style_in_use() -> None:
    shown = re.findall(r"```css\n(.*?)```", API.read_text(encoding="utf-8"), re.DOTALL)
    rules = [re.sub(r" ?([{}>:]) ?", r"\1", rule) for rule in shown[0].splitlines()]
    assert len(rules) == 2
    assert all(rule in HIGHLIGHT_STYLE for rule in rules)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/library?x=1"), ("POST", "/v1/render?text=x"), ("GET", "/v1/formulas?q=x")],
)
def test_every_route_refuses_unknown_parameters(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path, json={"text": "x"} if method == "POST" else None)
    assert response.status_code == 422
    assert "unknown parameter" in response.json()["error"]


@pytest.mark.parametrize("path", ["/v1/health", "/v1/metrics", "/openapi.json"])
def test_routes_for_monitoring_tools_accept_unknown_parameters(
    client: TestClient, path: str
) -> None:
    assert client.get(f"{path}?target=1").status_code == 200
