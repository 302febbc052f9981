"""Hits by offset over HTTP, up to the largest offset: one stable list without duplicates."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from mathsetu.library import build_library
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Post
from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings
from tests.light import LIGHT_TOML

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder = tmp_path_factory.mktemp("offsets") / "library"
    posts = (
        Post(
            f"p{number}",
            f"A prime number{' and a sum' * (number % 5)}, $x^{{{number % 9}}}$.",
            language=("en", "es", "hi")[number % 3],
            thread_id=f"t{number // 3}",
        )
        for number in range(1_400)
    )
    recipe = parse_recipe(f"{LIGHT_TOML}candidates = 1400", "tests")
    build_library(folder, posts, recipe, processes=1)
    return TestClient(create_app(Settings(str(folder))))


@pytest.mark.parametrize("grouped", [False, True])
def test_pages_of_hits_up_to_offset_1000_are_parts_of_one_list(
    many: TestClient, grouped: bool
) -> None:
    def cut(offset: int, k: int) -> list[str]:
        said = {"q": "prime $x^2$", "k": k, "offset": offset, "group": grouped, "explain": False}
        answer = many.get("/v1/search", params=said).json()
        assert answer["unfinished"] == []
        assert [hit["rank"] for hit in answer["hits"]] == [
            *range(offset + 1, offset + 1 + len(answer["hits"]))
        ]
        return [hit["id"] for hit in answer["hits"]]

    whole = [post_id for offset in range(0, 1_001, 100) for post_id in cut(offset, 100)]
    assert len(whole) == len(set(whole))
    assert len(whole) >= (300 if grouped else 1_000)
    for offset, k in ((0, 10), (10, 10), (37, 23), (990, 10), (1_000, 100)):
        assert cut(offset, k) == whole[offset : offset + k]
