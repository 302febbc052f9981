"""A server with the sampler, shared by the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathsetu.service.engine import Engine

pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings


@pytest.fixture(scope="session")
def engine(sampler_folder: Path) -> Engine:
    return Engine(sampler_folder)


@pytest.fixture(scope="session")
def client(sampler_folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(str(sampler_folder)))) as client:
        yield client
