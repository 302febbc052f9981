"""Builds the source distribution, the pure Python wheel and the SBOM, and prints checksums.

    python .ci/distributions.py

Everything is written to ``dist/``. Wheels with compiled code are built by cibuildwheel, one
machine per operating system (.github/workflows/release.yml).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
DIST = CHECKOUT / "dist"


def main() -> int:
    """Build the distributions; return the exit status."""
    shutil.rmtree(DIST, ignore_errors=True)
    environment = {**os.environ, "MATHSETU_COMPILE": "0"}
    environment.setdefault("SOURCE_DATE_EPOCH", "1700000000")
    build = [sys.executable, "-m", "hatchling", "build", "--target"]
    for target in ("sdist", "wheel"):
        subprocess.run([*build, target], cwd=CHECKOUT, env=environment, check=True)
    # The locked dependencies of the package itself.
    bom = [sys.executable, "-m", "cyclonedx_py", "requirements", "requirements/core.txt",
           "--pyproject", "pyproject.toml", "--output-reproducible", "--output-format", "JSON",
           "--output-file", str(DIST / "mathsetu.cdx.json")]  # fmt: skip
    subprocess.run(bom, cwd=CHECKOUT, check=True)
    for path in sorted(DIST.iterdir()):
        print(f"{sha256(path.read_bytes()).hexdigest()}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
