"""One open library that many threads use while its folder is rebuilt."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.errors import UnknownPost
from mathsetu.library import Filter, Library, build_library
from mathsetu.records import Hit, Post
from tests.light import LIGHT

QUERIES = [query.text for query in sampler.queries()][:25]


def test_an_open_library_answers_as_before_when_its_folder_is_rebuilt(
    library: Path, posts: list[Post]
) -> None:
    with Library(library) as opened:
        build_library(library, posts[:1], LIGHT, processes=1)
        assert opened.search("circle", where=Filter("en"))[0].id == "circle"
        assert opened.search("matrix", where=Filter(tags=("matrix",)))[0].id == "matrix"
        assert opened.tags(2) == {"all": 4, "circle": 1}
        assert opened.post("series").id == "series"
        with pytest.raises(UnknownPost):
            opened.post("nobody")
        assert opened.formulas(r"\pi r^2", 1)[0].latex == r"\pi r^2"


@pytest.mark.parametrize(
    ("threads", "rounds"),
    [(4, 1), pytest.param(16, 80, marks=pytest.mark.exhaustive)],
)
@pytest.mark.thorough
def test_many_threads_get_the_same_answers_while_the_folder_is_rebuilt(
    tmp_path: Path, threads: int, rounds: int
) -> None:
    posts = [post for post in sampler.posts() if post.language in ("en", "hi")]
    build_library(tmp_path, posts, LIGHT, processes=1)

    def ask(query: str) -> tuple[Hit, ...]:
        return opened.search(query, 5, where=Filter("en"))

    with Library(tmp_path) as opened:
        expected = [ask(query) for query in QUERIES]
    with Library(tmp_path) as opened, ThreadPoolExecutor(threads) as pool:
        asked = [pool.submit(ask, query) for _ in range(rounds) for query in QUERIES]
        for _ in range(2 if rounds == 1 else 10):
            build_library(tmp_path, posts[:5], LIGHT, processes=1)
        answers = [answer.result() for answer in asked]
    assert answers == expected * rounds
