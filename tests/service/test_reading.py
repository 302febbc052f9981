"""All interfaces read a typed query in the same way and show the reading."""

from pathlib import Path

import anyio
import pytest
from fastapi.testclient import TestClient

from mathsetu.service.engine import Engine

TYPED = "why is sqrt(2) irrational"


@pytest.mark.thorough
def test_the_api_returns_the_reading_of_a_query_and_can_turn_it_off(client: TestClient) -> None:
    read = client.get("/v1/search", params={"q": TYPED}).json()["query"]
    assert read["formulas"] == ["\\sqrt{2}"]
    assert read["words"].split() == ["why", "is", "irrational"]
    assert read["languages"] == ["en"]
    assert [piece["text"] for piece in read["pieces"] if piece["found"]] == ["sqrt(2)"]
    assert "".join(piece["text"] for piece in read["pieces"]) == TYPED
    off = client.get("/v1/search", params={"q": TYPED, "as_words": "true"}).json()["query"]
    sent = client.post("/v1/search", json={"query": TYPED, "as_words": True}).json()["query"]
    assert off == sent
    assert off["formulas"] == []


def test_a_typed_formula_has_the_same_hits_as_a_delimited_one(engine: Engine) -> None:
    typed = engine.search("√2 is irrational", 5)
    marked = engine.search(r"$\sqrt{2}$ is irrational", 5)
    assert [hit.id for hit in typed.hits] == [hit.id for hit in marked.hits]
    assert typed.hits[0].id.startswith("sqrt2-irrational")


def test_a_word_of_several_languages_is_read_in_the_language_of_the_page_first(
    engine: Engine,
) -> None:
    assert engine.question("vektor", page="hr").languages == ("hr", "cs")
    assert engine.question("vektor", page="cs").languages == ("cs", "hr")
    assert engine.question("vektor", "es", page="cs").languages == ("es",)


def test_the_page_shows_the_reading_and_a_switch_for_it(client: TestClient) -> None:
    shown = client.get("/preview", params={"q": TYPED, "ui": "en"}).text
    assert "<msqrt" in shown
    assert 'name="words"' in shown
    assert "checked" not in shown
    off = client.get("/preview", params={"q": TYPED, "ui": "en", "words": "1"}).text
    assert "<msqrt" not in off
    assert "checked" in off
    assert 'name="words"' not in client.get("/preview", params={"q": "prime numbers"}).text
    assert 'name="words"' not in client.get("/preview", params={"q": "is $x^2$ even"}).text


@pytest.mark.thorough
def test_the_page_of_hits_keeps_the_option_to_search_as_words(client: TestClient) -> None:
    found = client.get("/search", params={"q": TYPED, "words": "1"}).text
    assert "words=1" in found
    assert 'name="words"' in found


def test_the_page_names_the_language_of_a_query_that_has_a_lower_grade(client: TestClient) -> None:
    shown = client.get("/preview", params={"q": "Wie löst man eine Gleichung", "ui": "es"}).text
    assert "Deutsch" in shown
    assert "hablante nativo" in shown
    assert "español" in shown


@pytest.mark.parametrize("ui", ["en", "hi", "es", "cs", "hr", "fa", "ne"])
def test_the_preview_names_the_language_of_a_query_in_every_interface_language(
    client: TestClient, ui: str
) -> None:
    shown = client.get("/preview", params={"q": "eine Gleichung für x^2 = 4", "ui": ui})
    assert shown.status_code == 200
    # Interfaces other than English show the name that the language gives itself.
    assert ("German" if ui == "en" else "Deutsch") in shown.text


@pytest.mark.thorough
def test_mcp_tools_return_the_reading_of_a_query(sampler_folder: Path) -> None:
    tools = pytest.importorskip("mathsetu.service.tools")
    server = tools.tool_server(Engine(sampler_folder))

    async def ask(**arguments: object) -> dict[str, object]:
        result = await server.call_tool("search", {"query": TYPED, "k": 1, **arguments})
        return dict(result.structured_content)

    read = anyio.run(lambda: ask())
    assert read["formulas"] == ["\\sqrt{2}"]
    assert read["languages"] == ["en"]
    assert anyio.run(lambda: ask(as_words=True))["formulas"] == []


@pytest.mark.thorough
def test_formulas_stay_unchanged_when_romanised_hindi_is_converted(client: TestClient) -> None:
    found = client.get("/search", params={"q": "sin x ka samakalan", "deva": "1"})
    assert "sin x का समाकलन" in found.text
