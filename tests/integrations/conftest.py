"""The library over the sampler that the tests of this folder share."""

import pytest

from mathsetu.collections import sampler
from mathsetu.library import Library, build_library
from tests.light import LIGHT


@pytest.fixture(scope="session")
def sampler_library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("integrations") / "sampler"
    build_library(folder, sampler.posts(), LIGHT, collection="sampler", processes=1)
    return Library(folder)
