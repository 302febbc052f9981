"""Audits the locked packages for known vulnerabilities, and fails if there are any.

    python .ci/audit.py                            # fails if a package could not be audited
    MATHSETU_AUDIT=optional python .ci/audit.py    # only warns about such packages

All files of requirements/ are audited, for every platform. pip-audit reports "no known
vulnerabilities" even if the public database knew none of the packages, for example behind a mirror
that does not forward the requests. Then nothing was audited, which is an error unless the audit is
optional.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

LOCKS = Path(__file__).parent.parent / "requirements"
SECONDS = 180
CHOICES = ("required", "optional")


def main() -> int:
    """Run the audit, print the verdict, and return the exit status."""
    choice = os.environ.get("MATHSETU_AUDIT") or "required"
    if choice not in CHOICES:
        print(f"MATHSETU_AUDIT is {choice!r}; it must be {' or '.join(CHOICES)}", file=sys.stderr)
        return 2
    pinned = locked(LOCKS)
    try:
        report = ask(pinned)
    except (ValueError, subprocess.TimeoutExpired) as error:
        report = {"dependencies": []}
        print(str(error)[-500:], file=sys.stderr)
    status, lines = verdict(report, pinned, optional=choice == "optional")
    print(*lines, sep="\n")
    return status


def locked(folder: Path) -> list[str]:
    """Return every package of the lock files with its version, for all platforms.

    A local build (2.13.0+cpu) counts as the version that it is a build of.
    """
    texts = (path.read_text(encoding="utf-8") for path in folder.glob("*.txt"))
    found = {pin for text in texts for pin in re.findall(r"(?m)^[\w.-]+==[^\s;+]+", text)}
    return sorted(found)


def ask(pinned: list[str]) -> dict[str, Any]:
    """Run pip-audit and return its report; raise ValueError with its last line if it fails."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pinned.txt"
        file.write_text("\n".join(pinned) + "\n", encoding="utf-8")
        command = [
            *(sys.executable, "-m", "pip_audit", "--requirement", str(file)),
            *("--no-deps", "--disable-pip", "--format", "json"),
            *("--progress-spinner", "off", "--timeout", "15"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    # pip-audit also exits with status 1 if it finds a vulnerability, but then it prints a report.
    if done.returncode and not done.stdout.startswith("{"):
        raise ValueError(f"pip-audit: {done.stderr.strip().rpartition(chr(10))[2]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def verdict(report: dict[str, Any], pinned: list[str], *, optional: bool) -> tuple[int, list[str]]:
    """Return the exit status for a report of pip-audit, and the lines to print.

    Args:
        report: The report of pip-audit.
        pinned: The packages that were to be audited.
        optional: Whether packages that were not audited are allowed.
    """
    asked = [package for package in report["dependencies"] if "skip_reason" not in package]
    names = {package["name"].lower() for package in asked}
    left = [pin for pin in pinned if pin.partition("==")[0].lower() not in names]
    weak = [
        f"{package['name']} {package['version']}: {weakness['id']}"
        f" (mended in {', '.join(weakness['fix_versions']) or 'no version yet'})"
        for package in asked
        for weakness in package["vulns"]
    ]
    if weak:
        return 1, ["Known weaknesses in locked versions:", *weak]
    lines = [f"{len(asked)} locked versions have no known weakness"] if asked else []
    if left:
        label = "WARNING" if optional else "ERROR"
        what = (
            f"NOTHING was audited, none of {len(left)} packages"
            if not asked
            else (f"{len(left)} packages were NOT audited: {', '.join(left)}")
        )
        lines.append(f"{label}: {what}; the public list did not answer for them")
    if left and not optional:
        lines.append("Where no list can be reached, that is allowed by MATHSETU_AUDIT=optional")
    return int(bool(left) and not optional), lines


if __name__ == "__main__":
    sys.exit(main())
