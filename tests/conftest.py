"""What every test may ask for."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.command import Mathsetu

# Quick for the person who waits; thorough where a machine does: make test-thorough.
# How fast examples are made says something of a busy machine, and nothing of the property.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", patient, max_examples=10)
settings.register_profile("thorough", patient, max_examples=15)
settings.load_profile("quick")

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Public evaluation data laid beside the repository; tests that need it skip without."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the public evaluation data is not beside the repository")
    return folder


@pytest.fixture
def mathsetu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Mathsetu:
    """The command line, called in an empty folder and on a wide screen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return Mathsetu(capsys)
