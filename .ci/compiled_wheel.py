"""Builds a wheel with compiled code, and tests it in a clean environment without a compiler.

    python .ci/compiled_wheel.py [--pure]

The environment has only the locked core requirements, and no compiler on its PATH. With ``--pure``,
the pure Python wheel is tested as well, to compare the speed of the parser. Then the quick tests of
the compiled modules run against the wheel, because compiled code can fail where Python does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

CHECKOUT = Path(__file__).resolve().parent.parent

#: The folders of tests whose modules are compiled.
COMPILED_TESTS = ["tests/formulas", "tests/markup"]


def main() -> int:
    """Build and test the wheels; return the exit status."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        wheels = [("compiled", "1"), *([("pure", "0")] if "--pure" in sys.argv else [])]
        for name, compiled in wheels:
            wheel = build(folder / name, compiled)
            print(f"{name}: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
            environment = installed(folder / f"{name}-environment", wheel)
            options = ["--speed", *(["--compiled"] if compiled == "1" else [])]
            # This PATH has no compiler.
            subprocess.run(
                [environment / "bin" / "python", CHECKOUT / ".ci" / "try_wheel.py", *options],
                env={"PATH": str(environment / "bin"), "HOME": str(folder), "CC": "none"},
                cwd=folder,
                check=True,
            )
            if compiled == "1":
                run_tests(wheel, folder / "unpacked")
    return 0


def build(target: Path, compiled: str) -> Path:
    """Build a wheel with the packages installed here."""
    pip = [sys.executable, "-m", "pip", "--quiet"]
    command = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target)]
    subprocess.run(
        [*command, str(CHECKOUT)], env={**os.environ, "MATHSETU_COMPILE": compiled}, check=True
    )
    [wheel] = target.glob("*.whl")
    return wheel


def installed(folder: Path, wheel: Path) -> Path:
    """Create a clean environment with the core requirements and a wheel."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([CHECKOUT / "requirements" / "install", folder, "core"], check=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "--quiet", "install", "--no-deps", "--no-index", wheel]
    subprocess.run(command, check=True)
    return folder


def run_tests(wheel: Path, folder: Path) -> None:
    """Run the quick tests of the compiled modules against a wheel instead of the sources."""
    with ZipFile(wheel) as file:
        file.extractall(folder)
    options = ["-m", "not thorough", "-p", "no:schemathesis", "-p", "no:cacheprovider"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *COMPILED_TESTS],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=CHECKOUT,
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())
