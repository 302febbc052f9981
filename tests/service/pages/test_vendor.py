"""What others made and we ship: each with its licence, which goes wherever the package goes."""

import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
VENDOR = CHECKOUT / "src/mathsetu/service/pages/vendor"


def test_every_licence_travels_with_the_package() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    named = {file for pattern in project["license-files"] for file in CHECKOUT.glob(pattern)}
    works = [folder for folder in VENDOR.iterdir() if folder.is_dir()]
    assert works
    assert {folder / "LICENSE" for folder in works} <= named


def test_every_work_says_where_it_comes_from() -> None:
    for folder in VENDOR.iterdir():
        assert "SHA-256" in (folder / "README.md").read_text(), folder.name
