"""The wheel: the same bytes from the same files, and nothing in it but the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

CHECKOUT = Path(__file__).parent.parent

pytestmark = pytest.mark.thorough
pytest.importorskip("hatchling", reason="requirements/build.txt is not installed")


def tracked() -> list[str]:
    """The files that the repository has."""
    command = ["git", "ls-files", "--", "src", "pyproject.toml", "hatch_build.py", "README.md"]
    done = subprocess.run(
        [*command, "LICENSE"], cwd=CHECKOUT, capture_output=True, text=True, timeout=60
    )
    if done.returncode:
        pytest.skip("not a checkout of the repository")
    return [name for name in done.stdout.splitlines() if (CHECKOUT / name).is_file()]


def build(folder: Path, mask: int) -> Path:
    """Build from a fresh copy, whose files have dates and permissions of their own."""
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, folder / name)
        (folder / name).chmod(0o666 & ~mask)
    # What lies about in the folder of someone who works on it stays there.
    (folder / "src/mathsetu/__pycache__").mkdir()
    (folder / "src/mathsetu/__pycache__/stray.pyc").write_bytes(b"stray")
    (folder / "notes.txt").write_text("stray")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel"],
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "MATHSETU_COMPILE": "0"},
        check=True,
        capture_output=True,
        timeout=300,
    )
    [wheel] = (folder / "dist").iterdir()
    return wheel


def test_a_wheel_has_the_same_bytes_each_time_and_only_the_package(tmp_path: Path) -> None:
    first, second = build(tmp_path / "first", 0o022), build(tmp_path / "second", 0o077)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    packed = set(ZipFile(first).namelist())
    sources = {name.removeprefix("src/") for name in tracked() if name.startswith("src/")}
    about = {name for name in packed if ".dist-info/" in name}
    assert packed - about == sources
    facts = {name.partition("/")[2] for name in about if "/licenses/" not in name}
    assert facts == {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
