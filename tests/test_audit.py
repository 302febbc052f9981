"""The audit of dependencies: a vulnerability fails, and unaudited packages never pass as safe."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parent.parent
AUDIT = CHECKOUT / ".ci" / "audit.py"
SAFE = {"name": "click", "version": "8.5.1", "vulns": []}
UNKNOWN = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}
WEAK = {
    "name": "jinja2",
    "version": "3.1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.6"]}, {"id": "PYSEC-2", "fix_versions": []}],
}
PINNED = ["click==8.5.1", "torch==2.13.0"]


@pytest.fixture(scope="module")
def audit() -> dict[str, Any]:
    return runpy.run_path(str(AUDIT))


@pytest.mark.parametrize("optional", [False, True])
def test_the_audit_fails_with_a_known_vulnerability_and_names_it(
    audit: dict[str, Any], optional: bool
) -> None:
    report = {"dependencies": [SAFE, WEAK, UNKNOWN]}
    status, lines = audit["verdict"](report, [*PINNED, "jinja2==3.1.0"], optional=optional)
    assert status == 1
    assert "jinja2 3.1.0: PYSEC-1 (mended in 3.1.6)" in lines
    assert "jinja2 3.1.0: PYSEC-2 (mended in no version yet)" in lines


def test_the_audit_passes_without_any_known_vulnerability(audit: dict[str, Any]) -> None:
    report = {"dependencies": [SAFE]}
    status, lines = audit["verdict"](report, ["click==8.5.1"], optional=False)
    assert (status, lines) == (0, ["1 locked versions have no known weakness"])


@pytest.mark.parametrize("answer", [[SAFE, UNKNOWN], [SAFE]])
def test_the_audit_names_packages_without_an_answer_and_fails_unless_optional(
    audit: dict[str, Any], answer: list[Any]
) -> None:
    status, lines = audit["verdict"]({"dependencies": answer}, PINNED, optional=False)
    assert status == 1
    assert lines[1].startswith("ERROR: 1 packages were NOT audited: torch==2.13.0;")
    status, lines = audit["verdict"]({"dependencies": answer}, PINNED, optional=True)
    assert status == 0
    assert lines[1].startswith("WARNING: 1 packages were NOT audited: torch==2.13.0;")


@pytest.mark.parametrize("answer", [[], [UNKNOWN, UNKNOWN]])
def test_the_audit_fails_without_any_answer_unless_it_is_optional(
    audit: dict[str, Any], answer: list[Any]
) -> None:
    status, lines = audit["verdict"]({"dependencies": answer}, PINNED, optional=False)
    assert status == 1
    assert lines[0].startswith("ERROR: NOTHING was audited, none of 2 packages")
    status, [line] = audit["verdict"]({"dependencies": answer}, PINNED, optional=True)
    assert status == 0
    assert line.startswith("WARNING: NOTHING was audited, none of 2 packages")


def test_the_packages_of_all_extras_and_platforms_are_audited(audit: dict[str, Any]) -> None:
    pinned = {pin.partition("==")[0] for pin in audit["locked"](CHECKOUT / "requirements")}
    assert {"click", "fastapi", "torch", "spacy", "amrlib", "hatchling", "uv"} <= pinned
    assert {"colorama", "pywin32", "nvidia-cublas"} <= pinned


@pytest.mark.thorough
def test_the_audit_fails_without_a_network_unless_it_is_optional(tmp_path: Path) -> None:
    # A module of this name that fails as it does without a network.
    (tmp_path / "pip_audit.py").write_text("raise SystemExit('no network')\n")
    for choice, status in (("", 1), ("required", 1), ("optional", 0), ("perhaps", 2)):
        done = subprocess.run(
            [sys.executable, AUDIT],
            env={**os.environ, "PYTHONPATH": str(tmp_path), "MATHSETU_AUDIT": choice},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == status, choice
        assert ("NOTHING was audited" in done.stdout) == (choice != "perhaps")
