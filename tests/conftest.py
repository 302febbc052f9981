"""Settings and fixtures for all tests."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mathsetu.collections import sampler
from mathsetu.library import Library, build_library
from tests.command import Mathsetu
from tests.light import LIGHT

# Quick for people who wait; thorough for machines (make test-thorough).
# The time to make examples depends on the load of the machine, not on the property.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", patient, max_examples=10)
settings.register_profile("thorough", patient, max_examples=15)
settings.load_profile("quick")

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Public evaluation data next to the repository; without it, tests that need it are skipped."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the public evaluation data is not beside the repository")
    return folder


@pytest.fixture(scope="session")
def sampler_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A read-only library of the sampler, shared by all worker processes."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "sampler-library"
    if not folder.exists():
        built = tmp_path_factory.mktemp("sampler") / "library"
        build_library(built, sampler.posts(), LIGHT, collection="sampler", processes=1)
        with suppress(OSError):  # another process was faster
            built.rename(folder)
    return folder


@pytest.fixture(scope="session")
def sampler_library(sampler_folder: Path) -> Library:
    return Library(sampler_folder)


@pytest.fixture
def mathsetu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Mathsetu:
    """The command line, called in an empty folder and on a wide screen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return Mathsetu(capsys)
