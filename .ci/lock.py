"""Writes requirements/*.txt: each package with its version and the hashes of its files.

    python .ci/lock.py

Versions are taken from constraints.txt, which must pin every package. Each file lists the packages
of one extra that are not in core.txt, for all platforms and every Python from 3.11;
`requirements/install` combines them. The files name no package index: hashes hold on any mirror.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
FOLDER = CHECKOUT / "requirements"
HEADER = "# Made by 'make lock' from pyproject.toml and constraints.txt.\n"
#: torch and the packages that only its CUDA builds need, which are most of its size. They have
#: their own file: a machine has either these or the CPU build, which needs no further packages.
TORCH = re.compile(r"torch|nvidia-.*|cuda-.*|triton")
#: The hashes of CPU builds, by version. The package index has none for Linux; these are for the
#: wheels of the torch project for Python 3.11. The first hash was compared with the one that public
#: lists of the project's downloads give; the second is from the same lists, four of which agree.
TORCH_CPU = {
    "2.13.0": [
        # manylinux_2_28_aarch64
        "84453b69508ec79902f899c5ed9495acb9e2bbe9fda5f1d5d6f19e3c3842e1a7",
        # manylinux_2_28_x86_64
        "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",
    ]
}


def main() -> int:
    """Write all files, or list the packages without a pin; return the exit status."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    core = compiled("pyproject.toml")
    files = {"core": core}
    for extra in project["project"]["optional-dependencies"]:
        files[extra] = without(compiled("pyproject.toml", "--extra", extra), core)
    for group in project["dependency-groups"]:
        files[group] = compiled("--group", group)
    files["torch"] = {
        name: text
        for file in files.values()
        for name, text in file.items()
        if TORCH.fullmatch(name)
    }
    pinned = pins((CHECKOUT / "constraints.txt").read_text(encoding="utf-8"))
    found = {name: text for file in files.values() for name, text in file.items()}
    unpinned = sorted(text.split(" ")[0] for name, text in found.items() if name not in pinned)
    if unpinned:
        print("Add to constraints.txt, then lock again:", *unpinned, sep="\n", file=sys.stderr)
        return 1
    cpu = pinned["torch"]
    if cpu not in TORCH_CPU:
        print(f"Add to TORCH_CPU the hashes that torch {cpu} is published with", file=sys.stderr)
        return 1
    for name, file in files.items():
        kept = file if name == "torch" else without(file, files["torch"])
        write(name, "".join(kept[package] for package in sorted(kept)))
    hashes = "".join(f" \\\n    --hash=sha256:{one}" for one in TORCH_CPU[cpu])
    write("torch-cpu", f"torch=={cpu}+cpu{hashes}\n")
    return 0


def compiled(*source: str) -> dict[str, str]:
    """Resolve the packages that a source needs, each with its lines of a lock file."""
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"),
        *("--python-version", "3.11", "--constraint", "constraints.txt", "--generate-hashes"),
        *("--no-header", "--no-annotate", "--no-emit-index-url", *source),
    ]
    done = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True)
    found: dict[str, str] = {}
    for text in re.split(r"(?m)^(?=\S)", done.stdout):
        if text.strip():
            found[text.partition("==")[0]] = text
    return found


def write(name: str, text: str) -> None:
    """Write a lock file."""
    (FOLDER / f"{name}.txt").write_text(HEADER + text, encoding="utf-8")


def without(packages: dict[str, str], others: dict[str, str]) -> dict[str, str]:
    """The packages that are not among others for the same platforms."""
    return {name: text for name, text in packages.items() if others.get(name) != text}


def pins(text: str) -> dict[str, str]:
    """Return the versions of a constraints file by normalised package name."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    pairs = (line.split("==") for line in lines if line)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs}


if __name__ == "__main__":
    sys.exit(main())
