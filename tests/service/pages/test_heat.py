"""The page of a post has a heat map only if the recipe has a graph index."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.library import build_library
from mathsetu.recipes import load_recipe
from mathsetu.records import Post
from mathsetu.service.app import create_app
from mathsetu.service.pages.files import files
from mathsetu.service.pages.heat import SHADES
from mathsetu.service.settings import Settings
from tests.encoders.tiny_graph import make_graph_model

TEXTS = [r"Roots of $x^2-2$ are irrational.", "Every even number is a sum."]


@pytest.fixture(scope="module")
def graph_client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder: Path = tmp_path_factory.mktemp("heat")
    model = make_graph_model(folder / "model", TEXTS)
    recipe = load_recipe("mathamr-plus", [f"parts.graph.model='{model}'"])
    posts = [Post(id=str(n), body=text, language="en") for n, text in enumerate(TEXTS)]
    build_library(folder / "library", posts, recipe, processes=1)
    return TestClient(create_app(Settings(str(folder / "library"))))


@pytest.mark.thorough
def test_the_heat_map_shows_which_parts_of_the_post_match_the_query(
    graph_client: TestClient,
) -> None:
    asked = {"id": "0", "q": TEXTS[0], "lang": "en", "ui": "en"}
    html = graph_client.get("/post", params=asked).text
    table = html[html.index('class="heat"') : html.index("</table>", html.index('class="heat"'))]
    assert "Sentence 1" in table
    assert table.count("<math") >= 2
    best = re.findall(r'class="shade-(\d+) best">([\d.]+)<', table)
    assert {cosine for _, cosine in best} == {"1.00"}
    assert {shade for shade, _ in best} == {str(SHADES)}


QUESTIONS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["$", "$$", "$x$", r"$\frac$", "....", "is it? $x^2$", "\u200b", "्", "x" * 1_990]
    ),
)


@pytest.mark.thorough
@given(
    q=QUESTIONS, post_id=st.sampled_from(["0", "1", "none"]), language=st.sampled_from(["", "hi"])
)
def test_no_query_breaks_the_heat_map(
    graph_client: TestClient, q: str, post_id: str, language: str
) -> None:
    asked = {"id": post_id, "q": q, "language": language}
    answer = graph_client.get("/v1/heatmap", params=asked)
    assert answer.status_code in (200, 400, 404, 422), answer.text
    if answer.status_code == 200:
        fits = answer.json()
        assert len(fits["cosines"]) == len(fits["rows"]) > 0
        assert all(len(row) == len(fits["columns"]) for row in fits["cosines"])
    page = graph_client.get("/post", params={"id": post_id, "q": q, "lang": language})
    assert page.status_code < 500


def test_every_shade_has_a_colour() -> None:
    rules = files()["hits.css"].content.decode()
    assert all(f".shade-{shade} {{" in rules for shade in range(SHADES + 1))


@pytest.mark.thorough
def test_without_a_graph_index_there_is_no_heat_map(client: TestClient) -> None:
    html = client.get("/post", params={"id": "dirichlet-integral.en", "q": "integral"}).text
    assert 'class="post-why"' in html
    assert 'class="heat"' not in html
