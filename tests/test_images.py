"""Container images: their digests are looked up in the registry and checked."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
COMPOSED = ("compose.yaml", "docs/qdrant-cluster.yaml", "docs/cluster.yaml")
FILES = ("Dockerfile", *COMPOSED, ".ci/images.py")

pytestmark = pytest.mark.thorough


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    return tmp_path


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, checkout / ".ci/images.py", *arguments],
        env={**os.environ, "PATH": str(checkout / "bin")},
        capture_output=True,
        text=True,
        timeout=60,
    )


def put_docker(checkout: Path, answer: str) -> None:
    """Write a ``docker`` program that gives this answer for every tag."""
    program = checkout / "bin" / "docker"
    program.write_text(f"#!{sys.executable}\nprint({answer!r})\n")
    program.chmod(0o755)


def test_an_image_without_a_digest_fails_the_check_and_is_named(checkout: Path) -> None:
    (checkout / "Dockerfile").write_text("ARG PYTHON_IMAGE=python:3.12-slim\n")
    done = run(checkout, "--check")
    assert done.returncode == 1
    assert done.stdout == "Dockerfile: python:3.12-slim has no digest\n"


def test_digests_from_the_registry_are_written_and_pass_the_check(checkout: Path) -> None:
    digest = "sha256:" + "ab" * 32
    put_docker(checkout, json.dumps({"digest": digest}))
    assert run(checkout).returncode == 0
    assert f"ARG PYTHON_IMAGE=python:3.12-slim@{digest}\n" in (checkout / "Dockerfile").read_text()
    for name in COMPOSED:
        text = (checkout / name).read_text()
        assert re.findall(r"image: qdrant/\S+", text) == [f"image: qdrant/qdrant:v1.16.3@{digest}"]
    assert run(checkout, "--check").returncode == 0


@pytest.mark.parametrize("answer", ["no", "{}", '{"digest": "latest"}', None])
def test_nothing_is_written_without_a_valid_answer(checkout: Path, answer: str | None) -> None:
    if answer is not None:
        put_docker(checkout, answer)
    before = {name: (checkout / name).read_bytes() for name in FILES}
    done = run(checkout)
    assert done.returncode == 1
    assert done.stderr.startswith("images: ")
    assert len(done.stderr.splitlines()) == 1
    assert before == {name: (checkout / name).read_bytes() for name in FILES}
