"""Has a pinned version a known weakness? Fails if so; warns where nobody can be asked.

    python .ci/audit.py

pip-audit says "no known vulnerabilities" also when the public list knew none of the packages, as
behind a mirror that does not pass it on; then nothing was audited, and that is said.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

PINNED = "constraints.txt"
SECONDS = 180


def main() -> int:
    """Ask the public list and say what it answers; the exit status."""
    try:
        if find_spec("pip_audit") is None:
            ask("pip", "install", "--quiet", "--constraint", PINNED, "pip-audit")
        said = ask(
            *("pip_audit", "--requirement", PINNED, "--no-deps", "--disable-pip"),
            *("--format", "json", "--progress-spinner", "off", "--timeout", "15"),
        )
        report = json.loads(said)
    except (ValueError, subprocess.TimeoutExpired) as error:
        report = {"dependencies": []}
        print(str(error)[-500:], file=sys.stderr)
    status, lines = verdict(report)
    print(*lines, sep="\n")
    return status


def ask(module: str, *arguments: str) -> str:
    """Run a module and return what it prints, or raise ValueError with its last words."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    # A weakness found is status 1, too, but then there is a report.
    if done.returncode and not done.stdout.startswith("{"):
        raise ValueError(f"{module}: {done.stderr.strip().rpartition(chr(10))[2]}")
    return done.stdout


def verdict(report: dict[str, Any]) -> tuple[int, list[str]]:
    """The exit status for a report of pip-audit, and the lines for the log."""
    asked = [package for package in report["dependencies"] if "skip_reason" not in package]
    skipped = [package["name"] for package in report["dependencies"] if "skip_reason" in package]
    weak = [
        f"{package['name']} {package['version']}: {weakness['id']}"
        f" (mended in {', '.join(weakness['fix_versions']) or 'no version yet'})"
        for package in asked
        for weakness in package["vulns"]
    ]
    if weak:
        return 1, ["Known weaknesses in pinned versions:", *weak]
    if not asked:
        return 0, ["WARNING: the dependencies were NOT audited: no public list answered"]
    lines = [f"{len(asked)} pinned versions have no known weakness"]
    if skipped:
        lines.append(f"WARNING: not audited, because unknown there: {', '.join(skipped)}")
    return 0, lines


if __name__ == "__main__":
    sys.exit(main())
