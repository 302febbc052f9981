"""What the package promises."""

import subprocess
import sys

import mathsetu


def test_the_public_names_are_exactly_these() -> None:
    assert sorted(mathsetu.__all__) == [
        "Evidence",
        "Formula",
        "Hit",
        "InputError",
        "Judgment",
        "MathSetuError",
        "Post",
        "Query",
        "Reason",
        "Run",
        "__version__",
    ]


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, mathsetu; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"torch", "numpy", "rich", "transformers", "markdown_it"} & set(loaded)
