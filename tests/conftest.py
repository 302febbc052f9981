"""What every test may ask for."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Quick for the person who waits; thorough where a machine does: CI=1 make test.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
settings.load_profile("thorough" if os.environ.get("CI") else "quick")

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Public evaluation data laid beside the repository; tests that need it skip without."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the public evaluation data is not beside the repository")
    return folder
