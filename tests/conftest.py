"""What every test may ask for."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Public evaluation data laid beside the repository; tests that need it skip without."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the public evaluation data is not beside the repository")
    return folder
