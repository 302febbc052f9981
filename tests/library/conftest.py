"""Libraries and posts that the tests of this folder share."""

import shutil
from pathlib import Path

import pytest

from mathsetu.library import build_library
from mathsetu.records import Post

TOPICS = {
    "primes": "There are infinitely many prime numbers, since $p_1 p_2 + 1$ has a prime factor.",
    "circle": "The area of a circle of radius $r$ is $\\pi r^2$.",
    "series": "The geometric series $\\sum_{k=0}^n q^k$ has a closed form.",
    "matrix": "A matrix $A$ is invertible when $\\det A \\ne 0$.",
}


@pytest.fixture(scope="session")
def small_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries") / "small"
    build_library(folder, small_collection(), collection="first", processes=1)
    return folder


def small_collection() -> list[Post]:
    return [
        Post(id=name, title=name.capitalize(), body=body, tags=(name, "all"), language="en")
        for name, body in TOPICS.items()
    ]


@pytest.fixture
def posts() -> list[Post]:
    return small_collection()


@pytest.fixture
def library(tmp_path: Path, small_library: Path) -> Path:
    """A copy of the small library, which a test may change or damage."""
    return Path(shutil.copytree(small_library, tmp_path / "library"))
