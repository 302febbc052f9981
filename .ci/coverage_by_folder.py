"""Prints the share of statements that tests cover, by folder, from a coverage data file.

python .ci/coverage_by_folder.py [.coverage]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import coverage

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "mathsetu"
#: Folders that are shown separately from their parent.
APART = ("formulas/matching",)


def main() -> int:
    """Print the table; return the exit status."""
    measured = coverage.Coverage(data_file=sys.argv[1] if len(sys.argv) > 1 else ".coverage")
    measured.load()
    statements: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        inside = [folder for folder in APART if place.startswith(f"{folder}/")]
        folder = inside[0] if inside else place.split("/")[0] if "/" in place else "(top)"
        _, found, _, missing, _ = measured.analysis2(str(path))
        for name in (folder, "all"):
            statements[name] += len(found)
            missed[name] += len(missing)
    for name in sorted(statements, key=lambda name: (name == "all", name)):
        count = statements[name]
        print(f"{name:<20}{count:>8,}{1 - missed[name] / max(count, 1):>9.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
